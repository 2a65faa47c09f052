"""The tools of all scenarios: what they are called with, and what a call changes.

`effect` is what the owner of the service says in its documentation. `keyed` tools honour the header `Idempotency-Key`; `undeclared` ones say nothing.
Every system gets the same facts.
"""

from dataclasses import dataclass

TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}
AMOUNT = {"type": "number", "exclusiveMinimum": 0}
CURRENCY = {"type": "string", "enum": ["EUR", "USD", "KRW"]}
ADDRESS = {
    "type": "object",
    "properties": {"street": TEXT, "zip_code": TEXT},
    "required": ["street", "zip_code"],
    "additionalProperties": False,
}


@dataclass
class Tool:
    name: str
    description: str
    effect: str
    properties: dict[str, dict]
    optional: tuple[str, ...] = ()
    # The tool that tells whether a call took effect, the parameter that it needs, and the list in its result.
    check: tuple[str, str, str] | None = None

    @property
    def schema(self) -> dict:
        required = [name for name in self.properties if name not in self.optional]
        return {"type": "object", "properties": self.properties, "required": required, "additionalProperties": False}


DATE = {"type": "string", "description": "YYYY-MM-DD"}
UNIT = {"type": "string", "enum": ["celsius", "fahrenheit"]}
TAGS = {"type": "array", "items": TEXT}
REASON = {"type": "string", "enum": ["no longer needed", "ordered by mistake"]}

TOOLS = {
    tool.name: tool
    for tool in (
        Tool("get_order", "An order with its total.", "read", {"order_id": INTEGER}),
        Tool("list_orders", "The orders that are open.", "read", {}),
        Tool("get_stock", "How many pieces of an article are in stock.", "read", {"sku": TEXT}),
        Tool("get_price", "The price of an article in euros.", "read", {"sku": TEXT}),
        Tool("get_weather", "The weather at a place.", "read", {"location": TEXT, "unit": UNIT}, ("unit",)),
        Tool("get_quote", "The price of a share in US dollars.", "read", {"symbol": TEXT}),
        Tool("convert", "Converts an amount in euros to another currency.", "read", {"amount": NUMBER, "to": CURRENCY}),
        Tool("search_flights", "Flights on a day.", "read", {"origin": TEXT, "destination": TEXT, "date": DATE}),
        Tool("get_log", "The log of a day.", "read", {"day": DATE}),
        Tool("list_refunds", "The refunds of an order.", "read", {"order_id": INTEGER}),
        Tool(
            "create_order",
            "Places an order.",
            "keyed",
            {
                "customer_id": INTEGER,
                "sku": TEXT,
                "quantity": {"type": "integer", "exclusiveMinimum": 0},
                "express": {"type": "boolean"},
                "tags": TAGS,
                "address": ADDRESS,
            },
            ("express", "tags", "address"),
        ),
        Tool("pay", "Pays an order.", "keyed", {"order_id": INTEGER, "amount": AMOUNT, "currency": CURRENCY}),
        Tool("book_entry", "Enters a reference into the books.", "keyed", {"reference": INTEGER, "amount": NUMBER}),
        Tool(
            "refund",
            "Refunds an order.",
            "unsafe",
            {"order_id": INTEGER, "amount": AMOUNT, "reason": TEXT},
            check=("list_refunds", "order_id", "items"),
        ),
        Tool("transfer", "Moves money between two accounts.", "unsafe", {"from_account": TEXT, "to_account": TEXT, "amount": AMOUNT}),
        Tool("send_mail", "Sends an e-mail.", "undeclared", {"to": TEXT, "text": TEXT}),
        Tool("get_balance", "The balance of an account, as it is now.", "read", {"account": TEXT}),
        Tool("list_customers", "The customers, three on a page.", "read", {"page": INTEGER}, ("page",)),
        Tool("read_note", "The text of a note that somebody left.", "read", {"note_id": INTEGER}),
        Tool("run_check", "Runs the checks of a shop system and counts those that failed.", "read", {"system": TEXT}),
        Tool("open_ticket", "Opens a ticket for the support team.", "unsafe", {"title": TEXT, "text": TEXT}),
        Tool("cancel_order", "Cancels an order that is open.", "unsafe", {"order_id": INTEGER, "reason": REASON}),
    )
}
