#!/usr/bin/env python3
"""Interrupts runs and sessions at random moments, and checks that nothing happens twice and that everything ends.

usage: attack.py REKNIT POWER_CUT_LIBRARY [--interruptions N] [--seed N]

Each round starts one run or session on a journal of its own, with real tools on loopback that count what they do. The
process is killed after a random time. Every second time the machine loses its power too: of what was written after the last
sync, each sector of 512 bytes is kept or lost at random. Then the run is resumed, and interrupted again. Where a call may
have taken effect, the person who is asked looks into the books of the tool and settles the call truthfully.

Exits with 0 if no side effect happened twice and every run ended, and with 1 otherwise.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from programs import JsonHandler, completion, serve  # noqa: E402 (the path is set above)

CLASSES = {"look": "read", "order": "keyed", "stock": "idempotent", "note": "undeclared", "pay": "unsafe"}
SECTOR = 512
MAX_RESUMES = 60


class Books:
    """What the tool did: for each capability and order, the idempotency keys of the calls that took effect."""

    def __init__(self):
        self.lock = threading.Lock()
        self.done = collections.defaultdict(list)
        self.random = random.Random(1)

    def record(self, name, order, key):
        with self.lock:
            entry = self.done[name, order]
            # A service that keeps its promise for keys acts once for each of them.
            if name == "pay" or key not in entry:
                entry.append(key)
            return self.random.random(), self.random.uniform(0, 0.06)


BOOKS = Books()


class Tool(JsonHandler):
    def do_GET(self):
        if self.path == "/api/capabilities":
            self.answer(200, [{"name": name, "effect": effect} for name, effect in CLASSES.items()])
        else:
            self.answer(404, {})

    def do_POST(self):
        body = self.body()
        if self.path.endswith("/chat/completions"):
            return self.answer(200, model_answer(body))
        name = self.path.rsplit("/", 1)[-1]
        luck = random.random()
        if luck < 0.05:
            return self.answer(503, {"success": False, "error": {"code": "BUSY", "message": "busy", "category":
                                                                 "SERVICE_ERROR", "retryable": True}})
        chance, delay = BOOKS.record(name, body.get("order"), self.headers.get("idempotency-key"))
        time.sleep(delay)
        if chance < 0.05:
            return self.close_without_answer()
        self.answer(200, {"success": True, "data": {"order": body.get("order"), "receipt": f"{name}-{body.get('order')}"}})

    def close_without_answer(self):
        self.close_connection = True
        self.connection.close()


def model_answer(body):
    """The next turn of the agent: it follows from the conversation, so a question that is asked again has the same answer."""
    order = next(int(message["content"].split()[-1]) for message in body["messages"]
                 if message["role"] == "user" and "order" in message["content"])
    results = sum(message["role"] == "tool" for message in body["messages"])
    tools = [tool["function"]["name"] for tool in body.get("tools", [])]
    turns = [["look", "order"], ["stock", "note"], ["pay"]]
    done = 0
    calls = []
    for turn in turns:
        if results <= done and len(tools) > 1:
            calls = [(f"t__{name}", {"order": order}) for name in turn]
            break
        done += len(turn)
    if not calls:
        calls = [("agent__final_report", {"report_content": f"Order {order} is done.", "report_format": "markdown"})]
    return completion({"tool_calls": [
        {"id": f"call_{results}_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)]})


class Round:
    def __init__(self, number, reknit, library, url, folder):
        self.number, self.reknit, self.library, self.folder = number, reknit, library, folder
        self.interruptions = self.power_cuts = self.torn = self.settled = 0
        self.is_session = number % 2 == 1
        steps = [{"step_id": name, "agent_name": "t", "depends_on": [before] if before else [],
                  "metadata": {"capability": name, "parameters": {"order": number}}}
                 for name, before in zip(CLASSES, [None, *CLASSES])]
        (folder / "plan.json").write_text(json.dumps(
            {"plan_id": "p", "original_request": f"order {number}", "steps": steps}))
        (folder / "clerk.md").write_text("You work for a shop.\n")
        (folder / "reknit.toml").write_text(
            f'[[tools]]\nname = "t"\nurl = "{url}"\n\n[[models]]\nname = "m"\nprovider = "compatible"\nmodel = "m"\n'
            f'url = "{url}/v1"\nstreaming = false\n\n[limits]\ndrain-time = "50ms"\n\n[resend]\nfirst-wait = "10ms"\n')

    def command(self, *arguments):
        return [self.reknit, *arguments, "--config", "reknit.toml", "--journal", "journal.db"]

    def environment(self):
        keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        # A folder of its own: another run may have had another tool at the same port.
        keep["XDG_STATE_HOME"] = os.path.join(self.folder, "state")
        return {**keep, "LD_PRELOAD": str(self.library), "REKNIT_FIND_MODEL": "false"}

    def call(self, *arguments):
        return subprocess.run(self.command(*arguments), cwd=self.folder, env=self.environment(), capture_output=True,
                              text=True, timeout=60)

    def interrupt(self, dice, *arguments):
        """Starts a process and kills it after a random time; returns its exit status if it ended before."""
        process = subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            code = process.wait(timeout=dice.uniform(0.01, 0.35))
            process.stderr.close()
            return code
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
        self.interruptions += 1
        # The tool finishes what it was doing.
        time.sleep(0.08)
        if dice.random() < 0.5:
            self.cut_power(dice)
        return None

    def cut_power(self, dice):
        """Keeps what was synced, and of everything else each sector at random."""
        self.power_cuts += 1
        (self.folder / "journal.db-shm").unlink(missing_ok=True)
        for name in ("journal.db", "journal.db-wal"):
            file, copy = self.folder / name, self.folder / f"{name}.synced"
            if not file.exists():
                continue
            now, synced = file.read_bytes(), copy.read_bytes() if copy.exists() else b""
            if now == synced:
                continue
            end = dice.choice([len(now), max(len(synced), dice.randrange(len(now) + 1))])
            # Where the file became shorter, its old end is back or not, but never something else.
            torn = bytearray((now + synced[len(now):])[:end])
            for at in range(0, end, SECTOR):
                before = synced[at:at + SECTOR]
                if torn[at:at + SECTOR] != before and dice.random() < 0.5:
                    torn[at:at + SECTOR] = before.ljust(min(SECTOR, end - at), b"\0")[:end - at]
            file.write_bytes(bytes(torn))
            self.torn += 1

    def settle(self):
        """Answers every open question truthfully, by the books of the tool."""
        shown = self.call("runs", "show", "last", "--json")
        for ask in json.loads(shown.stdout or "{}").get("asks") or self.asks(json.loads(shown.stdout or "{}")):
            name, order = ask["capability"], ask["parameters"]["order"]
            with BOOKS.lock:
                happened = bool(BOOKS.done[name, order])
            answer = ["--happened", "--result", json.dumps({"receipt": f"{name}-{order}"})]
            decided = self.call("runs", "settle", "last", ask["step"], *(answer if happened else ["--did-not-happen"]))
            if decided.returncode != 0:
                raise RuntimeError(f"settle: {decided.stderr}")
            self.settled += 1

    @staticmethod
    def asks(shown):
        return [step["asks"] for step in shown.get("steps", []) if "asks" in step]

    def play(self, dice):
        """Plays the round to its end; returns the exit status of the run."""
        start = ("agent", "clerk.md", f"Handle order {self.number}") if self.is_session else (
            "run", "plan.json", "--answer", "template")
        code = self.interrupt(dice, *start)
        for attempt in range(MAX_RESUMES):
            if code == 6:
                self.settle()
            elif code is not None and code != 130:
                return code
            listed = self.call("runs", "list", "--json")
            if listed.returncode != 0:
                raise RuntimeError(f"runs list: {listed.stderr}")
            if not listed.stdout.strip():
                # The power went before the first event was durable: nothing was started, so it is started again.
                code = self.interrupt(dice, *start)
            elif attempt < 8:
                code = self.interrupt(dice, "runs", "resume", "last")
            else:
                code = self.call("runs", "resume", "last").returncode
        raise RuntimeError(f"not ended after {MAX_RESUMES} resumes, last exit status {code}")

    def duplicates(self):
        with BOOKS.lock:
            return {name: keys for name in CLASSES if name != "look" and len(keys := BOOKS.done[name, self.number]) > 1}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("reknit")
    arguments.add_argument("library")
    arguments.add_argument("--interruptions", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = arguments.parse_args()
    dice = random.Random(options.seed)
    _, url = serve(Tool)
    total, number, failures, codes, counts = 0, 0, [], collections.Counter(), collections.Counter()
    while total < options.interruptions:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="reknit-attack-"))
        played = Round(number, os.path.abspath(options.reknit), os.path.abspath(options.library), url, folder)
        try:
            codes[played.play(dice)] += 1
            problem = played.duplicates()
        except Exception as error:  # noqa: BLE001: every failure of a round is reported
            problem = f"{type(error).__name__}: {error}"
        total += played.interruptions
        counts.update({"power cuts": played.power_cuts, "files with torn writes": played.torn,
                       "settled calls": played.settled})
        if problem:
            failures.append((number, problem, str(folder)))
            print(f"round {number}: {problem} ({folder})", file=sys.stderr, flush=True)
        else:
            shutil.rmtree(folder)
        number += 1
    ended = ", ".join(f"{count} with exit status {code}" for code, count in sorted(codes.items()))
    counted = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"seed {options.seed}: {total} interruptions ({counted}) in {number} runs and sessions; ended: {ended}; "
          f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
