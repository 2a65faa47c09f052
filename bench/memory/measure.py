"""Runs plans of many independent steps whose tool returns 100 kB, and prints the peak memory and the processor time."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import JsonHandler, serve  # noqa: E402 (the path is set above)

RESULT_BYTES = 100_000
LIMIT_MB = 500


class Tool(JsonHandler):
    def do_GET(self):
        self.answer(200, [{"name": "read", "description": "reads", "effect": "read", "endpoint": "/api/capabilities/read"}])

    def do_POST(self):
        call = self.body()
        row = {"id": str(call["n"]), "price": 12.5, "text": "a row of the result"}
        rows = RESULT_BYTES // len(json.dumps(row)) if self.server.shape == "rows" else 0
        text = "" if rows else f"{call['n']} " + "x" * RESULT_BYTES
        self.answer(200, {"success": True, "data": {"rows": [row] * rows, "text": text}})



def plan(steps):
    metadata = lambda n: {"capability": "read", "parameters": {"n": n}}
    step = lambda n: {"step_id": f"s{n}", "agent_name": "t", "instruction": "", "metadata": metadata(n)}
    return {"plan_id": "p", "original_request": "read", "steps": [step(n) for n in range(steps)]}


def measured(program, folder, *arguments):
    """The peak memory in MB, and the processor time in seconds."""
    with open(os.path.join(folder, "out"), "w") as out:
        command = [program, *arguments, "--journal", os.path.join(folder, "j.db")]
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: {' '.join(arguments)} failed with {status}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def main():
    program, counts = sys.argv[1], [int(word) for word in sys.argv[2:]]
    server, url = serve(Tool)
    failed = False
    print(f"{'steps':>6}  {'result':6}  {'command':10}  {'peak MB':>8}  {'CPU s':>6}  CPU ms/step")
    for steps in counts:
        for server.shape in ["text", "rows"]:
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "plan.json"), "w") as file:
                    json.dump(plan(steps), file)
                with open(os.path.join(folder, "reknit.toml"), "w") as file:
                    limits = "[limits]\ntool-calls = 100000\n"
                    file.write(f'{limits}[[tools]]\nname = "t"\nurl = "{url}"\n')
                for words in [["run", "--answer", "template", "plan.json"], ["runs", "show", "last"]]:
                    memory, cpu = measured(program, folder, *words)
                    name = " ".join(words[:2]) if words[0] == "runs" else words[0]
                    row = f"{steps:>6}  {server.shape:6}  {name:10}  {memory:>8.0f}  {cpu:>6.1f}  {cpu * 1000 / steps:.1f}"
                    print(row, flush=True)
                    failed |= memory > LIMIT_MB
    sys.exit(1 if failed else 0)


main()
