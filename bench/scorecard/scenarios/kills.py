"""The process is killed (SIGKILL) at a certain moment, and started again with what its storage has. Effects are counted at the tool.

`before`: the call is not sent yet (the model server kills while it is asked for it). `unprocessed`: the call was sent, and nothing is done.
`effect`: it is done, and not answered. `answered`: it is answered, and the answer is not stored.
"""

from scenario import REPORTED, Call, Scenario

from .sources import issue

CRASH = issue("GEMISIS/leviath", 96)
REPLAY = issue("microsoft/agent-framework", 3938)
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
MAIL = {"to": "ann@example.com", "text": "Your order is ready."}
REFUND = {"order_id": 8, "amount": 18.0, "reason": "lost"}
TRANSFER = {"from_account": "main", "to_account": "savings", "amount": 20.0}
MOMENTS = {
    "unprocessed": ("kill", "after the call was sent, before it is processed"),
    "effect": ("kill-after", "after the effect, before the answer"),
    "answered": ("kill-replied", "after the answer, before it is stored"),
}


def killed(name: str, label: str, tool: str, arguments: dict, moment: str, **more) -> Scenario:
    fault, words = MOMENTS[moment]
    return Scenario(f"kill-{name}-{moment}", f"{label}: killed {words}", CRASH if moment != "answered" else REPLAY,
                    f"Do it ({name}, {moment}).", [[Call(tool, [arguments])]], f"It is {{{tool}.status}}.", "It is done.", [(tool, arguments)],
                    faults={tool: [fault]}, **more)  # fmt: skip


def killed_before(name: str, label: str, tool: str, arguments: dict) -> Scenario:
    return Scenario(f"kill-{name}-before", f"{label}: killed before the call is sent", CRASH, f"Do it ({name}, before).", [[Call(tool, [arguments])]],
                    f"It is {{{tool}.status}}.", "It is done.", [(tool, arguments)], kill_at_model_request=1)  # fmt: skip


KEYED = ("keyed", "A payment with a key", "pay", PAYMENT)
UNDECLARED = ("undeclared", "A mail of which nothing is known", "send_mail", MAIL)
UNSAFE = ("unsafe", "A transfer without a key", "transfer", TRANSFER)
CHECKED = ("checked", "A refund that can be looked up", "refund", REFUND)

SCENARIOS = [
    killed_before(*KEYED),
    *(killed(*KEYED, moment) for moment in MOMENTS),
    killed(*UNDECLARED, "unprocessed"),
    # Nobody can know whether the mail was sent: a report is as good as a success, as long as it was sent once.
    killed(*UNDECLARED, "effect", best=REPORTED),
    killed(*UNDECLARED, "answered", best=REPORTED),
    # The same for the transfer; a system that asks a person is right in every case.
    killed(*UNSAFE, "unprocessed", best=REPORTED),
    killed(*UNSAFE, "effect", best=REPORTED),
    killed(*UNSAFE, "answered", best=REPORTED),
    killed(*CHECKED, "effect", more_tools=["list_refunds"]),
    killed(*CHECKED, "answered", more_tools=["list_refunds"]),
    Scenario("kill-second-of-two", "Two payments in turn: killed after the effect of the second one", CRASH, "Book both entries.",
             [[Call("book_entry", [{"reference": 1, "amount": 5.0}])], [Call("book_entry", [{"reference": 2, "amount": 7.0}])]],
             "Both are {book_entry.status}.", "Both are done.",
             [("book_entry", {"reference": 1, "amount": 5.0}), ("book_entry", {"reference": 2, "amount": 7.0})],
             faults={"book_entry": ["ok", "kill-after"]}),
    Scenario("kill-parallel", "Two calls at once: killed after the effect of one, while the other one is done", issue("earendil-works/pi", 7053), "Pay order 7 and mail Ann.",
             [[Call("pay", [PAYMENT]), Call("get_stock", [{"sku": "TEA-1"}])]], "It is {pay.status}, {get_stock.pieces} are left.",
             "It is done, 314 are left.", [("pay", PAYMENT)], faults={"pay": ["kill-after"]}, latency={"pay": 0.3}),
    Scenario("kill-last-answer", "Killed while the model writes the last answer", CRASH, "Send the mail and say so.", [[Call("send_mail", [MAIL])]],
             "It is {send_mail.status}.", "It is done.", [("send_mail", MAIL)], kill_at_model_request=2),
    Scenario("kill-program", "A program of three calls: killed after the effect of the second one", REPLAY, "Pay order 7 and tell Ann.",
             [[Call("get_order", [{"order_id": 7}])], [Call("pay", [{"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}])],
              [Call("send_mail", [MAIL])]], "{send_mail.status}", "done", [("pay", PAYMENT), ("send_mail", MAIL)], faults={"pay": ["kill-after"]}, program=True),
]  # fmt: skip
