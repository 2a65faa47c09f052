"""Answers that a provider may legally send, in its three APIs, whole and as a stream: 20 shapes each. Nothing in them needs mending, so a gateway
has to pass each of them on byte by byte.
"""

import json
import re

TEXT = "Hello there, {how} are <b>you</b>? 안녕 👋"
CALL = {"name": "get_weather", "arguments": {"city": "Seoul"}}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOL = {"type": "function", "function": {"name": "get_weather", "description": "", "parameters": SCHEMA}}
RESPONSES_TOOL = {"type": "function", "name": "get_weather", "description": "", "parameters": SCHEMA}
MESSAGES_TOOL = {"name": "get_weather", "description": "", "input_schema": SCHEMA}
CITY_SCHEMA = {**SCHEMA, "additionalProperties": False}


def pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text) or [text]


def lines(events: list, style: dict) -> bytes:
    """Server-sent events. Each is a pair of a name, which may be None, and data."""
    end = style.get("end", "\n")
    out = style.get("before", "")
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data, **style.get("json", {}))
        fields = [f"event: {name}"] if name else []
        fields += [f"data: {line}" for line in text.split("\n")]
        out += end.join(fields) + end + end + style.get("between", "")
    return out.encode()


def whole(value: dict, style: dict) -> bytes:
    return (json.dumps(value, **style.get("json", {})) + style.get("after", "")).encode()


# How the bytes of one answer may differ from those of another.
STYLES = {
    "compact JSON": {"json": {"separators": (",", ":")}},
    "indented JSON": {"json": {"indent": 2}, "after": "\n"},
    "characters as they are": {"json": {"ensure_ascii": False}},
    "comments and lines that end with CRLF": {"end": "\r\n", "before": ": connected\r\n\r\n", "between": ": ping\r\n\r\n", "after": "  \n"},
}


def chat_call(index: int, **more) -> dict:
    return {"id": f"call_{index}", "type": "function", "function": {"name": CALL["name"], "arguments": json.dumps(CALL["arguments"])}, **more}


LOGPROBS = {"content": [{"token": "Hello", "logprob": -0.25, "bytes": [72], "top_logprobs": []}], "refusal": None}

# Name: the message, the reason for its end, and what else the answer and its choice have.
CHAT = {
    "a text": ({"content": TEXT}, "stop", {}),
    **{style: ({"content": TEXT}, "stop", {}) for style in STYLES if style != "indented JSON"},
    "an empty text": ({"content": ""}, "stop", {}),
    "a refusal": ({"content": None, "refusal": "I cannot help."}, "stop", {}),
    "a call": ({"content": None, "tool_calls": [chat_call(1)]}, "tool_calls", {}),
    "two calls": ({"content": None, "tool_calls": [chat_call(1), chat_call(2)]}, "tool_calls", {}),
    "a call beside a text": ({"content": TEXT, "tool_calls": [chat_call(1)]}, "tool_calls", {}),
    "a call with fields of the provider": ({"content": None, "tool_calls": [chat_call(1, extra_content={"sign": "x=="})]}, "tool_calls", {}),
    "a legacy function call": ({"content": None, "function_call": chat_call(1)["function"]}, "function_call", {}),
    "audio": ({"content": None, "audio": {"id": "a_1", "data": "UklGRg==", "expires_at": 1, "transcript": "Hi"}}, "stop", {}),
    "citations": ({"content": TEXT, "annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A", "start_index": 0, "end_index": 5}}]}, "stop", {}),
    "log probabilities": ({"content": "Hello"}, "stop", {"logprobs": LOGPROBS}),
    "a text that the limit cut": ({"content": "Hello th"}, "length", {}),
    "a text that a filter cut": ({"content": "Hello"}, "content_filter", {"content_filter_results": {"hate": {"filtered": True}}}),
    "two choices": ({"content": TEXT}, "stop", {"n": 2}),
    "reasoning": ({"reasoning_content": "Hm.\n\nYes.", "content": TEXT}, "stop", {}),
    "reasoning in tags": ({"content": "<think>\nHm {x}.\n</think>\n\n" + TEXT}, "stop", {}),
    "numbers with many digits": ({"content": "Hello"}, "stop", {"provider": {"cost": 1.10, "big": 12345678901234567890}}),
}  # fmt: skip


def chat(name: str, stream: bool) -> tuple[dict, bytes]:
    """What is asked for, and the body of the answer."""
    message, reason, more = CHAT[name]
    style = STYLES.get(name, {})
    request = {"tools": [CHAT_TOOL]} if "call" in name else {}
    request |= {"n": 2} if "n" in more else {}
    head = {"id": "chatcmpl-1", "created": 1700000000, "model": "scripted", "service_tier": "default", "system_fingerprint": "fp_1"}
    more = {"logprobs": None, **{key: value for key, value in more.items() if key != "n"}}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}}
    count = request.get("n", 1)
    if not stream:
        choices = [{"index": index, "message": {"role": "assistant", "refusal": None, **message}, **more, "finish_reason": reason} for index in range(count)]
        return request, whole({**head, "object": "chat.completion", "choices": choices, "usage": usage}, style)

    def chunk(delta: dict, index: int, end=None) -> tuple[None, dict]:
        return None, {**head, "object": "chat.completion.chunk", "choices": [{"index": index, "delta": delta, **more, "finish_reason": end}], "obfuscation": "xyz"}

    events = [chunk({"role": "assistant", "content": None, "refusal": None}, index) for index in range(count)]
    for index in range(count):
        for key, value in message.items():
            if isinstance(value, str):
                events += [chunk({key: piece}, index) for piece in pieces(value)]
            elif key == "tool_calls":
                for number, call in enumerate(value):
                    started = {**call, "function": {**call["function"], "arguments": ""}}
                    events.append(chunk({"tool_calls": [{"index": number, **started}]}, index))
                    events += [chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]}, index) for piece in pieces(call["function"]["arguments"])]
            elif value is not None:
                events.append(chunk({key: value}, index))
        events.append(chunk({}, index, reason))
    events += [(None, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}), (None, "[DONE]")]
    return {**request, "stream_options": {"include_usage": True}}, lines(events, style)


def text_item(text: str, annotations=()) -> dict:
    part = {"type": "output_text", "annotations": list(annotations), "logprobs": [], "text": text}
    return {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}


def call_item(index: int) -> dict:
    arguments = json.dumps(CALL["arguments"])
    return {"id": f"fc_{index}", "type": "function_call", "status": "completed", "arguments": arguments, "call_id": f"call_{index}", "name": CALL["name"]}


REASONING_ITEM = {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA==", "summary": [{"type": "summary_text", "text": "**Hm**\n\nYes."}]}
URL = {"type": "url_citation", "start_index": 0, "end_index": 5, "url": "https://a.example", "title": "A"}
REFUSED = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot help."}]}
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "hello"}}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FILTERED = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}

# Name: the items, and what else the answer has.
RESPONSES = {
    "a text": ([text_item(TEXT)], {}),
    **{style: ([text_item(TEXT)], {}) for style in STYLES},
    "an empty text": ([text_item("")], {}),
    "a refusal": ([REFUSED], {}),
    "a call": ([call_item(1)], {}),
    "two calls": ([call_item(1), call_item(2)], {}),
    "a call beside a text": ([text_item(TEXT), call_item(1)], {}),
    "a call behind reasoning": ([REASONING_ITEM, call_item(1)], {}),
    "reasoning": ([REASONING_ITEM, text_item(TEXT)], {}),
    "citations": ([text_item(TEXT, [URL])], {}),
    "a search of the provider": ([SEARCH, text_item(TEXT, [URL])], {}),
    "a text that the limit cut": ([{**text_item("Hello th"), "status": "incomplete"}], CUT),
    "a text that a filter cut": ([{**text_item("Hello"), "status": "incomplete"}], FILTERED),
    "reasoning in tags": ([text_item("<think>\nHm {x}.\n</think>\n\n" + TEXT)], {}),
    "metadata": ([text_item(TEXT)], {"metadata": {"order": "7"}, "safety_identifier": "u_1", "prompt_cache_key": "k", "store": False}),
    "numbers with many digits": ([text_item(TEXT)], {"provider": {"cost": 1.10, "big": 12345678901234567890}}),
    "an image of the provider": ([{"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": "iVBORw=="}, text_item(TEXT)], {}),
}  # fmt: skip


def responses(name: str, stream: bool) -> tuple[dict, bytes]:
    items, more = RESPONSES[name]
    style = STYLES.get(name, {})
    request = {"tools": [RESPONSES_TOOL]} if "call" in name else {}
    request |= {"tools": [{"type": "web_search"}]} if name == "a search of the provider" else {}
    request |= {"tools": [{"type": "image_generation"}]} if name == "an image of the provider" else {}
    usage = {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18}
    head = {
        "id": "resp_1", "object": "response", "created_at": 1700000000, "status": "completed", "background": False, "error": None,
        "incomplete_details": None, "instructions": None, "max_output_tokens": None, "model": "scripted", "output": items, "parallel_tool_calls": True,
        "previous_response_id": None, "reasoning": {"effort": None, "summary": None}, "temperature": 1.0, "text": {"format": {"type": "text"}},
        "tool_choice": "auto", "tools": [], "top_p": 1.0, "truncation": "disabled", "usage": usage, "metadata": {}, **more,
    }  # fmt: skip
    if not stream:
        return request, whole(head, style)
    events: list = []

    def event(kind: str, **fields) -> None:
        events.append((kind, {"type": kind, "sequence_number": len(events), **fields}))

    started = {**head, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    event("response.created", response=started)
    event("response.in_progress", response=started)
    for index, item in enumerate(items):
        item_events(event, index, item)
    event(f"response.{head['status']}", response=head)
    return request, lines(events, style)


def item_events(event, index: int, item: dict) -> None:
    at = {"item_id": item["id"], "output_index": index}
    empty = {"message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []}}.get(item["type"], {})
    event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", **empty})
    for number, part in enumerate(item.get("content", ())):
        kind, key = ("output_text", "text") if part["type"] == "output_text" else ("refusal", "refusal")
        inside = {**at, "content_index": number}
        event("response.content_part.added", **inside, part={**part, key: "", **({"annotations": []} if kind == "output_text" else {})})
        for piece in pieces(part[key]):
            event(f"response.{kind}.delta", **inside, delta=piece, **({"logprobs": [], "obfuscation": "x"} if kind == "output_text" else {}))
        for place, annotation in enumerate(part.get("annotations", ())):
            event("response.output_text.annotation.added", **inside, annotation_index=place, annotation=annotation)
        event(f"response.{kind}.done", **inside, **{key: part[key]})
        event("response.content_part.done", **inside, part=part)
    for piece in pieces(item.get("arguments", "")) if "arguments" in item else ():
        event("response.function_call_arguments.delta", **at, delta=piece, obfuscation="x")
    if "arguments" in item:
        event("response.function_call_arguments.done", **at, arguments=item["arguments"])
    for number, part in enumerate(item.get("summary", ())):
        inside = {**at, "summary_index": number}
        event("response.reasoning_summary_part.added", **inside, part={**part, "text": ""})
        event("response.reasoning_summary_text.delta", **inside, delta=part["text"])
        event("response.reasoning_summary_text.done", **inside, text=part["text"])
        event("response.reasoning_summary_part.done", **inside, part=part)
    event("response.output_item.done", output_index=index, item=item)


def text_block(text: str, **more) -> dict:
    return {"type": "text", "text": text, **more}


def call_block(index: int) -> dict:
    return {"type": "tool_use", "id": f"toolu_{index}", "name": CALL["name"], "input": CALL["arguments"]}


THINKING = {"type": "thinking", "thinking": "Hm.\n\nYes.", "signature": "ErUBCkYIBxgCIkA="}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"}
SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "hello"}}
SERVER_RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "Eq==", "page_age": None}]}
CITED = {"type": "web_search_result_location", "url": "https://a.example", "title": "A", "encrypted_index": "Eo==", "cited_text": "Hello"}

# Name: the blocks, the reason for the end, and what else the answer has.
MESSAGES = {
    "a text": ([text_block(TEXT)], "end_turn", {}),
    **{style: ([text_block(TEXT)], "end_turn", {}) for style in STYLES},
    "two texts": ([text_block(TEXT), text_block("And more.")], "end_turn", {}),
    "no content": ([], "end_turn", {}),
    "a refusal": ([text_block("I cannot help.")], "refusal", {}),
    "a call": ([call_block(1)], "tool_use", {}),
    "two calls": ([call_block(1), call_block(2)], "tool_use", {}),
    "a call beside a text": ([text_block(TEXT), call_block(1)], "tool_use", {}),
    "a call behind reasoning": ([THINKING, call_block(1)], "tool_use", {}),
    "reasoning": ([THINKING, text_block(TEXT)], "end_turn", {}),
    "reasoning that is hidden": ([REDACTED, text_block(TEXT)], "end_turn", {}),
    "a search of the provider": ([SERVER_CALL, SERVER_RESULT, text_block(TEXT, citations=[CITED])], "end_turn", {}),
    "a turn that pauses": ([SERVER_CALL], "pause_turn", {}),
    "a text that the limit cut": ([text_block("Hello th")], "max_tokens", {}),
    "a text that a sequence ends": ([text_block("Hello")], "stop_sequence", {"stop_sequence": "END"}),
    "reasoning in tags": ([text_block("<think>\nHm {x}.\n</think>\n\n" + TEXT)], "end_turn", {}),
    "numbers with many digits": ([text_block(TEXT)], "end_turn", {"provider": {"cost": 1.10, "big": 12345678901234567890}}),
}  # fmt: skip


def messages(name: str, stream: bool) -> tuple[dict, bytes]:
    blocks, reason, more = MESSAGES[name]
    style = STYLES.get(name, {})
    request = {"tools": [MESSAGES_TOOL]} if "call" in name else {}
    request |= {"tools": [{"type": "web_search_20250305", "name": "web_search"}]} if name in ("a search of the provider", "a turn that pauses") else {}
    request |= {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048} if "reasoning" in name else {}
    usage = {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation": {"ephemeral_5m_input_tokens": 0}, "output_tokens": 7, "service_tier": "standard"}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": blocks, "stop_reason": reason, "stop_sequence": None, **more}
    if not stream:
        return request, whole({**head, "usage": usage}, style)
    events: list = []

    def event(kind: str, **fields) -> None:
        events.append((kind, {"type": kind, **fields}))

    event("message_start", message={**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}})
    event("ping")
    for index, block in enumerate(blocks):
        block_events(event, index, block)
    event("message_delta", delta={"stop_reason": reason, "stop_sequence": head["stop_sequence"]}, usage={"output_tokens": 7})
    event("message_stop")
    return request, lines(events, style)


def block_events(event, index: int, block: dict) -> None:
    empty = {"text": {"text": ""}, "tool_use": {"input": {}}, "server_tool_use": {"input": {}}, "thinking": {"thinking": "", "signature": ""}}
    start = {**block, **empty.get(block["type"], {})}
    start.pop("citations", None)
    event("content_block_start", index=index, content_block=start)
    deltas: list[dict] = []
    if block["type"] == "text":
        deltas = [{"type": "citations_delta", "citation": citation} for citation in block.get("citations", ())]
        deltas += [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    elif block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif "input" in block:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(json.dumps(block["input"]))]]
    for delta in deltas:
        event("content_block_delta", index=index, delta=delta)
    event("content_block_stop", index=index)


ANSWERS = {"chat": (CHAT, chat), "responses": (RESPONSES, responses), "messages": (MESSAGES, messages)}
