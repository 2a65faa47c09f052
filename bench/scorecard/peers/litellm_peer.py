"""LiteLLM: the loop of its documentation about function calling, over its Router (retries, a fallback model) or its proxy.

usage: python litellm_peer.py FOLDER PHASE router|URL

The loop is plain code: it validates the arguments, shows every error to the model, and stops after the last turn.
"""

import asyncio
import json
import sys

import common
from common import SPEC
from openai.types.chat.chat_completion import Choice

MODEL = "primary"
tools = {tool["name"]: tool for tool in SPEC["tools"] + (SPEC["helper"] or [])}
models = {name: common.arguments_model(name, tool["schema"]) for name, tool in tools.items()}
TASK = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def definitions(own: list[dict]) -> list[dict]:
    return [{"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]}} for tool in own]


def router():
    from litellm import Router

    deployment = lambda name: {
        "model_name": name,
        "litellm_params": {"model": "openai/scripted", "api_base": f"{SPEC['models']}/{name}/v1", "api_key": "none", "timeout": SPEC["model_limit"]},
    }
    return Router(
        model_list=[deployment("primary"), deployment("backup")],
        fallbacks=[{"primary": ["backup"]}],
        context_window_fallbacks=[{"primary": ["backup"]}],
        content_policy_fallbacks=[{"primary": ["backup"]}],
        num_retries=2,
        timeout=SPEC["model_limit"],
    ).acompletion


def proxy(url: str):
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=url, api_key="none", timeout=60, max_retries=0).chat.completions.create


async def complete(ask, messages: list, tools: list):
    if not SPEC["stream"]:
        return (await ask(model=MODEL, messages=messages, tools=tools)).choices[0]
    choices = [chunk.choices[0] async for chunk in await ask(model=MODEL, messages=messages, tools=tools, stream=True) if chunk.choices]
    return collected(choices)


def collected(choices: list) -> Choice:
    """The pieces of a stream as one message."""
    calls: dict[int, dict] = {}
    for piece in (piece for choice in choices for piece in choice.delta.tool_calls or []):
        call = calls.setdefault(piece.index, {"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
        call["id"] = piece.id or call["id"]
        call["function"]["name"] += piece.function.name or ""
        call["function"]["arguments"] += piece.function.arguments or ""
    text = "".join(choice.delta.content or "" for choice in choices)
    reason = next((choice.finish_reason for choice in choices if choice.finish_reason), "stop")
    message = {"role": "assistant", "content": text, "tool_calls": list(calls.values()) or None}
    return Choice.model_validate({"index": 0, "finish_reason": reason, "message": message})


async def call(ask, tool_call) -> str:
    try:
        name = tool_call.function.name
        if name == "helper" and SPEC["helper"] is not None:
            return (await loop(ask, json.loads(tool_call.function.arguments)["input"], definitions(SPEC["helper"])))["answer"]
        arguments = models[name].model_validate_json(tool_call.function.arguments or "{}")
        return json.dumps(await common.call_tool(tools[name], common.plain(arguments), tool_call.id))
    except Exception as error:
        return f"Error: {type(error).__name__}: {error}"


async def work() -> dict:
    ask = router() if sys.argv[3] == "router" else proxy(sys.argv[3])
    own = SPEC["tools"] + ([{"name": "helper", "description": common.HELPER, "schema": TASK}] if SPEC["helper"] is not None else [])
    return await loop(ask, SPEC["request"], definitions(own))


async def loop(ask, request: str, tools: list) -> dict:
    messages = [{"role": "system", "content": common.INSTRUCTIONS}, {"role": "user", "content": request}]
    for _ in range(SPEC["max_turns"]):
        choice = await complete(ask, messages, tools)
        if not choice.message.tool_calls:
            if choice.finish_reason in ("length", "content_filter"):
                return {"status": "reported", "answer": choice.message.content, "error": f"the answer ended with {choice.finish_reason}"}
            return {"status": "done", "answer": choice.message.content}
        messages.append(choice.message.model_dump(exclude_none=True))
        results = await asyncio.gather(*(call(ask, tool_call) for tool_call in choice.message.tool_calls))
        for tool_call, text in zip(choice.message.tool_calls, results):
            messages.append({"role": "tool", "tool_call_id": tool_call.id, "content": text})
    return {"status": "reported", "answer": "", "error": "too many turns"}


common.main(work)
