"""A scripted model provider that speaks the APIs of OpenAI (chat completions, responses) and of Anthropic (messages), streaming and not.

usage: python upstream.py PORT

The last text of the user decides what it does: `hello` is answered with a text, `weather` with a tool call and, after the result, with a text,
`structured` with JSON or a call of the tool that takes it, `fail 429` with that status, `slow` with words that never end. With `badly`, calls and
JSON have the mistakes that small models make. `raw NAME` is answered with the bytes of this name in answers.py.
`GET /_bench/left` says how many callers left before their answer was complete.
"""

import json
import re
import select
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

from answers import ANSWERS

TEXT = "Hello there, how are you?"
AFTER_TOOL = "It is 14.5 degrees in Seoul."
CITY = {"city": "Seoul", "degrees": 14.5}
BAD_JSON = 'Here it is:\n```json\n{city: \'Seoul\', "degrees": "14.5",}\n```'
BAD_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"City": "Seoul"}}\n</tool_call>'
left = 0


def text_in(content) -> str:
    """The text of a message in any of the APIs."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


def has_tool_result(message: dict) -> bool:
    content = message.get("content")
    is_anthropic = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
    return message.get("role") == "tool" or message.get("type") == "function_call_output" or is_anthropic


class Asked:
    """What a request asks for, whichever API it uses."""

    def __init__(self, body: dict):
        given = body.get("messages", body.get("input", []))
        messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
        users = [text_in(m.get("content")) for m in messages if m.get("role") == "user" and not has_tool_result(m)]
        self.text = (users or [""])[-1]
        self.is_after_tool = bool(messages) and has_tool_result(messages[-1])
        tools = [tool.get("function", tool) for tool in body.get("tools", [])]
        self.tools = {tool["name"]: tool.get("parameters", tool.get("input_schema", {})) for tool in tools if "name" in tool}
        self.wants_json = bool(
            body.get("response_format")
            or body.get("text", {}).get("format")
            or body.get("output_config")
            or body.get("output_format")
        )

    def answer(self) -> tuple[str | None, tuple[str, dict] | None]:
        """A text, or a call."""
        if "badly" in self.text and not self.is_after_tool:
            return (BAD_JSON if "structured" in self.text else BAD_CALL), None
        if "structured" in self.text and not self.is_after_tool:
            taker = next((name for name, schema in self.tools.items() if "degrees" in schema.get("properties", {})), None)
            return (None, (taker, CITY)) if taker and not self.wants_json else (json.dumps(CITY), None)
        if "weather" in self.text and not self.is_after_tool and "get_weather" in self.tools:
            return None, ("get_weather", {"city": "Seoul"})
        return (AFTER_TOOL if self.is_after_tool else TEXT), None


def pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class Chat:
    """OpenAI, chat completions."""

    def __init__(self, body: dict):
        self.head = {"id": "chatcmpl-1", "created": 1700000000, "model": body["model"]}
        self.with_usage = (body.get("stream_options") or {}).get("include_usage")

    def whole(self, text, call):
        message = {"role": "assistant", "content": text, "refusal": None}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop", "logprobs": None}
        return {
            **self.head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": USAGE,
            "system_fingerprint": "fp_scripted",
        }

    def chunk(self, delta: dict, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return None, {**self.head, "object": "chat.completion.chunk", "choices": [choice]}

    def start(self):
        yield self.chunk({"role": "assistant", "content": ""})

    def word(self, word: str):
        yield self.chunk({"content": word})

    def end(self, text, call):
        if call:
            function = {"name": call[0], "arguments": ""}
            yield self.chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
            for part in pieces(json.dumps(call[1])):
                yield self.chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
        yield self.chunk({}, "tool_calls" if call else "stop")
        if self.with_usage:
            yield None, {**self.head, "object": "chat.completion.chunk", "choices": [], "usage": USAGE}
        yield None, "[DONE]"

    @staticmethod
    def error(status: int):
        return {
            "error": {
                "message": f"scripted failure {status}",
                "type": "scripted",
                "param": None,
                "code": f"scripted_{status}",
            }
        }


class Responses(Chat):
    """OpenAI, responses."""

    def __init__(self, body: dict):
        self.number = count()
        self.head = {
            "id": "resp_1", "object": "response", "created_at": 1700000000, "model": body["model"], "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0,
            "tool_choice": "auto", "tools": body.get("tools", []), "top_p": 1.0,
        }  # fmt: skip

    def item(self, text, call, status="completed"):
        if call:
            return {
                "id": "fc_1",
                "type": "function_call",
                "status": status,
                "call_id": "call_1",
                "name": call[0],
                "arguments": json.dumps(call[1]),
            }
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [part] if status == "completed" else [],
        }

    def whole(self, text, call):
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, **details}
        return {**self.head, "status": "completed", "output": [self.item(text, call)], "usage": usage}

    def event(self, kind: str, **fields):
        return kind, {"type": kind, "sequence_number": next(self.number), **fields}

    def start(self):
        started = {**self.head, "status": "in_progress", "output": [], "usage": None}
        yield self.event("response.created", response=started)
        yield self.event("response.in_progress", response=started)

    def word(self, word: str):
        if not hasattr(self, "is_open"):
            self.is_open = True
            yield self.event("response.output_item.added", output_index=0, item=self.item("", None, "in_progress"))
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            yield self.event("response.content_part.added", item_id="msg_1", output_index=0, content_index=0, part=part)
        yield self.event(
            "response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=word, logprobs=[]
        )

    def end(self, text, call):
        item = self.item(text, call)
        if call:
            yield self.event(
                "response.output_item.added", output_index=0, item={**item, "status": "in_progress", "arguments": ""}
            )
            for part in pieces(item["arguments"]):
                yield self.event("response.function_call_arguments.delta", item_id="fc_1", output_index=0, delta=part)
            yield self.event(
                "response.function_call_arguments.done",
                item_id="fc_1",
                output_index=0,
                name=call[0],
                arguments=item["arguments"],
            )
        else:
            at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
            yield self.event("response.output_text.done", **at, text=text, logprobs=[])
            yield self.event("response.content_part.done", **at, part=item["content"][0])
        yield self.event("response.output_item.done", output_index=0, item=item)
        yield self.event("response.completed", response=self.whole(text, call))


class Messages:
    """Anthropic, messages."""

    def __init__(self, body: dict):
        self.head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        self.is_open = False

    def whole(self, text, call):
        block = (
            {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": call[1]}
            if call
            else {"type": "text", "text": text}
        )
        usage = {"input_tokens": 11, "output_tokens": 7}
        return {
            **self.head,
            "content": [block],
            "stop_reason": "tool_use" if call else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }

    def event(self, kind: str, **fields):
        return kind, {"type": kind, **fields}

    def start(self):
        usage = {"input_tokens": 11, "output_tokens": 1}
        message = {**self.head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield self.event("message_start", message=message)
        yield self.event("ping")

    def word(self, word: str):
        if not self.is_open:
            self.is_open = True
            yield self.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield self.event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})

    def end(self, text, call):
        if call:
            block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": {}}
            yield self.event("content_block_start", index=0, content_block=block)
            for part in pieces(json.dumps(call[1])):
                yield self.event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": part})
        yield self.event("content_block_stop", index=0)
        delta = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield self.event("message_delta", delta=delta, usage={"output_tokens": 7})
        yield self.event("message_stop")

    @staticmethod
    def error(status: int):
        kind = {401: "authentication_error", 429: "rate_limit_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": f"scripted failure {status}"}, "request_id": "req_1"}


APIS = {"/v1/chat/completions": Chat, "/v1/responses": Responses, "/v1/messages": Messages}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/_bench/left":
            return self.reply(200, left)
        models = [
            {
                "id": "scripted",
                "object": "model",
                "created": 0,
                "owned_by": "bench",
                "type": "model",
                "display_name": "scripted",
                "created_at": "2026-01-01T00:00:00Z",
            }
        ]
        self.reply(200, {"object": "list", "data": models, "has_more": False, "first_id": "scripted", "last_id": "scripted"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        api = APIS.get(self.path.split("?")[0])
        if api is None:
            return self.reply(404, Chat.error(404))
        asked = Asked(body)
        if failure := re.search(r"fail (\d+)", asked.text):
            return self.reply(int(failure[1]), api.error(int(failure[1])))
        if named := re.fullmatch(r"raw (.+)", asked.text):
            return self.send_raw(ANSWERS[self.path.split("/v1/")[1].split("/")[0]][1](named[1], bool(body.get("stream")))[1], body)
        is_slow = "slow" in asked.text
        if body.get("stream"):
            return self.stream(api(body), *asked.answer(), is_slow)
        if is_slow and not self.wait(30):
            return
        self.reply(200, api(body).whole(*asked.answer()))

    def send_raw(self, text: bytes, body: dict):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def wait(self, seconds: float) -> bool:
        """Waits; false if the caller leaves meanwhile."""
        global left
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable:
            left += 1
            self.close_connection = True
        return not readable

    def stream(self, api, text, call, is_slow: bool):
        global left
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            self.send_all(api.start())
            if is_slow:
                for _ in range(300):
                    self.send_all(api.word("word "))
                    time.sleep(0.1)
            for word in pieces(text or ""):
                self.send_all(api.word(word))
            self.send_all(api.end(text, call))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            left += 1
            self.close_connection = True

    def send_all(self, events):
        for name, data in events:
            line = data if isinstance(data, str) else json.dumps(data)
            text = (f"event: {name}\n" if name else "") + f"data: {line}\n\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
            self.wfile.flush()

    def reply(self, status: int, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.send_header("x-scripted", "yes")
        if status >= 400:
            # Nobody has to wait before the next attempt.
            self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
