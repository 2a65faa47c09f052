"""Scenario 8: more half-open connections than the server may open files."""

import asyncio
import contextlib
import time

from client import Client, Disconnected, Reply
from world import READ_AND_WRITE, Bench, count

# What the server may open at most.
FILES = 1024
REQUEST = b"GET /v1/tools HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "


class HalfOpen:
    """Connections that send the beginning of a request. Each that the server closes is opened again."""

    def __init__(self, port: int, number: int):
        self.port, self.number, self.is_over = port, number, False
        self.opened, self.closed = 0, 0
        self.tasks: list[asyncio.Task] = []

    async def __aenter__(self) -> "HalfOpen":
        self.tasks = [asyncio.create_task(self.one()) for _ in range(self.number)]
        while self.opened < self.number:
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_):
        self.is_over = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def one(self):
        while not self.is_over:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            self.opened += 1
            with contextlib.suppress(OSError):
                writer.write(REQUEST)
                await reader.read()
            self.closed += 1
            writer.close()
            # As often as the server lets them go, and not as often as the machine can.
            await asyncio.sleep(1)


async def half_open(bench: Bench):
    number, seconds = bench.size(1_100, 300), bench.size(30, 5)
    files = FILES if not bench.quick else 256
    with bench.world("8", catalogue='refresh = "1s"\n', files=files) as world:
        client = Client((await world.serve()).port)
        checks: list[float] = []
        ended: list[str] = []
        refused: list[str] = []

        async def fresh(method: str, path: str, body: dict | None = None) -> Reply:
            """On a connection of its own, as a probe of an orchestrator opens one."""
            one = Client(client.port)
            try:
                return await one.request(method, path, body)
            finally:
                one.close()

        async def check(end: float):
            while time.monotonic() < end:
                begin = time.monotonic()
                try:
                    status = (await fresh("GET", "/health")).status
                except Disconnected:
                    status = 0
                checks.append(time.monotonic() - begin if status == 200 else float("inf"))
                await asyncio.sleep(0.1)

        async def run(worker: int, end: float):
            at = 0
            while time.monotonic() < end:
                order = f"h{worker}-{at}"
                at += 1
                body = {"plan": READ_AND_WRITE, "inputs": {"order": order, "delay_ms": 20}, "mode": "wait", "run_id": order}
                # A connection that waits for a place may have to be opened again: the same id starts nothing twice.
                for _ in range(5):
                    with contextlib.suppress(Disconnected):
                        reply = await fresh("POST", "/v1/runs", body)
                        if reply.status == 200:
                            ended.append(reply.json()["status"])
                            orders.append(order)
                            if ended[-1] != "complete":
                                refused.append(reply.body.decode()[:500])
                            break
                        refused.append(f"{reply.status} {reply.body.decode()[:300]}")
                    await asyncio.sleep(0.2)
                else:
                    ended.append("not started")
                await asyncio.sleep(0.1)

        orders: list[str] = []
        async with HalfOpen(client.port, number) as attack:
            end = time.monotonic() + seconds
            await asyncio.gather(check(end), *(run(worker, end) for worker in range(8)))
            opened = attack.opened
        deeds = world.deeds()
        missing = deeds.missing("place", orders)
        bench.table.add(
            f"8 {number} half-open connections, {files} files: health checks",
            f"{len(checks)}, the slowest after {max(checks) * 1000:.0f} ms; {opened} connections in all",
            "within 1 s",
            max(checks) <= 1,
        )
        bench.table.add(
            "8 runs at the same time, the catalogue is refreshed every s",
            f"{count(ended)}; {len(refused)} refusals; deeds: {len(missing)} missing, {len(deeds.twice)} twice",
            "all complete, deeds once",
            set(ended) == {"complete"} and not missing and not deeds.twice,
        )
        for text in refused[:3]:
            print(f"  {text}")
