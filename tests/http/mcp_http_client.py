"""Drives the gateway's /mcp with the official Python client, and writes down what it saw. Run by test_mcp_http.py with
the Python that set-up gave the client:

  python mcp_http_client.py URL < calls.json

Standard input is a list of [tool, arguments]. Standard output is one JSON object.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def call(client, name, arguments):
    try:
        return plain(await client.call_tool(name, arguments))
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}


async def seen_with(mode, calls):
    # The client checks each structured result against the tool's output schema.
    async with Client(sys.argv[1], mode=mode) as client:
        tools = plain(await client.list_tools())["tools"]
        results = [await call(client, *one) for one in calls]
        together = await asyncio.gather(*(call(client, *calls[0]) for _ in range(10)))
        return {"version": client.protocol_version, "tools": tools, "results": results, "together": together}


async def main():
    calls = json.load(sys.stdin)
    print(json.dumps({mode: await seen_with(mode, calls) for mode in ("legacy", "auto")}))


if __name__ == "__main__":
    asyncio.run(main())
