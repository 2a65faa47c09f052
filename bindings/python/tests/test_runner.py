"""Runs with Python functions as tools."""

import asyncio
from dataclasses import dataclass
from typing import Literal, Optional

import pytest

import reknit
from reknit.tools import parameters_schema

PLAN = """
request: What does tea cost?
inputs: {cups: 3}
steps:
  - {id: tea, tool: price, with: {cups: "{{inputs.cups}}", currency: eur}}
outputs:
  total: tea.total
"""


@dataclass
class Price:
    total: float
    currency: str


@reknit.tool("read")
def price(cups: int, currency: Literal["EUR", "USD"] = "EUR") -> Price:
    """The price of tea."""
    return Price(4.5 * cups, currency)


def test_a_plan_calls_a_python_function_whose_arguments_are_fitted():
    outcome = reknit.Runner([price]).run_plan(PLAN, {"cups": "4"}).result()
    assert outcome["status"] == "complete"
    assert outcome["outputs"] == {"total": 18.0}
    assert outcome["text"]


def test_a_run_is_followed_with_async_for():
    async def follow():
        run = reknit.Runner([price]).run_plan(PLAN)
        names = [event["event"] async for event in run]
        return names, await run

    names, outcome = asyncio.run(follow())
    assert names[0] == "started"
    assert names[-1] == "ended"
    assert "call_ended" in names
    assert outcome["outputs"] == {"total": 13.5}


def test_a_coroutine_function_runs_in_the_loop_of_the_run():
    async def follow():
        loop = asyncio.get_running_loop()

        async def later(cups: int) -> bool:
            await asyncio.sleep(0.01)
            return asyncio.get_running_loop() is loop

        return await reknit.Runner([later]).run_plan("steps: [{id: a, tool: later, with: {cups: 1}}]\noutputs: {ok: a.data}")

    assert asyncio.run(follow())["outputs"] == {"ok": True}


def test_an_error_of_a_function_is_mended():
    calls = []

    @reknit.tool("read")
    def convert(amount: float, to: str) -> float:
        calls.append(to)
        if to not in ("EUR", "USD"):
            raise ValueError("to must be one of EUR, USD")
        return amount

    plan = "steps: [{id: a, tool: convert, with: {amount: '5', to: eur}}]"
    outcome = reknit.Runner([convert]).run_plan(plan).result()
    assert outcome["status"] == "complete"
    assert calls == ["eur", "EUR"]


def test_a_call_that_has_taken_effect_is_not_made_again():
    calls = []

    @reknit.tool("unsafe")
    def pay(amount: float) -> str:
        calls.append(amount)
        if len(calls) == 1:
            return object()
        raise KeyError("receipt")

    with pytest.raises(reknit.RunError) as caught:
        reknit.Runner([pay]).run_plan("steps: [{id: a, tool: pay, with: {amount: 5}}]").result()
    assert caught.value.status == "waiting", "a person says what became of it"
    assert calls == [5.0]


def test_a_tool_says_what_went_wrong():
    @reknit.tool("read")
    def closed() -> str:
        raise reknit.ToolError("the shop is closed", code="CLOSED", category="AUTH_ERROR")

    with pytest.raises(reknit.RunError) as caught:
        reknit.Runner([closed]).run_plan("steps: [{id: a, tool: closed}]").result()
    assert caught.value.status == "failed"
    assert "CLOSED: the shop is closed" in caught.value.outcome["text"]


def test_a_model_in_python_plans_and_an_agent_reports():
    def model(request):
        if any(message["role"] == "tool" for message in request["messages"]):
            report = {"status": "success", "report_content": "Three cups cost 13.5 euros."}
            return {"tool_calls": [{"name": "agent__final_report", "arguments": report}]}
        return {"tool_calls": [{"name": "functions__price", "arguments": {"cups": "3"}}]}

    runner = reknit.Runner([price], models=model)
    assert runner.agent("You sell tea.", "What do three cups cost?").result()["text"] == "Three cups cost 13.5 euros."


def test_a_run_in_a_journal_is_continued_by_another_runner(tmp_path):
    first = reknit.Runner([price], journal=tmp_path / "runs.db").run_plan(PLAN)
    outcome = first.result()
    second = reknit.Runner([price], journal=tmp_path / "runs.db").resume(first.id)
    assert second.result()["outputs"] == outcome["outputs"]


def test_a_call_waits_for_a_person_and_is_approved():
    sent = []

    @reknit.tool("unsafe")
    def pay(amount: float) -> float:
        sent.append(amount)
        return amount

    run = reknit.Runner([pay]).run_plan("steps: [{id: a, tool: pay, with: {amount: 5}, approve: true}]")
    with pytest.raises(reknit.RunError) as caught:
        run.result()
    assert caught.value.status == "waiting"
    assert caught.value.outcome["questions"][0]["step"] == "a"
    assert sent == []
    run.approve()
    assert run.result()["status"] == "complete"
    assert sent == [5]


def test_a_denied_call_is_not_made():
    @reknit.tool("unsafe")
    def pay(amount: float) -> float:
        raise AssertionError("it must not be called")

    run = reknit.Runner([pay]).run_plan("steps: [{id: a, tool: pay, with: {amount: 5}, approve: true}]")
    with pytest.raises(reknit.RunError):
        run.result()
    run.deny("too much")
    with pytest.raises(reknit.RunError) as caught:
        run.result()
    assert caught.value.status == "failed"
    assert "too much" in caught.value.outcome["text"]


def test_a_plan_that_cannot_be_read_is_an_error():
    with pytest.raises(ValueError):
        reknit.Runner([price]).run_plan("steps: {")


def test_schemas_follow_from_type_hints():
    def order(item: str, count: int, tags: list[str], note: Optional[str] = None, kind: Literal["a", "b"] = "a"): ...

    assert parameters_schema(order) == {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "count": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["item", "count", "tags"],
        "additionalProperties": False,
    }
