"""Plays scenarios with systems: starts the world, starts the system, kills and continues it, and judges.

usage: python play.py REKNIT PRIVATE [--set inside|outside] [--systems a,b] [--out FILE] [--continue] [WORDS]

PRIVATE is the folder with the environments of the peers. WORDS choose the scenarios whose id or group contains them; `timed` are those that measure time. Writes
raw results as JSON; `--continue` keeps the cells that FILE has.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from judge import CORRECT, NOT_APPLICABLE, TOLD, judge
from scenarios import SETS
from systems import DECIDE, RESUME, START, Cell, Outcome, Process
from systems.all import all_systems
from world import model, service

# Time limit of a cell in seconds. A system that needs longer hangs.
CELL_LIMIT = 120
# How often a cell may be continued.
PHASES = 6


class Player:
    """Plays one cell after the other over two servers, which know the world of the current one."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.servers = [service.Server(("127.0.0.1", 0), handler) for handler in (service.Handler, model.Handler)]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.service, self.models = (f"http://127.0.0.1:{server.server_address[1]}" for server in self.servers)
        self.process: Process | None = None
        self.lines: list[dict] = []
        self.was_killed = False

    def record(self, kind: str, **facts):
        self.lines.append({"at": round(time.monotonic() - self.began, 3), "kind": kind, **facts})

    def kill(self):
        """Kills the system like a power cut, or an operator without patience."""
        self.record("kill")
        self.was_killed = True
        os.killpg(self.process.pid, signal.SIGKILL)

    def run(self, system, cell: Cell, phase: str, until: float) -> Outcome | None:
        """One process of the system. None if it was killed."""
        self.record("start", phase=phase)
        self.was_killed, began = False, time.monotonic()
        out, err = cell.folder / f"{phase}.out", cell.folder / f"{phase}.err"
        self.process = system.start(cell, phase, out, err)
        try:
            status = self.process.wait(max(1, until - time.monotonic()))
        except TimeoutError:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
            self.record("end", note=f"it had not ended after {CELL_LIMIT} s")
            return Outcome("hangs", error=f"it had not ended after {CELL_LIMIT} s", seconds=time.monotonic() - began)
        wall = time.monotonic() - began
        if self.was_killed:
            return None
        outcome = system.outcome(cell, status, out.read_text(errors="replace"), err.read_text(errors="replace"))
        if outcome.seconds is None:
            outcome.seconds = wall
        self.record("end", phase=phase, exit=status, status=outcome.status, answer=outcome.answer, error=outcome.error[-1500:])
        return outcome

    def play(self, scenario, system) -> dict:
        cell = Cell(scenario, self.folder / system.name / scenario.id, self.service, self.models)
        shutil.rmtree(cell.folder, ignore_errors=True)
        cell.folder.mkdir(parents=True)
        self.began, self.lines = time.monotonic(), []
        tools, models = service.World(scenario, self.record, self.kill), model.ModelWorld(scenario, self.record, self.kill)
        service.Handler.world, model.Handler.world = tools, models
        if reason := system.missing() or system.not_applicable(scenario):
            return {"system": system.name, "scenario": scenario.id, "verdict": NOT_APPLICABLE, "why": reason}
        system.prepare(cell)
        outcome, kills, seconds = self.phases(system, cell)
        found = judge(scenario, tools.effects, outcome, cell.question)
        (cell.folder / "transcript.json").write_text(json.dumps(self.lines, indent=1))
        return {
            "system": system.name,
            "scenario": scenario.id,
            "verdict": found.verdict,
            "why": found.why,
            "extra_effects": found.extra_effects,
            "missing_effects": found.missing_effects,
            "effects": tools.effects,
            "approved": cell.question,
            "status": outcome.status,
            "answer": outcome.answer,
            "error": outcome.error[-1500:],
            "model_calls": models.requests,
            "tool_calls": tools.calls,
            "tokens": models.tokens_in + models.tokens_out,
            "seconds": round(seconds, 3),
            # How busy the machine was: on a busy one the seconds mean nothing.
            "load": round(os.getloadavg()[0], 1),
            "kills": kills,
            "transcript": self.lines,
        }

    def phases(self, system, cell: Cell) -> tuple[Outcome, int, float]:
        """All processes of a cell: started, continued after a kill, and after a decision of a person. Its last outcome, kills, and seconds."""
        until, phase, kills, seconds = time.monotonic() + CELL_LIMIT, START, 0, 0.0
        outcome = Outcome("reported", error="it was killed again and again")
        for _ in range(PHASES):
            ended = self.run(system, cell, phase, until)
            if ended is None:
                kills, phase = kills + 1, RESUME
                continue
            outcome, phase = ended, RESUME
            seconds += outcome.seconds
            # A person decides about each call once. A question about another thing, or the same one again, is left open.
            asked = [call for call in outcome.question or [] if call not in (cell.question or [])]
            if outcome.status != "waiting" or not cell.scenario.approve or (cell.question is not None and not asked):
                return outcome, kills, seconds
            cell.question = [*(cell.question or []), *asked]
            self.run(system, cell, DECIDE, until)
        return outcome, kills, seconds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("reknit")
    parser.add_argument("private", type=Path)
    parser.add_argument("--set", choices=SETS, default="inside")
    parser.add_argument("--systems", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--continue", action="store_true", dest="is_continued")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    folder = options.private / "scorecard"
    scenarios = SETS[options.set]
    out = options.out or folder / ("results.json" if options.set == "inside" else f"results-{options.set}.json")
    wanted = [name for name in options.systems.split(",") if name]
    systems = [system for system in all_systems(options.reknit, options.private) if not wanted or system.name in wanted]
    ids = {s.id for s in scenarios}
    is_timed = lambda s: s.id == "plain" or s.critical_path is not None
    is_meant = lambda word, s: is_timed(s) if word == "timed" else word in (s.id, s.group) or (word not in ids and word in s.id)
    chosen = [s for s in scenarios if not options.words or any(is_meant(word, s) for word in options.words)]
    player, cells = Player(folder), []
    versions = {system.name: {"label": system.label, "version": system.missing() or system.version()} for system in systems}
    print("; ".join(f"{entry['label']}: {entry['version']}" for entry in versions.values()))
    print(f"{len(chosen)} scenarios, {len(systems)} systems, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    earlier = json.loads(out.read_text())["cells"] if options.is_continued and out.exists() else []
    known = {(cell["scenario"], cell["system"]): cell for cell in earlier}
    for system in systems:
        # Only warms up: what a system does at its first start is no part of a comparison.
        player.play(scenarios[0], system)
    for scenario in chosen:
        for system in systems:
            is_known = (scenario.id, system.name) in known
            cell = known[scenario.id, system.name] if is_known else player.play(scenario, system)
            cells.append(cell)
            if cell["verdict"] == NOT_APPLICABLE or is_known:
                continue
            mark = {CORRECT: " ", TOLD: "-"}.get(cell["verdict"], "!")
            figures = f"{cell['model_calls']:3} model calls {cell['tokens']:7} tokens {cell['seconds']:6.2f} s"
            print(f"{mark} {scenario.id:34} {system.label:26} {cell['verdict']:16} {figures}  {cell['why'][:150]}", flush=True)
        save(out, versions, chosen, cells)
    return 0


def save(out: Path, versions: dict, chosen: list, cells: list[dict]):
    """Writes what is known so far, so that a run that is interrupted is not lost."""
    about = lambda s: {"id": s.id, "group": s.group, "title": s.title, "source": s.source, "request": s.request, "best": s.best,
                       "critical_path": s.critical_path}  # fmt: skip
    machine = {"system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count(), "python": platform.python_version(),
               "load": round(os.getloadavg()[0], 1)}  # fmt: skip
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    value = {"date": date, "machine": machine, "systems": versions, "scenarios": [about(s) for s in chosen], "cells": cells}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(value, indent=1))


if __name__ == "__main__":
    sys.exit(main())
