"""The gateway in front of Anthropic's servers, asked in every form that clients speak. `plimsoll` must be on the PATH, or
PLIMSOLL_BIN name it. Nothing here leaves this machine."""

import json
import os
import subprocess
import unittest

from gateway import CHAT, PATIENCE, Gateway, long_history, serving, user
from messages_server import KEY, SIGNATURE, MessagesServer
from test_clients import PYTHON
from test_messages import MESSAGES, events_in
from upstream import Upstream

MODEL = "claude-sonnet-4-5"
WAYS = ("tools", "429", "529", "529-once", "unfinished", "overloaded-later", "overloaded-first")
MODELS = {MODEL: 8192} | {f"{way}/{MODEL}": 8192 for way in WAYS} | {f"overflow-anthropic/{MODEL}": 4000}
CACHED = {"cache_control": {"type": "ephemeral"}}
SCHEMA = {"type": "object", "properties": {"side": {"type": "string"}}, "required": ["side"]}
FUNCTION = {"type": "function", "function": {"name": "sound", "description": "Sounds the depth.", "parameters": SCHEMA}}
TOOL = {"name": "sound", "description": "Sounds the depth.", "input_schema": SCHEMA}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}

SDK = """
import anthropic, json, sys
client = anthropic.Anthropic(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=60)
ask = {"model": sys.argv[2], "max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024},
       "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]}
tool = {"name": "sound", "input_schema": {"type": "object", "properties": {"side": {"type": "string"}}}}
turns = [{"role": "user", "content": "How deep?"}]
called = client.messages.create(**ask | {"model": "tools/" + sys.argv[2]}, tools=[tool], messages=turns)
call = called.content[-1]
turns += [{"role": "assistant", "content": called.content},
          {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "12 fathoms"}]}]
with client.messages.stream(**ask, tools=[tool], messages=turns) as stream:
    text = "".join(stream.text_stream)
    last = stream.get_final_message()
try:
    client.messages.create(**ask | {"model": "429/" + sys.argv[2]}, messages=turns[:1])
    limited = "no error"
except anthropic.RateLimitError as error:
    limited = error.response.headers["retry-after"]
print(json.dumps({"input": call.input, "text": text, "types": [block.type for block in last.content], "signature": last.content[0].signature,
                  "cached": last.usage.cache_read_input_tokens, "written": last.usage.cache_creation_input_tokens, "limited": limited}))
"""


class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(MessagesServer(MODELS))
        cls.named = f"claude={cls.server.url}"
        cls.key = {"CLAUDE_API_KEY": KEY}
        cls.gateway = Gateway(cls.named, environment=cls.key, compress_history=False)
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        self.server.clear()

    def ask(self, path, body, status=200):
        reply = self.gateway.ask(path, body)
        self.assertEqual(reply.status, status, reply.body)
        return reply

    def chat(self, messages=None, status=200, **fields):
        return self.ask(CHAT, {"model": MODEL, "messages": messages or user("How deep?")} | fields, status)

    def sent(self):
        return self.server.asked()[-1]


class OpenAi(WithServer):
    def test_a_chat(self):
        reply = self.chat([{"role": "system", "content": "Be brief."}, *user("Ahoy"), *user("How deep?")], max_tokens=50, temperature=0.5,
                          stop="X", user="ann", n=1)
        self.assertEqual(self.sent(), {
            "model": MODEL, "max_tokens": 50, "system": "Be brief.", "temperature": 0.5, "stop_sequences": ["X"], "metadata": {"user_id": "ann"},
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Ahoy"}, {"type": "text", "text": "How deep?"}]}]})
        said = reply.json
        self.assertEqual((said["object"], said["model"], said["choices"][0]["finish_reason"]), ("chat.completion", MODEL, "stop"))
        self.assertEqual(said["choices"][0]["message"], {"role": "assistant", "content": self.server.text})
        self.assertEqual((said["usage"]["prompt_tokens"], said["usage"]["completion_tokens"]), (21, 3))
        self.assertEqual(said["usage"]["prompt_tokens_details"]["cached_tokens"], 10)
        self.assertEqual(reply.headers["x-plimsoll-window"], "8192")
        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
        self.assertEqual((trace["usage"]["input"], trace["upstream"]), (21, "claude"))

    def test_a_limit_is_always_sent(self):
        reply = self.chat()
        self.assertEqual(self.sent()["max_tokens"], 2000)  # what the list says that the model can write
        self.assertEqual(reply.headers["x-plimsoll-answer-tokens"], "2000")
        reply = self.chat(user("ship " * 6500))
        self.assertLess(self.sent()["max_tokens"], 2000)
        self.assertEqual(reply.headers["x-plimsoll-answer-tokens"], str(self.sent()["max_tokens"]))

    def test_a_stream(self):
        for asked in (True, False):
            reply = self.chat(stream=True, **({"stream_options": {"include_usage": True}} if asked else {}))
            events = reply.events
            text = "".join(event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"])
            self.assertEqual(text, self.server.text)
            self.assertEqual([event["choices"][0]["finish_reason"] for event in events if event["choices"]][-1], "stop")
            self.assertEqual(any(event.get("usage") for event in events), asked)
            self.assertEqual(self.gateway.inspect(reply.headers["x-plimsoll-trace"])["usage"]["input"], 21)

    def test_tools(self):
        for stream in (False, True):
            reply = self.chat(model=f"tools/{MODEL}", tools=[FUNCTION], tool_choice="required", parallel_tool_calls=False, stream=stream)
            self.assertEqual(self.sent()["tools"], [TOOL])
            self.assertEqual(self.sent()["tool_choice"], {"type": "any", "disable_parallel_tool_use": True})
            if stream:
                pieces = [call for event in reply.events if event["choices"] for call in event["choices"][0]["delta"].get("tool_calls", [])]
                call = pieces[0] | {"function": {"name": pieces[0]["function"]["name"],
                                                 "arguments": "".join(piece["function"]["arguments"] for piece in pieces)}}
            else:
                self.assertEqual(reply.json["choices"][0]["finish_reason"], "tool_calls")
                call = reply.json["choices"][0]["message"]["tool_calls"][0]
            self.assertEqual((call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])),
                             ("toolu_1", "sound", {"side": "port"}))
            call.pop("index", None)
            self.chat([*user("How deep?"), {"role": "assistant", "content": None, "tool_calls": [call]},
                       {"role": "tool", "tool_call_id": call["id"], "content": "12 fathoms"}, *user("And now?")], tools=[FUNCTION])
            self.assertEqual(self.sent()["messages"][1:], [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "sound", "input": {"side": "port"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "12 fathoms"}]},
                    {"type": "text", "text": "And now?"}]}])

    def test_caches_images_and_thoughts(self):
        dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
        first = [{"role": "system", "content": [{"type": "text", "text": "Be brief."} | CACHED]},
                 {"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": dot}}]}]
        said = self.chat(first, max_tokens=500, **THINKING).json["choices"][0]["message"]
        self.assertEqual(self.sent()["system"], [{"type": "text", "text": "Be brief."} | CACHED])
        self.assertEqual((self.sent()["max_tokens"], self.sent()["thinking"]["budget_tokens"]), (1524, 1024))
        self.assertEqual(self.sent()["messages"][0]["content"][1]["source"]["media_type"], "image/png")
        self.assertEqual((said["reasoning_content"], said["thinking_blocks"][0]["signature"]), ("How deep is deep?", SIGNATURE))
        self.chat([*first, said, *user("Sure?")], max_tokens=500, **THINKING)
        self.assertEqual([block["type"] for block in self.sent()["messages"][1]["content"]], ["thinking", "text"])

    def test_what_cannot_be_expressed_is_refused_or_left_out_by_setting(self):
        fields = {"n": 2, "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}
        detail = self.chat(status=400, **fields).json["detail"]
        for word in ("n,", "response_format", "refuse_inexpressible"):
            self.assertIn(word, detail)
        self.assertEqual(self.server.asked(), [])
        with serving(self.named, environment=self.key, refuse_inexpressible=False) as lenient:
            reply = lenient.chat(MODEL, user("Ahoy"), **fields)
            self.assertEqual(reply.status, 200, reply.body)
            self.assertTrue(any("response_format" in warning for warning in reply.ours["warnings"]))

    def test_routes_that_the_server_lacks_say_what_to_do(self):
        refused = self.ask("/v1/completions", {"model": MODEL, "prompt": "Ahoy"}, 400)
        self.assertIn("/v1/chat/completions", refused.json["detail"])
        refused = self.ask("/v1/embeddings", {"model": MODEL, "input": "Ahoy"}, 400)
        self.assertIn("all-minilm-l6-v2", refused.json["detail"])
        self.assertEqual(self.server.asked(), [])

    def test_models(self):
        model = next(model for model in self.gateway.ask("/v1/models").json["data"] if model["id"] == MODEL)
        self.assertEqual((model["context_window"], model["context_window_source"]), (8192, "served"))


class OtherForms(WithServer):
    def test_messages(self):
        long = "ship " * 50
        body = {"model": MODEL, "max_tokens": 2000, "system": [{"type": "text", "text": "Be brief."} | CACHED], "tools": [TOOL | CACHED],
                "messages": [{"role": "user", "content": [{"type": "text", "text": long} | CACHED]},
                             {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm", "signature": SIGNATURE},
                                                               {"type": "tool_use", "id": "t1", "name": "sound", "input": {}}]},
                             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True,
                                                           "content": [{"type": "text", "text": "no lead"}]} | CACHED]}]}
        for stream in (False, True):
            reply = self.ask(MESSAGES, body | THINKING | {"stream": stream})
            sent = self.sent()
            sent.pop("stream", None)
            self.assertEqual(sent, body | THINKING)
            blocks = [{"type": "thinking", "thinking": "How deep is deep?", "signature": SIGNATURE}, {"type": "text", "text": self.server.text}]
            if not stream:
                self.assertEqual((reply.json["content"], reply.json["stop_reason"]), (blocks, "end_turn"))
                self.assertEqual(reply.json["usage"], self.server.usage_told | {"output_tokens": 3})
                continue
            events = events_in(reply)
            deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
            self.assertEqual("".join(delta.get("thinking", "") for delta in deltas), "How deep is deep?")
            self.assertEqual("".join(delta.get("signature", "") for delta in deltas), SIGNATURE)
            self.assertEqual("".join(delta.get("text", "") for delta in deltas), self.server.text)
            self.assertEqual(events[-2]["usage"], {"output_tokens": 3})  # as the server tells it

    def native(self, body, status=200, **headers):
        """A request with white space that no writer of ours makes, sent as it is."""
        text = json.dumps(body, indent=3).encode()
        reply = self.gateway.ask(MESSAGES, text, headers={"anthropic-version": "2026-10-21"} | headers)
        self.assertEqual(reply.status, status, reply.body)
        return text, reply, self.server.to(MESSAGES)[-1] if self.server.to(MESSAGES) else None

    def test_messages_pass_through_byte_for_byte_where_nothing_is_changed(self):
        plain = {"model": MODEL, "max_tokens": 2000, "service_tier": "auto", "messages": user("How deep?")}
        for stream in (False, True):
            text, reply, asked = self.native(plain | {"stream": stream} | THINKING, **{"anthropic-beta": "context-1m-2025-08-07"})
            self.assertEqual((asked.body, asked.headers["anthropic-beta"]), (text, "context-1m-2025-08-07"))
            self.assertEqual(asked.headers["anthropic-version"], "2026-10-21")
            self.assertEqual(reply.body, asked.sent)
            self.assertEqual(reply.headers["content-type"], "text/event-stream" if stream else "application/json")
            trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
            self.assertEqual((trace["usage"]["input"], trace["usage"]["answer"], trace["usage"]["cached"], trace["finish_reason"]),
                             (21, 3, 10, "stop"))
        self.assertEqual(self.native(plain)[1].headers["request-id"], "req_1")

    def test_what_only_the_server_knows_reaches_it_unchanged_or_not_at_all(self):
        search = {"type": "web_search_20250305", "name": "web_search"}
        link = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
        beyond = {"model": MODEL, "max_tokens": 100, "container": {"id": "c1"}, "tools": [search],
                  "messages": [{"role": "user", "content": [link, {"type": "text", "text": "What does it say?"}]}]}
        text, reply, asked = self.native(beyond)
        self.assertEqual((asked.body, reply.body), (text, asked.sent))
        self.assertGreater(self.ask(MESSAGES + "/count_tokens", beyond).json["input_tokens"], 10)
        self.server.clear()
        long = {"messages": [*long_history(400)[:-1], *beyond["messages"]]}
        for changed in ({"plimsoll": {"explain": True}}, {"max_tokens": 100_000}, long):
            _, reply, asked = self.native(beyond | changed, status=400)
            self.assertIn("container", reply.json["error"]["message"])
            self.assertIsNone(asked)

    def test_messages_are_translated_where_the_plan_changes_them(self):
        body = {"model": MODEL, "max_tokens": 100, "messages": user("How deep?"), "plimsoll": {"explain": True}}
        _, reply, asked = self.native(body)
        self.assertNotIn("plimsoll", asked.json)
        self.assertEqual(reply.json["plimsoll"]["model"], MODEL)
        _, reply, asked = self.native(body | {"max_tokens": 100_000, "plimsoll": {}})
        self.assertLess(asked.json["max_tokens"], 8192)

    def test_another_server_that_answers_in_its_place_gets_none_of_its_fields(self):
        with Upstream({"gpt-4o": 8192}) as other, serving(self.named, other, environment=self.key) as gateway:
            body = {"model": f"529/{MODEL}", "max_tokens": 2000, "system": [{"type": "text", "text": "Be brief."} | CACHED],
                    "messages": user("How deep?"), "plimsoll": {"fallback": ["gpt-4o"]}} | THINKING
            reply = gateway.ask(MESSAGES, body)
            self.assertEqual(reply.status, 200, reply.body)
            sent = other.last().json
            self.assertNotIn("cache_control", json.dumps(sent))
            self.assertNotIn("thinking", sent)
            reply = gateway.ask(MESSAGES, body | {"model": "gpt-4o"})
            self.assertEqual(reply.status, 200, reply.body)
            self.assertEqual(other.last().json["messages"][0], {"role": "system", "content": "Be brief."})

    def test_anthropics_own_client(self):
        if not PYTHON.exists():
            self.skipTest(f"{PYTHON} is missing; `tools/setup clients` brings the clients")
        done = subprocess.run([PYTHON, "-c", SDK, self.gateway.url, MODEL], text=True, capture_output=True, timeout=8 * PATIENCE, check=False,
                              env=os.environ | {"no_proxy": "127.0.0.1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {
            "input": {"side": "port"}, "text": self.server.text, "types": ["thinking", "text"], "signature": SIGNATURE, "cached": 10,
            "written": 2, "limited": "7"})

    def test_ollama(self):
        body = {"model": MODEL, "messages": [{"role": "system", "content": "Be brief."}, *user("How deep?")],
                "options": {"temperature": 0.5, "num_predict": 40, "num_ctx": 4096}}
        said = self.ask("/api/chat", body | {"stream": False}).json
        self.assertEqual((said["message"]["content"], said["done_reason"], said["prompt_eval_count"], said["eval_count"]),
                         (self.server.text, "stop", 21, 3))
        self.assertEqual((self.sent()["system"], self.sent()["max_tokens"]), ("Be brief.", 40))
        lines = [json.loads(line) for line in self.ask("/api/chat", body).body.splitlines()]
        self.assertEqual("".join(line["message"]["content"] for line in lines), self.server.text)
        self.assertTrue(lines[-1]["done"])
        called = self.ask("/api/chat", body | {"stream": False, "model": f"tools/{MODEL}", "tools": [FUNCTION]}).json["message"]
        self.assertEqual(called["tool_calls"][0]["function"]["arguments"], {"side": "port"})
        self.ask("/api/chat", body | {"stream": False, "tools": [FUNCTION], "messages": [
            *user("How deep?"), called, {"role": "tool", "tool_name": "sound", "content": "12 fathoms"}]})
        result = self.sent()["messages"][-1]["content"][0]
        self.assertEqual((result["type"], result["tool_use_id"]), ("tool_result", self.sent()["messages"][1]["content"][0]["id"]))

    def test_responses(self):
        said = self.ask("/v1/responses", {"model": MODEL, "input": "Ahoy", "instructions": "Be brief.", "max_output_tokens": 40}).json
        self.assertEqual((said["status"], said["output"][-1]["content"][0]["text"]), ("completed", self.server.text))
        self.assertEqual((self.sent()["system"], self.sent()["max_tokens"]), ("Be brief.", 40))


class Errors(WithServer):
    def test_a_wrong_key(self):
        with serving(self.named, environment={"CLAUDE_API_KEY": "wrong"}) as gateway:
            reply = gateway.chat(MODEL, user("Ahoy"))
            self.assertEqual((reply.status, reply.json["error"]["type"]), (401, "authentication_error"))
            self.assertIn("x-api-key", reply.json["detail"])
            self.assertNotIn("wrong", gateway.logged())

    def test_limits_and_load(self):
        for way, kind, later in ((429, "rate_limit_error", "7"), (529, "overloaded_error", "8")):
            for stream in (False, True):
                reply = self.chat(status=way, model=f"{way}/{MODEL}", stream=stream)
                self.assertEqual((reply.json["error"]["type"], reply.headers["retry-after"]), (kind, later))
            reply = self.ask(MESSAGES, {"model": f"{way}/{MODEL}", "max_tokens": 9, "messages": user("Ahoy")}, way)
            self.assertEqual((reply.json["error"]["type"], reply.headers["retry-after"]), (kind, later))
        self.server.clear()
        self.chat(model=f"529-once/{MODEL}")
        self.assertEqual(len(self.server.asked()), 2)

    def test_streams_that_fail(self):
        for way, words in (("unfinished", "broke off"), ("overloaded-later", "Overloaded")):
            body = self.chat(model=f"{way}/{MODEL}", stream=True).body.decode()
            self.assertIn('"error"', body)
            self.assertIn(words, body)
            self.assertNotIn('"finish_reason":"stop"', body)
            events = events_in(self.ask(MESSAGES, {"model": f"{way}/{MODEL}", "max_tokens": 9, "messages": user("Ahoy"), "stream": True}))
            self.assertEqual(events[-1]["type"], "error")
        self.assertIn("Overloaded", self.chat(model=f"overloaded-first/{MODEL}", stream=True, status=502).json["detail"])

    def test_an_overflow_teaches_the_window(self):
        model = f"overflow-anthropic/{MODEL}"
        reply = self.chat(long_history(15), model=model, max_tokens=300)
        self.assertEqual((len(self.server.asked()), reply.ours["window"]), (2, 1000))
        self.assertLess(len(self.server.asked()[1]["messages"]), len(self.server.asked()[0]["messages"]))


if __name__ == "__main__":
    unittest.main()
