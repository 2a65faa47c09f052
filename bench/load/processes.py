"""Programs under test in processes of their own, and the plans that they run. `bench/load` and `bench/restate` share this."""

import atexit
import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path

TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")

# The tool service and the model of service.py.
TOOLS = """
[[tools]]
name = "shop"
url = "http://127.0.0.1:{service}"

[[models]]
name = "scripted"
provider = "openai"
model = "scripted"
url = "http://127.0.0.1:{service}/v1"
key-env = "SCRIPTED_KEY"

[answer]
by = "template"

[catalogue]
folder = "{folder}/catalogue"
"""


def plan(*steps: str) -> str:
    """Steps one after the other, each a capability of the shop."""
    lines = ["inputs: {order: {type: string}, delay_ms: {type: integer, default: 0}}", "steps:"]
    for at, name in enumerate(steps):
        after = f", after: s{at - 1}" if at else ""
        parameters = '{order: "{{inputs.order}}", delay_ms: "{{inputs.delay_ms}}"}'
        lines.append(f"- {{id: s{at}, tool: shop/{name}, with: {parameters}{after}}}")
    return "\n".join(lines)


def free_port() -> int:
    """A port that nobody listens at. Not one of those that the system gives to outgoing connections: a program that is killed and started
    again would find its port in use by one of them."""
    first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10_000, max(first_outgoing, 10_001))
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            pass


def free_ports(*names: str) -> dict[str, int]:
    ports: set[int] = set()
    while len(ports) < len(names):
        ports.add(free_port())
    return dict(zip(names, ports))


class Process:
    """A program that listens on a port, and can be killed and started again."""

    def __init__(self, command: list, port: int, log: Path, environment: dict[str, str] | None = None):
        self.command, self.port, self.log = [str(word) for word in command], port, log
        self.environment = {"SCRIPTED_KEY": "sk-scripted", "XDG_STATE_HOME": str(log.parent / "state"), **(environment or {})}
        self.process: subprocess.Popen | None = None
        atexit.register(self.kill)

    def start(self) -> "Process":
        with open(self.log, "ab") as out:
            environment = {**os.environ, **self.environment}
            self.process = subprocess.Popen(self.command, stdout=out, stderr=out, cwd=self.log.parent, env=environment)
        return self

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def is_listening(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def kill(self):
        if self.is_running():
            self.process.kill()
            self.process.wait()

    def terminate(self):
        """Asks it to end, and does not wait."""
        self.process.send_signal(signal.SIGTERM)

    def end(self, patience: float) -> float:
        """Asks it to end, and kills it when the time is over. Returns the seconds."""
        begin = time.monotonic()
        self.terminate()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
        return time.monotonic() - begin

    def cpu(self) -> float:
        return self.of_task("stat")

    def of_task(self, path: str) -> float:
        """The processor seconds of the process, or of a thread of it."""
        fields = Path(f"/proc/{self.process.pid}/{path}").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def threads(self) -> dict[str, float]:
        """The processor seconds of each thread, by number and name."""
        found = {}
        for folder in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                found[f"{folder.name} {(folder / 'comm').read_text().strip()}"] = self.of_task(f"task/{folder.name}/stat")
            except OSError:
                pass  # It has ended.
        return found

    def written_bytes(self) -> int:
        """What it has written to disks."""
        lines = Path(f"/proc/{self.process.pid}/io").read_text().splitlines()
        return int(dict(line.split(": ") for line in lines)["write_bytes"])

    def memory_mb(self) -> float:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE / 1e6

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
