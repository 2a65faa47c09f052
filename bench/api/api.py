"""Starts `reknit serve` with a tool, a scripted model and some runs, and tests it with schemathesis in two passes.

usage: python api.py REKNIT SCHEMATHESIS FOLDER CHECKS SECONDS

The first pass invents the ids of runs, or takes them from earlier responses. The second pass uses the runs that were made before, one of
which waits for a decision, so that every path has a run to work on.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import JsonHandler, empty_folder, serve, start_reknit  # noqa: E402 (the path is set above)

CONFIGURATION = """
[[command]]
name = "files"
capability = "echo"
description = "Returns a text"
command = ["printf", "%s", "{text}"]
effect = "read"
parameters = { text = "string" }

[[command]]
name = "files"
capability = "send"
description = "Sends a text"
command = ["printf", "%s", "{text}"]
effect = "unsafe"
parameters = { text = "string" }

[[approve]]
class = "unsafe"
"""

PLAN = {"steps": [{"id": "a", "tool": "files/echo", "with": {"text": "hello"}}]}
WAITING = {"steps": [{"id": "b", "tool": "files/send", "with": {"text": "hello"}}]}

# The same as a model writes it.
CALL = {"capability": "echo", "parameters": {"text": "hello"}}
MODEL_PLAN = {
    "plan_id": "p",
    "steps": [{"step_id": "a", "agent_name": "files", "instruction": "echo", "depends_on": [], "metadata": CALL}],
}

# Watching a run that waits never ends, so only decisions are about that one.
FIXED = """
[parameters]
"path.run" = "seed-done"

[[operations]]
include-path = "/v1/runs/{{run}}/decisions/{{question}}"
parameters = {{ "path.run" = "seed-waiting", "path.question" = "{question}" }}
"""


HELLO = [{"role": "user", "content": "hello"}]
# Requests that a generator hardly finds: those whose answer is a stream, and those that need a model.
KNOWN = [
    ("/v1/runs", {"plan": PLAN, "mode": "stream"}),
    ("/v1/runs", {"request": "hello", "mode": "start"}),
    ("/orchestrate/natural", {"request": "hello"}),
    ("/v1/chat/completions", {"model": "auto", "messages": HELLO}),
    ("/v1/chat/completions", {"model": "auto", "messages": HELLO, "stream": True}),
    ("/v1/chat/completions", {"model": "nobody", "messages": HELLO}),
    ("/v1/responses", {"model": "auto", "input": "hello"}),
    ("/v1/responses", {"model": "auto", "input": "hello", "stream": True}),
    ("/v1/messages", {"model": "auto", "messages": HELLO, "max_tokens": 100}),
    ("/v1/messages", {"model": "auto", "messages": HELLO, "max_tokens": 100, "stream": True}),
]


class Model(JsonHandler):
    """A model that always writes the same plan."""

    def do_POST(self):
        is_stream = self.body().get("stream")
        message = {"role": "assistant", "content": json.dumps(MODEL_PLAN)}
        choice = {"index": 0, "delta" if is_stream else "message": message, "finish_reason": "stop"}
        kind = "chat.completion.chunk" if is_stream else "chat.completion"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = json.dumps({"id": "x", "object": kind, "created": 0, "model": "m", "choices": [choice], "usage": usage})
        text = (f"data: {answer}\n\ndata: [DONE]\n\n" if is_stream else answer).encode()
        self.send(200, "text/event-stream" if is_stream else "application/json", text)


def post(url: str, body: dict) -> dict:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def known_requests_are_documented(url: str) -> bool:
    """Whether the status and the content type of each answer to `KNOWN` are in the document."""
    holds = True
    paths = json.load(urllib.request.urlopen(f"{url}/openapi.json"))["paths"]
    for path, body in KNOWN:
        if path not in paths:
            print(f"{path}: skipped, the server has no such path")
            continue
        request = urllib.request.Request(url + path, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            response = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            response = error
        content_type = response.headers.get_content_type()
        text = response.read().decode(errors="replace")
        documented = paths[path]["post"]["responses"].get(str(response.status), {}).get("content", {})
        if response.status >= 500 or content_type not in documented:
            holds = False
            print(
                f"POST {path} {json.dumps(body)}: {response.status} {content_type}, documented for it: {sorted(documented) or 'nothing'}\n    {text[:300]}"
            )
    print(f"== known requests: {'passed' if holds else 'FAILED'}")
    return holds


def test(schemathesis: str, folder: Path, url: str, checks: str, seconds: str, name: str, configuration: str) -> bool:
    (folder / f"{name}.toml").write_text(configuration)
    log = folder / f"{name}.log"
    command = [schemathesis, "--config-file", folder / f"{name}.toml", "run", f"{url}/openapi.json", "--no-color"]
    command += ["--checks", checks, "--max-time", seconds, "--seed", "1", "--continue-on-failure", "--request-timeout", "20"]
    command += ["--generation-database", "none", "--warnings", "off"]
    with open(log, "w") as out:
        passed = subprocess.run(command, cwd=folder, stdout=out, stderr=out).returncode == 0
    text = log.read_text()
    print(f"== {name}: {'passed' if passed else 'FAILED'}")
    print(text[text.find("= FAILURES =") :] if "= FAILURES =" in text else text[text.rfind("= SUMMARY =") :])
    return passed


def main() -> int:
    reknit, schemathesis, folder, checks, seconds = sys.argv[1], sys.argv[2], empty_folder(sys.argv[3]), sys.argv[4], sys.argv[5]
    os.environ["NO_PROXY"] = "127.0.0.1"
    _, model_url = serve(Model)
    (folder / "reknit.toml").write_text(CONFIGURATION)
    arguments = ["--config", folder / "reknit.toml", "--journal", folder / "journal.db"]
    arguments += ["--model-url", f"{model_url}/v1", "--model", "scripted"]
    process, port = start_reknit(reknit, arguments, folder / "serve.log")
    url = f"http://127.0.0.1:{port}"
    try:
        post(f"{url}/v1/runs", {"plan": PLAN, "run_id": "seed-done"})
        waiting = post(f"{url}/v1/runs", {"plan": WAITING, "run_id": "seed-waiting"})
        question = waiting["questions"][0]["question"]
        known = known_requests_are_documented(url)
        invented = test(schemathesis, folder, url, checks, seconds, "invented-runs", "")
        seeded = test(schemathesis, folder, url, checks, seconds, "seeded-runs", FIXED.format(question=question))
        is_alive = process.poll() is None
    finally:
        process.terminate()
    if not is_alive:
        print(f"reknit serve ended by itself; see {folder}/serve.log")
    panics = (folder / "serve.log").read_text().count("panicked")
    print(f"panics in the log of the server: {panics}")
    return 0 if known and invented and seeded and is_alive and panics == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
