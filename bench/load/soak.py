"""Scenario 7: mixed load for a long time."""

import asyncio
import collections
import contextlib
import statistics
import time

from client import Client, Disconnected
from world import (
    READ_AND_WRITE,
    Bench,
    accepted,
    follow,
)

# 7. Mixed load for a long time.


async def soak(bench: Bench):
    seconds = bench.soak_minutes * 60
    with bench.world("7", keep_runs=2000) as world:
        server = await world.serve()
        client = Client(server.port)
        done, problems = collections.Counter(), []
        end = time.monotonic() + seconds
        orders = []

        async def repeat(work, pause: float):
            while time.monotonic() < end:
                try:
                    await work()
                except (Disconnected, KeyError, ValueError, AssertionError) as error:
                    problems.append(f"{work.__name__}: {error!r}")
                await asyncio.sleep(pause)

        def order() -> str:
            orders.append(f"x{len(orders)}")
            return orders[-1]

        async def run_and_wait():
            name = order()
            view = (await client.start(READ_AND_WRITE, name, name, mode="wait")).json()
            assert view["status"] == "complete", view
            done["runs"] += 1

        async def run_and_follow():
            name = order()
            run = await accepted(client, READ_AND_WRITE, name, name, 20)
            events = await follow(client, run)
            assert events[-1].name == "ended", events
            done["followed"] += 1

        async def follow_and_leave():
            name = order()
            run = await accepted(client, READ_AND_WRITE, name, name, 50)
            async with contextlib.aclosing(client.events(run)) as events:
                async for _ in events:
                    break
            done["left"] += 1

        async def read():
            listed = (await client.get("/v1/runs?limit=50")).json()["runs"]
            for run in listed[:3]:
                assert (await client.get(f"/v1/runs/{run['run']}/explain")).status == 200
            assert (await client.get("/metrics")).status == 200
            done["lists"] += 1

        body = {"model": "scripted", "messages": [{"role": "user", "content": "What is new?"}]}

        async def chat():
            reply = await client.request("POST", "/v1/chat/completions", body)
            assert reply.json()["choices"][0]["message"]["content"].startswith("mended"), reply
            done["chats"] += 1

        async def chat_stream():
            lines = [line async for line in client.stream("POST", "/v1/chat/completions", {**body, "stream": True})]
            assert b"data: [DONE]" in lines, lines
            done["streams"] += 1

        works = [
            (run_and_wait, 0.2),
            (run_and_follow, 0.2),
            (follow_and_leave, 0.5),
            (read, 0.5),
            (chat, 0.1),
            (chat_stream, 0.2),
        ]
        load = [asyncio.create_task(repeat(work, pause)) for work, pause in works for _ in range(4)]
        samples: list[tuple[float, float, int]] = []
        begin, next_line = time.monotonic(), 60.0
        while time.monotonic() < end:
            await asyncio.sleep(0.5)
            at = time.monotonic() - begin
            samples.append((at, server.memory_mb(), server.open_files()))
            if at >= next_line:
                print(
                    f"  {at / 60:3.0f} min: {samples[-1][1]:.1f} MB, {samples[-1][2]} files, {dict(done)}, {len(problems)} problems",
                    flush=True,
                )
                next_line += 60
        await asyncio.gather(*load)
        await asyncio.sleep(1)
        idle = server.open_files()

        def around(share: float) -> tuple[float, float]:
            """The medians of memory and files in the last twentieth before this share of the time."""
            chosen = [sample for sample in samples if (share - 0.05) * seconds <= sample[0] <= share * seconds]
            return statistics.median(sample[1] for sample in chosen), statistics.median(sample[2] for sample in chosen)

        marks = [around(share) for share in (0.25, 0.5, 1.0)]
        deeds = world.deeds()
        missing = deeds.missing("place", orders)
        bench.table.add(
            f"7 {bench.soak_minutes:g} min of mixed load: memory after 25, 50, 100 %",
            ", ".join(f"{memory:.1f}" for memory, _ in marks) + f" MB ({marks[2][0] / marks[0][0]:.2f} x)",
            "at most 1.15 x",
            marks[2][0] <= 1.15 * marks[0][0],
        )
        bench.table.add(
            "7 open files after 25, 50, 100 %, and when it is idle",
            ", ".join(f"{files:.0f}" for _, files in marks) + f", {idle}",
            "at most 10 more",
            marks[2][1] <= marks[0][1] + 10,
        )
        bench.table.add(
            f"7 {sum(done.values())} requests or runs",
            f"{len(problems)} failed; deeds: {len(missing)} missing, {len(deeds.twice)} twice; {server.cpu():.0f} CPU s",
            "none",
            not problems and not missing and not deeds.twice,
        )
        print("  " + ", ".join(f"{number} {name}" for name, number in done.items()))
        for problem in problems[:5]:
            print(f"  {problem[:500]}")
