"""An MCP server over standard input and output, with the tools that the conformance tests call.

usage: python tools.py
"""

import base64
import json
import struct
import sys
import threading
import time
import zlib


def png() -> str:
    """An image of one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return encoded(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b""))


def wav() -> str:
    """A sound without a sample."""
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    return encoded(b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + bytes(4))


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def resource(uri: str, kind: str, content: str) -> dict:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": content}}


def text(content: str) -> dict:
    return {"type": "text", "text": content}


IMAGE = {"type": "image", "data": png(), "mimeType": "image/png"}
NO_ARGUMENTS = {"type": "object", "properties": {}}
MESSAGE = {"type": "object", "properties": {"message": {"type": "string"}}}
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}, "required": ["region"]}
# What the scenario `json-schema-2020-12` asks for.
KEYWORDS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

# The schema of each tool, the seconds it takes, and its content.
TOOLS = {
    "test_simple_text": (NO_ARGUMENTS, 0, [text("This is a simple text response for testing.")]),
    "test_image_content": (NO_ARGUMENTS, 0, [IMAGE]),
    "test_audio_content": (NO_ARGUMENTS, 0, [{"type": "audio", "data": wav(), "mimeType": "audio/wav"}]),
    "test_embedded_resource": (NO_ARGUMENTS, 0, [resource("test://embedded-resource", "text/plain", "Embedded.")]),
    "test_multiple_content_types": (
        NO_ARGUMENTS,
        0,
        [text("Multiple:"), IMAGE, resource("test://mixed-content-resource", "application/json", '{"value":123}')],
    ),
    "test_error_handling": (NO_ARGUMENTS, 0, None),
    # `reknit` reports progress after one, three and six seconds. The scenario counts three reports and waits for ten seconds.
    "test_tool_with_progress": (NO_ARGUMENTS, 8, [text("done")]),
    # The client of the scenario leaves after ten seconds and comes back for the result.
    "test_reconnection": (NO_ARGUMENTS, 12, [text("done")]),
    "test_logging_tool": (NO_ARGUMENTS, 0, [text("done")]),
    # Calls of these two need approval.
    "test_elicitation": (MESSAGE, 0, [text("done")]),
    "test_streaming_elicitation": (NO_ARGUMENTS, 0, [text("done")]),
    "test_custom_headers": (REGION, 0, [text("done")]),
    "json_schema_2020_12_tool": (KEYWORDS, 0, [text("done")]),
}


def definition(name: str) -> dict:
    schema = TOOLS[name][0]
    return {"name": name, "description": name, "inputSchema": schema, "annotations": {"readOnlyHint": True}}


def called(name: str) -> dict:
    _, seconds, content = TOOLS[name]
    time.sleep(seconds)
    if content is None:
        return {"isError": True, "content": [text("This tool intentionally returns an error for testing")]}
    return {"content": content}


def answer(request: dict) -> dict:
    parameters = request.get("params") or {}
    match request["method"]:
        case "initialize":
            information = {"name": "conformance-tools", "version": "1"}
            version = parameters["protocolVersion"]
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information}}
        case "tools/list":
            return {"result": {"tools": [definition(name) for name in TOOLS]}}
        case "tools/call":
            return {"result": called(parameters["name"])}
        case "ping":
            return {"result": {}}
        case method:
            return {"error": {"code": -32601, "message": f"there is no method {method}"}}


printing = threading.Lock()


def reply(request: dict) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)})
    with printing:
        print(line, flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=reply, args=(message,), daemon=True).start()
