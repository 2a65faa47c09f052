"""A shop, as a FastAPI service that is strict about its input and that fails as services do. It keeps the books of what it did.

usage: python service.py PORT

`POST /_bench/reset` starts a task: the books are empty, and the faults of that task are armed. `GET /_bench/books` returns the deeds.
Both are missing in the OpenAPI document, so neither side offers them as tools.
"""

import sys
import time
from enum import Enum
from typing import Annotated, Literal

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

# Longer than the time limit of both clients (LIMIT in compare.py).
SLOW = 4.0

app = FastAPI(title="shop", version="1")
books: list[dict] = []
receipts: dict[str, dict] = {}
faults: dict[str, list] = {}


class Input(BaseModel):
    """No conversion of types and no unknown members: what money is moved with is not guessed."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Currency(str, Enum):
    eur = "EUR"
    usd = "USD"
    krw = "KRW"


class Order(Input):
    customer_id: int
    sku: str
    quantity: Annotated[int, Field(gt=0)]


class Payment(Input):
    order_id: int
    amount: Annotated[float, Field(gt=0)]
    currency: Literal["EUR", "USD", "KRW"]


class Refund(Input):
    order_id: int
    amount: Annotated[float, Field(gt=0)]
    reason: str


class Transfer(Input):
    from_account: str
    to_account: str
    amount: Annotated[float, Field(gt=0)]


class Ticket(Input):
    customer_id: int
    title: str


class Reminder(Input):
    customer_id: int
    text: str


ORDERS = {
    7: {"order_id": 7, "customer_id": 42, "sku": "TEA-1", "total": 120.5, "currency": "EUR", "status": "open"},
    8: {"order_id": 8, "customer_id": 43, "sku": "CUP-2", "total": 18.0, "currency": "EUR", "status": "paid"},
}
BALANCES = {"main": 50.0, "savings": 900.0}


def fault(operation: str):
    """The fault of the next call of an operation, if one is armed."""
    armed = faults.get(operation, [])
    return armed.pop(0) if armed else None


def refuse(operation: str) -> Response | None:
    """The response of a call that fails before it has an effect."""
    match fault(operation):
        case "429":
            return JSONResponse({"detail": "Too many requests"}, 429, headers={"retry-after": "1"})
        case "500":
            return JSONResponse({"detail": "Internal Server Error"}, 500)
        case "503":
            return Response("<html><body><h1>503 Service Unavailable</h1></body></html>", 503, media_type="text/html")
        case "slow" as kind:
            faults[operation].insert(0, kind)
    return None


def do(operation: str, deed: dict, reply: dict, key: str | None = None) -> dict:
    """Does a deed, once for each key, and answers late if that is armed: the deed is done, and the caller does not know it."""
    if key is not None and key in receipts:
        return receipts[key]
    books.append({"operation": operation, **deed})
    reply = {"id": f"{operation}-{len(books)}", **reply}
    if key is not None:
        receipts[key] = reply
    if fault(operation) == "slow":
        time.sleep(SLOW)
    return reply


@app.get("/customers", operation_id="find_customer")
def find_customer(email: str):
    """Find a customer by e-mail address."""
    if email != "ann@example.com":
        raise HTTPException(404, f"no customer has the address {email}")
    return {"customer_id": 42, "name": "Ann", "email": email}


@app.get("/orders/{order_id}", operation_id="get_order")
def get_order(order_id: int):
    """An order with its total."""
    if (refused := refuse("get_order")) is not None:
        return refused
    if order_id not in ORDERS:
        raise HTTPException(404, f"there is no order {order_id}")
    return ORDERS[order_id]


@app.get("/stock/{sku}", operation_id="get_stock")
def get_stock(sku: str):
    """How many pieces of an article are in stock."""
    if (refused := refuse("get_stock")) is not None:
        return refused
    return {"sku": sku, "pieces": 314}


@app.get("/convert", operation_id="convert")
def convert(amount: float, to: Currency):
    """Convert an amount in euros to another currency."""
    if fault("convert") == "error-in-200":
        # The service behind this one is down, and the handler passes its page on as a result.
        return {"amount": amount, "to": to, "converted": 0.0, "error": "upstream rates service: connection refused"}
    return {"amount": amount, "to": to, "converted": amount * 1500}


@app.post("/orders", operation_id="create_order", status_code=201)
def create_order(order: Order):
    """Place an order."""
    if (refused := refuse("create_order")) is not None:
        return refused
    return do("create_order", order.model_dump(), {"status": "open"})


@app.post("/payments", operation_id="pay")
def pay(payment: Payment, idempotency_key: Annotated[str | None, Header()] = None):
    """Pay an order. Calls with the same Idempotency-Key are one payment."""
    if (refused := refuse("pay")) is not None:
        return refused
    return do("pay", payment.model_dump(), {"status": "paid", "amount": payment.amount}, idempotency_key)


@app.get("/refunds", operation_id="list_refunds")
def list_refunds(order_id: int):
    """The refunds of an order."""
    return {"items": [deed for deed in books if deed["operation"] == "create_refund" and deed["order_id"] == order_id]}


@app.post("/refunds", operation_id="create_refund")
def create_refund(refund: Refund):
    """Refund a part of an order or all of it."""
    return do("create_refund", refund.model_dump(), {"status": "refunded", "amount": refund.amount})


@app.post("/transfers", operation_id="transfer")
def transfer(order: Transfer):
    """Move money between two accounts."""
    if order.amount > BALANCES.get(order.from_account, 0.0):
        # A failure with the status of a success.
        return {"id": None, "from_account": order.from_account, "error": "insufficient funds"}
    return do("transfer", order.model_dump(), {"status": "done"})


@app.post("/tickets", operation_id="open_ticket")
def open_ticket(ticket: Ticket):
    """Open a ticket for the support team."""
    if (refused := refuse("open_ticket")) is not None:
        return refused
    return do("open_ticket", ticket.model_dump(), {"status": "open"})


@app.post("/reminders", operation_id="send_reminder")
def send_reminder(reminder: Reminder):
    """Send a reminder to a customer, as an e-mail."""
    return do("send_reminder", reminder.model_dump(), {"status": "sent"})


@app.post("/_bench/reset", include_in_schema=False)
def reset(armed: dict[str, list[str]]):
    books.clear()
    receipts.clear()
    faults.clear()
    faults.update(armed)


@app.get("/_bench/books", include_in_schema=False)
def read_books():
    return books


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
