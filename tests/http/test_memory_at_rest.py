"""What a gateway keeps after a crowd: a thousand connections at once, each with small chats, then nobody.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import resource
import time
import unittest

from gateway import PATIENCE, SANITIZED, http_request, serving, user
from upstream import Upstream

CONNECTIONS, BATCH, CHATS = 1_000, 100, 3
MOST_MB = 40  # without an embedder
REST_S = 7  # the gateway gives memory back every five seconds


def read_reply(line):
    """The status of one reply, and its body."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += received(line)
    head, _, body = got.partition(b"\r\n\r\n")
    fields = dict(field.lower().split(b":", 1) for field in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += received(line)
    return int(head.split()[1]), body


def received(line):
    piece = line.recv(1 << 16)
    if not piece:
        raise AssertionError("the gateway closed the connection")
    return piece


class Rest(unittest.TestCase):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 4 * CONNECTIONS
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
            self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    @unittest.skipIf(SANITIZED, "a sanitizer keeps what was given back")
    def test_a_thousand_connections_leave_little(self):
        with Upstream({"gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            upstream.keeps = False
            lines = []
            try:
                while len(lines) < CONNECTIONS:
                    lines += [gateway.dial() for _ in range(BATCH)]
                for _ in range(CHATS):
                    for begin in range(0, CONNECTIONS, BATCH):
                        self.chat_on(lines[begin:begin + BATCH])
                crowded = gateway.rss()
            finally:
                for line in lines:
                    line.close()
            until, rested = time.monotonic() + PATIENCE, crowded
            while rested >= MOST_MB and time.monotonic() < until:
                time.sleep(REST_S)
                rested = gateway.rss()
            self.assertLess(rested, MOST_MB, f"{crowded:.1f} MB with {CONNECTIONS} connections")

    def chat_on(self, lines):
        """One chat on each connection, all at the same time."""
        body = {"model": "gpt-4o", "messages": user("How deep may she be loaded?"), "max_tokens": 16}
        for line in lines:
            line.sendall(http_request(body))
        for line in lines:
            status, answer = read_reply(line)
            self.assertEqual(status, 200, answer)


if __name__ == "__main__":
    unittest.main()
