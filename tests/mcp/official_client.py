"""Drives `plimsoll mcp` with the official Python client, and writes down what it saw. Run by test_mcp.py with the
Python that set-up gave the client:

  python official_client.py PROGRAM ROOT < calls.json

Standard input is a list of [tool, arguments]. Standard output is one JSON object.
"""

import asyncio
import json
import sys

from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def call(session, name, arguments):
    try:
        return plain(await session.call_tool(name, arguments))
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}


async def with_session(server, calls):
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        started = plain(await session.initialize())
        await session.send_ping()
        tools = plain(await session.list_tools())["tools"]
        # The session checks each structured result against the tool's output schema.
        return {"initialize": started, "tools": tools, "results": [await call(session, *one) for one in calls]}


async def with_negotiation(server):
    """The client's own way to connect: it asks for the newest protocol first and falls back."""
    async with Client(server) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", "--root", sys.argv[2]])
    seen = await with_session(server, json.load(sys.stdin))
    seen["negotiated"] = await with_negotiation(server)
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main())
