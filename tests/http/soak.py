"""Mixed requests against one gateway for as long as it takes, to see whether it grows or errs.

  python soak.py [COUNT]

COUNT is 2,000 unless told. Every kind of answer is checked for its status; memory at the end is compared with that
after the first tenth. The exit status is 1 if anything was not as it should be. The last line is a summary.
"""

import collections
import http.client
import itertools
import json
import socket
import sys
import threading
import time

from gateway import CHAT, SANITIZED, SLOW, Gateway, http_request, long_history, user
from upstream import Upstream

THREADS = 8
GROWTH_MB = 20.0  # heaps of several threads settle late; of 100,000 requests a leak of 230 bytes each shows
LINES = {f"line{number}.txt": f"Load line number {number} is painted {number + 3} fathoms above the keel."
         for number in range(40)}


def chat(model, messages, **fields):
    return CHAT, {"model": model, "messages": messages} | fields


PLANNED = long_history(40)
KINDS = [  # what is asked, and which status comes back
    (chat("gpt-4o", user("Ahoy")), 200),
    (chat("gpt-4o", user("Ahoy"), stream=True), 200),
    (chat("qwen2.5:7b", PLANNED, max_tokens=300), 200),
    (chat("qwen2.5:7b", PLANNED, max_tokens=300, stream=True), 200),
    (chat("gpt-4o", user("Where is load line number 7?"), index_name="lines"), 200),
    (chat("gpt-4o+lines", user("Where is load line number 9?"), stream=True), 200),
    (chat("gpt-4o", user("ship " * 9000)), 400),
    (chat("nothing", user("x"), index_name="nowhere"), 404),
    (chat("429/gpt-4o", user("x")), 429),
    (("/v1/completions", {"model": "gpt-4o", "prompt": "Ahoy"}), 200),
    (("/v1/count", {"model": "gpt-4o", "text": "Ahoy there"}), 200),
    (("/v1/plan", {"model": "gpt-4o", "messages": PLANNED}), 200),
    (("/v1/models", None), 200),
    (("/nowhere", None), 404),
    ((CHAT, "{ broken"), 400),
    ((CHAT, None), 405),
]


class Asker(threading.Thread):
    """Takes its turns until there are none left, over a connection that is kept."""

    def __init__(self, gateway, turns, seen):
        super().__init__(daemon=True)
        self.gateway, self.turns, self.seen = gateway, turns, seen
        self.line = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30 * SLOW)

    def run(self):
        for turn in self.turns:
            (path, body), wanted = KINDS[turn % len(KINDS)]
            try:
                got = self.ask(path, body)
                if turn % 97 == 0:
                    self.leave()
            except (OSError, http.client.HTTPException) as error:
                got = repr(error)
                self.line.close()
            self.seen[got == wanted, "" if got == wanted else f"{path} of kind {turn % len(KINDS)}: {got}"] += 1
        self.line.close()

    def ask(self, path, body):
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        self.line.request("GET" if body is None else "POST", path, text, {"Content-Type": "application/json"})
        reply = self.line.getresponse()
        data = reply.read()
        is_stream = isinstance(body, dict) and body.get("stream")
        if is_stream and reply.status == 200 and not data.endswith(b"data: [DONE]\n\n"):
            return "a stream without an end"
        return reply.status

    def leave(self):
        """A client that goes away in the middle of its answer."""
        with socket.create_connection(("127.0.0.1", self.gateway.port)) as line:
            line.sendall(http_request({"model": "qwen2.5:7b", "messages": PLANNED, "stream": True}))


def ask_all(gateway, turns, seen):
    shared = iter(turns)
    lock = threading.Lock()

    def taken():
        while True:
            with lock:
                turn = next(shared, None)
            if turn is None:
                return
            yield turn

    askers = [Asker(gateway, taken(), seen) for _ in range(THREADS)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()


def soak(count):
    seen = collections.Counter()
    with Upstream({"gpt-4o": 8192, "qwen2.5:7b": 4096, "429/gpt-4o": 8192}) as upstream:
        upstream.keeps = False
        gateway = Gateway(upstream, trace_count=1000)
        try:
            (gateway.folder / "lines").mkdir()
            for name, text in LINES.items():
                (gateway.folder / "lines" / name).write_text(text)
            gateway.run("index", "add", "lines", "lines", "--quiet")
            begin = time.monotonic()
            numbers = itertools.count()
            ask_all(gateway, itertools.islice(numbers, count // 10), seen)
            first = gateway.rss()
            ask_all(gateway, itertools.islice(numbers, count - count // 10), seen)
            took, last = time.monotonic() - begin, gateway.rss()
        finally:
            gateway.close()
    wrong = {what: times for (good, what), times in seen.items() if not good}
    for what, times in wrong.items():
        print(f"unexpected, {times} times: {what}")
    asked = sum(seen.values())
    grew = last - first
    print(f"{asked} requests in {took:.1f} s, {sum(wrong.values())} unexpected; {first:.1f} MB after the first tenth, "
          f"{last:.1f} MB at the end ({grew:+.1f})")
    return not wrong and asked == count and grew <= GROWTH_MB * (SLOW if SANITIZED else 1)


if __name__ == "__main__":
    sys.exit(0 if soak(int(sys.argv[1]) if len(sys.argv) > 1 else 2000) else 1)
