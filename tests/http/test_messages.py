"""Anthropic's Messages API, for upstreams of any kind. `plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing
here leaves this machine."""

import json
import unittest

from gateway import Gateway, WithGateway
from test_keys import add_key, bearer, wait_for
from upstream import Upstream

MESSAGES = "/v1/messages"
TOOL = {"name": "sound", "description": "Sounds the depth.", "input_schema": {"type": "object", "properties": {"side": {"type": "string"}}}}


def events_in(reply):
    events = []
    for piece in filter(None, reply.body.decode().split("\n\n")):
        name, data = piece.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}", piece
    return events


class Messages(WithGateway):
    MODELS = {"gpt-4o": 8192, "tools/gpt-4o": 8192, "429/gpt-4o": 8192, "half-chunk/gpt-4o": 8192}

    def ask(self, text="Ahoy", status=200, **fields):
        body = {"model": "gpt-4o", "max_tokens": 50, "messages": [{"role": "user", "content": text}]} | fields
        reply = self.gateway.ask(MESSAGES, body, headers={"anthropic-version": "2023-06-01"})
        self.assertEqual(reply.status, status, reply.body)
        return reply

    def test_a_message_is_an_answer_of_a_chat(self):
        self.upstream.prompt_tokens = 9
        reply = self.ask(system="Be brief.", stop_sequences=["X"])
        sent = self.upstream.last().json
        self.assertEqual(sent["messages"], [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Ahoy"}])
        self.assertEqual((sent["max_tokens"], sent["stop"]), (50, ["X"]))
        said = reply.json
        self.assertEqual((said["type"], said["role"], said["model"], said["stop_reason"]), ("message", "assistant", "gpt-4o", "end_turn"))
        self.assertEqual(said["content"], [{"type": "text", "text": self.upstream.text}])
        self.assertEqual((said["usage"]["input_tokens"], said["usage"]["output_tokens"]), (9, 3))
        self.assertEqual(reply.headers["x-plimsoll-window"], "8192")

    def test_a_stream_of_events(self):
        self.upstream.prompt_tokens = 9
        events = events_in(self.ask(stream=True))
        self.assertEqual([event["type"] for event in events][:2] + [event["type"] for event in events][-3:],
                         ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"])
        self.assertEqual("".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta"), self.upstream.text)
        self.assertGreater(events[0]["message"]["usage"]["input_tokens"], 0)
        self.assertEqual(events[-2]["usage"]["output_tokens"], 3)

    def test_tools(self):
        said = self.ask("How deep?", model="tools/gpt-4o", tools=[TOOL]).json
        self.assertEqual(said["stop_reason"], "tool_use")
        call = said["content"][0]
        self.assertEqual((call["type"], call["name"], call["input"]), ("tool_use", "sound", {"side": "port"}))
        turns = [{"role": "user", "content": "How deep?"}, {"role": "assistant", "content": said["content"]},
                 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "12 fathoms"}]}]
        self.ask(messages=turns, tools=[TOOL])
        self.assertEqual([message["role"] for message in self.upstream.last().json["messages"]], ["user", "assistant", "tool"])

    def test_counting_agrees_with_the_plan(self):
        turns = {"model": "gpt-4o", "system": "Be brief.", "messages": [{"role": "user", "content": "How deep may she be loaded?"}],
                 "tools": [TOOL]}
        counted = self.gateway.ask(MESSAGES + "/count_tokens", turns)
        self.assertEqual(counted.status, 200, counted.body)
        reply = self.gateway.ask(MESSAGES, turns | {"max_tokens": 50})
        self.assertEqual(reply.headers["x-plimsoll-input-tokens"], str(counted.json["input_tokens"]))

    def test_a_window_holds(self):
        long = [{"role": role, "content": f"{n} " + "ship " * 1500} for n, role in enumerate(["user", "assistant"] * 4)]
        reply = self.ask(messages=[*long, {"role": "user", "content": "How deep?"}])
        self.assertLessEqual(int(reply.headers["x-plimsoll-input-tokens"]) + 50, 8192)
        self.assertIn("How deep?", self.upstream.last().json["messages"][-1]["content"])

    def test_errors_have_anthropics_form(self):
        too_long = self.ask("ship " * 9000, status=400).json
        self.assertEqual((too_long["type"], too_long["error"]["type"]), ("error", "invalid_request_error"))
        self.assertIn("8,192", too_long["error"]["message"])
        for fields, named in [({"max_tokens": None}, "max_tokens"), ({"messages": []}, "messages"),
                              ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
                              ({"messages": [{"role": "user", "content": [{"type": "odd"}]}]}, "messages[0].content[0]")]:
            self.assertIn(named, self.ask(status=400, **fields).json["error"]["message"])
        self.assertEqual(self.ask(status=429, model="429/gpt-4o").json["error"]["type"], "rate_limit_error")
        self.assertEqual(events_in(self.ask(model="half-chunk/gpt-4o", stream=True))[-1]["type"], "error")

    def test_a_wrong_method_has_it_too(self):
        for path, status in (("/v1/messages", 405), ("/v1/messages/batches", 404)):
            reply = self.gateway.ask(path)
            self.assertEqual((reply.status, reply.json["type"]), (status, "error"), path)

    def test_models_have_its_form_for_its_clients(self):
        listed = self.gateway.ask("/v1/models", headers={"anthropic-version": "2023-06-01"}).json
        self.assertEqual((listed["first_id"], listed["has_more"], listed["data"][0]["type"]), ("gpt-4o", False, "model"))
        self.assertEqual(listed["data"][0]["max_model_len"], 8192)
        self.assertEqual(self.gateway.ask("/v1/models").json["object"], "list")

    def test_documents_come_along(self):
        (self.gateway.folder / "line.txt").write_text("The load line is amidships.")
        self.gateway.run("index", "add", "ship", "line.txt", "--quiet")
        said = self.ask("Where is the load line?", model="gpt-4o+ship").json
        self.assertIn("amidships", json.dumps(self.upstream.last().json))
        self.assertIn("amidships", json.dumps(said["source_nodes"]))


class Keys(unittest.TestCase):
    def test_its_own_header_and_form(self):
        with Upstream({"gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream)
            try:
                ann = add_key(gateway, "ann")
                ask = {"model": "gpt-4o", "max_tokens": 9, "messages": [{"role": "user", "content": "Ahoy"}]}
                wait_for(lambda: gateway.ask(MESSAGES, ask).status == 401, "the gateway to ask for keys")
                self.assertEqual(gateway.ask(MESSAGES, ask).json["error"]["type"], "authentication_error")
                for headers in ({"x-api-key": bearer(ann)["Authorization"].removeprefix("Bearer ")}, bearer(ann)):
                    self.assertEqual(gateway.ask(MESSAGES, ask, headers=headers).status, 200)
            finally:
                gateway.close()


if __name__ == "__main__":
    unittest.main()
