"""Arguments that a model writes wrongly: types, spelling, values, units, and values that only the service can judge."""

from scenario import DONE, REPORTED, Call, Scenario

from .sources import GOMIND, issue

ORDER = {"customer_id": 42, "sku": "TEA-1", "quantity": 2}
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
GET_ORDER = Call("get_order", [{"order_id": 7}])


def order(id: str, title: str, source: str, wrong: dict, right: dict = ORDER, **more) -> Scenario:
    """The model places an order with wrong arguments first, and with right ones after an error."""
    request = f"Place the order ({id})."
    call = Call("create_order", [wrong, right])
    return Scenario(id, title, source, request, [[call]], "The order is {create_order.status}.", "The order is done.", [("create_order", right)], **more)


def payment(id: str, title: str, source: str, tries: list[dict], **more) -> Scenario:
    """The model looks at an order and pays it."""
    turns = [[GET_ORDER], [Call("pay", tries)]]
    return Scenario(id, title, source, f"Pay order 7 ({id}).", turns, "It is {pay.status}.", "It is done.", [("pay", PAYMENT)], **more)


SCENARIOS = [
    Scenario("plain", "Nothing goes wrong", "the base line", "What is the total of order 7?", [[GET_ORDER]],
             "It is {get_order.total}.", "It is 120.5."),
    order("numbers-as-text", "Numbers are written as strings", issue("arcprize/ARC-AGI-3-Agents", 98),
          {"customer_id": "42", "sku": "TEA-1", "quantity": "2"}),
    order("number-with-decimals", "An integer is written as 2.0", issue("tontinton/maki", 142), {**ORDER, "quantity": 2.0}),
    order("thousands", "A number has a thousands separator", issue("use-agent-os/agent-os", 3001),
          {**ORDER, "quantity": "1,000"}, {**ORDER, "quantity": 1000}),
    order("camel-case", "A field is spelt in another case", issue("taylorwilsdon/google_workspace_mcp", 921),
          {"customerId": 42, "sku": "TEA-1", "quantity": 2}),
    order("nested-key", "A key inside an object is spelt in another case", issue("langchain-ai/langchain-mcp-adapters", 277),
          {**ORDER, "address": {"street": "Main Street 1", "zipCode": "10115"}},
          {**ORDER, "address": {"street": "Main Street 1", "zip_code": "10115"}}),
    order("invented-field", "A field is invented", issue("ChromeDevTools/chrome-devtools-mcp", 1940), {**ORDER, "notify_customer": True}),
    order("missing-field", "A required field is missing", issue("montycloud/moya", 22), {"customer_id": 42, "sku": "TEA-1"}),
    order("null-optional", "An optional field is null", issue("netclaw-dev/netclaw", 1398), {**ORDER, "express": None, "tags": None}, ORDER),
    order("yes-for-true", "A boolean is a word", issue("netclaw-dev/netclaw", 1398), {**ORDER, "express": "yes"}, {**ORDER, "express": True}),
    order("list-as-text", "A list is written as JSON in a string", issue("AtomicBot-ai/atomic-agent", 182),
          {**ORDER, "tags": '["gift", "fragile"]'}, {**ORDER, "tags": ["gift", "fragile"]}),
    order("object-as-text", "An object is written as JSON in a string", issue("pydantic/pydantic-ai", 5259),
          {**ORDER, "address": '{"street": "Main Street 1", "zip_code": "10115"}'},
          {**ORDER, "address": {"street": "Main Street 1", "zip_code": "10115"}}),
    order("scalar-for-list", "One text where a list is wanted", issue("osaurus-ai/osaurus", 2638), {**ORDER, "tags": "gift"}, {**ORDER, "tags": ["gift"]}),
    payment("enum-case", "A value of an enumeration in lower case", issue("margince/margince", 417), [{**PAYMENT, "currency": "eur"}, PAYMENT]),
    payment("enum-word", "A value of an enumeration in other words", issue("margince/margince", 417), [{**PAYMENT, "currency": "Euro"}, PAYMENT]),
    payment("placeholder-zero", "`amount: 0` as a placeholder, which the service refuses", GOMIND,
            [{**PAYMENT, "amount": 0}, {**PAYMENT, "amount": "{get_order.total}"}]),
    payment("cents", "The amount is in cents; the service says what it may be at most", GOMIND, [{**PAYMENT, "amount": 12050}, PAYMENT]),
    payment("two-mistakes", "Two mistakes, which the model corrects one by one", GOMIND,
            [{"order_id": "7", "amount": "120.50", "currency": "EURO"}, {"order_id": 7, "amount": "120.50", "currency": "EURO"}, PAYMENT]),
    payment("model-learns-nothing", "The model repeats a wrong spelling, whatever the error says", issue("embabel/embabel-agent", 2011),
            [{**PAYMENT, "currency": "eur"}]),
    Scenario("zero-accepted", "`amount: 0` as a placeholder, which the service accepts", GOMIND, "How much is the total of order 7 in won?",
             [[GET_ORDER], [Call("convert", [{"amount": 0, "to": "KRW"}])]], "It is {convert.converted} won.", "It is 180750.0 won.", best=DONE),
    Scenario("date-format", "A date in another format; the error names the right one", issue("HKUDS/AI-Trader", 96),
             "Find a flight from BER to ICN on 31 March 2026.",
             [[Call("search_flights", [{"origin": "BER", "destination": "ICN", "date": "31.03.2026"},
                                       {"origin": "BER", "destination": "ICN", "date": "2026-03-31"}])]],
             "Take {search_flights.best}.", "Take KE906."),
    Scenario("unknown-value", "An article that does not exist; the error suggests one", GOMIND, "How many TEA-1 are in stock?",
             [[Call("get_stock", [{"sku": "TEA1"}, {"sku": "TEA-1"}])]], "There are {get_stock.pieces}.", "There are 314."),
    Scenario("big-number", "A reference with 19 digits must arrive digit by digit", issue("oceanbase/powercontext", 91),
             "Book 5 euros under the reference 9007199254740993127.",
             [[Call("book_entry", [{"reference": 9007199254740993127, "amount": 5.0}])]], "It is {book_entry.status}.", "It is done.",
             [("book_entry", {"reference": 9007199254740993127, "amount": 5.0})]),
    Scenario("impossible", "The order does not exist, and nothing helps", GOMIND, "What is the total of order 9?",
             [[Call("get_order", [{"order_id": 9}])]], "It is {get_order.total}.", best=REPORTED),
]  # fmt: skip
