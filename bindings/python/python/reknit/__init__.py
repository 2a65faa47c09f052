"""Reads what models write, mends failed tool calls, and runs plans and agents over tools.

    >>> import reknit
    >>> reading = reknit.read("Sure! {city: 'Seoul', days: '3',}", {"properties": {"days": {"type": "integer"}}})
    >>> reading.value
    {'city': 'Seoul', 'days': 3}

- `read`, `fit` and `Reader` read JSON from text and make it fit a schema; every change is recorded.
- `Mender` says what to do about a call that failed.
- `Runner` runs plans, requests and agents, with Python functions as tools.
"""

from ._reknit import Fix, Partial, ReadError, Reader, Reading, RunError, Schema, fit, read
from .mending import Correction, Mender, NotMended, SendAgain
from .runner import Run, Runner
from .tools import Tool, ToolError, tool

__all__ = [
    "Correction",
    "Fix",
    "Mender",
    "NotMended",
    "Partial",
    "ReadError",
    "Reader",
    "Reading",
    "Run",
    "RunError",
    "Runner",
    "Schema",
    "SendAgain",
    "Tool",
    "ToolError",
    "fit",
    "read",
    "tool",
]
