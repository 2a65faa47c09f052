"""What the peers share: the plan that a model writes, and the calls of its steps."""

import os

import httpx
from pydantic import BaseModel

BACKEND = os.environ["BACKEND"]
PLANNER = "Plan the request with the tools geocode(location) and current(lat, lon). $step-1.lat is a result of an earlier step."
client = httpx.AsyncClient(base_url=BACKEND)


class Step(BaseModel):
    id: str
    tool: str
    parameters: dict


class Plan(BaseModel):
    """A plan of tool calls."""

    steps: list[Step]


class Request(BaseModel):
    request: str


def bound(value, results):
    if isinstance(value, str) and value.startswith("$"):
        step, field = value[1:].split(".")
        return results[step][field]
    return value


async def call(step: Step, results: dict):
    """The result of a step."""
    parameters = {name: bound(value, results) for name, value in step.parameters.items()}
    response = await client.get(f"/{step.tool}", params=parameters)
    response.raise_for_status()
    return response.json()
