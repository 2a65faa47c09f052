"""The model servers: `/primary/v1` and `/backup/v1` speak chat completions, whole or as a stream, and answer as policy.py says.

Faults of one request (`Scenario.model_faults`):

    ok              none
    429, 429-long   too many requests, with `Retry-After` of one second or of ten minutes
    quota           429 with `insufficient_quota`
    401, 404, 500, 503, 529
    reset           the connection is reset instead of an answer
    silent          no answer within the time limit of the caller
    half            the body, or the stream, ends in the middle
    stall           the stream stops in the middle and stays open
    bad event       an event of the stream is not JSON, and the others are right
    error event     the stream has an event with an `error` in the middle and ends there; an answer that is no stream is `error in 200`
    same index      all calls of the stream have the index 0, as some gateways number them
    repeated head   every event of a call repeats its id, its type and its name
    no end          the stream has no `[DONE]` and no reason why it ended
    html            status 200 with the page of a proxy
    error in 200    status 200 with an `error` and no choices
    no choices      status 200 with an empty list of choices
    context         400: the conversation is longer than the context window
    filter          400: a content filter of the provider refuses the request

`Scenario.context` makes every request to `primary` fail with `context` that is longer.
"""

import json
import socket
import struct
import time
from http.server import BaseHTTPRequestHandler
from threading import Lock

from scenario import HELPER

from . import damage
from .policy import PlanPolicy, Policy

# Longer than the time limit of a request to a model, which is the same for all systems (MODEL_LIMIT in systems/__init__.py).
SILENT = 10.0
ERRORS = {
    "429": (429, "rate_limit_exceeded", "Rate limit reached for requests"),
    "429-long": (429, "rate_limit_exceeded", "Rate limit reached for requests"),
    "quota": (429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."),
    "401": (401, "invalid_api_key", "Incorrect API key provided"),
    "404": (404, "model_not_found", "The model `scripted` does not exist"),
    "500": (500, "server_error", "The server had an error while processing your request"),
    "503": (503, "server_error", "The engine is currently overloaded, please try again later"),
    "529": (529, "overloaded_error", "Overloaded"),
    "context": (400, "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, your messages resulted in more."),
    "filter": (400, "content_filter", "The response was filtered due to the prompt triggering the content management policy."),
}
WAITS = {"429": "1", "429-long": "600"}


def tokens(value) -> int:
    """A rough count, the same for all systems: four characters are a token."""
    return len(json.dumps(value, ensure_ascii=False)) // 4


def shortened(value) -> str:
    """A text for the transcript."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 500 else text[:500] + f" ... ({len(text)} characters)"


class ModelWorld:
    """What the model servers know during one cell."""

    def __init__(self, scenario, record, kill):
        self.scenario, self.record, self.kill = scenario, record, kill
        self.policy = (PlanPolicy if scenario.plan else Policy)(scenario)
        self.child_policy = Policy(scenario.child) if scenario.child else None
        self.faults = {server: list(faults) for server, faults in scenario.model_faults.items()}
        self.requests, self.answers, self.tokens_in, self.tokens_out = 0, 0, 0, 0
        self.lock = Lock()

    def fault(self, server: str, body: dict) -> str:
        with self.lock:
            self.requests += 1
            self.tokens_in += tokens([body.get("messages"), body.get("tools")])
            limit = self.scenario.context
            if limit and server == "primary" and tokens(body.get("messages")) > limit:
                return "context"
            armed = self.faults.get(server, [])
            if not armed:
                return "ok"
            return armed[0][:-3] if armed[0].endswith("...") else armed.pop(0)

    def answer(self, body: dict) -> tuple[dict, str]:
        """A message, and the reason why it ended."""
        offered = [tool["function"]["name"] for tool in body.get("tools") or []]
        is_child = self.child_policy and not any(name.endswith(HELPER) for name in offered)
        message = (self.child_policy if is_child else self.policy).next_message(body["messages"], offered)
        with self.lock:
            self.answers += 1
            kind = self.scenario.damage.get(self.answers) or self.scenario.damage.get(0, "")
        message, reason = damage.apply(kind, message)
        with self.lock:
            self.tokens_out += tokens(message)
        return message, reason


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # As servers do in production. Otherwise the kernel waits 40 ms between head and body on a connection that is used again.
    disable_nagle_algorithm = True
    world: ModelWorld | None = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_text(200, json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}), "application/json")

    def do_POST(self):
        world, server = self.world, self.path.split("/")[1]
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        fault = world.fault(server, body)
        messages = body.get("messages") or [{}]
        last = {name: shortened(value) for name, value in messages[-1].items() if name in ("role", "content", "tool_call_id")}
        world.record("model", server=server, fault=fault, count=len(messages), last=last, stream=bool(body.get("stream")))
        if world.requests == world.scenario.kill_at_model_request:
            world.kill()
            return self.reset()
        if fault in ERRORS:
            status, code, message = ERRORS[fault]
            headers = {"Retry-After": WAITS[fault]} if fault in WAITS else {}
            error = {"message": message, "type": code, "code": code, "param": None}
            return self.send(status, {"error": error}, headers)
        match fault:
            case "reset":
                return self.reset()
            case "silent":
                time.sleep(SILENT)
                return self.reset()
            case "html":
                return self.send_text(200, "<html><body>Bad Gateway</body></html>", "text/html")
            case "error event" if not body.get("stream"):
                return self.send(200, {"error": {"message": "Overloaded", "code": 529}})
            case "error in 200":
                return self.send(200, {"error": {"message": "Provider returned error", "code": 502}})
            case "no choices":
                return self.send(200, {**self.frame(body, "chat.completion"), "choices": []})
        message, reason = world.answer(body)
        world.record("model-answer", message=message, reason=reason)
        (self.stream if body.get("stream") else self.whole)(body, message, reason, fault)

    def frame(self, body: dict, kind: str) -> dict:
        return {"id": f"chatcmpl-{self.world.requests}", "object": kind, "created": int(time.time()), "model": body.get("model", "scripted")}

    def usage(self, body: dict, message: dict) -> dict:
        sent, written = tokens([body.get("messages"), body.get("tools")]), tokens(message)
        return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}

    def whole(self, body: dict, message: dict, reason: str, fault: str):
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
        answer = {**self.frame(body, "chat.completion"), "choices": [choice], "usage": self.usage(body, message)}
        if fault not in ("half", "stall"):
            return self.send(200, answer)
        text = json.dumps(answer).encode()
        self.send_head(200, {"Content-Type": "application/json", "Content-Length": str(len(text))})
        self.wfile.write(text[: len(text) // 2])
        self.wfile.flush()
        if fault == "stall":
            time.sleep(SILENT)
        self.close_connection = True

    def stream(self, body: dict, message: dict, reason: str, fault: str):
        """The same answer as events, in small pieces."""
        events = [{"role": "assistant", "content": ""}]
        if text := message.get("content"):
            events += [{"content": text[at : at + 8]} for at in range(0, len(text), 8)]
        events += [{name: message[name]} for name in ("refusal", "reasoning_content") if message.get(name)]
        for index, call in enumerate(message.get("tool_calls") or []):
            head = {"index": index, "id": call["id"], "type": "function", "function": {"name": call["function"]["name"], "arguments": ""}}
            arguments = call["function"]["arguments"]
            events.append({"tool_calls": [head]})
            # Arguments that are damaged to an object come in one piece.
            whole = not isinstance(arguments, str)
            pieces = [arguments] if whole else [arguments[at : at + 8] for at in range(0, len(arguments), 8)]
            again = {"id": call["id"], "type": "function"} if fault == "repeated head" else {}
            name = {"name": call["function"]["name"]} if fault == "repeated head" else {}
            events += [{"tool_calls": [{"index": index, **again, "function": {**name, "arguments": piece}}]} for piece in pieces]
        if fault == "same index":
            for delta in events:
                for part in delta.get("tool_calls") or []:
                    part["index"] = 0
        self.send_head(200, {"Content-Type": "text/event-stream", "Connection": "close"})
        self.close_connection = True
        frame = self.frame(body, "chat.completion.chunk")
        write = lambda data: (self.wfile.write(f"data: {data}\n\n".encode()), self.wfile.flush())
        for number, delta in enumerate(events):
            if fault in ("half", "stall") and number == max(1, len(events) // 2):
                if fault == "stall":
                    time.sleep(SILENT)
                return self.reset()
            if fault == "error event" and number == max(1, len(events) // 2):
                return write(json.dumps({"error": {"message": "Overloaded", "type": "overloaded_error", "code": 529}}))
            if fault == "bad event" and number == 1:
                write('{"choices": [{"delta": {"content": "')
            write(json.dumps({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
        if fault == "no end":
            return
        write(json.dumps({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
        if (body.get("stream_options") or {}).get("include_usage"):
            write(json.dumps({**frame, "choices": [], "usage": self.usage(body, message)}))
        write("[DONE]")

    def send(self, status: int, body, headers: dict | None = None):
        if status != 200 or "choices" not in body or not body["choices"]:
            self.world.record("model-error", status=status, body=body)
        self.send_text(status, json.dumps(body), "application/json", headers)

    def send_text(self, status: int, text: str, kind: str, headers: dict | None = None):
        self.send_head(status, {"Content-Type": kind, "Content-Length": str(len(text.encode())), **(headers or {})})
        self.wfile.write(text.encode())

    def send_head(self, status: int, headers: dict):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def reset(self):
        self.world.record("model-error", status=0, body="(the connection is reset)")
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
