"""LangGraph from PyPI. `src/langgraph.rs` documents the protocol on the pipes.

A line `chain STEPS SECONDS` or `fan STEPS SECONDS` runs that graph repeatedly for this many seconds; the reply is the seconds
of the fastest run. The reply to a line `peak` is the peak memory of the process, in megabytes.
"""

import operator
import os
import platform
import resource
import sys
from importlib.metadata import version
from time import perf_counter
from typing import Annotated, TypedDict

# Tracing must not slow the graphs down.
os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.graph import END, START, StateGraph

TOKEN = "0123456789abcdef"


class State(TypedDict):
    last: str
    done: Annotated[int, operator.add]


def link(state):
    """A step of a chain: uses the result of the one before."""
    return {"last": tool(state["last"]), "done": 1}


def single(state):
    """An independent step. It does not write `last`, because concurrent steps must not."""
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
        # The default limit of supersteps is too low. Like in Reknit, five steps of a fan run concurrently.
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
    shape, steps, seconds = line.split()
    if (shape, steps) not in prepared:
        prepared[shape, steps] = {"chain": chain, "fan": fan}[shape](int(steps))
    print(fastest(prepared[shape, steps], int(steps), float(seconds)), flush=True)
