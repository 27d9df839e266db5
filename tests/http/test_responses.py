"""OpenAI's Responses API: for every upstream as the chat that a request stands for, and as it is where the server has it.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import json
import unittest

from gateway import CHAT, Gateway, WithGateway
from test_keys import add_key, bearer, wait_for
from upstream import Upstream

RESPONSES = "/v1/responses"
TOOL = {"type": "function", "name": "sound", "parameters": {"type": "object", "properties": {"side": {"type": "string"}}}}


def events_in(reply):
    """Typed events, numbered from 0."""
    events = []
    for piece in reply.body.decode().split("\n\n"):
        if not piece:
            continue
        name, data = piece.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}", piece
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


class AsAChat(WithGateway):
    MODELS = {"gpt-4o": 8192, "tools/gpt-4o": 8192}

    def respond(self, asked, status=200, **fields):
        reply = self.gateway.ask(RESPONSES, {"model": "gpt-4o", "input": asked} | fields)
        self.assertEqual(reply.status, status, reply.body)
        return reply

    def sent(self):
        return self.upstream.last().json["messages"]

    def test_a_response_is_an_answer_of_a_chat(self):
        self.upstream.prompt_tokens = 9
        reply = self.respond("Ahoy", instructions="Be brief.", max_output_tokens=40, metadata={"ship": "Argo"})
        self.assertEqual(self.sent(), [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Ahoy"}])
        self.assertEqual(self.upstream.last().json["max_tokens"], 40)
        self.assertEqual(self.upstream.to(RESPONSES), [])
        said = reply.json
        self.assertEqual((said["object"], said["status"], said["model"]), ("response", "completed", "gpt-4o"))
        self.assertEqual(said["output"][0]["content"][0]["text"], self.upstream.text)
        self.assertEqual((said["usage"]["input_tokens"], said["usage"]["output_tokens"]), (9, 3))
        self.assertEqual(said["metadata"], {"ship": "Argo"})
        self.assertEqual(reply.headers["x-plimsoll-window"], "8192")

    def test_a_stream_tells_the_same_in_typed_events(self):
        self.upstream.prompt_tokens = 9
        reply = self.respond("Ahoy", stream=True)
        self.assertTrue(reply.headers["content-type"].startswith("text/event-stream"))
        events = events_in(reply)
        self.assertEqual([event["type"] for event in events][:4], ["response.created", "response.in_progress",
                         "response.output_item.added", "response.content_part.added"])
        self.assertEqual("".join(event["delta"] for event in events if event["type"] == "response.output_text.delta"),
                         self.upstream.text)
        last = events[-1]
        self.assertEqual(last["type"], "response.completed")
        self.assertEqual(last["response"]["output"][0]["content"][0]["text"], self.upstream.text)
        self.assertEqual(last["response"]["usage"]["input_tokens"], 9)
        self.assertEqual(self.gateway.ask(f"{RESPONSES}/{last['response']['id']}", method="GET").json, last["response"])

    def test_tools_are_called_and_answered(self):
        called = self.respond("How deep?", model="tools/gpt-4o", tools=[TOOL]).json
        call = called["output"][0]
        self.assertEqual((call["type"], call["name"], json.loads(call["arguments"])), ("function_call", "sound", {"side": "port"}))
        self.respond([{"type": "function_call_output", "call_id": call["call_id"], "output": "12 fathoms"}], tools=[TOOL],
                     previous_response_id=called["id"])
        self.assertEqual([message["role"] for message in self.sent()], ["user", "assistant", "tool"])
        self.assertEqual(self.sent()[1]["tool_calls"][0]["id"], self.sent()[2]["tool_call_id"])

    def test_a_later_one_goes_on_from_an_earlier(self):
        first = self.respond("One", instructions="Only now.").json
        second = self.respond("Two", previous_response_id=first["id"], stream=True)
        second = events_in(second)[-1]["response"]
        other = self.respond("Another two", previous_response_id=first["id"]).json
        self.respond("Three", previous_response_id=second["id"])
        text = self.upstream.text
        self.assertEqual([message["content"] for message in self.sent()], ["One", text, "Two", text, "Three"])
        self.respond("Three of the other", previous_response_id=other["id"])
        self.assertEqual([message["content"] for message in self.sent()], ["One", text, "Another two", text, "Three of the other"])
        self.assertEqual(second["previous_response_id"], first["id"])

    def test_a_long_conversation_still_fits(self):
        last = None
        for number in range(8):
            last = self.respond(f"{number} " + "ship " * 1500, previous_response_id=last, max_output_tokens=200).json["id"]
        sent = self.upstream.last().json
        planned = self.gateway.ask("/v1/count", {"model": "gpt-4o", "messages": sent["messages"]}).json["tokens"]
        self.assertLessEqual(planned + 200, 8192)
        self.assertIn("7 ship", sent["messages"][-1]["content"])
        self.respond("Ahoy " * 9000, status=400)

    def test_what_is_kept_can_be_read_and_forgotten(self):
        kept = self.respond("Ahoy").json
        self.assertIs(kept["store"], True)
        path = f"{RESPONSES}/{kept['id']}"
        self.assertEqual(self.gateway.ask(path, method="GET").json, kept)
        items = self.gateway.ask(path + "/input_items", method="GET").json
        self.assertEqual(items["data"][0]["content"], [{"type": "input_text", "text": "Ahoy"}])
        self.assertEqual((items["first_id"], items["has_more"]), (items["data"][0]["id"], False))
        self.assertEqual(self.gateway.ask(path, method="DELETE").json, {"id": kept["id"], "object": "response", "deleted": True})
        for method in ("GET", "DELETE"):
            self.assertEqual(self.gateway.ask(path, method=method).status, 404)
        self.respond("More", status=404, previous_response_id=kept["id"])
        unkept = self.respond("Ahoy", store=False).json
        self.assertIs(unkept["store"], False)
        error = self.respond("More", status=404, previous_response_id=unkept["id"]).json["error"]
        self.assertIn(unkept["id"], error["message"])

    def test_what_was_asked_is_listed_in_pages(self):
        asked = self.respond([{"role": "user", "content": str(number)} for number in range(5)]).json["id"]
        path = f"{RESPONSES}/{asked}/input_items"

        def page(query):
            listed = self.gateway.ask(f"{path}?{query}", method="GET").json
            return [item["content"][0]["text"] for item in listed["data"]], listed
        newest, first = page("limit=2")
        self.assertEqual((newest, first["has_more"]), (["4", "3"], True))
        rest, last = page(f"limit=3&after={first['last_id']}")
        self.assertEqual((rest, last["has_more"]), (["2", "1", "0"], False))
        self.assertEqual(page("order=asc")[0], ["0", "1", "2", "3", "4"])
        for wrong in ("limit=0", "order=up", "after=none"):
            self.assertEqual(self.gateway.ask(f"{path}?{wrong}", method="GET").status, 400, wrong)

    def test_what_a_chat_cannot_say_is_refused_by_name(self):
        for fields, named in [({"tools": [{"type": "web_search"}]}, "web_search"), ({"background": True}, "background"),
                              ({"conversation": "conv_1"}, "conversation")]:
            self.assertIn(named, self.respond("Ahoy", status=400, **fields).json["error"]["message"])
        for wrong in (7, [7], None):
            self.assertIn("input", self.respond(wrong, status=400).json["error"]["message"])
        self.assertEqual(self.upstream.to(), [])

    def test_an_upstream_that_fails_in_a_stream_is_told(self):
        reply = self.gateway.ask(RESPONSES, {"model": "half-chunk/gpt-4o", "input": "Ahoy", "stream": True})
        self.assertEqual(events_in(reply)[-1]["type"], "response.failed")

    def test_documents_come_along(self):
        (self.gateway.folder / "line.txt").write_text("The load line is amidships.")
        self.gateway.run("index", "add", "ship", "line.txt", "--quiet")
        for fields in ({"index_name": "ship"}, {"model": "gpt-4o+ship"}):
            said = self.respond("Where is the load line?", **fields).json
            self.assertIn("amidships", json.dumps(self.sent()))
            self.assertIn("amidships", json.dumps(said["source_nodes"]))


class OfOthers(unittest.TestCase):
    def test_responses_belong_to_a_key_and_outlive_a_restart(self):
        with Upstream({"gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream)
            try:
                ann, bob = add_key(gateway, "ann"), add_key(gateway, "bob")
                wait_for(lambda: gateway.ask(RESPONSES, {"input": "x"}).status == 401, "the gateway to ask for keys")
                ask = {"model": "gpt-4o", "input": "Ahoy"}
                kept = gateway.ask(RESPONSES, ask, headers=bearer(ann)).json
                path, more = f"{RESPONSES}/{kept['id']}", ask | {"previous_response_id": kept["id"]}
                for method in ("GET", "DELETE"):
                    self.assertEqual(gateway.ask(path, method=method, headers=bearer(bob)).status, 404)
                self.assertEqual(gateway.ask(RESPONSES, more, headers=bearer(bob)).status, 404)
                gateway.stop()
                gateway.start()
                self.assertEqual(gateway.ask(path, method="GET", headers=bearer(ann)).json, kept)
                self.assertEqual(gateway.ask(RESPONSES, more, headers=bearer(ann)).status, 200)
                self.assertEqual(len(upstream.last().json["messages"]), 3)
            finally:
                gateway.close()


class AsItIs(unittest.TestCase):
    """Servers of OpenAI's own kind."""

    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": None}))
        self.upstream.owner = "openai"
        self.gateway = Gateway(self.upstream)
        self.addCleanup(self.gateway.close)

    def test_bytes_go_through(self):
        for body in (b'{"model":"gpt-4o",  "input":"Ahoy", "x": 1}',
                     b'{"model":"gpt-4o",  "input":"Ahoy", "previous_response_id": "resp_theirs"}',
                     b'{"model":"gpt-4o",  "input":"Ahoy", "tools": [{"type": "web_search"}]}'):
            reply = self.gateway.ask(RESPONSES, body)
            self.assertEqual((reply.status, reply.body), (200, self.upstream.last(RESPONSES).sent))
            self.assertEqual(self.upstream.last(RESPONSES).body, body)
        self.assertEqual(self.upstream.to(), [])

    def test_what_needs_a_plan_is_a_chat(self):
        reply = self.gateway.ask(RESPONSES, {"model": "gpt-4o", "input": "Ahoy", "plimsoll": {"explain": True}})
        self.assertEqual((reply.status, reply.ours["plan"]["model"]), (200, "gpt-4o"))
        self.assertEqual(self.upstream.to(RESPONSES), [])

    def test_a_server_without_the_route_is_asked_once(self):
        self.upstream.has_responses = False
        for _ in range(3):
            reply = self.gateway.ask(RESPONSES, {"model": "gpt-4o", "input": "Ahoy"})
            self.assertEqual(reply.json["output"][0]["content"][0]["text"], self.upstream.text)
        self.assertEqual((len(self.upstream.to(RESPONSES)), len(self.upstream.to(CHAT))), (1, 3))
        told = self.gateway.ask(RESPONSES, {"model": "gpt-4o", "input": "Ahoy", "tools": [{"type": "web_search"}]})
        self.assertEqual(told.status, 400)


if __name__ == "__main__":
    unittest.main()
