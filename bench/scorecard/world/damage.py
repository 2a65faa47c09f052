"""Damage of what a model writes, each of a kind that people report. `apply` takes the message that the scripted model wanted to write.

Returns the message and the reason why it ended (`finish_reason`).
"""

import copy
import json
import re


def apply(kind: str, message: dict) -> tuple[dict, str]:
    message = copy.deepcopy(message)
    calls = message.get("tool_calls") or []
    reason = "tool_calls" if calls else "stop"
    for call in calls:
        function = call["function"]
        function["arguments"] = damaged_arguments(kind, function["arguments"])
        function["name"] = damaged_name(kind, function["name"])
    match kind:
        case "cut call" | "cut answer":
            if message.get("content"):
                message["content"] = message["content"][: len(message["content"]) // 2]
            reason = "length"
        case "empty":
            message, reason = {"content": ""}, "stop"
        case "only reasoning":
            message, reason = {"content": None, "reasoning_content": "The user wants a call. I should make it."}, "stop"
        case "announcement":
            message, reason = {"content": "Let me look that up for you."}, "stop"
        case "call in tags":
            message, reason = {"content": in_text(calls, "<tool_call>\n", "\n</tool_call>")}, "stop"
        case "call in a fence":
            message, reason = {"content": in_text(calls, "```json\n", "\n```")}, "stop"
        case "bare call":
            message, reason = {"content": in_text(calls, "", "").replace('"arguments"', '"parameters"', 1)}, "stop"
        case "pythonic call":
            message, reason = {"content": pythonic(calls)}, "stop"
        case "same call repeated" if calls:
            message["tool_calls"] = [*calls, *copy.deepcopy(calls)]
        case "arguments as an object":
            for call in calls:
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        case "refusal":
            message, reason = {"content": None, "refusal": "I cannot help with that."}, "stop"
        case "content filter":
            message, reason = {"content": ""}, "content_filter"
        case "invented":
            message, reason = said(message, "DONE: 99.")
        case "plan in a fence":
            message = in_content(message, lambda text: f"Sure! Here is the plan:\n```json\n{text}\n```\nShall I go on?")
        case "plan with a comma" | "plan in Python" | "plan cut":
            message = in_content(message, lambda text: damaged_arguments(PLAN_DAMAGE[kind], text))
            reason = "length" if kind == "plan cut" else reason
        case "plan with an unknown tool" | "plan with a wrong reference" | "plan with a cycle" | "plan with a bare reference":
            message = in_content(message, lambda text: wrong_plan(kind, text))
        case "stop instead of tool_calls":
            reason = "stop"
    return message, reason


PLAN_DAMAGE = {"plan with a comma": "trailing comma", "plan in Python": "python literal", "plan cut": "cut call"}


def in_content(message: dict, change) -> dict:
    """Changes the text of a plan, which is the content or the arguments of a call."""
    for call in message.get("tool_calls") or []:
        call["function"]["arguments"] = change(call["function"]["arguments"])
    if message.get("content"):
        message["content"] = change(message["content"])
    return message


def wrong_plan(kind: str, text: str) -> str:
    """A plan that is well-formed and wrong: in its first or its last step."""
    match kind:
        case "plan with an unknown tool":
            return text.replace('"get_order"', '"fetch_order"')
        case "plan with a wrong reference":
            return text.replace("step-00.total", "step-99.total")
        case "plan with a bare reference":
            return text.replace("{{step-00.total}}", "step-00.total").replace("$step-00.total", "step-00.total")
    plan = json.loads(text)
    first, last = plan["steps"][0], plan["steps"][-1]
    if "metadata" in first:
        first["depends_on"] = [last["step_id"]]
    else:
        first["parameters"]["order_id"] = f"${last['id']}.order_id"
    return json.dumps(plan)


def said(message: dict, text: str) -> tuple[dict, str]:
    """The model answers at once, without a call, with something that it has not read anywhere."""
    del message
    return {"content": text}, "stop"


def damaged_name(kind: str, name: str) -> str:
    match kind:
        case "unknown tool":
            return name + "_v2"
        case "name with a prefix":
            return "functions." + name
        case "name with a tail":
            return name + '" />'
        case "name in another case":
            head, _, tail = name.rpartition("__")
            camel = re.sub(r"_(\w)", lambda match: match[1].upper(), tail)
            return f"{head}__{camel}" if head else camel
    return name


def damaged_arguments(kind: str, text: str) -> str:
    value = json.loads(text)
    match kind:
        case "trailing comma":
            return text[:-1] + ",}"
        case "python literal":
            return repr(value)
        case "fence around arguments":
            return f"```json\n{text}\n```"
        case "cut call" | "cut call with the wrong reason":
            return text[: max(1, len(text) * 2 // 3)]
        case "arguments twice encoded":
            return json.dumps(text)
        case "arguments twice":
            return text + text
        case "comment in arguments":
            return text[:-1] + " // as the user asked\n}"
        case "no arguments":
            return ""
        case "envelope":
            return json.dumps({"arguments": value})
    return text


def pythonic(calls: list[dict]) -> str:
    """Calls as a list in Python, as some models write them."""
    arguments = lambda function: ", ".join(f"{name}={value!r}" for name, value in json.loads(function["arguments"]).items())
    return "[" + ", ".join(f"{call['function']['name']}({arguments(call['function'])})" for call in calls) + "]" if calls else ""


def in_text(calls: list[dict], before: str, after: str) -> str:
    if not calls:
        return ""
    function = calls[0]["function"]
    call = {"name": function["name"], "arguments": json.loads(function["arguments"])}
    return before + json.dumps(call) + after
