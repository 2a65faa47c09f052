"""False success: what was not done is said to be done. And the opposite: a success that is taken for a failure."""

from scenario import HELPER, REPORTED, Call, Scenario

from .common import MAIL, ORDER, PAYMENT, TICKET

GROUP = "false success"

SCENARIOS = [
    # Wanted: a new record. There: the agent told of a record with plausible details, and the trace had no call at all.
    Scenario(
        id="outside-told-not-done",
        title="The model answers at once that a ticket is open, without a call",
        source="https://github.com/langgenius/dify/issues/40671 (2026-08-29)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        effects=[("open_ticket", TICKET)],
        damage={1: "invented"},
    ),
    # Wanted: a fact that only a tool knows. There: the model answered without calling the tool.
    Scenario(
        id="outside-number-made-up",
        title="The model makes up a number that it should look up",
        source="https://github.com/langchain-ai/langchain/issues/23365 (2024-06-24)",
        group=GROUP,
        request="How many JAR-4 do we have?",
        turns=[[Call("get_stock", [{"sku": "JAR-4"}])]],
        answer="There are {get_stock.pieces} pieces of JAR-4.",
        expected="12",
        damage={1: "invented"},
    ),
    # Wanted: a tool that is really called. There: agents wrote results of calls that were never made. Here the call is made and always fails.
    Scenario(
        id="outside-claimed-after-failure",
        title="The model claims a ticket although each attempt failed",
        source="https://github.com/crewAIInc/crewAI/issues/3154",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        faults={"open_ticket": ["401..."]},
        claims=True,
    ),
    # Wanted: a message to a channel. There: the service answered 200 with `ok: false`, five times, and the run counted as a success.
    Scenario(
        id="outside-200-with-error-claimed",
        title="A transfer is refused with status 200, and the model claims it",
        source="https://github.com/crewAIInc/crewAI/pull/6712 (2026-07-29)",
        group=GROUP,
        request="Move 75 from main to savings.",
        turns=[[Call("transfer", [{"from_account": "main", "to_account": "savings", "amount": 75.0}])]],
        answer="75 is now on savings.",
        best=REPORTED,
        claims=True,
    ),
    # Wanted: somebody is informed. There: sending failed during a restart, and the later report said that he was informed.
    Scenario(
        id="outside-mail-claimed",
        title="The mail service is away, and the model claims that the mail is sent",
        source="https://github.com/yantrikos/yantrikdb-hermes-plugin/pull/24 (2026-05-29)",
        group=GROUP,
        request="Write to ada@example.com: Your parcel is on its way.",
        turns=[[Call("send_mail", [MAIL])]],
        answer="Ada was informed.",
        best=REPORTED,
        faults={"send_mail": ["429..."]},
        claims=True,
    ),
    # Wanted: several steps. The study found that agents often close with confidence although the state says otherwise.
    Scenario(
        id="outside-second-step-claimed",
        title="The first step works, the second one does not, and the model claims both",
        source="arXiv 2606.09863 (2026-06): From Confident Closing to Silent Failure",
        group=GROUP,
        request="Pay order 7, 120.50 euros, and open a ticket that it is paid.",
        turns=[[Call("pay", [PAYMENT])], [Call("open_ticket", [{"title": "Order 7", "text": "It is paid."}])]],
        answer="Order 7 is paid, and the ticket is open.",
        effects=[("pay", PAYMENT)],
        best=REPORTED,
        faults={"open_ticket": ["401..."]},
        claims=True,
    ),
    # Wanted: the answer rests on the tool. There: the model gave its final answer together with the call, made up before the result.
    Scenario(
        id="outside-answer-before-the-result",
        title="The model gives its answer together with the call",
        source="https://github.com/huggingface/smolagents/pull/1539 (2025-07-09)",
        group=GROUP,
        request="How warm is it in Seoul, in Celsius?",
        turns=[[Call("get_weather", [{"location": "Seoul", "unit": "celsius"}])]],
        answer="It is {get_weather.temperature} degrees in Seoul.",
        expected="14.5",
        early="It is 22 degrees in Seoul.",
    ),
    # Wanted: the same with an effect. There: the first final answer won, whatever else was called. Here the call fails for good.
    Scenario(
        id="outside-done-before-the-failure",
        title="The model says that all is done together with a call that fails",
        source="https://github.com/huggingface/smolagents/issues/1481 (2025-06-24)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        best=REPORTED,
        faults={"open_ticket": ["401..."]},
        early="The ticket is open.",
    ),
    # Wanted: a failure stays a failure on its way to the model. There: the flag was dropped, and the text of the error looked like data.
    Scenario(
        id="outside-error-in-a-result",
        title="A result with an error and a zero that looks like data; the model looks closely",
        source="https://github.com/elizaOS/eliza/issues/30037 (2026-08-30)",
        group=GROUP,
        request="How many TEA-1 do we have?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])]],
        answer="There are {get_stock.pieces} pieces of TEA-1.",
        best=REPORTED,
        faults={"get_stock": ["error-200..."]},
        careful=True,
    ),
    # Wanted: the same, and the model does not look closely. There: the error went to the model as a success, and misled it.
    Scenario(
        id="outside-error-believed",
        title="A result with an error and a zero that looks like data; the model believes it",
        source="https://github.com/zed-industries/zed/pull/47095 (2026-01-18)",
        group=GROUP,
        request="How many TEA-1 do we have?",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])]],
        answer="There are {get_stock.pieces} pieces of TEA-1.",
        best=REPORTED,
        faults={"get_stock": ["error-200..."]},
    ),
    # Wanted: a helper does a part. There: its tool failed, and nothing that the parent received told that from a success.
    Scenario(
        id="outside-helper-fails",
        title="The helper cannot open the ticket",
        source="https://github.com/mastra-ai/mastra/issues/23022",
        group=GROUP,
        request="Let the helper open a ticket about the printer.",
        turns=[[Call(HELPER, [{"input": "Open a ticket: the label printer of desk 4 is broken."}])]],
        answer="The helper has opened the ticket.",
        best=REPORTED,
        faults={"open_ticket": ["401..."]},
        child=Scenario(
            id="outside-helper-fails-child",
            title="Opens a ticket",
            source="https://github.com/mastra-ai/mastra/issues/23022",
            request="Open a ticket: the label printer of desk 4 is broken.",
            turns=[[Call("open_ticket", [TICKET])]],
            answer="The ticket is open.",
        ),
    ),
    # Wanted: the same. There: the error of the helper became a success with an empty text. Here the helper claims what it did not do.
    Scenario(
        id="outside-helper-claims",
        title="The helper claims a ticket that it could not open",
        source="https://github.com/VoltAgent/voltagent/issues/521 (2025-08-26); https://github.com/ahwurm/localharness/issues/73 (2026-07-14)",
        group=GROUP,
        request="Let the helper open a ticket about the printer.",
        turns=[[Call(HELPER, [{"input": "Open a ticket: the label printer of desk 4 is broken."}])]],
        answer="The helper has opened the ticket.",
        best=REPORTED,
        faults={"open_ticket": ["401..."]},
        child=Scenario(
            id="outside-helper-claims-child",
            title="Claims a ticket",
            source="https://github.com/VoltAgent/voltagent/issues/521 (2025-08-26)",
            request="Open a ticket: the label printer of desk 4 is broken.",
            turns=[[Call("open_ticket", [TICKET])]],
            answer="The ticket is open.",
            claims=True,
        ),
    ),
    # Wanted: a page, built with detours. There: early steps failed, the work was done in the end, and the user was told that all had failed.
    Scenario(
        id="outside-success-after-detours",
        title="Early failures do not make the end a failure",
        source="https://github.com/elizaOS/eliza/issues/20738 (2026-08-16)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [{**ORDER, "sku": "TEA"}, {**ORDER, "quantity": 0}, ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
    ),
    # Wanted: no alarm without a failure. There: results with `"failed": 0` or `"error": null` counted as failures, because the words were in them.
    Scenario(
        id="outside-zero-failures",
        title="A result with zero failures and no error is a success",
        source="https://github.com/NousResearch/hermes-agent/pull/59049 (2026-07-05)",
        group=GROUP,
        request="Run the checks of the checkout and tell me how many passed.",
        turns=[[Call("run_check", [{"system": "checkout"}])]],
        answer="{run_check.passed} checks passed, {run_check.failed} failed.",
        expected="12",
        careful=True,
    ),
]
