"""A Restate server, two workers behind HAProxy, the API and a tool service, all on loopback, each in a process of its own."""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
# How long a process may take to start, and a run to settle.
PATIENCE = 120

RESTATE = """
node-name = "node"
cluster-name = "reknit-bench"
base-dir = "{folder}/restate"
bind-ip = "127.0.0.1"
bind-port = {node}
listen-mode = "tcp"
disable-telemetry = true
default-num-partitions = 4
log-disable-ansi-codes = true
rocksdb-total-memory-size = "512 MiB"

[ingress]
bind-port = {ingress}

[admin]
bind-port = {admin}
disable-web-ui = true
"""

# TCP, because the server speaks HTTP/2 with prior knowledge. A worker that does not answer gets no new connections.
HAPROXY = """
global
  maxconn 4096
defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  retries 3
  option redispatch
frontend workers
  bind 127.0.0.1:{balancer}
  default_backend workers
backend workers
  balance roundrobin
  server one 127.0.0.1:{one} check inter 100ms fall 1 rise 1 on-marked-down shutdown-sessions
  server two 127.0.0.1:{two} check inter 100ms fall 1 rise 1 on-marked-down shutdown-sessions
"""

REKNIT = """
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

[limits]
tool-calls = 5000
calls-in-all = 2000
calls-per-tool = {calls_per_tool}

[catalogue]
folder = "{folder}/catalogue"
"""


def free_ports(*names: str) -> dict[str, int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = {name: one.getsockname()[1] for name, one in zip(names, held)}
    for one in held:
        one.close()
    return ports


class Process:
    """A program that listens on a port, and can be killed and started again."""

    def __init__(self, name: str, command: list, port: int, folder: Path):
        self.name, self.command, self.port, self.folder = name, [str(word) for word in command], port, folder
        self.process: subprocess.Popen | None = None
        atexit.register(self.kill)

    def start(self) -> "Process":
        with open(self.folder / f"{self.name}.log", "ab") as out:
            state = {"XDG_STATE_HOME": str(self.folder / "state"), "REKNIT_FIND_MODEL": "false"}
            environment = {**os.environ, **state, "SCRIPTED_KEY": "sk-scripted"}
            self.process = subprocess.Popen(self.command, stdout=out, stderr=out, cwd=self.folder, env=environment)
        return self

    def ready(self) -> "Process":
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.02)
        sys.exit(f"{self.name} does not start; see {self.folder / self.name}.log")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def memory_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Cluster:
    """Everything of one scenario. Without `restate`, the API drives the runs itself."""

    def __init__(self, reknit: str, server: str, folder: Path, restate: bool = True, calls_per_tool: int = 2000):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder, self.deeds_file = folder, folder / "deeds.jsonl"
        ports = free_ports("node", "ingress", "admin", "balancer", "one", "two", "api", "service")
        self.ports = ports
        (folder / "reknit.toml").write_text(REKNIT.format(folder=folder, calls_per_tool=calls_per_tool, **ports))
        config = ["--config", folder / "reknit.toml"]
        service = [sys.executable, HERE / "service.py", ports["service"], self.deeds_file]
        self.service = Process("service", service, ports["service"], folder).start().ready()
        serve = [reknit, "serve", "--listen", f"127.0.0.1:{ports['api']}", "--journal", folder / "journal.db", *config]
        self.killable: list[Process] = []
        if restate:
            (folder / "restate.toml").write_text(RESTATE.format(folder=folder, **ports))
            (folder / "haproxy.cfg").write_text(HAPROXY.format(**ports))
            admin, workers = f"http://127.0.0.1:{ports['admin']}", f"http://127.0.0.1:{ports['balancer']}"
            command = [server, "--config-file", folder / "restate.toml", "--no-logo"]
            self.restate = Process("restate", command, ports["admin"], folder).start().ready()
            command = [shutil.which("haproxy"), "-db", "-f", folder / "haproxy.cfg"]
            self.balancer = Process("haproxy", command, ports["balancer"], folder).start().ready()
            self.workers = []
            for name in ["one", "two"]:
                listen = ["--listen", f"127.0.0.1:{ports[name]}", "--advertise", workers, "--blobs", folder / "blobs"]
                command = [reknit, "worker", "--restate", admin, *listen, *config]
                self.workers.append(Process(f"worker-{name}", command, ports[name], folder).start().ready())
            self.wait_for_services()
            serve += ["--engine", f"restate=http://127.0.0.1:{ports['ingress']}"]
            self.killable = [*self.workers, self.restate, self.balancer]
        self.api = Process("api", serve, ports["api"], folder).start().ready()
        self.killable.append(self.api)

    def wait_for_services(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                names = {service["name"] for service in self.admin("GET", "/services")["services"]}
                if {"ReknitRun", "ReknitEffect"} <= names:
                    return
            except (OSError, KeyError):
                pass
            time.sleep(0.1)
        sys.exit("the workers do not register themselves")

    def admin(self, method: str, path: str, body: dict | None = None):
        return request(self.ports["admin"], method, path, body)

    def query(self, sql: str) -> list[dict]:
        return self.admin("POST", "/query", {"query": sql})["rows"]

    def call(self, method: str, path: str, body: dict | None = None):
        """Asks the API, again and again while it is away."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return request(self.ports["api"], method, path, body)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 503) or time.monotonic() > end:
                    raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from error
            except (OSError, json.JSONDecodeError):
                if time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def close(self):
        for process in [*self.killable, self.service]:
            process.kill()

    def deeds(self) -> list[dict]:
        lines = self.deeds_file.read_text().splitlines() if self.deeds_file.exists() else []
        return [json.loads(line) for line in lines]


def request(port: int, method: str, path: str, body: dict | None = None):
    headers = {"content-type": "application/json", "accept": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def plan(*steps: str) -> str:
    """Steps one after the other, each a capability of the shop."""
    lines = ["inputs: {order: {type: string}, delay_ms: {type: integer, default: 0}}", "steps:"]
    for at, name in enumerate(steps):
        after = f", after: s{at - 1}" if at else ""
        parameters = '{order: "{{inputs.order}}", delay_ms: "{{inputs.delay_ms}}"}'
        lines.append(f"- {{id: s{at}, tool: shop/{name}, with: {parameters}{after}}}")
    return "\n".join(lines)
