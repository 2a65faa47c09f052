"""Python functions as tools: their schemas, and their errors."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Union

Model = Union[str, tuple[str, str], Callable[[dict[str, Any]], Any]]
"""The URL of a server, the URL and the name of a model, or a function that answers requests."""

_EFFECTS = ("read", "idempotent", "keyed", "undeclared", "unsafe")
_STATUS = {"INPUT_ERROR": 400, "AUTH_ERROR": 401, "NOT_FOUND": 404, "RATE_LIMIT": 429, "SERVICE_ERROR": 503}


class ToolError(Exception):
    """A tool says what went wrong, so that it can be mended.

    `category` is `INPUT_ERROR` (other parameters may work), `NOT_FOUND`, `AUTH_ERROR`, `RATE_LIMIT` or `SERVICE_ERROR`
    (the same call may work later). Any other exception counts as an error of the input if it is a `ValueError`, a
    `TypeError` or a `LookupError`; otherwise nobody knows what the call did.

    `retryable=True` says that the call had no effect. Without it, a `keyed` function is not called again with the same
    idempotency key, because it may have done its work: a call that is sent again gets the same error.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "ERROR",
        category: str = "INPUT_ERROR",
        details: dict[str, Any] | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.category = category
        self.details = details or {}
        self.retryable = retryable

    @property
    def status(self) -> int:
        """The HTTP status of the category."""
        return _STATUS.get(self.category, 500)


class Tool:
    """A function with its name, description, schema and side effect.

    The schema follows from the type hints: `str`, `int`, `float`, `bool`, lists, dictionaries, `Literal`, enums, unions,
    dataclasses, `TypedDict` and models of pydantic. The first lines of the documentation are the description.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        service: str = "functions",
        effect: str = "undeclared",
        schema: dict[str, Any] | None = None,
    ) -> None:
        if effect not in _EFFECTS:
            raise ValueError(f"`effect` is {effect!r}; write one of {', '.join(_EFFECTS)}")
        self.function = function
        self.name = name or function.__name__
        self.service = service
        self.effect = effect
        self.description = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0]
        self.schema = schema if schema is not None else parameters_schema(function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)


def tool(
    effect: str = "undeclared", *, name: str | None = None, service: str = "functions", schema: dict[str, Any] | None = None
) -> Callable[[Callable[..., Any]], Tool]:
    """Makes a function a tool: `@reknit.tool("read")`. `effect` says what a call changes."""
    return lambda function: Tool(function, name=name, service=service, effect=effect, schema=schema)


def parameters_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of the parameters of a function."""
    hints = typing.get_type_hints(function, include_extras=True)
    properties, required, is_open = {}, [], False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise TypeError(f"`{name}` of {function.__name__} cannot be given by name")
        properties[name] = type_schema(hints.get(name, Any))
        if parameter.default is parameter.empty:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return schema if is_open else {**schema, "additionalProperties": False}


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def type_schema(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        described = [note for note in arguments[1:] if isinstance(note, str)]
        schema = type_schema(arguments[0])
        return {**schema, "description": described[0]} if described else schema
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [type_schema(argument) for argument in arguments]}
    if hint in (list, tuple, set, frozenset) or origin in (list, tuple, set, frozenset):
        items = [argument for argument in arguments if argument is not Ellipsis]
        return {"type": "array", "items": type_schema(items[0])} if items else {"type": "array"}
    if hint is dict or origin is dict:
        return {"type": "object", "additionalProperties": type_schema(arguments[1])} if arguments else {"type": "object"}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if hasattr(hint, "model_json_schema"):
        return hint.model_json_schema()
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
        return _fields_schema(hint)
    return {}


def _fields_schema(hint: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(hint, include_extras=True)
    if dataclasses.is_dataclass(hint):
        missing = dataclasses.MISSING
        fields = dataclasses.fields(hint)
        required = [field.name for field in fields if field.default is missing and field.default_factory is missing]
    else:
        required = sorted(hint.__required_keys__)
    properties = {name: type_schema(field) for name, field in hints.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
