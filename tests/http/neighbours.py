"""A quiet key asks while a noisy one does its worst on every route, to see whether the quiet one notices.

  python neighbours.py [COUNT]

COUNT requests of each kind, 200 unless told, are timed three times: alone, beside the same noise at another gateway on this
machine, and beside the noise at its own gateway. The second shows what two cores cost, the third what sharing a
gateway costs. The 99th percentile beside the noise may be three times as long as alone or as beside the other gateway, or
25 ms: on a busy host the same request alone took 0.5 to 24 ms at that percentile. The exit status is 1 if one takes
longer. The last line is a summary.

Whoever makes the noise, and the server that answers it, would have machines of their own; here they are processes that
give way to everybody else, so that what is measured is how the gateway shares its own time.
"""

import collections
import contextlib
import multiprocessing
import os
import sys
import time

from chat import form
from gateway import CHAT, SLOW, serving, user
from test_keys import add_key, bearer, wait_for
from upstream import Upstream

TIMES, SHORT = 3, 0.025 * SLOW / 4  # seconds
TEXTS = [f"Lake number {n} lies between hills and has a depth of {n % 97} metres at its deepest place. " * 6 for n in range(512)]
BOOK = "\n".join(TEXTS * 4)
LONG = user("ship " * 7000)
QUIET = {
    "chat": (CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")}),
    "long chat": (CHAT, {"model": "gpt-4o", "messages": LONG, "max_tokens": 100}),
    "chat with documents": (CHAT, {"model": "gpt-4o", "messages": user("How deep is lake 7?"), "index_name": "quiet"}),
    "message": ("/v1/messages", {"model": "gpt-4o", "messages": user("Ahoy!"), "max_tokens": 100}),
    "count": ("/v1/count", {"model": "gpt-4o", "text": "Ahoy there"}),
    "plan": ("/v1/plan", {"model": "gpt-4o", "messages": user("Ahoy!")}),
    "models": ("/v1/models", None),
    "indexes": ("/indexes", None),
}
LOUD = "loud/gpt-4o"  # of the server that the noisy key alone asks
UPLOAD_TYPE, UPLOAD = form(("collection_id", "uploads"), ("file", "book.txt", BOOK))
NOISE = [
    ("/v1/embeddings", {"model": "all-minilm-l6-v2", "input": TEXTS}),
    ("/index", {"index_name": "noise", "documents": [{"text": BOOK}]}),
    ("/documents?wait=true", UPLOAD, None, {"Content-Type": UPLOAD_TYPE}),
    ("/evaluation/plugin/start-with-questions", {"collection_id": "noise", "llm_model": f"stall/{LOUD}",
                                                 "questions": ["How deep is lake 7?"] * 20}),
    ("/search", {"query": "How deep is lake 7?", "collection_id": "noise", "model_name": LOUD}),
    ("/retrieve", {"index_name": "noise", "query": "How deep is lake 7?", "top_k": 100}),
    ("/admin/models/refresh", {}),
    ("/v1/models", None),
    ("/v1/plan", {"model": LOUD, "messages": LONG}),
    ("/v1/count", {"model": LOUD, "text": BOOK}),
    ("/v1/responses", {"model": LOUD, "input": "ship " * 7000, "max_output_tokens": 100}),
    (CHAT, {"model": f"stall/{LOUD}", "messages": user("Ahoy!")}),
    (CHAT, {"model": LOUD, "messages": LONG, "max_tokens": 100}),
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


def give_way():
    os.nice(19)


def noise(gateway, key, asked, over):
    give_way()
    path, body, method, headers = (*asked, None, None)[:4]
    statuses = collections.Counter()
    while not over.is_set():
        with contextlib.suppress(OSError):
            statuses[gateway.ask(path, body, method, bearer(key) | (headers or {}), timeout=30).status] += 1
        over.wait(0.001)
    print(f"noise: {path} {dict(statuses)}")


def loud_server(told, over):
    give_way()
    with Upstream({LOUD: 8192, f"stall/{LOUD}": 8192}) as upstream:
        upstream.keeps = False
        told.put(upstream.url)
        over.wait()


def with_keys(gateway):
    """The keys of a gateway's two owners, each with an index of its own."""
    keys = add_key(gateway, "quiet"), add_key(gateway, "noisy")
    wait_for(lambda: gateway.ask("/v1/models").status == 401, "the gateway to ask for keys")
    for key, name in zip(keys, ("quiet", "noise")):
        made = gateway.ask("/index", {"index_name": name, "documents": [{"text": one} for one in TEXTS[:50]]}, headers=bearer(key))
        if made.status != 200:
            raise AssertionError(made.body)
    return keys


@contextlib.contextmanager
def noise_at(gateway, key):
    """Two processes for each kind of noise, for a block."""
    over = multiprocessing.Event()
    processes = [multiprocessing.Process(target=noise, args=(gateway, key, asked, over), daemon=True) for asked in NOISE * 2]
    for one in processes:
        one.start()
    try:
        time.sleep(2)
        yield
    finally:
        over.set()
        for one in processes:
            one.join(40)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    over, told = multiprocessing.Event(), multiprocessing.Queue()
    loud = multiprocessing.Process(target=loud_server, args=(told, over))
    loud.start()
    try:
        with Upstream({"gpt-4o": 8192}) as upstream:
            upstream.keeps = False
            loud_url = told.get()
            with serving(upstream, loud_url) as gateway, serving(upstream, loud_url) as other:
                quiet, noisy = with_keys(gateway)
                _, noisy_there = with_keys(other)
                def measured():
                    return {name: p99(gateway, quiet, asked, count) for name, asked in QUIET.items()}
                alone = measured()
                with noise_at(other, noisy_there):
                    beside_another = measured()
                with noise_at(gateway, noisy):
                    beside = measured()
    finally:
        over.set()
        loud.join(20)
    worse = [name for name in QUIET if beside[name] > max(TIMES * max(alone[name], beside_another[name]), SHORT)]
    for name in QUIET:
        print(f"{name}: p99 {1000 * alone[name]:.1f} ms alone, {1000 * beside_another[name]:.1f} ms beside the noise at another "
              f"gateway, {1000 * beside[name]:.1f} ms beside the noise at its own")
    print(f"{count} requests of {len(QUIET)} kinds: " + (f"too slow: {', '.join(worse)}" if worse else "all within the bound"))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
