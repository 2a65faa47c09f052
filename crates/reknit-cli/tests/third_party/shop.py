"""A service that knows nothing of Reknit: FastAPI with its own `/openapi.json`."""

from typing import Annotated, Literal

from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field, WithJsonSchema

app = FastAPI(title="Shop")

# The service is stricter than its description, so that only its 422 tells what it wants.
Currency = Annotated[Literal["EUR", "USD"], WithJsonSchema({"type": "string"})]


def check(token=Depends(HTTPBearer())):
    if token.credentials != "shop-secret-1":
        raise HTTPException(401, "wrong token")


class Order(BaseModel):
    item: str
    quantity: int = Field(gt=0)
    currency: Currency


orders = {}


@app.get("/quote/{item_id}", operation_id="quote")
def quote(item_id: int, currency: Currency):
    """The price of an item."""
    return {"item": f"item-{item_id}", "price": 12.5, "currency": currency}


@app.post("/orders", operation_id="order", dependencies=[Depends(check)], status_code=201)
def order(order: Order, idempotency_key: str = Header()):
    if idempotency_key not in orders:
        orders[idempotency_key] = {"order_id": f"o-{len(orders) + 1}", **order.model_dump()}
    return orders[idempotency_key]
