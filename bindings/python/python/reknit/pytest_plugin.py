"""The fixture `scripted` of pytest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .testing import Scripted


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """Scripted models and tools. A test fails if an answer was never asked for."""
    scripted = Scripted()
    yield scripted
    scripted.check_used()
