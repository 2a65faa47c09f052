"""Calls at the same time: how long they take beside the longest path, and what a failure of one does to the others."""

from scenario import REPORTED, Call, Scenario

from .sources import issue

SIBLINGS = issue("anthropics/claude-code", 64346)
SKUS = ["TEA-1", "CUP-2", "POT-3", "JAR-4", "TIN-5"]
STOCK = [Call("get_stock", [{"sku": sku}]) for sku in SKUS]
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}

SCENARIOS = [
    Scenario("five-at-once", "Five reads of 0.5 s in one turn", SIBLINGS, "How many pieces of each article are in stock?", [STOCK],
             "TIN-5: {get_stock.pieces}.", "TIN-5: 60.", latency={"get_stock": 0.5}, critical_path=0.5),
    Scenario("one-of-five-fails", "Five reads in one turn, one gets a 503 once", issue("openai/openai-agents-python", 2584),
             "How many pieces of each article are there?", [STOCK], "TIN-5: {get_stock.pieces}.", "TIN-5: 60.", faults={"get_stock": ["ok", "503"]}),
    Scenario("one-of-two-is-impossible", "A payment and a read that cannot succeed, in one turn", issue("earendil-works/pi", 7053),
             "Pay order 7 and get order 9.", [[Call("pay", [PAYMENT]), Call("get_order", [{"order_id": 9}])]], "{pay.status}", "",
             [("pay", PAYMENT)], best=REPORTED),
    Scenario("rate-limited", "Five reads in one turn, three get a 429", SIBLINGS, "How many pieces of each article do we have?", [STOCK],
             "TIN-5: {get_stock.pieces}.", "TIN-5: 60.", faults={"get_stock": ["429"] * 3}, critical_path=1.0),
    Scenario("program-diamond", "A program: one read, three reads of 0.5 s at once, one write", SIBLINGS, "Collect and pay.",
             [[Call("get_order", [{"order_id": 7}])],
              [Call("get_stock", [{"sku": "TEA-1"}]), Call("get_price", [{"sku": "TEA-1"}]), Call("get_weather", [{"location": "Seoul"}])],
              [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
             "{pay.status}", "done", [("pay", PAYMENT)], latency={"get_stock": 0.5, "get_price": 0.5, "get_weather": 0.5}, critical_path=0.5, program=True),
    Scenario("program-faults", "The same program; a read gets a 503, and the payment is cut off after its effect", issue("stripe/ai", 402), "Collect, then pay.",
             [[Call("get_order", [{"order_id": 7}])], [Call("get_stock", [{"sku": "TEA-1"}]), Call("get_price", [{"sku": "TEA-1"}])],
              [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])]],
             "{pay.status}", "done", [("pay", PAYMENT)], faults={"get_stock": ["503"], "pay": ["reset-after"]}, program=True),
    Scenario("program-wrong-type", "A program whose value has the wrong type: a text where a number is wanted", issue("jerichosequitin/metabase-mcp", 39), "Order from a form.",
             [[Call("create_order", [{"customer_id": "42", "sku": "TEA-1", "quantity": "2"}])]], "{create_order.status}", "done",
             [("create_order", {"customer_id": 42, "sku": "TEA-1", "quantity": 2})], program=True),
]  # fmt: skip
