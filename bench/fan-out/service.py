"""A shop that refunds orders, and that fails as services do. It counts what it did.

usage: python service.py PORT

`POST /_bench/reset` with `{"orders": 1000, "faults": true}` starts a measurement: nothing is refunded. `GET /_bench/deeds` returns how often each
order was refunded, with the amount and the currency of the last refund. A request with an `Idempotency-Key` that is known is answered again, and does nothing.

Faults, by the number of the order. Each but the first happens once for an order:
  3, 13, ...  the currency is written in small letters, which the service rejects with 422 and the allowed values
  5, 15, ...  429 with `Retry-After: 1`
  7, 17, ...  503
  9, 19, ...  the order is refunded, and the connection is dropped before the answer
"""

import sys

from aiohttp import web

CURRENCIES = ["EUR", "USD"]
state = {"orders": 0, "faults": False, "deeds": {}, "receipts": {}, "failed": set()}


def order(number):
    currency = CURRENCIES[number % 2]
    is_sloppy = state["faults"] and number % 10 == 3
    return {"id": number, "total": number + 0.25, "currency": currency.lower() if is_sloppy else currency, "status": "lost"}


def fails_once(number, digit):
    """Whether this is the first call for an order with this last digit."""
    if not state["faults"] or number % 10 != digit or number in state["failed"]:
        return False
    state["failed"].add(number)
    return True


def error(status, code, message, details=None, headers=None):
    body = {"success": False, "error": {"code": code, "message": message, "details": details or {}}}
    return web.json_response(body, status=status, headers=headers)


async def capabilities(_request):
    field = lambda name, kind: {"name": name, "type": kind}
    refund = {"required": [field("id", "integer"), field("amount", "number"), field("currency", "string")]}
    return web.json_response([
        {"name": "list_orders", "description": "lists the lost orders", "effect": "read"},
        {"name": "refund", "description": "refunds an order", "effect": "keyed", "input_summary": refund},
    ])


async def list_orders(_request):
    return web.json_response({"success": True, "data": {"items": [order(n) for n in range(state["orders"])]}})


async def refund(request):
    call = await request.json()
    key, number = request.headers.get("Idempotency-Key"), call["id"]
    if key in state["receipts"]:
        return web.json_response(state["receipts"][key])
    if call["currency"] not in CURRENCIES:
        message = f"currency must be one of {', '.join(CURRENCIES)}"
        return error(422, "INVALID_CURRENCY", message, {"field": "currency", "allowed": CURRENCIES})
    if fails_once(number, 5):
        return error(429, "RATE_LIMIT", "too many requests", headers={"Retry-After": "1"})
    if fails_once(number, 7):
        return error(503, "UNAVAILABLE", "the service is restarting")
    is_dropped = fails_once(number, 9)
    count, _, _ = state["deeds"].get(number, (0, 0, ""))
    state["deeds"][number] = (count + 1, call["amount"], call["currency"])
    receipt = {"success": True, "data": {"id": number, "refunded": call["amount"]}}
    if key is not None:
        state["receipts"][key] = receipt
    if is_dropped:
        request.transport.abort()
    return web.json_response(receipt)


async def reset(request):
    wanted = await request.json()
    state.update(wanted, deeds={}, receipts={}, failed=set())
    return web.Response()


async def deeds(_request):
    return web.json_response({str(number): deed for number, deed in state["deeds"].items()})


app = web.Application()
app.add_routes([
    web.get("/api/capabilities", capabilities),
    web.post("/api/capabilities/list_orders", list_orders),
    web.post("/api/capabilities/refund", refund),
    web.post("/_bench/reset", reset),
    web.get("/_bench/deeds", deeds),
])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
