"""Runs and steps per second with one, two and four workers on one machine, and where the processor time goes. Writes the figures from which
capacity.py plans."""

import collections
import json
import os
import re
import time
from pathlib import Path

from cluster import Cluster
from engines import Cost, Reknit, load

WORKERS = [1, 2, 4]
CALLS = ["look", "place", "look", "note", "look", "place", "look", "look"]
# Few and many steps: what a run costs, and what each of its steps costs.
FEW, MANY = ["look", "place"], ["look", "place"] * 10
PARTITIONS = 4
PARTS = ["server", "workers", "balancer", "api", "service", "client"]


def throughput(reknit: str, server: str, folder: Path, rounds: int, runs: int):
    cluster = Cluster(reknit, server, folder / "throughput", workers=max(WORKERS), partitions=PARTITIONS)
    engine = Reknit("throughput", cluster)
    costs = {count: Cost() for count in WORKERS}
    shares = collections.defaultdict(collections.Counter)
    load(engine, CALLS, 20, 10)
    for _ in range(rounds):
        for count in WORKERS:
            set_workers(cluster, count)
            load(engine, CALLS, 10, 10)
            before = [worker.cpu() if worker.is_running() else 0 for worker in cluster.workers]
            costs[count].add(load(engine, CALLS, runs, 64))
            for worker, was in zip(cluster.workers[:count], before):
                shares[count][worker.name] += worker.cpu() - was
    cores = os.cpu_count()
    print(f"throughput: {runs} runs of {len(CALLS)} steps, 64 at once, {rounds} rounds, {cores} cores")
    print("throughput: workers   runs/s  steps/s   busy   " + "".join(f"{part:>10}" for part in PARTS) + "  (processor ms per step)")
    for count, cost in costs.items():
        busy = sum(cost.cpu.values()) / cost.seconds / cores
        columns = "".join(f"{cost.cpu_ms_per_step(part):10.2f}" for part in PARTS)
        print(f"throughput: {count:7}{cost.runs / cost.seconds:9.1f}{cost.steps_per_second():9.0f}{busy:7.0%}   {columns}")
    for count in WORKERS[1:]:
        whole = sum(shares[count].values()) or 1
        print(f"throughput: {count} workers: shares of their work " + ", ".join(f"{used / whole:.0%}" for used in shares[count].values()), flush=True)
    figures(cluster, engine, rounds, runs, folder)
    cluster.close()


def set_workers(cluster: Cluster, count: int):
    """Has so many workers running, each with its share of the connections: the server opens new ones to a new balancer."""
    for at, worker in enumerate(cluster.workers):
        if at < count and not worker.is_running():
            worker.start().ready()
        elif at >= count:
            worker.kill()
    cluster.balancer.kill()
    cluster.balancer.start().ready()
    time.sleep(1)


def figures(cluster: Cluster, engine: Reknit, rounds: int, runs: int, folder: Path):
    """What a run costs, and what each of its steps costs: from runs of few and of many steps."""
    set_workers(cluster, 2)
    few, many, kept_of_few, kept_of_many = Cost(), Cost(), collections.Counter(), collections.Counter()
    load(engine, MANY, 10, 10)
    for _ in range(rounds):
        before = sizes(cluster)
        few.add(load(engine, FEW, 2 * runs, 64))
        between = sizes(cluster)
        many.add(load(engine, MANY, runs // 2, 64))
        after = sizes(cluster)
        kept_of_few.update({name: between[name] - before[name] for name in before})
        kept_of_many.update({name: after[name] - between[name] for name in before})

    def fitted(of_few: float, of_many: float) -> dict[str, float]:
        """Per run and per step, so that both loads cost what they did."""
        few_each, many_each = of_few / few.runs, of_many / many.runs
        step = max(0.0, (many_each - few_each) / (len(MANY) - len(FEW)))
        return {"run": max(0.0, few_each - len(FEW) * step), "step": step}

    cpu_ms = {part: fitted(1000 * few.cpu[part], 1000 * many.cpu[part]) for part in PARTS if part not in ("client",)}
    written = {part: fitted(few.written[part], many.written[part]) for part in ["server", "workers", "api"]}
    found = {
        "cores": os.cpu_count(),
        "partitions": PARTITIONS,
        "cpu_ms": cpu_ms,
        "counts": {what: fitted(few.counts[what], many.counts[what]) for what in many.counts},
        "written_bytes": written,
        "kept_bytes": {name: fitted(kept_of_few[name], size) for name, size in kept_of_many.items()},
        # The busiest threads of their kind, which are the first to have no time left.
        "server_thread_ms": by_name(many.server_threads, many.steps),
        "api_thread_ms": by_name(many.api_threads, many.steps),
    }
    path = folder / "figures.json"
    path.write_text(json.dumps(found, indent=2))
    print("throughput: processor ms           " + "".join(f"{part:>10}" for part in cpu_ms))
    for what in ["run", "step"]:
        print(f"throughput: for each {what:20}" + "".join(f"{of[what]:10.2f}" for of in cpu_ms.values()))
    for what in ["server", "api"]:
        threads = ", ".join(f"{name} {ms:.2f}" for name, ms in list(found[f"{what}_thread_ms"].items())[:8])
        print(f"throughput: threads of the {what}, ms per step: {threads}")
    kept = ", ".join(f"{name} {of['run'] / 1000:.1f} kB and {of['step'] / 1000:.2f} kB for each step" for name, of in found["kept_bytes"].items())
    print(f"throughput: what a run leaves: {kept}")
    counts = ", ".join(f"{of['step']:.0f} {what}" for what, of in found["counts"].items())
    print(f"throughput: counted by the server for each step: {counts}")
    of_step = ", ".join(f"{part} {of['step'] / 1000:.1f} kB" for part, of in written.items())
    print(f"throughput: written to disk for each step: {of_step}")
    print(f"throughput: figures for capacity.py are in {path}", flush=True)


def by_name(threads: dict[str, float], steps: int) -> dict[str, float]:
    """Processor ms per step of threads with the same name but for a number."""
    found = collections.Counter()
    for thread, used in threads.items():
        found[re.sub(r"[\d-]+$", "", thread.split(" ", 1)[1])] += 1000 * used / steps
    return dict(found.most_common())


def sizes(cluster: Cluster) -> dict[str, int]:
    """The bytes of what is kept: the state entries of the server, whose files also have room for more, the blobs, and the journal of the API."""
    state = cluster.query("select sum(length(value)) as bytes from state where service_name = 'ReknitRun'")[0]["bytes"]
    blobs = sum(path.stat().st_size for path in (cluster.folder / "blobs").rglob("*") if path.is_file())
    found = {"state": state or 0, "blobs": blobs}
    found["journal"] = sum(path.stat().st_size for path in cluster.folder.glob("journal.db*"))
    return found
