"""The process is killed and started again."""

from scenario import REPORTED, Call, Scenario

from .common import MAIL, MOVE, ORDER, PAYMENT, TICKET

GROUP = "crash and resume"

SCENARIOS = [
    # Wanted: a batch of calls. There: results were stored only when the whole batch was done, so a crash in the middle ran all of it again.
    Scenario(
        id="outside-killed-in-a-batch",
        title="Killed in the middle of a batch, after the first call was answered",
        source="https://github.com/GEMISIS/leviath/issues/96 (2026-07-24)",
        group=GROUP,
        request="Open a ticket about the printer, and tell me the price of POT-3.",
        turns=[[Call("open_ticket", [TICKET]), Call("get_price", [{"sku": "POT-3"}])]],
        answer="The ticket is open, and POT-3 costs {get_price.price} euros.",
        expected="30",
        effects=[("open_ticket", TICKET)],
        faults={"get_price": ["kill"]},
        latency={"get_price": 1.0},
    ),
    # Wanted: a run that can be resumed. There: whether a finished step is replayed or run again depended on the order of two writes.
    Scenario(
        id="outside-killed-after-payment",
        title="Killed after a payment, before its answer; the service knows keys",
        source="https://github.com/langchain-ai/langgraph/issues/8039 (comment of 2026-09-20)",
        group=GROUP,
        request="Pay order 7, 120.50 euros.",
        turns=[[Call("pay", [PAYMENT])]],
        answer="Order 7 is paid.",
        effects=[("pay", PAYMENT)],
        faults={"pay": ["kill-after"]},
    ),
    # Wanted: one charge by a durable workflow. The post says what happens: the provider takes the money, the pod goes, and the restart charges again.
    Scenario(
        id="outside-program-killed-after-payment",
        title="A program is killed after a payment, before its answer",
        source="https://dev.to/diagrid/understanding-at-least-once-execution-and-why-it-matters-for-workflow-developers-3nen",
        group=GROUP,
        request="Order two TEA-1 for customer 42, then pay order 7, 120.50 euros.",
        turns=[[Call("create_order", [ORDER])], [Call("pay", [PAYMENT])]],
        answer="Ordered and paid.",
        effects=[("create_order", ORDER), ("pay", PAYMENT)],
        faults={"pay": ["kill-after"]},
        program=True,
    ),
    # Wanted: a crash does not blindly repeat an effect whose outcome is uncertain. Nothing tells whether the mail went out.
    Scenario(
        id="outside-killed-after-mail",
        title="Killed after a mail, before its answer; nothing tells whether it was sent",
        source="https://github.com/pym96/Pan-agent/issues/15 (2026-08-26)",
        group=GROUP,
        request="Write to ada@example.com: Your parcel is on its way.",
        turns=[[Call("send_mail", [MAIL])]],
        answer="The mail is sent.",
        effects=[("send_mail", MAIL)],
        best=REPORTED,
        faults={"send_mail": ["kill-after"]},
    ),
    # Wanted: runs go on after a restart of the server. There: they stayed in the state `running`, and nothing resumed them.
    Scenario(
        id="outside-restart-in-the-middle",
        title="Killed between reading and paying",
        source="https://github.com/mastra-ai/mastra/issues/5549 (2025-06-30)",
        group=GROUP,
        request="Pay what order 7 costs.",
        turns=[[Call("get_order", [{"order_id": 7}])], [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
        answer="Paid {get_order.total} euros.",
        expected="120.5",
        effects=[("pay", PAYMENT)],
        kill_at_model_request=2,
    ),
    # Wanted: a conversation survives a restart. There: it was stuck for ever.
    Scenario(
        id="outside-restart-at-the-start",
        title="Killed before the model has answered for the first time",
        source="https://github.com/mastra-ai/mastra/issues/7464 (2025-09-04)",
        group=GROUP,
        request="How many CUP-2 do we have?",
        turns=[[Call("get_stock", [{"sku": "CUP-2"}])]],
        answer="There are {get_stock.pieces} pieces of CUP-2.",
        expected="27",
        kill_at_model_request=1,
    ),
    # Wanted: results are stored, so that a crash costs no second paid call. Here a transfer, which must not happen twice, was answered before.
    Scenario(
        id="outside-killed-after-transfer-answered",
        title="Killed when the model is asked again after a transfer",
        source="https://github.com/dbos-inc/dbos-transact-golang/issues/350 (2026-06-12)",
        group=GROUP,
        request="Move 100 from savings to main.",
        turns=[[Call("transfer", [MOVE])]],
        answer="100 is now on main.",
        effects=[("transfer", MOVE)],
        kill_at_model_request=2,
    ),
    # Wanted: a session whose last message is a call can go on. There: it could not be recovered.
    Scenario(
        id="outside-killed-in-a-read",
        title="Killed while a tool that only reads is called",
        source="https://github.com/strands-agents/harness-sdk/issues/1111 (2025-10-30)",
        group=GROUP,
        request="How many POT-3 do we have, and what does one cost?",
        turns=[[Call("get_stock", [{"sku": "POT-3"}])], [Call("get_price", [{"sku": "POT-3"}])]],
        answer="There are {get_stock.pieces} pieces for {get_price.price} euros each.",
        expected="30",
        faults={"get_stock": ["kill"]},
    ),
    # Wanted: finished nodes are not run again. There: the checkpoint named the nodes that had just finished, and resuming ran them again.
    Scenario(
        id="outside-killed-right-after-the-answer",
        title="Killed right after a tool has answered; the service knows keys",
        source="https://github.com/zavora-ai/adk-rust/pull/467 (2026-07-26)",
        group=GROUP,
        request="Order two TEA-1 for customer 42.",
        turns=[[Call("create_order", [ORDER])]],
        answer="The order is placed.",
        effects=[("create_order", ORDER)],
        faults={"create_order": ["kill-replied"]},
    ),
    # Wanted: a workflow goes on at the first step without a stored result, and no earlier step runs again.
    Scenario(
        id="outside-program-three-steps",
        title="A program of three steps is killed in the third one",
        source="https://docs.dbos.dev/explanations/how-workflows-work",
        group=GROUP,
        request="Move 100 from savings to main, read order 7, and book its total under 7.",
        turns=[
            [Call("transfer", [MOVE])],
            [Call("get_order", [{"order_id": 7}])],
            [Call("book_entry", [{"reference": 7, "amount": "{get_order.total}"}])],
        ],
        answer="Booked {get_order.total} euros.",
        effects=[("transfer", MOVE), ("book_entry", {"reference": 7, "amount": 120.5})],
        faults={"book_entry": ["kill"]},
        program=True,
    ),
    # Wanted: an activity may run more than once, so its effects need a key. Here the worker is gone before the second of two bookings is answered.
    Scenario(
        id="outside-second-booking-lost",
        title="Killed after the second of two bookings, before its answer",
        source="https://docs.temporal.io/activity-definition (idempotency of activities)",
        group=GROUP,
        request="Book 18 euros under 8, then 120.50 euros under 7.",
        turns=[[Call("book_entry", [{"reference": 8, "amount": 18.0}])], [Call("book_entry", [{"reference": 7, "amount": 120.5}])]],
        answer="Both are booked.",
        effects=[("book_entry", {"reference": 8, "amount": 18.0}), ("book_entry", {"reference": 7, "amount": 120.5})],
        faults={"book_entry": ["ok", "kill-after"]},
    ),
]
