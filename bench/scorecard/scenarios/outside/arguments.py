"""Wrong or damaged arguments, invented fields, hallucinated tools and ids."""

from scenario import REPORTED, Call, Scenario

from .common import ORDER, PAYMENT, TICKET

GROUP = "arguments"
WEATHER = {"location": "Seoul"}
FLIGHT = {"origin": "SEA", "destination": "ICN", "date": "2026-03-31"}

SCENARIOS = [
    # Wanted: a document is printed. There: the model wrote all arguments as one JSON text into the first parameter, and the run ended in an error.
    Scenario(
        id="outside-arguments-in-an-argument",
        title="All arguments are a text in the first argument",
        source="https://github.com/langchain-ai/langchain/issues/31485",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [{"order_id": '{"order_id": 7, "amount": 120.5, "currency": "EUR"}'}, PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
    ),
    # Wanted: a call with a number. There: numbers came as texts.
    Scenario(
        id="outside-number-as-text",
        title="A number is written as a text",
        source="https://github.com/MervinPraison/PraisonAI/issues/410 (2025-05)",
        group=GROUP,
        request="What does order 7 cost?",
        turns=[[Call("get_order", [{"order_id": "7"}, {"order_id": 7}])]],
        answer="Order 7 costs {get_order.total} euros.",
        expected="120.5",
    ),
    # Wanted: a search. There: the model left out fields that the schema requires, and the stream ended with an error.
    Scenario(
        id="outside-required-field-missing",
        title="A required field is missing",
        source="https://github.com/vercel/ai/issues/5206",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [{"customer_id": 42, "sku": "TEA-1"}, ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
    ),
    # Wanted: a file is read. There: the model wrote `path` instead of `file_path`, and after the error it answered in prose instead of calling again.
    Scenario(
        id="outside-field-with-another-name",
        title="A field has another name",
        source="https://github.com/langchain-ai/deepagents/issues/947 (2026-01-29); https://github.com/langchain-ai/langchain/issues/37778 (2026-05-29)",
        group=GROUP,
        request="Pay what order 7 costs.",
        turns=[
            [Call("get_order", [{"id": 7}, {"order_id": 7}])],
            [Call("pay", [{"order_id": 7, "total": "{get_order.total}", "currency": "EUR"}, {"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])],
        ],
        answer="Paid {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
    ),
    # Wanted: a tool with an optional parameter. There: the provider wrote null for what was not given, and the call was refused.
    Scenario(
        id="outside-null-for-optional",
        title="An optional field is null",
        source="https://github.com/vercel/ai/pull/4755 (2025-02)",
        group=GROUP,
        request="What is the weather in Seoul?",
        turns=[[Call("get_weather", [{**WEATHER, "unit": None}, WEATHER])]],
        answer="It is {get_weather.condition} in Seoul, {get_weather.temperature} degrees.",
        expected="14.5",
    ),
    # Wanted: something that needs no such call. There: the model made up an id, tried it twice, and gave up. No order has this number.
    Scenario(
        id="outside-id-made-up",
        title="An order number that does not exist",
        source="https://github.com/xorbitsai/xagent/issues/2219 (2026-09-08)",
        group=GROUP,
        request="Look up my order and pay it.",
        turns=[[Call("get_order", [{"order_id": 991}])], [Call("pay", [{"order_id": 991, "amount": "{get_order.total}", "currency": "EUR"}])]],
        answer="Your order is paid.",
        best=REPORTED,
    ),
    # Wanted: a change of one record. There: the call was made with a made-up identifier, and a wrong row was written.
    Scenario(
        id="outside-wrong-identifier",
        title="An article number that does not exist, then the right one",
        source="https://github.com/langgenius/dify/issues/40674 (2026-08-12)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [{**ORDER, "sku": "TEA-0001"}, ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
    ),
    # Wanted: a run survives a misspelt tool. There: the second call of an unknown tool ended the run, whatever the limit of retries was.
    Scenario(
        id="outside-unknown-tool-twice",
        title="The model calls a tool that does not exist, two times",
        source="https://github.com/pydantic/pydantic-ai/pull/3597 (2025-11-29)",
        group=GROUP,
        request="What does JAR-4 cost?",
        turns=[[Call("get_price", [{"sku": "JAR-4"}])]],
        answer="JAR-4 costs {get_price.price} euros.",
        expected="7.25",
        damage={1: "unknown tool", 2: "unknown tool"},
    ),
    # Wanted: a long run. There: after ten minutes of work one call of an unknown tool threw all of it away.
    Scenario(
        id="outside-unknown-tool-after-effect",
        title="The model calls a tool that does not exist after it has acted",
        source="https://github.com/openai/openai-agents-python/issues/325 (2025-03-25); https://github.com/openai/openai-agents-python/issues/3459 (2026-05-19)",
        group=GROUP,
        request="Open a ticket about the printer. Then tell me what order 8 costs.",
        turns=[[Call("open_ticket", [TICKET])], [Call("get_order", [{"order_id": 8}])]],
        answer="The ticket is open, and order 8 costs {get_order.total} euros.",
        expected="18",
        effects=[("open_ticket", TICKET)],
        damage={2: "unknown tool"},
    ),
    # Wanted: the credit score. There: the name of the tool came with the end of a tag, and the run ended because no tool has this name.
    Scenario(
        id="outside-name-with-a-tail",
        title="The name of a tool ends with a piece of a tag",
        source="https://github.com/openai/openai-agents-python/issues/2232 (2025-12-24)",
        group=GROUP,
        request="How many TIN-5 do we have?",
        turns=[[Call("get_stock", [{"sku": "TIN-5"}])]],
        answer="There are {get_stock.pieces} pieces of TIN-5.",
        expected="60",
        damage={1: "name with a tail"},
    ),
    # Wanted: a call of a tool that got a prefix when a second server was added. There: the first call failed with `unknown tool`.
    Scenario(
        id="outside-name-with-a-prefix",
        title="The model uses another prefix for a tool",
        source="https://github.com/obot-platform/obot/issues/7975 (2026-09-19)",
        group=GROUP,
        request="What is a share of ACME worth?",
        turns=[[Call("get_quote", [{"symbol": "ACME"}])]],
        answer="A share of ACME is worth {get_quote.price} dollars.",
        expected="468.285",
        damage={1: "name with a prefix"},
    ),
    # Wanted: a call. There: the arguments were no valid JSON, and the agent crashed instead of telling the model.
    Scenario(
        id="outside-arguments-not-json",
        title="The arguments are not quite JSON",
        source="https://github.com/openai/openai-agents-js/pull/887 (2026-01-19)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        damage={1: "trailing comma"},
    ),
    # Wanted: a run goes on after a bad call. There: the bad call stayed in the history, and the server refused every later request.
    Scenario(
        id="outside-bad-call-in-the-history",
        title="A bad call between good ones",
        source="https://github.com/liquidos-ai/AutoAgents/issues/307 (2026-08-20)",
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
        damage={2: "python literal"},
    ),
    # Wanted: a streamed call. There: a gateway sent the arguments as an object, the event was dropped, and the turn ended empty.
    Scenario(
        id="outside-arguments-as-object-stream",
        title="A stream has the arguments as an object",
        source="https://github.com/0xPlaygrounds/rig/issues/1829 (2026-05-28)",
        group=GROUP,
        request="What does TIN-5 cost?",
        turns=[[Call("get_price", [{"sku": "TIN-5"}])]],
        answer="TIN-5 costs {get_price.price} euros.",
        expected="2.0",
        damage={1: "arguments as an object"},
        stream=True,
    ),
    # Wanted: a call. There: arguments that were null or not a text crashed the agent.
    Scenario(
        id="outside-arguments-as-object",
        title="The arguments are an object",
        source="https://github.com/microsoft/autogen/pull/6844 (2025-07-23)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        damage={1: "arguments as an object"},
    ),
    # Wanted: a tool without parameters. There: the provider sent an empty text as arguments, and reading the answer failed.
    Scenario(
        id="outside-no-arguments",
        title="The arguments of a tool without parameters are an empty text",
        source="https://github.com/0xPlaygrounds/rig/issues/1437 (2026-02-25); https://github.com/vercel/ai/issues/2103 (2024-06)",
        group=GROUP,
        request="How many orders are there?",
        turns=[[Call("list_orders", [{}])]],
        answer="There are {list_orders.count} orders.",
        expected="2",
        damage={1: "no arguments"},
        stream=True,
    ),
    # Wanted: a call. There: the arguments stood twice behind each other.
    Scenario(
        id="outside-arguments-doubled",
        title="The arguments come two times in a row",
        source="https://github.com/64bit/async-openai/pull/329 (2025-02-04)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        damage={1: "arguments twice"},
    ),
    # Wanted: calls that keep to the schema. The study names made-up parameters as one of five kinds of failure.
    Scenario(
        id="outside-field-made-up",
        title="A field that the tool does not have",
        source="arXiv 2507.15296 (2025-07): Butterfly Effects in Toolchains",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [{**ORDER, "discount": 10}, ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
    ),
    # Wanted: flights of next Tuesday. The example of the chaos cases asks like this; the service wants a date.
    Scenario(
        id="outside-date-in-words",
        title="A date in words",
        source="https://github.com/strands-agents/harness-sdk/pull/2697 (2026-06)",
        group=GROUP,
        request="Which flight from Seattle to Seoul is best on 31 March 2026?",
        turns=[[Call("search_flights", [{**FLIGHT, "date": "next Tuesday"}, {**FLIGHT, "date": "31.03.2026"}, FLIGHT])]],
        answer="Take {search_flights.best}.",
        expected="KE906",
    ),
    # Wanted: an order is cancelled. The policy allows two reasons, and the model words its own first.
    Scenario(
        id="outside-reason-not-in-the-list",
        title="A reason that the policy does not know",
        source="https://github.com/sierra-research/tau-bench/blob/main/tau_bench/envs/retail/wiki.md (tau-bench, arXiv 2406.12045, 2024)",
        group=GROUP,
        request="Cancel order 7, I do not need it any more.",
        turns=[[Call("cancel_order", [{"order_id": 7, "reason": "changed my mind"}, {"order_id": 7, "reason": "no longer needed"}])]],
        answer="Order 7 is cancelled.",
        effects=[("cancel_order", {"order_id": 7, "reason": "no longer needed"})],
    ),
]
