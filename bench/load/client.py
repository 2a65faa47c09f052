"""A client of `reknit serve` for many concurrent requests: asyncio and the standard library only."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

# How long an answer, and the next bytes of a stream, may take. An idle stream has a comment every 15 seconds.
PATIENCE = 60


class Disconnected(Exception):
    """There is no server, or it left in the middle of an answer."""


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Event:
    id: int
    name: str
    data: str


@contextlib.contextmanager
def connection_errors():
    try:
        yield
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError) as error:
        raise Disconnected(repr(error)) from error


class Client:
    """Keeps connections open and uses them again."""

    def __init__(self, port: int):
        self.port = port
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        # How many answers had which status.
        self.statuses: dict[int, int] = {}

    def close(self):
        while self.idle:
            self.idle.pop()[1].close()

    async def request(self, method: str, path: str, body: dict | None = None, headers: dict | None = None) -> Reply:
        reader, writer = None, None
        with connection_errors():
            try:
                reader, writer = self.take_idle() or await self.connect()
                self.send(writer, method, path, body, headers)
                async with asyncio.timeout(PATIENCE):
                    status, received = await self.head(reader)
                    content = b"".join([part async for part in self.content(reader, received)])
            except BaseException:
                if writer:
                    writer.close()
                raise
        if received.get("connection") == "close":
            writer.close()
        else:
            self.idle.append((reader, writer))
        return Reply(status, received, content)

    def take_idle(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """An open connection. The server closes those that are idle for a minute."""
        while self.idle:
            reader, writer = self.idle.pop()
            if not reader.at_eof():
                return reader, writer
            writer.close()
        return None

    async def get(self, path: str) -> Reply:
        return await self.request("GET", path)

    async def start(self, plan: str, order: str, key: str | None = None, mode: str = "start", delay_ms: int = 0) -> Reply:
        body = {"plan": plan, "inputs": {"order": order, "delay_ms": delay_ms}, "mode": mode}
        return await self.request("POST", "/v1/runs", body, {"idempotency-key": key} if key else None)

    async def stream(
        self, method: str, path: str, body: dict | None = None, headers: dict | None = None
    ) -> AsyncIterator[bytes]:
        """The lines of an answer as they arrive, on a connection of its own."""
        with connection_errors():
            reader, writer = await self.connect()
            try:
                self.send(writer, method, path, body, headers)
                async with asyncio.timeout(PATIENCE):
                    status, received = await self.head(reader)
                if status != 200:
                    raise OSError(f"status {status}")
                rest = b""
                async for part in self.content(reader, received):
                    *lines, rest = (rest + part).split(b"\n")
                    for line in lines:
                        yield line
            finally:
                writer.close()

    async def events(self, run: str, after: int | None = None) -> AsyncIterator[Event]:
        """The events of a run; the end of the iterator is the end of the stream."""
        headers = {} if after is None else {"last-event-id": str(after)}
        fields: dict[bytes, bytes] = {}
        async with contextlib.aclosing(self.stream("GET", f"/v1/runs/{run}/events", None, headers)) as lines:
            async for line in lines:
                if line:
                    name, _, value = line.partition(b": ")
                    fields[name] = value
                elif b"id" in fields:
                    yield Event(int(fields[b"id"]), fields[b"event"].decode(), fields[b"data"].decode())
                    fields = {}

    async def connect(self):
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)

    def send(self, writer: asyncio.StreamWriter, method: str, path: str, body: dict | None, headers: dict | None):
        text = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"host: 127.0.0.1:{self.port}", f"content-length: {len(text)}"]
        lines += ["content-type: application/json"] if text else []
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + text)

    async def head(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(first.split(" ", 2)[1])
        self.statuses[status] = self.statuses.get(status, 0) + 1
        return status, {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}

    @staticmethod
    async def content(reader: asyncio.StreamReader, headers: dict[str, str]) -> AsyncIterator[bytes]:
        if "content-length" in headers:
            yield await reader.readexactly(int(headers["content-length"]))
            return
        while True:
            async with asyncio.timeout(PATIENCE):
                size = int(await reader.readuntil(b"\r\n"), 16)
                part = await reader.readexactly(size + 2)
            if size == 0:
                return
            yield part[:-2]
