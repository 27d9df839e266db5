"""The gateway as real clients meet it: OpenAI's Python SDK, LangChain's ChatOpenAI, LlamaIndex's OpenAILike, LiteLLM and
Anthropic's Python SDK.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. `tools/setup clients` brings the clients into an environment
of their own. Nothing here leaves this machine.
"""

import json
import os
import subprocess
import unittest
from pathlib import Path

from gateway import WithGateway

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = Path(os.environ.get("CLIENTS_PYTHON") or CACHE / "venv-clients" / "bin" / "python")
LINE = "The load line is amidships."


class Clients(WithGateway):
    """Runs them once for a class of tests, which look at what they saw."""

    ONLY = ()  # by name; none: all that they do
    MODELS = {"gpt-4o": 8192, "tools/gpt-4o": 8192, "429/gpt-4o": 8192, "echo/gpt-4o": 8192}

    @classmethod
    def setUpClass(cls):
        if not PYTHON.exists():
            raise AssertionError(f"{PYTHON} is missing; `tools/setup clients` brings the clients")
        super().setUpClass()
        (cls.gateway.folder / "line.txt").write_text(LINE)
        cls.gateway.run("index", "add", "ship", "line.txt", "--quiet")
        if not cls.EMBEDDED:
            cls.upstream.prompt_tokens = 17
        done = subprocess.run([PYTHON, Path(__file__).with_name("real_clients.py"), cls.gateway.url, cls.model, *cls.ONLY], text=True,
                              capture_output=True, timeout=8 * cls.gateway.patience, check=False,
                              env=os.environ | {"no_proxy": "127.0.0.1", "LANGSMITH_TRACING": "false",
                                              "LITELLM_LOCAL_MODEL_COST_MAP": "True"})
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.seen = json.loads(done.stdout)

    def saw(self, name):
        seen = self.seen[name]
        self.assertNotIn("raised", seen, seen.get("raised"))
        return seen


class RealClients(Clients):
    def test_openai_plain(self):
        seen = self.saw("plain")
        self.assertEqual((seen["text"], seen["read"], seen["window"]), (self.upstream.text, 17, "8192"))
        self.assertTrue(seen["trace"])

    def test_openai_planned(self):
        seen = self.saw("planned")
        self.assertEqual((seen["text"], seen["window"]), (self.upstream.text, 8192))
        self.assertGreaterEqual(seen["replaced"], 2)  # by a summary

    def test_openai_with_documents(self):
        seen = self.saw("with_documents")
        self.assertEqual((seen["text"], seen["nodes"]), (self.upstream.text, [LINE]))

    def test_openai_streaming(self):
        self.assertEqual(self.saw("streaming"), {"text": self.upstream.text, "read": 17, "chunks": 6})

    def test_openai_tools(self):
        self.assertEqual(self.saw("tools"), {"name": "sound", "arguments": {"side": "port"}, "text": self.upstream.text})
        self.assertEqual(self.saw("tools_in_a_stream"), {"name": "sound", "arguments": {"side": "port"}})

    def test_openai_other_routes(self):
        seen = self.saw("others")
        self.assertEqual((seen["model"], seen["dimensions"], seen["completion"]), ("gpt-4o", 384, self.upstream.text))
        text = self.upstream.text
        self.assertEqual(self.saw("responses"), {"text": text, "after": True, "pieces": text, "last": text, "kept": text,
                                                 "status": "completed"})
        self.assertIn("gpt-4o+ship", seen["models"])

    def test_openai_async(self):
        self.assertEqual(self.saw("in_parallel"), {"own": 40, "text": self.upstream.text})

    def test_openai_errors(self):
        seen = self.saw("errors")
        for name in ("too long", "too long, streaming"):
            self.assertEqual(seen[name][:3], ["BadRequestError", 400, "context_length_exceeded"])
            self.assertIn("8,192", seen[name][3])
        self.assertEqual(seen["no index"][:2], ["NotFoundError", 404])
        self.assertIn("nowhere", seen["no index"][3])
        self.assertEqual(seen["bad field"][:2], ["BadRequestError", 400])
        self.assertEqual(seen["rate"][:2], ["RateLimitError", 429])

    def test_langchain(self):
        text = self.upstream.text
        self.assertEqual(self.saw("langchain"), {"text": text, "read": 17, "stream": text})
        self.assertEqual(self.saw("langchain_tools"), {"calls": {"side": "port"}})

    def test_llamaindex(self):
        self.assertEqual(self.saw("llamaindex"), {"text": self.upstream.text, "stream": self.upstream.text})

    def test_litellm(self):
        text = self.upstream.text
        self.assertEqual(self.saw("litellm_client"), {"text": text, "read": 17, "stream": text, "too long": 400})

    def test_anthropic(self):
        text = self.upstream.text
        self.assertEqual(self.saw("anthropic_client"), {"text": text, "pieces": text, "last": text, "stop": True, "counted": True,
                                                        "models": "gpt-4o", "too long": "invalid_request_error"})
        self.assertEqual(self.saw("anthropic_tools"), {"input": {"side": "port"}, "streamed": {"side": "port"}})


if __name__ == "__main__":
    unittest.main()
