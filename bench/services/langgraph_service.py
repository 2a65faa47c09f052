"""Plans, executes and answers with LangGraph, as its documentation does for plan-and-execute: `uvicorn langgraph_service:app`."""

from typing import TypedDict

from fastapi import FastAPI
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from plans import BACKEND, PLANNER, Plan, Request, call

model = ChatOpenAI(model="scripted", base_url=f"{BACKEND}/v1", api_key="sk-scripted", temperature=0)


class State(TypedDict):
    request: str
    plan: Plan
    results: dict
    answer: str


planner = model.with_structured_output(Plan, method="function_calling")


async def plan(state: State):
    return {"plan": await planner.ainvoke([("system", PLANNER), ("user", state["request"])]), "results": {}}


async def execute(state: State):
    results = dict(state["results"])
    step = state["plan"].steps[len(results)]
    results[step.id] = await call(step, results)
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


@app.post("/ask")
async def ask(body: Request):
    state = await compiled.ainvoke({"request": body.request})
    return {"response": state["answer"]}
