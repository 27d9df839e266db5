"""Chat with documents: `POST /chat/message` with its sessions, and `POST /search` (C1, C2, C4).

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. Nothing here leaves
this machine.
"""

import concurrent.futures
import json
import signal
import unittest

from chat import CATS, PLANTS, TOWER, ChatWithDocuments
from gateway import Gateway, serving
from ollama import Ollama
from upstream import Upstream

OPTIMIZATION = {"model_name", "context_window", "context_window_source", "context_window_served", "original_top_k", "calculated_top_k", "max_chunk_tokens",
                "optimization_enabled"}


class Messages(ChatWithDocuments):
    SETTINGS = {"rag_similarity_threshold": 0}  # so that every passage is near enough

    def test_an_answer_has_chunks_and_metadata(self):
        self.upstream.prompt_tokens = 99
        reply = self.say()
        body = self.good(reply)
        self.assertEqual((body["answer"], body["collection_id"], body["model_name"]), (self.upstream.text, "IDX", "gpt-4o"))
        self.assertRegex(body["session_id"], r"^[0-9a-f]{32}$")
        chunk = body["chunks"][0]
        self.assertEqual((chunk["content"].strip(), chunk["metadata"]), (TOWER, {"k": 1}))
        self.assertGreater(chunk["score"], 0.5)
        self.assertGreater(chunk["tokens"], 0)
        self.assertEqual(len(chunk["document"]), 64)
        optimization = body["metadata"]["context_window_optimization"]
        self.assertEqual(set(optimization), OPTIMIZATION)
        self.assertEqual((optimization["model_name"], optimization["context_window"], optimization["original_top_k"],
                          optimization["calculated_top_k"], optimization["optimization_enabled"]),
                         ("gpt-4o", 8192, 10, 10, True))
        self.assertEqual(body["metadata"]["usage"]["prompt_tokens"], 99)
        self.assertEqual(body["metadata"]["finish_reason"], "stop")
        self.assertEqual(body["plimsoll"]["index"], "IDX")
        self.assertEqual(reply.headers["x-plimsoll-trace"], body["trace_id"])
        self.assertIn(TOWER, self.upstream.last().json["messages"][-1]["content"].split("\n")[-1])
        trace = self.gateway.inspect(body["trace_id"])
        self.assertEqual((trace["session"], trace["index"]), (body["session_id"], "IDX"))

    def test_b1_by_the_figures(self):
        body = self.good(self.say("Eiffel Tower", top_k=4))
        optimization = body["metadata"]["context_window_optimization"]
        question = optimization["context_window"] * 3 // 4 - 512 - optimization["max_chunk_tokens"] * 10
        self.assertTrue(0 < question < 30, optimization)  # what is left of the room is the question
        self.assertEqual((optimization["original_top_k"], optimization["calculated_top_k"]), (4, 10))

    def test_top_k_bounds_the_chunks(self):
        self.assertEqual(len(self.good(self.say(f"{TOWER} {CATS} {PLANTS}"))["chunks"]), 3)
        self.assertEqual(len(self.good(self.say(f"{TOWER} {CATS} {PLANTS}", top_k=1))["chunks"]), 1)

    def test_a_small_window_adjusts_top_k_and_the_log_says_so(self):
        body = self.good(self.say(model_name="small/gpt-4o"))
        optimization = body["metadata"]["context_window_optimization"]
        self.assertEqual((optimization["context_window"], optimization["calculated_top_k"]), (2000, 4))
        lines = [json.loads(line) for line in self.gateway.logged().splitlines() if "Adjusted top_k from 10 to 4" in line]
        self.assertTrue(lines)
        self.assertEqual((lines[-1]["level"], lines[-1]["model"], lines[-1]["window"]), ("info", "small/gpt-4o", 2000))

    def test_a_window_that_is_not_found_is_logged_with_what_was_tried(self):
        with Upstream({"my-own-model": None}) as upstream, serving(upstream) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
            body = self.good(gateway.ask("/chat/message", {"message": TOWER, "collection_id": "IDX", "model_name": "my-own-model"}))
            self.assertIs(body["metadata"]["context_window_optimization"]["optimization_enabled"], False)
            lines = [json.loads(line) for line in gateway.logged().splitlines()]
            lost = [line for line in lines if line["message"] == "window not found, using the default"][0]
            self.assertEqual((lost["level"], lost["model"], lost["window"]), ("warning", "my-own-model", 4096))
            same = [line for line in lines if line["message"] == "no window detected: top_k unchanged"][0]
            self.assertEqual((same["level"], same["model"], same["top_k"]), ("warning", "my-own-model", 10))
            self.assertIn("no entry for 'my-own-model'", same["why"])

    def test_no_room_for_passages_is_said(self):
        body = self.good(self.say("Where? " * 20, model_name="tiny/gpt-4o"))
        self.assertEqual(body["chunks"], [])
        self.assertEqual(body["metadata"]["context_window_optimization"]["calculated_top_k"], 0)
        self.assertIn("no room for passages", json.dumps(body["plimsoll"]["warnings"]))

    def test_a_session_remembers(self):
        first = self.good(self.say("Where is the tower?", session_id="session-xyz"))
        self.assertEqual(first["session_id"], "session-xyz")
        self.good(self.say("And the cats?", session_id="session-xyz"))
        sent = [(m["role"], m["content"]) for m in self.upstream.last().json["messages"]]
        self.assertEqual(sent[:2], [("user", "Where is the tower?"), ("assistant", self.upstream.text)])
        self.assertEqual(len(sent), 3)
        self.assertEqual(self.said("session-xyz"), [
            ("user", "Where is the tower?"), ("assistant", self.upstream.text), ("user", "And the cats?"),
            ("assistant", self.upstream.text)])
        turn = self.gateway.ask("/chat/sessions/session-xyz").json["turns"][0]
        self.assertEqual((turn["collection_id"], turn["model_name"], turn["trace"]), ("IDX", "gpt-4o", first["trace_id"]))
        other = self.good(self.say("Another"))
        self.assertNotEqual(other["session_id"], "session-xyz")
        self.assertEqual(len(self.upstream.last().json["messages"]), 1)

    def test_sessions_are_listed_and_forgotten(self):
        for name in ("list-a", "list b"):
            self.good(self.say(session_id=name))
        listed = self.good(self.gateway.ask("/chat/sessions"))["sessions"]
        self.assertEqual([one["session_id"] for one in listed[:2]], ["list b", "list-a"])
        self.assertEqual(listed[0]["turns"], 2)
        self.assertEqual(len(self.good(self.gateway.ask("/chat/sessions?limit=1"))["sessions"]), 1)
        self.assertEqual(self.good(self.gateway.ask("/chat/sessions/list%20b", method="DELETE")), {"deleted": "list b"})
        for method in ("GET", "DELETE"):
            self.assertEqual(self.gateway.ask("/chat/sessions/list%20b", method=method).status, 404)
        self.assertEqual(len(self.said("list-a")), 2)

    def test_a_long_session_keeps_its_documents(self):
        session = "long"
        for number in range(6):
            self.good(self.say(f"{number} " + "ship " * 1500 + TOWER, session_id=session))
        body = self.good(self.say(TOWER, session_id=session))
        self.assertEqual(body["chunks"][0]["content"].strip(), TOWER)
        self.assertGreater(body["plimsoll"]["summary"]["turns"], 1)
        self.assertEqual(len(self.said(session)), 14)

    def test_a_stream_ends_with_the_answer(self):
        self.upstream.prompt_tokens = 111
        self.addCleanup(setattr, self.upstream, "prompt_tokens", None)
        reply = self.say(stream=True, session_id="streamed")
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "text/event-stream"))
        *deltas, last = reply.events
        self.assertGreater(len(deltas), 1)
        self.assertEqual("".join(one["delta"] for one in deltas), self.upstream.text)
        self.assertEqual((last["answer"], last["session_id"]), (self.upstream.text, "streamed"))
        self.assertEqual(last["chunks"][0]["content"].strip(), TOWER)
        self.assertEqual(set(last["metadata"]["context_window_optimization"]), OPTIMIZATION)
        self.assertEqual(last["metadata"]["usage"]["completion_tokens"], 3)
        self.assertEqual(len(self.said("streamed")), 2)

    def test_without_a_model_the_first_one_answers(self):
        body = self.good(self.gateway.ask("/chat/message", {"message": TOWER, "collection_id": "IDX"}))
        self.assertEqual(body["metadata"]["context_window_optimization"]["model_name"], "gpt-4o")

    def test_a_collection_by_its_number(self):
        listed = json.loads(self.gateway.run("index", "list", "--json"))
        number = next(one["id"] for one in listed["indexes"] if one["name"] == "IDX") if "id" in str(listed) else 1
        for given in (number, str(number)):
            self.assertEqual(self.good(self.say(collection_id=given))["plimsoll"]["index"], "IDX")

    def test_bad_input_is_refused_and_leaves_nothing(self):
        before = self.gateway.ask("/chat/sessions").body
        asked = len(self.upstream.to())
        cases = [({"message": ""}, "string_too_short", "message"), ({"message": 7}, "string_type", "message"),
                 ({"message": "x" * 1_000_001}, "string_too_long", "message"),
                 ({"collection_id": None}, "string_type", "collection_id"), ({"collection_id": ""}, "string_too_short", "collection_id"),
                 ({"model_name": ["m"]}, "string_type", "model_name"), ({"session_id": "a\u0000b"}, "value_error", "session_id"),
                 ({"session_id": "x" * 201}, "string_too_long", "session_id"), ({"top_k": 0}, "greater_than_equal", "top_k"),
                 ({"top_k": 301}, "less_than_equal", "top_k"), ({"top_k": 2 ** 64 - 1}, "less_than_equal", "top_k"),
                 ({"top_k": "5"}, "int_type", "top_k"), ({"stream": "yes"}, "bool_type", "stream")]
        for fields, kind, field in cases:
            with self.subTest(fields=str(fields)[:60]):
                self.complaint(self.say(**({"session_id": "bad"} | fields)), kind, "body", field)
        self.complaint(self.gateway.ask("/chat/message", {}), "missing", "body", "message")
        self.complaint(self.gateway.ask("/chat/message", b""), "missing", "body")
        self.complaint(self.gateway.ask("/chat/message", b"[]"), "model_attributes_type", "body")
        self.complaint(self.gateway.ask("/chat/message", b"{"), "json_invalid", "body", 1)
        self.assertEqual(self.gateway.ask("/chat/message", b"[" * 200).status, 400)
        self.assertEqual(self.gateway.ask("/chat/message", b'{"message": "\xff"}').status, 422)
        missing = self.say(collection_id="nowhere")
        self.assertEqual((missing.status, missing.json), (404, {"detail": "No such index: 'nowhere' exists."}))
        refused = self.gateway.ask("/chat/message")
        self.assertEqual((refused.status, refused.headers["allow"]), (405, "POST"))
        self.assertEqual(self.gateway.ask("/chat/sessions?limit=0").status, 422)
        self.assertEqual((self.gateway.ask("/chat/sessions").body, len(self.upstream.to())), (before, asked))

    def test_an_upstream_that_refuses_leaves_no_turn(self):
        for stream in (False, True):
            reply = self.say(model_name="status-401/gpt-4o", session_id="refused", stream=stream)
            self.assertEqual((reply.status, reply.json), (401, {"detail": "who are you?"}))
        self.assertEqual(self.said("refused"), [])

    def test_a_prompt_that_cannot_fit_leaves_no_turn(self):
        reply = self.say("ship " * 9000, session_id="too-long")
        self.assertEqual(reply.status, 400)
        self.assertIn("Prompt length exceeds context window", reply.json["detail"])
        self.assertEqual(self.said("too-long"), [])

    def test_many_at_once_in_one_session(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda number: self.say(f"{number} {TOWER}", session_id="crowd"), range(16)))
        for reply in replies:
            self.good(reply)
        turns = self.said("crowd")
        self.assertEqual([role for role, _ in turns], ["user", "assistant"] * 16)
        self.assertEqual({text.split()[0] for role, text in turns if role == "user"}, set(map(str, range(16))))


class Searching(ChatWithDocuments):
    def search(self, query=TOWER, **fields):
        return self.gateway.ask("/search", {"query": query, "collection_id": "IDX", "model_name": "gpt-4o"} | fields)

    def test_chunks_best_first(self):
        body = self.good(self.search(top_k=2))
        self.assertEqual((body["query"], body["collection_id"], len(body["chunks"])), (TOWER, "IDX", 2))
        first = body["chunks"][0]
        self.assertEqual((first["content"].strip(), first["metadata"]), (TOWER, {"k": 1}))
        self.assertGreater(first["score"], body["chunks"][1]["score"])
        optimization = body["metadata"]["context_window_optimization"]
        self.assertEqual((set(optimization), optimization["original_top_k"], optimization["calculated_top_k"]),
                         (OPTIMIZATION, 2, 10))
        self.assertEqual(len(self.upstream.to()), 0)

    def test_chunks_that_are_not_near_are_left_out_unless_a_number_is_given(self):
        def found(query, **fields):
            return [(one["content"].strip(), one["relevance"] >= 0.3) for one in self.good(self.search(query, **fields))["chunks"]]

        self.assertEqual(found(TOWER), [(TOWER, True)])
        self.assertEqual(sorted(found(TOWER, top_k=3)), sorted([(CATS, False), (TOWER, True), (PLANTS, False)]))
        for query in ("And for the second one?", "Give me an example", "Who won the regatta of 1954?"):
            self.assertEqual(found(query), [], query)
        history = [{"role": "user", "content": "Where is the Eiffel Tower?"}, {"role": "assistant", "content": "In Paris."}]
        self.assertEqual(found("Give me an example", chat_history=history), [(TOWER, True)])

    def test_a_follow_up_is_searched_with_what_it_is_about(self):
        history = [{"role": "user", "content": "Where is the Eiffel Tower?"}, {"role": "assistant", "content": "In Paris."}]
        plain = self.good(self.search("Tell me more", top_k=3))["chunks"]
        told = self.good(self.search("Tell me more", top_k=3, chat_history=history))["chunks"]
        self.assertEqual(told[0]["content"].strip(), TOWER)
        self.assertGreater(told[0]["score"], max([one["score"] for one in plain if one["content"].strip() == TOWER], default=0))

    def test_a_small_window(self):
        optimization = self.good(self.search(model_name="small/gpt-4o"))["metadata"]["context_window_optimization"]
        self.assertEqual((optimization["original_top_k"], optimization["calculated_top_k"]), (10, 4))
        body = self.good(self.search("ship " * 600, model_name="tiny/gpt-4o"))
        self.assertEqual((body["chunks"], body["metadata"]["context_window_optimization"]["max_chunk_tokens"]), ([], 0))

    def test_without_any_upstream_the_rule_is_not_applied(self):
        with Upstream({}) as empty, Upstream({"gpt-4": 8192}) as one_more, serving(empty) as gateway, serving(
                one_more, self.upstream) as other:
            for one, model in [(gateway, None), (other, "nobody-has-this")]:
                one.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
                body = self.good(one.ask("/search", {"query": TOWER, "collection_id": "IDX", "model_name": model}))
                self.assertEqual(len(body["chunks"]), 1)
                optimization = body["metadata"]["context_window_optimization"]
                self.assertEqual((optimization["optimization_enabled"], optimization["context_window"],
                                  optimization["calculated_top_k"]), (False, None, 10))
                self.assertIn("no window for a search", one.logged())

    def test_bad_input(self):
        self.complaint(self.search(""), "string_too_short", "body", "query")
        self.complaint(self.search(top_k=-1), "greater_than_equal", "body", "top_k")
        self.complaint(self.gateway.ask("/search", {"query": "x"}), "missing", "body", "collection_id")
        self.assertEqual(self.search(collection_id="nowhere").status, 404)


class BestLast(unittest.TestCase):
    """C2: for an Ollama the best chunk stands last."""

    def test_order(self):
        with Ollama({"qwen2.5:7b": [8192, 32768]}) as upstream, serving(
                upstream, debug=True, rag_similarity_threshold=0) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": text} for text in (TOWER, CATS, PLANTS)]})
            asked = {"collection_id": "IDX", "model_name": "qwen2.5:7b"}
            chunks = gateway.ask("/search", asked | {"query": TOWER}).json["chunks"]
            scores = [chunk["score"] for chunk in chunks]
            self.assertEqual((scores, chunks[-1]["content"].strip()), (sorted(scores), TOWER))
            body = gateway.ask("/chat/message", asked | {"message": f"{TOWER} Which {CATS[:-1]}, and {PLANTS}"}).json
            scores = [chunk["score"] for chunk in body["chunks"]]
            self.assertEqual((len(scores), scores), (3, sorted(scores)))
            prompt = upstream.asked()[-1].json["messages"][-1]["content"]
            places = [prompt.index(chunk["content"]) for chunk in body["chunks"]]
            self.assertEqual(places, sorted(places))
            line = [json.loads(line) for line in gateway.logged().splitlines() if "room for passages" in line][-1]
            self.assertEqual((line["level"], line["reversed"], line["top_k"]), ("debug", True, 10))


class Limits(unittest.TestCase):
    def test_old_turns_and_old_sessions_are_forgotten(self):
        with Upstream({"gpt-4o": 8192}) as upstream, serving(upstream, max_session_turns=4, max_sessions=2) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
            for session in ("a", "b", "b", "b", "c"):
                reply = gateway.ask("/chat/message", {"message": TOWER, "collection_id": "IDX", "session_id": session})
                self.assertEqual(reply.status, 200, reply.body)
            listed = gateway.ask("/chat/sessions").json["sessions"]
            self.assertEqual([(one["session_id"], one["turns"]) for one in listed], [("c", 2), ("b", 4)])


class Killed(unittest.TestCase):
    """A turn whose reply has ended is there after kill -9."""

    def test_no_acknowledged_turn_is_lost(self):
        with Upstream({"gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream)
            self.addCleanup(gateway.close)
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
            for number in range(6):
                asked = {"message": f"{number} {TOWER}", "collection_id": "IDX", "session_id": "kept", "stream": number % 2 == 1}
                reply = gateway.ask("/chat/message", asked)
                self.assertEqual(reply.status, 200, reply.body)
                gateway.stop(signal.SIGKILL)
                gateway.start()
                turns = gateway.ask("/chat/sessions/kept").json["turns"]
                self.assertEqual([turn["content"] for turn in turns],
                                 [text for i in range(number + 1) for text in (f"{i} {TOWER}", upstream.text)])


if __name__ == "__main__":
    unittest.main()
