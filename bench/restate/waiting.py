"""Runs that wait for a person: what the workers, the server and the API hold for them."""

import asyncio
import collections
import concurrent.futures
import time
from pathlib import Path

from cluster import Cluster
from engines import client
from runs import ASKS_FIRST, settle
from throughput import sizes

# How many runs are decided in the end, and how much more memory a worker may have than one without any runs.
DECIDED, MAX_GROWTH_MB = 100, 10


def waiting(reknit: str, server: str, folder: Path, count: int) -> list[str]:
    """Returns the promises that are broken."""
    cluster = Cluster(reknit, server, folder / "waiting")
    broken = []
    memory = {"fresh workers, no runs": memory_of(cluster)}
    begin = time.monotonic()
    statuses = asyncio.run(start_all(cluster.ports["api"], count))
    seconds = time.monotonic() - begin
    in_progress = wait_for_quiet(cluster)
    print(f"waiting: {count} runs started in {seconds:.0f} s ({count / seconds:.0f}/s): {dict(statuses)}; invocations in progress: {in_progress}")
    if statuses["waiting"] != count or in_progress:
        broken.append(f"{count} runs wait: {dict(statuses)}, {in_progress} invocations in progress")
    memory["the workers that started them"] = memory_of(cluster)
    for worker in cluster.workers:
        worker.end(30)
        worker.start().ready()
    time.sleep(2)
    memory["fresh workers, while they wait"] = memory_of(cluster)
    cluster.api.end(30)
    cluster.api.start().ready()
    time.sleep(2)
    memory["a fresh API, too"] = memory_of(cluster)
    print(f"waiting: MB of memory{'':24}" + "".join(f"{name:>12}" for name in memory_of(cluster)))
    for name, found in memory.items():
        print(f"waiting: {name:36}" + "".join(f"{mb:12.0f}" for mb in found.values()), flush=True)
    stored = sizes(cluster)
    kept = ", ".join(f"{name} {size / count / 1000:.1f} kB" for name, size in stored.items())
    print(f"waiting: what each run keeps meanwhile: {kept}")
    broken += decide_some(cluster, count)
    after, before = memory["fresh workers, while they wait"], memory["fresh workers, no runs"]
    grown = max(after[worker.name] - before[worker.name] for worker in cluster.workers)
    print(f"waiting: a worker that never saw the {count} runs has {grown:+.0f} MB (bar: at most {MAX_GROWTH_MB} more)", flush=True)
    if grown > MAX_GROWTH_MB:
        broken.append(f"runs that wait hold {grown:.0f} MB of a worker")
    cluster.close()
    return broken


async def start_all(port: int, count: int) -> collections.Counter:
    asking, statuses, left = client.Client(port), collections.Counter(), iter(range(count))

    async def one_after_the_other():
        for number in left:
            body = {"plan": ASKS_FIRST, "inputs": {"order": f"wait-{number}"}, "run_id": f"wait-{number}", "mode": "wait"}
            reply = await asking.request("POST", "/v1/runs", body)
            statuses[reply.json()["status"] if reply.status == 200 else f"HTTP {reply.status}"] += 1

    await asyncio.gather(*(one_after_the_other() for _ in range(64)))
    asking.close()
    return statuses


def wait_for_quiet(cluster: Cluster) -> int:
    """How many invocations are in progress once the last messages are handled."""
    end = time.monotonic() + 60
    while (number := cluster.invocations_in_progress()) and time.monotonic() < end:
        time.sleep(0.5)
    return number


def memory_of(cluster: Cluster) -> dict[str, float]:
    return {node.name: node.memory_mb() for node in [*cluster.workers, cluster.restate, cluster.api]}


def decide_some(cluster: Cluster, count: int) -> list[str]:
    """Runs of the whole range, decided by a person when the workers that began them are gone."""
    chosen = [f"wait-{number}" for number in range(0, count, max(1, count // DECIDED))]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        views = list(pool.map(lambda run: settle(cluster, run, lambda run, question: "approve"), chosen))
    ended = collections.Counter(view["status"] for view in views)
    calls = collections.Counter(deed["order"] for deed in cluster.deeds() if deed["capability"] == "place")
    print(f"waiting: {len(chosen)} of them decided: {dict(ended)} after {time.monotonic() - begin:.1f} s")
    if ended["complete"] != len(chosen) or calls != collections.Counter(chosen):
        return [f"decided runs: {dict(ended)}, {sum(calls.values())} calls of {len(chosen)}"]
    return []
