"""The tool service: a real HTTP server on loopback that is strict about its input, fails as services do, and counts what it did.

It lists its tools at `GET /api/capabilities` and is called with `POST /api/capabilities/NAME`. A call that changes something is an effect; a call
with an `Idempotency-Key` that a keyed tool knows is answered again and does nothing.

Faults of one call (`Scenario.faults`), in the order of the calls of a tool:

    ok             none
    429, 429-date  too many requests, with `Retry-After` in seconds or as a date
    401, 404, 500, 503
    409            the record was changed by someone else, nothing is done
    500-after, 504-after  the error of a server, or the page of a gateway that waited too long, after the effect
    empty-200      status 200 with an empty body, nothing is done
    reset          the connection is reset before anything is done; reset-after: after the effect
    slow           no answer within the time limit of the caller, nothing is done; slow-after: the same after the effect
    half           the body ends in the middle, after the effect if there is one
    error-200      status 200 with an error and a value that looks like a result; html-200: status 200 with an HTML page
    rejected-later the call is accepted with status 200, and its check says that it was rejected; job-fails, job-done: accepted with status 202 and the URL of
                   a job, which fails or succeeds
    kill           the caller is killed before anything is done; kill-after: after the effect, before the answer; kill-replied: after the answer
"""

import email.utils
import json
import socket
import struct
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from . import data
from .catalogue import TOOLS
from .validation import misfits

# Longer than the time limit of a call, which is the same for all systems (LIMIT in systems/__init__.py).
SLOW = 5.5
RETRY_AFTER = 1


class World:
    """What the service knows during one cell: one scenario with one system."""

    def __init__(self, scenario, record, kill):
        self.scenario = scenario
        self.faults = {tool: list(faults) for tool, faults in scenario.faults.items()}
        self.effects: list[dict] = []
        self.receipts: dict[str, dict] = {}
        # What was accepted and rejected later, and the states of jobs.
        self.rejected: list[dict] = []
        self.jobs: dict[str, dict] = {}
        self.calls = 0
        # Takes a line of the transcript.
        self.record = record
        # Kills the process of the system.
        self.kill = kill
        self.lock = Lock()

    def fault(self, tool: str) -> str:
        with self.lock:
            self.calls += 1
            armed = self.faults.get(tool, [])
            if not armed:
                return "ok"
            return armed[0][:-3] if armed[0].endswith("...") else armed.pop(0)

    def do(self, tool: str, arguments: dict, key: str | None) -> dict:
        """Makes a call, once for each key of a keyed tool."""
        with self.lock:
            is_keyed = TOOLS[tool].effect == "keyed" and key is not None
            if is_keyed and key in self.receipts:
                return self.receipts[key]
            if TOOLS[tool].effect != "read":
                self.effects.append({"tool": tool, "arguments": arguments})
            reply = data.result(tool, arguments, self.effects, self.rejected)
            if is_keyed:
                self.receipts[key] = reply
            return reply


    def accept(self, tool: str, arguments: dict, key: str | None, fault: str) -> tuple[int, dict, dict]:
        """Accepts a call, which takes effect or is rejected later: status, body and headers."""
        accepted = {"id": f"{tool}-{len(self.jobs) + 1}", "status": "accepted"}
        if fault == "rejected-later":
            with self.lock:
                self.rejected.append({"tool": tool, "arguments": arguments})
            return 200, {**accepted, **arguments}, {}
        failed = {"status": "failed", "error": {"status": 409, "message": "the order is closed"}}
        self.jobs[accepted["id"]] = failed if fault == "job-fails" else {"status": "succeeded", "result": self.do(tool, arguments, key)}
        return 202, accepted, {"Location": f"/jobs/{accepted['id']}"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # As servers do in production. Otherwise the kernel waits 40 ms between head and body on a connection that is used again.
    disable_nagle_algorithm = True
    world: World | None = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        names = self.world.scenario.offered if self.world else TOOLS
        if self.path == "/api/capabilities":
            # The code of the peers expects JSON as well.
            fields = lambda tool: {"name": tool.name, "description": tool.description, "effect": tool.effect, "output_summary": {}}
            # A tool that declares nothing is not a tool of the protocol.
            self.answer(200, [fields(TOOLS[name]) for name in names if TOOLS[name].effect != "undeclared"])
        elif self.path.startswith("/api/capabilities/") and self.path.endswith("/schema"):
            self.answer(200, TOOLS[self.path.split("/")[3]].schema)
        elif self.world and (job := self.world.jobs.get(self.path.removeprefix("/jobs/"))):
            self.answer(200, job)
        else:
            self.answer(404, {"detail": "Not Found"})

    def do_POST(self):
        world, tool, key = self.world, self.path.split("/")[-1], self.headers.get("Idempotency-Key")
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        fault = world.fault(tool)
        world.record("tool", tool=tool, body=raw, key=key, fault=fault)
        time.sleep(world.scenario.latency.get(tool, 0))
        if self.fails_before(fault):
            return
        try:
            arguments = json.loads(raw or "{}")
        except ValueError:
            return self.answer(400, {"detail": "the body is not JSON"})
        if problems := misfits(TOOLS[tool].schema, arguments):
            return self.answer(422, {"detail": problems})
        if refusal := data.refusal(tool, arguments):
            return self.answer(*refusal)
        if fault in ("rejected-later", "job-fails", "job-done"):
            return self.answer(*world.accept(tool, arguments, key, fault))
        self.succeed(fault, world.do(tool, arguments, key))

    def fails_before(self, fault: str) -> bool:
        """Answers a call that fails before it has an effect."""
        match fault:
            case "429":
                self.answer(429, {"detail": "Too many requests"}, {"Retry-After": str(RETRY_AFTER)})
            case "429-date":
                # One second more, for dates have no fractions.
                when = email.utils.formatdate(time.time() + RETRY_AFTER + 1, usegmt=True)
                self.answer(429, {"detail": "Too many requests"}, {"Retry-After": when})
            case "401":
                self.answer(401, {"detail": "the token has expired"})
            case "404":
                self.answer(404, {"detail": "Not Found"})
            case "409":
                self.answer(409, {"detail": "the record was changed by someone else; read it again"})
            case "empty-200":
                self.answer_text(200, "", "application/json")
            case "500":
                self.answer(500, {"detail": "Internal Server Error"})
            case "503":
                self.answer_text(503, "<html><body><h1>503 Service Unavailable</h1></body></html>", "text/html")
            case "reset":
                self.reset()
            case "slow":
                time.sleep(SLOW)
                self.reset()
            case "html-200":
                self.answer_text(200, "<html><body><h1>Sign in</h1></body></html>", "text/html")
            case "error-200":
                self.answer(200, {"converted": 0.0, "pieces": 0, "error": "upstream service: connection refused"})
            case "kill":
                self.world.kill()
                self.reset()
            case _:
                return False
        return True

    def succeed(self, fault: str, reply: dict):
        match fault:
            case "reset-after":
                self.reset()
            case "500-after":
                self.answer(500, {"detail": "Internal Server Error"})
            case "504-after":
                self.answer_text(504, "<html><body><h1>504 Gateway Time-out</h1></body></html>", "text/html")
            case "slow-after":
                time.sleep(SLOW)
                self.reset()
            case "half":
                text = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text[: len(text) // 2])
                self.wfile.flush()
                self.world.record("tool-answer", status=200, body=text[: len(text) // 2].decode() + " (cut)")
                self.close_connection = True
            case "kill-after":
                self.world.kill()
                self.reset()
            case _:
                self.answer(200, reply)
                if fault == "kill-replied":
                    self.wfile.flush()
                    self.world.kill()

    def answer(self, status: int, body, headers: dict | None = None):
        self.answer_text(status, json.dumps(body), "application/json", headers)

    def answer_text(self, status: int, text: str, kind: str, headers: dict | None = None):
        if self.command == "POST":
            self.world.record("tool-answer", status=status, body=text if len(text) <= 500 else text[:500] + f" ... ({len(text)} characters)")
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(text.encode())), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def reset(self):
        """Closes the connection with a reset instead of an answer."""
        self.world.record("tool-answer", status=0, body="(the connection is reset)")
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """A caller that was killed leaves broken connections behind."""
