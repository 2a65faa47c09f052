"""The peer LangGraph of PyPI. See `src/peer.rs` of the bench for what is said on the pipes.

A line `chain STEPS SECONDS` or `fan STEPS SECONDS` runs that graph again and again for so many seconds, and is answered with
the seconds of the fastest run. A line `peak` is answered with the most memory of the process, in megabytes.
"""

import operator
import os
import platform
import resource
import sys
from importlib.metadata import version
from time import perf_counter
from typing import Annotated, TypedDict

# Who is late must not be so because of a log that nobody asked for.
os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.graph import END, START, StateGraph

TOKEN = "0123456789abcdef"


class State(TypedDict):
    last: str
    done: Annotated[int, operator.add]


def link(state):
    """A step of a chain: takes what the last one gave."""
    return {"last": tool(state["last"]), "done": 1}


def single(state):
    """A step that needs no other. It leaves `last` alone: many steps at once must not write to it."""
    tool("")
    return {"done": 1}


def tool(after):
    return TOKEN


def chain(steps):
    graph, names = StateGraph(State), [f"s{number}" for number in range(steps)]
    for name in names:
        graph.add_node(name, link)
    for start, end in zip([START, *names], [*names, END]):
        graph.add_edge(start, end)
    return graph.compile()


def fan(steps):
    graph = StateGraph(State)
    for number in range(steps):
        graph.add_node(f"s{number}", single)
        graph.add_edge(START, f"s{number}")
        graph.add_edge(f"s{number}", END)
    return graph.compile()


def fastest(graph, steps, seconds):
    begin, best = perf_counter(), float("inf")
    while best == float("inf") or perf_counter() - begin < seconds:
        start = perf_counter()
        # The default limit of supersteps is for loops that do not end. Like ours, a fan has five steps under way at once.
        result = graph.invoke({"last": "", "done": 0}, {"recursion_limit": steps + 10, "max_concurrency": 5})
        best = min(best, perf_counter() - start)
        assert result["done"] == steps, result
    return best


print(f"langgraph {version('langgraph')}, python {platform.python_version()}", flush=True)
prepared = {}
for line in sys.stdin:
    if line.strip() == "peak":
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6, flush=True)
        continue
    what, steps, seconds = line.split()
    if (what, steps) not in prepared:
        prepared[what, steps] = {"chain": chain, "fan": fan}[what](int(steps))
    print(fastest(prepared[what, steps], int(steps), float(seconds)), flush=True)
