"""The tasks: what a user asks for, the calls with which the scripted model tries to do it, and what the books of the shop must show.

`tries` of a call are the arguments that the model writes: the first ones with a mistake that is typical of models, the next ones after it
has read an error about its arguments.
"""

from dataclasses import dataclass, field


@dataclass
class Call:
    tool: str
    tries: list[dict]
    # How many times the model makes the call in one turn.
    times: int = 1
    is_repeated_on_purpose: bool = False


@dataclass
class Task:
    name: str
    request: str
    calls: list[Call]
    # What the model says in the end; filled from the results, the last ones first.
    answer: str
    # What is true if everything went well.
    expected: str
    books: list[dict] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)


def order(quantity: int) -> dict:
    return {"customer_id": 42, "sku": "TEA-1", "quantity": quantity}


def deed(operation: str, **values) -> dict:
    return {"operation": operation, **values}


GET_ORDER = Call("get_order", [{"order_id": 7}])
PAID = deed("pay", order_id=7, amount=120.5, currency="EUR")
REFUND = {"order_id": 8, "amount": 18.0, "reason": "broken cup"}
REMINDER = {"customer_id": 42, "text": "Your order is ready."}

TASKS = [
    Task(
        "422: numbers as strings",
        "Order 2 packets of TEA-1 for customer 42.",
        [Call("create_order", [{"customer_id": "42", "sku": "TEA-1", "quantity": "2"}, order(2)])],
        "The order is {status}.",
        "The order is open.",
        [deed("create_order", **order(2))],
    ),
    Task(
        "422: a field in another case",
        "Order 3 packets of TEA-1 for customer 42.",
        [Call("create_order", [{"customerId": 42, "sku": "TEA-1", "quantity": 3}, order(3)])],
        "The order is {status}.",
        "The order is open.",
        [deed("create_order", **order(3))],
    ),
    Task(
        "an invented field",
        "Order 4 packets of TEA-1 for customer 42, please.",
        [Call("create_order", [{**order(4), "notify_customer": True}, order(4)])],
        "The order is {status}.",
        "The order is open.",
        [deed("create_order", **order(4))],
    ),
    Task(
        "422: two mistakes, corrected one by one",
        "Pay order 7.",
        [
            GET_ORDER,
            # After the first error the model corrects one of its two mistakes, as models do.
            Call(
                "pay",
                [
                    {"order_id": "7", "amount": "120.50", "currency": "eur"},
                    {"order_id": 7, "amount": 120.5, "currency": "eur"},
                    {"order_id": 7, "amount": 120.5, "currency": "EUR"},
                ],
            ),
        ],
        "The order is {status}.",
        "The order is paid.",
        [PAID],
    ),
    Task(
        "422: `amount: 0` as a placeholder",
        "Pay the whole of order 7.",
        [
            GET_ORDER,
            Call(
                "pay",
                [
                    {"order_id": 7, "amount": 0, "currency": "EUR"},
                    {"order_id": 7, "amount": 120.5, "currency": "EUR"},
                ],
            ),
        ],
        "The order is {status}.",
        "The order is paid.",
        [PAID],
    ),
    Task(
        "`amount: 0` that the service accepts",
        "How much is the total of order 7 in won?",
        [GET_ORDER, Call("convert", [{"amount": 0, "to": "KRW"}])],
        "It is {converted} won.",
        "It is 180750.0 won.",
    ),
    Task(
        "429 of a read",
        "How many TEA-1 are in stock?",
        [Call("get_stock", [{"sku": "TEA-1"}])],
        "There are {pieces}.",
        "There are 314.",
        faults={"get_stock": ["429"] * 3},
    ),
    Task(
        "429 of a call that changes something",
        "Order 5 packets of TEA-1 for customer 42.",
        [Call("create_order", [order(5)])],
        "The order is {status}.",
        "The order is open.",
        [deed("create_order", **order(5))],
        {"create_order": ["429"] * 3},
    ),
    Task(
        "500 of a read",
        "What is the total of order 7?",
        [GET_ORDER],
        "It is {total}.",
        "It is 120.5.",
        faults={"get_order": ["500"]},
    ),
    Task(
        "503 before a ticket is opened",
        "Open a ticket for customer 42: the tea is cold.",
        [Call("open_ticket", [{"customer_id": 42, "title": "The tea is cold"}])],
        "The ticket is {status}.",
        "The ticket is open.",
        [deed("open_ticket", customer_id=42, title="The tea is cold")],
        {"open_ticket": ["503"]},
    ),
    Task(
        "an error inside a 200: a read",
        "How much are 120.5 euros in won?",
        [Call("convert", [{"amount": 120.5, "to": "KRW"}])],
        "It is {converted} won.",
        "It is 180750.0 won.",
        faults={"convert": ["error-in-200"]},
    ),
    Task(
        "an error inside a 200: a transfer",
        "Move 100 from main to savings.",
        [Call("transfer", [{"from_account": "main", "to_account": "savings", "amount": 100.0}])],
        "The money is moved.",
        "(impossible: there are only 50)",
    ),
    Task(
        "a payment (keyed) times out after it took effect",
        "Pay order 7 now.",
        [GET_ORDER, Call("pay", [{"order_id": 7, "amount": 120.5, "currency": "EUR"}])],
        "The order is {status}.",
        "The order is paid.",
        [PAID],
        {"pay": ["slow"]},
    ),
    Task(
        "a refund (no key, but a check) times out likewise",
        "Refund order 8: the cup is broken.",
        [Call("create_refund", [REFUND])],
        "The order is refunded.",
        "The order is refunded.",
        [deed("create_refund", **REFUND)],
        {"create_refund": ["slow"]},
    ),
    Task(
        "a reminder (no key, no check) times out likewise",
        "Remind customer 42 that the order is ready.",
        [Call("send_reminder", [REMINDER])],
        "The reminder is {status}.",
        "The reminder is sent.",
        [deed("send_reminder", **REMINDER)],
        {"send_reminder": ["slow"]},
    ),
    Task(
        "the model repeats itself in one turn",
        "Order 6 packets of TEA-1 for customer 42.",
        [Call("create_order", [order(6)], times=2)],
        "The order is {status}.",
        "The order is open.",
        [deed("create_order", **order(6))],
    ),
    Task(
        "the user wants the same thing twice",
        "Send customer 42 two equal reminders that the order is ready.",
        [Call("send_reminder", [REMINDER], times=2, is_repeated_on_purpose=True)],
        "Both reminders are {status}.",
        "Both reminders are sent.",
        [deed("send_reminder", **REMINDER)] * 2,
    ),
    Task(
        "404: nobody can help",
        "What is the total of order 9?",
        [Call("get_order", [{"order_id": 9}])],
        "It is {total}.",
        "(impossible: there is no such order)",
    ),
]
