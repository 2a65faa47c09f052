"""The programs in docs/how-to/python.md and docs/how-to/frameworks.md run."""

import pathlib

import pytest

BOOK = pathlib.Path(__file__).parents[3] / "docs/how-to"
PROGRAMS = [
    pytest.param(program.split("```")[0], id=f"{name}-{number}")
    for name in ("python.md", "frameworks.md")
    if (BOOK / name).exists()
    for number, program in enumerate((BOOK / name).read_text().split("```python\n")[1:])
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_page_runs(program):
    exec(compile(program, "page.py", "exec"), {"__name__": "page"})
