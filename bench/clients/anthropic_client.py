"""The official `anthropic` client: messages."""

import json

import anthropic
from checks import (
    AFTER_TOOL, TEXT, base_url, check, equal, finish, gateway_check, left, model, print_errors, wait_until_left,
)  # fmt: skip

client = anthropic.Anthropic(base_url=base_url, api_key="sk-ant-scripted", max_retries=0)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "The weather in a city", "input_schema": SCHEMA}
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
    "required": ["city", "degrees"],
}


def ask(text: str, **options):
    return client.messages.create(model=model, max_tokens=100, messages=[{"role": "user", "content": text}], **options)


def status_of(call) -> tuple[type, int]:
    try:
        call()
    except anthropic.APIStatusError as error:
        assert error.message, "the error has no message"
        return type(error), error.status_code
    raise AssertionError("there was no error")


@check("messages")
def _():
    answer = ask("hello", system="Be brief.")
    equal((answer.content[0].text, answer.stop_reason), (TEXT, "end_turn"))
    equal((answer.usage.input_tokens, answer.usage.output_tokens), (11, 7))


@check("messages, streaming")
def _():
    with client.messages.stream(model=model, max_tokens=100, messages=[{"role": "user", "content": "hello"}]) as stream:
        words = list(stream.text_stream)
        answer = stream.get_final_message()
    equal("".join(words), TEXT)
    assert len(words) > 1, "the text came in one piece"
    equal((answer.content[0].text, answer.stop_reason), (TEXT, "end_turn"))
    equal((answer.usage.input_tokens, answer.usage.output_tokens), (11, 7))


@check("tools: call, result, answer")
def _():
    messages = [{"role": "user", "content": "weather in Seoul?"}]
    answer = client.messages.create(model=model, max_tokens=100, messages=messages, tools=[TOOL])
    call = answer.content[-1]
    equal((answer.stop_reason, call.type, call.name, call.input), ("tool_use", "tool_use", "get_weather", {"city": "Seoul"}))
    messages += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "14.5"}]},
    ]
    answer = client.messages.create(model=model, max_tokens=100, messages=messages, tools=[TOOL])
    equal(answer.content[0].text, AFTER_TOOL)


@check("tools, streaming")
def _():
    messages = [{"role": "user", "content": "weather in Seoul?"}]
    with client.messages.stream(model=model, max_tokens=100, messages=messages, tools=[TOOL]) as stream:
        answer = stream.get_final_message()
    equal((answer.stop_reason, answer.content[-1].input), ("tool_use", {"city": "Seoul"}))


@check("structured output by a tool that must be called")
def _():
    tool = {"name": "report", "description": "Reports", "input_schema": CITY}
    answer = ask("structured", tools=[tool], tool_choice={"type": "tool", "name": "report"})
    equal(answer.content[-1].input, {"city": "Seoul", "degrees": 14.5})


@check("structured output by a schema")
def _():
    schema = {**CITY, "additionalProperties": False}
    answer = ask("structured", output_config={"format": {"type": "json_schema", "schema": schema}})
    equal(json.loads(answer.content[0].text), {"city": "Seoul", "degrees": 14.5})


@gateway_check("a call written as text becomes a call")
def _():
    answer = ask("weather, badly", tools=[TOOL])
    equal(
        (answer.stop_reason, answer.content[-1].type, answer.content[-1].input), ("tool_use", "tool_use", {"city": "Seoul"})
    )


@gateway_check("a call written as text becomes a call, streaming")
def _():
    messages = [{"role": "user", "content": "weather, badly"}]
    with client.messages.stream(model=model, max_tokens=100, messages=messages, tools=[TOOL]) as stream:
        answer = stream.get_final_message()
    equal((answer.stop_reason, answer.content[-1].input), ("tool_use", {"city": "Seoul"}))


@check("error 429")
def _():
    equal(status_of(lambda: ask("fail 429")), (anthropic.RateLimitError, 429))


@check("error 429, streaming")
def _():
    equal(status_of(lambda: list(ask("fail 429", stream=True))), (anthropic.RateLimitError, 429))


@check("error 500")
def _():
    assert status_of(lambda: ask("fail 500"))[1] == 500


@check("error 401")
def _():
    assert status_of(lambda: ask("fail 401"))[1] == 401


@check("cancellation of a stream reaches the provider")
def _():
    before = left()
    stream = ask("slow", stream=True)
    events = iter(stream)
    for _ in range(5):
        next(events)
    stream.close()
    wait_until_left(before)


@check("cancellation of a call reaches the provider")
def _():
    before = left()
    try:
        ask("slow", timeout=1.5)
        raise AssertionError("there was no timeout")
    except anthropic.APITimeoutError:
        wait_until_left(before)


print_errors("messages", ask)
print_errors("messages, streaming", lambda text: list(ask(text, stream=True)))
finish()
