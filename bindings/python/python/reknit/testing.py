"""Tests of plans and agents: scripted models and tools, and assertions in the words of a test file.

    def test_a_refund_is_sent_again(scripted):
        scripted.tool("bank/refund", "keyed", ToolError("busy", category="SERVICE_ERROR", retryable=True), {"id": "r-7"})
        run = scripted.run_plan("steps: [{id: pay, tool: bank/refund, with: {order: 7}}]")
        run.expect(status="complete", mended=[{"step": "pay", "by": "resend"}])

`scripted` is a fixture of pytest, which the package brings along. Without pytest, use `Scripted` itself, and call `check_used` in the end.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from .runner import Run, Runner
from .tools import Tool, ToolError

REPORT_TOOL = "agent__final_report"
"""The tool with which an agent writes its report."""


class _Script:
    """Answers in order; a call after the last one fails."""

    def __init__(self, name: str, answers: tuple[Any, ...]) -> None:
        self.name = name
        self._answers = list(answers)
        self._lock = threading.Lock()
        self.surplus = 0

    def next(self) -> Any:
        with self._lock:
            if not self._answers:
                self.surplus += 1
                raise ToolError(f"the script of {self.name} has no further answer", code="SCRIPT_ENDED", category="AUTH_ERROR")
            answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def left(self) -> int:
        return len(self._answers)


def call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of an agent's model: a call of a tool. Agents see `shop/price` as `shop__price`."""
    return {"tool_calls": [{"name": tool.replace("/", "__"), "arguments": dict(arguments)}]}


def report(content: str, status: str = "success") -> dict[str, Any]:
    """An answer of an agent's model: its report."""
    return call(REPORT_TOOL, {"status": status, "report_content": content})


class Scripted:
    """Runs plans and agents with scripted models and tools. It needs no network."""

    def __init__(self) -> None:
        self._tools: list[Tool] = []
        self._scripts: list[_Script] = []
        self._model: _Script | None = None

    def tool(self, name: str, effect: str, *answers: Any, schema: dict[str, Any] | None = None) -> None:
        """Adds a tool, by the name that plans call it: `bank/refund`. Each call gets the next of the answers; an exception is raised."""
        service, slash, capability = name.partition("/")
        if not slash:
            service, capability = "functions", name
        script = _Script(f"`{name}`", answers)

        def answer(**_: Any) -> Any:
            return script.next()

        parameters = schema if schema is not None else {"type": "object"}
        self._tools.append(Tool(answer, name=capability, service=service, effect=effect, schema=parameters))
        self._scripts.append(script)

    def model(self, *answers: Any) -> None:
        """What the model answers, in order: texts, `call(...)` or `report(...)`."""
        self._model = _Script("the model", answers)
        self._scripts.append(self._model)

    def runner(self) -> Runner:
        """The runner of these tools and this model."""
        script = self._model
        return Runner(self._tools, models=None if script is None else lambda _: script.next())

    def run_plan(self, plan: str, inputs: Mapping[str, Any] | None = None) -> Run:
        """Runs a plan: the text of a plan file."""
        return self.runner().run_plan(plan, inputs)

    def ask(self, request: str) -> Run:
        """Lets the model plan a request, and runs the plan."""
        return self.runner().ask(request)

    def agent(self, agent: str, input: str) -> Run:
        """Starts an agent: the text of an agent file, and its task."""
        return self.runner().agent(agent, input)

    def check_used(self) -> None:
        """Raises `AssertionError` if an answer was never asked for, or if more was asked than there are answers."""
        unused = [f"{script.name}: {script.left}" for script in self._scripts if script.left]
        surplus = [f"{script.name}: {script.surplus}" for script in self._scripts if script.surplus]
        problems = []
        if unused:
            problems.append("answers that nobody asked for: " + ", ".join(unused))
        if surplus:
            problems.append("calls after the last answer: " + ", ".join(surplus))
        if problems:
            raise AssertionError("; ".join(problems))
