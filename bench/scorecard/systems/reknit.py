"""Reknit: `reknit agent` with a configuration and an agent file, or `reknit run` with a plan where the developer writes the program."""

import json
import os
import subprocess

from scenario import HELPER
from world.catalogue import TOOLS

from . import DECIDE, LIMIT, MODEL_LIMIT, Cell, Outcome, System
from .reknit_plan import answer_of, plan_of

CONFIGURATION = """
[log]
level = "off"
"""

TOOLS_OF_THE_PROTOCOL = """
[[tools]]
name = "shop"
url = "{service}"
time = "{limit}s"
"""

# A tool of which nothing is declared is no tool of our protocol.
UNDECLARED = """
[[http]]
name = "office"
capability = "{name}"
description = "{description}"
url = "{service}"
method = "POST"
path = "/api/capabilities/{name}"
time = "{limit}s"
schema = "{name}.json"
body = {{ {body} }}
"""

MODEL = """
[[models]]
name = "{name}"
url = "{models}/{name}/v1"
model = "scripted"
streaming = {streaming}
connect-time = "{limit}s"
first-token-time = "{limit}s"
idle-time = "{limit}s"
total-time = "{limit}s"
"""

CHECK = """
[[checks]]
of = "shop/{tool}"
call = "shop/{check}"
parameters = {{ {parameter} = "{{{{call.{parameter}}}}}" }}
happened = "len(reply.{items}) > 0"
result = "reply.{items}[0]"
"""

CONFIRM = """
[[confirm]]
capability = "shop/{tool}"
verify = "shop/{check}"
with = {{ {parameter} = "{{{{result.{parameter}}}}}" }}
reply = "len(reply.{items}) > 0 and reply.{items}[0].status == 'done'"
"""

AGENT = """---
description: works in a shop
{tools}maxTurns: {turns}
llmTimeout: {limit} s
---
You work for a shop. Do what the user asks for with the tools.
"""

def path_of(name: str) -> str:
    return f"{'office' if TOOLS[name].effect == 'undeclared' else 'shop'}/{name}"


def question_of(value: dict) -> list[dict]:
    return [{"name": ask["capability"], "args": ask["parameters"]} for ask in value.get("asks") or [] if ask.get("kind") == "send_call"]


EXIT = {0: "done", 6: "waiting"}


class Reknit(System):
    name, label = "reknit", "Reknit"

    def __init__(self, program: str):
        self.program = program

    def version(self) -> str:
        return subprocess.run([self.program, "--version"], capture_output=True, text=True).stdout.strip()

    def prepare(self, cell: Cell) -> None:
        scenario = cell.scenario
        text = CONFIGURATION
        for tool in map(TOOLS.get, scenario.offered):
            if tool.effect == "undeclared":
                body = ", ".join(f'{name} = "{{{name}}}"' for name in tool.properties)
                text += UNDECLARED.format(name=tool.name, description=tool.description, service=cell.service, limit=LIMIT, body=body)
                (cell.folder / f"{tool.name}.json").write_text(json.dumps(tool.schema))
            elif "[[tools]]" not in text:
                text += TOOLS_OF_THE_PROTOCOL.format(service=cell.service, limit=LIMIT)
        for name in ("primary", "backup"):
            text += MODEL.format(name=name, models=cell.models, limit=MODEL_LIMIT, streaming=str(scenario.stream).lower())
        for tool in map(TOOLS.get, scenario.offered):
            if tool.check and tool.check[0] in scenario.offered:
                text += CHECK.format(tool=tool.name, check=tool.check[0], parameter=tool.check[1], items=tool.check[2])
                if scenario.is_confirmed:
                    text += CONFIRM.format(tool=tool.name, check=tool.check[0], parameter=tool.check[1], items=tool.check[2])
        for name in scenario.approve:
            text += f'\n[[approve]]\ncapability = "{path_of(name)}"\n'
        (cell.folder / "reknit.toml").write_text(text)
        self.write_agent(cell, "clerk", scenario, [HELPER + ".md"] if scenario.child else [])
        if scenario.child:
            self.write_agent(cell, HELPER, scenario.child, [])
        if scenario.program:
            (cell.folder / "plan.json").write_text(json.dumps(plan_of(scenario), indent=1))

    def write_agent(self, cell: Cell, name: str, scenario, agents: list[str]):
        names = [path_of(tool) for tool in scenario.own_tools]
        # An agent has all tools of the service unless it has a helper, or is one.
        tools = f"tools: {json.dumps(names)}\nagents: {json.dumps(agents)}\n" if cell.scenario.child else ""
        text = AGENT.format(tools=tools, turns=scenario.max_turns, limit=MODEL_LIMIT)
        (cell.folder / f"{name}.md").write_text(text)

    def command(self, cell: Cell, phase: str) -> tuple[list[str], dict[str, str]]:
        where = ["--config", str(cell.folder / "reknit.toml"), "--journal", str(cell.folder / "journal.db")]
        environment = {"PATH": os.environ["PATH"], "HOME": str(cell.folder), "REKNIT_FIND_MODEL": "false"}
        if phase == DECIDE:
            decision = ["approve", "cell"] if cell.scenario.decision == "approve" else ["reject", "cell", "--reason", "not today"]
            return [self.program, "runs", *decision, *where], environment
        if cell.scenario.program:
            work = ["run", str(cell.folder / "plan.json")]
        elif cell.scenario.plan:
            work = ["ask", cell.scenario.request]
        else:
            work = ["agent", str(cell.folder / "clerk.md"), cell.scenario.request]
        # The same id: a run that was killed, or that waited for a person, goes on.
        return [self.program, *work, "--run-id", "cell", "--json", "--quiet", *where], environment

    def outcome(self, cell: Cell, exit_status: int, stdout: str, stderr: str) -> Outcome:
        status = EXIT.get(exit_status, "reported")
        try:
            value = json.loads(stdout)
        except ValueError:
            return Outcome(status, error=stdout + stderr)
        answer = str(value.get("content") or value.get("answer") or "")
        if status == "done" and value.get("doubts"):
            # The caller is told that a figure of the answer has no source, also with `--quiet`.
            status = "reported"
        if cell.scenario.program and status == "done":
            answer = "DONE: " + answer_of(cell.scenario, value.get("outputs") or {})
        return Outcome(status, answer, stderr, question=question_of(value))
