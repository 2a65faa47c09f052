"""The systems that are compared, and the limits that are the same for all of them."""

import os
import select
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# Time limit of a tool call and of a request to a model, in seconds.
LIMIT = 4
MODEL_LIMIT = 8
# Retries of a tool call after the first attempt.
RETRIES = 3

START, RESUME, DECIDE = "start", "resume", "decide"


@dataclass
class Cell:
    """One scenario with one system: where it runs, and the addresses of its world."""

    scenario: object
    folder: Path
    service: str
    models: str
    # The calls that the system showed to a person: name and args of each.
    question: list[dict] | None = None


@dataclass
class Outcome:
    """How one process of a system ended, in its own words."""

    # `done`: it returned an answer. `reported`: it said that it failed. `waiting`: it waits for a person. `hangs`: it did not end.
    status: str
    answer: str = ""
    error: str = ""
    # The time that the system worked, without the start of an interpreter where that is known.
    seconds: float | None = None
    question: list[dict] | None = None
    notes: list[str] = field(default_factory=list)


class Process:
    """A process of a system, in a session of its own."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path, stdout: Path, stderr: Path):
        with open(stdout, "w") as out, open(stderr, "w") as err:
            self.popen = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self.pid = self.popen.pid

    def wait(self, seconds: float) -> int:
        """The exit status. Raises `TimeoutError`. Unlike `Popen.wait`, it does not look every 50 ms whether the process has ended."""
        ended = os.pidfd_open(self.pid)
        try:
            if not select.select([ended], [], [], seconds)[0]:
                raise TimeoutError
        finally:
            os.close(ended)
        return self.popen.wait()


class System:
    """How a system is started, continued and asked."""

    name: str
    label: str

    def missing(self) -> str | None:
        """Why it cannot run here at all, such as a package that is not installed."""
        return None

    def not_applicable(self, scenario) -> str | None:
        """Why it cannot express a scenario."""
        return None

    def prepare(self, cell: Cell) -> None:
        """Writes what it needs into the folder of the cell."""

    def command(self, cell: Cell, phase: str) -> tuple[list[str], dict[str, str]]:
        """The program of a phase, and its environment."""
        raise NotImplementedError

    def start(self, cell: Cell, phase: str, stdout: Path, stderr: Path) -> Process:
        return Process(*self.command(cell, phase), cell.folder, stdout, stderr)

    def outcome(self, cell: Cell, exit_status: int, stdout: str, stderr: str) -> Outcome:
        raise NotImplementedError

    def version(self) -> str:
        raise NotImplementedError
