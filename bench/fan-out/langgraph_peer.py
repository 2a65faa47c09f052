"""The same with LangGraph, as its documentation suggests: `Send` for the fan-out, `RetryPolicy` for what may work later, a checkpointer.

usage: python langgraph_peer.py URL DATABASE KEYS     KEYS is `keys` or `none`: whether an idempotency key is sent
"""

import asyncio
import operator
import os
import sys
from typing import Annotated, TypedDict

import aiohttp
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send

url, database, keys = sys.argv[1:]
os.environ["LANGSMITH_TRACING"] = "false"


# program
class State(TypedDict, total=False):
    orders: list
    refunded: Annotated[float, operator.add]
    failed: Annotated[list, operator.add]


class TryAgain(Exception):
    pass


def graph(session):
    async def call(name, parameters, headers=None):
        try:
            async with session.post(f"{url}/api/capabilities/{name}", json=parameters, headers=headers) as response:
                if response.status in (408, 429) or response.status >= 500:
                    raise TryAgain(f"status {response.status}")
                return response.status, await response.json()
        except aiohttp.ClientError as error:
            raise TryAgain(str(error)) from error

    async def list_orders(_state):
        _, body = await call("list_orders", {})
        return {"orders": body["data"]["items"]}

    def fan_out(state):
        return [Send("refund", order) for order in state["orders"]]

    async def refund(order):
        parameters = {"id": order["id"], "amount": order["total"], "currency": order["currency"]}
        headers = {"Idempotency-Key": f"refund-{order['id']}"} if keys == "keys" else None
        status, body = await call("refund", parameters, headers)
        if status != 200:
            return {"failed": [order["id"]]}
        return {"refunded": body["data"]["refunded"]}

    retry = RetryPolicy(max_attempts=5, initial_interval=0.5, retry_on=TryAgain)
    builder = StateGraph(State)
    builder.add_node("list_orders", list_orders, retry_policy=retry)
    builder.add_node("refund", refund, retry_policy=retry)
    builder.add_edge(START, "list_orders")
    builder.add_conditional_edges("list_orders", fan_out, ["refund"])
    builder.add_edge("refund", END)
    return builder


async def main():
    async with aiohttp.ClientSession() as session, AsyncSqliteSaver.from_conn_string(database) as saver:
        compiled = graph(session).compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "1"}, "max_concurrency": 50}
        state = await compiled.ainvoke({}, config, durability="sync")
        print(state["refunded"], len(state["failed"]))


asyncio.run(main())
