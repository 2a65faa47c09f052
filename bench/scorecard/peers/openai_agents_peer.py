"""OpenAI Agents SDK: typed function tools, runner-managed retries of model calls, `needs_approval` with a stored `RunState`.

Errors of tools are shown to the model, which is the default of `function_tool`. Calls that may be sent again are, with tenacity. The SDK has
no fallback models of its own.
"""

import json

import common
from agents import Agent, FunctionTool, ModelRetrySettings, ModelSettings, OpenAIChatCompletionsModel, Runner, RunState, retry_policies
from agents.tool import default_tool_error_function
from common import FOLDER, PHASE, SPEC
from openai import AsyncOpenAI

STATE = FOLDER / "state.json"


def tool_of(tool: dict, call_tool=common.call_tool) -> FunctionTool:
    model = common.arguments_model(tool["name"], tool["schema"])

    async def invoke(context, text: str):
        try:
            return json.dumps(await call_tool(tool, common.plain(model.model_validate_json(text or "{}")), context.tool_call_id))
        except Exception as error:
            return default_tool_error_function(context, error)

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=model.model_json_schema(),
        on_invoke_tool=invoke,
        strict_json_schema=False,
        needs_approval=tool["name"] in SPEC["approve"],
    )


def agent(call_tool=common.call_tool) -> Agent:
    client = AsyncOpenAI(base_url=f"{SPEC['models']}/primary/v1", api_key="none", timeout=SPEC["model_limit"])
    policy = retry_policies.any(
        retry_policies.provider_suggested(),
        retry_policies.retry_after(),
        retry_policies.network_error(),
        retry_policies.http_status([408, 409, 429, 500, 502, 503, 504, 529]),
    )
    backoff = {"initial_delay": 0.5, "max_delay": 5.0, "multiplier": 2.0}
    model = OpenAIChatCompletionsModel(model="scripted", openai_client=client)
    settings = ModelSettings(retry=ModelRetrySettings(max_retries=3, backoff=backoff, policy=policy))
    make = lambda name, tools: Agent(name=name, instructions=common.INSTRUCTIONS, model=model, model_settings=settings, tools=tools)
    tools = [tool_of(tool, call_tool) for tool in SPEC["tools"]]
    if SPEC["helper"] is not None:
        helper = make("helper", [tool_of(tool, call_tool) for tool in SPEC["helper"]])
        tools.append(helper.as_tool(tool_name="helper", tool_description=common.HELPER, max_turns=SPEC["max_turns"]))
    return make("clerk", tools)


def question_of(result) -> list[dict]:
    return [{"name": item.name, "args": json.loads(item.arguments)} for item in result.interruptions]


def decide(state: RunState, decided: str):
    for item in state.get_interruptions():
        state.approve(item) if decided == "approve" else state.reject(item, rejection_message="not today")


async def run(clerk: Agent, start):
    if not SPEC["stream"]:
        return await Runner.run(clerk, start, max_turns=SPEC["max_turns"])
    result = Runner.run_streamed(clerk, start, max_turns=SPEC["max_turns"])
    async for _ in result.stream_events():
        pass
    return result


async def work() -> dict:
    clerk = agent()
    start = SPEC["request"]
    if PHASE == "resume" and STATE.exists():
        start = await RunState.from_string(clerk, STATE.read_text())
        decide(start, common.decision())
    result = await run(clerk, start)
    if result.interruptions:
        STATE.write_text(result.to_state().to_string())
        return {"status": "waiting", "question": question_of(result)}
    return {"status": "done", "answer": result.final_output}


if __name__ == "__main__":
    if PHASE == "decide":
        common.store_decision()
    else:
        common.main(work)
