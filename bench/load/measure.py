"""Loads, overloads, kills and restarts `reknit serve`, and counts what its clients and its tool service saw.

usage: python measure.py REKNIT FOLDER [--quick] [--soak MINUTES] [--seed N] [SCENARIO...]

The tool service (service.py), the servers and the clients (this process) are separate processes on loopback. Every scenario has a folder with a
journal, a log of each server and the deeds that the service recorded.
"""

import argparse
import asyncio
import atexit
import collections
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from client import Client, Disconnected, Event

HERE = Path(__file__).parent
TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
# How long runs may take to end after the load is over.
SETTLE = 120
# How long a server may take to stop: 20 seconds for runs in progress, and a moment.
STOP = 25
CONFIGURATION = """
[[tools]]
name = "shop"
url = "http://127.0.0.1:{port}"

[[models]]
name = "scripted"
provider = "openai"
model = "scripted"
url = "http://127.0.0.1:{port}/v1"
key-env = "SCRIPTED_KEY"

[answer]
by = "template"

[limits]
calls-in-all = 2000
calls-per-tool = 2000

[catalogue]
folder = "{folder}/catalogue"

[journal]
keep-runs = {keep_runs}
"""


def plan(*steps: str) -> str:
    """Steps one after the other, each a capability of the shop."""
    lines = ["inputs: {order: {type: string}, delay_ms: {type: integer, default: 0}}", "steps:"]
    for at, name in enumerate(steps):
        after = f", after: s{at - 1}" if at else ""
        parameters = '{order: "{{inputs.order}}", delay_ms: "{{inputs.delay_ms}}"}'
        lines.append(f"- {{id: s{at}, tool: shop/{name}, with: {parameters}{after}}}")
    return "\n".join(lines)


READ_AND_WRITE, EVERY_CLASS = plan("look", "place"), plan("look", "place", "pay")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else 0.0


class Process:
    """A program that listens on a port."""

    def __init__(self, command: list, port: int, log: Path):
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdout=out,
                stderr=out,
                cwd=log.parent,
                env={**os.environ, "SCRIPTED_KEY": "sk-scripted", "XDG_STATE_HOME": str(log.parent / "state")},
            )
        atexit.register(self.process.kill)
        self.port, self.log = port, log

    async def ready(self) -> "Process":
        end = time.monotonic() + SETTLE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                await asyncio.sleep(0.02)
        sys.exit(f"a server does not start; see {self.log}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    async def stop(self) -> float:
        """Sends SIGTERM and waits for the end. Returns the seconds."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None and time.monotonic() - begin < 2 * STOP:
            await asyncio.sleep(0.02)
        return time.monotonic() - begin

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory_mb(self) -> float:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE / 1e6

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class World:
    """The tool service, a journal and the servers of one scenario."""

    def __init__(self, reknit: str, folder: Path, keep_runs: int = 100_000):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.reknit, self.folder, self.servers = reknit, folder, []
        self.deeds_file = folder / "deeds.jsonl"
        port = free_port()
        self.service = Process([sys.executable, HERE / "service.py", port, self.deeds_file], port, folder / "service.log")
        (folder / "reknit.toml").write_text(CONFIGURATION.format(port=port, folder=folder, keep_runs=keep_runs))

    async def serve(self, *options, port: int | None = None) -> Process:
        await self.service.ready()
        port = port or free_port()
        files = ["--config", self.folder / "reknit.toml", "--journal", self.folder / "journal.db"]
        command = [self.reknit, "serve", "--listen", f"127.0.0.1:{port}", *files, *options]
        server = Process(command, port, self.folder / f"serve-{port}.log")
        self.servers.append(server)
        return await server.ready()

    def close(self):
        for process in [*self.servers, self.service]:
            process.kill()

    def deeds(self) -> "Deeds":
        return Deeds([json.loads(line) for line in self.deeds_file.read_text().splitlines()])


class Deeds:
    """What the tool service did."""

    def __init__(self, lines: list[dict]):
        self.calls, self.done, keys = collections.Counter(), collections.Counter(), collections.defaultdict(set)
        self.repeats = 0
        for line in lines:
            name = line["capability"], line["order"]
            keys[name].add(line["key"])
            self.calls[name] += 1
            # The service does nothing under a key that it knows, but only if the capability is keyed.
            is_done = line["capability"] != "place" or not line["repeat"]
            self.done[name] += is_done
            self.repeats += not is_done
        # Calls for one order under several keys, or an unsafe call that was made again.
        self.twice = sorted(name for name in self.done if self.done[name] > 1 or len(keys[name]) > 1)

    def missing(self, capability: str, orders) -> list[str]:
        return [order for order in orders if self.done[capability, order] != 1]


class Table:
    def __init__(self):
        self.rows: list[tuple[str, str, str, bool | None]] = []

    def add(self, what: str, measured: str, bar: str = "", holds: bool | None = None):
        self.rows.append((what, measured, bar, holds))
        print(self.line(self.rows[-1]), flush=True)

    @staticmethod
    def line(row) -> str:
        what, measured, bar, holds = row
        return f"{what:58} {measured:58} {bar:26} {'' if holds is None else 'ok' if holds else 'MISSED'}".rstrip()

    def holds(self) -> bool:
        return all(holds is not False for *_, holds in self.rows)


async def read_events(client: Client, run: str) -> list[Event]:
    return [event async for event in client.events(run)]


async def follow(
    client: Client, run: str, leave_after: list[int] | None = None, arrivals: list | None = None
) -> list[Event]:
    """Follows a run to its end. Reconnects with `Last-Event-ID` when the stream breaks, and after so many events of `leave_after`."""
    seen: list[Event] = []
    leave_after = list(leave_after or [])
    end = time.monotonic() + SETTLE
    while time.monotonic() < end:
        with contextlib.suppress(Disconnected):
            async with contextlib.aclosing(client.events(run, seen[-1].id if seen else None)) as events:
                async for event in events:
                    seen.append(event)
                    if arrivals is not None:
                        arrivals.append((event.id, time.time()))
                    if leave_after and len(seen) >= leave_after[0]:
                        leave_after.pop(0)
                        break
        if seen and seen[-1].name == "ended":
            return seen
        await asyncio.sleep(0.05)
    return seen


async def status_of(client: Client, run: str) -> dict:
    """The run, once it has ended or waits for a person, or as it is when the time is over."""
    end, view = time.monotonic() + SETTLE, {"status": "unknown"}
    while time.monotonic() < end:
        with contextlib.suppress(Disconnected):
            reply = await client.get(f"/v1/runs/{run}")
            view = reply.json() if reply.status == 200 else {"status": f"HTTP {reply.status}"}
            if view["status"] not in ("running", "stopped"):
                return view
        await asyncio.sleep(0.3)
    return view


async def accepted(client: Client, plan: str, order: str, key: str, delay_ms: int = 0) -> str:
    """Starts a run, again and again with the same key until the server has accepted it. Returns its id."""
    while True:
        with contextlib.suppress(Disconnected):
            reply = await client.start(plan, order, key, delay_ms=delay_ms)
            if reply.status == 202:
                return reply.json()["run"]
            if reply.status not in (429, 503):
                raise RuntimeError(f"{reply.status}: {reply.body[:300]!r}")
        await asyncio.sleep(0.1)


def count(statuses: list[str]) -> str:
    return ", ".join(f"{number} {status}" for status, number in collections.Counter(statuses).most_common())


class Bench:
    def __init__(self, arguments: argparse.Namespace):
        self.reknit, self.folder = str(Path(arguments.reknit).resolve()), Path(arguments.folder).resolve()
        self.quick, self.soak_minutes = arguments.quick, arguments.soak
        self.seed, self.table = arguments.seed, Table()

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    @contextlib.contextmanager
    def world(self, number: str, **settings):
        world = World(self.reknit, self.folder / f"scenario-{number}", **settings)
        try:
            yield world
        finally:
            world.close()

    # 1. Many watchers of one run.

    async def watchers(self):
        number, steps = self.size(500, 30), self.size(20, 6)
        with self.world("1") as world:
            client = Client((await world.serve()).port)
            chance = random.Random(self.seed)
            run = (await client.start(plan(*["look"] * steps), "watched", delay_ms=300)).json()["run"]
            arrivals: list[tuple[int, float]] = []

            async def watch(at: int) -> list[Event]:
                await asyncio.sleep(chance.uniform(0, steps * 0.15))
                # Every tenth watcher leaves twice.
                leave = sorted(chance.sample(range(1, 4 * steps), 2)) if at % 10 == 0 else None
                return await follow(client, run, leave, arrivals)

            seen = await asyncio.gather(*(watch(at) for at in range(number)))
            truth = await read_events(client, run)
            happened = {event.id: json.loads(event.data)["at_ms"] / 1000 for event in truth}
            # What happened before a watcher came is no delay: the fastest arrivals of each event are those of watchers that were there.
            delays = [at - happened[event] for event, at in arrivals if at - happened[event] < 5]
            half = statistics.median(delays)
            right = sum(events == truth for events in seen)
            again = sum(events == truth for events in seen[::10])
            self.table.add(
                f"1 {number} watchers, {len(truth)} events: each once, in order",
                f"{right} of {number}; half of the events within {half * 1000:.0f} ms",
                "all",
                right == number and truth[-1].name == "ended",
            )
            self.table.add(
                "1 watchers that reconnect twice (Last-Event-ID)",
                f"{again} of {len(seen[::10])} miss nothing",
                "all",
                again == len(seen[::10]),
            )

    # 2. Many runs at the same time.

    async def concurrent_runs(self):
        number = self.size(1000, 60)
        with self.world("2") as world:
            server = await world.serve()
            client = Client(server.port)
            for name, delay_ms in (("held", 4000 if not self.quick else 500), ("free", 0)):
                sampling = asyncio.create_task(self.sample(client, peak := [0.0]))
                begin, cpu = time.monotonic(), server.cpu()

                async def one(at: int) -> str:
                    run = await accepted(client, READ_AND_WRITE, f"{name}-{at}", f"{name}-{at}", delay_ms)
                    await follow(client, run)
                    return (await status_of(client, run))["status"]

                statuses = await asyncio.gather(*(one(at) for at in range(number)))
                seconds, used = time.monotonic() - begin, server.cpu() - cpu
                sampling.cancel()
                deeds = world.deeds()
                missing = deeds.missing("place", [f"{name}-{at}" for at in range(number)])
                holds = statuses.count("complete") == number and not missing and not deeds.twice
                speed = f"{number / seconds:.0f} runs/s, {number / used:.0f} runs per CPU s of the server"
                what = f"calls of {delay_ms} ms" if delay_ms else "calls that answer at once"
                measured = f"{max(peak):.0f} at the same time" if delay_ms else speed
                self.table.add(f"2 {number} runs at once, {what}", f"{count(statuses)}; {measured}", "all complete", holds)
                self.table.add(
                    "2 deeds", f"{len(missing)} missing, {len(deeds.twice)} twice", "none", not missing and not deeds.twice
                )

    async def sample(self, client: Client, into: list[float]):
        """Reads how many runs are in progress, until it is cancelled."""
        while True:
            with contextlib.suppress(Disconnected):
                text = (await client.get("/metrics")).body.decode()
                into.extend(float(value) for value in re.findall(r"^reknit_runs_in_progress (\S+)", text, re.M))
            await asyncio.sleep(0.05)

    # 3. More runs than the server takes.

    async def overload(self):
        limit = self.size(100, 10)
        number = 5 * limit
        with self.world("3") as world:
            client = Client((await world.serve("--max-runs", limit)).port)
            sampling = asyncio.create_task(self.sample(client, peak := [0.0]))
            first, refused, untold, resent = [], [0], [0], []

            async def one(at: int) -> tuple[str, str]:
                for attempt in range(100):
                    reply = await client.start(READ_AND_WRITE, f"o{at}", f"o{at}", delay_ms=500)
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
                    resent.append(
                        (again.status, again.status == 202 and again.json()["run"] == run, time.monotonic() - begin)
                    )
                return run, (await status_of(client, run))["status"]

            begin = time.monotonic()
            ended = await asyncio.gather(*(one(at) for at in range(number)))
            seconds = time.monotonic() - begin
            sampling.cancel()
            deeds = world.deeds()
            missing = deeds.missing("place", [f"o{at}" for at in range(number)])
            statuses = [status for _, status in ended]
            self.table.add(
                f"3 {number} runs at once with --max-runs {limit}",
                f"at first {count(first)}; {refused[0]} refusals in all; peak {max(peak):.0f}",
                f"429, at most {limit} runs",
                set(first) <= {202, 429} and untold[0] == 0 and max(peak) <= limit,
            )
            self.table.add("3 refusals without 429 and Retry-After", f"{untold[0]}", "none", untold[0] == 0)
            self.table.add(
                "3 clients come back as told",
                f"{count(statuses)} after {seconds:.1f} s; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
                "all complete, each deed once",
                statuses.count("complete") == number and not missing and not deeds.twice,
            )
            same = sum(is_same for _, is_same, _ in resent)
            self.table.add(
                "3 an accepted start is sent again: the same run",
                f"{same} of {len(resent)}; statuses: {count([status for status, *_ in resent])}",
                "all",
                same == len(resent),
            )
        with self.world("3-again") as world:
            client = Client((await world.serve()).port)
            await client.start(READ_AND_WRITE, "slow", "slow", delay_ms=2000)
            begin = time.monotonic()
            reply = await client.start(READ_AND_WRITE, "slow", "slow", delay_ms=2000)
            seconds, status = time.monotonic() - begin, reply.json()["status"]
            self.table.add(
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
            self.table.add(
                "3 a watcher who comes after that: events arrive within", f"{late * 1000:.0f} ms", "1 s", late < 1
            )
        with self.world("3-waiting") as world:
            client = Client((await world.serve("--max-runs", 3)).port)
            asks = READ_AND_WRITE.replace("tool: shop/place", "approve: true, tool: shop/place")
            for at in range(3):
                await client.start(asks, f"w{at}", f"w{at}", mode="wait")
            reply = await client.start(READ_AND_WRITE, "next", "next")
            self.table.add("3 --max-runs 3 and three runs that wait for a person", f"the next start: {reply.status}")

    # 4. The server is killed.

    async def kills(self):
        kills, workers = self.size(10, 2), self.size(40, 10)
        chance = random.Random(self.seed)
        with self.world("4") as world:
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
            self.table.add(
                f"4 {kills} kills (-9) under load, {len(runs)} accepted runs",
                f"{count(ended)}; ready again after {max(starts):.2f} s at most",
                "all complete",
                ended.count("complete") == len(ended),
            )
            self.table.add(
                "4 keyed calls",
                f"{deeds.repeats} sent again under their key; {len(missing)} deeds missing, {len(deeds.twice)} twice",
                "each deed once",
                not missing and not deeds.twice,
            )
            self.table.add(
                "4 unsafe calls in doubt: a person was asked",
                f"{len(waiting)} runs; {happened} had happened, {len(waiting) - happened} had not; {broken[0]} decisions refused",
                "only about these",
                doubtful and broken[0] == 0,
            )

    # 5. The server is stopped and started again.

    async def graceful_restart(self):
        short, long = self.size(100, 10), self.size(5, 0)
        with self.world("5") as world:
            port = free_port()
            server = await world.serve(port=port)
            client = Client(port)
            plans = [(plan(*["look"] * 9, "place"), f"short-{at}", 300) for at in range(short)]
            plans += [(plan(*["look"] * 29, "place"), f"long-{at}", 1000) for at in range(long)]
            runs = await asyncio.gather(*(accepted(client, text, order, order, delay) for text, order, delay in plans))
            watching = [asyncio.create_task(follow(client, run)) for run in runs]
            late = {f"late-{at}": None for at in range(self.size(50, 5))}

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
            self.table.add(
                f"5 SIGTERM with {len(runs)} runs" + (f", {long} of which take 30 s" if long else ""),
                f"stopped after {seconds:.1f} s, exit status {status}",
                f"0, under {STOP} s",
                status == 0 and seconds < STOP,
            )
            self.table.add(
                "5 SSE clients that reconnect: each event once, in order",
                f"{right} of {len(runs)}",
                "all",
                right == len(runs),
            )
            self.table.add(
                "5 runs, also those that came while it stopped",
                f"{count(ended)}; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
                "all complete",
                ended.count("complete") == len(ended) and not missing and not deeds.twice,
            )

        await self.stop_without_connections()

    async def stop_without_connections(self):
        """Runs were started and nobody watches them: there is no open request when the server is told to stop."""
        number = self.size(20, 5)
        with self.world("5-unwatched") as world:
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
            self.table.add(
                f"5 SIGTERM with {number} runs in a call of 3 s, nobody watches",
                f"stopped after {seconds:.1f} s; {count(ended)}",
                "waits, all complete",
                ended.count("complete") == number,
            )

    # 6. Two servers with one journal.

    async def two_servers(self):
        workers, patience = self.size(60, 10), self.size(45, 8)
        with self.world("6") as world:
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
            await asyncio.sleep(self.size(5, 2))
            first.kill()
            killed = time.monotonic()
            await asyncio.sleep(1)
            is_over = True
            await asyncio.gather(*load)

            async def open_runs() -> list[str]:
                views = await asyncio.gather(*(clients[1].get(f"/v1/runs/{run}") for run in runs.values()))
                return [
                    order for order, view in zip(runs, views) if view.json()["status"] in ("running", "stopped", "waiting")
                ]

            # Those of the second server end by themselves.
            await asyncio.sleep(2)
            left = await open_runs()
            orphans = len(left)
            while left and time.monotonic() - killed < patience:
                await asyncio.sleep(1)
                left = await open_runs()
            seconds = time.monotonic() - killed
            self.table.add(
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
            self.table.add(
                "6 after the clients sent their requests again",
                f"{count(ended)} after {time.monotonic() - begin:.1f} s; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
                "all complete",
                ended.count("complete") == len(ended) and not missing and not deeds.twice,
            )
            seen = dict(zip(watched, await asyncio.gather(*watched.values())))
            right = [events == await read_events(clients[1], runs[order]) for order, events in seen.items()]
            self.table.add(
                "6 events of the first server's runs, from the second",
                f"{sum(right)} of {len(right)} watchers got each once",
                "all",
                all(right),
            )
            errors = {status: number for status, number in clients[1].statuses.items() if status >= 500}
            self.table.add("6 answers of the second server with 5xx", f"{sum(errors.values())}", "none", not errors)
        if not self.quick:
            await self.overlap()

    async def overlap(self):
        """A new server starts while the old one still stops, as in a rolling update."""
        with self.world("6-overlap") as world:
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
            self.table.add(
                "6 a new server starts while the old one stops, runs of 30 s",
                f"stopped after {seconds:.1f} s; 45 s later: {count(views)}",
                "all complete",
                set(views) == {"complete"},
            )

    # 7. Mixed load for a long time.

    async def soak(self):
        seconds = self.soak_minutes * 60
        with self.world("7", keep_runs=2000) as world:
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
            self.table.add(
                f"7 {self.soak_minutes:g} min of mixed load: memory after 25, 50, 100 %",
                ", ".join(f"{memory:.1f}" for memory, _ in marks) + f" MB ({marks[2][0] / marks[0][0]:.2f} x)",
                "at most 1.15 x",
                marks[2][0] <= 1.15 * marks[0][0],
            )
            self.table.add(
                "7 open files after 25, 50, 100 %, and when it is idle",
                ", ".join(f"{files:.0f}" for _, files in marks) + f", {idle}",
                "at most 10 more",
                marks[2][1] <= marks[0][1] + 10,
            )
            self.table.add(
                "7 " + ", ".join(f"{number} {name}" for name, number in done.items()),
                f"{len(problems)} failed; deeds: {len(missing)} missing, {len(deeds.twice)} twice; {server.cpu():.0f} CPU s",
                "none",
                not problems and not missing and not deeds.twice,
            )
            for problem in problems[:5]:
                print(f"  {problem[:500]}")


SCENARIOS = {
    "1": Bench.watchers,
    "2": Bench.concurrent_runs,
    "3": Bench.overload,
    "4": Bench.kills,
    "5": Bench.graceful_restart,
    "6": Bench.two_servers,
    "7": Bench.soak,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("reknit")
    parser.add_argument("folder")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("scenario", nargs="*")
    arguments = parser.parse_intermixed_args()
    if unknown := [number for number in arguments.scenario if number not in SCENARIOS]:
        parser.error(f"there is no scenario {unknown[0]}; they are {', '.join(SCENARIOS)}")
    if arguments.soak is None:
        arguments.soak = 0.3 if arguments.quick else 2
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000) if hard > 0 else 20_000, hard))
    bench = Bench(arguments)
    print(f"seed {arguments.seed}")
    for number in arguments.scenario or SCENARIOS:
        asyncio.run(SCENARIOS[number](bench))
    return 0 if bench.table.holds() else 1


if __name__ == "__main__":
    sys.exit(main())
