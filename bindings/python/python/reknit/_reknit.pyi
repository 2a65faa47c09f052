"""The part of the package that is written in Rust."""

from typing import Any, Literal

class ReadError(ValueError):
    """A text cannot be read, or a value does not fit its schema."""

    code: Literal["empty", "unreadable", "ambiguous", "misfit", "too_deep", "too_large", "bad_schema"]
    details: dict[str, Any]
    """`line` and `column`, both `readings`, or the `problems` as pairs of path and message."""

class RunError(RuntimeError):
    """A run ended without everything that it was asked for."""

    status: Literal["partial", "failed", "impossible", "cancelled", "budget_exhausted", "waiting"]
    outcome: dict[str, Any]

class Schema:
    """A compiled JSON Schema. Compile one that is used often."""

    def __init__(self, schema: dict[str, Any] | str) -> None: ...
    def fits(self, value: Any) -> bool:
        """Whether a value fits as it is."""

class Fix:
    """One repair."""

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...
    @property
    def penalty(self) -> int: ...
    @property
    def times(self) -> int: ...

class Reading:
    """A value with every repair that was made."""

    @property
    def value(self) -> Any: ...
    @property
    def fixes(self) -> list[Fix]: ...
    @property
    def completeness(self) -> Literal["complete", "truncated", "elided"]: ...
    @property
    def is_complete(self) -> bool:
        """Whether the text contained the whole answer. Act only on a complete one."""
    @property
    def expressions(self) -> list[str]: ...

class Partial:
    """What a text says so far."""

    @property
    def value(self) -> Any: ...
    @property
    def open(self) -> str:
        """The path of the innermost value that may still change; all else is complete."""
    @property
    def state(self) -> Literal["open", "ended", "stopped"]: ...

class Reader:
    """Reads a text that arrives in chunks."""

    def __init__(self, schema: Schema | dict[str, Any] | str | None = None, *, decimals: bool = False) -> None: ...
    def push(self, chunk: str | bytes) -> None:
        """Adds the next chunk. Bytes may end inside of a character."""
    def partial(self) -> Partial | None:
        """What the text says so far; `None` as long as no array or object has begun."""
    def finish(self) -> Reading:
        """Reads the whole text. The reader cannot be used afterwards."""

def read(text: str, schema: Schema | dict[str, Any] | str | None = None, *, decimals: bool = False) -> Reading:
    """Reads JSON from a model's text, repairs it, and makes it fit a schema.

    Valid JSON that fits comes back unchanged. With `decimals`, numbers with a fraction are `decimal.Decimal`, which keep every
    digit. Raises `ReadError`.
    """

def fit(value: Any, schema: Schema | dict[str, Any] | str, *, decimals: bool = False) -> Reading:
    """Makes a value fit a schema and changes only what has to change. Raises `ReadError`."""

class Mender:
    def __init__(self, model: Any = None) -> None: ...
    def mend(
        self,
        tool: str,
        schema: Any,
        parameters: Any,
        error: Any,
        *,
        status: int = 400,
        description: str = "",
        context: str = "",
        effect: str = "read",
    ) -> dict[str, Any]: ...

class Engine:
    def __init__(self, tools: list[Any], services: list[tuple[str, str]], models: list[Any], journal: str | None) -> None: ...
    def run_plan(self, plan: str, inputs: dict[str, Any]) -> RunHandle: ...
    def ask(self, request: str) -> RunHandle: ...
    def agent(self, agent: str, input: str) -> RunHandle: ...
    def resume(self, run: str) -> RunHandle: ...

class RunHandle:
    @property
    def id(self) -> str: ...
    @property
    def is_waiting(self) -> bool: ...
    def next_event(self, seconds: float) -> tuple[bool, dict[str, Any] | None]: ...
    def wait(self, seconds: float) -> bool: ...
    def outcome(self) -> dict[str, Any]: ...
    def questions(self) -> list[dict[str, Any]]: ...
    def decide(self, approve: bool, reason: str | None = None) -> None: ...
    def check(self, expectations: dict[str, Any]) -> None: ...
    def cancel(self) -> None: ...
