"""A tool service and a scripted model for the load tests, in a process of its own.

usage: python service.py PORT DEEDS

The tool protocol is that of docs/tools.md. Every call is appended to the file DEEDS, one JSON object per line, and answered after an `fsync`:
`capability`, `order`, `key`, and whether the service had seen the key before (`repeat`). A keyed call under a known key is answered with the first
answer and does nothing. `delay_ms` in the parameters is how long a call takes. Half of it is before the deed, and a caller who leaves in that time
calls it off; half of it is after the deed, so that answers get lost too.

The model speaks chat completions, whole and as a stream.
"""

import asyncio
import json
import os
import sys

NAME, INTEGER = {"name": "order", "type": "string"}, {"name": "delay_ms", "type": "integer"}


def capability(name: str, effect: str) -> dict:
    summary = {"required": [NAME], "optional": [INTEGER]}
    return {"name": name, "description": f"{name} of a shop", "effect": effect, "input_summary": summary}


CAPABILITIES = [capability("look", "read"), capability("place", "keyed"), capability("pay", "unsafe")]
WORDS = ["mended ", "answers ", "arrive ", "whole "] * 15


class Deeds:
    """The file of deeds. Lines that arrive while the disk is busy are written and synced together."""

    def __init__(self, path: str):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.lines: list[bytes] = []
        self.waiting: list[asyncio.Future] = []
        self.writer: asyncio.Task | None = None

    async def record(self, deed: dict):
        future = asyncio.get_running_loop().create_future()
        self.lines.append(json.dumps(deed).encode() + b"\n")
        self.waiting.append(future)
        if self.writer is None:
            self.writer = asyncio.create_task(self.write())
        await future

    async def write(self):
        while self.lines:
            lines, waiting, self.lines, self.waiting = self.lines, self.waiting, [], []
            await asyncio.to_thread(self.sync, b"".join(lines))
            for future in waiting:
                if not future.done():
                    future.set_result(None)
        self.writer = None

    def sync(self, lines: bytes):
        os.write(self.file, lines)
        os.fsync(self.file)


class Service:
    def __init__(self, deeds: Deeds):
        self.deeds = deeds
        self.receipts: dict[str, str] = {}

    async def call(self, name: str, body: dict, key: str | None, reader: asyncio.StreamReader) -> dict:
        order, half = body.get("order", ""), body.get("delay_ms", 0) / 2000
        await asyncio.sleep(half)
        if reader.at_eof():
            raise ConnectionResetError
        is_repeat = key is not None and key in self.receipts
        receipt = f"{name}-{order}"
        if key is not None:
            self.receipts[key] = receipt
        if name != "look":
            await self.deeds.record({"capability": name, "order": order, "key": key, "repeat": is_repeat})
        await asyncio.sleep(half)
        return {"success": True, "data": {"receipt": receipt, "price": 12}}

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            while await self.exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass  # The other side was killed, or left.
        finally:
            writer.close()

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        request, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = request.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if method == "GET":
            known = {"/api/capabilities": CAPABILITIES, "/health": {"status": "healthy"}}
            self.answer(writer, 200 if path in known else 404, known.get(path))
        elif path == "/v1/chat/completions":
            await self.chat(writer, json.loads(body))
        else:
            name, key = path.rsplit("/", 1)[-1], headers.get("idempotency-key")
            self.answer(writer, 200, await self.call(name, json.loads(body or b"{}"), key, reader))
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    async def chat(self, writer: asyncio.StreamWriter, request: dict):
        base = {"id": "chat-1", "created": 0, "model": request.get("model", "scripted")}
        usage = {"prompt_tokens": 10, "completion_tokens": len(WORDS), "total_tokens": 10 + len(WORDS)}
        if not request.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "".join(WORDS)}, "finish_reason": "stop"}
            return self.answer(writer, 200, {**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for at, word in enumerate([*WORDS, None]):
            end = None if word else "stop"
            choice = {"index": 0, "delta": {"content": word} if word else {}, "finish_reason": end}
            chunk = {**base, "object": "chat.completion.chunk", "choices": [choice], **({} if word else {"usage": usage})}
            self.chunk(writer, f"data: {json.dumps(chunk)}\n\n")
            if at % 20 == 0:
                await writer.drain()
        self.chunk(writer, "data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")

    @staticmethod
    def chunk(writer: asyncio.StreamWriter, text: str):
        writer.write(f"{len(text):x}\r\n{text}\r\n".encode())

    @staticmethod
    def answer(writer: asyncio.StreamWriter, status: int, body):
        text = json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n"
        writer.write(head.encode() + text)


async def main():
    service = Service(Deeds(sys.argv[2]))
    server = await asyncio.start_server(service.connection, "127.0.0.1", int(sys.argv[1]), backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
