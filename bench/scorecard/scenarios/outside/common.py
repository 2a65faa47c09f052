"""What several modules use."""

# What a person says who does not approve. The form gives only the default, `approve`; change it here if the player has another word.
REJECT = "reject"
ORDER = {"customer_id": 42, "sku": "TEA-1", "quantity": 2}
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
MOVE = {"from_account": "savings", "to_account": "main", "amount": 100.0}
MAIL = {"to": "ada@example.com", "text": "Your parcel is on its way."}
TICKET = {"title": "Printer", "text": "The label printer of desk 4 is broken."}
