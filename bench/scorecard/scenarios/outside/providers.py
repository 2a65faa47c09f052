"""Failures of model servers, and the way to another one. Answers are not streamed here."""

from scenario import REPORTED, Call, Scenario

from .common import MAIL, MOVE, PAYMENT, TICKET

GROUP = "providers"

SCENARIOS = [
    # Wanted: another model when the first one is overloaded. There: the fallbacks that were set up were not used.
    Scenario(
        id="outside-overloaded",
        title="The first model server is overloaded all the time",
        source="https://github.com/BerriAI/litellm/issues/5512 (2024-09-04)",
        group=GROUP,
        request="How many TEA-1 do we have?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])]],
        answer="There are {get_stock.pieces} pieces of TEA-1.",
        expected="314",
        model_faults={"primary": ["529..."]},
    ),
    # Wanted: a quick change to another model when the money is used up. There: the error has the status 429 and was retried like a busy server.
    Scenario(
        id="outside-quota-used-up",
        title="The quota of the first model server is used up",
        source="https://github.com/langchain-ai/langchainjs/issues/1929 (2023-07-11); https://github.com/2389-research/tracker/issues/547 (2026-08-06)",
        group=GROUP,
        request="What does order 7 cost?",
        turns=[[Call("get_order", [{"order_id": 7}])]],
        answer="Order 7 costs {get_order.total} euros.",
        expected="120.5",
        model_faults={"primary": ["quota..."]},
    ),
    # Wanted: an error that can be handled. There: status 200 came with an error and no choices, and the client crashed over the missing list.
    Scenario(
        id="outside-error-with-status-200",
        title="The first model server answers 200 with an error",
        source="https://github.com/openai/openai-agents-python/issues/604 (2025-04); https://github.com/UKGovernmentBEIS/inspect_ai/issues/1534 (2025-03-23)",
        group=GROUP,
        request="What does TIN-5 cost?",
        turns=[[Call("get_price", [{"sku": "TIN-5"}])]],
        answer="TIN-5 costs {get_price.price} euros.",
        expected="2.0",
        model_faults={"primary": ["error in 200..."]},
    ),
    # Wanted: an error that can be handled. There: an empty list of choices crashed the client.
    Scenario(
        id="outside-no-choices-once",
        title="An answer has no choices, once",
        source="https://github.com/vercel/ai/issues/20351 (2026-09-04)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        effects=[("open_ticket", TICKET)],
        model_faults={"primary": ["no choices", "no choices"]},
    ),
    # Wanted: another model when the answer of the first one is unusable. There: only failed requests led to the other model, not empty answers.
    Scenario(
        id="outside-unusable-answers",
        title="The first model server never has a choice in its answers",
        source="https://github.com/pydantic/pydantic-ai/issues/2837 (2025-09-09)",
        group=GROUP,
        request="How warm is it in Seoul?",
        turns=[[Call("get_weather", [{"location": "Seoul"}])]],
        answer="It is {get_weather.temperature} degrees in Seoul.",
        expected="14.5",
        model_faults={"primary": ["no choices..."]},
    ),
    # Wanted: a long conversation. There: one failed connection to the model ended a durable run with all that it had gathered.
    Scenario(
        id="outside-connection-lost-once",
        title="The connection to the model breaks after an effect",
        source="https://github.com/ballerina-platform/ballerina-library/issues/9099 (2026-09-03)",
        group=GROUP,
        request="Tell Ada that her parcel is on its way, then read me the price of CUP-2.",
        turns=[[Call("send_mail", [MAIL])], [Call("get_price", [{"sku": "CUP-2"}])]],
        answer="Ada knows, and CUP-2 costs {get_price.price} euros.",
        expected="9",
        effects=[("send_mail", MAIL)],
        model_faults={"primary": ["ok", "reset"]},
    ),
    # Wanted: a throttled model is asked again. There: 503 counted as an error that must not be retried.
    Scenario(
        id="outside-throttled-503",
        title="The model server is throttled two times",
        source="https://github.com/temporalio/sdk-python/issues/1177 (2025-10-22)",
        group=GROUP,
        request="What does order 8 cost?",
        turns=[[Call("get_order", [{"order_id": 8}])]],
        answer="Order 8 costs {get_order.total} euros.",
        expected="18",
        model_faults={"primary": ["503", "503"]},
    ),
    # Wanted: the run ends with its effects as they are. There: a retry of the run made the tool call again. Here the first server stays away for good.
    Scenario(
        id="outside-other-server-after-effect",
        title="The first model server goes away for good after an effect",
        source="https://github.com/agno-agi/agno/issues/10366 (2026-09-20)",
        group=GROUP,
        request="Move 100 from savings to main, then tell me the price of POT-3.",
        turns=[[Call("transfer", [MOVE])], [Call("get_price", [{"sku": "POT-3"}])]],
        answer="The money is moved, and POT-3 costs {get_price.price} euros.",
        expected="30",
        effects=[("transfer", MOVE)],
        model_faults={"primary": ["ok", "500..."]},
    ),
    # Wanted: the planning of an agent. There: the filter of the provider refused the request with status 400. Here both providers do.
    Scenario(
        id="outside-request-filtered",
        title="Both model servers refuse the request because of their filters",
        source="https://github.com/huggingface/smolagents/issues/1139 (2025-04-03)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        model_faults={"primary": ["filter..."], "backup": ["filter..."]},
    ),
    # Wanted: an answer in time. There: the provider took longer than expected, all retries too, and the failure was counted as one of the workflow.
    Scenario(
        id="outside-silent",
        title="The first model server never answers",
        source="https://github.com/dust-tt/dust/pull/27101 (2026-06-09)",
        group=GROUP,
        request="How many CUP-2 do we have?",
        turns=[[Call("get_stock", [{"sku": "CUP-2"}])]],
        answer="There are {get_stock.pieces} pieces of CUP-2.",
        expected="27",
        model_faults={"primary": ["silent..."]},
    ),
    # Wanted: no half state without a word. There: a tool had changed something, then the run ended in an error, and the change stayed.
    Scenario(
        id="outside-all-servers-gone-after-effect",
        title="Both model servers go away after the first of two effects",
        source="https://github.com/pydantic/pydantic-ai/issues/4679 (2026-03-16)",
        group=GROUP,
        request="Pay order 7, 120.50 euros, and open a ticket about the printer.",
        turns=[[Call("pay", [PAYMENT])], [Call("open_ticket", [TICKET])]],
        answer="Order 7 is paid, and the ticket is open.",
        effects=[("pay", PAYMENT)],
        best=REPORTED,
        model_faults={"primary": ["ok", "500..."], "backup": ["500..."]},
    ),
    # Wanted: an error that says what is wrong. There: sometimes there were choices and sometimes not; an operator saw an error of the provider.
    Scenario(
        id="outside-sometimes-an-error",
        title="Every other answer of the first model server is an error with status 200",
        source="https://github.com/Aider-AI/aider/issues/3550 (2025-03-26); https://github.com/langgenius/dify/issues/9249 (2024-10-11)",
        group=GROUP,
        request="Pay what order 7 costs.",
        turns=[[Call("get_order", [{"order_id": 7}])], [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
        answer="Paid {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
        model_faults={"primary": ["error in 200", "ok", "error in 200", "ok", "error in 200", "ok"]},
    ),
]
