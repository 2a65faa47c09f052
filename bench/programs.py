"""What the benchmarks in Python share: JSON over HTTP, scripted models, and programs that listen on a port of this machine."""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class JsonHandler(BaseHTTPRequestHandler):
    """Answers with JSON, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")

    def answer(self, status: int, value) -> None:
        self.send(status, "application/json", json.dumps(value).encode())

    def send(self, status: int, content_type: str, text: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        """The other side has gone, or was killed."""


def serve(handler: type) -> tuple[Server, str]:
    """Serves in threads of this process. Returns the server and its address."""
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def completion(message: dict) -> dict:
    """An answer in the API of OpenAI, `chat/completions`."""
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


def empty_folder(path: str) -> Path:
    folder = Path(path)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def start(command: list, port: int, log: Path, environment: dict[str, str] | None = None, cwd: Path | None = None) -> subprocess.Popen:
    """Starts a program, and waits until it accepts connections. It ends with this process at the latest."""
    with open(log, "w") as out:
        words, variables = [str(word) for word in command], {**os.environ, **(environment or {})}
        process = subprocess.Popen(words, stdout=out, stderr=out, cwd=cwd or log.parent, env=variables)
    atexit.register(process.terminate)
    for _ in range(1200):
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    sys.exit(f"{words[0]} does not start; see {log}")


def start_reknit(reknit: str, arguments: list, log: Path, environment: dict[str, str] | None = None, cores: list = ()) -> tuple[subprocess.Popen, int]:
    """Starts `reknit serve`. Returns it with its port."""
    port = free_port()
    command = [*cores, reknit, "serve", "--listen", f"127.0.0.1:{port}", *arguments]
    return start(command, port, log, environment), port
