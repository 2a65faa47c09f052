"""What a step costs: beside a workflow of Restate that is written by hand and makes the same calls, and beside the embedded journal. All take turns on
one server, so that a busy moment affects all of them."""

import asyncio
import statistics
import time
from pathlib import Path

import client
from cluster import Cluster
from engines import Cost, Engine, Handwritten, Reknit, load, run_many, start_handwritten
from processes import free_ports

BAR = 1.5
OURS, BY_HAND, BY_HAND_INVOCATIONS, EMBEDDED = "on Restate", "by hand", "by hand, service calls", "embedded"
# Reads, keyed calls and calls that must not be repeated.
KINDS = ["look", "place", "pay"]
LONG, SHORT = 21, 1
MIXED = ["look", "place", "look", "pay", "look"] * 2


def latency(engine: Engine, kind: str) -> float:
    """The time of a step of a run that is alone, in ms: that of a long run without that of a short one."""

    async def measured() -> list[float]:
        engine.client, seconds = client.Client(engine.port), []
        for length in [SHORT, LONG]:
            begin = time.monotonic()
            await engine.run([kind] * length)
            seconds.append(time.monotonic() - begin)
        engine.client.close()
        return seconds

    short, long = asyncio.run(measured())
    return 1000 * (long - short) / (LONG - SHORT)


def bare_call(port: int, kind: str) -> float:
    """The time of the same call without any engine, in ms."""

    async def measured() -> float:
        direct, times = client.Client(port), []
        for at in range(50):
            begin = time.monotonic()
            await direct.request("POST", f"/api/capabilities/{kind}", {"order": f"bare-{at}"}, {"idempotency-key": f"bare-{kind}-{at}"})
            times.append(time.monotonic() - begin)
        direct.close()
        return 1000 * statistics.median(times)

    return asyncio.run(measured())


def warm_up(engine: Engine):
    async def once():
        engine.client = client.Client(engine.port)
        await run_many(engine, MIXED, 8, 4)
        engine.client.close()

    asyncio.run(once())


def overhead(reknit: str, server: str, handwritten: str, folder: Path, rounds: int, runs: int) -> list[str]:
    """Returns the promises that are broken."""
    cluster = Cluster(reknit, server, folder / "overhead")
    embedded = Cluster(reknit, server, folder / "overhead-embedded", restate=False)
    nodes = start_handwritten(handwritten, cluster, free_ports("balancer", "one", "two"))
    engines = [
        Reknit(OURS, cluster),
        Handwritten(BY_HAND, cluster, nodes, all_as_invocations=False),
        Handwritten(BY_HAND_INVOCATIONS, cluster, nodes, all_as_invocations=True),
        Reknit(EMBEDDED, embedded),
    ]
    for engine in engines:
        warm_up(engine)
    broken = alone(engines, cluster.ports["service"], rounds) + under_load(engines, rounds, runs)
    for node in [*nodes["workers"], *nodes["balancer"]]:
        node.kill()
    cluster.close()
    embedded.close()
    return broken


def alone(engines: list[Engine], service: int, rounds: int) -> list[str]:
    times: dict[tuple[str, str], list[float]] = {}
    bare: dict[str, list[float]] = {}
    for _ in range(2 * rounds):
        for kind in KINDS:
            bare.setdefault(kind, []).append(bare_call(service, kind))
            for engine in engines:
                times.setdefault((engine.name, kind), []).append(latency(engine, kind))
    print("overhead: one run alone, ms per step" + "".join(f"{kind:>10}" for kind in KINDS))
    print(f"overhead: {'the call itself':26}" + "".join(f"{statistics.median(bare[kind]):10.2f}" for kind in KINDS))
    for engine in engines:
        print(f"overhead: {engine.name:26}" + "".join(f"{statistics.median(times[engine.name, kind]):10.2f}" for kind in KINDS), flush=True)
    broken = []
    for kind in KINDS:
        own = {engine.name: statistics.median(times[engine.name, kind]) - statistics.median(bare[kind]) for engine in engines}
        ratio = own[OURS] / own[BY_HAND]
        also = f"{own[OURS] / own[BY_HAND_INVOCATIONS]:.2f} x service calls by hand, {own[OURS] / own[EMBEDDED]:.2f} x embedded"
        print(f"overhead: `{kind}` without the call: {ratio:.2f} x by hand (bar: {BAR}), {also}")
        if ratio > BAR:
            broken.append(f"a step with `{kind}` takes {ratio:.2f} times as long as by hand")
    return broken


def under_load(engines: list[Engine], rounds: int, runs: int) -> list[str]:
    costs = {engine.name: Cost() for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            costs[engine.name].add(load(engine, MIXED, runs, 32))
    parts = ["server", "workers", "balancer", "api", "service", "client"]
    print(f"overhead: {runs} runs of {len(MIXED)} steps, 32 at once, {rounds} rounds: processor ms per step")
    print(f"overhead: {'':26}" + "".join(f"{part:>10}" for part in [*parts, "steps/s"]))
    for name, cost in costs.items():
        columns = "".join(f"{cost.cpu_ms_per_step(part):10.2f}" for part in parts)
        print(f"overhead: {name:26}{columns}{cost.steps_per_second():10.0f}", flush=True)
    for name, cost in costs.items():
        counts = ", ".join(f"{number / cost.steps:.1f} {what}" for what, number in cost.counts.items() if "bytes" not in what)
        if counts:
            print(f"overhead: at the server for each step, {name}: {counts}")
    own = {name: cost.cpu_ms_per_step("server", "workers", "balancer", "api") for name, cost in costs.items()}
    ratio = own[OURS] / own[BY_HAND]
    others = ", ".join(f"{own[OURS] / own[name]:.2f} x {name}" for name in [BY_HAND_INVOCATIONS, EMBEDDED])
    without_api = costs[OURS].cpu_ms_per_step("server", "workers", "balancer") / own[BY_HAND]
    print(f"overhead: processor time without service and client: {ratio:.2f} x by hand (bar: {BAR}; {without_api:.2f} x without the API process), {others}")
    return [f"a step needs {ratio:.2f} times the processor time of one by hand"] if ratio > BAR else []
