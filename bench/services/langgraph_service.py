"""Plans, executes and answers with LangGraph, as its documentation does for plan-and-execute: `uvicorn langgraph_service:app`."""

import os
from typing import TypedDict

import httpx
from fastapi import FastAPI
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

BACKEND = os.environ["BACKEND"]
model = ChatOpenAI(model="scripted", base_url=f"{BACKEND}/v1", api_key="sk-scripted", temperature=0)
client = httpx.AsyncClient(base_url=BACKEND)


class Step(BaseModel):
    id: str
    tool: str
    parameters: dict


class Plan(BaseModel):
    """A plan of tool calls."""

    steps: list[Step]


class State(TypedDict):
    request: str
    plan: Plan
    results: dict
    answer: str


planner = model.with_structured_output(Plan, method="function_calling")


async def plan(state: State):
    system = "Plan the request with the tools geocode(location) and current(lat, lon). $step-1.lat is a result of an earlier step."
    return {"plan": await planner.ainvoke([("system", system), ("user", state["request"])]), "results": {}}


def bound(value, results):
    if isinstance(value, str) and value.startswith("$"):
        step, field = value[1:].split(".")
        return results[step][field]
    return value


async def execute(state: State):
    results = dict(state["results"])
    step = state["plan"].steps[len(results)]
    parameters = {name: bound(value, results) for name, value in step.parameters.items()}
    response = await client.get(f"/{step.tool}", params=parameters)
    response.raise_for_status()
    results[step.id] = response.json()
    return {"results": results}


def next_node(state: State):
    return "execute" if len(state["results"]) < len(state["plan"].steps) else "answer"


async def answer(state: State):
    message = await model.ainvoke([("system", "Answer the request with these results."), ("user", f"{state['request']}\n{state['results']}")])
    return {"answer": message.content}


graph = StateGraph(State)
graph.add_node("plan", plan)
graph.add_node("execute", execute)
graph.add_node("answer", answer)
graph.add_edge(START, "plan")
graph.add_edge("plan", "execute")
graph.add_conditional_edges("execute", next_node, ["execute", "answer"])
graph.add_edge("answer", END)
compiled = graph.compile()

app = FastAPI()


class Request(BaseModel):
    request: str


@app.post("/ask")
async def ask(body: Request):
    state = await compiled.ainvoke({"request": body.request})
    return {"response": state["answer"]}
