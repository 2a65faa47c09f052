"""Scripted models and tools, and assertions about runs."""

import pytest

import reknit
from reknit.testing import Scripted, call, report

PLAN = """
steps:
  - {id: order, tool: shop/get_order, with: {id: 7}}
  - {id: pay, tool: bank/refund, with: {order: 7, amount: "{{order.total}}"}}
"""


def shop(scripted):
    scripted.tool("shop/get_order", "read", {"total": 19.99})


def test_a_run_is_as_expected(scripted):
    shop(scripted)
    scripted.tool("bank/refund", "keyed", reknit.ToolError("busy", category="SERVICE_ERROR", retryable=True), {"id": "r-7"})
    run = scripted.run_plan(PLAN)
    run.expect(
        status="complete",
        steps={"order": "done", "pay": "done"},
        calls=[
            {"call": "shop/get_order", "with": {"id": 7}},
            {"call": "bank/refund", "with": {"order": 7, "amount": 19.99}},
            {"call": "bank/refund", "step": "pay"},
        ],
        values={"pay.amount": {"value": 19.99, "from": "order.data.total"}},
        mended=[{"step": "pay", "by": "resend"}],
        limits={"tool_calls": 3, "model_calls": 0},
        answer={"contains": ["r-7"]},
    )


def test_what_differs_is_shown_with_what_was_expected(scripted):
    shop(scripted)
    scripted.tool("bank/refund", "keyed", {"id": "r-7"})
    run = scripted.run_plan(PLAN)
    with pytest.raises(AssertionError) as caught:
        run.expect(values={"pay.amount": {"value": 5}}, mended=[{"step": "pay", "by": "resend"}])
    assert "values.pay.amount" in str(caught.value)
    assert "expected  5" in str(caught.value) and "actual    19.99" in str(caught.value)
    assert "it was not mended" in str(caught.value)


def test_a_misspelt_word_is_no_assertion(scripted):
    shop(scripted)
    scripted.tool("bank/refund", "keyed", {"id": "r-7"})
    run = scripted.run_plan(PLAN)
    with pytest.raises(ValueError, match="did you mean `status`"):
        run.expect(stats="complete")


def test_a_scripted_agent_calls_tools_and_reports(scripted):
    shop(scripted)
    scripted.model(call("shop/get_order", {"id": 7}), report("It costs 19.99."))
    run = scripted.agent("You sell tea.", "What does order 7 cost?")
    run.expect(status="complete", calls=[{"call": "shop/get_order", "with": {"id": 7}}], answer={"equals": "It costs 19.99."})


def test_an_answer_that_nobody_asks_for_fails_the_test():
    scripted = Scripted()
    shop(scripted)
    scripted.tool("bank/refund", "keyed", {"id": "r-7"}, {"id": "r-8"})
    scripted.run_plan(PLAN).expect(status="complete")
    with pytest.raises(AssertionError, match="`bank/refund`: 1"):
        scripted.check_used()


def test_a_call_after_the_last_answer_fails_the_test():
    scripted = Scripted()
    shop(scripted)
    scripted.tool("bank/refund", "keyed")
    scripted.run_plan(PLAN).expect(status="partial")
    with pytest.raises(AssertionError, match="calls after the last answer: `bank/refund`: 1"):
        scripted.check_used()


def test_a_failed_test_has_one_reason(pytester):
    pytester.makepyfile("""
        def test_it(scripted):
            scripted.tool("bank/refund", "keyed", {"id": "r-7"})
            assert False, "for another reason"
    """)
    pytester.runpytest_subprocess().assert_outcomes(failed=1)
