"""The routes of the gateway as a client meets them: bytes go through unchanged, streams really stream, and every
answer says what was counted.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import base64
import http.client
import json
import signal
import struct
import time
import unittest

from gateway import CHAT, PATIENCE, Gateway, Reply, WithGateway, http_request, read_all, serving, user
from upstream import Upstream

ODD = (b'{ "model" : "gpt-4o",\n\t"messages":[ {"role":"user","content":"A\\u00e9 \xc3\xa9 \\/ ok", "x_note": 1e2} ],'
       b' "temperature":0.70, "unknown_field" : {"b":1, "a":[null,  true]}, "seed":1, "max_tokens" : 20 }  \n')


class PassThrough(WithGateway):
    def test_what_fits_goes_through_byte_for_byte(self):
        reply = self.gateway.ask(CHAT, ODD)
        self.assertEqual(reply.status, 200)
        self.assertEqual([request.body for request in self.upstream.to()], [ODD])
        self.assertEqual(reply.body, self.upstream.last().sent)
        self.assertEqual(reply.headers["x-request-id"], "r1")

    def test_fields_of_openai_go_through_byte_for_byte(self):
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        tool = {"type": "function", "function": {"name": "sound", "parameters": {"type": "object", "properties": {}}}}
        for fields in [{"tools": [tool], "tool_choice": "auto"}, {"response_format": {"type": "json_object"}},
                       {"n": 2}, {"logprobs": True, "top_logprobs": 3}, {"functions": [tool["function"]]},
                       {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]}]:
            with self.subTest(fields=fields):
                body = json.dumps({"model": "gpt-4o", "messages": user("Ahoy")} | fields, indent=1).encode()
                reply = self.gateway.ask(CHAT, body)
                self.assertEqual(reply.status, 200, reply.body)
                self.assertEqual(self.upstream.last().body, body)
                self.assertEqual(reply.body, self.upstream.last().sent)

    def test_a_stream_goes_through_byte_for_byte(self):
        body = b'{"stream": true , "model":"gpt-4o","messages":[{"role":"user","content":"Ahoy"}]}'
        reply = self.gateway.ask(CHAT, body)
        self.assertEqual(reply.status, 200)
        self.assertTrue(reply.headers["content-type"].startswith("text/event-stream"))
        self.assertEqual(reply.headers["cache-control"], "no-cache")
        self.assertEqual(self.upstream.last().body, body)
        self.assertEqual(reply.body, self.upstream.last().sent)
        self.assertEqual(len(reply.events), 5)

    def test_the_first_event_is_there_before_the_second_is_sent(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("POST", CHAT, json.dumps({"model": "slow/gpt-4o", "messages": user("Ahoy"), "stream": True}))
        reply = connection.getresponse()
        first = reply.readline()
        self.assertIn(b'"role": "assistant"', first)
        self.assertFalse(self.upstream.release.is_set())
        self.assertEqual(self.upstream.last().sent, first + b"\n")
        self.upstream.release.set()
        self.assertEqual(first + reply.read(), self.upstream.last().sent)

    def test_every_answer_says_what_was_counted(self):
        self.upstream.prompt_tokens = 9
        for stream in (False, True):
            reply = self.gateway.chat("gpt-4o", user("Ahoy there"), max_tokens=77, stream=stream)
            planned = self.gateway.ask("/v1/count", {"model": "gpt-4o", "messages": user("Ahoy there")}).json["tokens"]
            self.assertEqual(reply.headers["x-plimsoll-window"], "8192")
            self.assertEqual(reply.headers["x-plimsoll-input-tokens"], str(planned))
            self.assertEqual(reply.headers["x-plimsoll-answer-tokens"], "77")
            self.assertEqual(reply.headers["x-plimsoll-model"], "gpt-4o")
            trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
            self.assertEqual((trace["id"], trace["window"], trace["input_tokens"], trace["stream"], trace["changed"]),
                             (reply.headers["x-plimsoll-trace"], 8192, planned, stream, False))
            self.assertEqual((trace["status"], trace["finish_reason"]), (200, "stop"))
            if not stream:
                self.assertEqual((trace["usage"]["input"], trace["drift"]), (9, 9 - planned))
            self.assertNotIn("prompt", trace)

    def test_explaining_tells_the_plan(self):
        reply = self.gateway.chat("gpt-4o", user("Ahoy"), plimsoll={"explain": True, "session": "s1"})
        self.assertNotIn("plimsoll", self.upstream.last().json)
        self.assertEqual(reply.ours["plan"]["window"]["tokens"], 8192)
        self.assertEqual(reply.ours["left_out"], [])
        self.assertEqual(self.gateway.inspect(reply.headers["x-plimsoll-trace"])["session"], "s1")

    def test_other_routes_go_through_byte_for_byte(self):
        for path, body in [("/v1/completions", b'{"model":"gpt-4o",  "prompt":"Ahoy","max_tokens":5,"x":1}'),
                           ("/v1/embeddings", b'{"model":"gpt-4o",  "input":"Ahoy"}')]:
            with self.subTest(path=path):
                reply = self.gateway.ask(path, body)
                self.assertEqual(reply.status, 200, reply.body)
                self.assertEqual(self.upstream.last(path).body, body)
                self.assertEqual(reply.body, self.upstream.last(path).sent)
                self.assertIn("x-plimsoll-trace", reply.headers)

    def test_other_routes_are_protected(self):
        long = "ship " * 9000
        for path, body in [("/v1/completions", {"prompt": long}), ("/v1/responses", {"input": long})]:
            error = self.assert_error(self.gateway.ask(path, body | {"model": "gpt-4o"}), 400, "context_length_exceeded",
                                      "Prompt length exceeds context window.", "8,192")
            self.assertEqual(error["type"], "invalid_request_error")
            self.assertEqual(self.upstream.to(path), [])
        reply = self.gateway.ask("/v1/completions", {"model": "gpt-4o", "prompt": "ship " * 4000, "max_tokens": 8000})
        self.assertEqual(reply.status, 200)
        sent = self.upstream.last("/v1/completions").json["max_tokens"]
        self.assertLess(sent + 4000, 8192)
        self.assertGreater(sent, 3900)

    def test_what_an_answer_may_have_is_what_is_told(self):
        window = int(self.gateway.chat("gpt-4o", user("Ahoy")).headers["x-plimsoll-window"])
        open_end = self.gateway.ask("/v1/responses", {"model": "gpt-4o", "input": "Ahoy"})
        self.assertGreater(int(open_end.headers["x-plimsoll-answer-tokens"]), window - 250)
        plain = self.gateway.ask("/v1/completions", {"model": "gpt-4o", "prompt": "Ahoy"})
        self.assertEqual(plain.headers["x-plimsoll-answer-tokens"], "16")
        huge = self.gateway.ask("/v1/completions", {"model": "gpt-4o", "prompt": "Ahoy", "max_tokens": 1e6})
        self.assertLess(self.upstream.last("/v1/completions").json["max_tokens"], window)
        self.assertEqual(huge.status, 200)
        for limit in (12.5, "many", True):
            self.assert_error(self.gateway.ask("/v1/completions", {"model": "gpt-4o", "prompt": "Ahoy", "max_tokens": limit}),
                              400, None, "max_tokens")

    def test_types_that_cannot_be_meant(self):
        for fields, word in [({"model": 5}, "model"), ({"stream": "yes"}, "stream")]:
            self.assert_error(self.gateway.ask(body={"model": "gpt-4o", "messages": user("Ahoy")} | fields), 400, None, word)
        self.assertEqual(self.gateway.chat("gpt-4o", user("Ahoy"), stream=None).status, 200)

    def test_the_key_of_the_upstream_is_sent_and_the_clients_is_not(self):
        reply = self.gateway.ask(CHAT, {"model": "gpt-4o", "messages": user("Ahoy")},
                                 headers={"Authorization": "Bearer clients"})
        self.assertEqual(reply.status, 200)
        self.assertNotIn("authorization", self.upstream.last().headers)
        keys = {"LLM_INFERENCE_URL": self.upstream.url + "/v1", "LLM_ACCESS_SECRET": "sesame"}
        with serving(environment=keys) as other:
            self.assertEqual(other.chat("gpt-4o", user("Ahoy")).status, 200)
            self.assertEqual(self.upstream.last().headers["authorization"], "Bearer sesame")
            self.assertNotIn("sesame", other.logged() + other.greeting)


class Routes(WithGateway):
    MODELS = {"gpt-4o": 8192, "qwen2.5:7b": 4096, "my-own-model": None}

    def test_health_and_readiness(self):
        reply = self.gateway.ask("/health")
        self.assertEqual((reply.status, reply.body), (200, b'{"status":"Healthy","detail":null}'))
        ready = self.gateway.ask("/ready")
        self.assertEqual(ready.status, 200)
        self.assertEqual(ready.json["upstreams"][0]["models"], 3)
        self.assertEqual(self.gateway.ask("/health", method="HEAD").body, b"")

    def test_models_say_their_window_and_where_it_comes_from(self):
        models = {model["id"]: model for model in self.gateway.ask("/v1/models").json["data"]}
        self.assertEqual(list(models), ["gpt-4o", "qwen2.5:7b", "my-own-model", "all-minilm-l6-v2"])
        self.assertEqual(models["all-minilm-l6-v2"]["kind"], "embedding")
        self.assertEqual(self.gateway.ask("/v1/models/all-minilm-l6-v2").json, models["all-minilm-l6-v2"])
        known = models["qwen2.5:7b"]
        self.assertEqual((known["context_window"], known["context_window_source"], known["tokenizer"], known["exactness"],
                          known["object"]), (4096, "served", "qwen2.5", "exact", "model"))
        unknown = models["my-own-model"]
        self.assertEqual((unknown["context_window"], unknown["context_window_source"], unknown["exactness"]),
                         (4096, "default", "estimated"))
        self.assertEqual(self.gateway.ask("/v1/models/qwen2.5:7b").json, known)
        self.assert_error(self.gateway.ask("/v1/models/nothing-like-it"), 404, "model_not_found", "nothing-like-it")
        self.assert_error(self.gateway.ask("/v1/models/qwen2.5:7bb"), 404, "model_not_found", "did you mean 'qwen2.5:7b'?")
        self.assertEqual(self.gateway.ask("/admin/models/refresh", b"").status, 200)

    def test_a_plan_without_a_model_being_asked(self):
        messages = user("ship " * 5000) + [{"role": "assistant", "content": "Aye"}] + user("And now?")
        plan = self.gateway.ask("/v1/plan", {"model": "qwen2.5:7b", "messages": messages, "max_tokens": 300}).json
        self.assertEqual((plan["window"]["tokens"], plan["fits"]), (4096, True))
        self.assertLess(plan["inputTokenCount"], 200)
        self.assertEqual(self.upstream.to(), [])
        over = self.gateway.ask("/v1/plan", {"model": "qwen2.5:7b", "messages": user("ship " * 5000)})
        self.assertEqual((over.status, over.json["fits"]), (200, False))

    def test_counting_and_advice(self):
        counted = self.gateway.ask("/v1/count", {"model": "gpt-4o", "text": "How deep may she be loaded?"}).json
        self.assertEqual((counted["tokens"], counted["exactness"]), (7, "exact"))
        advice = self.gateway.ask("/v1/strategy", {"query": "What is a load line?", "char_count": 32000}).json
        self.assertEqual((advice["strategy"], advice["task_type"]), ("HYBRID", "rag_critical"))
        self.assert_error(self.gateway.ask("/v1/strategy", {"query": "x", "file_paths": ["/etc/passwd"]}), 400, None,
                          "file_paths")
        self.assert_error(self.gateway.ask("/v1/count", {}), 400)

    def test_embeddings_of_our_own(self):
        texts = ["Cats are small furry animals.", "The Eiffel Tower is in Paris.", "A kitten is a young cat."]
        ask = {"model": "all-minilm-l6-v2", "input": texts}
        reply = self.gateway.ask("/v1/embeddings", ask).json
        vectors = [one["embedding"] for one in reply["data"]]
        self.assertEqual([len(vector) for vector in vectors], [384] * 3)
        near = lambda a, b: sum(x * y for x, y in zip(a, b))
        self.assertAlmostEqual(near(vectors[0], vectors[0]), 1, places=3)
        self.assertGreater(near(vectors[0], vectors[2]), near(vectors[0], vectors[1]))
        packed = self.gateway.ask("/v1/embeddings", ask | {"encoding_format": "base64"}).json["data"][1]["embedding"]
        for a, b in zip(struct.unpack("<384f", base64.b64decode(packed)), vectors[1]):
            self.assertAlmostEqual(a, b, places=5)
        self.assertEqual(self.upstream.to("/v1/embeddings"), [])
        self.assert_error(self.gateway.ask("/v1/embeddings", ask | {"input": []}), 400, None, "2048")
        self.assert_error(self.gateway.ask("/v1/embeddings", ask | {"dimensions": 5}), 400, None, "384")
        self.assert_error(self.gateway.ask("/v1/embeddings", ask | {"encoding_format": "zip"}), 400, None, "encoding_format")
        self.assertEqual(self.gateway.ask("/v1/embeddings", ask | {"input": "hi"}).json["usage"],
                         {"prompt_tokens": 3, "total_tokens": 3})  # with what stands around it

    def test_what_is_not_there(self):
        self.assert_error(self.gateway.ask("/v2/nothing"), 404, None, "Not Found")
        reply = self.gateway.ask(CHAT)
        self.assert_error(reply, 405, None, "Method Not Allowed")
        self.assertEqual(reply.headers["allow"], "POST")
        self.assertEqual(self.gateway.ask("/").json["name"], "plimsoll")

    def test_requests_that_are_none(self):
        for body in [b"", b"{", b"[]", b"null", b'"x"', b'{"model":"gpt-4o"}', b'{"model":"gpt-4o","messages":[]}',
                     b'{"model":"gpt-4o","messages":{}}', b'{"model":"gpt-4o","messages":[{"content":"x"}]}',
                     b'{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"plimsoll":{"polcy":1}}',
                     b'{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"max_tokens":"many"}',
                     b'\xff\xfe{"model":1}', b'{"model":"gpt-4o","messages":[{"role":"user","content":"\xff"}]}']:
            with self.subTest(body=body):
                error = self.assert_error(self.gateway.ask(CHAT, body, method="POST"), 400)
                self.assertEqual(error["type"], "invalid_request_error")
        self.assertEqual(self.upstream.to(), [])

    def test_ratios_out_of_bounds(self):
        for ratio in (0.1, 0.9):
            self.assert_error(self.gateway.chat("gpt-4o", user("x"), context_token_ratio=ratio), 400, None,
                              f"Invalid context_token_ratio: {ratio}. Must be between 0.2 and 0.8.")
        for ratio in (0.2, 0.8):
            self.assertEqual(self.gateway.chat("gpt-4o", user("x"), context_token_ratio=ratio).status, 200)

    def test_http_of_the_old_days_and_requests_in_a_row(self):
        with self.gateway.dial(b"GET /health HTTP/1.0\r\n\r\n") as line:
            self.assertTrue(read_all(line).endswith(b'{"status":"Healthy","detail":null}'))
        one = http_request({"model": "gpt-4o", "messages": user("Ahoy")})
        last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        with self.gateway.dial(one + one + last) as line:
            got = read_all(line)
        self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 3)
        self.assertEqual(len(self.upstream.to()), 2)

    def test_with_an_upstream_that_is_not_there(self):
        with Upstream({}) as silent:
            port = silent.port
        with serving(f"gone=http://127.0.0.1:{port}") as gateway:
            self.assertIn("no answer", gateway.greeting)
            reply = gateway.chat("gpt-4o", user("Ahoy"))
            self.assert_error(reply, 503, None, "the upstream 'gone'", "connection refused")
            self.assertNotIn(str(port), reply.json["detail"])
            self.assertIn("retry-after", reply.headers)
            self.assertEqual(gateway.ask("/health").status, 200)


class Embedders(unittest.TestCase):
    def test_those_of_this_program_and_of_upstreams_are_listed_and_have_no_indexes(self):
        with Upstream({"gpt-4o": 8192, "nomic-embed-text": 2048}) as upstream, serving(
                upstream, embedders="all-minilm-l6-v2,multilingual-e5-small") as gateway:
            listed = gateway.ask("/v1/models").json["data"]
            own = ["all-minilm-l6-v2", "multilingual-e5-small"]
            kinds = {one["id"]: one.get("kind") for one in listed}
            self.assertEqual(kinds, dict.fromkeys(["nomic-embed-text", *own], "embedding") | {"gpt-4o": None})
            for model in listed[-2:]:
                self.assertEqual(gateway.ask(f"/v1/models/{model['id']}").json, model)
            tags = {one["name"]: one["details"]["family"] for one in gateway.ask("/api/tags").json["models"]}
            self.assertEqual(tags, {"gpt-4o": "", "nomic-embed-text": ""} | dict.fromkeys(own, "bert"))

            # Its weights are not on this machine, which the gateway says itself.
            self.assert_not_installed(gateway.ask("/v1/embeddings", {"model": own[1], "input": "Ahoy"}))
            self.assert_not_installed(gateway.ask("/api/embed", {"model": f"{own[1]}:latest", "input": "Ahoy"}))
            self.assert_not_installed(gateway.ask("/api/show", {"model": own[1]}))
            self.assertEqual(upstream.to("/v1/embeddings"), [])
            vectors = gateway.ask("/api/embed", {"model": f"{own[0]}:latest", "input": "Ahoy"}).json["embeddings"]
            self.assertEqual([len(vector) for vector in vectors], [384])
            shown = gateway.ask("/api/show", {"model": own[0]}).json
            self.assertEqual((shown["capabilities"], shown["model_info"]["bert.context_length"]), (["embedding"], 256))

    def test_they_are_not_combined_with_an_index(self):
        with Upstream({"gpt-4o": 8192, "nomic-embed-text": 2048}) as upstream, serving(upstream) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": "Ahoy"}]})
            expected = ["gpt-4o", "gpt-4o+IDX", "nomic-embed-text", "all-minilm-l6-v2"]
            self.assertEqual([one["id"] for one in gateway.ask("/v1/models").json["data"]], expected)
            self.assertEqual([one["name"] for one in gateway.ask("/api/tags").json["models"]], expected)

    def assert_not_installed(self, reply):
        self.assertEqual(reply.status, 404, reply.body)
        self.assertIn(b"is not in the folder of models; `plimsoll model get multilingual-e5-small`", reply.body)


class TheEnd(unittest.TestCase):
    def test_a_stream_under_way_ends_whole(self):
        with Upstream({"gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream)
            try:
                connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
                connection.request("POST", CHAT,
                                   json.dumps({"model": "slow/gpt-4o", "messages": user("Ahoy"), "stream": True}))
                reply = connection.getresponse()
                first = reply.readline()
                gateway.process.send_signal(signal.SIGTERM)
                until = time.monotonic() + PATIENCE
                while True:  # new ones are refused
                    try:
                        gateway.dial().close()
                    except (ConnectionRefusedError, ConnectionResetError):  # the latter: between knocking and the closing of the door
                        break
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.01)
                self.assertIsNone(gateway.process.poll())
                upstream.release.set()
                rest = reply.read()
                self.assertEqual(first + rest, upstream.last().sent)
                self.assertEqual(Reply(200, [], first + rest).events[-1]["choices"][0]["finish_reason"], "stop")
            finally:
                gateway.close()


if __name__ == "__main__":
    unittest.main()
