"""Ways to run the same calls: Reknit with its own journal, Reknit on Restate, and a workflow of Restate written by hand. And what a load of
such runs costs each process."""

import asyncio
import collections
import time
from dataclasses import dataclass, field

from cluster import Balancer, Cluster, Node, plan, request
from server_metrics import server_counts

import client  # of bench/load, whose folder cluster.py has put into the path

# How long one run may take in a load test.
client.PATIENCE = 600


class Engine:
    """Runs calls one after the other, each a capability of the shop."""

    def __init__(self, name: str, port: int):
        self.name, self.port = name, port
        self.client: client.Client | None = None
        self.number = 0

    def key(self) -> str:
        self.number += 1
        return f"{self.name.replace(' ', '-')}-{self.number}"

    def processes(self) -> dict[str, list[Node]]:
        raise NotImplementedError

    async def run(self, calls: list[str]):
        """Runs to the end, and fails unless everything was done."""
        raise NotImplementedError

    async def ask(self, path: str, body: dict) -> dict:
        reply = await self.client.request("POST", path, body)
        if reply.status != 200:
            raise RuntimeError(f"{self.name}: {path}: {reply.status}: {reply.body[:500]!r}")
        return reply.json()


class Reknit(Engine):
    """Through the API of `reknit serve`, which waits for the end of the run."""

    def __init__(self, name: str, cluster: Cluster):
        super().__init__(name, cluster.ports["api"])
        self.cluster, self.plans = cluster, {}

    def processes(self) -> dict[str, list[Node]]:
        return self.cluster.processes()

    async def run(self, calls: list[str]):
        key, name = self.key(), tuple(calls)
        text = self.plans.setdefault(name, plan(*calls))
        body = {"plan": text, "inputs": {"order": key}, "run_id": key, "mode": "wait"}
        answer = await self.ask("/v1/runs", body)
        if answer["status"] != "complete":
            raise RuntimeError(f"{key}: {answer}")


class Handwritten(Engine):
    """Through the ingress of the server. It has two workers of its own behind a balancer of its own."""

    def __init__(self, name: str, cluster: Cluster, nodes: dict[str, list[Node]], all_as_invocations: bool):
        super().__init__(name, cluster.ports["ingress"])
        self.cluster, self.nodes, self.all_as_invocations = cluster, nodes, all_as_invocations

    def processes(self) -> dict[str, list[Node]]:
        return {"server": [self.cluster.restate], **self.nodes, "service": [self.cluster.service]}

    async def run(self, calls: list[str]):
        key = self.key()
        body = {"order": key, "stages": [[name] for name in calls], "all_as_invocations": self.all_as_invocations}
        answer = await self.ask(f"/HandwrittenOrder/{key}/run", body)
        if len(answer) != len(calls):
            raise RuntimeError(f"{key}: {answer}")


def start_handwritten(program: str, cluster: Cluster, ports: dict[str, int]) -> dict[str, list[Node]]:
    """Two workers of the hand-written workflow, registered at the server of a cluster."""
    service = f"http://127.0.0.1:{cluster.ports['service']}"
    names = [name for name in ports if name != "balancer"]
    balancer = Balancer("handwritten-haproxy", ports["balancer"], {name: ports[name] for name in names}, cluster.folder)
    workers = [Node(f"handwritten-{name}", [program, f"127.0.0.1:{ports[name]}", service], ports[name], cluster.folder) for name in names]
    for node in [balancer, *workers]:
        node.start().ready()
    request(cluster.ports["admin"], "POST", "/deployments", {"uri": f"http://127.0.0.1:{ports['balancer']}", "force": True})
    return {"workers": workers, "balancer": [balancer]}


COUNTERS = ["cpu", "written", "counts", "server_threads", "api_threads"]


@dataclass
class Cost:
    """What a load took."""

    runs: int = 0
    steps: int = 0
    seconds: float = 0.0
    # Processor seconds and written bytes, by what the processes are. `client` is this program.
    cpu: collections.Counter = field(default_factory=collections.Counter)
    written: collections.Counter = field(default_factory=collections.Counter)
    # What the server counts.
    counts: collections.Counter = field(default_factory=collections.Counter)
    # Processor seconds of each thread of the server and the API, which have threads that do one thing.
    server_threads: collections.Counter = field(default_factory=collections.Counter)
    api_threads: collections.Counter = field(default_factory=collections.Counter)

    def add(self, other: "Cost"):
        self.runs += other.runs
        self.steps += other.steps
        self.seconds += other.seconds
        for name in COUNTERS:
            getattr(self, name).update(getattr(other, name))

    def steps_per_second(self) -> float:
        return self.steps / self.seconds

    def cpu_ms_per_run(self, *parts: str) -> float:
        return 1000 * sum(self.cpu[part] for part in parts or self.cpu) / self.runs

    def cpu_ms_per_step(self, *parts: str) -> float:
        return 1000 * sum(self.cpu[part] for part in parts or self.cpu) / self.steps


def reading(engine: Engine) -> Cost:
    cost = Cost(seconds=time.monotonic())
    for part, nodes in engine.processes().items():
        running = [node for node in nodes if node.is_running()]
        cost.cpu[part] = sum(node.cpu() for node in running)
        cost.written[part] = sum(node.written_bytes() for node in running)
        if part in ("server", "api"):
            getattr(cost, f"{part}_threads").update(running[0].threads())
    if "server" in cost.cpu:
        cost.counts = server_counts(engine.cluster.ports["node"])
    cost.cpu["client"] = time.process_time()
    return cost


async def run_many(engine: Engine, calls: list[str], count: int, at_once: int):
    left = iter(range(count))

    async def one_after_the_other():
        for _ in left:
            await engine.run(calls)

    await asyncio.gather(*(one_after_the_other() for _ in range(at_once)))


def load(engine: Engine, calls: list[str], count: int, at_once: int) -> Cost:
    """Runs the calls `count` times, `at_once` at the same time."""

    async def measured():
        engine.client = client.Client(engine.port)
        before = reading(engine)
        await run_many(engine, calls, count, at_once)
        after = reading(engine)
        engine.client.close()
        return before, after

    before, after = asyncio.run(measured())
    cost = Cost(count, count * len(calls), after.seconds - before.seconds)
    for name in COUNTERS:
        was = getattr(before, name)
        getattr(cost, name).update({key: value - was[key] for key, value in getattr(after, name).items()})
    return cost
