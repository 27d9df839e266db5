"""Answers that are compared with their passages (`plimsoll.check`), for clients of every API.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import json
import unittest

from gateway import WithGateway, user

PASSAGE = {"id": "hull", "text": "The hull of the Aurora is 24 metres long. She was built in Bergen."}
SAID = "The hull of the Aurora is 24 metres long. She was built in 1871."


class Checked(WithGateway):
    MODELS = {"gpt-4o": 8192}

    def setUp(self):
        self.upstream.text = SAID

    def tearDown(self):
        self.upstream.text = "Aye aye, sir."

    def holds(self, ours):
        check = ours["check"]
        self.assertEqual((check["supported"], check["unsupported"]), (1, 1), check)
        first, second = check["sentences"]
        self.assertEqual((first["verdict"], first["passages"], first["reason"]), ("supported", [1], None))
        self.assertEqual((second["text"], second["verdict"]), ("She was built in 1871.", "unsupported"))
        self.assertIn("1871", second["reason"])
        self.assertIn("do not support: 1 of 2", " ".join(ours["warnings"]))

    def test_in_a_chat_and_in_its_stream(self):
        for stream in (False, True):
            with self.subTest(stream=stream):
                reply = self.gateway.chat("gpt-4o", user("How long is the hull?"), stream=stream,
                                          plimsoll={"check": True, "passages": [PASSAGE]})
                self.assertEqual(reply.status, 200, reply.body)
                self.holds(reply.events[-1]["plimsoll"] if stream else reply.ours)
                self.assertNotIn("plimsoll", self.upstream.last().json)
        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
        self.assertIn("do not support: 1 of 2", " ".join(trace["warnings"]))

    def test_for_other_apis(self):
        ours = {"check": True, "passages": [PASSAGE]}
        messages = user("How long is the hull?")
        reply = self.gateway.ask("/v1/messages", {"model": "gpt-4o", "max_tokens": 50, "messages": messages, "plimsoll": ours})
        self.assertEqual(reply.status, 200, reply.body)
        self.holds(reply.json["plimsoll"])
        reply = self.gateway.ask("/api/chat", {"model": "gpt-4o", "stream": False, "messages": messages, "plimsoll": ours})
        self.assertEqual(reply.status, 200, reply.body)
        self.holds(reply.json["plimsoll"])

    def test_without_passages_it_says_so(self):
        reply = self.gateway.chat("gpt-4o", user("How long is the hull?"), plimsoll={"check": True})
        self.assertNotIn("check", reply.ours)
        self.assertIn("not checked", " ".join(reply.ours["warnings"]))

    def test_a_wish_of_another_kind_is_refused(self):
        reply = self.gateway.chat("gpt-4o", user("Hm?"), plimsoll={"check": "yes"})
        self.assertEqual(reply.status, 400, reply.body)
        self.assertIn("plimsoll.check", json.dumps(reply.json))


if __name__ == "__main__":
    unittest.main()
