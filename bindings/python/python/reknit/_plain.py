"""Python values that JSON does not know."""

import dataclasses
import decimal
import enum
from typing import Any


def plain(value: Any) -> tuple[bool, Any]:
    """Whether the value is a number, and the value as JSON knows it. Raises `TypeError` for any other value."""
    if isinstance(value, decimal.Decimal):
        return True, value
    if isinstance(value, enum.Enum):
        return False, value.value
    if hasattr(value, "model_dump"):
        return False, value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return False, {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (set, frozenset)):
        return False, list(value)
    if hasattr(value, "isoformat"):
        return False, value.isoformat()
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return False, {str(key): value[key] for key in value.keys()}
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")
