"""PydanticAI: an agent with typed tools, a fallback model, retries with what errors say, usage limits, and deferred tools for approvals.

Refusals are raised as `ModelRetry`, other exceptions end the run, as its documentation says. Calls that may be sent again are, with tenacity and
`Retry-After`. Between an approval and the rest of the run the messages are kept as JSON.
"""

import json

import common
from common import FOLDER, PHASE, SPEC
from openai import AsyncOpenAI
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext, Tool, ToolDenied
from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

HISTORY = FOLDER / "messages.json"


def tool_of(tool: dict, call_tool=common.call_tool) -> Tool:
    model = common.arguments_model(tool["name"], tool["schema"])

    async def call(context: RunContext, arguments):
        try:
            return await call_tool(tool, common.plain(arguments), context.tool_call_id)
        except common.ToolRefused as error:
            raise ModelRetry(str(error)) from error

    call.__annotations__ = {"context": RunContext, "arguments": model}
    return Tool(call, name=tool["name"], description=tool["description"], requires_approval=tool["name"] in SPEC["approve"])


def chat(server: str) -> OpenAIChatModel:
    client = AsyncOpenAI(base_url=f"{SPEC['models']}/{server}/v1", api_key="none", timeout=SPEC["model_limit"])
    return OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))


def agent(call_tool=common.call_tool, **more) -> Agent:
    fallback = (ModelAPIError, UnexpectedModelBehavior, ContentFilterError)
    model = FallbackModel(chat("primary"), chat("backup"), fallback_on=fallback)
    tools = [tool_of(tool, call_tool) for tool in SPEC["tools"]] + ([Tool(helper, description=common.HELPER)] if SPEC["helper"] is not None else [])
    output = [str, DeferredToolRequests] if SPEC["approve"] else str
    return Agent(model, tools=tools, output_type=output, instructions=common.INSTRUCTIONS, retries=3, name="clerk", **more)


async def helper(context: RunContext, input: str) -> str:
    """Agent delegation: another agent in a tool, with the usage of its caller."""
    model = FallbackModel(chat("primary"), chat("backup"))
    clerk = Agent(model, tools=[tool_of(tool) for tool in SPEC["helper"]], instructions=common.INSTRUCTIONS, retries=3, name="helper")
    return (await clerk.run(input, usage=context.usage, usage_limits=limits())).output


def limits() -> UsageLimits:
    return UsageLimits(request_limit=SPEC["max_turns"])


def results_of(requests: DeferredToolRequests, decided: str) -> DeferredToolResults:
    answer = True if decided == "approve" else ToolDenied("not today")
    return DeferredToolResults(approvals={call.tool_call_id: answer for call in requests.approvals})


def question_of(requests: DeferredToolRequests) -> list[dict]:
    return [{"name": call.tool_name, "args": call.args_as_dict()} for call in requests.approvals]


async def run(clerk: Agent, *arguments, **options):
    """Streams the answers of the model if the cell asks for it."""
    if SPEC["stream"]:

        async def events(_context, stream):
            async for _ in stream:
                pass

        options["event_stream_handler"] = events
    return await clerk.run(*arguments, usage_limits=limits(), **options)


async def run_plan() -> dict:
    """A planner whose output is a plan, the calls, and an agent that answers."""
    model = FallbackModel(chat("primary"), chat("backup"))
    plan = (await Agent(model, output_type=common.Plan, instructions=common.PLANNING, retries=3).run(SPEC["request"])).output
    results = {}
    for step in plan.steps:
        results[step.id] = await common.run_step(step, results, common.call_tool)
    answer = await Agent(model, instructions="Answer the request with these results.").run(f"{SPEC['request']}\n{results}")
    return {"status": "done", "answer": answer.output}


async def work() -> dict:
    if SPEC["plan"]:
        return await run_plan()
    clerk = agent()
    if PHASE == "start" or not HISTORY.exists():
        result = await run(clerk, SPEC["request"])
    else:
        stored = json.loads(HISTORY.read_text())
        messages = ModelMessagesTypeAdapter.validate_python(stored["messages"])
        answer = True if common.decision() == "approve" else ToolDenied("not today")
        results = DeferredToolResults(approvals={call: answer for call in stored["calls"]})
        result = await run(clerk, message_history=messages, deferred_tool_results=results)
    if isinstance(result.output, DeferredToolRequests):
        messages = json.loads(result.all_messages_json())
        HISTORY.write_text(json.dumps({"messages": messages, "calls": [call.tool_call_id for call in result.output.approvals]}))
        return {"status": "waiting", "question": question_of(result.output)}
    if (reason := result.response.finish_reason) in ("length", "content_filter"):
        return {"status": "reported", "answer": result.output, "error": f"the answer ended with {reason}"}
    return {"status": "done", "answer": result.output}


if __name__ == "__main__":
    if PHASE == "decide":
        common.store_decision()
    else:
        common.main(work)
