"""Plans that a model writes at once, and gets wrong: damaged JSON, unknown tools, references to nothing, cycles, and wrong types."""

from scenario import Call, Scenario

from .sources import GOMIND, issue

PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
PAY = {"order_id": 7, "amount": "{get_order.total}", "currency": "EUR"}


def plan(id: str, title: str, source: str, kind: str | None, pay: dict = PAY) -> Scenario:
    """A plan of two steps: a read, and a payment of what it returned. If the model is asked again, its plan is right."""
    turns = [[Call("get_order", [{"order_id": 7}])], [Call("pay", [pay])]]
    return Scenario(id, title, source, f"Pay order 7 ({id}).", turns, "Paid as {id}.", "Paid as pay-1.", [("pay", PAYMENT)],
                    damage={1: kind} if kind else {}, plan=True)  # fmt: skip


SCENARIOS = [
    plan("plan-plain", "Nothing goes wrong", GOMIND, None),
    plan("plan-in-fence", "The plan is in a fence, with words around it", GOMIND, "plan in a fence"),
    plan("plan-comma", "The plan has a trailing comma", GOMIND, "plan with a comma"),
    plan("plan-python", "The plan is a Python literal", issue("waybarrios/vllm-mlx", 63), "plan in Python"),
    plan("plan-cut", "The plan is cut", GOMIND, "plan cut"),
    plan("plan-unknown-tool", "A step has a tool that does not exist", GOMIND, "plan with an unknown tool"),
    plan("plan-wrong-reference", "A step refers to a step that does not exist", GOMIND, "plan with a wrong reference"),
    plan("plan-bare-reference", "A reference is written without its marks", GOMIND, "plan with a bare reference"),
    plan("plan-cycle", "The steps wait for each other", GOMIND, "plan with a cycle"),
    plan("plan-numbers-as-text", "Numbers in the plan are strings", GOMIND, None, {**PAY, "order_id": "7"}),
]  # fmt: skip
