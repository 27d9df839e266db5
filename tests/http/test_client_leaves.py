"""Clients that leave, that only stop sending, and that send while they are answered: an upstream works for nobody who
has left, whatever was sent before, and who is still there gets the answer.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import contextlib
import socket
import time
import unittest

from gateway import PATIENCE, SLOW, WithGateway, http_request, read_all, user

PIPELINED = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


class Leaving(WithGateway):
    MODELS = {"gpt-4o": 8192, "stall/gpt-4o": 8192, "slow/gpt-4o": 8192, "pause/gpt-4o": 8192}

    def ask(self, model, after=b"", **fields):
        """A connection whose request has reached the upstream."""
        line = self.gateway.dial(http_request({"model": f"{model}/gpt-4o", "messages": user("Ahoy")} | fields))
        until = time.monotonic() + PATIENCE
        while not self.upstream.to():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        line.sendall(after)
        return line

    def assert_cancelled(self):
        self.assertTrue(self.upstream.last().gone.wait(0.8 * SLOW), "the upstream works for nobody")

    def test_whatever_was_sent_before(self):
        for name, after in [("nothing", b""), ("a byte", b"x"), ("an empty line", b"\r\n"), ("a request", PIPELINED),
                            ("ten requests", PIPELINED * 10), ("half a request", PIPELINED[:20]),
                            ("100 KB", b"x" * 100_000)]:
            for stream in (False, True):
                with self.subTest(name, stream=stream):
                    self.upstream.clear()
                    line = self.ask("slow" if stream else "stall", after, stream=stream)
                    if stream:
                        self.assertIn(b"200 OK", line.recv(4096))
                    time.sleep(0.05)
                    line.close()
                    self.assert_cancelled()

    def test_what_was_sent_meanwhile_is_answered_in_turn(self):
        with self.ask("slow", PIPELINED * 3, stream=True) as line:
            time.sleep(0.05)
            self.upstream.release.set()
            got = b""
            while got.count(b"HTTP/1.1 200") < 4:
                got += line.recv(1 << 16)
            self.assertLess(got.index(b"[DONE]"), got.index(b"Healthy"))

    def test_a_flood_ends_the_connection_after_the_answer(self):
        self.gateway.chat("gpt-4o", user("Ahoy"))  # maps the vocabulary, which counts as memory
        self.upstream.clear()
        before = self.gateway.rss()
        with self.ask("slow", stream=True) as line:
            for _ in range(300):
                line.sendall(b"x" * 100_000)
            self.assertLess(self.gateway.rss() - before, 20)
            self.upstream.release.set()
            got = b""
            with contextlib.suppress(ConnectionResetError):
                got = read_all(line)
            self.assertIn(b"[DONE]", got)
            self.assertEqual(got.count(b"HTTP/1.1"), 1)

    def test_one_that_stops_sending_gets_its_answer(self):
        with self.ask("pause") as line:
            line.shutdown(socket.SHUT_WR)
            time.sleep(0.1)
            self.upstream.release.set()
            got = read_all(line)
        self.assertIn(b"HTTP/1.1 200 OK", got)
        self.assertIn(b"Aye aye, sir.", got)
        # Between, it was asked whether it is still there, in words that clients pass over.
        self.assertTrue(got.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"), got)

    def test_one_that_stops_sending_before_a_stream_gets_all_of_it(self):
        line = self.gateway.dial()
        line.sendall(http_request({"model": "gpt-4o", "messages": user("Ahoy"), "stream": True}))
        line.shutdown(socket.SHUT_WR)
        with line:
            self.assertIn(b"[DONE]", read_all(line))

    def test_requests_at_once_before_the_end_of_sending(self):
        line = self.gateway.dial()
        line.sendall(PIPELINED * 3)
        line.shutdown(socket.SHUT_WR)
        with line:
            self.assertEqual(read_all(line).count(b"HTTP/1.1 200"), 3)

    def test_one_that_stops_sending_and_then_leaves(self):
        line = self.ask("stall")
        line.shutdown(socket.SHUT_WR)
        time.sleep(0.2)
        self.assertFalse(self.upstream.last().gone.is_set())
        line.close()  # with "100 Continue" unread, so that the end is a reset
        self.assert_cancelled()

    def test_one_that_stops_sending_reads_and_then_leaves(self):
        line = self.ask("stall")
        line.shutdown(socket.SHUT_WR)
        self.assertIn(b"100 Continue", line.recv(4096))
        line.close()  # with nothing unread: only what is written next shows it
        self.assertTrue(self.upstream.last().gone.wait(3 * SLOW), "the upstream works for nobody")

    def test_one_that_leaves_while_its_second_request_is_answered(self):
        request = http_request({"model": "stall/gpt-4o", "messages": user("Ahoy")})
        line = self.gateway.dial(PIPELINED + request)
        line.shutdown(socket.SHUT_WR)
        self.assertIn(b"200 OK", line.recv(4096))
        until = time.monotonic() + PATIENCE
        while not self.upstream.to():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        line.close()
        self.assertTrue(self.upstream.last().gone.wait(3 * SLOW), "the upstream works for nobody")


if __name__ == "__main__":
    unittest.main()
