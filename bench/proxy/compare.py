"""Runs every task of tasks.py with the agent of agent.py: with the tools direct, through `reknit mcp`, and through it with a session per call.

usage: python compare.py REKNIT FOLDER [WORDS]

FOLDER gets the configuration, the journals and all conversations. WORDS choose the tasks whose names contain them.
Exits with 0 if every limit holds.
"""

import asyncio
import collections
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import agent
import httpx
from tasks import TASKS, Task

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import free_port, start  # noqa: E402 (the path is set above)

HERE = Path(__file__).parent
# Time limit in seconds of a call of the shop, the same on all sides.
LIMIT = 2
# Time limit in seconds of a task.
TASK_LIMIT = 120
DONE, TOLD, WRONG = "done", "told", "WRONG, SILENT"

CONFIGURATION = """
[[openapi]]
name = "shop"
document = "{shop}/openapi.json"
time = "{limit}s"

# How to find out whether a refund took effect: the shop takes no idempotency key for it.
[[checks]]
of = "shop/create_refund"
call = "shop/list_refunds"
parameters = {{ order_id = "{{{{call.order_id}}}}" }}
happened = "len(reply.items) > 0"
result = "reply.items[0]"

# Two orders of a customer within ten minutes for the same thing are one.
[[keys]]
capability = "shop/create_order"
fields = ["customer_id", "sku", "quantity"]
window = "10m"
"""


@dataclass
class Side:
    name: str
    server: dict
    ask: object


@dataclass
class Result:
    verdict: str
    extra_deeds: int
    model_calls: int
    seconds: float
    conversation: list[str]


def start_own(program: str, folder: Path) -> tuple[subprocess.Popen, str]:
    """Starts one of our servers."""
    port = free_port()
    return start([sys.executable, HERE / program, port], port, folder / f"{program}.log"), f"http://127.0.0.1:{port}"


def sides(reknit: str, folder: Path, shop: str) -> list[Side]:
    configuration = folder / "reknit.toml"
    configuration.write_text(CONFIGURATION.format(shop=shop, limit=LIMIT))
    for file in folder.glob("journal-*"):
        file.unlink()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "REKNIT_FIND_MODEL": "false"}

    def through(journal: str) -> dict:
        arguments = ["mcp", "--config", str(configuration), "--journal", str(folder / journal)]
        return {"command": reknit, "args": arguments, "env": environment}

    direct = {"command": sys.executable, "args": [str(HERE / "direct.py"), shop, str(LIMIT)]}
    direct["env"] = {"FASTMCP_LOG_LEVEL": "CRITICAL"}
    return [
        Side("direct", direct, agent.answer),
        Side("reknit mcp", through("journal-session-{task}.db"), agent.answer),
        Side("a session per call", through("journal-sessions-{task}.db"), agent.answer_with_a_session_per_call),
    ]


def judge(task: Task, books: list[dict], answer: str) -> tuple[str, int]:
    """How a task ended, and how many deeds were done beyond those that the user wanted."""
    actual, wanted = (
        collections.Counter(json.dumps(deed, sort_keys=True) for deed in deeds) for deeds in (books, task.books)
    )
    extra = (actual - wanted).total()
    if not answer.startswith("DONE: "):
        return TOLD, extra
    is_right = actual == wanted and answer == f"DONE: {task.expected}"
    return (DONE if is_right else WRONG), extra


def server_of(side: Side, task: Task) -> dict:
    """The server for a task. Each has a journal of its own, so that no task is answered with what was done in another."""
    arguments = [argument.replace("{task}", str(TASKS.index(task))) for argument in side.server["args"]]
    return {**side.server, "args": arguments}


async def play(task: Task, side: Side, shop: str, model_url: str, model: str) -> Result:
    async with httpx.AsyncClient(timeout=30) as client:
        (await client.post(f"{shop}/_bench/reset", json=task.faults)).raise_for_status()
        (await client.post(f"{model_url}/_bench/reset")).raise_for_status()
        started = time.monotonic()
        try:
            conversation = await asyncio.wait_for(side.ask(server_of(side, task), model_url, model, task.request), TASK_LIMIT)
        except Exception as error:  # The agent itself failed, which its user sees.
            conversation = [f"FAILED: the agent ended with {type(error).__name__}: {error}"]
        seconds = time.monotonic() - started
        books = (await client.get(f"{shop}/_bench/books")).json()
        model_calls = (await client.get(f"{model_url}/_bench/count")).json()
    verdict, extra = judge(task, books, conversation[-1])
    return Result(verdict, extra, model_calls, seconds, conversation)


async def play_all(tasks: list[Task], model: str, all_sides: list[Side], shop: str, model_url: str, log) -> dict:
    """Plays the tasks with one model, and prints a row for each."""
    totals = {side.name: collections.Counter() for side in all_sides}
    print(f"\nThe {model} model\n")
    print(f"{'task':49}" + "".join(f" | {side.name:18} extra calls" for side in all_sides))
    for task in tasks:
        print(f"{task.name:49}", end="")
        for side in all_sides:
            result = await play(task, side, shop, model_url, model)
            totals[side.name].update({result.verdict: 1, "extra": result.extra_deeds, "calls": result.model_calls})
            print(f" | {result.verdict:18} {result.extra_deeds:5} {result.model_calls:5}", end="", flush=True)
            text = "\n  ".join(result.conversation)
            log.write(f"{model}, {side.name}, {task.name}: {result.verdict}, {result.seconds:.1f} s\n  {text}\n\n")
        print()
    return totals


def summarize(count: int, by_model: dict[str, dict]) -> bool:
    """Prints the table, and says whether every limit holds."""
    holds = True
    print(
        f"\n{f'of {count} tasks':29} {'done':>5} {'told':>5} {'wrong and silent':>17} {'duplicated deeds':>17} {'model calls':>12}"
    )
    for model, totals in by_model.items():
        for side, n in totals.items():
            print(f"{f'{model}, {side}':29} {n[DONE]:5} {n[TOLD]:5} {n[WRONG]:17} {n['extra']:17} {n['calls']:12}")
        direct, ours = totals["direct"], totals["reknit mcp"]
        holds &= ours["extra"] == 0 and ours[WRONG] <= direct[WRONG] and ours["calls"] <= direct["calls"]
    print("\nbars: no duplicated deed through `reknit mcp`; not more wrong and silent, nor more model calls, than direct:",
          "they hold" if holds else "MISSED")  # fmt: skip
    return holds


async def main() -> int:
    reknit, folder, words = sys.argv[1], Path(sys.argv[2]), " ".join(sys.argv[3:])
    tasks = [task for task in TASKS if words in task.name]
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["NO_PROXY"] = "127.0.0.1"
    service, shop = start_own("service.py", folder)
    try:
        server, model_url = start_own("model.py", folder)
        try:
            with open(folder / "conversations.txt", "w") as log:
                by_model = {}
                for model in ("careless", "careful"):
                    all_sides = sides(reknit, folder, shop)
                    by_model[model] = await play_all(tasks, model, all_sides, shop, model_url, log)
        finally:
            server.kill()
    finally:
        service.kill()
    return 0 if summarize(len(tasks), by_model) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
