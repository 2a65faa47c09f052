"""Tools that fail: rate limits, server errors, broken connections, silence, half bodies, and errors with the status of a success."""

from scenario import REPORTED, Call, Scenario

from .sources import GOMIND, issue

IDEMPOTENCY = issue("stripe/ai", 402)
ORDER = {"customer_id": 42, "sku": "TEA-1", "quantity": 5}
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
REFUND = {"order_id": 8, "amount": 18.0, "reason": "lost"}
MAIL = {"to": "ann@example.com", "text": "Your order is ready."}
TRANSFER = {"from_account": "main", "to_account": "savings", "amount": 100.0}


def read(id: str, title: str, source: str, faults: list[str], **more) -> Scenario:
    return Scenario(id, title, source, f"How many TEA-1 are in stock ({id})?", [[Call("get_stock", [{"sku": "TEA-1"}])]],
                    "There are {get_stock.pieces}.", "There are 314.", faults={"get_stock": faults}, **more)  # fmt: skip


def pay(id: str, title: str, source: str, faults: list[str], **more) -> Scenario:
    """A write that the service makes once for each idempotency key."""
    return Scenario(id, title, source, f"Pay order 7 ({id}).", [[Call("pay", [PAYMENT])]], "It is {pay.status}.", "It is done.",
                    [("pay", PAYMENT)], faults={"pay": faults}, **more)  # fmt: skip


SCENARIOS = [
    read("read-429", "429 of a read, with seconds", issue("CopilotKit/CopilotKit", 3842), ["429"], critical_path=1.0),
    read("read-429-date", "429 of a read, with a date", issue("pulseaiclub/phi", 30), ["429-date"], critical_path=2.0),
    read("read-429-thrice", "429 three times in a row", GOMIND, ["429"] * 3, critical_path=3.0),
    pay("write-429", "429 of a write", GOMIND, ["429"], critical_path=1.0),
    read("read-500", "500 of a read", GOMIND, ["500"]),
    read("read-503", "503 of a read, as an HTML page", GOMIND, ["503"]),
    pay("write-503", "503 of a write, as an HTML page", GOMIND, ["503"]),
    read("read-reset", "The connection of a read is reset", GOMIND, ["reset"]),
    pay("write-reset", "The connection is reset after the payment (keyed)", IDEMPOTENCY, ["reset-after"]),
    read("read-slow", "A read is not answered within its time limit", GOMIND, ["slow"], critical_path=4.0),
    pay("write-slow", "A payment (keyed) is made and not answered in time", issue("crewAIInc/crewAI", 5802), ["slow-after"], critical_path=4.0),
    read("read-half", "The body of a read ends in the middle", issue("anthropics/connect-rust", 140), ["half"]),
    pay("write-half", "The body ends in the middle after the payment (keyed)", IDEMPOTENCY, ["half"]),
    read("error-200", "An error inside a 200; the model believes results", issue("apisyouwonthate/style-guide", 25), ["error-200"]),
    read("error-200-careful", "An error inside a 200; the model reads results", issue("apisyouwonthate/style-guide", 25), ["error-200"], careful=True),
    read("html-200", "The page of a login with status 200", issue("NangoHQ/nango-sync", 95), ["html-200"]),
    Scenario("transfer-error-200", "A refused transfer with status 200; the model believes results", issue("Vonage/vonage-ruby-sdk", 149),
             "Move 100 from main to savings.", [[Call("transfer", [TRANSFER])]], "The money is moved.", best=REPORTED),
    read("read-401", "401: the token has expired", GOMIND, ["401..."], best=REPORTED),
    read("read-503-for-ever", "503 for ever", GOMIND, ["503..."], best=REPORTED),
    Scenario("refund-slow", "A refund (no key, but a list of refunds) is made and not answered in time", issue("square/square-mcp-server", 31),
             "Refund order 8: it was lost.", [[Call("refund", [REFUND])]], "It is {refund.status}.", "It is done.", [("refund", REFUND)],
             faults={"refund": ["slow-after"]}, more_tools=["list_refunds"]),
    Scenario("mail-slow", "A mail (no key, no way to look) is sent and not answered in time", issue("ComposioHQ/composio", 3654),
             "Tell ann@example.com that the order is ready.", [[Call("send_mail", [MAIL])]], "It is {send_mail.status}.", "It is done.",
             [("send_mail", MAIL)], faults={"send_mail": ["slow-after"]}, best=REPORTED),
    Scenario("transfer-reset", "The connection is reset after a transfer (no key, no way to look)", issue("crewAIInc/crewAI", 5802),
             "Move 20 from main to savings.", [[Call("transfer", [{**TRANSFER, "amount": 20.0}])]], "It is {transfer.status}.", "It is done.",
             [("transfer", {**TRANSFER, "amount": 20.0})], faults={"transfer": ["reset-after"]}, best=REPORTED),
]  # fmt: skip
