"""Loops and limits of turns."""

from scenario import REPORTED, Call, Scenario

from .common import PAYMENT

GROUP = "limits"
ARTICLES = ("TEA-1", "CUP-2", "POT-3", "JAR-4", "TIN-5")

SCENARIOS = [
    # Wanted: the file that a search should find. There: the same search ran again and again, and the run ended with `task completed`.
    Scenario(
        id="outside-search-without-end",
        title="The same lookup fails again and again",
        source="https://github.com/amd/gaia/issues/3943 (2026-09-17)",
        group=GROUP,
        request="What does order 12 cost?",
        turns=[[Call("get_order", [{"order_id": 12}])]],
        answer="Order 12 costs {get_order.total} euros.",
        best=REPORTED,
    ),
    # Wanted: a research of more than ten steps. There: the limit of ten calls ended it as a loop.
    Scenario(
        id="outside-many-steps",
        title="A task needs thirteen steps, and twenty are allowed",
        source="https://github.com/jundot/omlx/issues/2702 (2026-08-16)",
        group=GROUP,
        request="Check stock and price of each of our five articles, one by one, then read order 7 and pay it.",
        turns=[
            *([Call(tool, [{"sku": sku}])] for sku in ARTICLES for tool in ("get_stock", "get_price")),
            [Call("get_order", [{"order_id": 7}])],
            [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])],
        ],
        answer="All is checked, and order 7 is paid: {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
        max_turns=20,
    ),
    # Wanted: the best answer so far, or a word that there is none. There: the limit was reached, and a stock phrase became the result.
    Scenario(
        id="outside-limit-before-the-effect",
        title="The limit of turns is reached before the payment",
        source="https://github.com/crewAIInc/crewAI/issues/1038 (2024-07-31)",
        group=GROUP,
        request="Check stock and price of each of our five articles, one by one, then read order 7 and pay it.",
        turns=[
            *([Call(tool, [{"sku": sku}])] for sku in ARTICLES for tool in ("get_stock", "get_price")),
            [Call("get_order", [{"order_id": 7}])],
            [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])],
        ],
        answer="All is checked, and order 7 is paid: {get_order.total} euros.",
        best=REPORTED,
        max_turns=4,
    ),
    # Wanted: an end at the limit. There: the answer that the limit had forced was overwritten, and the loop went on. Here the model only reasons.
    Scenario(
        id="outside-limit-not-kept",
        title="The model reasons and never comes to a call or an answer",
        source="https://github.com/crewAIInc/crewAI/issues/3847 (2025-11-06); https://github.com/langmanus/langmanus/issues/61 (2025-03-19)",
        group=GROUP,
        request="What does order 7 cost?",
        turns=[[Call("get_order", [{"order_id": 7}])]],
        answer="Order 7 costs {get_order.total} euros.",
        best=REPORTED,
        damage={0: "only reasoning"},
        max_turns=6,
    ),
    # Wanted: an end when nothing comes back. There: answers without any content made the agent retry until its limit, without a word of the cause.
    Scenario(
        id="outside-empty-forever",
        title="Every answer of the model is empty",
        source="https://github.com/ModelEngine-Group/nexent/pull/3688 (2026-08-17)",
        group=GROUP,
        request="How many TEA-1 do we have?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])]],
        answer="There are {get_stock.pieces} pieces of TEA-1.",
        best=REPORTED,
        damage={0: "empty"},
        max_turns=5,
    ),
]
