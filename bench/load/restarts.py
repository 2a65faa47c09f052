"""Scenarios 4 to 6: servers are killed, stopped, and share a journal."""

import asyncio
import contextlib
import random
import time

from client import Client, Disconnected
from world import (
    ASKS_FIRST,
    EVERY_CLASS,
    READ_AND_WRITE,
    STOP,
    Bench,
    accepted,
    count,
    follow,
    free_port,
    plan,
    read_events,
    status_of,
)

# 4. The server is killed.


async def kills(bench: Bench):
    kills, workers = bench.size(10, 2), bench.size(40, 10)
    chance = random.Random(bench.seed)
    with bench.world("4") as world:
        port = free_port()
        server = await world.serve(port=port)
        client = Client(port)
        runs: dict[str, str] = {}
        is_over, broken, starts = False, [0], []

        async def worker(number: int):
            at = 0
            while not is_over:
                order = f"k{number}-{at}"
                at += 1
                runs[order] = await accepted(client, EVERY_CLASS, order, order, 40)
                await asyncio.sleep(chance.uniform(0, 0.1))

        load = [asyncio.create_task(worker(number)) for number in range(workers)]
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(0.3, 2.5))
            server.kill()
            client.close()
            begin = time.monotonic()
            server = await world.serve(port=port)
            starts.append(time.monotonic() - begin)
        await asyncio.sleep(0.5)
        is_over = True
        await asyncio.gather(*load)
        views = dict(zip(runs, await asyncio.gather(*(status_of(client, run) for run in runs.values()))))
        waiting = {order: view for order, view in views.items() if view["status"] == "waiting"}
        about = [question for view in waiting.values() for question in view["questions"]]
        before = world.deeds()
        doubtful = all(question["step"] == "s2" and question["about"]["kind"] != "approval" for question in about)
        # The person looks into the books of the service, and says what is there.
        for order, view in waiting.items():
            happened = before.done["pay", order] > 0
            for question in view["questions"]:
                decision = {"hash": question["hash"], "decision": "happened" if happened else "did_not_happen"}
                if happened:
                    decision["result"] = {"receipt": f"pay-{order}"}
                path = f"/v1/runs/{view['run']}/decisions/{question['question'].replace('/', '%2F')}"
                reply = await client.request("POST", path, decision)
                broken[0] += reply.status != 202
        ended = [(await status_of(client, run))["status"] for run in runs.values()]
        # A decision takes a moment to be read.
        for _ in range(50):
            if "waiting" not in ended:
                break
            await asyncio.sleep(0.2)
            ended = [(await status_of(client, run))["status"] for run in runs.values()]
        deeds = world.deeds()
        missing = [order for name in ("place", "pay") for order in deeds.missing(name, runs)]
        happened = sum(before.done["pay", order] > 0 for order in waiting)
        bench.table.add(
            f"4 {kills} kills (-9) under load, {len(runs)} accepted runs",
            f"{count(ended)}; ready again after {max(starts):.2f} s at most",
            "all complete",
            ended.count("complete") == len(ended),
        )
        bench.table.add(
            "4 keyed calls",
            f"{deeds.repeats} sent again under their key; {len(missing)} deeds missing, {len(deeds.twice)} twice",
            "each deed once",
            not missing and not deeds.twice,
        )
        bench.table.add(
            "4 unsafe calls in doubt: a person was asked",
            f"{len(waiting)} runs; {happened} had happened, {len(waiting) - happened} had not; {broken[0]} decisions refused",
            "only about these",
            doubtful and broken[0] == 0,
        )


# 5. The server is stopped and started again.


async def graceful_restart(bench: Bench):
    short, long = bench.size(100, 10), bench.size(5, 0)
    with bench.world("5") as world:
        port = free_port()
        server = await world.serve(port=port)
        client = Client(port)
        plans = [(plan(*["look"] * 9, "place"), f"short-{at}", 300) for at in range(short)]
        plans += [(plan(*["look"] * 29, "place"), f"long-{at}", 1000) for at in range(long)]
        runs = await asyncio.gather(*(accepted(client, text, order, order, delay) for text, order, delay in plans))
        watching = [asyncio.create_task(follow(client, run)) for run in runs]
        late = {f"late-{at}": None for at in range(bench.size(50, 5))}

        async def come_late(at: int, order: str):
            await asyncio.sleep(0.5 + at * 0.05)
            late[order] = await accepted(client, READ_AND_WRITE, order, order)

        coming = [asyncio.create_task(come_late(at, order)) for at, order in enumerate(late)]
        await asyncio.sleep(1.5)
        seconds = await server.stop()
        status = server.process.poll()
        client.close()
        await world.serve(port=port)
        seen = await asyncio.gather(*watching)
        await asyncio.gather(*coming)
        truth = [await read_events(client, run) for run in runs]
        ended = [(await status_of(client, run))["status"] for run in [*runs, *late.values()]]
        right = sum(a == b for a, b in zip(seen, truth))
        deeds = world.deeds()
        missing = deeds.missing("place", [order for _, order, _ in plans] + list(late))
        bench.table.add(
            f"5 SIGTERM with {len(runs)} runs" + (f", {long} of which take 30 s" if long else ""),
            f"stopped after {seconds:.1f} s, exit status {status}",
            f"0, under {STOP} s",
            status == 0 and seconds < STOP,
        )
        bench.table.add(
            "5 SSE clients that reconnect: each event once, in order",
            f"{right} of {len(runs)}",
            "all",
            right == len(runs),
        )
        bench.table.add(
            "5 runs, also those that came while it stopped",
            f"{count(ended)}; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
            "all complete",
            ended.count("complete") == len(ended) and not missing and not deeds.twice,
        )

    await stop_without_connections(bench)


async def stop_without_connections(bench: Bench):
    """Runs were started and nobody watches them: there is no open request when the server is told to stop."""
    number = bench.size(20, 5)
    with bench.world("5-unwatched") as world:
        port = free_port()
        server = await world.serve(port=port)
        client = Client(port)
        orders = [f"u{at}" for at in range(number)]
        runs = await asyncio.gather(*(accepted(client, plan("pay"), order, order, 3000) for order in orders))
        await asyncio.sleep(0.5)
        seconds = await server.stop()
        client.close()
        await world.serve(port=port)
        ended = [(await status_of(client, run))["status"] for run in runs]
        bench.table.add(
            f"5 SIGTERM with {number} runs in a call of 3 s, nobody watches",
            f"stopped after {seconds:.1f} s; {count(ended)}",
            "waits, all complete",
            ended.count("complete") == number,
        )


# 6. Two servers with one journal.


async def two_servers(bench: Bench):
    workers, patience = bench.size(60, 10), bench.size(45, 8)
    with bench.world("6") as world:
        first, second = await world.serve(), await world.serve()
        clients = Client(first.port), Client(second.port)
        runs: dict[str, str] = {}
        is_over, watched = False, {}

        async def worker(number: int):
            client, at = clients[number % 2], 0
            while not is_over:
                order = f"t{number}-{at}"
                at += 1
                try:
                    reply = await client.start(READ_AND_WRITE, order, order, delay_ms=400)
                except Disconnected:
                    return
                if reply.status == 202:
                    runs[order] = reply.json()["run"]
                # A watcher of every run of the first server is a client of the second one.
                if reply.status == 202 and client is clients[0] and number % 10 == 0 and len(watched) < 50:
                    watched[order] = asyncio.create_task(follow(clients[1], runs[order]))
                await asyncio.sleep(0.2)

        load = [asyncio.create_task(worker(number)) for number in range(workers)]
        await asyncio.sleep(bench.size(5, 2))
        first.kill()
        killed = time.monotonic()
        await asyncio.sleep(1)
        is_over = True
        await asyncio.gather(*load)

        async def open_runs() -> list[str]:
            views = await asyncio.gather(*(clients[1].get(f"/v1/runs/{run}") for run in runs.values()))
            return [order for order, view in zip(runs, views) if view.json()["status"] in ("running", "stopped", "waiting")]

        # Those of the second server end by themselves.
        await asyncio.sleep(2)
        left = await open_runs()
        orphans = len(left)
        while left and time.monotonic() - killed < patience:
            await asyncio.sleep(1)
            left = await open_runs()
        seconds = time.monotonic() - killed
        bench.table.add(
            f"6 two servers, one killed: {len(runs)} runs, {orphans} left open",
            f"{orphans - len(left)} of {orphans} ended by the other server within {seconds:.0f} s",
            "all",
            not left,
        )
        begin = time.monotonic()
        await asyncio.gather(*(accepted(clients[1], READ_AND_WRITE, order, order, 400) for order in left))
        ended = [(await status_of(clients[1], run))["status"] for run in runs.values()]
        deeds = world.deeds()
        missing = deeds.missing("place", runs)
        bench.table.add(
            "6 after the clients sent their requests again",
            f"{count(ended)} after {time.monotonic() - begin:.1f} s; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
            "all complete",
            ended.count("complete") == len(ended) and not missing and not deeds.twice,
        )
        seen = dict(zip(watched, await asyncio.gather(*watched.values())))
        right = [events == await read_events(clients[1], runs[order]) for order, events in seen.items()]
        bench.table.add(
            "6 events of the first server's runs, from the second",
            f"{sum(right)} of {len(right)} watchers got each once",
            "all",
            all(right),
        )
        errors = {status: number for status, number in clients[1].statuses.items() if status >= 500}
        bench.table.add("6 answers of the second server with 5xx", f"{sum(errors.values())}", "none", not errors)
    await watchers_who_left(bench)
    if not bench.quick:
        await overlap(bench)


async def watchers_who_left(bench: Bench):
    """Runs of one server wait for a person. Clients of another one look at their events and leave."""
    number = bench.size(300, 30)
    with bench.world("6-left") as world:
        first, second = await world.serve(), await world.serve()
        clients = Client(first.port), Client(second.port)
        orders = [f"l{at}" for at in range(number)]
        runs = await asyncio.gather(*(accepted(clients[0], ASKS_FIRST, order, order) for order in orders))

        async def cpu_of_a_second() -> float:
            before = second.cpu()
            await asyncio.sleep(5)
            return (second.cpu() - before) / 5

        before = await cpu_of_a_second()
        for run in runs:
            async with contextlib.aclosing(clients[1].events(run)) as events:
                async for _ in events:
                    break
        await asyncio.sleep(5)  # A watcher is followed for two to four seconds more.
        after = await cpu_of_a_second()
        bench.table.add(
            f"6 {number} waiting runs were watched elsewhere; nobody does now",
            f"CPU of that server: {before * 100:.0f} % before, {after * 100:.0f} % after",
            "at most 2 % more",
            after <= before + 0.02,
        )


async def overlap(bench: Bench):
    """A new server starts while the old one still stops, as in a rolling update."""
    with bench.world("6-overlap") as world:
        first = await world.serve()
        clients = [Client(first.port)]
        long = plan(*["look"] * 29, "place")
        orders = [f"r{at}" for at in range(10)]
        runs = await asyncio.gather(*(accepted(clients[0], long, order, order, 1000) for order in orders))
        watching = [asyncio.create_task(follow(clients[0], run)) for run in runs]
        await asyncio.sleep(0.5)
        stopping = asyncio.create_task(first.stop())
        await asyncio.sleep(0.5)
        second = await world.serve()
        client = Client(second.port)
        seconds = await stopping
        for task in watching:
            task.cancel()
        await asyncio.sleep(45)
        views = [(await client.get(f"/v1/runs/{run}")).json()["status"] for run in runs]
        bench.table.add(
            "6 a new server starts while the old one stops, runs of 30 s",
            f"stopped after {seconds:.1f} s; 45 s later: {count(views)}",
            "all complete",
            set(views) == {"complete"},
        )
