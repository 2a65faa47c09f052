"""Answers that are streamed: cut, broken, wrongly numbered."""

from scenario import REPORTED, Call, Scenario

from .common import MOVE, ORDER, PAYMENT, TICKET

GROUP = "streams"

SCENARIOS = [
    # Wanted: another model when the first one is overloaded. There: the error came as an event of the stream, and no fallback was used.
    Scenario(
        id="outside-stream-overloaded",
        title="The streams of the first model server end in an error event",
        source="https://github.com/BerriAI/litellm/issues/6957 (2024-11-28); https://github.com/BerriAI/litellm/issues/6532 (2024-11)",
        group=GROUP,
        request="How many TEA-1 do we have?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])]],
        answer="There are {get_stock.pieces} pieces of TEA-1.",
        expected="314",
        model_faults={"primary": ["error event..."]},
        stream=True,
    ),
    # Wanted: the same for a busy server. There: 429 was left out of the errors that lead to another model when the answer is a stream.
    Scenario(
        id="outside-stream-busy",
        title="The first model server asks to wait for ten minutes before a stream",
        source="https://github.com/BerriAI/litellm/issues/22296 (2026-02-27)",
        group=GROUP,
        request="What does order 7 cost?",
        turns=[[Call("get_order", [{"order_id": 7}])]],
        answer="Order 7 costs {get_order.total} euros.",
        expected="120.5",
        model_faults={"primary": ["429-long..."]},
        stream=True,
    ),
    # Wanted: an end. There: 429 in a stream without any fallback made the process spin for ever. Here both servers are busy.
    Scenario(
        id="outside-stream-busy-everywhere",
        title="Both model servers ask to wait for ten minutes",
        source="https://github.com/BerriAI/litellm/issues/26015 (2026-04-18)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        model_faults={"primary": ["429-long..."], "backup": ["429-long..."]},
        stream=True,
    ),
    # Wanted: a fallback when nothing comes. There: the socket timed out before the first piece, and the error went past the fallbacks.
    Scenario(
        id="outside-stream-silent",
        title="The first model server never starts its stream",
        source="https://github.com/BerriAI/litellm/issues/28216 (2026-05-19)",
        group=GROUP,
        request="What does TIN-5 cost?",
        turns=[[Call("get_price", [{"sku": "TIN-5"}])]],
        answer="TIN-5 costs {get_price.price} euros.",
        expected="2.0",
        model_faults={"primary": ["silent..."]},
        stream=True,
    ),
    # Wanted: a call is made whole or not at all. There: a proxy closed the stream in the middle of the arguments, and the half call was taken.
    Scenario(
        id="outside-stream-cut-in-a-call",
        title="A stream is cut in the middle of a transfer",
        source="https://github.com/esengine/DeepSeek-Reasonix/pull/3957 (2026-06-11); https://github.com/NousResearch/hermes-agent/pull/6847 (2026-04-09)",
        group=GROUP,
        request="Move 100 from savings to main.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        effects=[("transfer", MOVE)],
        model_faults={"primary": ["half"]},
        stream=True,
    ),
    # Wanted: a cut answer is not shown as a whole one. There: a stream that an intermediary closed became a normal turn.
    Scenario(
        id="outside-stream-cut-in-the-answer",
        title="A stream is cut in the middle of the final answer",
        source="https://github.com/griffinwork40/agent-afk/pull/635 (2026-07-16)",
        group=GROUP,
        request="How many JAR-4 do we have?",
        turns=[[Call("get_stock", [{"sku": "JAR-4"}])]],
        answer="I have looked into the stock of the shop, and the number of pieces of JAR-4 that we have is {get_stock.pieces}.",
        expected="12",
        model_faults={"primary": ["ok", "half"]},
        stream=True,
    ),
    # Wanted: a call. There: the stream ended without its last mark, and the call, the reason and the usage were dropped without an error.
    Scenario(
        id="outside-stream-without-end",
        title="A stream with a whole call has no end",
        source="https://github.com/2389-research/tracker/issues/544 (2026-08-06)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        model_faults={"primary": ["no end"]},
        stream=True,
    ),
    # Wanted: an answer. There: the stream stayed open and nothing came any more, and sessions stood still until somebody killed them.
    Scenario(
        id="outside-stream-stalls",
        title="A stream stops in the middle and stays open",
        source="https://github.com/earendil-works/pi/issues/8331 (2026-08-18)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        model_faults={"primary": ["stall"]},
        stream=True,
    ),
    # Wanted: events are read or their loss is noticed. There: events of a call that did not fit were skipped without a word.
    Scenario(
        id="outside-stream-bad-event",
        title="One event of a stream is not JSON",
        source="https://github.com/0xPlaygrounds/rig/issues/1827 (2026-05-27)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        model_faults={"primary": ["bad event"]},
        stream=True,
    ),
    # Wanted: two calls. There: both had the same index, their arguments were joined to one text that is no JSON, and the second call was gone.
    Scenario(
        id="outside-stream-same-index",
        title="Two calls of a stream have the same index",
        source="https://github.com/apache/maka/issues/1976 (2026-08-03); https://github.com/earendil-works/pi/issues/8861 (2026-08-30)",
        group=GROUP,
        request="Open a ticket about the printer, and tell me how many TIN-5 we have.",
        turns=[[Call("open_ticket", [TICKET]), Call("get_stock", [{"sku": "TIN-5"}])]],
        answer="The ticket is open, and there are {get_stock.pieces} pieces of TIN-5.",
        expected="60",
        effects=[("open_ticket", TICKET)],
        model_faults={"primary": ["same index"]},
        stream=True,
    ),
    # Wanted: one call. There: the provider repeats id and name in every event, and the client glued them together.
    Scenario(
        id="outside-stream-repeated-id",
        title="Every event of a call repeats its id and its name",
        source="https://github.com/SillyTavern/SillyTavern/pull/5948 (2026-08-19)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        model_faults={"primary": ["repeated head"]},
        stream=True,
    ),
    # Wanted: a tool is run once. There: with streaming each tool ran twice, and the next request was refused because of equal ids.
    Scenario(
        id="outside-stream-runs-twice",
        title="A call of a stream is made once",
        source="https://github.com/agno-agi/agno/issues/2336 (2025-03-09); https://github.com/vercel/ai/issues/3953 (2024-12)",
        group=GROUP,
        request="Move 100 from savings to main.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        effects=[("transfer", MOVE)],
        stream=True,
    ),
    # Wanted: an error reaches somebody. There: the provider refused all requests, and neither the logs nor the user saw why.
    Scenario(
        id="outside-stream-error-swallowed",
        title="Both model servers refuse every stream",
        source="https://github.com/vercel/ai/issues/4726 (2025-02-05); https://github.com/vercel/ai/issues/1517",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        model_faults={"primary": ["401..."], "backup": ["503..."]},
        stream=True,
    ),
    # Wanted: a whole run in steps. There: the stream stopped after the first tool, and the rest of the steps never came.
    Scenario(
        id="outside-stream-several-steps",
        title="A streamed run has three steps",
        source="https://github.com/vercel/ai/issues/14521 (2026-04-16)",
        group=GROUP,
        request="Pay what order 7 costs, then book it under 7.",
        turns=[
            [Call("get_order", [{"order_id": 7}])],
            [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])],
            [Call("book_entry", [{"reference": 7, "amount": "{get_order.total}"}])],
        ],
        answer="Paid and booked {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT), ("book_entry", {"reference": 7, "amount": 120.5})],
        stream=True,
    ),
]
