"""Chats with an index as clients of KAITO RAGEngine hold them; the rest of its routes is in test_kaito.py.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. Nothing here leaves
this machine.
"""

import concurrent.futures
import contextlib
import http.client
import json
import socket
import unittest

from gateway import CHAT, serving, user
from kaito import THREE, TOWER, Engine
from upstream import Upstream

NOTHING_ASKED = "There must be a user prompt since the latest assistant message."


class WithIndex(Engine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gateway.ask("/index", {"index_name": "IDX", "documents": THREE})

    def setUp(self):
        super().setUp()
        self.name = "IDX"

    def sent(self):
        """What the one call of the model was."""
        calls = self.upstream.to()
        self.assertEqual(len(calls), 1)
        return calls[0].json


class PassedThrough(WithIndex):
    def test_34_without_an_index_nothing_changes(self):
        body = json.dumps({"model": "gpt-4o", "messages": user("Ahoy"), "odd": {"field": [1]}, "seed": 3}).encode()
        reply = self.gateway.ask(CHAT, body)
        self.assertEqual(self.upstream.last().body, body)
        self.assertEqual(reply.body, self.upstream.last().sent)
        reply = self.gateway.chat("429/gpt-4o", user("Ahoy"))
        self.assertIn("slow down", self.detail(reply, 429))
        with serving(self.upstream, kaito_compat=True) as compatible:
            reply = compatible.ask(CHAT, body).json
            self.assertEqual(self.upstream.last().body, body)
            self.assertIsNone(reply.pop("source_nodes"))
            self.assertEqual(reply, json.loads(self.upstream.last().sent))
            reply = compatible.chat("gpt-4o", user("Ahoy"), stream=True)
            self.assertEqual(reply.body, self.upstream.last().sent)

    def test_41_streams_are_relayed_as_they_come(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=20)
        self.addCleanup(connection.close)
        connection.request("POST", CHAT, json.dumps({"model": "slow/gpt-4o", "messages": user("Ahoy"), "stream": True}))
        reply = connection.getresponse()
        self.assertEqual((reply.status, reply.getheader("Cache-Control")), (200, "no-cache"))
        self.assertTrue(reply.getheader("Content-Type").startswith("text/event-stream"))
        self.assertIn(b"assistant", reply.readline())  # before the second one was sent
        self.upstream.release.set()
        self.assertTrue(reply.read().rstrip().endswith(b"data: [DONE]"))
        reply = self.gateway.chat("status-401/gpt-4o", user("Ahoy"), stream=True)
        self.assertEqual((reply.status, reply.headers["content-type"]), (401, "application/json"))
        self.assertIn("who are you?", reply.json["detail"])

    def test_43_tools_go_through_and_two_answers_are_planned(self):
        tool = {"type": "function", "function": {"name": "sound", "parameters": {"type": "object", "properties": {}}}}
        reply = self.good(self.chat(tools=[tool]))
        self.assertEqual((self.sent()["tools"], reply["source_nodes"]), ([tool], None))
        self.upstream.clear()
        reply = self.chat(n=2, tools=[])
        self.assertEqual((len(reply.json["choices"]), self.sources(reply)[0], self.sent()["n"]), (2, TOWER, 2))


class Answers(WithIndex):
    def test_35_the_document_is_read_and_named(self):
        self.upstream.prompt_tokens = 77
        reply = self.good(self.chat())
        self.assertEqual((reply["object"], reply["choices"][0]["message"]["content"]),
                         ("chat.completion", self.upstream.text))
        nodes = reply["source_nodes"]
        self.assertEqual(nodes[0]["text"], TOWER)
        self.assertEqual(nodes[0]["metadata"], {"k": "b", "n": 2})
        scores = [node["score"] for node in nodes]
        self.assertEqual(scores, sorted(scores))
        self.assertLessEqual(scores[0], 0.85)
        self.assertEqual(list(nodes[0]), ["doc_id", "node_id", "text", "score", "dense_score", "sparse_score", "source",
                                          "metadata"])
        self.assertEqual(reply["usage"], self.upstream.usage())
        last = self.sent()["messages"][-1]
        self.assertEqual((last["role"], last["content"].count(TOWER)), ("user", 2))
        self.assertTrue(last["content"].endswith(TOWER))

    def test_35_the_key_reaches_the_server_of_the_environment(self):
        environment = {"LLM_INFERENCE_URL": f"{self.upstream.url}{CHAT}", "LLM_ACCESS_SECRET": "a-secret"}
        with serving(environment=environment) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": THREE})
            reply = gateway.chat("gpt-4o", user(TOWER), index_name="IDX")
            self.assertEqual(self.sources(reply)[0], TOWER)
            self.assertEqual(self.upstream.last().headers["authorization"], "Bearer a-secret")
            self.assertNotIn("a-secret", gateway.logged())

    def test_36_the_question_is_all_that_was_asked_last(self):
        messages = [{"role": "system", "content": "S"}, *user("a"), {"role": "assistant", "content": "b"},
                    *user("The Eiffel Tower"), *user("is in Paris.")]
        self.assertEqual(self.sources(self.chat(messages=messages))[0], TOWER)
        sent = self.sent()["messages"]
        self.assertEqual(sent[:3], messages[:3])
        self.assertEqual((len(sent), sent[3]["role"]), (4, "user"))
        self.assertTrue(sent[3]["content"].endswith("The Eiffel Tower\n\nis in Paris."))
        self.upstream.clear()
        parts = [{"type": "text", "text": "The Eiffel Tower"}, {"type": "text", "text": "is in Paris."}]
        self.assertEqual(self.sources(self.chat(messages=[{"role": "user", "content": parts}]))[0], TOWER)

    def test_37_nothing_near_is_passed_through(self):
        query = "zzyzx qwpt 83812"
        reply = self.good(self.chat(query))
        self.assertIsNone(reply["source_nodes"])
        self.assertEqual(self.sent()["messages"], user(query))

    def test_38_ratios(self):
        for ratio in (0.1, 0.9):
            said = f"Invalid context_token_ratio: {ratio}. Must be between 0.2 and 0.8."
            self.assertEqual(self.detail(self.chat(context_token_ratio=ratio), 400), said)
            self.assertEqual(self.detail(self.gateway.chat("gpt-4o", user("x"), context_token_ratio=ratio), 400), said)
        for ratio in (0.2, 0.8):
            self.good(self.chat(context_token_ratio=ratio))

    def test_40_all_fields_reach_the_model(self):
        fields = {"max_tokens": 60, "stop": ["X"], "seed": 4, "response_format": {"type": "text"},
                  "presence_penalty": 0.5, "frequency_penalty": 0.25, "temperature": 0.1, "top_p": 0.9}
        reply = self.good(self.chat(**fields))
        sent = self.sent()
        self.assertEqual({key: sent[key] for key in fields}, fields)
        self.assertEqual(reply["choices"][0]["finish_reason"], "stop")

    def test_42_streams_with_documents(self):
        reply = self.chat(stream=True)
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.events[-1]["source_nodes"][0]["text"], TOWER)
        self.assertEqual(len(self.upstream.to()), 1)

    def test_47_without_a_model_the_first_one_answers(self):
        reply = self.gateway.ask(CHAT, {"messages": user(TOWER), "index_name": "IDX"})
        self.assertEqual(self.sources(reply)[0], TOWER)
        self.assertEqual(self.sent()["model"], "gpt-4o")

    def test_48_errors_of_the_model_keep_their_status(self):
        for model, status in [("429/gpt-4o", 429), ("status-401/gpt-4o", 401)]:
            self.assertTrue(self.detail(self.chat(model=model), status))

    def test_49_sixteen_at_once_stay_apart(self):
        self.upstream.models.clear()
        self.addCleanup(self.upstream.models.update, self.MODELS)

        def one(number):
            model = f"echo/gpt-4o-{number}"
            return model, number / 10, self.chat(f"{TOWER} {'ship ' * number}", model=model, temperature=number / 10)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            results = list(pool.map(one, list(range(16)) * 3))
        lengths = {(request.json["model"], request.json["temperature"]): len(json.dumps(request.json["messages"]))
                   for request in self.upstream.to()}
        self.assertEqual((len(lengths), len(self.upstream.to())), (16, 48))
        for model, temperature, reply in results:
            answer = self.good(reply)
            self.assertEqual(json.loads(answer["choices"][0]["message"]["content"]), [model, temperature])
            self.assertEqual(answer["usage"]["prompt_tokens"], lengths[model, temperature])


class Refused(WithIndex):
    def test_44_messages_that_cannot_be_asked(self):
        form = "Invalid request format: "
        for messages, said in [
                ([{"content": "x"}], form + "messages must contain 'role'."),
                ([{"role": "user", "content": None}], form + "messages must contain 'content' for role 'user'."),
                ([{"role": "system"}, *user("x")], form + "messages must contain 'content' for role 'system'."),
                (user(""), form + "user messages must contain 'content'."),
                (user([]), form + "user messages must contain 'content'."),
                ([], NOTHING_ASKED), ([{"role": "system", "content": "x"}], NOTHING_ASKED),
                ([*user("x"), {"role": "assistant", "content": "y"}], NOTHING_ASKED)]:
            with self.subTest(said=said):
                self.assertEqual(self.detail(self.chat(messages=messages), 400), said)
        self.assertEqual(self.detail(self.gateway.ask(CHAT, {"model": "gpt-4o", "index_name": "IDX"}), 400), NOTHING_ASKED)
        self.assertEqual(self.upstream.to(), [])
        image = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
        called = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
        for messages in ([*user("x"), called, {"role": "tool", "content": "y", "tool_call_id": "1"}],
                         [{"role": "user", "content": image}]):
            reply = self.good(self.chat(messages=messages))
            self.assertIsNone(reply["source_nodes"])
            self.assertEqual(self.upstream.last().json["messages"], messages)

    def test_45_prompts_longer_than_the_window(self):
        with serving(self.upstream, environment={"LLM_CONTEXT_WINDOW": "500"}) as small:
            small.ask("/index", {"index_name": "IDX", "documents": THREE})
            plain = small.ask("/v1/count", {"model": "gpt-4o", "messages": user("ship")}).json["tokens"]
            for words in (600, 500 - plain + 1):
                tokens = small.ask("/v1/count", {"model": "gpt-4o", "messages": user("ship" + " ship" * (words - 1))}).json["tokens"]
                self.assertGreaterEqual(tokens, 500)
                reply = small.chat("gpt-4o", user("ship" + " ship" * (words - 1)), index_name="IDX")
                self.assertTrue(self.detail(reply, 400).startswith("Prompt length exceeds context window."))
        self.assertEqual(self.upstream.to(), [])

    def test_46_without_a_model_server(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 11434), timeout=1):
            self.skipTest("an Ollama runs on this machine, and would be found")
        with serving(environment={"LLM_INFERENCE_URL": ""}) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": THREE})
            for fields in ({}, {"index_name": "IDX"}):
                reply = gateway.chat("gpt-4o", user(TOWER), **fields)
                self.assertTrue(self.detail(reply, 503).startswith("InferenceService not configured."))
            found = gateway.ask("/retrieve", {"index_name": "IDX", "query": TOWER}).json["results"]
            self.assertEqual(found[0]["text"], TOWER)


class Budgets(WithIndex):
    MODELS = {"gpt-4o": 8192, "small/gpt-4o": 3000}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gateway.ask("/index", {"index_name": "eight", "documents": [
            {"text": f"The depth of lake {n} is {n + 40} fathoms at the pier."} for n in range(8)]})
        cls.gateway.ask("/index", {"index_name": "thirty", "documents": [
            {"text": f"Depth report {n}: the depth of lake number {n} is {n * 7 + 3} fathoms, " +
                     "as sounded by the survey ship " * 12 + "."} for n in range(30)]})

    def test_39_a_larger_share_brings_more(self):
        read = {}
        for ratio in (0.2, 0.8):
            reply = self.chat("What is the depth of lake 3?", "eight", context_token_ratio=ratio, max_tokens=200)
            read[ratio] = sum(len(text) for text in self.sources(reply))
        self.assertGreater(read[0.8], read[0.2])
        self.assertGreater(read[0.2], 0)

    def test_39_the_share_of_the_setting_is_for_requests_that_name_none(self):
        texts = [{"text": f"The depth of lake {n} is {n + 40} fathoms at the pier."} for n in range(8)]
        with Upstream({"gpt-4o": 8192}) as upstream, serving(upstream, rag_context_token_fill_ratio=0.2) as gateway:
            gateway.ask("/index", {"index_name": "eight", "documents": texts})

            def read(**fields):
                reply = gateway.chat("gpt-4o", user("What is the depth of lake 3?"), index_name="eight", max_tokens=200, **fields)
                return [passage["tokens"] for passage in reply.ours["passages"]]

            self.assertEqual(read(), read(context_token_ratio=0.2))
            self.assertGreater(sum(read(context_token_ratio=0.8)), sum(read()))

    def test_51_one_call_whatever_the_history(self):
        for filler in (0, 300, 900, 1500, 2300):
            with self.subTest(filler=filler):
                self.upstream.clear()
                system = [{"role": "system", "content": "ship " * filler}] if filler else []
                reply = self.chat(name="thirty", model="small/gpt-4o", temperature=0.3, context_token_ratio=0.8,
                                  max_tokens=200, messages=[*system, *user("What is the depth of lake number 7?")])
                self.good(reply)
                sent = self.sent()
                self.assertEqual((sent["model"], sent["temperature"]), ("small/gpt-4o", 0.3))
                tokens = self.gateway.ask("/v1/count", {"model": "gpt-4o", "messages": sent["messages"]}).json["tokens"]
                self.assertLessEqual(tokens + sent["max_tokens"], 3000)


if __name__ == "__main__":
    unittest.main()
