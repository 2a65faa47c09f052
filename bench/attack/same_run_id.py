#!/usr/bin/env python3
"""Starts the same run id in two processes at once, again and again, and checks that every side effect happens once.

usage: same_run_id.py REKNIT [--rounds N]

The tool counts every call, whatever its idempotency key is. In every third round the first process is killed after a random
time; a call that only reads, or that has a key and was in progress then, may be made twice, under the same key.

Exits with 0 if nothing happened twice and both processes printed the same, and with 1 otherwise.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from programs import JsonHandler, serve  # noqa: E402 (the path is set above)

STEPS = {"look": "read", "order": "keyed", "pay": "unsafe"}
CALLS = collections.defaultdict(list)
LOCK = threading.Lock()


class Tool(JsonHandler):
    def do_GET(self):
        self.answer(200, [{"name": name, "effect": effect} for name, effect in STEPS.items()])

    def do_POST(self):
        body = self.body()
        name = self.path.rsplit("/", 1)[-1]
        with LOCK:
            CALLS[name, body["order"]].append(self.headers.get("idempotency-key"))
        time.sleep(random.uniform(0, 0.01))
        self.answer(200, {"success": True, "data": {"receipt": f"{name}-{body['order']}"}})


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("reknit")
    arguments.add_argument("--rounds", type=int, default=1000)
    arguments = arguments.parse_args()
    reknit = str(pathlib.Path(arguments.reknit).resolve())
    _, url = serve(Tool)
    steps = [{"step_id": name, "agent_name": "t", "depends_on": [before] if before else [],
              "metadata": {"capability": name, "parameters": {"order": "{{inputs.order}}"}}}
             for name, before in zip(STEPS, [None, *STEPS])]
    plan = {"plan_id": "p", "original_request": "order", "inputs": {"order": {"type": "integer"}}, "steps": steps}
    problems, killed, waited = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "plan.json").write_text(json.dumps(plan))
        (folder / "reknit.toml").write_text(f'[[tools]]\nname = "t"\nurl = "{url}"\n')

        def start(order):
            return subprocess.Popen(
                [reknit, "run", "plan.json", "--input", f"order={order}", "--run-id", f"order-{order}", "--json",
                 "--answer", "template", "--config", "reknit.toml", "--journal", "journal.db"],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        for order in range(arguments.rounds):
            both = [start(order), start(order)]
            is_killed = order % 3 == 2
            if is_killed:
                time.sleep(random.uniform(0.01, 0.25))
                both[0].kill()
                killed += 1
            outputs = [process.communicate(timeout=120) for process in both]
            waited += any("waits for its outcome" in error for _, error in outputs)
            if is_killed:
                # Whoever is left may wait for a person about the unsafe call: that is what nothing twice means.
                if both[1].returncode not in (0, 6):
                    problems.append(f"order {order}: {both[1].returncode} {outputs[1][1]}")
            elif [process.returncode for process in both] != [0, 0]:
                problems.append(f"order {order}: {[process.returncode for process in both]} {outputs[0][1]} {outputs[1][1]}")
            elif outputs[0][0] != outputs[1][0]:
                problems.append(f"order {order}: two outcomes: {outputs[0][0]} {outputs[1][0]}")
            for name, effect in STEPS.items():
                keys = CALLS[name, order]
                once = len(keys) == 1 or (is_killed and len(keys) == 0)
                again = is_killed and effect != "unsafe" and len(keys) == 2 and keys[0] == keys[1]
                if not (once or again):
                    problems.append(f"order {order}: `{name}` was called {len(keys)} times: {keys}")
    print(f"{arguments.rounds} ids started by two processes at once, {killed} of them with one process killed; "
          f"{waited} notes that a process waits; {len(problems)} problems")
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
