"""Answers that are no answers: empty, cut, announced, invented; loops without an end; results that are longer than the context."""

from scenario import REPORTED, Call, Scenario

from .sources import AI_AGENT, issue

GET_ORDER = Call("get_order", [{"order_id": 7}])
ASKED = "What is the total of order 7?"


def order(id: str, title: str, source: str, damage: dict, **more) -> Scenario:
    return Scenario(id, title, source, f"{ASKED} ({id})", [[GET_ORDER]], "It is {get_order.total}.", "It is 120.5.", damage=damage, **more)


SCENARIOS = [
    order("empty-first", "The first answer is empty", issue("earendil-works/pi", 8462), {1: "empty"}),
    order("empty-last", "The last answer is empty", issue("nugget/thane-ai-agent", 167), {2: "empty"}),
    order("only-reasoning", "Reasoning and nothing else", issue("labring/FastGPT", 7517), {1: "only reasoning"}),
    order("announcement", "The model announces a call and does not make it", issue("shenjianan97/persistent-agent-runtime", 97), {1: "announcement"}),
    order("cut-answer", "The last answer is cut", AI_AGENT, {2: "cut answer"}),
    order("refusal", "The model refuses once", AI_AGENT, {1: "refusal"}),
    order("content-filter", "A content filter empties an answer once", AI_AGENT, {1: "content filter"}),
    order("invented-answer", "The model answers with a figure and calls nothing", issue("langchain-ai/langchain", 23365), {0: "invented"}, best=REPORTED),
    Scenario("endless-loop", "The model calls the same tool for ever", issue("superplanehq/superplane", 4123), "Tell me when TEA-1 is sold out.",
             [[Call("get_stock", [{"sku": "TEA-1"}])] for _ in range(40)], "It is sold out.", best=REPORTED, max_turns=6),
    Scenario("long-result", "A result is longer than the context window", issue("zed-industries/zed", 59401), "Read the log of 2026-03-31 and then get order 7: what is its total?",
             [[Call("get_log", [{"day": "2026-03-31"}])], [GET_ORDER]], "It is {get_order.total}.", "It is 120.5.", context=30_000),
]  # fmt: skip
