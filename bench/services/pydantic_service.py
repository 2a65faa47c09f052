"""Plans, executes and answers with PydanticAI: `uvicorn pydantic_service:app`."""

import os

import httpx
from fastapi import FastAPI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

BACKEND = os.environ["BACKEND"]
model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{BACKEND}/v1", api_key="sk-scripted"))
client = httpx.AsyncClient(base_url=BACKEND)


class Step(BaseModel):
    id: str
    tool: str
    parameters: dict


class Plan(BaseModel):
    """A plan of tool calls."""

    steps: list[Step]


planner = Agent(
    model,
    output_type=Plan,
    system_prompt="Plan the request with the tools geocode(location) and current(lat, lon). $step-1.lat is a result of an earlier step.",
)
writer = Agent(model, system_prompt="Answer the request with these results.")


def bound(value, results):
    if isinstance(value, str) and value.startswith("$"):
        step, field = value[1:].split(".")
        return results[step][field]
    return value


app = FastAPI()


class Request(BaseModel):
    request: str


@app.post("/ask")
async def ask(body: Request):
    plan = (await planner.run(body.request)).output
    results = {}
    for step in plan.steps:
        parameters = {name: bound(value, results) for name, value in step.parameters.items()}
        response = await client.get(f"/{step.tool}", params=parameters)
        response.raise_for_status()
        results[step.id] = response.json()
    answer = await writer.run(f"{body.request}\n{results}")
    return {"response": answer.output}
