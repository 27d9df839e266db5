"""Servers and clients that misbehave: nothing hangs past its deadline, memory stays bounded, nobody is lied to, and
the next request is answered.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import concurrent.futures
import contextlib
import http.client
import json
import socket
import struct
import time
import unittest

from gateway import CHAT, PATIENCE, SANITIZED, SLOW, Gateway, WithGateway, http_request, read_all, serving, user
from upstream import Upstream

SETTINGS = {"first_byte_timeout_seconds": 0.5 * SLOW, "idle_timeout_seconds": 1.0 * SLOW,
            "request_timeout_seconds": 3.0 * SLOW}
WAYS = ["stall", "stall-later", "reset", "reset-once", "half-chunk", "wrong-length", "no-http", "status-500", "429",
        "429-short", "status-503-once", "20mb", "slow"]


class Faults(WithGateway):
    MODELS = {"gpt-4o": 8192} | {f"{way}/gpt-4o": 8192 for way in WAYS}
    SETTINGS = SETTINGS

    def tearDown(self):
        """Whatever happened, the next request is answered."""
        until = time.monotonic() + PATIENCE
        while (reply := self.gateway.chat("gpt-4o", user("Still there?"))).status == 503:  # a breaker that rests
            self.assertIn("failed repeatedly", reply.json["detail"])
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        self.assertEqual(reply.status, 200, reply.body)

    def timed(self, way, within, **fields):
        begin = time.monotonic()
        reply = self.gateway.chat(f"{way}/gpt-4o", user("Ahoy"), **fields)
        self.assertLess(time.monotonic() - begin, within * SLOW)
        return reply


class Upstreams(Faults):
    def test_half_an_answer_is_an_error(self):
        with Upstream({"torn/gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            reply = gateway.chat("torn/gpt-4o", user("Ahoy"))
            self.assertEqual(reply.status, 502, reply.body)
            self.assertIn("40 bytes that are not a whole answer as JSON", reply.json["error"]["message"])

    def test_half_an_answer_is_an_error_on_every_route(self):
        with Upstream({"torn/gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            for path, fields in (("/v1/completions", {"prompt": "Ahoy"}), ("/v1/embeddings", {"input": "Ahoy"}),
                                 ("/v1/responses", {"input": "Ahoy"}), ("/api/embed", {"input": "Ahoy"}),
                                 ("/api/generate", {"prompt": "Ahoy", "raw": True, "stream": False})):
                reply = gateway.ask(path, {"model": "torn/gpt-4o"} | fields)
                self.assertEqual(reply.status, 502, (path, reply.body))
                self.assertIn(b"not a whole answer as JSON", reply.body, path)

    def test_half_an_event_ends_a_stream_with_an_error(self):
        with Upstream({"torn/gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            for path, fields in ((CHAT, {"messages": user("Ahoy")}), ("/v1/completions", {"prompt": "Ahoy"})):
                reply = gateway.ask(path, {"model": "torn/gpt-4o", "stream": True} | fields)
                self.assertEqual(reply.status, 200)
                first, last = [piece for piece in reply.body.split(b"\n\n") if piece]
                self.assertEqual(first + b"\n\n", upstream.last(path).sent.split(b"\n\n")[0] + b"\n\n")
                self.assertIn("not a whole JSON object", json.loads(last.removeprefix(b"data: "))["error"]["message"])
                self.assertIn("not a whole JSON object", gateway.inspect(reply.headers["x-plimsoll-trace"])["error"])

    def test_an_answer_without_an_answer_is_an_error(self):
        with Upstream({"empty/gpt-4o": 8192, "sorry/gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            for model, said in (("empty/gpt-4o", "2 bytes that are not a whole answer"), ("sorry/gpt-4o", "out of memory")):
                reply = gateway.chat(model, user("Ahoy"))
                self.assertEqual(reply.status, 502, reply.body)
                self.assertIn(said, reply.json["error"]["message"])
                self.assertTrue(gateway.inspect(reply.headers["x-plimsoll-trace"])["error"])

    def test_one_that_never_answers(self):
        for stream in (False, True):
            reply = self.timed("stall", 3.5, stream=stream)
            error = self.assert_error(reply, 504)
            self.assertEqual(error["type"], "timeout_error")
            self.assertIn("first_byte_timeout_seconds", error["message"])
        for request in self.upstream.to():
            self.assertTrue(request.gone.wait(PATIENCE), "its connection was left open")

    def test_one_that_stops_in_mid_stream(self):
        reply = self.timed("stall-later", 3.5, stream=True)
        self.assertEqual(reply.status, 200)
        pieces = [piece for piece in reply.body.split(b"\n\n") if piece]
        self.assertIn(b'"role": "assistant"', pieces[0])
        self.assertIn("error", json.loads(pieces[-1].removeprefix(b"data: ")))
        self.assertNotIn(b"[DONE]", reply.body)
        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
        self.assertTrue(trace["error"])

    def test_one_that_resets(self):
        reply = self.timed("reset", 3.5)
        self.assertIn(reply.status, (502, 503))
        self.assert_error(reply, reply.status)
        self.assertEqual(len(self.upstream.to()), 3)
        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
        self.assertEqual(len(trace["attempts"]), 3)

    def test_one_that_resets_once_is_asked_again(self):
        reply = self.timed("reset-once", 3.5)
        self.assertEqual((reply.status, len(self.upstream.to())), (200, 2))
        self.assertEqual(reply.body, self.upstream.last().sent)

    def test_half_a_chunk_and_half_a_body(self):
        reply = self.timed("half-chunk", 3.5, stream=True)
        self.assertEqual(reply.status, 200)
        self.assertNotIn(b"[DONE]", reply.body)
        last = [piece for piece in reply.body.split(b"\n\n") if piece][-1]
        self.assertIn("error", json.loads(last.removeprefix(b"data: ")))
        self.assertNotIn(b'{"half', reply.body)
        self.assertEqual(len(self.upstream.to()), 1)
        self.assert_error(self.timed("wrong-length", 3.5), 502)
        self.upstream.clear()
        self.assert_error(self.timed("no-http", 3.5), 502)
        self.assertEqual(len(self.upstream.to()), 1, "work that was done is asked for again")

    def test_errors_name_the_upstream_and_not_its_address(self):
        ways = [("reset", False), ("no-http", False), ("wrong-length", False), ("half-chunk", True)]
        with Upstream({f"{way}/gpt-4o": 8192 for way, _ in ways}) as upstream, serving(f"gpu={upstream.url}") as gateway:
            for way, stream in ways:
                reply = gateway.chat(f"{way}/gpt-4o", user("Ahoy"), stream=stream)
                self.assertNotIn(b"127.0.0.1", reply.body)
                self.assertIn(b"the upstream 'gpu'", reply.body)

    def test_an_upstream_without_a_name_is_shown_by_a_number(self):
        with Upstream({"gpt-4o": 8192, "reset/gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            for reply in (gateway.ask("/ready"), gateway.ask("/v1/models"), gateway.chat("reset/gpt-4o", user("Ahoy"))):
                self.assertNotIn(b"127.0.0.1", reply.body)
            self.assertEqual(gateway.ask("/ready").json["upstreams"][0]["name"], "upstream-1")

    def test_an_upstream_that_is_not_there_is_shown_by_its_name(self):
        with serving("gpu=http://127.0.0.1:9") as gateway:
            shown = gateway.ask("/ready").json["upstreams"][0]
            self.assertEqual(shown["name"], "gpu")
            self.assertIn("the upstream 'gpu'", shown["problem"])
            self.assertNotIn("127.0.0.1", shown["problem"])
            reply = gateway.chat("gpu/gpt-4o", user("Ahoy"))
            self.assertGreaterEqual(reply.status, 400)
            self.assertNotIn(b"127.0.0.1", reply.body)
            self.assertIn("127.0.0.1:9", gateway.logged())

    def test_a_request_that_is_late_as_a_whole_says_how_late(self):
        with Upstream({"slow/gpt-4o": 8192}) as upstream, serving(
                upstream, request_timeout_seconds=1.5, idle_timeout_seconds=60) as gateway:
            reply = gateway.chat("slow/gpt-4o", user("Ahoy"), stream=True)
            self.assertIn(b"did not finish its answer within 1.5 s (request_timeout_seconds)", reply.body)
        with Upstream({"stall/gpt-4o": 8192}) as upstream, serving(
                upstream, request_timeout_seconds=1.5) as gateway:
            reply = gateway.chat("stall/gpt-4o", user("Ahoy"))
            self.assert_error(reply, 504, None, "did not finish its answer within 1.5 s (request_timeout_seconds)")

    def test_errors_are_handed_on_as_they_are(self):
        reply = self.timed("status-500", 3.5)
        self.assertEqual((reply.status, reply.json), (500, {"error": {"message": "boom"}, "detail": "boom"}))
        self.assertEqual(len(self.upstream.to()), 1)
        reply = self.timed("429", 3.5, stream=True)
        self.assertEqual((reply.status, reply.headers["retry-after"], reply.json["detail"]), (429, "7", "slow down"))
        self.assertTrue(reply.headers["content-type"].startswith("application/json"))

    def test_what_passes_is_waited_for(self):
        for way in ("429-short", "status-503-once"):
            reply = self.timed(way, 3.5)
            self.assertEqual(reply.status, 200, reply.body)
            asked = [request.at for request in self.upstream.to() if request.json["model"].startswith(way)]
            self.assertEqual(len(asked), 2)
        self.assertGreaterEqual(asked[1] - asked[0], 0.09)

    def test_twenty_megabytes(self):
        reply = self.gateway.chat("20mb/gpt-4o", user("Ahoy"))
        self.assertEqual((reply.status, len(reply.json["choices"][0]["message"]["content"])), (200, 20_000_000))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for one in pool.map(lambda _: self.gateway.chat("20mb/gpt-4o", user("Ahoy")).status, range(12)):
                self.assertEqual(one, 200)
        if not SANITIZED:  # a sanitizer keeps what was given back
            self.assertLess(self.gateway.rss(), 450)


class Breaker(WithGateway):
    MODELS = {"gpt-4o": 8192, "reset/gpt-4o": 8192}
    SETTINGS = SETTINGS

    def test_a_server_that_fails_again_and_again_is_left_alone_for_a_while(self):
        said = ""
        for _ in range(10):
            reply = self.gateway.chat("reset/gpt-4o", user("Ahoy"))
            said = reply.json["detail"]
            if "failed repeatedly" in said:
                break
        self.assertIn("failed repeatedly", said)
        self.assertEqual(reply.status, 503)
        self.assertIn("retry-after", reply.headers)
        asked = len(self.upstream.to())
        self.assertEqual(self.gateway.chat("reset/gpt-4o", user("Ahoy")).status, 503)
        self.assertEqual(len(self.upstream.to()), asked)
        for _ in range(10):  # another model of the same server is asked as ever
            self.assertEqual(self.gateway.chat("gpt-4o", user("Ahoy")).status, 200)

    def test_a_server_that_cannot_be_reached_is_left_alone_whichever_model_is_asked_for(self):
        with Upstream({"gpt-4o": 8192, "gpt-4": 8192}) as upstream:
            gateway = Gateway(upstream, **SETTINGS)
            self.addCleanup(gateway.close)
            self.assertEqual(gateway.chat("gpt-4o", user("Ahoy")).status, 200)
        for _ in range(4):
            reply = gateway.chat("gpt-4o", user("Ahoy"))
            self.assertEqual(reply.status, 503)
        self.assertIn("failed repeatedly", gateway.chat("gpt-4", user("Ahoy")).json["detail"])


class Limits(WithGateway):
    MODELS = {"gpt-4o": 8192, "20mb/gpt-4o": 8192}
    SETTINGS = SETTINGS | {"max_answer_bytes": 1_000_000, "max_connections": 20}

    def test_an_answer_that_is_too_long(self):
        self.assert_error(self.gateway.chat("20mb/gpt-4o", user("Ahoy")), 502, None, "max_answer_bytes")

    def test_more_connections_than_allowed(self):
        lines = [self.gateway.dial() for _ in range(20)]
        self.addCleanup(lambda: [line.close() for line in lines])
        time.sleep(0.2)
        for _ in range(30):  # also where the request is on its way already
            reply = self.gateway.chat("gpt-4o", user("Ahoy"))
            self.assert_error(reply, 503, None, "20 connections are open", "max_connections", "retry in 1 s")
            self.assertEqual(reply.headers["retry-after"], "1")
        for line in lines:
            line.close()
        until = time.monotonic() + PATIENCE
        while self.gateway.chat("gpt-4o", user("Ahoy")).status != 200:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def test_thousands_more_are_let_go(self):
        lines = [self.gateway.dial() for _ in range(300)]
        closed = 0
        for line in lines:
            line.settimeout(0.01)
            try:
                closed += line.recv(1) == b""
            except TimeoutError:
                pass
            except ConnectionResetError:
                closed += 1
            line.close()
        self.assertGreater(closed, 100)
        until = time.monotonic() + PATIENCE
        while self.gateway.chat("gpt-4o", user("Ahoy")).status != 200:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)


class Clients(Faults):
    def test_one_that_sends_a_byte_at_a_time_and_stops(self):
        data = http_request({"model": "gpt-4o", "messages": user("Ahoy")})
        for cut in (20, len(data) - 5):
            with self.gateway.dial(data[:cut]) as line:
                begin = time.monotonic()
                got = read_all(line)
                self.assertLess(time.monotonic() - begin, 4 * SLOW)
                self.assertIn(b"408", got.split(b"\r\n")[0], cut)
        with self.gateway.dial() as line:  # within the deadline a drip is a request like any other
            for at in range(0, len(data), 8):
                line.sendall(data[at : at + 8])
                time.sleep(0.001)
            self.assertIn(b"200 OK", line.recv(4096))

    def test_one_that_drips_forever_is_ended(self):
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"
        with self.gateway.dial(head) as line:
            begin = time.monotonic()
            line.settimeout(0.2)
            while time.monotonic() - begin < 8 * SLOW:
                try:
                    line.sendall(b" ")
                    if line.recv(100):
                        break
                except TimeoutError:
                    continue
                except (ConnectionResetError, BrokenPipeError):
                    break
            self.assertLess(time.monotonic() - begin, 5 * SLOW)

    def test_one_that_leaves_in_mid_stream(self):
        data = http_request({"model": "slow/gpt-4o", "messages": user("Ahoy"), "stream": True})
        with self.gateway.dial(data) as line:
            self.assertIn(b"200 OK", line.recv(4096))
        self.assertTrue(self.upstream.last().gone.wait(0.8 * SLOW), "the upstream works for nobody")

    def test_one_that_leaves_before_the_answer(self):
        data = http_request({"model": "stall/gpt-4o", "messages": user("Ahoy")})
        line = self.gateway.dial(data)
        until = time.monotonic() + PATIENCE
        while not self.upstream.to() and time.monotonic() < until:
            time.sleep(0.01)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()
        self.assertTrue(self.upstream.last().gone.wait(0.4 * SLOW), "the upstream works for nobody")
        time.sleep(0.4 * SLOW)  # longer than the pause before another try
        self.assertEqual(len(self.upstream.to()), 1)

    def test_one_that_does_not_read_holds_up_nobody(self):
        data = http_request({"model": "20mb/gpt-4o", "messages": user("Ahoy")})
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", self.gateway.port))
        line.sendall(data)
        try:
            begin = time.monotonic()
            self.assertEqual(self.gateway.chat("gpt-4o", user("Ahoy")).status, 200)
            self.assertLess(time.monotonic() - begin, 1 * SLOW)
        finally:
            line.close()

    def test_a_hundred_megabytes(self):
        before = self.gateway.rss()
        head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n".encode()
        with self.gateway.dial(head) as line:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                for _ in range(100):
                    line.sendall(b" " * 1_000_000)
        with self.gateway.dial(head + b" " * 2_000_000) as line:  # as one that listens when it has sent a part
            self.assertIn(b"413", read_all(line).split(b"\r\n")[0])
        with self.gateway.dial(head) as line:  # as one that waits for a word first
            got = read_all(line)
        self.assertIn(b"413", got.split(b"\r\n")[0])
        self.assertIn(b"max_request_bytes", got)
        if not SANITIZED:
            self.assertLess(self.gateway.rss() - before, 100)

    def test_headers_without_end(self):
        with self.gateway.dial(b"GET / HTTP/1.1\r\nX: " + b"x" * 300_000) as line:
            try:
                got = read_all(line)
            except ConnectionResetError:
                got = b" 431 "
        self.assertIn(b"431", got.split(b"\r\n")[0])
        for nonsense in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                         b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):
            with self.gateway.dial(nonsense + b"\r\n\r\n") as line:
                self.assertIn(b"400", read_all(line).split(b"\r\n")[0], nonsense)

    def test_ten_thousand_messages(self):
        messages = [{"role": ("user", "assistant")[i % 2], "content": f"{i} ship"} for i in range(10_001)]
        begin = time.monotonic()
        reply = self.gateway.chat("gpt-4o", messages, max_tokens=100)
        self.assertLess(time.monotonic() - begin, 3 * SLOW)
        self.assertEqual(reply.status, 200, reply.body[:500])
        sent = self.upstream.last().json["messages"]
        # The oldest are in a summary before the first that stays, and every one that is not sent is told.
        self.assertTrue(sent[0]["content"].startswith("<summary>"), sent[0])
        self.assertTrue(sent[0]["content"].endswith(messages[-len(sent)]["content"]))
        self.assertEqual(sent[1:], messages[1 - len(sent):])
        told = reply.ours["summary"]["messages"] + sum(one["pieces"] for one in reply.ours["left_out"])
        self.assertEqual(told, len(messages) - len(sent))
        self.assertLess(len(reply.body), 100_000)

    def test_nesting_ten_thousand_deep(self):
        for body in [b"[" * 10_000, b'{"a":' * 10_000, b"[" * 10_000 + b"]" * 10_000,
                     b'{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"x":' + b"[" * 10_000 +
                     b"]" * 10_000 + b"}"]:
            for path in (CHAT, "/v1/completions", "/v1/responses", "/v1/embeddings", "/v1/plan", "/v1/count",
                         "/v1/strategy"):
                self.assert_error(self.gateway.ask(path, body), 400)
        self.assertEqual(self.upstream.to(), [])

    def test_broken_json_in_every_place(self):
        good = json.dumps({"model": "gpt-4o", "messages": user("Ahoy"), "stream": False}).encode()
        for cut in range(1, len(good)):
            self.assert_error(self.gateway.ask(CHAT, good[:cut]), 400)
        self.assertEqual(self.upstream.to(), [])

    def test_values_of_other_types_than_they_should_be(self):
        fields = [{"stream_options": {"include_usage": "yes"}}, {"stream_options": []}, {"stream": "yes"}, {"n": {}},
                  {"tool_choice": 1}, {"user": []}, {"stop": {}}, {"response_format": 1}, {"reasoning": "high"},
                  {"messages": [{"role": "user", "content": [{"type": 1, "text": 2}]}]},
                  {"messages": [{"role": "tool", "content": [{"type": "text", "text": []}]}]}]
        for words in (1, 8000):  # planned here, and by a worker
            for wrong in fields:
                body = {"model": "gpt-4o", "messages": user("ship " * words), "user": "sailor " * words} | wrong
                self.assertLess(self.gateway.ask(CHAT, json.dumps(body).encode()).status, 500, wrong)


class Apart(WithGateway):
    """What belongs to one request reaches no other (behaviour 49), without documents."""

    MODELS = {f"echo/gpt-4o-{number}": 4000 + number for number in range(16)}

    def test_sixteen_at_once(self):
        def one(number):
            model = f"echo/gpt-4o-{number}"
            reply = self.gateway.chat(model, user("ship " * (number * 40 + 1)), temperature=number / 10,
                                      max_tokens=100 + number)
            return number, model, reply

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            results = list(pool.map(one, list(range(16)) * 10))
        for number, model, reply in results:
            self.assertEqual(json.loads(reply.json["choices"][0]["message"]["content"]), [model, number / 10])
            self.assertEqual((reply.headers["x-plimsoll-model"], reply.headers["x-plimsoll-window"],
                              reply.headers["x-plimsoll-answer-tokens"]), (model, str(4000 + number), str(100 + number)))
        self.assertEqual(len({reply.headers["x-plimsoll-trace"] for _, _, reply in results}), 160)


class TheEndOfPatience(unittest.TestCase):
    def test_a_stream_that_does_not_end_is_cut_off_at_the_end(self):
        with Upstream({"slow/gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream, **SETTINGS)
            try:
                connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
                connection.request("POST", CHAT, json.dumps({"model": "slow/gpt-4o", "messages": user("x"),
                                                             "stream": True}))
                self.assertEqual(connection.getresponse().status, 200)
                begin = time.monotonic()
                self.assertEqual(gateway.stop(), 0)
                self.assertLess(time.monotonic() - begin, 5 * SLOW)
            finally:
                gateway.close()


if __name__ == "__main__":
    unittest.main()
