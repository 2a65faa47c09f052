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
# The tool service and the client are the same for all.
OWN_PARTS = ["server", "workers", "balancer", "api"]


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
        await run_many(engine, MIXED, 16, 4)
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
    for _ in range(5 * rounds):
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
    """Runs of two lengths: the difference is what a step costs, and the rest what beginning and ending a run costs."""
    lengths = [len(MIXED), 3 * len(MIXED)]
    costs = {(engine.name, length): Cost() for engine in engines for length in lengths}
    for _ in range(rounds):
        for engine in engines:
            for length in lengths:
                costs[engine.name, length].add(load(engine, MIXED * (length // len(MIXED)), runs, 32))
    short, long = lengths
    all_parts = ["server", "workers", "balancer", "api", "service", "client"]

    def per_step(name: str, *parts: str) -> float:
        return (costs[name, long].cpu_ms_per_run(*parts) - costs[name, short].cpu_ms_per_run(*parts)) / (long - short)

    def per_run(name: str, *parts: str) -> float:
        return costs[name, short].cpu_ms_per_run(*parts) - short * per_step(name, *parts)

    print(f"overhead: {runs} runs of {short} and of {long} steps, 32 at once, {rounds} rounds: processor ms for each step, and steps per second with {long} steps")
    print(f"overhead: {'':26}" + "".join(f"{part:>10}" for part in [*all_parts, "each run", "steps/s"]))
    for engine in engines:
        columns = "".join(f"{per_step(engine.name, part):10.2f}" for part in all_parts)
        print(f"overhead: {engine.name:26}{columns}{per_run(engine.name, *OWN_PARTS):10.2f}{costs[engine.name, long].steps_per_second():10.0f}", flush=True)
    for engine in engines:
        cost = costs[engine.name, long]
        counts = ", ".join(f"{number / cost.steps:.1f} {what}" for what, number in cost.counts.items() if "bytes" not in what)
        if counts:
            print(f"overhead: at the server for each step, {engine.name}: {counts}")
    own = {engine.name: per_step(engine.name, *OWN_PARTS) for engine in engines}
    # By hand, steps have no records and no copy for the API, so only service calls, which could be cancelled, are held against the bar here.
    ratio = own[OURS] / own[BY_HAND_INVOCATIONS]
    others = f"{own[OURS] / own[BY_HAND]:.2f} x {BY_HAND}, {own[OURS] / own[EMBEDDED]:.2f} x {EMBEDDED}"
    print(f"overhead: processor time of a step without service and client: {ratio:.2f} x {BY_HAND_INVOCATIONS} (bar: {BAR}), {others}")
    whole = {engine.name: costs[engine.name, short].cpu_ms_per_run(*OWN_PARTS) for engine in engines}
    print(f"overhead: processor time of a whole run of {short} steps: {whole[OURS] / whole[BY_HAND]:.2f} x {BY_HAND}, {whole[OURS] / whole[BY_HAND_INVOCATIONS]:.2f} x {BY_HAND_INVOCATIONS}")
    return [f"a step needs {ratio:.2f} times the processor time of one by hand"] if ratio > BAR else []
