"""Effects that happen twice or get lost: unknown outcomes, retries, repeated calls."""

from scenario import REPORTED, Call, Scenario

from .common import MAIL, MOVE, ORDER, PAYMENT, TICKET

GROUP = "effects twice"

SCENARIOS = [
    # Wanted: one mail. There: the mail server was slow, the client gave up and called again, and the recipient got the mail twice, for
    # nothing in the call tells a retry from a new mail.
    Scenario(
        id="outside-mail-slow-sent",
        title="A mail is sent, but the answer comes too late",
        source="https://github.com/codefuturist/email-mcp/issues/62 (2026-08-10)",
        group=GROUP,
        request="Write to ada@example.com: Your parcel is on its way.",
        turns=[[Call("send_mail", [MAIL])]],
        answer="The mail is sent.",
        effects=[("send_mail", MAIL)],
        best=REPORTED,
        faults={"send_mail": ["slow-after"]},
    ),
    # Wanted: one mail. There: the bot sends up to three times when the connection breaks, without a key, so a lost answer doubles the mail.
    Scenario(
        id="outside-mail-reset-sent",
        title="A mail is sent, and the connection breaks before the answer",
        source="https://github.com/MervinPraison/PraisonAI/issues/4621 (2026-09-01)",
        group=GROUP,
        request="Tell ben@example.com that we close at six.",
        turns=[[Call("send_mail", [{"to": "ben@example.com", "text": "We close at six."}])]],
        answer="Ben has his mail.",
        effects=[("send_mail", {"to": "ben@example.com", "text": "We close at six."})],
        best=REPORTED,
        faults={"send_mail": ["reset-after"]},
    ),
    # Wanted: one cluster. There: creating took longer than the limit of the call, the agent created it again, and several of the same name ran.
    Scenario(
        id="outside-create-slow-keyed",
        title="Creating takes longer than a call may take; the service knows keys",
        source="https://github.com/databricks-solutions/ai-dev-kit/issues/65 (2026-02-07)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        faults={"create_order": ["slow-after"]},
    ),
    # Wanted: one task on the board. There: the client showed a timeout although the task had been created.
    Scenario(
        id="outside-ticket-slow-created",
        title="A ticket is opened, but the caller sees a timeout",
        source="https://github.com/MrLesk/Backlog.md/issues/399 (2025-10-15)",
        group=GROUP,
        request="Open a ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        effects=[("open_ticket", TICKET)],
        best=REPORTED,
        faults={"open_ticket": ["slow-after"]},
    ),
    # Wanted: a tool call that takes its time. There: the gateway in front of the server gave up first and answered with its own HTML page.
    Scenario(
        id="outside-gateway-timeout-keyed",
        title="A gateway gives up on a payment that was made; the service knows keys",
        source="https://github.com/obot-platform/obot/issues/3266",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        faults={"pay": ["504-after"]},
    ),
    # Wanted: one refund. There: a template let a POST that moves money be retried three times, which a reviewer found to be able to pay repeatedly.
    Scenario(
        id="outside-money-500-after",
        title="A server error after money has moved",
        source="https://github.com/juspay/clairvoyance/pull/477 (2026-01-21)",
        group=GROUP,
        request="Move 100 from savings to main.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        effects=[("transfer", MOVE)],
        best=REPORTED,
        faults={"transfer": ["500-after"]},
    ),
    # Wanted: one charge. There: the tool had succeeded, the next model request failed with 500, and the retry ran everything again.
    Scenario(
        id="outside-model-500-after-effect",
        title="The model server fails after a tool has succeeded",
        source="https://github.com/agno-agi/agno/issues/10366 (2026-09-20)",
        group=GROUP,
        request="Move 100 from savings to main and say when it is done.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        effects=[("transfer", MOVE)],
        model_faults={"primary": ["ok", "500"]},
    ),
    # Wanted: one ticket for each request. There: every MCP call was dispatched twice within milliseconds under two ids, and two tickets existed.
    Scenario(
        id="outside-double-dispatch",
        title="The same ticket is asked for twice at once, under two ids",
        source="https://github.com/anthropics/claude-code/issues/36149 (2026-03-19)",
        group=GROUP,
        request="Open one ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET], times=2)]],
        answer="The ticket is open.",
        effects=[("open_ticket", TICKET)],
    ),
    # Wanted: one action. There: the agent ran all calls of an answer, also identical ones.
    Scenario(
        id="outside-three-equal-calls",
        title="Three equal calls in one answer",
        source="https://github.com/bytedance/trae-agent/pull/385 (2026-03-28)",
        group=GROUP,
        request="Order two TEA-1 for customer 42, once.",
        turns=[[Call("create_order", [ORDER], times=3)]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
    ),
    # Wanted: one action. There: the stream of the provider repeated a call with the same id, and the agent ran it twice.
    Scenario(
        id="outside-same-id-repeated",
        title="A call comes twice under the same id",
        source="https://github.com/charmbracelet/crush/issues/3107 (2026-06-12)",
        group=GROUP,
        request="Move 100 from savings to main.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        effects=[("transfer", MOVE)],
        damage={1: "same call repeated"},
    ),
    # Wanted: one action. There: the model asked again for a call that had just succeeded, and it was run again.
    Scenario(
        id="outside-asked-again",
        title="The model asks again for what was just done",
        source="https://github.com/charmbracelet/crush/issues/3108 (2026-06-12)",
        group=GROUP,
        request="Open one ticket: the label printer of desk 4 is broken.",
        turns=[[Call("open_ticket", [TICKET])], [Call("open_ticket", [TICKET])]],
        answer="The ticket is open.",
        effects=[("open_ticket", TICKET)],
    ),
    # Wanted: changes of an order happen in one call. The policy of the benchmark says that such a tool can be called only once for an order.
    Scenario(
        id="outside-cancel-only-once",
        title="An order is cancelled in one call, although the model wrote two",
        source="https://github.com/sierra-research/tau-bench/blob/main/tau_bench/envs/retail/wiki.md (tau-bench, arXiv 2406.12045, 2024)",
        group=GROUP,
        request="Cancel order 7, I ordered it by mistake.",
        turns=[[Call("cancel_order", [{"order_id": 7, "reason": "ordered by mistake"}], times=2)]],
        answer="Order 7 is cancelled.",
        effects=[("cancel_order", {"order_id": 7, "reason": "ordered by mistake"})],
    ),
    # Wanted: the same call twice in a row, on purpose. There: a check against repetition refused the second one.
    Scenario(
        id="outside-twice-on-purpose",
        title="The user wants the same order twice",
        source="https://github.com/crewAIInc/crewAI/pull/2248 (2025-02-27)",
        group=GROUP,
        request="Order two TEA-1 for customer 42. Then place exactly the same order a second time: I want both.",
        turns=[[Call("create_order", [ORDER])], [Call("create_order", [ORDER], is_repeated_on_purpose=True)]],
        answer="Both orders are placed.",
        effects=[("create_order", ORDER), ("create_order", ORDER)],
    ),
    # Wanted: an agent that waits when a tool says 429. There: the run failed at once; only repeating the whole run helped, with all its calls.
    Scenario(
        id="outside-tool-429-after-effect",
        title="A tool is busy after another one has acted",
        source="https://github.com/pydantic/pydantic-ai/issues/928 (2025-02-14)",
        group=GROUP,
        request="Open a ticket about the printer, then tell me how many JAR-4 we have.",
        turns=[[Call("open_ticket", [TICKET])], [Call("get_stock", [{"sku": "JAR-4"}])]],
        answer="The ticket is open, and there are {get_stock.pieces} pieces of JAR-4.",
        expected="12",
        effects=[("open_ticket", TICKET)],
        faults={"get_stock": ["429"]},
    ),
    # Wanted: one mail through a service that knows keys. There: the tool had no way to pass a key on, so a retry after a timeout delivered twice.
    # Here it is a payment: first the service is away, then the answer gets lost.
    Scenario(
        id="outside-unavailable-then-lost",
        title="A payment meets an unavailable service first and a lost answer then",
        source="https://github.com/agentmail-to/agentmail-toolkit/pull/58 (2026-09-08)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        faults={"pay": ["503", "reset-after"]},
    ),
]
