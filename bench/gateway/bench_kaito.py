"""RAGEngine's own workload, over its own routes. `make bench-kaito` runs it.

  python3 bench/gateway/bench_kaito.py [--plimsoll PATH] [--binaries FOLDER]

1,000 documents of about 180 tokens, an upstream that answers at once, on loopback. RAGEngine is not run: its figures are
those that were RECORDED of version 0.12 with the same workload and embedder on a quiet machine of another kind, and stand
beside ours with that label. Prints a table, writes build/bench/kaito.json, and exits with 1 if a target is missed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import chats
import servers

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS, AT_ONCE, A_REQUEST = 1_000, 16, 50
QUESTIONS = 200

RECORDED = {"start_s": 42, "idle_mb": 1_100, "loaded_mb": 1_900, "documents_per_s": 27, "index_cpu_ms": 71, "chat_p50_ms": 87,
            "chat_p99_ms": 161, "chat_cpu_ms": 99, "chat_16_p50_ms": 1_457, "chat_16_per_s": 10, "through_p50_ms": 5.3,
            "through_cpu_ms": 5.1, "retrieve_p50_ms": 251, "retrieve_cpu_ms": 324, "retrieve_16_p50_ms": 6_000}
NAMES = {"start_s": "start, s", "idle_mb": "memory when idle, MB", "loaded_mb": "memory with the documents, MB",
         "documents_per_s": "indexing, documents a second", "index_cpu_ms": "indexing, ms of CPU a document",
         "chat_p50_ms": "chat with the index, p50 ms", "chat_p99_ms": "chat with the index, p99 ms",
         "chat_cpu_ms": "chat with the index, ms of CPU", "chat_16_p50_ms": "16 chats at once, p50 ms",
         "chat_16_per_s": "16 chats at once, a second", "through_p50_ms": "chat without one, p50 ms",
         "through_cpu_ms": "chat without one, ms of CPU", "retrieve_p50_ms": "/retrieve, p50 ms",
         "retrieve_cpu_ms": "/retrieve, ms of CPU", "retrieve_16_p50_ms": "16 /retrieve at once, p50 ms"}
MORE_IS_BETTER = {"documents_per_s", "chat_16_per_s"}
TARGETS = {"chat_cpu_ms": 20, "retrieve_cpu_ms": 50, "loaded_mb": 10, "start_s": 100}  # times better, at least


def post(port, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.figures = options, folder, {}

    def load(self, server, path, bodies, connections, requests):
        """p50 and p99, requests a second and the CPU of one."""
        before, began = server.cpu_s(), time.perf_counter()
        told = subprocess.run([str(self.options.binaries / "gateway_load"), str(server.port), path, str(bodies),
                               str(connections), str(requests), "60"], capture_output=True, text=True, check=True)
        took, spent = time.perf_counter() - began, server.cpu_s() - before
        told = json.loads(told.stdout)
        if told["errors"]:
            raise SystemExit(f"bench: {path}: {told['errors']} errors of {requests}: {told['problem']}")
        return told["p50_ms"], told["p99_ms"], requests / took, spent / requests * 1000

    def index(self, server, made):
        texts = [" ".join(made.text(14).capitalize() + "." for _ in range(9)) for _ in range(DOCUMENTS)]
        before, began = server.cpu_s(), time.perf_counter()
        for start in range(0, DOCUMENTS, A_REQUEST):
            post(server.port, "/index", {"index_name": "bench", "documents": [{"text": text} for text in texts[start:start + A_REQUEST]]})
        self.figures["documents_per_s"] = DOCUMENTS / (time.perf_counter() - began)
        self.figures["index_cpu_ms"] = (server.cpu_s() - before) / DOCUMENTS * 1000

    def ask(self, server, made):
        questions = [made.text(9) + "?" for _ in range(QUESTIONS)]
        chat = chats.write(self.folder / "chat.jsonl", [
            {"model": "gpt-4o-mini", "index_name": "bench", "messages": [{"role": "user", "content": one}]} for one in questions])
        plain = chats.write(self.folder / "plain.jsonl", [chats.small()])
        retrieve = chats.write(self.folder / "retrieve.jsonl", [
            {"index_name": "bench", "query": one, "max_node_count": 5} for one in questions])
        figures = self.figures
        for name, path, bodies in [("chat", "/v1/chat/completions", chat), ("through", "/v1/chat/completions", plain),
                                   ("retrieve", "/retrieve", retrieve)]:
            self.load(server, path, bodies, 1, 20)
            figures[f"{name}_p50_ms"], p99, _, figures[f"{name}_cpu_ms"] = self.load(server, path, bodies, 1, QUESTIONS)
            if name == "through":
                continue
            figures[f"{name}_16_p50_ms"], _, per_s, _ = self.load(server, path, bodies, AT_ONCE, 2 * QUESTIONS)
            if name == "chat":
                figures["chat_p99_ms"], figures["chat_16_per_s"] = p99, per_s

    def run(self):
        made = chats.Chats()
        with servers.start_upstream(self.options.binaries, self.folder) as upstream, \
                servers.start_plimsoll(self.options.plimsoll, upstream.port, self.folder) as server:
            self.figures["start_s"] = server.ready_ms / 1000
            self.figures["idle_mb"] = server.rss_mb()[0]
            self.index(server, made)
            self.ask(server, made)
            self.figures["loaded_mb"] = server.rss_mb()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--binaries", type=Path, default=ROOT / "build" / "bench", help="where the upstream and the load are")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench" / "kaito.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        bench = Bench(options, Path(folder))
        bench.run()
    missed = 0
    rows = []
    print(f"{'':34}{'plimsoll':>10}{'RAGEngine 0.12, recorded':>27}{'times better':>14}")
    for key, name in NAMES.items():
        ours, theirs = bench.figures[key], RECORDED[key]
        better = ours / theirs if key in MORE_IS_BETTER else theirs / ours
        target = TARGETS.get(key)
        met = target is None or better >= target
        missed += not met
        verdict = "" if target is None else f"  {'met' if met else 'MISSED'}: at least {target}"
        print(f"{name:34}{ours:10,.2f}{theirs:27,}{better:14,.1f}{verdict}")
        rows.append({"what": name, "plimsoll": ours, "ragengine_0.12_recorded": theirs, "times_better": better, "target": target})
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"documents": DOCUMENTS, "rows": rows}, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
