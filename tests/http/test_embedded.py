"""The gateway with no server behind it: every surface answers by the embedded model, and what was planned is what it read."""

import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from gateway import EMBEDDED_MODEL as MODEL
from gateway import PATIENCE, PROGRAM, Gateway, long_history, user


class Embedded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway("embedded", embedded_window=1024, embedded_threads=1, summary_timeout_seconds=300)
        cls.addClassCleanup(cls.gateway.close)
        (cls.gateway.folder / "ship.md").write_text("# Log\n\nThe cook of the Aurora is called Bertil.\n\nShe sails on Monday.\n")
        cls.gateway.run("index", "add", "ship", "ship.md", "--quiet")

    def ask(self, path, body, **options):
        reply = self.gateway.ask(path, body, **options)
        self.assertEqual(reply.status, 200, reply.body[:2000])
        return reply

    def chat(self, messages, **fields):
        return self.ask("/v1/chat/completions", {"model": MODEL, "messages": messages, "max_tokens": 8, "temperature": 0} | fields)

    def test_it_is_listed_with_its_window_and_greets(self):
        listed = {one["id"]: one for one in self.gateway.ask("/v1/models").json["data"]}
        self.assertEqual(listed[MODEL]["context_window"], 1024, listed)
        self.assertIn("upstream  embedded  SmolLM2-135M-Instruct.Q4_1.gguf  1 model", self.gateway.greeting)

    def test_it_answers(self):
        reply = self.chat(user("What is the capital of France? Answer in one word."))
        self.assertIn("Paris", reply.json["choices"][0]["message"]["content"])
        self.assertEqual(reply.headers["x-plimsoll-window"], "1024")
        self.assertEqual(reply.headers["x-plimsoll-input-tokens"], str(reply.json["usage"]["prompt_tokens"]))

    def test_it_is_given_no_more_than_it_can_read_soon(self):
        text = "# Log\n\n" + "".join(f"On day {n} the grain of lot {n * 7} came aboard at pier {n % 9} of Odessa. " for n in range(60))
        (self.gateway.folder / "grain.md").write_text(text)
        self.gateway.run("index", "add", "grain", "grain.md", "--quiet")
        reply = self.chat(user("Where did the grain of lot 70 come aboard?"), index_name="grain")
        self.assertGreater(len(reply.ours["passages"]), 0)
        self.assertLess(reply.ours["input_tokens"], 600)

    def test_a_stream_says_the_same_and_hides_the_usage_that_nobody_asked_for(self):
        whole = self.chat(user("Count from one to five.")).json["choices"][0]["message"]["content"]
        events = self.chat(user("Count from one to five."), stream=True).events
        said = "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
        self.assertEqual(said, whole)
        self.assertFalse(any(event.get("usage") for event in events))
        asked = self.chat(user("Count from one to five."), stream=True, stream_options={"include_usage": True}).events
        self.assertTrue(asked[-1]["usage"]["prompt_tokens"] > 0)

    def test_what_was_planned_is_what_it_read(self):
        made = random.Random(8)
        words = ["ship", "Ladelinie", "海", "don't", "42", "\n\n", "🚢", "{}", "the line"]
        seen = 0
        for number in range(40):
            messages = [{"role": "system", "content": "Be brief."}] if number % 2 else []
            for _ in range(made.randrange(3)):
                messages += [{"role": "user", "content": " ".join(made.choices(words, k=5))},
                             {"role": "assistant", "content": " ".join(made.choices(words, k=5))}]
            reply = self.chat(messages + user(" ".join(made.choices(words, k=8))), max_tokens=1)
            self.assertEqual(reply.headers["x-plimsoll-input-tokens"], str(reply.json["usage"]["prompt_tokens"]))
            seen += 1
        self.assertEqual(seen, 40)

    def test_the_next_turn_reads_only_what_is_new(self):
        told = [{"role": "system", "content": "You answer briefly. " + "The ship is old. " * 12}] + user("Name a colour.")
        first = self.chat(told)
        said = first.json["choices"][0]["message"]["content"]
        second = self.chat(told + [{"role": "assistant", "content": said}] + user("And another."))
        self.assertGreaterEqual(second.json["usage"]["prompt_tokens_details"]["cached_tokens"], first.json["usage"]["prompt_tokens"])
        trace = self.gateway.inspect(second.headers["x-plimsoll-trace"])
        self.assertEqual(trace["drift"], 0, trace)

    def test_a_conversation_beyond_the_window_is_planned_and_not_cut_in_silence(self):
        reply = self.chat(long_history(8, 40), max_tokens=4)
        self.assertTrue(reply.ours["changed"])
        self.assertEqual(reply.ours["summary"]["how"], "model", reply.ours)
        self.assertEqual(reply.ours["summary"]["model"], MODEL)
        self.assertLessEqual(reply.json["usage"]["total_tokens"], 1024)
        self.assertEqual(reply.ours["upstream_cut_tokens"], 0)

    def test_a_question_that_cannot_fit_is_refused_with_the_numbers(self):
        reply = self.gateway.ask("/v1/chat/completions", {"model": MODEL, "messages": user("ship " * 1200)})
        self.assertEqual(reply.status, 400)
        self.assertIn("1,024", reply.json["detail"])

    def test_documents(self):
        reply = self.chat(user("What is the cook of the Aurora called?"), index_name="ship", max_tokens=24)
        self.assertIn("Bertil", reply.json["source_nodes"][0]["text"])
        self.assertIn("Bertil", reply.json["choices"][0]["message"]["content"])
        message = self.ask("/chat/message", {"message": "What is the cook of the Aurora called?", "collection_id": "ship",
                                             "model_name": MODEL, "session_id": "s1"})
        self.assertIn("Bertil", json.dumps(message.json["chunks"]))

    def test_json_by_a_schema(self):
        schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "sails": {"type": "boolean"}},
                  "required": ["name", "sails"], "additionalProperties": False}
        reply = self.chat(user("Describe a ship as JSON."), max_tokens=60,
                          response_format={"type": "json_schema", "json_schema": {"name": "ship", "schema": schema}})
        made = json.loads(reply.json["choices"][0]["message"]["content"])
        self.assertEqual(set(made), {"name", "sails"})
        self.assertIsInstance(made["sails"], bool)

    def test_a_stop_word_ends_it(self):
        reply = self.chat(user("Repeat: one two three four five"), max_tokens=30, stop=["three"])
        self.assertNotIn("three", reply.json["choices"][0]["message"]["content"])

    def test_ollamas_clients(self):
        reply = self.ask("/api/chat", {"model": MODEL, "messages": user("Name a colour."), "stream": False, "options": {"num_predict": 4}})
        self.assertTrue(reply.json["done"])
        self.assertTrue(reply.json["message"]["content"])
        self.assertGreater(reply.json["prompt_eval_count"], 0)

    def test_completions(self):
        reply = self.ask("/v1/completions", {"model": MODEL, "prompt": "One, two, three,", "max_tokens": 4, "temperature": 0})
        self.assertEqual(reply.json["object"], "text_completion")
        self.assertTrue(reply.json["choices"][0]["text"])

    def test_what_it_cannot_do_is_said(self):
        tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
        reply = self.gateway.ask("/v1/chat/completions", {"model": MODEL, "messages": user("Hi"), "tools": tools})
        self.assertEqual(reply.status, 400)
        self.assertIn("tools", reply.json["detail"])
        other = self.gateway.ask("/v1/chat/completions", {"model": "gpt-4o", "messages": user("Hi")})
        self.assertEqual(other.status, 404)

    def test_many_at_once_and_who_leaves_holds_nobody_up(self):
        body = json.dumps({"model": MODEL, "messages": user("Tell me a long story."), "stream": True, "max_tokens": 600}).encode()
        for _ in range(3):
            line = self.gateway.dial((f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                      f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
            line.recv(64)
            line.close()
        said = []

        def one(number):
            said.append(self.chat(user(f"What is {number} plus one?"), max_tokens=6).json["choices"][0]["finish_reason"])

        threads = [threading.Thread(target=one, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.gateway.patience)
        self.assertEqual(len(said), 5)


class SeveralModels(unittest.TestCase):
    def test_all_are_offered_and_only_those_that_are_asked_are_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
            weights = cache / "plimsoll" / "assets" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
            for name in ("first", "second"):
                shutil.copy(weights, Path(folder) / f"{name}.gguf")
            (Path(folder) / "broken.gguf").write_bytes(b"GGUF?")
            gateway = Gateway("embedded", models_dir=folder, embedded_window=1024, embedded_threads=1)
            self.addCleanup(gateway.close)
            listed = [one["id"] for one in gateway.ask("/v1/models").json["data"]]
            self.assertEqual(listed[:3], [MODEL, "first", "second"])
            self.assertIn("broken.gguf", gateway.logged())
            body = {"messages": user("What is the capital of France? Answer in one word."), "max_tokens": 8, "temperature": 0}
            for name in ("second", "embedded/second"):
                reply = gateway.ask("/v1/chat/completions", body | {"model": name})
                self.assertEqual((reply.status, reply.json["model"]), (200, "second"), reply.body[:500])
                self.assertIn("Paris", reply.json["choices"][0]["message"]["content"])
            loaded = Path(f"/proc/{gateway.process.pid}/maps").read_text()
            self.assertIn("second.gguf", loaded)
            self.assertNotIn("first.gguf", loaded)
            self.assertNotIn(weights.name, loaded)
            self.assertEqual(gateway.ask("/v1/chat/completions", body | {"model": "third"}).status, 404)


class WithoutAServer(unittest.TestCase):
    def test_a_file_that_is_none_is_said_at_the_start(self):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        done = subprocess.run([PROGRAM, "--set", "embedded_model_file=/nowhere/model.gguf", "serve", "--upstream", "embedded"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False, env=inherited)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/model.gguf", done.stderr)


if __name__ == "__main__":
    unittest.main()
