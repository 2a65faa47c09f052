"""Checks `reknit mcp` with two clients that others wrote.

usage: python clients.py REKNIT INSPECTOR FOLDER
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CONFIGURATION = r"""
[[command]]
name = "kitchen"
capability = "brew"
description = "Brews tea for some minutes"
command = ["printf", "{{\"minutes\": %s, \"tea\": \"%s\"}}", "{minutes}", "{tea}"]
effect = "idempotent"
parameters = { minutes = "integer", tea = { type = "string", enum = ["green", "black"] } }
"""
TOOL = "kitchen__brew"
failed = []


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


def with_inspector(inspector: str, configuration: Path) -> None:
    client = "inspector"

    def run(*arguments: str) -> dict:
        command = [inspector, "--cli", "--config", configuration, "--server", "reknit", *arguments]
        environment = {**os.environ, "MCP_INSPECTOR_SECRET_STORE": "memory"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        # A result that is an error is printed like any other, but the exit status is not 0.
        if not done.stdout.startswith("{"):
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    check_tools(client, run("--method", "tools/list")["tools"])
    # The inspector itself converts arguments to the types of the schema, so the mistakes are in a name and in a value.
    call = ("--method", "tools/call", "--tool-name", TOOL)
    check_mended(client, run(*call, "--tool-arg", "Minutes=5", "tea=GREEN"))
    check_failed(client, run(*call, "--tool-arg", "minutes=5", "tea=coffee"))


async def with_python(server: dict) -> None:
    client = "python mcp"
    async with stdio_client(StdioServerParameters(**server)) as streams, ClientSession(*streams) as session:
        await session.initialize()
        plain = lambda model: model.model_dump(by_alias=True, exclude_none=True)
        check_tools(client, [plain(tool) for tool in (await session.list_tools()).tools])
        check_mended(client, plain(await session.call_tool(TOOL, {"Minutes": "5", "tea": "GREEN"})))
        check_failed(client, plain(await session.call_tool(TOOL, {"minutes": 5, "tea": "coffee"})))


def main() -> int:
    reknit, inspector, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "reknit.toml").write_text(CONFIGURATION)
    arguments = ["mcp", "--config", str(folder / "reknit.toml"), "--journal", str(folder / "journal.db")]
    server = {"command": reknit, "args": arguments, "env": {"REKNIT_FIND_MODEL": "false"}}
    (folder / "inspector.json").write_text(json.dumps({"mcpServers": {"reknit": server}}))
    package = Path(inspector).parents[1] / "@modelcontextprotocol/inspector/package.json"
    print(f"inspector {json.loads(package.read_text())['version']}; mcp {version('mcp')} (PyPI)")
    with_inspector(inspector, folder / "inspector.json")
    asyncio.run(with_python(server))
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
