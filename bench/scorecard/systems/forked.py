"""Processes that a fork server starts (peers/fork_server.py), so that nobody waits for the imports of a peer in every cell."""

import atexit
import json
import queue
import subprocess
import threading
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "peers" / "fork_server.py"


class ForkServer:
    def __init__(self, python: Path, modules: tuple[str, ...], environment: dict[str, str]):
        command = [str(python), str(PROGRAM), *modules]
        self.popen = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        atexit.register(self.popen.kill)
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        if json.loads(self.lines.get(timeout=300)) != "ready":
            raise RuntimeError("the fork server does not start")

    def read(self):
        for line in self.popen.stdout:
            self.lines.put(line)

    def start(self, command: list[str], environment: dict[str, str], folder: Path, stdout: Path, stderr: Path):
        program, *arguments = command
        order = {"program": program, "arguments": arguments, "environment": environment, "folder": str(folder), "stdout": str(stdout), "stderr": str(stderr)}
        self.popen.stdin.write(json.dumps(order) + "\n")
        return ForkedProcess(self.lines)


class ForkedProcess:
    """A process of which the fork server tells the id and the end."""

    def __init__(self, lines: queue.Queue):
        self.lines = lines
        self.pid = json.loads(lines.get(timeout=60))

    def wait(self, seconds: float) -> int:
        try:
            return json.loads(self.lines.get(timeout=seconds))
        except queue.Empty:
            raise TimeoutError from None
