"""LangGraph: `create_agent` of LangChain, with a checkpoint after every step in SQLite, retries (those of models by its client), a fallback model and approvals as middleware.

Errors of tools: ToolRetryMiddleware sends again what may be sent again, ToolErrorMiddleware shows refusals to the model, and other exceptions
end the run, as the documentation of both says. A program is a StateGraph.
"""

import operator
from typing import Annotated, TypedDict

import common
from common import FOLDER, PHASE, SPEC
from langchain.agents import create_agent, middleware
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
)
from langchain.tools import ToolRuntime
from langchain_core.tools import StructuredTool, tool as tool_function
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy

CONFIG = {"configurable": {"thread_id": "cell"}, "recursion_limit": 100}


def tool_of(tool: dict) -> StructuredTool:
    model = common.arguments_model(tool["name"], tool["schema"])

    # LangChain gives no runtime to a tool without parameters.
    async def call(runtime: ToolRuntime = None, **arguments):
        return await common.call_once(tool, common.plain(model(**arguments)), runtime.tool_call_id if runtime else None)

    return StructuredTool.from_function(coroutine=call, name=tool["name"], description=tool["description"], args_schema=model)


def chat(server: str) -> ChatOpenAI:
    url = f"{SPEC['models']}/{server}/v1"
    return ChatOpenAI(model="scripted", base_url=url, api_key="none", timeout=SPEC["model_limit"], streaming=SPEC["stream"])


def shown_to_the_model(error: Exception, _request) -> str | None:
    return str(error) if isinstance(error, common.ToolRefused) else None


@tool_function(description=common.HELPER)
async def helper(input: str) -> str:
    """A subagent as a tool, which returns its last message."""
    clerk = create_agent(chat("primary"), [tool_of(tool) for tool in SPEC["helper"]], system_prompt=common.INSTRUCTIONS, middleware=care())
    state = await clerk.ainvoke({"messages": [("user", input)]}, {"recursion_limit": 100})
    return str(state["messages"][-1].text)


def care() -> list:
    return [
        ModelCallLimitMiddleware(run_limit=SPEC["max_turns"], exit_behavior="error"),
        ModelFallbackMiddleware(chat("backup")),
        # Since version 1.5.
        *([middleware.ModelRefusalMiddleware()] if hasattr(middleware, "ModelRefusalMiddleware") else []),
        ToolErrorMiddleware(shown_to_the_model),
        ToolRetryMiddleware(max_retries=SPEC["retries"], retry_on=common.may_retry, on_failure="error"),
    ]


def agent(saver):
    parts = care()
    if SPEC["approve"]:
        parts.append(HumanInTheLoopMiddleware(interrupt_on={name: {"allowed_decisions": ["approve", "reject"]} for name in SPEC["approve"]}))
    tools = [tool_of(tool) for tool in SPEC["tools"]] + ([helper] if SPEC["helper"] is not None else [])
    return create_agent(chat("primary"), tools, system_prompt=common.INSTRUCTIONS, middleware=parts, checkpointer=saver)


async def next_input(graph):
    """The first request, or what continues the run from its last checkpoint."""
    state = await graph.aget_state(CONFIG)
    if PHASE == "start" or (not state.next and not state.values):
        return {"messages": [("user", SPEC["request"])]}
    if state.interrupts and (decided := common.decision()):
        count = len(state.interrupts[0].value["action_requests"])
        one = {"type": "approve"} if decided == "approve" else {"type": "reject", "message": "not today"}
        return Command(resume={"decisions": [one] * count})
    return None


async def work() -> dict:
    async with AsyncSqliteSaver.from_conn_string(str(FOLDER / "checkpoints.db")) as saver:
        if SPEC["program"]:
            return await run_program(saver)
        if SPEC["plan"]:
            return await run_plan(saver)
        graph = agent(saver)
        state = await graph.ainvoke(await next_input(graph), CONFIG, durability="sync")
        if state.get("__interrupt__"):
            return {"status": "waiting", "question": [{"name": one["name"], "args": one["args"]} for one in state["__interrupt__"][0].value["action_requests"]]}
        last = state["messages"][-1]
        if last.response_metadata.get("finish_reason") in ("length", "content_filter"):
            return {"status": "reported", "answer": str(last.text), "error": f"the answer ended with {last.response_metadata['finish_reason']}"}
        return {"status": "done", "answer": str(last.text)}


class PlanState(TypedDict):
    plan: common.Plan
    results: Annotated[dict, operator.or_]
    answer: str


async def run_plan(saver) -> dict:
    """Plan-and-execute: a planner with structured output, a node that runs the next step, and a node that answers."""
    model = chat("primary").with_fallbacks([chat("backup")])

    def present(plan: common.Plan | None) -> common.Plan:
        if plan is None:
            raise ValueError("the model wrote no plan that can be read")
        return plan

    structured = lambda server: chat(server).with_structured_output(common.Plan, method="function_calling") | present
    planner = structured("primary").with_retry(stop_after_attempt=3).with_fallbacks([structured("backup")])

    async def plan(_state: PlanState):
        return {"plan": await planner.ainvoke([("system", common.PLANNING), ("user", SPEC["request"])]), "results": {}}

    async def execute(state: PlanState):
        step = state["plan"].steps[len(state["results"])]
        return {"results": {step.id: await common.run_step(step, state["results"], common.call_once)}}

    async def answer(state: PlanState):
        said = await model.ainvoke([("system", "Answer the request with these results."), ("user", f"{SPEC['request']}\n{state['results']}")])
        return {"answer": str(said.text)}

    graph = StateGraph(PlanState)
    graph.add_node("plan", plan)
    graph.add_node("execute", execute, retry_policy=RetryPolicy(max_attempts=1 + SPEC["retries"], retry_on=common.may_retry))
    graph.add_node("answer", answer)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "execute")
    graph.add_conditional_edges("execute", lambda state: "execute" if len(state["results"]) < len(state["plan"].steps) else "answer", ["execute", "answer"])
    graph.add_edge("answer", END)
    state = await graph.compile(checkpointer=saver).ainvoke({}, CONFIG, durability="sync")
    return {"status": "done", "answer": state["answer"]}


class State(TypedDict):
    results: Annotated[dict, operator.or_]


async def run_program(saver) -> dict:
    """The calls as nodes: each stage starts when the one before is over, and the calls of a stage run in parallel."""
    graph = StateGraph(State)
    tools = {tool["name"]: tool for tool in SPEC["tools"]}
    policy = RetryPolicy(max_attempts=1 + SPEC["retries"], retry_on=common.may_retry)
    before = [START]
    for number, stage in enumerate(SPEC["stages"]):
        names = []
        for place, call in enumerate(stage):
            name = f"s{number}_{place}"

            async def node(state: State, call=call, name=name):
                arguments = common.program_arguments(tools[call["tool"]], call["arguments"], state["results"])
                return {"results": {call["tool"]: await common.call_once(tools[call["tool"]], arguments, f"cell-{name}")}}

            graph.add_node(name, node, retry_policy=policy)
            names.append(name)
            graph.add_edge(before, name) if before != [START] else graph.add_edge(START, name)
        before = names
    graph.add_edge(before, END)
    compiled = graph.compile(checkpointer=saver)
    state = await compiled.aget_state(CONFIG)
    begin = PHASE == "start" or not state.next
    result = await compiled.ainvoke({"results": {}} if begin else None, CONFIG, durability="sync")
    return {"status": "done", "answer": common.program_answer(result["results"])}


if PHASE == "decide":
    common.store_decision()
else:
    common.main(work)
