"""The tools without Reknit: an MCP server on standard input and output that FastMCP makes from the OpenAPI document of the shop.

usage: python direct.py URL SECONDS
"""

import sys

import httpx
from fastmcp import FastMCP

url, seconds = sys.argv[1], float(sys.argv[2])
document = httpx.get(f"{url}/openapi.json").json()
client = httpx.AsyncClient(base_url=url, timeout=seconds)
FastMCP.from_openapi(openapi_spec=document, client=client, name="shop").run(show_banner=False)
