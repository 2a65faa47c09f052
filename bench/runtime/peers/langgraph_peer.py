"""LangGraph from PyPI. `src/langgraph.rs` documents the protocol on the pipes.

usage: python langgraph_peer.py URL FOLDER
  URL     the tool server that both sides call
  FOLDER  where checkpoints are written

A line `skewed KEEP` or `chain KEEP STEPS` runs that graph once; the reply is its seconds. KEEP says where the state is kept
between supersteps:
  none   in memory
  async  AsyncSqliteSaver with its defaults: a checkpoint is written while the next superstep runs
  sync   AsyncSqliteSaver with durability="sync": a checkpoint is written before the next superstep, like in Reknit
  tasks  no StateGraph: the functional API, with the two chains written as coroutines;
         with AsyncSqliteSaver and durability="sync"

A line `waiting RUNS` starts this many runs of one call that is held, with sync; the reply is the kilobytes per run while all
runs wait.
"""

import asyncio
import operator
import os
import platform
import resource
import sys
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import Annotated, TypedDict
from uuid import uuid4

import aiohttp
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph

url, folder = sys.argv[1:]
# Tracing must not slow the graphs down.
os.environ["LANGSMITH_TRACING"] = "false"


class Skewed(TypedDict, total=False):
    a: str
    b: str
    c: str
    d: str


class Chain(TypedDict):
    last: str
    done: Annotated[int, operator.add]


class Caller:
    def __init__(self, session):
        self.session = session

    async def wait(self, ms, after):
        return await self.call("wait", {"ms": ms, "after": after})

    async def call(self, capability, parameters):
        return (await self.ask(capability, parameters))["token"]

    async def ask(self, capability, parameters):
        async with self.session.post(f"{url}/api/capabilities/{capability}", json=parameters) as response:
            response.raise_for_status()
            return await response.json()


def skewed_graph(caller):
    async def a(state):
        return {"a": await caller.wait(10, "")}

    async def b(state):
        return {"b": await caller.wait(200, "")}

    async def c(state):
        return {"c": await caller.wait(200, state["a"])}

    async def d(state):
        return {"d": await caller.wait(10, state["b"])}

    graph = StateGraph(Skewed)
    for node in (a, b, c, d):
        graph.add_node(node.__name__, node)
    for start, end in ((START, "a"), (START, "b"), ("a", "c"), ("b", "d"), ("c", END), ("d", END)):
        graph.add_edge(start, end)
    return graph


def skewed_tasks(caller, saver):
    @task
    async def wait(ms, after):
        return await caller.wait(ms, after)

    async def chain(first, second):
        return await wait(second, await wait(first, ""))

    @entrypoint(checkpointer=saver)
    async def skewed(_):
        c, d = await asyncio.gather(chain(10, 200), chain(200, 10))
        return {"c": c, "d": d}

    return skewed


def chain_graph(caller, steps):
    async def step(state):
        return {"last": await caller.call("echo", {"after": state["last"]}), "done": 1}

    graph = StateGraph(Chain)
    names = [f"s{number}" for number in range(steps)]
    for name in names:
        graph.add_node(name, step)
    for start, end in zip([START, *names], [*names, END]):
        graph.add_edge(start, end)
    return graph


def resident_kilobytes():
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / 1000


async def kilobytes_per_waiting_run(runs, caller, saver):
    async def hold(state):
        return {"last": await caller.call("hold", {}), "done": 1}

    graph = StateGraph(Chain)
    graph.add_node("hold", hold)
    graph.add_edge(START, "hold")
    graph.add_edge("hold", END)
    graph = graph.compile(checkpointer=saver)
    await caller.call("close", {})
    before = resident_kilobytes()
    inputs = {"last": "", "done": 0}
    configs = [{"configurable": {"thread_id": str(uuid4())}} for _ in range(runs)]
    waiting = [asyncio.create_task(graph.ainvoke(inputs, config, durability="sync")) for config in configs]
    while (await caller.ask("held", {}))["held"] < runs:
        await asyncio.sleep(0.05)
    per_run = (resident_kilobytes() - before) / runs
    await caller.call("open", {})
    for result in await asyncio.gather(*waiting):
        check_chain(1, result)
    return per_run


def check_skewed(result):
    assert result.get("c") and result.get("d"), result


def check_chain(steps, result):
    assert result["done"] == steps, result


def prepare(line, caller, savers):
    """Returns the graph, its input, the options of the call, and a check of the result."""
    words = line.split()
    keep = words[1]
    options = {} if keep in ("none", "async") else {"durability": "sync"}
    saver = savers[keep]
    if words[0] == "skewed" and keep == "tasks":
        return skewed_tasks(caller, saver), {}, options, check_skewed
    if words[0] == "skewed":
        return skewed_graph(caller).compile(checkpointer=saver), {}, options, check_skewed
    steps = int(words[2])
    graph = chain_graph(caller, steps).compile(checkpointer=saver)
    return graph, {"last": "", "done": 0}, options, partial(check_chain, steps)


async def main():
    loop = asyncio.get_running_loop()
    prepared = {}
    maximum = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))
    async with (
        # No limit of connections.
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        AsyncSqliteSaver.from_conn_string(f"{folder}/langgraph-async.db") as background,
        AsyncSqliteSaver.from_conn_string(f"{folder}/langgraph-sync.db") as foreground,
        AsyncSqliteSaver.from_conn_string(f"{folder}/langgraph-tasks.db") as tasks,
    ):
        for saver in (background, foreground, tasks):
            await saver.setup()
            # The default of SQLite: each commit waits for the disk.
            await saver.conn.execute("PRAGMA synchronous = FULL")
        savers = {"none": None, "async": background, "sync": foreground, "tasks": tasks}
        caller = Caller(session)
        versions = [f"langgraph {version('langgraph')}"]
        versions += [f"{name} {version(name)}" for name in ("langgraph-checkpoint-sqlite", "aiohttp")]
        print(", ".join([*versions, f"python {platform.python_version()}"]), flush=True)
        while line := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
            if line.startswith("waiting"):
                print(await kilobytes_per_waiting_run(int(line.split()[1]), caller, foreground), flush=True)
                continue
            if line not in prepared:
                prepared[line] = prepare(line, caller, savers)
            graph, inputs, options, check = prepared[line]
            # The default limit of supersteps is too low for long chains.
            config = {"configurable": {"thread_id": str(uuid4())}, "recursion_limit": 1000}
            start = perf_counter()
            result = await graph.ainvoke(inputs, config, **options)
            seconds = perf_counter() - start
            check(result)
            print(seconds, flush=True)


asyncio.run(main())
