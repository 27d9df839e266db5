"""What no route may take: requests that two servers would read differently, names that are paths, bodies that are too
large, too deep or no JSON. Each gets a clear 4xx, and nothing is written.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import json
import re
import unittest

from gateway import SLOW, WithGateway

LIMIT = 20_000
NAMES = ["..%2F..%2Fetc%2Fpasswd", "%2e%2e%2f%2e%2e%2fstore.db", "..", "%00", "a%00b", "%ff%fe", "..%5C..%5Cwindows", "%2Fetc%2Fpasswd",
         "x" * 5000]
# What a proxy in front may read as one request and a server behind it as two.
SMUGGLED = {
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /indexes HTTP/1.1\r\nHost: x\r\n\r\n",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 30\r\n\r\n{}GET /indexes HTTP/1.1\r\n\r\n   ",
    "a length with a sign": b"Content-Length: +2\r\n\r\n{}",
    "a length that is none": b"Content-Length: two\r\n\r\n{}",
    "chunks by another name": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"Content-Length : 2\r\n\r\n{}",
    "chunks inside something": b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "chunks said twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a bare line feed in a header": b"X-A: 1\nContent-Length: 2\r\n\r\n{}",
    "a NUL in a header": b"X-A: \x00\r\nContent-Length: 2\r\n\r\n{}",
    "a chunk of a negative size": b"Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
    "a chunk of an endless size": b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
}
READ_ALIKE = [("GET", "/indexes"), ("POST", "/v1/chat/completions"), ("POST", "/index"), ("POST", "/documents"),
              ("DELETE", "/indexes/x")]


class EveryRoute(WithGateway):
    MODELS = {"gpt-4o": 8192}
    SETTINGS = {"max_request_bytes": LIMIT, "idle_timeout_seconds": SLOW}

    def setUp(self):
        self.routes = [tuple(route.split(" ", 1)) for route in self.gateway.ask("/").json["routes"]]
        self.assertGreater(len(self.routes), 40)
        self.before = self.written()

    def tearDown(self):
        self.assertEqual(self.written(), self.before)
        self.assertEqual(self.gateway.ask("/health").status, 200)

    def written(self):
        """Every file but the store's own and the log, and what the store has."""
        files = sorted(str(path.relative_to(self.gateway.folder)) for path in self.gateway.folder.rglob("*")
                       if not path.name.startswith(("store.db", "log")))
        return files, self.gateway.ask("/indexes").json, self.gateway.ask("/chat/sessions").json

    def paths(self, name="x"):
        for method, path in self.routes:
            yield method, re.sub(r"{\w+(\.\.\.)?}", lambda _: name, path)

    def statuses(self, data):
        """Of every reply on one connection, until it is closed."""
        got = b""
        with self.gateway.dial(data) as line:
            line.settimeout(1)  # who goes on listening has said what there is to say
            try:
                while piece := line.recv(1 << 16):
                    got += piece
            except (ConnectionResetError, TimeoutError):
                pass
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", got)]

    def test_what_two_servers_would_read_differently(self):
        for method, path in READ_ALIKE:  # before any route is looked for
            for name, rest in SMUGGLED.items():
                with self.subTest(route=f"{method} {path}", way=name):
                    statuses = self.statuses(f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode() + rest)
                    self.assertLessEqual(len(statuses), 1)  # one request, or none: never the hidden one
                    for status in statuses:
                        self.assertIn(status, range(400, 500))

    def test_names_that_are_paths(self):
        for name in NAMES:
            for method, path in self.paths(name):
                if name not in path:
                    continue
                with self.subTest(route=f"{method} {path[:60]}"):
                    reply = self.gateway.ask(path, {} if method == "POST" else None, method=method)
                    self.assertIn(reply.status, [*range(400, 500), 501])
                    self.assertNotIn(b"root:", reply.body)

    def test_bodies_that_no_route_takes(self):
        deep = b"[" * 9_000 + b"]" * 9_000
        for method, path in self.paths():
            if method != "POST" or path == "/admin/models/refresh":  # which reads none
                continue
            for name, body in {"too long": b'{"a": "' + b"x" * LIMIT + b'"}', "deep": deep, "cut off": b'{"a": [1, ', "a list": b"[]",
                               "no UTF-8": b'{"messages": "\xff\xfe"}', "nothing": b"", "a number": b"1e999"}.items():
                with self.subTest(route=path, way=name):
                    reply = self.gateway.ask(path, body, method="POST")
                    if path == "/mcp" and reply.status == 200:  # says so inside
                        self.assertIn("error", json.dumps(reply.json))
                        continue
                    self.assertIn(reply.status, [*range(400, 500), 501])
                    self.assertTrue(reply.json.get("detail") or reply.json.get("error"))


if __name__ == "__main__":
    unittest.main()
