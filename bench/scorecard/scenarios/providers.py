"""Faults of model servers. There are two of them, `primary` and `backup`; both can answer."""

from scenario import REPORTED, Call, Scenario

from .sources import AI_AGENT, issue

GET_ORDER = Call("get_order", [{"order_id": 7}])


def fault(id: str, title: str, source: str, faults: list[str], backup: list[str] | None = None, **more) -> Scenario:
    request = f"What is the total of order 7 ({id})?"
    faults = {"primary": faults, "backup": backup or []}
    return Scenario(id, title, source, request, [[GET_ORDER]], "It is {get_order.total}.", "It is 120.5.", model_faults=faults, **more)


SCENARIOS = [
    fault("model-429", "429 once, with a second to wait", AI_AGENT, ["429"]),
    fault("model-429-for-ever", "429 for ever, with ten minutes to wait", AI_AGENT, ["429-long..."]),
    fault("model-quota", "The quota is used up", issue("ivan-magda/swift-claw", 75), ["quota..."]),
    fault("model-500", "500 once", AI_AGENT, ["500"]),
    fault("model-503-for-ever", "503 for ever", AI_AGENT, ["503..."]),
    fault("model-529", "529 twice: overloaded", AI_AGENT, ["529", "529"]),
    fault("model-reset", "The connection is reset once", AI_AGENT, ["reset"]),
    fault("model-silent", "No answer for ever", issue("OpenHands/software-agent-sdk", 4997), ["silent..."]),
    fault("model-half", "The body ends in the middle, once", issue("anthropics/connect-rust", 140), ["half"]),
    fault("model-401", "The key is not valid", issue("usenotra/notra", 1094), ["401..."]),
    fault("model-404", "The model does not exist any more", issue("maximhq/bifrost", 3261), ["404..."]),
    fault("model-html", "The page of a proxy with status 200, once", AI_AGENT, ["html"]),
    fault("model-error-200", "An error inside a 200, once", issue("UKGovernmentBEIS/inspect_ai", 1534), ["error in 200"]),
    fault("model-no-choices", "No choices, once", issue("openai/openai-agents-python", 2850), ["no choices"]),
    fault("model-context", "The context window of the first model is too small", AI_AGENT, ["context..."]),
    fault("model-filter", "The content filter of the first provider refuses the request", AI_AGENT, ["filter..."]),
    fault("stream-cut", "A stream is cut, once", issue("preloop/preloop", 117), ["half"], stream=True),
    fault("stream-stall", "A stream stalls, once", issue("agent0ai/agent-zero", 1882), ["stall"], stream=True),
    fault("stream-bad-event", "An event of a stream is not JSON, once", AI_AGENT, ["bad event"], stream=True),
    fault("stream-no-end", "The stream of the last answer has no end mark", AI_AGENT, ["ok", "no end"], stream=True),
    fault("all-models-down", "Both servers fail for ever", AI_AGENT, ["503..."], ["503..."], best=REPORTED),
]  # fmt: skip
