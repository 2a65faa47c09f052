"""The fixture `scripted` of pytest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .testing import Scripted

_HAS_PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.stash[_HAS_PASSED] = report.passed
    return report


@pytest.fixture
def scripted(request: pytest.FixtureRequest) -> Iterator[Scripted]:
    """Scripted models and tools. A test fails if an answer was never asked for, or if more was asked than there are answers."""
    # pytest loads this module in every project of the environment; most of them have no use for the engine.
    from .testing import Scripted

    scripted = Scripted()
    yield scripted
    # A test that has failed or was skipped has its reason; unused answers follow from it.
    if request.node.stash.get(_HAS_PASSED, False):
        scripted.check_used()
