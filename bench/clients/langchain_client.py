"""`ChatOpenAI` of LangChain."""

import openai
from checks import AFTER_TOOL, TEXT, base_url, check, equal, finish, left, model, wait_until_left
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

chat = ChatOpenAI(model=model, base_url=f"{base_url}/v1", api_key="sk-scripted", max_retries=0)


class City(BaseModel):
    """A city and its temperature."""

    city: str
    degrees: float


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return "14.5"


def status_of(call) -> int:
    try:
        call()
    except openai.APIStatusError as error:
        return error.status_code
    raise AssertionError("there was no error")


@check("chat")
def _():
    answer = chat.invoke("hello")
    equal((answer.content, answer.usage_metadata["total_tokens"]), (TEXT, 18))


@check("chat, streaming")
def _():
    chunks = list(chat.stream("hello"))
    equal("".join(chunk.content for chunk in chunks), TEXT)
    assert sum(1 for chunk in chunks if chunk.content) > 1, "the text came in one piece"


@check("tools: call, result, answer")
def _():
    bound = chat.bind_tools([get_weather])
    messages = [HumanMessage("weather in Seoul?")]
    answer = bound.invoke(messages)
    call = answer.tool_calls[0]
    equal((call["name"], call["args"]), ("get_weather", {"city": "Seoul"}))
    answer = bound.invoke([*messages, answer, ToolMessage("14.5", tool_call_id=call["id"])])
    equal(answer.content, AFTER_TOOL)


@check("tools, streaming")
def _():
    whole = None
    for chunk in chat.bind_tools([get_weather]).stream("weather in Seoul?"):
        whole = chunk if whole is None else whole + chunk
    equal(whole.tool_calls[0]["args"], {"city": "Seoul"})


for method in ("json_schema", "function_calling", "json_mode"):

    @check(f"structured output by {method}")
    def _():
        equal(
            chat.with_structured_output(City, method=method).invoke("structured, as json"), City(city="Seoul", degrees=14.5)
        )


@check("error 429")
def _():
    equal(status_of(lambda: chat.invoke("fail 429")), 429)


@check("error 500")
def _():
    assert status_of(lambda: chat.invoke("fail 500")) == 500


@check("cancellation of a stream reaches the provider")
def _():
    before = left()
    stream = chat.stream("slow")
    for _ in range(4):
        next(stream)
    stream.close()
    wait_until_left(before)


finish()
