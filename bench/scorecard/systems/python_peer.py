"""Peers that are Python programs of the folder `peers`, each in the private environment that `run` made."""

import json
import os
import subprocess
from pathlib import Path

from world.catalogue import TOOLS

from . import LIMIT, MODEL_LIMIT, RETRIES, Cell, Outcome, Process, System
from .forked import ForkServer

PEERS = Path(__file__).parent.parent / "peers"


def specification(cell: Cell) -> dict:
    """What a peer is told: the same facts that our configuration has."""
    s = cell.scenario
    fields = lambda tool: {"name": tool.name, "description": tool.description, "effect": tool.effect, "schema": tool.schema, "check": tool.check}
    stages = [[{"tool": call.tool, "arguments": call.tries[-1]} for call in turn] for turn in s.turns]
    return {
        "request": s.request,
        "tools": [fields(TOOLS[name]) for name in s.own_tools],
        # The tools of the agent that the tool `helper` runs.
        "helper": [fields(TOOLS[name]) for name in s.child.own_tools] if s.child else None,
        "service": cell.service,
        "models": cell.models,
        "limit": LIMIT,
        "model_limit": MODEL_LIMIT,
        "retries": RETRIES,
        "max_turns": s.max_turns,
        "approve": s.approve,
        "decision": s.decision,
        "stream": s.stream,
        "program": s.program,
        "plan": s.plan,
        "stages": stages,
        "kills": has_kill(s),
        "answer": s.answer,
    }


def has_kill(scenario) -> bool:
    faults = [fault for faults in scenario.faults.values() for fault in faults]
    return scenario.kill_at_model_request is not None or any(fault.startswith("kill") for fault in faults)


class Peer(System):
    """A program that gets `spec.json` and writes `result.json`; see peers/common.py."""

    # Features that a scenario may need: `kill` (continue a killed run), `approve`, `program`, `agent`, `plan`, `child` (an agent as a tool).
    features: set[str] = {"agent"}
    # Why a feature is missing.
    reasons: dict[str, str] = {}
    usual_reasons = {
        "kill": "it documents no way to continue a run after its process was killed",
        "approve": "it documents no approvals that survive the process",
        "program": "it is a library for agents; a graph of calls would be plain code",
        "agent": "it has no agents",
        "child": "agents as tools were not written for it",
        "plan": "its documentation has no agent that plans first",
    }

    def not_applicable(self, scenario) -> str | None:
        needed = {"program" if scenario.program else "plan" if scenario.plan else "agent"}
        if has_kill(scenario):
            needed.add("kill")
        if scenario.approve:
            needed.add("approve")
        if scenario.child:
            needed.add("child")
        missing = sorted(needed - self.features)
        return {**self.usual_reasons, **self.reasons}[missing[0]] if missing else None

    def prepare(self, cell: Cell) -> None:
        (cell.folder / "spec.json").write_text(json.dumps(specification(cell), indent=1))

    def outcome(self, cell: Cell, exit_status: int, stdout: str, stderr: str) -> Outcome:
        file = cell.folder / "result.json"
        if not file.exists():
            return Outcome("reported", error=f"exit status {exit_status}: {stdout}{stderr}")
        value = json.loads(file.read_text())
        return Outcome(value["status"], value["answer"] or "", (value["error"] or "") + stderr[-800:], value["seconds"], value["question"])


class PythonPeer(Peer):
    # What its processes need not import again.
    modules = ("aiohttp", "pydantic", "tenacity", "openai")
    server: ForkServer | None = None

    def __init__(self, private: Path, environment: str, name: str, label: str, program: str, packages: list[str], features: set[str], reasons: dict | None = None, modules: tuple = ()):
        self.modules = (*self.modules, *modules)
        self.python = private / f"python-scorecard-{environment}" / "bin" / "python"
        self.name, self.label, self.program, self.packages = name, label, program, packages
        self.features, self.reasons = features, reasons or {}

    def version(self) -> str:
        code = "import sys; from importlib.metadata import version; print(', '.join(f'{p} {version(p)}' for p in sys.argv[1:]))"
        return subprocess.run([self.python, "-c", code, *self.packages], capture_output=True, text=True).stdout.strip()

    def missing(self) -> str | None:
        return None if self.python.exists() and self.version() else "its packages are not installed"

    def start(self, cell: Cell, phase: str, stdout: Path, stderr: Path) -> Process:
        command, environment = self.command(cell, phase)
        if self.server is None:
            self.server = ForkServer(self.python, self.modules, environment)
        return self.server.start(command[1:], environment, cell.folder, stdout, stderr)

    def command(self, cell: Cell, phase: str) -> tuple[list[str], dict[str, str]]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(cell.folder), "NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "none",
                       "OPENAI_AGENTS_DISABLE_TRACING": "1", "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
        return [str(self.python), str(PEERS / self.program), str(cell.folder), phase], environment
