"""What all peers in Python share: the specification of a cell, the HTTP client of the tools, typed arguments, and the result file.

usage of each peer: python PEER.py FOLDER PHASE

FOLDER has `spec.json`. PHASE is `start`, `resume` (after a kill or a decision) or `decide`, which stores the decision of a person. A peer writes
`result.json`: its status (`done`, `reported` or `waiting`), its answer, and the seconds that it worked, without the start of Python.
"""

import asyncio
import email.utils
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Annotated, Any, Literal

import aiohttp
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential

FOLDER, PHASE = Path(sys.argv[1]), sys.argv[2]
SPEC: dict = json.loads((FOLDER / "spec.json").read_text())
HELPER = "Hands a task to the helper, which has tools of its own."
INSTRUCTIONS = "You work for a shop. Do what the user asks for with the tools."


class ToolRefused(Exception):
    """The service refused the call (4xx): other arguments may help."""


class ToolFailed(Exception):
    """The service failed, or did not answer."""

    def __init__(self, message: str, effect: str, status: int | None = None, retry_after: float | None = None):
        super().__init__(message)
        self.effect, self.status, self.retry_after = effect, status, retry_after

    @property
    def may_be_sent_again(self) -> bool:
        """Whether sending the call again is safe: it was not processed, or twice is the same as once."""
        return self.status in (429, 503) or self.effect in ("read", "idempotent", "keyed")


def seconds_of(retry_after: str | None) -> float | None:
    """`Retry-After`, as seconds or as a date."""
    if retry_after is None:
        return None
    if retry_after.isdigit():
        return float(retry_after)
    return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())


async def call_once(tool: dict, arguments: dict, key: str | None) -> dict:
    """Makes a call, without retries. `key` is the id of the model's call, which is the same after a restart."""
    headers = {"Idempotency-Key": key} if key and tool["effect"] != "read" else {}
    effect = tool["effect"]
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SPEC["limit"])) as client:
            async with client.post(f"{SPEC['service']}/api/capabilities/{tool['name']}", json=arguments, headers=headers) as response:
                text = await response.text()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ToolFailed(f"{tool['name']} did not answer: {type(error).__name__} {error}", effect) from error
    if response.status == 429 or response.status >= 500:
        wait = seconds_of(response.headers.get("Retry-After"))
        raise ToolFailed(f"{tool['name']}: HTTP {response.status}: {text}", effect, response.status, wait)
    if response.status >= 400:
        raise ToolRefused(f"{tool['name']}: HTTP {response.status}: {text}")
    try:
        return json.loads(text)
    except ValueError as error:
        raise ToolFailed(f"{tool['name']} answered with something that is not JSON: {text[:200]}", effect) from error


def wait(state: RetryCallState) -> float:
    """As long as the service asks for, else 1, 2, 4 seconds."""
    asked = getattr(state.outcome.exception(), "retry_after", None)
    return asked if asked is not None else wait_exponential(multiplier=1, max=30)(state)


def may_retry(error: BaseException) -> bool:
    return isinstance(error, ToolFailed) and error.may_be_sent_again


async def call_tool(tool: dict, arguments: dict, key: str | None, call=call_once) -> dict:
    """Makes a call, and sends it again after failures that pass, as often and as long as the service asks for."""
    retrying = AsyncRetrying(stop=stop_after_attempt(1 + SPEC["retries"]), wait=wait, retry=retry_if_exception(may_retry), reraise=True)
    async for attempt in retrying:
        with attempt:
            return await call(tool, arguments, key)


def annotation(schema: dict, name: str) -> Any:
    """The Python type of a JSON Schema."""
    match schema:
        case {"enum": values}:
            return Literal[tuple(values)]
        case {"type": "array", "items": items}:
            return list[annotation(items, name)]
        case {"type": "object"}:
            return arguments_model(name.capitalize(), schema)
    kind = {"string": str, "integer": int, "number": float, "boolean": bool}[schema["type"]]
    limits = {"gt": schema["exclusiveMinimum"]} if "exclusiveMinimum" in schema else {}
    return Annotated[kind, Field(description=schema.get("description"), **limits)]


def arguments_model(name: str, schema: dict) -> type[BaseModel]:
    """A Pydantic model of the arguments, as a developer would write it by hand."""
    fields = {}
    for field, inner in schema["properties"].items():
        kind = annotation(inner, field)
        fields[field] = (kind, ...) if field in schema["required"] else (kind | None, None)
    return create_model(name, __config__=ConfigDict(), **fields)


def plain(arguments: BaseModel) -> dict:
    """The arguments as they are sent: those that the model left out are left out."""
    return arguments.model_dump(exclude_none=True)


def program_value(value, results: dict):
    """An argument of a program: "{get_order.total}" is taken from the result of that tool."""
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        tool, field = value[1:-1].split(".")
        return results[tool][field]
    return value


def program_arguments(tool: dict, arguments: dict, results: dict) -> dict:
    """The arguments of a call in a program: bound, and validated by the types of the tool."""
    values = {name: program_value(value, results) for name, value in arguments.items()}
    return plain(arguments_model(tool["name"], tool["schema"])(**values))


def program_answer(results: dict) -> str:
    text = SPEC["answer"]
    for tool, result in results.items():
        for field, value in result.items():
            text = text.replace("{" + f"{tool}.{field}" + "}", str(value))
    return "DONE: " + text


class Step(BaseModel):
    id: str
    tool: str
    parameters: dict


class Plan(BaseModel):
    """A plan of tool calls. "$step-1.total" is a field of the result of an earlier step."""

    steps: list[Step]

    @model_validator(mode="after")
    def is_sound(self):
        """A plan with an unknown tool, or a reference to something that is not an earlier step, is refused before its first call."""
        known = set()
        for step in self.steps:
            if step.tool not in {tool["name"] for tool in SPEC["tools"]}:
                raise ValueError(f"there is no tool {step.tool}")
            for value in step.parameters.values():
                if isinstance(value, str) and value.startswith("$") and value[1:].split(".")[0] not in known:
                    raise ValueError(f"{value} refers to no earlier step")
            known.add(step.id)
        return self


PLANNING = "Plan the request with these tools; $step-1.total is a field of the result of an earlier step: " + json.dumps(
    [{"name": tool["name"], "schema": tool["schema"]} for tool in SPEC["tools"]]
)


def plan_value(value, results: dict):
    if isinstance(value, str) and value.startswith("$"):
        step, field = value[1:].split(".")
        return results[step][field]
    return value


async def run_step(step: Step, results: dict, call_tool) -> dict:
    """Binds and validates the parameters of a step, and makes its call."""
    tool = next(tool for tool in SPEC["tools"] if tool["name"] == step.tool)
    parameters = {name: plan_value(value, results) for name, value in step.parameters.items()}
    return await call_tool(tool, plain(arguments_model(tool["name"], tool["schema"])(**parameters)), f"cell-{step.id}")


def decision() -> str | None:
    """What the person decided in another process, if anything."""
    file = FOLDER / "decision.json"
    return json.loads(file.read_text())["decision"] if file.exists() else None


def store_decision():
    (FOLDER / "decision.json").write_text(json.dumps({"decision": SPEC["decision"]}))


def finish(status: str, answer: str = "", error: str = "", seconds: float | None = None, question=None):
    value = {"status": status, "answer": answer, "error": error, "seconds": seconds, "question": question}
    (FOLDER / "result.json").write_text(json.dumps(value, default=str))


def main(work):
    """Runs a peer: `work` returns what `finish` takes. An exception is what the user of the peer sees."""
    (FOLDER / "result.json").unlink(missing_ok=True)
    began = time.monotonic()
    try:
        outcome = asyncio.run(work())
    except Exception as error:
        traceback.print_exc()
        outcome = {"status": "reported", "error": f"{type(error).__name__}: {error}"}
    finish(**outcome, seconds=time.monotonic() - began)
