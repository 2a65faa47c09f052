"""Approvals that are lost, mixed up, or applied twice."""

from scenario import REPORTED, Call, Scenario

from .common import MAIL, MOVE, ORDER, PAYMENT, REJECT, TICKET

GROUP = "approvals"

SCENARIOS = [
    # Wanted: two calls of one answer, one of them with a person in between. There: on resume the whole node ran again, and with it the other call.
    Scenario(
        id="outside-sibling-of-approval",
        title="The call beside one that waits for approval is not made again",
        source="https://github.com/LibreChat-AI/agents/pull/294 (2026-07-07); https://github.com/langchain-ai/langgraph/pull/3126 (2025-01-21)",
        group=GROUP,
        request="Tell Ada that her parcel is on its way, and move 100 from savings to main.",
        turns=[[Call("send_mail", [MAIL]), Call("transfer", [MOVE])]],
        answer="Ada knows, and the money is moved.",
        effects=[("send_mail", MAIL), ("transfer", MOVE)],
        approve=["transfer"],
    ),
    # Wanted: three parallel calls, each approved. There: all interrupts had the same id, so the answers of the person overwrote each other.
    Scenario(
        id="outside-two-approvals-at-once",
        title="Two calls of one answer are approved",
        source="https://github.com/langchain-ai/langgraph/pull/6627 (2025-12-25)",
        group=GROUP,
        request="Open a ticket about the printer and move 100 from savings to main.",
        turns=[[Call("open_ticket", [TICKET]), Call("transfer", [MOVE])]],
        answer="Both is done.",
        effects=[("open_ticket", TICKET), ("transfer", MOVE)],
        approve=["open_ticket", "transfer"],
    ),
    # Wanted: a call that a person rejects is not made. There: it stayed in the message, and the tool node made it.
    Scenario(
        id="outside-rejected-but-made",
        title="A rejected call is not made",
        source="https://github.com/langchain-ai/langchain/issues/37093 (fix: pull 37092, 2026-04-29)",
        group=GROUP,
        request="Move 100 from savings to main.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        best=REPORTED,
        approve=["transfer"],
        decision=REJECT,
    ),
    # Wanted: one of two calls needs approval and is rejected, the other one needs none. There: a rejection skipped the whole batch.
    Scenario(
        id="outside-rejection-skips-sibling",
        title="A rejection does not stop the call beside it",
        source="https://github.com/langchain-ai/langchainjs/pull/11391 (2026-08-17)",
        group=GROUP,
        request="Two things that have nothing to do with each other: order two TEA-1 for customer 42, and move 100 from savings to main.",
        turns=[[Call("create_order", [ORDER]), Call("transfer", [MOVE])]],
        answer="The order is placed and the money is moved.",
        effects=[("create_order", ORDER)],
        best=REPORTED,
        approve=["transfer"],
        decision=REJECT,
    ),
    # Wanted: a mail after the person confirmed it. There: the paused run was dropped on resume, and the answer said that the mail was sent.
    Scenario(
        id="outside-approved-but-not-made",
        title="An approved mail is sent",
        source="https://github.com/agno-agi/agno/issues/8029 (2026-05-21)",
        group=GROUP,
        request="Write to ada@example.com: Your parcel is on its way.",
        turns=[[Call("send_mail", [MAIL])]],
        answer="The mail is sent.",
        effects=[("send_mail", MAIL)],
        approve=["send_mail"],
    ),
    # Wanted: resume in another request and process. There: the run could be read from the store, but the resumed one started empty.
    Scenario(
        id="outside-approved-in-another-process",
        title="What was read before the pause is known after it",
        source="https://github.com/mastra-ai/mastra/issues/9441 (2025-10-29); https://github.com/mastra-ai/mastra/issues/5407 (2025-06-23)",
        group=GROUP,
        request="Pay what order 7 costs.",
        turns=[[Call("get_order", [{"order_id": 7}])], [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
        answer="Paid {get_order.total} euros for order 7.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
        approve=["pay"],
    ),
    # Wanted: two approvals one after the other. There: a decision that came again ran the tool again, and an undecided one was forgotten.
    Scenario(
        id="outside-two-approvals-in-a-row",
        title="Two calls in a row are approved one by one",
        source="https://github.com/agno-agi/agno/pull/9869 (2026-08-31)",
        group=GROUP,
        request="Move 100 from savings to main. Then tell Ada that her parcel is on its way.",
        turns=[[Call("transfer", [MOVE])], [Call("send_mail", [MAIL])]],
        answer="The money is moved and Ada knows.",
        effects=[("transfer", MOVE), ("send_mail", MAIL)],
        approve=["transfer", "send_mail"],
    ),
    # Wanted: an approved tool with a streaming provider. There: the run paused right, and after the approval the next request was refused.
    Scenario(
        id="outside-approved-stream",
        title="A call of a stream is approved",
        source="https://github.com/vercel/eve/issues/236 (2026-06-24)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        approve=["pay"],
        stream=True,
    ),
    # Wanted: go on after a denial. There: the denied call was taken for an approved one, and the next request failed.
    Scenario(
        id="outside-rejected-after-read",
        title="After a rejection the run ends in an honest answer",
        source="https://github.com/vercel/ai/issues/14428 (2026-07)",
        group=GROUP,
        request="Look up how many TEA-1 we have, then open a ticket about the printer.",
        turns=[[Call("get_stock", [{"sku": "TEA-1"}])], [Call("open_ticket", [TICKET])]],
        answer="There are {get_stock.pieces} pieces, and the ticket is open.",
        best=REPORTED,
        approve=["open_ticket"],
        decision=REJECT,
        stream=True,
    ),
    # Wanted: resume after a person's answer. There: everything before the pause ran again, also a tool that sends mail.
    Scenario(
        id="outside-effect-before-the-pause",
        title="What was done before the pause is not done again",
        source="https://github.com/langflow-ai/langflow/pull/13633 (2026-06-23)",
        group=GROUP,
        request="Tell Ada that her parcel is on its way. Then pay order 7, 120.50 euros.",
        turns=[[Call("send_mail", [MAIL])], [Call("pay", [PAYMENT])]],
        answer="Ada knows, and order 7 is paid.",
        effects=[("send_mail", MAIL), ("pay", PAYMENT)],
        approve=["pay"],
    ),
    # Wanted: a confirmed call is made. There: after the confirmation the agent asked for it again, and the tool never ran. Here the service is busy
    # once, so that the call has to be repeated.
    Scenario(
        id="outside-approved-then-busy",
        title="An approved payment meets a busy service",
        source="https://github.com/agentscope-ai/agentscope-java/issues/2956",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        faults={"pay": ["429"]},
        approve=["pay"],
    ),
    # Wanted: a rejection binds. There: another way to the tools led around it. Here the model also claims in the end that all is done.
    Scenario(
        id="outside-rejected-and-claimed",
        title="The model claims that a rejected call was made",
        source="https://github.com/langchain-ai/langchain/issues/40491 (2026-09-16)",
        group=GROUP,
        request="Write to ada@example.com: Your parcel is on its way.",
        turns=[[Call("send_mail", [MAIL])]],
        answer="The mail is sent.",
        best=REPORTED,
        approve=["send_mail"],
        decision=REJECT,
        claims=True,
    ),
]
