"""Mending of calls that your program made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _reknit
from .tools import Model, ToolError


@dataclass(frozen=True)
class Correction:
    """Send the call with these parameters."""

    parameters: dict[str, Any]
    fixes: list[tuple[str, str]]
    """What was changed: the rung that did it, and how."""
    approval: str | None = None
    """Why a person should approve the call first; `None` if nobody needs to."""


@dataclass(frozen=True)
class SendAgain:
    """Send the call again as it is, after this time in seconds."""

    after: float


class NotMended(Exception):
    """Nothing that is allowed helps. The text says why."""


class Mender:
    """Says what to do about failed calls: with rules in code, and with a model if there is one. It makes no call itself.

    `model` is the URL of an OpenAI-compatible server, `(url, name of the model)`, or a function that gets a request
    (`messages`, `tools`, `max_tokens`) and returns a text.

        >>> schema = {"type": "object", "properties": {"to": {"type": "string"}}}
        >>> Mender().mend("convert", schema, {"to": "eur"}, "to must be one of EUR, USD").parameters
        {'to': 'EUR'}
    """

    def __init__(self, model: Model | None = None) -> None:
        self._mender = _reknit.Mender(model)

    def mend(
        self,
        tool: str,
        schema: dict[str, Any],
        parameters: dict[str, Any],
        error: Any,
        *,
        status: int = 400,
        description: str = "",
        context: str = "",
        effect: str = "read",
    ) -> Correction | SendAgain:
        """What to do about a call of `tool` that answered `error`: text, or JSON as Python values.

        `schema` is the JSON Schema of the parameters, `status` the HTTP status of the error, `context` what the user
        wanted, and `effect` what the call changes: `read`, `idempotent`, `keyed`, `undeclared` or `unsafe`.

        Raises `NotMended` if nothing that is allowed helps.
        """
        found = self._mender.mend(
            tool, schema, parameters, error, status=status, description=description, context=context, effect=effect
        )
        if found["action"] == "corrected":
            return Correction(found["parameters"], found["fixes"], found["approval"])
        if found["action"] == "send_again":
            return SendAgain(found["after"])
        raise NotMended(found.get("reason", "nothing that is allowed helps"))

    def wrap(
        self,
        function: Callable[..., Any],
        schema: dict[str, Any] | None = None,
        *,
        effect: str = "undeclared",
        context: str = "",
        attempts: int = 3,
    ) -> Callable[..., Any]:
        """The same function, with its failed calls mended. It takes keywords only.

        Without `schema` it follows from the type hints. `effect` is what a call changes, as for `mend`. Of a function that
        changes something, only a `ToolError` says that nothing has happened; every other exception is raised. A correction
        that needs a person is not sent.
        """
        from .tools import Tool

        described = Tool(function, schema=schema, effect=effect)

        def next_parameters(error: Exception, parameters: dict[str, Any]) -> tuple[dict[str, Any], float]:
            if effect != "read" and not isinstance(error, ToolError):
                raise error
            try:
                advice = self.mend(
                    described.name,
                    described.schema,
                    parameters,
                    str(error),
                    status=error.status if isinstance(error, ToolError) else 400,
                    description=described.description,
                    context=context,
                    effect=effect,
                )
            except NotMended as reason:
                raise NotMended(f"{error}; {reason}") from error
            if isinstance(advice, SendAgain):
                return parameters, advice.after
            if advice.approval is not None:
                raise NotMended(f"{error}; {advice.approval}") from error
            return advice.parameters, 0.0

        def call(**parameters: Any) -> Any:
            for attempt in range(attempts):
                try:
                    return function(**parameters)
                except Exception as error:
                    if attempt + 1 == attempts:
                        raise
                    parameters, wait = next_parameters(error, parameters)
                    time.sleep(wait)

        async def call_async(**parameters: Any) -> Any:
            for attempt in range(attempts):
                try:
                    return await function(**parameters)
                except Exception as error:
                    if attempt + 1 == attempts:
                        raise
                    parameters, wait = await asyncio.to_thread(next_parameters, error, parameters)
                    await asyncio.sleep(wait)

        wrapped = call_async if asyncio.iscoroutinefunction(function) else call
        wrapped.__name__, wrapped.__doc__ = described.name, described.description
        return wrapped
