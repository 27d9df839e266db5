"""MCP over streamable HTTP at /mcp: with the official Python client, and by hand where that client is too polite.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. `tools/setup mcp` brings the client into an environment of its
own. Nothing here leaves this machine.
"""

import json
import os
import subprocess
import unittest
from pathlib import Path

from gateway import PATIENCE, WithGateway

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = CACHE / "venv-mcp" / "bin" / "python"
TOOLS = ["context_strategy", "count_tokens", "model_window", "plan_context", "list_indexes", "search_documents", "add_memory",
         "search_memories", "memory_feedback", "forget_memory"]
TEXTS = {"line.md": "# Hull\n\nThe load line is painted amidships.\n", "galley.txt": "The cook serves pea soup on Mondays.\n"}
CALLS = [
    ["count_tokens", {"text": "hello world", "model": "gpt-4o"}],
    ["search_documents", {"index": "ship", "query": "Where is the load line painted?"}],
    ["search_documents", {"index": "ship", "query": "soup", "budget": 50, "filter": {"type": "text/plain"}}],
    ["search_documents", {"index": "ship", "query": "soup", "filter": {"type": "text/x-nothing"}}],
    ["search_documents", {"index": "nowhere", "query": "soup"}],
    ["search_documents", {"index": "ship", "query": " "}],
    ["context_strategy", {"query": "x", "file_paths": ["/etc/passwd"]}],
    ["context_strategy", {"query": "Summarize it", "char_count": 4000}],
    ["no_such_tool", {}],
    ["add_memory", {"text": "The cook is called Mary", "importance": 0.9}],
    ["search_memories", {"query": "What is the cook's name?"}],
    ["memory_feedback", {"id": "mem_none", "helpful": True}],
    ["forget_memory", {"id": "mem_none"}],
]


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class McpOverHttp(WithGateway):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in TEXTS.items():
            (cls.gateway.folder / name).write_text(text)
        cls.gateway.run("index", "add", "ship", *TEXTS, "--quiet")

    def post(self, body, **headers):
        return self.gateway.ask("/mcp", body, headers={"Accept": "application/json, text/event-stream"} |
                                {name.replace("_", "-"): value for name, value in headers.items()})

    def test_indexes_are_listed(self):
        reply = self.post(request(7, "tools/call", name="list_indexes", arguments={}), MCP_Protocol_Version="2025-06-18").json
        [index] = reply["result"]["structuredContent"]["indexes"]
        self.assertEqual((index["name"], index["documents"], index["tokenizer"]), ("ship", 2, "o200k_base"))
        self.assertGreater(index["tokens"], 10)

    def test_the_official_client(self):
        if not PYTHON.exists():
            raise AssertionError(f"{PYTHON} is missing; `tools/setup mcp` brings the client")
        done = subprocess.run([PYTHON, Path(__file__).with_name("mcp_http_client.py"), self.gateway.url + "/mcp"],
                              input=json.dumps(CALLS), text=True, capture_output=True, timeout=4 * PATIENCE, check=False,
                              env=os.environ | {"no_proxy": "127.0.0.1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        for mode, seen in json.loads(done.stdout).items():
            with self.subTest(mode=mode):
                self.assertEqual(seen["version"], "2025-11-25")
                self.check(seen)

    def check(self, seen):
        self.assertEqual([tool["name"] for tool in seen["tools"]], TOOLS)
        self.assertNotIn("file_paths", seen["tools"][0]["inputSchema"]["properties"])
        count, found, filtered, nothing, nowhere, empty, files, strategy, unknown, kept, recalled, judged, gone = seen["results"]
        self.assertEqual(count["structuredContent"]["tokens"], 2)
        self.assertEqual([one["structuredContent"]["tokens"] for one in seen["together"]], [2] * 10)
        passage = found["structuredContent"]["passages"][0]
        self.assertEqual(passage["document"], "line.md")
        self.assertIn("amidships", passage["text"])
        self.assertEqual(TEXTS["line.md"].encode()[passage["start"]:passage["end"]].decode(), passage["text"])
        self.assertEqual([one["document"] for one in filtered["structuredContent"]["passages"]], ["galley.txt"])
        self.assertLessEqual(filtered["structuredContent"]["tokens"], 50)
        self.assertEqual(nothing["structuredContent"]["passages"], [])
        for one, word in ((nowhere, "nowhere"), (empty, "query"), (files, "file_paths")):
            self.assertTrue(one["isError"])
            self.assertIn(word, one["content"][0]["text"])
        self.assertIn(strategy["structuredContent"]["strategy"], ("STUFF", "HYBRID", "RAG", "RAG+GRAPH"))
        self.assertEqual(unknown["error"]["code"], -32602)
        self.assertEqual(kept["structuredContent"]["text"], "The cook is called Mary")
        self.assertEqual([one["id"] for one in recalled["structuredContent"]["data"]], [kept["structuredContent"]["id"]])
        for one in (judged, gone):
            self.assertTrue(one["isError"])
            self.assertIn("there is no memory 'mem_none'", one["content"][0]["text"])

    def test_messages_and_notifications(self):
        reply = self.post(request(1, "initialize", protocolVersion="2025-06-18", capabilities={},
                                  clientInfo={"name": "t", "version": "1"}))
        self.assertEqual((reply.status, reply.headers["content-type"], reply.json["result"]["protocolVersion"]),
                         (200, "application/json", "2025-06-18"))
        self.assertNotIn("mcp-session-id", reply.headers)
        reply = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual((reply.status, reply.body), (202, b""))
        reply = self.post([request(1, "ping"), request(2, "ping")])  # no header: 2025-03-26, which has batches
        self.assertEqual([one["id"] for one in reply.json], [1, 2])
        self.assertEqual(self.post([request(1, "ping")], MCP_Protocol_Version="2025-06-18").status, 400)
        self.assertNotIn("structuredContent", self.post(request(3, "tools/call", name="count_tokens", arguments={
            "text": "x"})).json["result"])

    def test_versions(self):
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
            self.assertEqual(self.post(request(1, "ping"), MCP_Protocol_Version=version).status, 200)
        reply = self.post(request(1, "ping"), MCP_Protocol_Version="1999-01-01")
        self.assertEqual((reply.status, reply.json["error"]["code"]), (400, -32022))
        self.assertIn("2025-11-25", reply.json["error"]["data"]["supported"])

    def test_pages_of_others_may_not_ask(self):
        for origin in ("http://evil.example", "null", "http://localhost.evil.example", "https://127.0.0.1.evil.example"):
            reply = self.post(request(1, "ping"), Origin=origin)
            self.assertEqual((reply.status, reply.json["id"]), (403, None), origin)
        for origin in ("http://localhost:3000", "http://127.0.0.1", "https://[::1]:1"):
            self.assertEqual(self.post(request(1, "ping"), Origin=origin).status, 200, origin)

    def test_no_stream_and_no_session_is_offered(self):
        for method in ("GET", "DELETE"):
            reply = self.gateway.ask("/mcp", method=method)
            self.assertEqual((reply.status, reply.headers["allow"]), (405, "POST"))

    def test_bad_bodies(self):
        for body in (b"", b" ", b"{", b"\xff\xfe", b"[" * 5000, b"7", b"[]"):
            reply = self.post(body)
            self.assertEqual(reply.status, 400, body[:20])
            self.assertIn("error", reply.json)
        reply = self.post(request(5, "no/such"))
        self.assertEqual((reply.status, reply.json["id"], reply.json["error"]["code"]), (200, 5, -32601))


if __name__ == "__main__":
    unittest.main()
