"""An MCP client that others wrote: starts the server in the arguments, lists its tools, and makes two calls."""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        get_sum = next(name for name in tools if name.endswith("get-sum"))
        mended = await session.call_tool(get_sum, {"a": "2", "b": 40})
        failed = await session.call_tool(get_sum, {"a": "many", "b": 40})
        texts = lambda result: [block.text for block in result.content]
        print(json.dumps({"tools": tools, "mended": texts(mended), "failed": [failed.is_error, texts(failed)]}))


asyncio.run(main())
