"""What the scripted model says, decided from the conversation alone. It is the same for all systems.

- A result is JSON, also in a tag and below a line with the name of its tool in brackets. Any other text is an error to the model, whoever wrote it and however it is
  worded, and so is an object with nothing but an error, and one that says that a person has to approve the call first.
- After an error it writes the next arguments that the scenario has for this call. If there are none, it makes the same call again, twice at
  most, without waiting, whatever the error advises. Then it gives up and says so: an answer begins with `DONE:` or `FAILED:`.
- A model that claims makes no call twice, and says in the end that all is done. One that is early says so together with its first calls, too.
- A careful model also sees an `error` inside a result. It reads notes beside a result: if its user wants a call to be repeated and the note says
  that it was not, it makes the call once more and states why.

The id of a call says which call of the scenario it is, so that results are found whatever a system makes of the order of messages. If a system
replaces the ids by its own, it is the first call of the scenario with this tool and these arguments, or with this tool, that is not done yet.
"""

import json
import re
import uuid

RETRIES = 2
REPEAT_ARGUMENT = "repeat_reason"
REPORT_TOOL = "final_report"
PLACEHOLDER = re.compile(r"\{(\w+)\.(\w+)\}")
# An object with nothing but these is an error in JSON, as some frameworks show it.
ERROR_MEMBERS = {"error", "message", "code", "type", "status", "isError"}
# A result that a system shortened, because it is too long for the conversation.
SHORTENED = ("(stored as", "[cleared]")
TRUNCATED = re.compile(r"\[(Output )?truncated")
# Some systems write a tag and the name of the tool above a result.
HEADER = re.compile(r"\A\s*(<\w+>\s*)?\[\w+\]\n")
# A call that was not made, because a person has to approve it; it is made again after that.
NOT_APPROVED_YET = "tool_approval_required"
CALL_ID = re.compile(r"call_(\d+)_(\d+)_")


def text_of(message: dict) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def value_of(text: str) -> dict | None:
    """The JSON object with which a result begins."""
    try:
        value, _ = json.JSONDecoder().raw_decode(HEADER.sub("", text, count=1).strip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


class Conversation:
    """The texts that came back for each call of the scenario, by turn and place in the turn."""

    def __init__(self, scenario, messages: list[dict]):
        self.scenario = scenario
        self.found: dict[tuple[int, int], list[str]] = {}
        made = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or []}
        for message in messages:
            if message.get("role") == "tool" and (call := self.call_of(message.get("tool_call_id") or "", made)):
                self.found.setdefault(call, []).append(text_of(message))

    def call_of(self, id: str, made: dict[str, dict]) -> tuple[int, int] | None:
        if known := CALL_ID.search(id):
            return int(known[1]), int(known[2])
        function = made.get(id) or {}
        calls = [((number, place), call) for number, turn in enumerate(self.scenario.turns) for place, call in enumerate(turn)]
        same = [(where, call) for where, call in calls if call.tool == function.get("name")]
        equal = [(where, call) for where, call in same if parsed(function) in call.tries]
        undone = lambda some: [where for where, _ in some if where not in self.found or is_error(self.found[where][-1], self.scenario.careful)]
        return next(iter(undone(equal) + undone(same) + [where for where, _ in same]), None)


def parsed(function: dict) -> dict | None:
    try:
        return json.loads(function.get("arguments") or "{}")
    except ValueError:
        return None


def is_error(text: str, careful: bool) -> bool:
    if text.startswith(SHORTENED) or TRUNCATED.search(text):
        return False
    value = value_of(text)
    if value is None or value.get("error") is True or value.get("code") == NOT_APPROVED_YET or (value.get("error") and set(value) <= ERROR_MEMBERS):
        return True
    return careful and bool(value.get("error"))


class PlanPolicy:
    """A model that plans: it writes a plan in the form that the system asks for, and the answer once it sees what the last step returned."""

    def __init__(self, scenario):
        self.scenario = scenario

    def next_message(self, messages: list[dict], offered: list[str]) -> dict:
        text = json.dumps(messages)
        last = self.scenario.turns[-1][-1].tool
        if found := re.search(last + r"-\d+", text):
            return {"content": f"DONE: {self.scenario.answer.replace('{id}', found[0])}"}
        is_ours = "depends_on" in text
        plan = self.plan("{{%s.%s}}" if is_ours else "$%s.%s", is_ours)
        if is_ours or not offered:
            return {"content": json.dumps(plan)}
        function = {"name": offered[0], "arguments": json.dumps(plan)}
        return {"content": None, "tool_calls": [{"id": f"call_plan_{uuid.uuid4().hex[:8]}", "type": "function", "function": function}]}

    def plan(self, reference: str, is_ours: bool) -> dict:
        ids, steps, before = {}, [], []
        for number, turn in enumerate(self.scenario.turns):
            stage = []
            for place, call in enumerate(turn):
                id = f"step-{number}{place}"
                bind = lambda value: PLACEHOLDER.sub(lambda match: reference % (ids[match[1]], match[2]), value) if isinstance(value, str) else value
                parameters = {name: bind(value) for name, value in call.tries[0].items()}
                if is_ours:
                    metadata = {"capability": call.tool, "parameters": parameters}
                    steps.append({"step_id": id, "agent_name": "shop", "instruction": call.tool, "depends_on": before, "metadata": metadata})
                else:
                    steps.append({"id": id, "tool": call.tool, "parameters": parameters})
                ids[call.tool] = id
                stage.append(id)
            before = stage
        return {"steps": steps}


class Policy:
    def __init__(self, scenario):
        self.scenario = scenario

    def next_message(self, messages: list[dict], offered: list[str]) -> dict:
        """What the model says after this conversation, as a message of the API."""
        found, values = Conversation(self.scenario, messages).found, {}
        for number, turn in enumerate(self.scenario.turns):
            calls = []
            for place, call in enumerate(turn):
                texts = found.get((number, place), [])
                wanted, failure = self.wanted(call, texts)
                if failure and self.scenario.claims:
                    continue
                if failure:
                    return self.report("failure", f"FAILED: {failure}", offered)
                if wanted is None:
                    values[call.tool] = value_of(texts[-1]) or {}
                else:
                    times = 1 if texts else call.times
                    calls += [self.tool_call(number, place, call.tool, filled(wanted, values), offered) for _ in range(times)]
            if calls and self.scenario.early and not found:
                guess = self.report("success", "DONE: " + self.scenario.early, offered)
                return {"content": guess["content"], "tool_calls": calls + guess.get("tool_calls", [])}
            if calls:
                return {"content": None, "tool_calls": calls}
        return self.report("success", "DONE: " + filled(self.scenario.answer, values), offered)

    def wanted(self, call, texts: list[str]) -> tuple[dict | None, str | None]:
        """The arguments of the next attempt at a call, or why there is none. Neither: the call is done."""
        careful = self.scenario.careful
        if not texts:
            return call.tries[0], None
        failures = sum(is_error(text, careful) for text in texts)
        if not is_error(texts[-1], careful):
            is_unrepeated = call.is_repeated_on_purpose and REPEAT_ARGUMENT in texts[-1]
            return ({**call.tries[-1], REPEAT_ARGUMENT: "the user wants it twice"}, None) if is_unrepeated else (None, None)
        if failures < len(call.tries):
            return call.tries[failures], None
        if failures < len(call.tries) + (0 if self.scenario.claims else RETRIES):
            return call.tries[-1], None
        return None, texts[-1][:500]

    def tool_call(self, turn: int, place: int, tool: str, arguments: dict, offered: list[str]) -> dict:
        name = next((name for name in offered if name == tool or name.endswith("__" + tool)), tool)
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"id": f"call_{turn}_{place}_{uuid.uuid4().hex[:12]}", "type": "function", "function": function}

    def report(self, status: str, text: str, offered: list[str]) -> dict:
        """The last answer: plain text, or a call of the tool with which a system wants to be answered."""
        if tool := next((name for name in offered if name.endswith(REPORT_TOOL)), None):
            arguments = {"status": status, "report_format": "markdown", "report_content": text}
            function = {"name": tool, "arguments": json.dumps(arguments)}
            return {"content": None, "tool_calls": [{"id": f"call_report_{uuid.uuid4().hex[:8]}", "type": "function", "function": function}]}
        return {"content": text}


def filled(value, values: dict):
    """A value with its placeholders replaced by what the model has read."""
    if isinstance(value, dict):
        return {name: filled(item, values) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    if not isinstance(value, str):
        return value
    read = lambda match: values.get(match[1], {}).get(match[2], "unknown")
    if whole := PLACEHOLDER.fullmatch(value):
        return read(whole)
    return PLACEHOLDER.sub(lambda match: str(read(match)), value)
