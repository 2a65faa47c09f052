"""Scenarios 1 to 3: many watchers, many runs, more runs than the server takes."""

import asyncio
import contextlib
import json
import random
import re
import statistics
import time

from client import Client, Disconnected, Event
from world import (
    ASKS_FIRST,
    READ_AND_WRITE,
    Bench,
    accepted,
    count,
    follow,
    plan,
    read_events,
    status_of,
)

# 1. Many watchers of one run.


async def watchers(bench: Bench):
    number, steps = bench.size(500, 30), bench.size(20, 6)
    with bench.world("1") as world:
        client = Client((await world.serve()).port)
        chance = random.Random(bench.seed)
        run = (await client.start(plan(*["look"] * steps), "watched", delay_ms=300)).json()["run"]
        delays: list[float] = []

        async def watch(at: int) -> list[Event]:
            await asyncio.sleep(chance.uniform(0, steps * 0.15))
            # Every tenth watcher leaves twice.
            leave = sorted(chance.sample(range(1, 4 * steps), 2)) if at % 10 == 0 else None
            begin, arrivals = time.time(), []
            events = await follow(client, run, leave, arrivals)
            happened = [json.loads(event.data)["at_ms"] / 1000 for event in events]
            # What happened before the watcher came is not late.
            delays.extend(arrived - then for (_, arrived), then in zip(arrivals, happened, strict=True) if then > begin)
            return events

        seen = await asyncio.gather(*(watch(at) for at in range(number)))
        truth = await read_events(client, run)
        half = statistics.median(delays)
        right = sum(events == truth for events in seen)
        again = sum(events == truth for events in seen[::10])
        bench.table.add(
            f"1 {number} watchers, {len(truth)} events: each once, in order",
            f"{right} of {number}; half of the events within {half * 1000:.0f} ms",
            "all",
            right == number and truth[-1].name == "ended",
        )
        bench.table.add(
            "1 watchers that reconnect twice (Last-Event-ID)",
            f"{again} of {len(seen[::10])} miss nothing",
            "all",
            again == len(seen[::10]),
        )


# 2. Many runs at the same time.


async def concurrent_runs(bench: Bench):
    number = bench.size(1000, 60)
    with bench.world("2") as world:
        server = await world.serve()
        client = Client(server.port)
        for name, delay_ms in (("held", 4000 if not bench.quick else 500), ("free", 0)):
            sampling = asyncio.create_task(sample(client, peak := [0.0]))
            begin, cpu = time.monotonic(), server.cpu()
            orders = [f"{name}-{at}" for at in range(number)]
            statuses = await asyncio.gather(*(start_and_follow(client, order, delay_ms) for order in orders))
            seconds, used = time.monotonic() - begin, server.cpu() - cpu
            sampling.cancel()
            deeds = world.deeds()
            missing = deeds.missing("place", orders)
            holds = statuses.count("complete") == number
            speed = f"{number / seconds:.0f} runs/s, {number / used:.0f} runs per CPU s of the server"
            what = f"calls of {delay_ms} ms" if delay_ms else "calls that answer at once"
            measured = f"{max(peak):.0f} at the same time" if delay_ms else speed
            bench.table.add(f"2 {number} runs at once, {what}", f"{count(statuses)}; {measured}", "all complete", holds)
            done = f"{len(missing)} missing, {len(deeds.twice)} twice"
            bench.table.add("2 their deeds", done, "each once", not missing and not deeds.twice)


async def start_and_follow(client: Client, order: str, delay_ms: int) -> str:
    run = await accepted(client, READ_AND_WRITE, order, order, delay_ms)
    await follow(client, run)
    return (await status_of(client, run))["status"]


async def sample(client: Client, into: list[float]):
    """Reads how many runs are in progress, until it is cancelled."""
    while True:
        with contextlib.suppress(Disconnected):
            text = (await client.get("/metrics")).body.decode()
            into.extend(float(value) for value in re.findall(r"^reknit_runs_in_progress (\S+)", text, re.MULTILINE))
        await asyncio.sleep(0.05)


# 3. More runs than the server takes.


async def overload(bench: Bench):
    limit = bench.size(100, 10)
    number = 5 * limit
    with bench.world("3") as world:
        client = Client((await world.serve("--max-runs", limit)).port)
        sampling = asyncio.create_task(sample(client, peak := [0.0]))
        first, refused, untold, resent = [], [0], [0], []

        async def one(at: int) -> tuple[str, str]:
            for attempt in range(100):
                try:
                    reply = await client.start(READ_AND_WRITE, f"o{at}", f"o{at}", delay_ms=500)
                except Disconnected:
                    untold[0] += 1
                    continue
                if attempt == 0:
                    first.append(reply.status)
                if reply.status == 202:
                    break
                refused[0] += 1
                untold[0] += reply.status != 429 or "retry-after" not in reply.headers
                await asyncio.sleep(float(reply.headers.get("retry-after", 1)))
            run = reply.json()["run"]
            if at % 5 == 0:
                # As a client does that did not get the answer.
                begin = time.monotonic()
                again = await client.start(READ_AND_WRITE, f"o{at}", f"o{at}", delay_ms=500)
                resent.append((again.status, again.status == 202 and again.json()["run"] == run, time.monotonic() - begin))
            return run, (await status_of(client, run))["status"]

        begin = time.monotonic()
        ended = await asyncio.gather(*(one(at) for at in range(number)))
        seconds = time.monotonic() - begin
        sampling.cancel()
        deeds = world.deeds()
        missing = deeds.missing("place", [f"o{at}" for at in range(number)])
        statuses = [status for _, status in ended]
        bench.table.add(
            f"3 {number} runs at once with --max-runs {limit}",
            f"at first {count(first)}; {refused[0]} refusals in all; peak {max(peak):.0f}",
            f"429, Retry-After, {limit} runs",
            set(first) <= {202, 429} and untold[0] == 0 and max(peak) <= limit,
        )
        bench.table.add(
            "3 clients come back as told",
            f"{count(statuses)} after {seconds:.1f} s; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
            "all complete, deeds once",
            statuses.count("complete") == number and not missing and not deeds.twice,
        )
        same = sum(is_same for _, is_same, _ in resent)
        bench.table.add(
            "3 an accepted start is sent again: the same run",
            f"{same} of {len(resent)}; statuses: {count([status for status, *_ in resent])}",
            "all",
            same == len(resent),
        )
    with bench.world("3-again") as world:
        client = Client((await world.serve()).port)
        await client.start(READ_AND_WRITE, "slow", "slow", delay_ms=2000)
        begin = time.monotonic()
        reply = await client.start(READ_AND_WRITE, "slow", "slow", delay_ms=2000)
        seconds, status = time.monotonic() - begin, reply.json()["status"]
        bench.table.add(
            "3 the same start again, `mode: start`, run of 4 s",
            f"answered after {seconds * 1000:.0f} ms ({status})",
            "at once (under 1 s)",
            seconds < 1,
        )
        run = (await client.start(READ_AND_WRITE, "seen", "seen", delay_ms=2000)).json()["run"]
        again = asyncio.create_task(client.start(READ_AND_WRITE, "seen", "seen", delay_ms=2000))
        await asyncio.sleep(0.2)
        arrivals: list[tuple[int, float]] = []
        truth = await follow(client, run, None, arrivals)
        late = max(at - json.loads(event.data)["at_ms"] / 1000 for event, (_, at) in zip(truth, arrivals))
        await again
        bench.table.add("3 a watcher who comes after that: events arrive within", f"{late * 1000:.0f} ms", "1 s", late < 1)
    with bench.world("3-waiting") as world:
        client = Client((await world.serve("--max-runs", 3)).port)
        for at in range(3):
            await client.start(ASKS_FIRST, f"w{at}", f"w{at}", mode="wait")
        reply = await client.start(READ_AND_WRITE, "next", "next")
        bench.table.add("3 --max-runs 3 and three runs that wait for a person", f"the next start: {reply.status}")
