"""A Restate server, workers behind HAProxy, the API and a tool service, all on loopback, each in a process of its own."""

import http.client
import json
import shutil
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "load"))
from processes import TOOLS, Process, free_ports, plan  # noqa: E402 (the path is set above)

__all__ = ["PATIENCE", "STOP", "Balancer", "Cluster", "Node", "plan", "request"]
# How long a process may take to start, and a run to settle.
PATIENCE = 120
# How long a process may take to stop: 20 seconds for runs in progress, and a moment.
STOP = 25
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]

RESTATE = """
node-name = "node"
cluster-name = "reknit-bench"
base-dir = "{folder}/restate"
bind-ip = "127.0.0.1"
bind-port = {node}
listen-mode = "tcp"
disable-telemetry = true
default-num-partitions = {partitions}
log-disable-ansi-codes = true
rocksdb-total-memory-size = "512 MiB"

[ingress]
bind-port = {ingress}

[admin]
bind-port = {admin}
disable-web-ui = true
"""

# As deploy/restate/haproxy.cfg, which says why.
HAPROXY = """
global
  maxconn 4096
  tune.h2.max-concurrent-streams 1000
  stats socket {socket} level user
defaults
  mode http
  option http-no-delay
  timeout connect 1s
  timeout client 24h
  timeout server 24h
  retries 3
  option redispatch 1
  http-reuse always
frontend workers
  bind 127.0.0.1:{balancer} proto h2
  default_backend workers
backend workers
  balance leastconn
"""
WORKER = "  server {name} 127.0.0.1:{port} proto h2 check inter 1s downinter 200ms fall 12 rise 1 on-marked-down shutdown-sessions\n"

REKNIT = (
    TOOLS
    + """
[limits]
tool-calls = 5000
calls-in-all = 2000
calls-per-tool = {calls_per_tool}
"""
)


class Node(Process):
    """A process with a name."""

    def __init__(self, name: str, command: list, port: int, folder: Path):
        super().__init__(command, port, folder / f"{name}.log", {"REKNIT_FIND_MODEL": "false"})
        self.name = name

    def ready(self) -> "Node":
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.is_running():
            if self.is_listening():
                return self
            time.sleep(0.02)
        sys.exit(f"{self.name} does not start; see {self.log}")


class Balancer(Node):
    """HAProxy before some workers."""

    def __init__(self, name: str, port: int, workers: dict[str, int], folder: Path):
        configuration = HAPROXY.format(balancer=port, socket=folder / f"{name}.sock")
        configuration += "".join(WORKER.format(name=worker, port=at) for worker, at in workers.items())
        (folder / f"{name}.cfg").write_text(configuration)
        super().__init__(name, [shutil.which("haproxy"), "-db", "-f", folder / f"{name}.cfg"], port, folder)


class Cluster:
    """Everything of one scenario. Without `restate`, the API drives the runs itself. With `restored`, the folder has the data of another cluster."""

    def __init__(
        self,
        reknit: str,
        server: str,
        folder: Path,
        restate: bool = True,
        calls_per_tool: int = 2000,
        workers: int = 2,
        partitions: int = 4,
        restored: bool = False,
    ):
        if not restored:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.folder, self.deeds_file, self.is_on_restate = folder, folder / "deeds.jsonl", restate
        names = NUMBERS[:workers]
        ports = free_ports("node", "ingress", "admin", "balancer", *names, "api", "service")
        self.ports = ports
        (folder / "reknit.toml").write_text(REKNIT.format(folder=folder, calls_per_tool=calls_per_tool, **ports))
        service = [sys.executable, HERE / "service.py", ports["service"], self.deeds_file]
        self.service = Node("service", service, ports["service"], folder).start().ready()
        self.killable: list[Node] = []
        self.workers: list[Node] = []
        if restate:
            (folder / "restate.toml").write_text(RESTATE.format(folder=folder, partitions=partitions, **ports))
            command = [server, "--config-file", folder / "restate.toml", "--no-logo"]
            self.restate = Node("restate", command, ports["admin"], folder).start().ready()
            self.balancer = Balancer("haproxy", ports["balancer"], {name: ports[name] for name in names}, folder)
            self.balancer.start().ready()
            self.workers = [self.worker(reknit, name).start().ready() for name in names]
            self.wait_for_services("ReknitRun", "ReknitEffect")
            self.killable = [*self.workers, self.restate, self.balancer]
        self.api = self.api_process(reknit).start().ready()
        self.killable.append(self.api)

    def worker(self, reknit: str, name: str) -> Node:
        admin, workers = f"http://127.0.0.1:{self.ports['admin']}", f"http://127.0.0.1:{self.ports['balancer']}"
        listen = ["--listen", f"127.0.0.1:{self.ports[name]}", "--advertise", workers, "--blobs", self.folder / "blobs"]
        command = [reknit, "worker", "--restate", admin, *listen, "--config", self.folder / "reknit.toml"]
        return Node(f"worker-{name}", command, self.ports[name], self.folder)

    def api_process(self, reknit: str) -> Node:
        files = ["--journal", self.folder / "journal.db", "--config", self.folder / "reknit.toml"]
        command = [reknit, "serve", "--listen", f"127.0.0.1:{self.ports['api']}", *files, "--max-runs", 20_000]
        if self.is_on_restate:
            command += ["--engine", f"restate=http://127.0.0.1:{self.ports['ingress']}"]
        return Node("api", command, self.ports["api"], self.folder)

    def wait_for_services(self, *wanted: str):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                names = {service["name"] for service in self.admin("GET", "/services")["services"]}
                if set(wanted) <= names:
                    return
            except (OSError, KeyError):
                pass
            time.sleep(0.1)
        sys.exit("the workers do not register themselves")

    def admin(self, method: str, path: str, body: dict | None = None):
        return request(self.ports["admin"], method, path, body)

    def query(self, sql: str) -> list[dict]:
        return self.admin("POST", "/query", {"query": sql})["rows"]

    def invocations_in_progress(self) -> int:
        of_ours = "target_service_name like 'Reknit%' and status not in ('completed', 'scheduled')"
        return self.query(f"select count(1) as n from sys_invocation where {of_ours}")[0]["n"]

    def call(self, method: str, path: str, body: dict | None = None):
        """Asks the API, again and again while it is away."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return request(self.ports["api"], method, path, body)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 503) or time.monotonic() > end:
                    raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from error
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                if time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def processes(self) -> dict[str, list[Node]]:
        """All processes, by what they are."""
        parts = {"api": [self.api], "service": [self.service]}
        return {"server": [self.restate], "workers": self.workers, "balancer": [self.balancer], **parts} if self.is_on_restate else parts

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
