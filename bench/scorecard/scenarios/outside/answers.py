"""What the model answers: calls as text, cut answers, empty ones, announcements, filters."""

from scenario import REPORTED, Call, Scenario

from .common import ORDER, PAYMENT, TICKET

GROUP = "answers of the model"
SENT = {
    "customer_id": 42,
    "sku": "TEA-1",
    "quantity": 2,
    "express": True,
    "address": {"street": "Long Lane 12", "zip_code": "04510"},
    "tags": ["gift", "fragile", "ring at the second door on the left", "no signature"],
}

SCENARIOS = [
    # Wanted: a call. There: the model wrote the call as plain JSON, the parser expected another form, and nothing was called.
    Scenario(
        id="outside-call-as-json",
        title="A call is plain JSON in the text",
        source="https://github.com/vllm-project/vllm/issues/46863 (2026-06-26)",
        group=GROUP,
        request="What does order 7 cost?",
        turns=[[Call("get_order", [{"order_id": 7}])]],
        answer="Order 7 costs {get_order.total} euros.",
        expected="120.5",
        damage={1: "bare call"},
    ),
    # Wanted: a call. There: as soon as other text came first, the calls in the form of Python stayed in the text.
    Scenario(
        id="outside-call-as-python",
        title="A call is written like Python in the text",
        source="https://github.com/vllm-project/vllm/issues/22917 (2025-08-14)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        effects=[("open_ticket", TICKET)],
        damage={1: "pythonic call"},
    ),
    # Wanted: a call. There: the list of calls was empty and the call stood in the text, until another parser was chosen.
    Scenario(
        id="outside-call-in-tags",
        title="A call stands between tags in the text",
        source="https://github.com/vllm-project/vllm/issues/17161 (2025)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        damage={1: "call in tags"},
        stream=True,
    ),
    # Wanted: a corrected call after an error. There: the model wrote the corrected call into its text, and this became the final answer.
    Scenario(
        id="outside-correction-in-a-fence",
        title="After an error the corrected call stands in a code block",
        source="https://github.com/langchain-ai/langchain/issues/37778 (2026-05-29)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [{"order_id": 7, "amount": "120.50 EUR", "currency": "EUR"}, PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        damage={2: "call in a fence"},
    ),
    # Wanted: a long text is written to a file. There: the limit of output tokens cut the arguments, and only the first of them was left.
    Scenario(
        id="outside-arguments-cut",
        title="The limit of tokens cuts the arguments of an order",
        source="https://github.com/pydantic/pydantic-ai/issues/3118 (2025-10-08); https://github.com/pydantic/pydantic-ai/issues/2001 (2025-06-17)",
        group=GROUP,
        request="Order two TEA-1 for customer 42, express, to Long Lane 12, 04510. Tags: gift, fragile, ring at the second door on the left, no signature.",
        turns=[[Call("create_order", [SENT])]],
        answer="The order is placed.",
        effects=[("create_order", SENT)],
        damage={1: "cut call"},
    ),
    # Wanted: the same. There: the server said that the call is complete although it was cut, so the client could not tell.
    Scenario(
        id="outside-arguments-cut-unnoticed",
        title="The arguments of an order are cut, and the model server says that they are complete",
        source="https://github.com/MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark/issues/55 (2026-08-14)",
        group=GROUP,
        request="Order two TEA-1 for customer 42, express, to Long Lane 12, 04510. Tags: gift, fragile, ring at the second door on the left, no signature.",
        turns=[[Call("create_order", [SENT])]],
        answer="The order is placed.",
        effects=[("create_order", SENT)],
        damage={1: "cut call with the wrong reason"},
        stream=True,
    ),
    # Wanted: a call is not made with less than the model wrote. There: the cut call was run with no arguments at all. Here that means page 1.
    Scenario(
        id="outside-cut-call-made-empty",
        title="A cut call must not become one without arguments",
        source="https://github.com/strands-agents/harness-sdk/issues/4135 (2026-09-03)",
        group=GROUP,
        request="Who is the last customer on page 3 of the list?",
        turns=[[Call("list_customers", [{"page": 3}])]],
        answer="The last one is {list_customers.last}.",
        expected="Hana",
        damage={1: "cut call with the wrong reason"},
    ),
    # Wanted: go on after the limit of tokens. There: the agent called this state unrecoverable. Here the final answer is cut before its number.
    Scenario(
        id="outside-final-answer-cut",
        title="The final answer is cut",
        source="https://github.com/strands-agents/harness-sdk/issues/2163 (2026-04-20)",
        group=GROUP,
        request="Pay order 7, 120.50 euros, and tell me in the end what it cost.",
        turns=[[Call("get_order", [{"order_id": 7}])], [Call("pay", [PAYMENT])]],
        answer="I have paid the order that you named; the sum that was taken from your account for it is {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
        damage={3: "cut answer"},
    ),
    # Wanted: an answer. There: the tool had worked, and the final message was empty.
    Scenario(
        id="outside-empty-after-tool",
        title="The answer after a tool is empty",
        source="https://github.com/microsoft/agent-framework/issues/5726 (2026-05-09); https://github.com/infiniflow/ragflow/pull/19872 (2026-09-18)",
        group=GROUP,
        request="How many TEA-1 do we have?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])]],
        answer="There are {get_stock.pieces} pieces of TEA-1.",
        expected="314",
        damage={2: "empty"},
    ),
    # Wanted: an answer. There: the model only wrote its reasoning, and the user saw an empty one.
    Scenario(
        id="outside-only-reasoning",
        title="The answer has only reasoning",
        source="https://github.com/omeryasirkucuk/amx/pull/372 (2026-05-12)",
        group=GROUP,
        request="Convert 120.50 euros to won.",
        turns=[[Call("convert", [{"amount": 120.5, "to": "KRW"}])]],
        answer="That is {convert.converted} won.",
        expected="180750",
        damage={1: "only reasoning", 3: "only reasoning"},
    ),
    # Wanted: a task in several steps. There: the model said what it would do next, and the run took that for the answer.
    Scenario(
        id="outside-announced-in-the-middle",
        title="The model announces its second step and stops",
        source="https://github.com/cuga-project/cuga-agent/pull/416 (2026-06-30)",
        group=GROUP,
        request="Pay what order 7 costs.",
        turns=[[Call("get_order", [{"order_id": 7}])], [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
        answer="Paid {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
        damage={2: "announcement"},
    ),
    # Wanted: two agents are set up. There: whole replies told of calls that were never made, one after the other. Here it never calls.
    Scenario(
        id="outside-announced-forever",
        title="The model announces calls and never makes one",
        source="https://github.com/AutomatosAI/automatos-ai/pull/746 (2026-09-16)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        damage={0: "announcement"},
        max_turns=5,
    ),
    # Wanted: calls of another vendor's model. There: the reason why the answer ended had a value that the client did not know.
    Scenario(
        id="outside-other-finish-reason",
        title="An answer with a call ends with the reason of an answer without one",
        source="https://github.com/microsoft/autogen/issues/5075 (2025-01-16)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        damage={1: "stop instead of tool_calls"},
    ),
    # Wanted: a caller can tell a filtered answer. There: it came back as a completed one.
    Scenario(
        id="outside-filtered-always",
        title="Every answer is filtered",
        source="https://github.com/microsoft/agent-framework/issues/8475 (2026-09-17); https://github.com/openai/openai-agents-python/pull/4159 (2026-08-04)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        damage={0: "content filter"},
    ),
    # Wanted: an answer from what a tool returned. There: a result set the filter off, and the end of the answer was taken for a normal one.
    Scenario(
        id="outside-filtered-after-tool",
        title="The answer after an effect is filtered once",
        source="https://github.com/pydantic/pydantic-ai/issues/5221 (2026-04-27)",
        group=GROUP,
        request="Open a ticket about the printer and tell me how many TIN-5 we have.",
        turns=[[Call("open_ticket", [TICKET]), Call("get_stock", [{"sku": "TIN-5"}])]],
        answer="The ticket is open, and there are {get_stock.pieces} pieces of TIN-5.",
        expected="60",
        effects=[("open_ticket", TICKET)],
        damage={2: "content filter"},
    ),
    # Wanted: an agent that survives a model that refuses. The chaos cases replace answers by refusals.
    Scenario(
        id="outside-refused-always",
        title="The model refuses every time",
        source="https://github.com/strands-agents/harness-sdk/pull/3827 (2026-08-14)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        damage={0: "refusal"},
    ),
]
