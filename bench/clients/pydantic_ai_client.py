"""The OpenAI models of PydanticAI: chat completions and responses."""

import asyncio

from checks import AFTER_TOOL, TEXT, base_url, check, equal, finish, left, model, wait_until_left
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.output import NativeOutput
from pydantic_ai.providers.openai import OpenAIProvider


class City(BaseModel):
    """A city and its temperature."""

    city: str
    degrees: float


def new_model(kind):
    # Each check has an event loop of its own, and connections belong to a loop.
    client = AsyncOpenAI(base_url=f"{base_url}/v1", api_key="sk-scripted", max_retries=0)
    return kind(model, provider=OpenAIProvider(openai_client=client))


for name, kind in (("chat", OpenAIChatModel), ("responses", OpenAIResponsesModel)):

    @check(f"{name}: text")
    def _():
        equal(asyncio.run(Agent(new_model(kind)).run("hello")).output, TEXT)

    @check(f"{name}: text, streaming")
    def _():
        async def run():
            async with Agent(new_model(kind)).run_stream("hello") as stream:
                return [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]

        pieces = asyncio.run(run())
        equal("".join(pieces), TEXT)
        assert len(pieces) > 1, "the text came in one piece"

    @check(f"{name}: tools")
    def _():
        agent, cities = Agent(new_model(kind)), []

        @agent.tool_plain
        def get_weather(city: str) -> str:
            """The weather in a city."""
            cities.append(city)
            return "14.5"

        equal((asyncio.run(agent.run("weather in Seoul?")).output, cities), (AFTER_TOOL, ["Seoul"]))

    @check(f"{name}: structured output by a tool")
    def _():
        equal(
            asyncio.run(Agent(new_model(kind), output_type=City).run("structured")).output, City(city="Seoul", degrees=14.5)
        )

    @check(f"{name}: structured output by a schema")
    def _():
        agent = Agent(new_model(kind), output_type=NativeOutput(City))
        equal(asyncio.run(agent.run("structured")).output, City(city="Seoul", degrees=14.5))

    for status, expected in ((429, [429]), (500, [500])):

        @check(f"{name}: error {status}")
        def _():
            try:
                asyncio.run(Agent(new_model(kind)).run(f"fail {status}"))
            except ModelHTTPError as error:
                assert error.status_code in expected, error
            else:
                raise AssertionError("there was no error")

    @check(f"{name}: cancellation of a stream reaches the provider")
    def _():
        async def run():
            async with Agent(new_model(kind)).run_stream("slow") as stream:
                async for _ in stream.stream_text(delta=True, debounce_by=None):
                    raise asyncio.CancelledError

        before = left()
        try:
            asyncio.run(run())
        except asyncio.CancelledError:
            pass
        wait_until_left(before)


finish()
