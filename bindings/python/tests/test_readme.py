"""The program in the README runs, and so do the examples in the documentation of the package."""

import doctest
import pathlib

import reknit.mending


def test_the_program_in_the_readme_runs():
    readme = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    exec(compile(readme.split("```python\n")[1].split("```")[0], "README.md", "exec"), {})


def test_the_examples_in_the_documentation_are_right():
    for module in (reknit, reknit.mending):
        assert doctest.testmod(module, extraglobs={"Mender": reknit.Mender}).failed == 0
