"""LangGraph with agent-runtime-governance: the agent of langgraph_peer.py, whose calls that change something go through its runtime.

They are idempotent executions under the id of the model's call, with the SQLite store: a call whose outcome is unknown is recorded as such, and is not
made again. Failures that pass are sent again inside of the execution, under its key.
"""

import common
from agent_runtime_governance import ExecutionMode, InvocationOptions, Runtime, SQLiteIdempotencyStore
from common import FOLDER, SPEC

runtime = Runtime(idempotency_store=SQLiteIdempotencyStore(FOLDER / "idempotency.db", lease_seconds=2 * SPEC["limit"]))
direct = common.call_tool


def governed(tool: dict):
    @runtime.tool(name=tool["name"], execution_mode=ExecutionMode.IDEMPOTENT)
    async def call(arguments: dict, key: str) -> dict:
        try:
            return await direct(tool, arguments, key)
        except common.ToolRefused as error:
            # It had no effect, so its outcome is known.
            return {"refused": str(error)}

    return call


tools = {tool["name"]: governed(tool) for tool in SPEC["tools"] if tool["effect"] != "read"}


async def call_once(tool: dict, arguments: dict, key: str | None) -> dict:
    if tool["name"] not in tools:
        return await direct(tool, arguments, key)
    options = InvocationOptions(idempotency_key=key)
    result = await tools[tool["name"]].ainvoke(arguments, key, _governance=options)
    if "refused" in result:
        raise common.ToolRefused(result["refused"])
    return result


common.call_once = call_once
import langgraph_peer  # noqa: E402, F401  It runs when it is imported.
