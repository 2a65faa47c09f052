"""Runs the fan-out on both sides and prints what it cost and what the service did. See bench/README.md.

usage: python measure.py REKNIT
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import free_port, start  # noqa: E402 (the path is set above)

HERE = os.path.dirname(os.path.abspath(__file__))
# The bars: processor time per item of a loop beside that of a plain step, and memory per item of a loop of 10,000.
MAX_CPU_RATIO = 1.2
MAX_KB_PER_ITEM = 24
reknit = sys.argv[1]


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url + path, data=data), timeout=30) as response:
        return response.read()


def measured(command, folder):
    """Wall time, processor time, and the most memory in MB of one program."""
    began = time.monotonic()
    with open(os.path.join(folder, "out"), "w") as out, open(os.path.join(folder, "errors"), "w") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
    # 3: the run is partial, which is judged by what the service did.
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        with open(os.path.join(folder, "errors")) as errors:
            sys.exit(f"bench: {' '.join(command)} failed with {os.waitstatus_to_exitcode(status)}:\n{errors.read()[-2000:]}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run_reknit(plan, folder):
    limits = 'calls-at-once = 50\nmax-items = 10000\ntool-calls = 20000\nactive-time = "1 h"\n'
    config = f'[[tools]]\nname = "shop"\nurl = "{url}"\n\n[limits]\n{limits}'
    with open(os.path.join(folder, "reknit.toml"), "w") as file:
        file.write(config)
    journal = os.path.join(folder, "journal.db")
    command = [reknit, "run", plan, "--config", "reknit.toml", "--journal", journal, "--quiet", "--json"]
    figures = measured(command, folder)
    with open(os.path.join(folder, "out")) as out:
        steps = json.load(out)["steps"]
    for step in steps:
        if "failed" in step["outcome"]:
            print(f"  {step['step']} failed after {step['calls']} calls: {step['outcome']['failed']['reason']}")
    return figures


def run_langgraph(keys, folder):
    peer = os.path.join(HERE, "langgraph_peer.py")
    return measured([sys.executable, peer, url, os.path.join(folder, "langgraph.db"), keys], folder)


def lines_of(name, after=""):
    with open(os.path.join(HERE, name)) as file:
        text = file.read()
    lines = [line.strip() for line in text[text.index(after):].splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def judged(count):
    """Refunds that happened more than once, and orders that are not refunded, or not as they should be."""
    deeds = json.loads(ask("/_bench/deeds"))
    twice = sum(deed[0] - 1 for deed in deeds.values())
    right = lambda n, deed: deed and deed[1] == n + 0.25 and deed[2] == ["EUR", "USD"][n % 2]
    wrong = sum(not right(n, deeds.get(str(n))) for n in range(count))
    return twice, wrong


def compare():
    rows = [
        ("Reknit", lambda folder: run_reknit(os.path.join(HERE, "plan.yaml"), folder), lines_of("plan.yaml")),
        ("LangGraph", lambda folder: run_langgraph("none", folder), lines_of("langgraph_peer.py", "# program")),
        ("LangGraph with keys", lambda folder: run_langgraph("keys", folder), lines_of("langgraph_peer.py", "# program")),
    ]
    print(f"\n1,000 refunds over a service that fails, 50 at once (langgraph {version('langgraph')}):")
    print(f"{'':20} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'twice':>6} {'wrong or missing':>17} {'lines':>6}")
    found = {}
    for name, run, lines in rows:
        ask("/_bench/reset", {"orders": 1000, "faults": True})
        with tempfile.TemporaryDirectory() as folder:
            wall, cpu, memory = run(folder)
        twice, wrong = found[name] = judged(1000)
        print(f"{name:20} {wall:8.1f} {cpu:8.2f} {memory:8.0f} {twice:6} {wrong:17} {lines:6}")
    return found["Reknit"] == (0, 0)


def plain_plan(count, folder):
    step = "  - {{id: s{0}, tool: shop/refund, with: {{id: {0}, amount: {0}.25, currency: {1}}}}}\n"
    path = os.path.join(folder, "plain.yaml")
    with open(path, "w") as file:
        file.write("steps:\n" + "".join(step.format(n, ["EUR", "USD"][n % 2]) for n in range(count)))
    return path


def without_faults(count, is_loop):
    ask("/_bench/reset", {"orders": count, "faults": False})
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(HERE, "plan.yaml") if is_loop else plain_plan(count, folder)
        figures = run_reknit(plan, folder)
    if judged(count) != (0, 0):
        sys.exit(f"bench: {count} refunds were not made as they should be: {judged(count)}")
    return figures


def growth():
    print("\nA loop without faults, 50 at once, beside a plan of as many plain steps:")
    print(f"{'':20} {'wall s':>8} {'cpu s':>8} {'ms cpu per item':>16} {'peak MB':>8}")
    figures = {}
    for count, is_loop in ((1000, True), (1000, False), (10_000, True), (10_000, False)):
        wall, cpu, memory = figures[count, is_loop] = without_faults(count, is_loop)
        name = f"{count:,} {'items' if is_loop else 'plain steps'}"
        print(f"{name:20} {wall:8.1f} {cpu:8.2f} {1000 * cpu / count:16.3f} {memory:8.0f}")
    cpu_ratio = figures[10_000, True][1] / figures[10_000, False][1]
    growth = figures[10_000, True][1] / figures[1000, True][1] / 10
    per_item = (figures[10_000, True][2] - figures[1000, True][2]) * 1024 / 9000
    print(f"an item costs {cpu_ratio:.2f} times the processor time of a plain step (bar {MAX_CPU_RATIO});")
    print(f"one of 10,000 items costs {growth:.2f} times that of one of 1,000 (bar {MAX_CPU_RATIO});")
    print(f"9,000 more items take {per_item:.1f} kB each (bar {MAX_KB_PER_ITEM})")
    return cpu_ratio <= MAX_CPU_RATIO and growth <= MAX_CPU_RATIO and per_item <= MAX_KB_PER_ITEM


port = free_port()
url = f"http://127.0.0.1:{port}"
service = start([sys.executable, os.path.join(HERE, "service.py"), port], port, Path(tempfile.gettempdir(), "fan-out-service.log"))
try:
    holds = [compare(), growth()]
finally:
    service.terminate()
    service.wait()
print("\nall bars hold" if all(holds) else "\na bar does not hold")
sys.exit(0 if all(holds) else 1)
