"""A quiet key asks while a noisy one does its worst, to see whether the quiet one notices.

  python neighbours.py [COUNT]

COUNT requests of each kind, 100 unless told, are timed alone and then beside the noise. The 99th percentile may be
three times as long, or a quarter of a second longer where that is more: a few milliseconds alone say little of a machine
with few cores. The exit status is 1 if one is longer. The last line is a summary.
"""

import multiprocessing
import sys
import time

from gateway import CHAT, SLOW, Gateway, user
from test_keys import add_key, bearer, wait_for
from upstream import Upstream

TIMES, SHORT = 3, 0.25 * SLOW / 4  # seconds
TEXTS = [f"Lake number {n} lies between hills and has a depth of {n % 97} metres at its deepest place. " * 6 for n in range(512)]
QUIET = {
    "chat": (CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")}),
    "long chat": (CHAT, {"model": "gpt-4o", "messages": user("ship " * 7000), "max_tokens": 100}),
    "count": ("/v1/count", {"model": "gpt-4o", "text": "Ahoy there"}),
    "models": ("/v1/models", None),
    "indexes": ("/indexes", None),
}
NOISE = [
    ("/v1/embeddings", {"model": "all-minilm-l6-v2", "input": TEXTS}),
    ("/index", {"index_name": "noise", "documents": [{"text": "\n".join(TEXTS * 4)}]}),
    ("/admin/models/refresh", {}),
    ("/v1/models", None),
    (CHAT, {"model": "stall/gpt-4o", "messages": user("Ahoy!")}),
    (CHAT, {"model": "gpt-4o", "messages": user("ship " * 7000), "max_tokens": 100}),
]


def p99(gateway, key, asked, count):
    took = []
    for _ in range(count):
        begun = time.monotonic()
        reply = gateway.ask(*asked, headers=bearer(key))
        took.append(time.monotonic() - begun)
        if reply.status != 200:
            raise AssertionError(f"{asked[0]}: {reply.status} {reply.body[:300]!r}")
    return sorted(took)[int(0.99 * (len(took) - 1))]


class Noise(multiprocessing.Process):  # so that it does not take turns with whoever measures
    def __init__(self, gateway, key, asked, over):
        super().__init__(daemon=True)
        self.gateway, self.key, self.asked, self.over = gateway, key, asked, over

    def run(self):
        while not self.over.is_set():
            try:
                self.gateway.ask(*self.asked, headers=bearer(self.key))
            except (OSError, AssertionError):
                self.over.wait(0.01)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with Upstream({"gpt-4o": 8192, "stall/gpt-4o": 8192}) as upstream:
        gateway = Gateway(upstream)
        try:
            quiet, noisy = add_key(gateway, "quiet"), add_key(gateway, "noisy")
            wait_for(lambda: gateway.ask("/v1/models").status == 401, "the gateway to ask for keys")
            alone = {name: p99(gateway, quiet, asked, count) for name, asked in QUIET.items()}
            over = multiprocessing.Event()
            for asked in NOISE * 2:
                Noise(gateway, noisy, asked, over).start()
            time.sleep(2)
            beside = {name: p99(gateway, quiet, asked, count) for name, asked in QUIET.items()}
            over.set()
        finally:
            gateway.close()
    worse = [name for name in QUIET if beside[name] > max(TIMES * alone[name], alone[name] + SHORT)]
    for name in QUIET:
        print(f"{name}: p99 {1000 * alone[name]:.1f} ms alone, {1000 * beside[name]:.1f} ms beside the noise")
    print(f"{count} requests of {len(QUIET)} kinds: " + (f"too slow: {', '.join(worse)}" if worse else "all within the bound"))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
