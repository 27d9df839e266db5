"""Where a request ends (RFC 9112): what has one meaning is answered, what could have two is refused, and in either case
nothing of one request is taken for the next.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import contextlib
import json
import re
import time
import unittest

from gateway import SANITIZED, Gateway, read_all
from upstream import Upstream

LIMIT = 1 << 20
PROBE = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
BODY = b'{"model": "gpt-4o", "text": "Ahoy"}'
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"  # 404 where it is taken for a request


def get(line=b"GET /health HTTP/1.1", headers=b"Host: x\r\n"):
    return line + b"\r\n" + headers + b"\r\n"


def post(headers, body=b""):
    return b"POST /v1/count HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n" + body


def sized(length, body=BODY):
    return post(b"Content-Length: " + length + b"\r\n", body)


def chunked(body, coding=b"Transfer-Encoding: chunked\r\n"):
    return post(coding, body)


SIZE = b"%d" % len(BODY)
HEX = b"%x" % len(BODY)
CHUNK = HEX + b"\r\n" + BODY + b"\r\n"
LAST = b"0\r\n\r\n"

# What is sent, and the status of each answer. A request for /health follows on the same connection: where the last
# status is not an error of framing, it is answered too.
ANSWERED = {
    "a plain request": (get(), [200]),
    "HTTP/1.0 without Host": (get(b"GET /health HTTP/1.0", b"Connection: keep-alive\r\n"), [200]),
    "HTTP/1.0 with Content-Length": (
        b"POST /v1/count HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: " + SIZE + b"\r\n\r\n" + BODY, [200]),
    "a target with its host": (get(b"GET http://x/health HTTP/1.1"), [200]),
    "a query": (get(b"GET /health?a=%00&b HTTP/1.1"), [200]),
    "an unknown path": (get(b"GET /none HTTP/1.1"), [404]),
    "an unknown method": (get(b"BREW /health HTTP/1.1"), [405]),
    "HEAD": (get(b"HEAD /health HTTP/1.1"), [200]),
    "an empty Host": (get(headers=b"Host:\r\n"), [200]),
    "a Host with a port": (get(headers=b"Host: x:80\r\n"), [200]),
    "a Host that is an address": (get(headers=b"Host: [::1]:80\r\n"), [200]),
    "names in capitals": (get(headers=b"HOST: x\r\nACCEPT: */*\r\n"), [200]),
    "blanks around a value": (get(headers=b"Host: \t x \t\r\n"), [200]),
    "an empty value": (get(headers=b"Host: x\r\nX-Empty:\r\n"), [200]),
    "bytes above 127 in a value": (get(headers=b"Host: x\r\nX-Name: \xc3\xa9\xff\r\n"), [200]),
    "a tab in a value": (get(headers=b"Host: x\r\nX-Name: a\tb\r\n"), [200]),
    "one empty line before": (b"\r\n" + get(), [200]),
    "four empty lines before": (b"\r\n" * 4 + get(), [200]),
    "an empty line after a body": (sized(SIZE) + b"\r\n", [200]),
    "Content-Length": (sized(SIZE), [200]),
    "Content-Length with zeros": (sized(b"000" + SIZE), [200]),
    "Content-Length of nothing": (get(headers=b"Host: x\r\nContent-Length: 0\r\n"), [200]),
    "a body of a GET": (get(headers=b"Host: x\r\nContent-Length: 5\r\n") + b"HELLO", [200]),
    "a request in a body": (get(headers=b"Host: x\r\nContent-Length: %d\r\n" % len(HIDDEN)) + HIDDEN, [200]),
    "one chunk": (chunked(CHUNK + LAST), [200]),
    "a chunk for each byte": (chunked(b"".join(b"1\r\n%c\r\n" % one for one in BODY) + LAST), [200]),
    "Chunked in capitals": (chunked(CHUNK + LAST, b"TRANSFER-ENCODING: CHUNKED\r\n"), [200]),
    "zeros before a chunk's size": (chunked(b"0000" + CHUNK + LAST), [200]),
    "a chunk's size in capitals": (chunked(HEX.upper() + b"\r\n" + BODY + b"\r\n" + LAST), [200]),
    "a chunk's extension": (chunked(HEX + b";a=b\r\n" + BODY + b"\r\n" + LAST), [200]),
    "an extension in quotes": (chunked(HEX + b';a="b;c"\r\n' + BODY + b"\r\n" + LAST), [200]),
    "a trailer": (chunked(CHUNK + b"0\r\nX-Sum: 1\r\n\r\n"), [200]),
    "a trailer that would end the connection": (chunked(CHUNK + b"0\r\nConnection: close\r\n\r\n"), [200]),
    "a trailer that would be a page's origin": (chunked(CHUNK + b"0\r\nOrigin: http://elsewhere.example\r\n\r\n"), [200]),
    "chunks of a GET": (get(headers=b"Host: x\r\nTransfer-Encoding: chunked\r\n") + LAST, [200]),
    "a request in a chunk": (
        get(headers=b"Host: x\r\nTransfer-Encoding: chunked\r\n") + b"%x\r\n" % len(HIDDEN) + HIDDEN + b"\r\n" + LAST,
        [200]),
    "two at once": (get() * 2, [200, 200]),
    "ten at once": ((get() + sized(SIZE)) * 5, [200] * 10),
    "chunks and a length, one after the other": (chunked(CHUNK + LAST) + sized(SIZE), [200, 200]),
    "100-continue whose body came along": (post(b"Expect: 100-continue\r\nContent-Length: " + SIZE + b"\r\n", BODY), [200]),
    "a body that is not JSON": (sized(b"3", b"{}}"), [400]),
    "NUL after the JSON": (sized(b"%d" % (len(BODY) + 1), BODY + b"\0"), [400]),
    "words after the JSON": (sized(b"%d" % (len(BODY) + 2), BODY + b" x"), [400]),
    "blanks after the JSON": (sized(b"%d" % (len(BODY) + 4), BODY + b" \r\n\t"), [200]),
    "a second object after the JSON": (sized(b"%d" % (len(BODY) + 2), BODY + b"{}"), [400]),
}

REFUSED = {
    # The request line.
    "no version": get(b"GET /health"),
    "HTTP/0.9": get(b"GET /health HTTP/0.9"),
    "HTTP/1.2": get(b"GET /health HTTP/1.2"),
    "HTTP/2.0": get(b"GET /health HTTP/2.0"),
    "HTTP/3": get(b"GET /health HTTP/3"),
    "http in small letters": get(b"GET /health http/1.1"),
    "HTTP/1.1 and more": get(b"GET /health HTTP/1.1 x"),
    "HTTP/1.10": get(b"GET /health HTTP/1.10"),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no target": get(b"GET HTTP/1.1"),
    "an empty target": get(b"GET  HTTP/1.1"),
    "two blanks": get(b"GET  /health HTTP/1.1"),
    "a tab for a blank": get(b"GET\t/health HTTP/1.1"),
    "a blank in the target": get(b"GET /hea lth HTTP/1.1"),
    "a blank before the method": get(b" GET /health HTTP/1.1"),
    "no method": get(b" /health HTTP/1.1"),
    "a method that is not a token": get(b"G(T /health HTTP/1.1"),
    "NUL in the target": get(b"GET /he\0alth HTTP/1.1"),
    "DEL in the target": get(b"GET /he\x7falth HTTP/1.1"),
    "a line feed alone after the request line": b"GET /health HTTP/1.1\nHost: x\r\n\r\n",
    "line feeds alone": b"GET /health HTTP/1.1\nHost: x\n\n",
    "a carriage return alone after the request line": b"GET /health HTTP/1.1\rHost: x\r\n\r\n",
    "a carriage return in the target": get(b"GET /health\r HTTP/1.1"),
    "five empty lines before": b"\r\n" * 5 + get(),
    "a line feed before": b"\n" + get(),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    # Headers.
    "no Host": get(headers=b""),
    "two Hosts": get(headers=b"Host: x\r\nHost: y\r\n"),
    "the same Host twice": get(headers=b"Host: x\r\nHost: x\r\n"),
    "two Hosts in HTTP/1.0": get(b"GET /health HTTP/1.0", b"Host: x\r\nHost: y\r\n"),
    "a Host with a blank": get(headers=b"Host: x y\r\n"),
    "a Host with a path": get(headers=b"Host: x/y\r\n"),
    "a Host with a name before it": get(headers=b"Host: a@x\r\n"),
    "a list of Hosts": get(headers=b"Host: x, y\r\n"),
    "a blank before a colon": get(headers=b"Host : x\r\n"),
    "a tab before a colon": get(headers=b"Host: x\r\nX-A\t: b\r\n"),
    "no name": get(headers=b"Host: x\r\n: b\r\n"),
    "no colon": get(headers=b"Host: x\r\nNothing\r\n"),
    "a blank in a name": get(headers=b"Host: x\r\nX A: b\r\n"),
    "a name that is not a token": get(headers=b"Host: x\r\nX(A): b\r\n"),
    "a name above 127": get(headers=b"Host: x\r\nX\xc3\xa9: b\r\n"),
    "a folded value": get(headers=b"Host: x\r\nX-A: b\r\n c\r\n"),
    "a value folded by a tab": get(headers=b"Host: x\r\nX-A: b\r\n\tc\r\n"),
    "a blank before the first name": get(headers=b" Host: x\r\n"),
    "a folded Content-Length": post(b"Content-Length:\r\n " + SIZE + b"\r\n", BODY),
    "a folded Transfer-Encoding": chunked(CHUNK + LAST, b"Transfer-Encoding:\r\n chunked\r\n"),
    "NUL in a value": get(headers=b"Host: x\r\nX-A: b\0c\r\n"),
    "NUL in a name": get(headers=b"Host: x\r\nX\0A: b\r\n"),
    "a carriage return in a value": get(headers=b"Host: x\r\nX-A: b\rc\r\n"),
    "a line feed in a value": get(headers=b"Host: x\r\nX-A: b\nX-C: d\r\n"),
    "a bell in a value": get(headers=b"Host: x\r\nX-A: \x07\r\n"),
    # Content-Length.
    "a negative length": sized(b"-1"),
    "a length with a plus": sized(b"+" + SIZE),
    "a length in hex": sized(b"0x20"),
    "a length with a fraction": sized(b"5.0"),
    "a length with an exponent": sized(b"5e0"),
    "a length of words": sized(b"five"),
    "an empty length": sized(b""),
    "two numbers in a length": sized(SIZE + b" " + SIZE),
    "a list of lengths": sized(SIZE + b"," + SIZE),
    "a list of two lengths": sized(SIZE + b", 3"),
    "the same length twice": post((b"Content-Length: " + SIZE + b"\r\n") * 2, BODY),
    "two lengths": post(b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(HIDDEN), HIDDEN),
    "a length in small letters and another": post(b"content-length: 0\r\nContent-Length: %d\r\n" % len(HIDDEN), HIDDEN),
    "a length of 20 digits": sized(b"99999999999999999999"),
    "a length of 64 bits and one": sized(b"18446744073709551617"),
    "a length in quotes": sized(b'"' + SIZE + b'"'),
    # Transfer-Encoding.
    "a length and chunks": post(b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", LAST + HIDDEN),
    "chunks and a length": post(b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", LAST + HIDDEN),
    "chunked twice": chunked(CHUNK + LAST, b"Transfer-Encoding: chunked\r\n" * 2),
    "chunked, chunked": chunked(CHUNK + LAST, b"Transfer-Encoding: chunked, chunked\r\n"),
    "gzip, chunked": chunked(CHUNK + LAST, b"Transfer-Encoding: gzip, chunked\r\n"),
    "chunked, gzip": chunked(CHUNK + LAST, b"Transfer-Encoding: chunked, gzip\r\n"),
    "gzip for a coding": chunked(CHUNK + LAST, b"Transfer-Encoding: gzip\r\n"),
    "identity": chunked(CHUNK + LAST, b"Transfer-Encoding: identity\r\n"),
    "an empty coding": chunked(CHUNK + LAST, b"Transfer-Encoding:\r\n"),
    "xchunked": chunked(CHUNK + LAST, b"Transfer-Encoding: xchunked\r\n"),
    "chunked with a parameter": chunked(CHUNK + LAST, b"Transfer-Encoding: chunked;a=b\r\n"),
    "chunked in quotes": chunked(CHUNK + LAST, b'Transfer-Encoding: "chunked"\r\n'),
    "chunked behind a vertical tab": chunked(CHUNK + LAST, b"Transfer-Encoding: \x0bchunked\r\n"),
    "chunked in HTTP/1.0": b"POST /v1/count HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK + LAST,
    "chunked and a length in HTTP/1.0":
        b"POST /v1/count HTTP/1.0\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST + HIDDEN,
    # Chunks.
    "no size": chunked(b"\r\n" + BODY + b"\r\n" + LAST),
    "a negative size": chunked(b"-" + CHUNK + LAST),
    "a size with a plus": chunked(b"+" + CHUNK + LAST),
    "a size with 0x": chunked(b"0x" + CHUNK + LAST),
    "a size of words": chunked(b"zz\r\n" + BODY + b"\r\n" + LAST),
    "a size of 17 digits": chunked(b"1" + b"0" * 16 + b"\r\n" + BODY),
    "a size of 64 bits and one": chunked(b"fffffffffffffffff\r\n" + BODY),
    "a blank before a size": chunked(b" " + CHUNK + LAST),
    "a line feed alone after a size": chunked(HEX + b"\n" + BODY + b"\r\n" + LAST),
    "a carriage return alone after a size": chunked(HEX + b"\r" + BODY + b"\r\n" + LAST),
    "a size that is too small": chunked(b"3\r\n" + BODY + b"\r\n" + LAST),
    "no line end after a chunk": chunked(HEX + b"\r\n" + BODY + LAST),
    "a line feed alone after a chunk": chunked(HEX + b"\r\n" + BODY + b"\n" + LAST),
    "a line feed alone after the last chunk": chunked(CHUNK + b"0\n\n" + HIDDEN),
    "a line feed in an extension": chunked(HEX + b";a\nb\r\n" + BODY + b"\r\n" + LAST),
    "an extension that is not one": chunked(HEX + b" x\r\n" + BODY + b"\r\n" + LAST),
    "a trailer without a colon": chunked(CHUNK + b"0\r\nNothing\r\n\r\n"),
    "a trailer that would be a length": chunked(CHUNK + b"0\r\nContent-Length: 50\r\n\r\n"),
    "a trailer with NUL": chunked(CHUNK + b"0\r\nX: \0\r\n\r\n"),
}

# Other statuses than 400.
REFUSED_AS = {
    "a length above the limit": (sized(b"%d" % (LIMIT + 1)), 413),
    "a length of 19 digits": (sized(b"9" * 19), 413),
    "a chunk above the limit": (chunked(b"%x\r\n" % (LIMIT + 1)), 413),
    "a chunk of 64 bits": (chunked(b"f" * 16 + b"\r\n"), 413),
    "a header of 70,000 bytes": (get(headers=b"Host: x\r\nX: " + b"x" * 70_000 + b"\r\n"), 431),
    "20,000 headers": (get(headers=b"Host: x\r\n" + b"a: b\r\n" * 20_000), 431),
}


def statuses(got):
    """Of all answers; the body of each is as long as it says."""
    found = []
    while got:
        head, _, rest = got.partition(b"\r\n\r\n")
        found.append(int(head.split(b" ")[1]))
        length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        is_head = len(found) == 1 and rest.startswith(b"HTTP/1.1")
        got = rest if is_head else rest[length:]
    return found


class Framing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Upstream({"gpt-4o": 8192}))
        cls.gateway = Gateway(cls.upstream, max_request_bytes=LIMIT)
        cls.addClassCleanup(cls.gateway.close)

    def exchange(self, data):
        with self.gateway.dial() as line:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                line.sendall(data)
            return read_all(line)

    def test_what_has_one_meaning_is_answered_and_the_connection_goes_on(self):
        for name, (data, wanted) in ANSWERED.items():
            with self.subTest(name):
                self.assertEqual(statuses(self.exchange(data + PROBE)), [*wanted, 200])

    def test_what_could_have_two_is_refused_and_the_connection_closed(self):
        for name, data in REFUSED.items():
            with self.subTest(name):
                got = self.exchange(data + PROBE)
                self.assertEqual(statuses(got), [400], got)
                self.assertIn(b"Connection: close", got)
        for name, (data, status) in REFUSED_AS.items():
            with self.subTest(name):
                self.assertEqual(statuses(self.exchange(data + PROBE)), [status])

    def test_the_same_however_the_bytes_arrive(self):
        wanted = {name: statuses for name, (_, statuses) in ANSWERED.items()} | {name: [400] for name in REFUSED}
        cases = {name: data for name, (data, _) in ANSWERED.items()} | REFUSED
        for name in ["one empty line before", "a chunk's extension", "a trailer", "two at once", "two Hosts",
                     "a folded Content-Length", "a line feed alone after a size"]:
            with self.subTest(name), self.gateway.dial() as line:
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    for one in cases[name] + PROBE:
                        line.sendall(b"%c" % one)
                        time.sleep(0.0002)
                after = [] if name in REFUSED else [200]
                self.assertEqual(statuses(read_all(line)), wanted[name] + after)

    def test_a_body_that_is_too_long_is_refused_in_the_form_of_the_api(self):
        for line, headers, wanted in [
                (b"POST /v1/messages HTTP/1.1", b"", {"type": "error", "error": {"type": "request_too_large"}}),
                (b"POST /v1/models HTTP/1.1", b"anthropic-version: 2023-06-01\r\n",
                 {"type": "error", "error": {"type": "request_too_large"}}),
                (b"POST /api/chat HTTP/1.1", b"", {}),
                (b"POST /v1/chat/completions HTTP/1.1", b"", {"error": {"type": "invalid_request_error", "param": None}})]:
            with self.subTest(line):
                got = self.exchange(get(line, b"Host: x\r\n" + headers + b"Content-Length: %d\r\n" % (LIMIT + 1)))
                self.assertEqual(statuses(got), [413], got)
                body = json.loads(got.partition(b"\r\n\r\n")[2])
                error = body["error"]
                message = error.pop("message") if wanted else error
                self.assertIn(f"{LIMIT} bytes (max_request_bytes)", message)
                self.assertEqual(body.get("type"), wanted.get("type"))
                if wanted:
                    self.assertLessEqual(wanted["error"].items(), error.items())

    def test_framing_without_end_is_ended(self):
        before = self.gateway.rss()
        small = b"1;" + b"x" * 1000 + b"\r\n \r\n"
        for name, begin, piece in [("an extension", HEX + b";a=", b"x" * 65_536),
                                   ("extensions of small chunks", b"", small * 64),
                                   ("digits of a size", b"", b"0" * 65_536),
                                   ("a trailer", CHUNK + b"0\r\nX: ", b"x" * 65_536),
                                   ("trailers", CHUNK + b"0\r\n", b"X: y\r\n" * 10_000)]:
            with self.subTest(name), self.gateway.dial(chunked(begin)) as line:
                sent = 0
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    while sent < 100 * LIMIT:
                        line.sendall(piece)
                        sent += len(piece)
                self.assertLess(sent, 60 * LIMIT, "it was read without end")
                with contextlib.suppress(ConnectionResetError):
                    got = read_all(line)
                    self.assertIn(statuses(got)[0], (400, 413), got)
        if not SANITIZED:
            self.assertLess(self.gateway.rss() - before, 30)


if __name__ == "__main__":
    unittest.main()
