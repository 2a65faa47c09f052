"""The official `openai` client: chat completions and responses."""

import json

import openai
from checks import (
    AFTER_TOOL, TEXT, base_url, check, equal, finish, gateway_check, left, model, print_errors, wait_until_left,
)  # fmt: skip
from pydantic import BaseModel

client = openai.OpenAI(base_url=f"{base_url}/v1", api_key="sk-scripted", max_retries=0)
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather in a city", "parameters": PARAMETERS},
}


class City(BaseModel):
    city: str
    degrees: float


def ask(text: str, **options):
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **options)


def status_of(call) -> tuple[type, int]:
    try:
        call()
    except openai.APIStatusError as error:
        assert error.message, "the error has no message"
        return type(error), error.status_code
    raise AssertionError("there was no error")


@check("models are listed")
def _():
    assert [entry.id for entry in client.models.list()], "no model"


@check("chat")
def _():
    answer = ask("hello")
    equal(answer.choices[0].message.content, TEXT)
    equal(answer.choices[0].finish_reason, "stop")
    equal(answer.usage.total_tokens, 18)


@check("chat, streaming")
def _():
    chunks = list(ask("hello", stream=True, stream_options={"include_usage": True}))
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), TEXT)
    assert sum(1 for chunk in chunks if chunk.choices and chunk.choices[0].delta.content) > 1, "the text came in one piece"
    equal([chunk.choices[0].finish_reason for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason], ["stop"])
    equal(chunks[-1].usage.total_tokens, 18)


@check("tools: call, result, answer")
def _():
    messages = [{"role": "user", "content": "weather in Seoul?"}]
    answer = client.chat.completions.create(model=model, messages=messages, tools=[TOOL])
    message = answer.choices[0].message
    equal(answer.choices[0].finish_reason, "tool_calls")
    call = message.tool_calls[0]
    equal((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Seoul"}))
    messages += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "14.5"}]
    answer = client.chat.completions.create(model=model, messages=messages, tools=[TOOL])
    equal(answer.choices[0].message.content, AFTER_TOOL)


@check("tools, streaming")
def _():
    with client.chat.completions.stream(
        model=model, messages=[{"role": "user", "content": "weather in Seoul?"}], tools=[TOOL]
    ) as stream:
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    equal(json.loads(message.tool_calls[0].function.arguments), {"city": "Seoul"})


@check("structured output")
def _():
    answer = client.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": "structured"}], response_format=City
    )
    equal(answer.choices[0].message.parsed, City(city="Seoul", degrees=14.5))


@check("structured output, streaming")
def _():
    messages = [{"role": "user", "content": "structured"}]
    with client.chat.completions.stream(model=model, messages=messages, response_format=City) as stream:
        for _ in stream:
            pass
        equal(stream.get_final_completion().choices[0].message.parsed, City(city="Seoul", degrees=14.5))


@gateway_check("a call written as text becomes a call, and a header says so")
def _():
    raw = client.chat.completions.with_raw_response.create(
        model=model, messages=[{"role": "user", "content": "weather, badly"}], tools=[TOOL]
    )
    assert raw.headers.get("x-reknit-mended"), dict(raw.headers)
    choice = raw.parse().choices[0]
    equal(choice.finish_reason, "tool_calls")
    equal(json.loads(choice.message.tool_calls[0].function.arguments), {"city": "Seoul"})


@gateway_check("a call written as text becomes a call, streaming")
def _():
    messages = [{"role": "user", "content": "weather, badly"}]
    with client.chat.completions.stream(model=model, messages=messages, tools=[TOOL]) as stream:
        for _ in stream:
            pass
        choice = stream.get_final_completion().choices[0]
    equal(
        (choice.finish_reason, json.loads(choice.message.tool_calls[0].function.arguments)),
        ("tool_calls", {"city": "Seoul"}),
    )


@gateway_check("broken structured output is mended")
def _():
    answer = client.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": "structured, badly"}], response_format=City
    )
    equal(answer.choices[0].message.parsed, City(city="Seoul", degrees=14.5))


@gateway_check("`x-reknit-mend: off` leaves answers as they are")
def _():
    answer = ask("weather, badly", tools=[TOOL], extra_headers={"x-reknit-mend": "off"})
    assert "<tool_call>" in (answer.choices[0].message.content or ""), answer


@check("error 429")
def _():
    equal(status_of(lambda: ask("fail 429")), (openai.RateLimitError, 429))


@check("error 429, streaming")
def _():
    equal(status_of(lambda: list(ask("fail 429", stream=True))), (openai.RateLimitError, 429))


@check("error 500")
def _():
    kind, status = status_of(lambda: ask("fail 500"))
    assert kind is openai.InternalServerError and status == 500, (kind, status)


@check("error 401")
def _():
    assert status_of(lambda: ask("fail 401"))[1] == 401


@check("cancellation of a stream reaches the provider")
def _():
    before = left()
    stream = ask("slow", stream=True)
    for _ in range(4):
        next(iter(stream))
    stream.close()
    wait_until_left(before)


@check("cancellation of a call reaches the provider")
def _():
    before = left()
    try:
        ask("slow", timeout=1.5)
        raise AssertionError("there was no timeout")
    except openai.APITimeoutError:
        wait_until_left(before)


@check("responses")
def _():
    answer = client.responses.create(model=model, input="hello")
    equal((answer.output_text, answer.status), (TEXT, "completed"))


@check("responses, streaming")
def _():
    events = list(client.responses.create(model=model, input="hello", stream=True))
    equal("".join(event.delta for event in events if event.type == "response.output_text.delta"), TEXT)
    equal((events[0].type, events[-1].type), ("response.created", "response.completed"))
    equal(events[-1].response.output_text, TEXT)


@check("responses: tools")
def _():
    tool = {
        "type": "function",
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": PARAMETERS,
        "strict": True,
    }
    given = [{"role": "user", "content": "weather in Seoul?"}]
    answer = client.responses.create(model=model, input=given, tools=[tool])
    call = answer.output[0]
    equal((call.type, call.name, json.loads(call.arguments)), ("function_call", "get_weather", {"city": "Seoul"}))
    given += [
        call.model_dump(exclude_none=True),
        {"type": "function_call_output", "call_id": call.call_id, "output": "14.5"},
    ]
    equal(client.responses.create(model=model, input=given, tools=[tool]).output_text, AFTER_TOOL)


@check("responses: structured output")
def _():
    answer = client.responses.parse(model=model, input="structured", text_format=City)
    equal(answer.output_parsed, City(city="Seoul", degrees=14.5))


@gateway_check("responses: a call written as text becomes a call")
def _():
    tool = {"type": "function", "name": "get_weather", "description": "The weather in a city", "parameters": PARAMETERS}
    answer = client.responses.create(model=model, input="weather, badly", tools=[tool])
    call = next(item for item in answer.output if item.type == "function_call")
    equal(json.loads(call.arguments), {"city": "Seoul"})


@check("responses: error 429")
def _():
    equal(status_of(lambda: client.responses.create(model=model, input="fail 429")), (openai.RateLimitError, 429))


print_errors("chat", ask)
print_errors("chat, streaming", lambda text: list(ask(text, stream=True)))
print_errors("responses", lambda text: client.responses.create(model=model, input=text))
finish()
