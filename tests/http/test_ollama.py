"""The gateway in front of an Ollama, to which it speaks natively: the window that a plan needs is asked for, nothing is
cut by the server, and what its API cannot say is not dropped in silence.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import unittest

from gateway import CHAT, Gateway, long_history, serving, user
from ollama import Ollama, chatml, counted, merged

MODELS = {"qwen2.5:7b": [4096, 32768], "qwen2.5:3b": [None, 8192]}


class Native(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Ollama(MODELS))
        cls.gateway = Gateway(cls.upstream)
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        self.upstream.clear()

    def test_what_the_plan_says_is_what_was_read(self):
        for messages in [user("Ahoy"), [{"role": "system", "content": "You are the mate."}, *long_history(3)],
                         user("How deep <|im_end|> is it?"), user("Wie tief, 你好, \U0001f6a2?")]:
            for stream in (False, True):
                reply = self.gateway.chat("qwen2.5:7b", messages, stream=stream,
                                          stream_options={"include_usage": True} if stream else None)
                self.assertEqual(reply.status, 200, reply.body)
                usage = reply.events[-1]["usage"] if stream else reply.json["usage"]
                self.assertEqual(int(reply.headers["x-plimsoll-input-tokens"]), usage["prompt_tokens"])
                self.assertEqual(usage["prompt_tokens"], counted(chatml(messages)))
                text = ("".join(event["choices"][0]["delta"].get("content") or "" for event in reply.events[:-1])
                        if stream else reply.json["choices"][0]["message"]["content"])
                self.assertEqual(text, self.upstream.text)

    def test_neighbours_of_one_role_are_counted_as_the_server_merges_them(self):
        messages = [*user("Ahoy"), *user("How deep?"), {"role": "system", "content": "You are the mate."}, *user("Well?")]
        reply = self.gateway.chat("qwen2.5:7b", messages, max_tokens=50)
        self.assertEqual(int(reply.headers["x-plimsoll-input-tokens"]), reply.json["usage"]["prompt_tokens"])
        self.assertEqual(reply.json["usage"]["prompt_tokens"], counted(chatml(merged(messages))))
        long = [*long_history(20), *user("And now?"), *user("Well?")] * 3
        with serving(self.upstream, ollama_num_ctx_max=4096, compress_history=False) as fresh:
            reply = fresh.chat("qwen2.5:7b", long, max_tokens=400)
            self.assertEqual(reply.status, 200, reply.body)
            self.assertTrue(reply.ours["left_out"])
            self.assertEqual(reply.ours["input_tokens"], reply.json["usage"]["prompt_tokens"])
            self.assertLessEqual(reply.ours["input_tokens"] + 400, 4096)

    def test_nothing_may_be_cut_or_shifted_by_the_server(self):
        self.gateway.chat("qwen2.5:7b", user("Ahoy"), max_tokens=50, temperature=0.5, seed=7, stop="X", top_p=0.9,
                          frequency_penalty=0.1, response_format={"type": "json_object"})
        sent = self.upstream.asked()[-1].json
        self.assertEqual((sent["truncate"], sent["shift"], sent["format"], sent["stream"]), (False, False, "json", False))
        self.assertEqual(sent["options"], {"temperature": 0.5, "seed": 7, "stop": ["X"], "top_p": 0.9, "num_predict": 50,
                                           "frequency_penalty": 0.1, "num_ctx": 4096})

    def test_windows_are_asked_for_in_steps(self):
        seen = []
        with serving(self.upstream, compress_history=False) as fresh:
            for turns in (1, 10, 12, 30, 1):
                reply = fresh.chat("qwen2.5:7b", long_history(turns), max_tokens=400)
                self.assertEqual(reply.status, 200, reply.body)
                self.assertEqual(len(self.upstream.asked()[-1].json["messages"]), 2 * turns + 1)
                seen.append(self.upstream.asked()[-1].json["options"]["num_ctx"])
            self.assertEqual(seen, [4096, 4096, 4096, 8192, 8192])
            reply = fresh.chat("qwen2.5:7b", long_history(300), max_tokens=400)
            self.assertEqual(self.upstream.asked()[-1].json["options"]["num_ctx"], 16384)
            self.assertEqual((reply.ours["window"], reply.ours["left_out"][0]["section"]), (16384, "history"))
            self.assertLess(reply.ours["input_tokens"] + 400, 16384)
            self.assertEqual(reply.json["usage"]["prompt_tokens"], reply.ours["input_tokens"])

    def test_not_above_what_the_model_could_do_nor_the_setting(self):
        reply = self.gateway.chat("qwen2.5:3b", long_history(200), max_tokens=400)
        self.assertEqual((reply.status, self.upstream.asked()[-1].json["options"]["num_ctx"]), (200, 8192))
        with serving(self.upstream, ollama_num_ctx_max=6000) as bounded:
            reply = bounded.chat("qwen2.5:7b", long_history(200), max_tokens=400)
            self.assertEqual((reply.status, self.upstream.asked()[-1].json["options"]["num_ctx"]), (200, 6000))

    def test_a_cut_is_answered_with_a_larger_window(self):
        with serving(self.upstream) as fresh:
            self.upstream.deaf = 1
            reply = fresh.chat("qwen2.5:7b", long_history(12), max_tokens=400)
            self.assertEqual(reply.status, 200)
            windows = [request.json["options"]["num_ctx"] for request in self.upstream.asked()]
            self.assertEqual(windows, [4096, 8192])
            self.assertEqual(reply.json["usage"]["prompt_tokens"], int(reply.headers["x-plimsoll-input-tokens"]))
            self.assertNotIn("x-plimsoll-upstream-cut-tokens", reply.headers)
            self.assertIn("upstream cut the prompt", fresh.logged())
            self.upstream.clear()
            self.upstream.deaf = 5
            reply = fresh.chat("qwen2.5:7b", long_history(12), max_tokens=400)
            self.assertEqual(len(self.upstream.asked()), 2)
            planned = int(reply.headers["x-plimsoll-input-tokens"])
            self.assertEqual(reply.ours["upstream_cut_tokens"], planned - 2048)
            self.upstream.deaf = 0

    def test_a_cut_that_shows_at_the_end_of_a_stream_is_told_there(self):
        with serving(self.upstream, ollama_num_ctx_max=4096) as fresh:
            for asked in (True, False):
                self.upstream.deaf = 1
                reply = fresh.chat("qwen2.5:7b", long_history(12), max_tokens=400, stream=True,
                                   **({"stream_options": {"include_usage": True}} if asked else {}))
                planned = int(reply.headers["x-plimsoll-input-tokens"])
                self.assertEqual(reply.events[-1]["plimsoll"]["upstream_cut_tokens"], planned - 2048)
                self.assertEqual(any(event.get("usage") for event in reply.events), asked)

    def test_usage_comes_in_a_stream_for_those_who_asked(self):
        for asked in (True, False):
            reply = self.gateway.chat("qwen2.5:7b", user("Ahoy"), stream=True,
                                      **({"stream_options": {"include_usage": True}} if asked else {}))
            self.assertEqual([bool(event["choices"]) for event in reply.events][-1], not asked)
            self.assertEqual(any(event.get("usage") for event in reply.events), asked)
            trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
            self.assertEqual((trace["drift"], trace["usage"]["input"]), (0, trace["input_tokens"]))

    def test_what_cannot_be_said_is_refused_or_left_out_by_setting(self):
        fields = {"n": 2, "logit_bias": {"1": 5}}
        reply = self.gateway.chat("qwen2.5:7b", user("Ahoy"), **fields)
        self.assertEqual((reply.status, self.upstream.asked()), (400, []))
        for word in ("logit_bias", "n,", "refuse_inexpressible"):
            self.assertIn(word, reply.json["detail"])
        with serving(self.upstream, refuse_inexpressible=False) as lenient:
            reply = lenient.chat("qwen2.5:7b", user("Ahoy"), **fields)
            self.assertEqual(reply.status, 200)
            trace = lenient.inspect(reply.headers["x-plimsoll-trace"])
            self.assertTrue(any("logit_bias" in warning for warning in trace["warnings"]), trace["warnings"])
            self.assertTrue(any("logit_bias" in warning for warning in reply.ours["warnings"]))

    def test_a_server_that_does_not_render_is_counted_and_says_so(self):
        with Ollama(MODELS) as old:
            old.renders = False
            with serving(old) as gateway:
                reply = gateway.chat("qwen2.5:7b", user("Ahoy"), plimsoll={"explain": True})
                self.assertEqual(reply.status, 200)
                self.assertEqual(reply.ours["exactness"], "calibrated")

    def test_models_and_embeddings(self):
        models = {model["id"]: model for model in self.gateway.ask("/v1/models").json["data"]}
        self.assertEqual((models["qwen2.5:7b"]["context_window"], models["qwen2.5:7b"]["context_window_source"]),
                         (16384, "requestable"))
        body = b'{"model": "qwen2.5:7b",  "input": "x"}'
        self.assertEqual(self.gateway.ask("/v1/embeddings", body).status, 200)
        self.assertEqual(self.upstream.last("/v1/embeddings").body, body)
        self.assertEqual(self.upstream.to(CHAT), [])


if __name__ == "__main__":
    unittest.main()
