"""Parallel calls and batches: results mixed up or lost, partial failures."""

from scenario import REPORTED, Call, Scenario

from .common import ORDER, PAYMENT, TICKET

GROUP = "parallel and batches"

SCENARIOS = [
    # Wanted: three lookups at once. There: one service was down, its exception cancelled the batch, and the results of the others were lost.
    Scenario(
        id="outside-one-of-three-breaks",
        title="One of three parallel lookups fails once",
        source="https://github.com/langchain-ai/langgraph/issues/7412 (2026-04-04)",
        group=GROUP,
        request="How many TEA-1 do we have, how warm is it in Seoul, and what does CUP-2 cost?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}]), Call("get_weather", [{"location": "Seoul"}]), Call("get_price", [{"sku": "CUP-2"}])]],
        answer="{get_price.price} euros, {get_stock.pieces} pieces, {get_weather.temperature} degrees.",
        expected="314 pieces, 14.5 degrees",
        faults={"get_weather": ["reset"]},
    ),
    # Wanted: the results of what worked. There: one failed call threw all results away, and the agent made the whole step again.
    Scenario(
        id="outside-step-made-again",
        title="A parallel call fails once; the other one is not made again",
        source="https://github.com/huggingface/smolagents/issues/2457 (2026-07-02)",
        group=GROUP,
        request="Open a ticket about the printer, and tell me the price of POT-3.",
        turns=[[Call("open_ticket", [TICKET]), Call("get_price", [{"sku": "POT-3"}])]],
        answer="The ticket is open, and POT-3 costs {get_price.price} euros.",
        expected="30",
        effects=[("open_ticket", TICKET)],
        faults={"get_price": ["500"]},
    ),
    # Wanted: partial results with a word about what failed. There: one failed call cancelled all.
    Scenario(
        id="outside-one-of-two-fails-for-good",
        title="One of two parallel calls fails for good",
        source="https://github.com/BaseIntelligence/bounty-challenge/issues/49092 (2026-04-07)",
        group=GROUP,
        request="Order two TEA-1 for customer 42, and open a ticket about the printer.",
        turns=[[Call("create_order", [ORDER]), Call("open_ticket", [TICKET])]],
        answer="The order is placed, and the ticket is open.",
        effects=[("create_order", ORDER)],
        best=REPORTED,
        faults={"open_ticket": ["401..."]},
    ),
    # Wanted: each result belongs to its call. There: results without an id that came out of order were given to the wrong calls.
    Scenario(
        id="outside-results-out-of-order",
        title="The second of two parallel calls is answered first",
        source="https://github.com/theopenco/llmgateway/pull/2789 (2026-06-22); https://github.com/UKGovernmentBEIS/inspect_ai/pull/3866 (2026-05-07)",
        group=GROUP,
        request="How many POT-3 do we have, and what does JAR-4 cost? Book the price under 4.",
        turns=[
            [Call("get_stock", [{"sku": "POT-3"}]), Call("get_price", [{"sku": "JAR-4"}])],
            [Call("book_entry", [{"reference": 4, "amount": "{get_price.price}"}])],
        ],
        answer="{get_stock.pieces} pieces of POT-3; JAR-4 costs {get_price.price} euros.",
        expected="5 pieces of POT-3; JAR-4 costs 7.25",
        effects=[("book_entry", {"reference": 4, "amount": 7.25})],
        latency={"get_stock": 1.0},
    ),
    # Wanted: the order of results is that of the calls. There: it was the order in which they were ready.
    Scenario(
        id="outside-same-tool-twice",
        title="The same tool is called twice in one answer",
        source="https://github.com/strands-agents/harness-sdk/issues/2112 (2026-04-11)",
        group=GROUP,
        request="Look up the prices of TEA-1 and CUP-2 and book that of CUP-2 under 2.",
        turns=[
            [Call("get_price", [{"sku": "TEA-1"}]), Call("get_price", [{"sku": "CUP-2"}])],
            [Call("book_entry", [{"reference": 2, "amount": "{get_price.price}"}])],
        ],
        answer="CUP-2 costs {get_price.price} euros.",
        expected="9",
        effects=[("book_entry", {"reference": 2, "amount": 9.0})],
    ),
    # Wanted: two calls of a stream. There: the arguments of the second were joined to those of the first.
    Scenario(
        id="outside-two-orders-in-a-stream",
        title="Two orders in one streamed answer",
        source="https://github.com/microsoft/semantic-kernel/issues/6106 (2024-05-02)",
        group=GROUP,
        request="Order two TEA-1 for customer 42 and one POT-3 for customer 43.",
        turns=[[Call("create_order", [ORDER]), Call("create_order", [{"customer_id": 43, "sku": "POT-3", "quantity": 1}])]],
        answer="Both orders are placed.",
        effects=[("create_order", ORDER), ("create_order", {"customer_id": 43, "sku": "POT-3", "quantity": 1})],
        stream=True,
    ),
    # Wanted: two calls of a tool without arguments. There: equal calls of a stream were taken for one, and the other had no result.
    Scenario(
        id="outside-two-equal-reads",
        title="Two equal calls that only read, in one streamed answer",
        source="https://github.com/run-llama/llama_index/issues/22464 (2026-07-26)",
        group=GROUP,
        request="How many orders are there? Look twice to be sure.",
        turns=[[Call("list_orders", [{}]), Call("list_orders", [{}])]],
        answer="There are {list_orders.count} orders.",
        expected="2",
        stream=True,
    ),
    # Wanted: a list of tasks is completed. There: the tool answered 200 with a list of failures, and nobody noticed that some were not done.
    Scenario(
        id="outside-batch-with-a-bad-item",
        title="One of three orders cannot be placed",
        source="https://github.com/Doist/todoist-mcp/pull/585 (2026-08-28); https://github.com/homeassistant-ai/ha-mcp/pull/2076 (2026-07-29)",
        group=GROUP,
        request="Order for customer 42, one of each: TEA-1, BOX-9 and TIN-5.",
        turns=[[Call("create_order", [{"customer_id": 42, "sku": sku, "quantity": 1}]) for sku in ("TEA-1", "BOX-9", "TIN-5")]],
        answer="All three are ordered.",
        effects=[("create_order", {"customer_id": 42, "sku": sku, "quantity": 1}) for sku in ("TEA-1", "TIN-5")],
        best=REPORTED,
    ),
    # Wanted: the state of a batch says that items failed. There: it was `completed`, with an empty list of errors.
    Scenario(
        id="outside-batch-claimed",
        title="One of three orders cannot be placed, and the model claims all",
        source="https://github.com/camunda/camunda/issues/61727 (2026-09-02)",
        group=GROUP,
        request="Order for customer 43, one of each: CUP-2, BOX-9 and JAR-4.",
        turns=[[Call("create_order", [{"customer_id": 43, "sku": sku, "quantity": 1}]) for sku in ("CUP-2", "BOX-9", "JAR-4")]],
        answer="All three are ordered.",
        effects=[("create_order", {"customer_id": 43, "sku": sku, "quantity": 1}) for sku in ("CUP-2", "JAR-4")],
        best=REPORTED,
        claims=True,
    ),
    # Wanted: several helpers one after the other. There: the first was called, and then the run stopped.
    Scenario(
        id="outside-stops-after-the-first",
        title="Three steps, each after the other",
        source="https://github.com/microsoft/autogen/issues/6516 (2025-05-12)",
        group=GROUP,
        request="Read order 7, pay it, and open a ticket that it is paid.",
        turns=[
            [Call("get_order", [{"order_id": 7}])],
            [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "{get_order.currency}"}])],
            [Call("open_ticket", [{"title": "Order 7", "text": "Paid: {get_order.total} {get_order.currency}"}])],
        ],
        answer="Paid {get_order.total} euros, and the ticket is open.",
        expected="120.5",
        effects=[("pay", PAYMENT), ("open_ticket", {"title": "Order 7", "text": "Paid: 120.5 EUR"})],
    ),
    # Wanted: a long talk with parallel calls. There: the oldest results were cut out of the history, and the server refused calls without results.
    Scenario(
        id="outside-many-parallel-reads",
        title="Two answers with four parallel calls each, then a booking",
        source="https://github.com/langgenius/dify-official-plugins/issues/2352 (2025-12-31)",
        group=GROUP,
        request="Compare stock and prices of four articles, and book the price of JAR-4 under 4.",
        turns=[
            [Call("get_stock", [{"sku": sku}]) for sku in ("TEA-1", "CUP-2", "POT-3", "JAR-4")],
            [Call("get_price", [{"sku": sku}]) for sku in ("TEA-1", "CUP-2", "POT-3", "JAR-4")],
            [Call("book_entry", [{"reference": 4, "amount": "{get_price.price}"}])],
        ],
        answer="{get_stock.pieces} pieces of JAR-4 for {get_price.price} euros each.",
        expected="12 pieces of JAR-4 for 7.25",
        effects=[("book_entry", {"reference": 4, "amount": 7.25})],
    ),
]
