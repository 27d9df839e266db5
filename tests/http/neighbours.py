"""A quiet key asks and writes while a noisy one does its worst with every API, to see whether the quiet one notices.

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
import gzip
import itertools
import json
import multiprocessing
import os
import socket
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
MB = 1_000_000


def mcp(tool, **arguments):
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def packed(body):
    return gzip.compress(json.dumps(body).encode()), None, {"Content-Encoding": "gzip"}


# Path, body and, where they are not the usual ones, method and headers. A body may be a function of the number of the request.
QUIET = {
    "chat": (CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")}),
    "long chat": (CHAT, {"model": "gpt-4o", "messages": LONG, "max_tokens": 100}),
    "chat with documents": (CHAT, {"model": "gpt-4o", "messages": user("How deep is lake 7?"), "index_name": "quiet"}),
    "message": ("/v1/messages", {"model": "gpt-4o", "messages": user("Ahoy!"), "max_tokens": 100}),
    "count": ("/v1/count", {"model": "gpt-4o", "text": "Ahoy there"}),
    "plan": ("/v1/plan", {"model": "gpt-4o", "messages": user("Ahoy!")}),
    "models": ("/v1/models", None),
    "indexes": ("/indexes", None),
    "add a document": ("/index", lambda n: {"index_name": "quiet", "documents": [{"text": f"Lake {n} froze in {1800 + n}."}]}),
    "add a memory": ("/v1/memories", lambda n: {"text": f"Prefers lake {n} in autumn."}),
    "message of a session": ("/chat/message", lambda n: {"message": f"How deep is lake {n}?", "collection_id": "quiet",
                                                         "model_name": "gpt-4o", "session_id": "talk"}),
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
    ("/v1/completions", {"model": LOUD, "prompt": "ship " * 7000, "max_tokens": 100}),
    ("/v1/completions", {"model": f"stall/{LOUD}", "prompt": "Ahoy!", "max_tokens": 100}),
    ("/v1/messages", {"model": LOUD, "messages": LONG, "max_tokens": 100}),
    ("/v1/messages", {"model": f"stall/{LOUD}", "messages": user("Ahoy!"), "max_tokens": 100, "stream": True}),
    ("/api/chat", {"model": LOUD, "messages": LONG, "options": {"num_predict": 100}}),
    ("/api/chat", {"model": f"stall/{LOUD}", "messages": user("Ahoy!")}),
    ("/api/embed", {"model": "all-minilm-l6-v2", "input": TEXTS}),
    ("/mcp", mcp("search_documents", index="noise", query="How deep is lake 7?")),
    ("/mcp", mcp("plan_context", request={"model": "gpt-4o", "messages": LONG})),
    ("/v1/memories", lambda n: {"text": f"Memory {n % 2000} is about lake {n}."}),
    ("/v1/memories?query=lake", None),
    ("/chat/message", {"message": "How deep is lake 7?", "collection_id": "noise", "model_name": LOUD, "session_id": "loud"}),
    ("/v1/traces?limit=500", None),
    (CHAT, *packed({"model": LOUD, "messages": LONG, "max_tokens": 100})),
    ("/v1/count", *packed({"model": LOUD, "text": "ship " * (2 * MB)})),
    ("/v1/count", {"model": LOUD, "text": "ship " * (2 * MB)}),
    (CHAT, {"model": LOUD, "messages": user("ship " * (MB // 5)), "max_tokens": 100}),
]


def filled(asked, number):
    """What is asked, with the body of this request."""
    path, body, *rest = asked
    return path, body(number) if callable(body) else body, *rest


NUMBERS = itertools.count()  # so that no quiet document or memory is like another


def p99(gateway, key, asked, count):
    took = []
    for _ in range(count):
        request = filled(asked, next(NUMBERS))
        begun = time.monotonic()
        reply = gateway.ask(*request, headers=bearer(key))
        took.append(time.monotonic() - begun)
        if reply.status not in (200, 201):
            raise AssertionError(f"{asked[0]}: {reply.status} {reply.body[:300]!r}")
    return sorted(took)[int(0.99 * (len(took) - 1))]


def give_way():
    os.nice(19)


def noise(gateway, key, asked, over):
    give_way()
    statuses = collections.Counter()
    if isinstance(asked[1], dict):
        asked = asked[0], json.dumps(asked[1]).encode(), *asked[2:]  # once: some are large
    for number in itertools.count(os.getpid()):
        if over.is_set():
            break
        path, body, method, headers = (*filled(asked, number), None, None)[:4]
        with contextlib.suppress(OSError):
            statuses[gateway.ask(path, body, method, bearer(key) | (headers or {}), timeout=30).status] += 1
        over.wait(0.001)
    print(f"noise: {asked[0]} {dict(statuses)}")


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
        # The third server accepts connections and never answers.
        with Upstream({"gpt-4o": 8192}) as upstream, socket.create_server(("127.0.0.1", 0), backlog=1024) as silent:
            upstream.keeps = False
            servers = upstream, told.get(), f"silent=http://127.0.0.1:{silent.getsockname()[1]}"
            with serving(*servers) as gateway, serving(*servers) as other:
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
