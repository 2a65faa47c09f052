"""The processes, the deeds and the table of the load tests, and what their clients do."""

import argparse
import asyncio
import collections
import contextlib
import json
import shutil
import sys
import time
from pathlib import Path

from client import Client, Disconnected, Event
from processes import TOOLS, Process, free_port, plan

HERE = Path(__file__).parent
# How long runs may take to end after the load is over.
SETTLE = 120
# How long a server may take to stop: 20 seconds for runs in progress, and a moment.
STOP = 25
CONFIGURATION = (
    TOOLS
    + """{catalogue}
[limits]
calls-in-all = 2000
calls-per-tool = 2000

[journal]
keep-runs = {keep_runs}
"""
)

READ_AND_WRITE, EVERY_CLASS = plan("look", "place"), plan("look", "place", "pay")
# A person approves the write.
ASKS_FIRST = READ_AND_WRITE.replace("tool: shop/place", "approve: true, tool: shop/place")


class Server(Process):
    """A process for clients that share one event loop with whoever starts and stops it."""

    async def ready(self) -> "Server":
        end = time.monotonic() + SETTLE
        while time.monotonic() < end and self.is_running():
            if self.is_listening():
                return self
            await asyncio.sleep(0.02)
        sys.exit(f"a server does not start; see {self.log}")

    async def stop(self) -> float:
        """Sends SIGTERM and waits for the end. Returns the seconds."""
        begin = time.monotonic()
        self.terminate()
        while self.is_running() and time.monotonic() - begin < 2 * STOP:
            await asyncio.sleep(0.02)
        return time.monotonic() - begin


class World:
    """The tool service, a journal and the servers of one scenario."""

    def __init__(self, reknit: str, folder: Path, keep_runs: int = 100_000, catalogue: str = "", files: int | None = None):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.reknit, self.folder, self.servers, self.files = reknit, folder, [], files
        self.deeds_file = folder / "deeds.jsonl"
        port = free_port()
        command = [sys.executable, HERE / "service.py", port, self.deeds_file]
        self.service = Server(command, port, folder / "service.log").start()
        text = CONFIGURATION.format(service=port, folder=folder, keep_runs=keep_runs, catalogue=catalogue)
        (folder / "reknit.toml").write_text(text)

    async def serve(self, *options, port: int | None = None) -> Server:
        await self.service.ready()
        port = port or free_port()
        files = ["--config", self.folder / "reknit.toml", "--journal", self.folder / "journal.db"]
        command = [self.reknit, "serve", "--listen", f"127.0.0.1:{port}", *files, *options]
        if self.files:
            # Both limits: the server raises the soft one as far as the hard one allows.
            command = ["sh", "-c", f'ulimit -n {self.files}; exec "$@"', "sh", *command]
        server = Server(command, port, self.folder / f"serve-{port}.log").start()
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
    """What all scenarios share."""

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
