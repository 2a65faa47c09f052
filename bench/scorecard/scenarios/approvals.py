"""Calls that a person approves in another process, while no process of the system runs. What is executed is compared with what was shown."""

from scenario import REPORTED, Call, Scenario

from .sources import issue

TRANSFER = {"from_account": "main", "to_account": "savings", "amount": 20.0}
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
MOVE = [[Call("transfer", [TRANSFER])]]
DONE = ("It is {transfer.status}.", "It is done.", [("transfer", TRANSFER)])
BOUND = issue("LibreChat-AI/agents", 531)

SCENARIOS = [
    Scenario("approve", "A transfer is approved", issue("pym96/Pan-agent", 16), "Move 20 from main to savings.", MOVE, *DONE, approve=["transfer"]),
    Scenario("reject", "A transfer is rejected; the model tries again", issue("langchain-ai/deepagents", 2947), "Move 20 from main to savings, now.",
             MOVE, "It is {transfer.status}.", approve=["transfer"], decision="reject", best=REPORTED),
    Scenario("approve-after-read", "A read, then a payment that is approved", BOUND, "Pay order 7.",
             [[Call("get_order", [{"order_id": 7}])], [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
             "It is {pay.status}.", "It is done.", [("pay", PAYMENT)], approve=["pay"]),
    Scenario("approve-misspelt", "What is approved is what is sent, also if the model misspelt it", issue("extra-org/extra", 139), "Pay all of order 7.",
             [[Call("pay", [{"order_id": "7", "amount": "120.5", "currency": "EUR"}, PAYMENT])]], "It is {pay.status}.", "It is done.", [("pay", PAYMENT)],
             approve=["pay"]),
    Scenario("approve-one-of-two", "Two calls at once, one of which is approved", BOUND, "Move 20 and count TEA-1.",
             [[Call("transfer", [TRANSFER]), Call("get_stock", [{"sku": "TEA-1"}])]], "It is {transfer.status}; {get_stock.pieces}.", "It is done; 314.",
             [("transfer", TRANSFER)], approve=["transfer"]),
    Scenario("approve-then-kill", "Approved, then killed before the call is processed", issue("AVADSA25/codec", 122), "Pay order 7 in full.",
             [[Call("pay", [PAYMENT])]], "It is {pay.status}.", "It is done.", [("pay", PAYMENT)], approve=["pay"], faults={"pay": ["kill"]}),
    Scenario("approve-then-kill-effect", "Approved, then killed after the effect (keyed)", issue("AVADSA25/codec", 122), "Pay order 7, all of it.",
             [[Call("pay", [PAYMENT])]], "It is {pay.status}.", "It is done.", [("pay", PAYMENT)], approve=["pay"], faults={"pay": ["kill-after"]}),
    Scenario("approve-unsafe-kill-effect", "Approved, then killed after the effect (no key)", issue("AVADSA25/codec", 122), "Move 20 to savings.",
             MOVE, *DONE, approve=["transfer"], faults={"transfer": ["kill-after"]}, best=REPORTED),
]  # fmt: skip
