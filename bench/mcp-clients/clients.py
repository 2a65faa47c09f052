"""Checks `reknit mcp` and `/mcp` of `reknit serve` with two clients that others wrote.

usage: python clients.py REKNIT INSPECTOR FOLDER
"""

import asyncio
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import JsonHandler, completion, empty_folder, serve, start_reknit  # noqa: E402 (the path is set above)

CONFIGURATION = r"""
[[command]]
name = "kitchen"
capability = "brew"
description = "Brews tea for some minutes"
command = ["printf", "{{\"minutes\": %s, \"tea\": \"%s\"}}", "{minutes}", "{tea}"]
effect = "idempotent"
parameters = { minutes = "integer", tea = { type = "string", enum = ["green", "black"] } }
"""
AGENT = """---
description: Makes tea for guests
tools: [kitchen]
output:
  format: text
---
You make tea.
"""
TOOL = "kitchen__brew"
AGENT_TOOL = "agent__barista"
REPORT_TOOL = "agent__final_report"
TASK = "Green tea for five minutes"
failed = []


def call(name: str, **arguments: str) -> dict:
    return {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}


class Model(JsonHandler):
    """A model that brews tea, and then reports what the tool returned."""

    def do_POST(self):
        body = self.body()
        tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        if not tools:
            # Reknit asks how to correct a call.
            message = {"content": json.dumps({"should_retry": False, "reason": "there is no such tea"})}
        elif results:
            message = call(REPORT_TOOL, status="success", report_format="text", content=f"The tea is ready: {results[-1]}")
        else:
            message = call(next(name for name in tools if "brew" in name), minutes="5", tea="GREEN")
        self.answer(200, completion(message))


def check(client: str, what: str, holds: bool, shown: object = "") -> None:
    print(f"{'ok    ' if holds else 'FAILED'}  {client}: {what}")
    if not holds:
        failed.append(what)
        print(f"        {shown}")


def check_tools(client: str, tools: list[dict]) -> None:
    tool = next((tool for tool in tools if tool["name"] == TOOL), {})
    check(
        client,
        "the tool is listed with the schema of its arguments",
        "minutes" in tool.get("inputSchema", {}).get("properties", {}),
        tools,
    )
    check(client, "its hints tell its side effect", (tool.get("annotations") or {}).get("idempotentHint") is True, tool)
    agent = next((tool for tool in tools if tool["name"] == AGENT_TOOL), {})
    check(
        client,
        "the agent is listed as a tool with its description and a task",
        agent.get("description") == "Makes tea for guests" and agent["inputSchema"].get("required") == ["task"],
        tools,
    )


def check_mended(client: str, result: dict) -> None:
    texts = [block["text"] for block in result["content"]]
    check(
        client,
        "a call with wrong arguments is mended and succeeds",
        not result.get("isError") and result.get("structuredContent") == {"minutes": 5, "tea": "green"},
        result,
    )
    check(
        client,
        "the result says what was changed",
        any(text.startswith("(changed before it was sent") for text in texts),
        texts,
    )
    check(
        client,
        "the metadata names the run and the change",
        {"reknit/run", "reknit/mended"} <= set(result.get("_meta") or {}),
        result,
    )


def check_failed(client: str, result: dict) -> None:
    text = result["content"][0]["text"]
    check(
        client,
        "a call that cannot be mended is an error that names the argument",
        bool(result.get("isError")) and "tea" in text,
        result,
    )


def check_agent(client: str, result: dict) -> None:
    text = result["content"][0]["text"]
    check(
        client,
        "a call of the agent returns its report, with the result of its tool",
        not result.get("isError") and text.startswith("The tea is ready") and "green" in text,
        result,
    )
    check(client, "the metadata names the run of the agent", "reknit/run" in (result.get("_meta") or {}), result)


def with_inspector(client: str, inspector: str, server: list) -> None:
    def run(*arguments: str) -> dict:
        command = [inspector, "--cli", *server, *arguments]
        environment = {**os.environ, "MCP_INSPECTOR_SECRET_STORE": "memory"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        # A result that is an error is printed like any other, but the exit status is not 0.
        if not done.stdout.startswith("{"):
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    check_tools(client, run("--method", "tools/list")["tools"])
    # The inspector itself converts arguments to the types of the schema, so the mistakes are in a name and in a value.
    call = ("--method", "tools/call", "--tool-name")
    check_mended(client, run(*call, TOOL, "--tool-arg", "Minutes=5", "tea=GREEN"))
    check_failed(client, run(*call, TOOL, "--tool-arg", "minutes=5", "tea=coffee"))
    check_agent(client, run(*call, AGENT_TOOL, "--tool-arg", f"task={TASK}"))


async def with_python(client: str, transport) -> None:
    async with transport as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        plain = lambda model: model.model_dump(by_alias=True, exclude_none=True)
        check_tools(client, [plain(tool) for tool in (await session.list_tools()).tools])
        check_mended(client, plain(await session.call_tool(TOOL, {"Minutes": "5", "tea": "GREEN"})))
        check_failed(client, plain(await session.call_tool(TOOL, {"minutes": 5, "tea": "coffee"})))
        check_agent(client, plain(await session.call_tool(AGENT_TOOL, {"task": TASK})))


def main() -> int:
    reknit, inspector, folder = sys.argv[1], sys.argv[2], empty_folder(sys.argv[3])
    (folder / "reknit.toml").write_text(CONFIGURATION)
    (folder / "barista.md").write_text(AGENT)
    _, model_url = serve(Model)
    arguments = ["--config", str(folder / "reknit.toml"), "--agent", str(folder / "barista.md")]
    arguments += ["--model-url", f"{model_url}/v1", "--model", "scripted"]
    stdio = {"command": reknit, "args": ["mcp", "--journal", str(folder / "mcp.db"), *arguments]}
    (folder / "inspector.json").write_text(json.dumps({"mcpServers": {"reknit": stdio}}))
    package = Path(inspector).parents[1] / "@modelcontextprotocol/inspector/package.json"
    print(f"inspector {json.loads(package.read_text())['version']}; mcp {version('mcp')} (PyPI)")
    process, port = start_reknit(reknit, ["--journal", folder / "serve.db", *arguments], folder / "serve.log")
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        with_inspector("inspector, stdio", inspector, ["--config", folder / "inspector.json", "--server", "reknit"])
        with_inspector("inspector, HTTP", inspector, [url, "--transport", "http"])
        asyncio.run(with_python("python mcp, stdio", stdio_client(StdioServerParameters(**stdio))))
        asyncio.run(with_python("python mcp, HTTP", streamable_http_client(url)))
    finally:
        process.terminate()
        process.wait()
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
