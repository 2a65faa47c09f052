"""Mending calls of a program, and of agents of other frameworks."""

import asyncio

import pytest

import reknit

SCHEMA = {
    "type": "object",
    "required": ["city", "days"],
    "additionalProperties": False,
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
}


def forecast(city: str, days: int) -> str:
    """The weather in a city, for some days."""
    if not isinstance(days, int):
        raise ValueError("days must be an integer")
    if city not in ("Seoul", "Busan"):
        raise ValueError(f"`{city}` is unknown: city must be one of Seoul, Busan")
    return f"{days} days of sun in {city}"


def test_what_an_error_states_is_corrected_without_a_model():
    correction = reknit.Mender().mend("forecast", SCHEMA, {"city": "seoul", "days": "3"}, "city must be one of Seoul, Busan")
    assert correction.parameters == {"city": "Seoul", "days": 3}
    assert {rung for rung, _ in correction.fixes} == {"schema", "facts"}
    assert correction.approval is None


def test_a_rate_limit_is_waited_for():
    again = reknit.Mender().mend("forecast", SCHEMA, {"city": "Seoul", "days": 3}, "slow down", status=429)
    assert isinstance(again, reknit.SendAgain)
    assert 0 < again.after < 60


def test_denied_access_is_not_mended():
    with pytest.raises(reknit.NotMended, match="denied access"):
        reknit.Mender().mend("forecast", SCHEMA, {"city": "Seoul", "days": 3}, "no", status=401)


def test_a_model_is_asked_where_rules_are_not_enough():
    asked = []

    def model(request):
        asked.append(request)
        return '{"should_retry": true, "suggested_changes": {"city": "Seoul"}, "reason": "SEL is the airport of Seoul"}'

    mender = reknit.Mender(model)
    correction = mender.mend("forecast", SCHEMA, {"city": "SEL", "days": 2}, "unknown city: SEL", context="the weather in Seoul")
    assert correction.parameters == {"city": "Seoul", "days": 2}
    assert "unknown city: SEL" in asked[0]["messages"][-1]["content"]


def test_an_unknown_side_effect_is_an_error():
    with pytest.raises(ValueError, match="there is no side effect `dangerous`"):
        reknit.Mender().mend("forecast", SCHEMA, {}, "no", effect="dangerous")


def test_a_wrapped_function_is_mended():
    mended = reknit.Mender().wrap(forecast, effect="read")
    assert mended(city="seoul", days="3") == "3 days of sun in Seoul"
    with pytest.raises(reknit.NotMended, match="Atlantis"):
        mended(city="Atlantis", days=1)


def test_a_wrapped_coroutine_function_is_mended():
    async def later(city: str, days: int) -> str:
        return forecast(city, days)

    assert asyncio.run(reknit.Mender().wrap(later, effect="read")(city="seoul", days="3")) == "3 days of sun in Seoul"


def test_a_tool_of_langchain_is_mended():
    tools = pytest.importorskip("langchain_core.tools")
    mended = reknit.Mender().wrap(forecast, effect="read")
    tool = tools.StructuredTool.from_function(mended, name="forecast", description=forecast.__doc__, args_schema=SCHEMA)
    assert tool.invoke({"city": "seoul", "days": "3"}) == "3 days of sun in Seoul"


def test_a_tool_of_pydantic_ai_is_mended():
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    mended = reknit.Mender().wrap(forecast, effect="read")
    tool = pydantic_ai.Tool.from_schema(mended, name="forecast", description=forecast.__doc__, json_schema=SCHEMA)

    def careless(messages, info):
        last = messages[-1].parts[-1]
        if last.part_kind == "tool-return":
            return ModelResponse([TextPart(last.content)])
        return ModelResponse([ToolCallPart("forecast", {"city": "seoul", "days": "3"})])

    agent = pydantic_ai.Agent(FunctionModel(careless), tools=[tool])
    assert agent.run_sync("How is the weather?").output == "3 days of sun in Seoul"
