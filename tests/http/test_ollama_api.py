"""The gateway as Ollama's clients meet it: its official Python package, and requests by hand where that is too polite;
before an OpenAI-style server and before an Ollama.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. `tools/setup clients` brings the client into an environment
of its own. Nothing here leaves this machine.
"""

import base64
import json
import os
import subprocess
import unittest
from pathlib import Path

from gateway import PATIENCE, Gateway, WithGateway, long_history, serving, user
from ollama import Ollama

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = Path(os.environ.get("CLIENTS_PYTHON") or CACHE / "venv-clients" / "bin" / "python")
LINE = "The load line is amidships."
SOUND = {"type": "function", "function": {"name": "sound", "parameters": {"type": "object", "properties": {}}}}


def seen_by_client(url, model, *what):
    if not PYTHON.exists():
        raise AssertionError(f"{PYTHON} is missing; `tools/setup clients` brings the clients")
    done = subprocess.run([PYTHON, "-P", Path(__file__).with_name("ollama_client.py"), url, model, *what], text=True,
                          capture_output=True, timeout=8 * PATIENCE, check=False,
                          env=os.environ | {"no_proxy": "127.0.0.1"})
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def lines(reply):
    return [json.loads(line) for line in reply.body.splitlines()]


class OfficialClient(WithGateway):
    """Before a server that speaks OpenAI's API."""

    SETTINGS = {"compress_history": False}  # turns are left out; test_long_conversations.py has summaries
    MODELS = {"gpt-4o": 8192, "tools/gpt-4o": 8192, "429/gpt-4o": 8192, "half-chunk/gpt-4o": 8192}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.gateway.folder / "line.txt").write_text(LINE)
        cls.gateway.run("index", "add", "ship", "line.txt", "--quiet")
        cls.upstream.prompt_tokens = 17
        cls.seen = seen_by_client(cls.gateway.url, "gpt-4o")
        cls.sent = [request.json for request in cls.upstream.to()]

    def saw(self, name):
        seen = self.seen[name]
        self.assertNotIn("raised", seen, seen.get("raised"))
        return seen

    def test_plain(self):
        self.assertEqual(self.saw("plain"), {
            "text": self.upstream.text, "role": "assistant", "model": "gpt-4o", "done": True, "reason": "stop", "read": 17,
            "written": 3, "timed": True, "created": "20"})
        self.assertEqual(self.sent[0], {"model": "gpt-4o", "stream": False, "temperature": 0.5, "seed": 7, "stop": ["X"],
                                        "max_tokens": 50, "messages": [
                                            {"role": "system", "content": "You are the mate."},
                                            {"role": "user", "content": "How deep?"}]})

    def test_streaming(self):
        seen = self.saw("streaming")
        self.assertEqual((seen["text"], seen["read"], seen["reason"]), (self.upstream.text, 17, "stop"))
        self.assertEqual(seen["done"], [False] * 3 + [True])
        self.assertEqual(self.sent[1]["stream_options"], {"include_usage": True})

    def test_tools(self):
        self.assertEqual(self.saw("tools"), {"name": "sound", "arguments": {"side": "port"}, "text": self.upstream.text})
        self.assertEqual(self.saw("tools_in_a_stream"), {"calls": [["sound", {"side": "port"}]]})
        again = next(sent for sent in self.sent if sent["messages"][-1]["role"] == "tool")
        call, result = again["messages"][-2]["tool_calls"][0], again["messages"][-1]
        self.assertEqual(json.loads(call["function"]["arguments"]), {"side": "port"})
        self.assertEqual((result["tool_call_id"], result["content"]), (call["id"], "12 fathoms to port"))
        self.assertEqual(again["tools"][0]["function"]["name"], "sound")

    def test_images_go_along(self):
        self.assertEqual(self.saw("image"), {"text": self.upstream.text})
        parts = next(sent["messages"][0]["content"] for sent in self.sent
                     if isinstance(sent["messages"][0]["content"], list))
        self.assertEqual(parts[0], {"type": "text", "text": "What is it?"})
        kind, _, data = parts[1]["image_url"]["url"].partition(",")
        self.assertEqual((kind, base64.b64decode(data)[:4]), ("data:image/png;base64", b"\x89PNG"))

    def test_generate(self):
        seen = self.saw("generate")
        text = self.upstream.text
        self.assertEqual((seen["text"], seen["reason"], seen["read"], seen["stream"], seen["done"], seen["parts"]),
                         (text, "stop", 17, text, True, 4))
        self.assertEqual(self.saw("load"), {"generate": "load", "chat": "load", "unload": "unload"})

    def test_embed(self):
        self.assertEqual(self.saw("embed"), {"one": [384], "many": [384, 384], "same": True, "other": True})
        self.assertEqual(self.saw("embed_upstream"), {"vectors": [[1.0, 0.0]], "old": [1.0, 0.0]})

    def test_lists(self):
        seen = self.saw("lists")
        self.assertEqual(set(seen["models"]), {*self.MODELS, *(f"{name}+ship" for name in self.MODELS), "all-minilm-l6-v2"})
        self.assertEqual(seen["info"][seen["info"]["general.architecture"] + ".context_length"], 8192)
        self.assertIn("completion", seen["capabilities"])
        self.assertEqual(seen["running"]["gpt-4o"], 8192)
        self.assertTrue(seen["digests"])

    def test_what_does_not_fit_is_planned(self):
        self.assertEqual(self.saw("planned")["text"], self.upstream.text)
        sent = next(sent for sent in self.sent if len(sent["messages"]) > 5)
        self.assertLess(len(sent["messages"]), 30)

    def test_errors(self):
        seen = self.saw("errors")
        for name in ("too long", "too long, streaming", "too long, generating"):
            self.assertEqual(seen[name][0], 400)
            self.assertIn("8,192", seen[name][1])
        self.assertEqual((seen["no such show"][0], seen["rate"]), (404, [429, "slow down"]))
        for name in ("template", "suffix", "context"):
            self.assertEqual(seen[name][0], 400)
            self.assertIn(name, seen[name][1])
        self.assertEqual(seen["pull"][0], 501)
        self.assertIsInstance(seen["breaks off"], list, seen["breaks off"])

    def test_many_at_once(self):
        self.assertEqual(self.saw("in_parallel"), {"texts": [self.upstream.text]})


class ByHand(WithGateway):
    SETTINGS = {"compress_history": False}  # turns are left out; test_long_conversations.py has summaries
    MODELS = {"gpt-4o": 8192, "overflow-vllm-inside/gpt-4o": 8192, "cut/gpt-4o": 8192, "20mb/gpt-4o": 8192}

    def chat(self, **fields):
        return self.gateway.ask("/api/chat", {"model": "gpt-4o", "messages": user("Ahoy")} | fields)

    def test_a_stream_is_lines_and_has_our_headers(self):
        reply = self.chat()
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/x-ndjson"))
        self.assertEqual(reply.headers["x-plimsoll-window"], "8192")
        self.assertTrue(reply.headers["x-plimsoll-trace"])
        self.assertEqual([line["done"] for line in lines(reply)], [False, False, False, True])
        self.assertNotIn("prompt_eval_count", lines(reply)[-1])  # the upstream did not say
        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
        self.assertEqual((trace["model"], trace["status"]), ("gpt-4o", 200))

    def test_what_was_left_out_stands_in_the_last_line(self):
        for stream in (True, False):
            last = lines(self.chat(messages=long_history(120), stream=stream))[-1]
            self.assertTrue(last["done"])
            self.assertEqual(last["plimsoll"]["left_out"][0]["section"], "history")
            self.assertEqual(last["plimsoll"]["window"], 8192)

    def test_num_ctx_bounds_the_plan_and_what_it_cost_is_said(self):
        last = lines(self.chat(messages=long_history(20), options={"num_ctx": 2048}))[-1]
        self.assertEqual((last["plimsoll"]["window"], last["plimsoll"]["left_out"][0]["section"]), (2048, "history"))
        self.assertLess(last["plimsoll"]["input_tokens"], 2048)
        last = lines(self.chat(options={"num_ctx": 65536}))[-1]
        self.assertIn("65,536", last["plimsoll"]["warnings"][0])
        refused = self.chat(messages=user("ship " * 3000), options={"num_ctx": 2048})
        self.assertEqual((refused.status, self.upstream.to()[2:]), (400, []))
        self.assertIn("2,048", refused.json["error"])

    def test_who_forbids_cuts_gets_an_error_instead(self):
        reply = self.chat(messages=long_history(120), truncate=False)
        self.assertEqual((reply.status, self.upstream.to()), (400, []))
        self.assertIn("8,192", reply.json["error"])

    def test_documents_by_name_and_by_field(self):
        (self.gateway.folder / "line.txt").write_text(LINE)
        self.gateway.run("index", "add", "ship", "line.txt", "--quiet")
        for fields in ({"model": "gpt-4o+ship"}, {"index_name": "ship"}):
            last = lines(self.chat(messages=user("Where is the load line?"), **fields))[-1]
            self.assertEqual(last["source_nodes"][0]["text"], LINE)
            self.assertIn(LINE, self.upstream.last().json["messages"][0]["content"])

    def test_formats_and_thinking(self):
        self.chat(format="json", think=False, keep_alive="5m")
        sent = self.upstream.last().json
        self.assertEqual((sent["response_format"], sent["chat_template_kwargs"], "keep_alive" in sent),
                         ({"type": "json_object"}, {"enable_thinking": False}, False))
        self.chat(format={"type": "object"}, think="high")
        sent = self.upstream.last().json
        self.assertEqual((sent["response_format"]["json_schema"]["schema"], sent["reasoning_effort"]),
                         ({"type": "object"}, "high"))

    def test_raw_goes_to_completions(self):
        reply = self.gateway.ask("/api/generate", {"model": "gpt-4o", "prompt": "Ahoy", "raw": True, "stream": False})
        self.assertEqual((reply.status, reply.json["response"]), (200, self.upstream.text))
        sent = self.upstream.last("/v1/completions").json
        self.assertEqual(sent["prompt"], "Ahoy")
        self.assertGreater(sent["max_tokens"], 7000)  # not OpenAI's 16
        self.assertLess(sent["max_tokens"], 8192)

    def test_latest_is_the_model(self):
        reply = self.chat(model="gpt-4o:latest", stream=False)
        self.assertEqual((reply.status, reply.json["model"], self.upstream.last().json["model"]),
                         (200, "gpt-4o:latest", "gpt-4o"))

    def test_an_overflow_inside_a_stream_is_planned_again(self):
        reply = self.chat(model="overflow-vllm-inside/gpt-4o")
        self.assertEqual((reply.status, len(self.upstream.to())), (200, 2))
        self.assertEqual("".join(line["message"]["content"] for line in lines(reply)), self.upstream.text)

    def test_a_cut_is_told(self):
        reply = self.chat(model="cut/gpt-4o", messages=long_history(20), stream=False)
        self.assertGreater(reply.json["plimsoll"]["upstream_cut_tokens"], 1000)
        self.assertIn("x-plimsoll-upstream-cut-tokens", reply.headers)

    def test_a_huge_answer(self):
        reply = self.chat(model="20mb/gpt-4o", stream=False)
        self.assertEqual(len(reply.json["message"]["content"]), 20_000_000)

    def test_large_requests_are_translated_by_workers(self):
        image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(300_000)).decode()
        reply = self.chat(messages=[{"role": "user", "content": "?", "images": [image]}], stream=False)
        self.assertEqual(reply.status, 200, reply.body[:500])
        self.assertTrue(self.upstream.last().json["messages"][0]["content"][1]["image_url"]["url"].endswith(image))

    def test_bad_requests(self):
        for path, body in {
            "/api/chat": [b"", b"{", b"[]", b"7", {"messages": "x"}, {"messages": [7]}, {"messages": [{"role": 7}]},
                          {"messages": [{"role": "user", "content": 7}]}, {"messages": user("x"), "stream": "yes"},
                          {"messages": user("x"), "options": 7}, {"messages": user("x"), "options": {"num_ctx": "a"}},
                          {"messages": user("x"), "options": {"num_predict": 1.5}}, {"messages": user("x"), "tools": 7},
                          {"messages": user("x"), "options": {"mirostat": 2}}, {"model": 7, "messages": user("x")},
                          {"messages": [{"role": "user", "content": "x", "images": [7]}]}, {"messages": user("x"), "think": 7},
                          {"messages": [{"role": "assistant", "content": "x", "tool_calls": [7]}]},
                          {"messages": user("x"), "plimsoll": "x", "truncate": False}, {"messages": user("x"), "format": 7},
                          b"[" * 2000, {"messages": [{"role": "pirate", "content": "x"}]}],
            "/api/generate": [{"prompt": 7}, {"prompt": "x", "images": 7}, {"prompt": "x", "raw": True, "index_name": "x"}],
            "/api/show": [b"", {"model": 7}],
            "/api/embed": [b"", b"[]", {"model": "all-minilm-l6-v2"}, {"model": "all-minilm-l6-v2", "input": [7]}],
        }.items():
            for one in body:
                if isinstance(one, dict):
                    one = {"model": "gpt-4o"} | one
                reply = self.gateway.ask(path, one)
                if path == "/api/embed" and isinstance(one, dict) and "input" not in one:
                    self.assertEqual(reply.status, 200)  # as Ollama's, which embeds nothing
                    continue
                self.assertEqual(reply.status, 400, (path, one, reply.body))
                self.assertIsInstance(reply.json["error"], str)
        self.assertEqual(self.upstream.to(), [])

    def test_versions_and_other_methods(self):
        version = self.gateway.ask("/api/version").json
        self.assertRegex(version["version"], r"^0\.\d+\.\d+$")
        self.assertTrue(version["plimsoll"])
        reply = self.gateway.ask("/api/chat", method="GET")
        self.assertEqual((reply.status, reply.headers["allow"]), (405, "POST"))
        self.assertEqual(reply.json, {"error": "Method Not Allowed"})


class BeforeAnOllama(unittest.TestCase):
    """Out of Ollama's API, into OpenAI's, and back."""

    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Ollama({"qwen2.5:7b": [4096, 32768]}))
        cls.gateway = Gateway(cls.upstream)
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        self.upstream.clear()

    def chat(self, **fields):
        return self.gateway.ask("/api/chat", {"model": "qwen2.5:7b", "messages": user("Ahoy")} | fields)

    def test_the_official_client(self):
        seen = seen_by_client(self.gateway.url, "qwen2.5:7b", "plain", "streaming", "generate", "image", "embed",
                              "embed_upstream", "lists", "planned", "in_parallel")
        for name in ("plain", "streaming", "generate", "image", "planned"):
            self.assertEqual(seen[name].get("text"), self.upstream.text, seen[name])
        self.assertEqual(seen["lists"]["info"]["qwen2.context_length"], 16384)
        self.assertEqual(seen["streaming"]["read"], seen["plain"]["read"])
        self.assertEqual(seen["embed"]["many"], [384, 384])
        self.assertEqual(seen["embed_upstream"], {"vectors": [[1.0, 0.0]], "old": [1.0, 0.0]})
        self.assertEqual(seen["in_parallel"], {"texts": [self.upstream.text]})
        with_image = next(request.json for request in self.upstream.asked() if "images" in request.json["messages"][0])
        self.assertEqual(base64.b64decode(with_image["messages"][0]["images"][0])[:4], b"\x89PNG")

    def test_what_cannot_fit_is_refused(self):
        reply = self.chat(messages=user("ship " * 40000))
        self.assertEqual((reply.status, self.upstream.asked()), (400, []))
        self.assertIn("16,384", reply.json["error"])

    def test_what_it_alone_knows_goes_through(self):
        reply = self.chat(think=True, keep_alive="5m", stream=False, format="json",
                          options={"mirostat": 2, "num_gpu": 1, "temperature": 0.5, "num_predict": 9})
        self.assertEqual(reply.status, 200, reply.body)
        sent = self.upstream.asked()[-1].json
        self.assertEqual((sent["think"], sent["keep_alive"], sent["format"], sent["truncate"], sent["shift"]),
                         (True, "5m", "json", False, False))
        self.assertEqual({name: sent["options"][name] for name in ("mirostat", "num_gpu", "temperature", "num_predict")},
                         {"mirostat": 2, "num_gpu": 1, "temperature": 0.5, "num_predict": 9})

    def test_num_ctx_is_what_the_model_is_loaded_with(self):
        with serving(self.upstream) as fresh:
            body = {"model": "qwen2.5:7b", "messages": user("Ahoy"), "options": {"num_ctx": 8192}}
            self.assertEqual(fresh.ask("/api/chat", body).status, 200)
            self.assertEqual(self.upstream.asked()[-1].json["options"]["num_ctx"], 8192)

    def test_a_cut_leads_to_a_larger_window(self):
        with serving(self.upstream) as fresh:
            self.upstream.deaf = 1
            reply = fresh.ask("/api/chat", {"model": "qwen2.5:7b", "messages": long_history(12), "stream": False,
                                            "options": {"num_predict": 400}})
            self.assertEqual([request.json["options"]["num_ctx"] for request in self.upstream.asked()], [4096, 8192])
            self.assertEqual(reply.json["prompt_eval_count"], int(reply.headers["x-plimsoll-input-tokens"]))

    def test_embeddings_are_asked_for_natively_and_not_cut(self):
        self.gateway.ask("/api/embed", {"model": "qwen2.5:7b", "input": ["a", "b"], "options": {"num_ctx": 512}})
        self.assertEqual(self.upstream.last("/api/embed").json, {
            "model": "qwen2.5:7b", "input": ["a", "b"], "options": {"num_ctx": 512}, "truncate": False})
        self.gateway.ask("/api/embeddings", {"model": "qwen2.5:7b", "prompt": "a", "truncate": True})
        self.assertEqual((self.upstream.last("/api/embed").json["truncate"], self.upstream.to("/v1/embeddings")), (True, []))

    def test_raw_is_refused_with_the_reason(self):
        reply = self.gateway.ask("/api/generate", {"model": "qwen2.5:7b", "prompt": "x", "raw": True})
        self.assertEqual((reply.status, self.upstream.asked()), (400, []))
        self.assertIn("template", reply.json["error"])


if __name__ == "__main__":
    unittest.main()
