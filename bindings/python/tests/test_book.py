"""The programs in docs/how-to/python.md run."""

import pathlib

import pytest

PAGE = pathlib.Path(__file__).parents[3] / "docs/how-to/python.md"
PROGRAMS = PAGE.read_text().split("```python\n")[1:] if PAGE.exists() else []


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_of_the_page_runs(program):
    exec(compile(program.split("```")[0], "python.md", "exec"), {"__name__": "page"})
