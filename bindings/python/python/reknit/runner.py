"""Runs with Python functions as tools."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from . import _reknit
from .tools import Model, Tool

_SLICE = 0.5
"""How long a thread waits at a time, in seconds, so that a program that ends need not wait for it."""


class Runner:
    """Runs plans, requests and agents.

    `tools` are functions, or what `@reknit.tool` makes of them; plans call them `functions/NAME`. `services` are services of
    the tool protocol by name. `models` are asked in order: URLs of servers, `(url, model)`, or functions. With `journal`, runs
    are kept in a file and survive the process.

        @reknit.tool("read")
        def price(cups: int) -> float:
            return 4.5 * cups

        run = reknit.Runner(tools=[price]).run_plan("steps: [{id: tea, tool: price, with: {cups: '3'}}]")
        print(run.result()["text"])

    Functions are called in threads of their own. A coroutine function runs in the event loop in which the run was started.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        services: Mapping[str, str] | None = None,
        models: Model | list[Model] | None = None,
        journal: str | os.PathLike[str] | None = None,
    ) -> None:
        described = [tool if isinstance(tool, Tool) else Tool(tool) for tool in tools]
        if models is None:
            models = []
        elif not isinstance(models, list):
            models = [models]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine = _reknit.Engine(
            [
                (tool.name, tool.service, tool.description, tool.effect, tool.schema, self._caller(tool.function))
                for tool in described
            ],
            list((services or {}).items()),
            models,
            None if journal is None else os.fspath(journal),
        )

    def _caller(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        def call(arguments: dict[str, Any]) -> Any:
            result = function(**arguments)
            if not inspect.isawaitable(result):
                return result
            if self._loop is None or self._loop.is_closed():
                return asyncio.run(_awaited(result))
            return asyncio.run_coroutine_threadsafe(_awaited(result), self._loop).result()

        return call

    def _note_loop(self) -> None:
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def run_plan(self, plan: str, inputs: Mapping[str, Any] | None = None) -> Run:
        """Runs a plan: the text of a plan file. `inputs` are the values of its inputs."""
        self._note_loop()
        return Run(self._engine.run_plan(plan, dict(inputs or {})))

    def ask(self, request: str) -> Run:
        """Lets a model plan a request, and runs the plan."""
        self._note_loop()
        return Run(self._engine.ask(request))

    def agent(self, agent: str, input: str) -> Run:
        """Starts an agent: the text of an agent file, and its task."""
        self._note_loop()
        return Run(self._engine.agent(agent, input))

    def resume(self, run: str) -> Run:
        """Continues a run of the journal, or returns the outcome of one that has ended."""
        self._note_loop()
        return Run(self._engine.resume(run))


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


class Run:
    """A run that goes on. `async for event in run` follows it, `await run` waits for its outcome, and so does `result()`."""

    def __init__(self, handle: _reknit.RunHandle) -> None:
        self._handle = handle

    @property
    def id(self) -> str:
        """The id of the run, for `Runner.resume` and `reknit runs show`."""
        return self._handle.id

    @property
    def is_waiting(self) -> bool:
        """Whether the run waits for a person."""
        return self._handle.is_waiting

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        while True:
            has_next, event = await asyncio.to_thread(self._handle.next_event, _SLICE)
            if event is not None:
                yield event
            elif has_next:
                return

    def __await__(self):
        return self._outcome().__await__()

    async def _outcome(self) -> dict[str, Any]:
        while not await asyncio.to_thread(self._handle.wait, _SLICE):
            pass
        return self._settled()

    def result(self) -> dict[str, Any]:
        """Waits for the outcome: the answer or the report, with `text`, `status`, `steps`, `outputs` and `spent`.

        Raises `RunError` if the run did not do everything; `outcome` of the error has what it did. A run that waits for a
        person raises `RunError` with the status `waiting`.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("`result()` would block the event loop; write `await run`")
        while not self._handle.wait(_SLICE):
            pass
        return self._settled()

    def _settled(self) -> dict[str, Any]:
        if self._handle.is_waiting:
            error = _reknit.RunError("the run waits for a person")
            error.status, error.outcome = "waiting", {"questions": self._handle.questions()}
            raise error
        return self._handle.outcome()

    def approve(self) -> None:
        """Approves the calls that the run asks about. It goes on at once."""
        self._handle.decide(True)

    def deny(self, reason: str | None = None) -> None:
        """Denies the calls that the run asks about."""
        self._handle.decide(False, reason)

    def expect(self, **expectations: Any) -> None:
        """Waits until the run has ended or waits for a person, and raises `AssertionError` unless it is as expected.

        The words are those under `expect` in a test file of `reknit test`: `status`, `steps`, `calls`, `values`, `mended`,
        `outputs`, `limits` and `answer`. What is not mentioned is not compared.

            run.expect(status="complete", mended=[{"step": "pay", "by": "resend"}], answer={"contains": ["19.99"]})
        """
        while not self._handle.wait(_SLICE):
            pass
        self._handle.check(expectations)

    def cancel(self) -> None:
        """Cancels the run. Calls in progress may still complete."""
        self._handle.cancel()
