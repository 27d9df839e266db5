"""`plimsoll mcp` as agents meet it: with the official Python client, and line by line where that client is too polite.

`plimsoll` must be on the PATH. `tools/setup test` brings the client into an environment of its own.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = CACHE / "venv-mcp" / "bin" / "python"
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
TOOLS = ["context_strategy", "count_tokens", "model_window", "plan_context", "list_indexes", "search_documents", "add_memory",
         "search_memories", "memory_feedback", "forget_memory"]
SECONDS = 30

PDF = (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
       b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
       b"4 0 obj<</Length 57>>stream\nBT /F1 12 Tf 10 100 Td (The load line is amidships.) Tj ET\nendstream endobj\n"
       b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")

CHAT = [
    {"role": "system", "content": "You are the mate of a tramp steamer."},
    {"role": "user", "content": "How deep may she be loaded?"},
]


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def initialize(version, number=0):
    return request(
        number, "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"}
    )


def talk(*messages, root="."):
    """Sends lines (text or JSON), closes the input, and gives back the answers, the exit status and stderr."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    done = subprocess.run(
        [PROGRAM, "mcp", "--root", str(root)],
        input=b"\n".join(lines),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr.decode()


class Memories(unittest.TestCase):
    """What one agent keeps another finds, in a store that the first of them makes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name) / "store.db"

    def call(self, tool, **arguments):
        done = subprocess.run(
            [PROGRAM, "--set", f"store_file={self.store}", "mcp"],
            input=json.dumps(request(1, "tools/call", name=tool, arguments=arguments)).encode(),
            capture_output=True, timeout=SECONDS, check=False)
        return json.loads(done.stdout)["result"]

    def test_a_memory_from_agent_to_agent(self):
        kept = self.call("add_memory", text="Ann is allergic to hazelnuts", importance=0.9)["structuredContent"]
        self.assertEqual((kept["source"], kept["trust"]), ("agent", 0.5))
        self.call("add_memory", text="The pump is blue", session="seven")
        found = self.call("search_memories", query="Which food must she avoid?", limit=1)["structuredContent"]["data"]
        self.assertEqual([one["id"] for one in found], [kept["id"]])
        self.assertEqual(self.call("search_memories", query="pump", session="eight")["structuredContent"]["data"], [])
        judged = self.call("memory_feedback", id=kept["id"], helpful=False)["structuredContent"]
        self.assertEqual(judged["trust"], 0.4)
        self.assertEqual(self.call("forget_memory", id=kept["id"])["structuredContent"]["forgotten"], 1)
        again = self.call("forget_memory", id=kept["id"])
        self.assertTrue(again["isError"])
        self.assertIn("there is no memory", again["content"][0]["text"])
        self.assertTrue(self.call("add_memory", text=" ")["isError"])
        self.assertTrue(self.call("add_memory", text="x", importance=2)["isError"])
        self.assertNotIn(b"hazelnuts", b"".join(path.read_bytes() for path in self.store.parent.iterdir()))


class InAFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.outside = Path(folder.name)
        cls.root = cls.outside / "root"
        (cls.root / "sub").mkdir(parents=True)
        (cls.root / "one.txt").write_text("hello world\n")
        (cls.root / "sub" / "two.txt").write_text("a b c d e f g\n" * 100)
        (cls.outside / "secret.txt").write_text("secret")
        (cls.root / "way-out").symlink_to(cls.outside / "secret.txt")


class OfficialClient(InAFolder):
    """One session for all: each call below is made once, in order."""

    CALLS = {
        "strategy": [
            "context_strategy",
            {
                "query": "What is a load line?",
                "char_count": 32000,
                "used_tokens": 1000,
                "available_tools": ["read_file", "web_search"],
            },
        ],
        "files": [
            "context_strategy",
            {
                "query": "Fix it",
                "file_paths": ["one.txt", "sub/two.txt", "gone.txt", "../secret.txt", "way-out", "/etc/passwd"],
            },
        ],
        "crisis": [
            "context_strategy",
            {"query": "Write a poem, I don\u2019t want to live", "content_size_hint": "tiny"},
        ],
        "text": ["count_tokens", {"text": "How deep may she be loaded?", "model": "gpt-4o"}],
        "chat": ["count_tokens", {"messages": CHAT, "model": "qwen2.5:7b"}],
        "by tokenizer": ["count_tokens", {"text": "one two", "tokenizer": "qwen3"}],
        "window": ["model_window", {"model": "Qwen/Qwen2.5-7B-Instruct"}],
        "no window": ["model_window", {"model": "my-own-model"}],
        "plan": [
            "plan_context",
            {"request": {"model": "qwen2.5:7b", "messages": CHAT, "max_tokens": 200}, "include_request": True},
        ],
        "too small": ["plan_context", {"request": {"messages": CHAT}, "model": "qwen2.5:7b", "window": 40}],
        "no tokenizer": ["count_tokens", {"text": "x", "tokenizer": "no-such-tokenizer"}],
        "nothing to count": ["count_tokens", {}],
        "bad argument": ["context_strategy", {"query": "x", "used_tokens": "many"}],
        "no tool": ["sink_the_ship", {}],
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not PYTHON.exists():
            raise AssertionError(f"{PYTHON} is missing; `tools/setup test` brings the official MCP client")
        client = Path(__file__).with_name("official_client.py")
        done = subprocess.run(
            [PYTHON, client, PROGRAM, cls.root],
            input=json.dumps(list(cls.CALLS.values())),
            text=True,
            capture_output=True,
            timeout=4 * SECONDS,
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.seen = json.loads(done.stdout)
        cls.results = dict(zip(cls.CALLS, cls.seen["results"]))

    def good(self, name):
        result = self.results[name]
        self.assertIs(result.get("isError"), False, result)
        self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        return result["structuredContent"]

    def bad(self, name):
        result = self.results[name]
        self.assertIs(result.get("isError"), True, result)
        return result["content"][0]["text"]

    def test_the_handshake(self):
        started = self.seen["initialize"]
        self.assertEqual(started["protocolVersion"], VERSIONS[-1])
        self.assertEqual(started["serverInfo"]["name"], "plimsoll")
        self.assertIn("context_strategy", started["instructions"])
        self.assertEqual(list(started["capabilities"]), ["tools"])

    def test_a_client_that_asks_for_a_newer_protocol_falls_back(self):
        self.assertEqual(self.seen["negotiated"], TOOLS)

    def test_the_tools_teach_how_they_are_used(self):
        tools = {tool["name"]: tool for tool in self.seen["tools"]}
        self.assertEqual(list(tools), TOOLS)
        for tool in tools.values():
            self.assertGreater(len(tool["description"]), 100)
            changes = tool["name"] in ("add_memory", "memory_feedback", "forget_memory")
            self.assertEqual(tool["annotations"]["readOnlyHint"], not changes)
            self.assertEqual(tool["annotations"].get("destructiveHint"), tool["name"] == "forget_memory" if changes else None)
            for name, schema in tool["inputSchema"]["properties"].items():
                self.assertIn("description", schema, name)
        strategy = tools["context_strategy"]["inputSchema"]
        self.assertEqual(strategy["required"], ["query"])
        for name in [
            "query",
            "content_size_hint",
            "file_paths",
            "char_count",
            "model_context_length",
            "used_tokens",
            "available_tools",
        ]:
            self.assertIn(name, strategy["properties"])
        self.assertEqual(strategy["properties"]["model_context_length"]["default"], 128000)
        self.assertEqual(strategy["properties"]["used_tokens"]["default"], 0)

    def test_a_strategy(self):
        advice = self.good("strategy")
        self.assertEqual(
            (advice["strategy"], advice["confidence"], advice["task_type"]), ("HYBRID", 0.85, "rag_critical")
        )
        self.assertEqual(
            (advice["content_tokens"], advice["available_budget"], advice["retrieval_budget_tokens"]),
            (8000, 95000, 28500),
        )
        self.assertIs(advice["crisis"], False)
        self.assertTrue(any("read_file" in step for step in advice["steps"]))

    def test_files_are_counted_below_the_root_and_refused_outside(self):
        advice = self.good("files")
        self.assertEqual(
            (advice["content_tokens"], advice["exactness"], advice["tokenizer"]), (803, "exact", "o200k_base")
        )
        self.assertEqual([file["tokens"] for file in advice["files"]], [3, 800])
        skipped = {one["file"]: one["why"] for one in advice["skipped"]}
        self.assertEqual(list(skipped), ["gone.txt", "../secret.txt", "way-out", "/etc/passwd"])
        self.assertIn("No such file", skipped.pop("gone.txt"))
        for why in skipped.values():
            self.assertIn("refused", why)

    def test_a_crisis(self):
        advice = self.good("crisis")
        self.assertEqual((advice["strategy"], advice["crisis"]), ("HYBRID", True))

    def test_counting(self):
        text = self.good("text")
        self.assertEqual(
            (text["tokens"], text["tokenizer"], text["exactness"], text["window"]), (7, "o200k_base", "exact", 128000)
        )
        chat = self.good("chat")
        self.assertEqual((chat["tokens"], chat["template_tokens"], chat["messages"]), (31, 13, [11, 7]))
        self.assertEqual(self.good("by tokenizer")["tokens"], 2)

    def test_windows(self):
        known = self.good("window")
        self.assertEqual(
            (known["model"], known["window"], known["source"], known["confidence"]),
            ("qwen2.5:7b", 32768, "catalogue", "medium"),
        )
        unknown = self.good("no window")
        self.assertEqual((unknown["window"], unknown["source"], unknown["confidence"]), (4096, "default", "low"))

    def test_plans(self):
        plan = self.good("plan")
        self.assertEqual(
            (plan["schema"], plan["fits"], plan["input_tokens"], plan["answer_tokens"]), (1, True, 31, 200)
        )
        self.assertEqual(plan["request"]["messages"], CHAT)
        small = self.good("too small")
        self.assertIs(small["fits"], False)
        self.assertGreater(small["least_window"], 40)
        self.assertEqual(small["window"]["source"], "configured")

    def test_failures_reach_the_model_in_words(self):
        self.assertIn("no-such-tokenizer", self.bad("no tokenizer"))
        self.assertIn("give either text or messages", self.bad("nothing to count"))
        self.assertIn("arguments.used_tokens must be an integer", self.bad("bad argument"))
        self.assertEqual(self.results["no tool"]["error"]["code"], -32602)


class Lines(InAFolder):
    def test_documents_are_counted_by_their_text_as_on_the_command_line(self):
        (self.root / "paper.pdf").write_bytes(PDF)
        (self.root / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF")
        with zipfile.ZipFile(self.root / "log.docx", "w") as archive:
            archive.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
                             "<w:body><w:p><w:r><w:t>The load line is amidships.</w:t></w:r></w:p></w:body></w:document>")
            archive.writestr("word/media/image.bin", bytes(range(256)) * 100)
        with zipfile.ZipFile(self.root / "other.zip", "w") as archive:
            archive.writestr("one.txt", "hello world")
        names = ["paper.pdf", "log.docx", "other.zip", "one.txt", "broken.pdf"]
        answers, _, _ = talk(initialize(VERSIONS[-1]), request(1, "tools/call", name="context_strategy", arguments={
            "query": "x", "file_paths": names}), root=self.root)
        advice = answers[1]["result"]["structuredContent"]
        done = subprocess.run([PROGRAM, "strategy", "x", "--json", "--files", *names], cwd=self.root, capture_output=True,
                              timeout=SECONDS, check=True)
        expected = json.loads(done.stdout)
        self.assertEqual([file["read_as"] for file in advice["files"]], ["PDF", ".docx", None, None])
        for field in ("tokens", "bytes", "counted", "read_as"):
            self.assertEqual([file[field] for file in advice["files"]], [file[field] for file in expected["files"]], field)
        self.assertEqual(advice["content_tokens"], expected["content_tokens"])
        self.assertEqual([one["file"] for one in advice["skipped"]], ["broken.pdf"])

    def test_every_revision_is_agreed_on_and_answered(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                answers, status, err = talk(
                    initialize(version),
                    {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    request(1, "ping"),
                    request(2, "tools/list"),
                    request(3, "tools/call", name="model_window", arguments={"model": "gpt-4"}),
                    request(4, "tools/call", name="model_window", arguments={}),
                )
                self.assertEqual((status, err), (0, ""))
                self.assertEqual([answer["id"] for answer in answers], [0, 1, 2, 3, 4])
                self.assertEqual(answers[0]["result"]["protocolVersion"], version)
                self.assertEqual(answers[1]["result"], {})
                self.assertEqual([tool["name"] for tool in answers[2]["result"]["tools"]], TOOLS)
                self.assertEqual(json.loads(answers[3]["result"]["content"][0]["text"])["window"], 8192)
                self.assertEqual("structuredContent" in answers[3]["result"], version >= "2025-06-18")
                if version >= "2025-11-25":
                    self.assertIs(answers[4]["result"]["isError"], True)
                else:
                    self.assertEqual(answers[4]["error"]["code"], -32602)

    def test_documents_of_the_store_are_searched_once_there_is_one(self):
        program = [PROGRAM, "--set", f"store_file={self.outside / 'store.db'}"]
        ask = json.dumps(request(1, "tools/call", name="search_documents", arguments={"index": "words", "query": "hello"}))

        def search():
            done = subprocess.run([*program, "mcp"], input=ask, text=True, capture_output=True, timeout=SECONDS, check=True)
            return json.loads(done.stdout)["result"]

        self.assertIs(search()["isError"], True)
        self.assertFalse((self.outside / "store.db").exists())
        subprocess.run([*program, "index", "add", "words", self.root / "one.txt", "--quiet"], timeout=SECONDS, check=True,
                       capture_output=True)
        found = search()["structuredContent"]["passages"]
        self.assertEqual([passage["text"].strip() for passage in found], ["hello world"])

    def test_what_is_wrong_is_answered_and_the_next_line_too(self):
        answers, status, _ = talk(
            b"not json",
            b"\xff\xfe",
            b"[]",
            request(1, "no/such"),
            b"",
            b'{"jsonrpc":"2.0"}',
            b"[" * 100000,
            request(2, "ping"),
        )
        self.assertEqual(status, 0)
        self.assertEqual(
            [answer.get("error", {}).get("code") for answer in answers],
            [-32700, -32700, -32600, -32601, -32600, -32700, None],
        )
        self.assertEqual(answers[-1], {"jsonrpc": "2.0", "id": 2, "result": {}})

    def test_batches_belong_to_one_revision(self):
        batch = [request(1, "ping"), {"jsonrpc": "2.0", "method": "notifications/x"}, request(2, "no/such")]
        answers, _, _ = talk(initialize("2025-03-26"), batch)
        self.assertEqual([one["id"] for one in answers[1]], [1, 2])
        answers, _, _ = talk(initialize("2025-06-18"), batch)
        self.assertEqual(answers[1]["error"]["code"], -32600)

    def test_a_line_without_end_is_refused_in_bounded_memory(self):
        process = subprocess.Popen([PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(200):
            process.stdin.write(b"x" * 1_000_000)
        process.stdin.write(b"\n" + json.dumps(request(1, "ping")).encode() + b"\n")
        process.stdin.flush()
        first, second = json.loads(process.stdout.readline()), json.loads(process.stdout.readline())
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertEqual(first["error"]["code"], -32600)
        self.assertEqual(second["result"], {})
        self.assertLess(peak, 220 * 1024, "64 MB of it are held, in a string that grows")

    def test_each_answer_comes_at_once(self):
        process = subprocess.Popen([PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for number in range(3):
            process.stdin.write(json.dumps(request(number, "ping")).encode() + b"\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["id"], number)
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(process.wait(SECONDS), 0)

    def test_it_ends_when_nobody_listens(self):
        process = subprocess.Popen(
            [PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.stdout.close()
        started = time.monotonic()
        process.stdin.write(json.dumps(request(1, "ping")).encode() + b"\n")
        process.stdin.flush()
        self.assertEqual(process.wait(SECONDS), 1)
        self.assertLess(time.monotonic() - started, SECONDS / 2)
        self.assertIn(b"cannot write", process.stderr.read())
        process.stderr.close()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass

    def test_the_root_must_be_a_folder(self):
        for root in [self.root / "none", self.root / "one.txt"]:
            answers, status, err = talk(root=root)
            self.assertEqual((answers, status), ([], 2))
            self.assertIn(str(root), err)

    def test_the_root_is_the_current_folder_unless_said(self):
        line = json.dumps(
            request(1, "tools/call", name="context_strategy", arguments={"query": "x", "file_paths": ["one.txt"]})
        )
        done = subprocess.run(
            [PROGRAM, "mcp"], input=line, cwd=self.root, text=True, capture_output=True, timeout=SECONDS, check=True
        )
        self.assertEqual(json.loads(done.stdout)["result"]["structuredContent"]["content_tokens"], 3)


if __name__ == "__main__":
    unittest.main()
