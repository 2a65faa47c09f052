"""Calls that a model writes in a damaged form, under a wrong name, as text, or twice."""

from scenario import Call, Scenario

from .sources import AI_AGENT, issue

GET_ORDER = Call("get_order", [{"order_id": 7}])
ORDER = {"customer_id": 42, "sku": "TEA-1", "quantity": 6}
MAIL = {"to": "ann@example.com", "text": "Your order is ready."}


def damaged(id: str, title: str, source: str, kind: str, **more) -> Scenario:
    """The first answer of the model is damaged; if it is asked again, it answers well."""
    request = f"What is the total of order 7 ({id})?"
    return Scenario(id, title, source, request, [[GET_ORDER]], "It is {get_order.total}.", "It is 120.5.", damage={1: kind}, **more)


def damaged_write(id: str, title: str, source: str, kind: str) -> Scenario:
    turns = [[Call("create_order", [ORDER])]]
    return Scenario(id, title, source, f"Order 6 packets of TEA-1 for customer 42 ({id}).", turns, "The order is {create_order.status}.",
                    "The order is done.", [("create_order", ORDER)], damage={1: kind})  # fmt: skip


SCENARIOS = [
    damaged("trailing-comma", "Arguments with a trailing comma", issue("yigit353/langchain-qwq", 30), "trailing comma"),
    damaged("python-literal", "Arguments as a Python literal", issue("waybarrios/vllm-mlx", 63), "python literal"),
    damaged("arguments-in-fence", "Arguments in a Markdown fence", issue("earendil-works/pi", 8858), "fence around arguments"),
    damaged("comment", "Arguments with a comment", issue("OpenHands/software-agent-sdk", 2488), "comment in arguments"),
    damaged("twice-encoded", "Arguments encoded as JSON twice", issue("tailcallhq/forgecode", 2764), "arguments twice encoded"),
    damaged("concatenated", "The same arguments twice, without a separator", issue("BerriAI/litellm", 40582), "arguments twice"),
    damaged("envelope", "Arguments inside a member `arguments`", issue("huggingface/smolagents", 962), "envelope"),
    damaged_write("cut-arguments", "The answer is cut within the arguments of a write", issue("NousResearch/hermes-agent", 7680), "cut call"),
    damaged("unknown-tool", "A tool that does not exist", issue("zed-industries/zed", 29946), "unknown tool"),
    damaged("tool-with-prefix", "The name of a tool with a prefix", issue("NousResearch/hermes-agent", 8993), "name with a prefix"),
    damaged("tool-in-camel-case", "The name of a tool in another case", issue("gptscript-ai/gptscript", 656), "name in another case"),
    damaged("call-in-tags", "The call is text between tags", issue("NousResearch/hermes-agent", 35129), "call in tags"),
    damaged("call-in-fence", "The call is text in a Markdown fence", issue("agent0ai/agent-zero", 1829), "call in a fence"),
    damaged("finish-stop", "A call, and `stop` as the reason of the end", issue("TheAgentCompany/TheAgentCompany", 1078), "stop instead of tool_calls"),
    Scenario("no-arguments", "An empty text as arguments of a tool without parameters", issue("agno-agi/agno", 2640), "How many orders are open?",
             [[Call("list_orders", [{}])]], "There are {list_orders.count}.", "There are 2.", damage={1: "no arguments"}),
    Scenario("twice-in-a-turn", "The same order twice in one turn", issue("lmstudio-ai/lmstudio-bug-tracker", 1756),
             "Order 6 packets of TEA-1 for customer 42.", [[Call("create_order", [ORDER], times=2)]], "The order is {create_order.status}.",
             "The order is done.", [("create_order", ORDER)]),
    Scenario("again-in-next-turn", "The same order once more in the next turn", issue("vercel/ai", 7261),
             "Order 6 packets of TEA-1 for customer 42, please.", [[Call("create_order", [ORDER])], [Call("create_order", [ORDER])]],
             "The order is {create_order.status}.", "The order is done.", [("create_order", ORDER)]),
    Scenario("twice-on-purpose", "The user wants the same mail twice", AI_AGENT, "Send ann@example.com two equal mails that the order is ready.",
             [[Call("send_mail", [MAIL])], [Call("send_mail", [MAIL], is_repeated_on_purpose=True)]], "Both are {send_mail.status}.", "Both are done.",
             [("send_mail", MAIL)] * 2),
]  # fmt: skip
