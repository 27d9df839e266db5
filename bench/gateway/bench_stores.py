"""What a store on PostgreSQL costs a gateway, beside a store in a file, and three gateways beside one. `make bench-stores`
runs it.

  python3 bench/gateway/bench_stores.py [--plimsoll PATH] [--binaries FOLDER] [--rounds N]

One upstream that answers at once and five keys. With limits each request is reserved and settled; each is kept as a trace.
Each of the three gateways has the load that the one has. CPU time of the gateways' processes, divided by requests; PostgreSQL's own is reported beside it. Measured in turn, the median
of the rounds counts. Prints a table, writes build/bench/stores.json, and exits with 1 if a target is missed.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chats
import servers

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from postgres import Postgres  # noqa: E402

KEYS, CONNECTIONS = 5, 3  # of each key, at each gateway
DOCUMENTS = 1_000
SECONDS = 120  # no load lasts longer
LIMITS = ("--requests-per-minute", "100000000", "--tokens-per-day", "1000000000000")


class Gateways:
    """One or more gateways on one store, and the keys that they are asked with."""

    def __init__(self, options, stack, name, folder, upstream, count=1, store=None):
        self.options, self.name = options, name
        environment = os.environ | ({"PLIMSOLL_STORE": store, "PLIMSOLL_INDEX_CACHE_DIR": str(folder / "search-data")} if store else {})
        place = [] if store else ["--store", folder / "store.db"]
        if name != "three":  # which has the store of "postgresql"
            subprocess.run([options.plimsoll, *(["--set", f"store_file={folder}/store.db"] if not store else []), "index", "add",
                            "bench", folder / "documents", "--json"], env=environment, capture_output=True, check=True, cwd=folder)
        self.keys = {}
        for limits in (LIMITS, ()):
            self.keys[bool(limits)] = [self.add_key(f"{name}-{number}-{len(limits)}", limits, place, folder, environment) for number in range(KEYS)]
        self.servers = [stack.enter_context(servers.start_plimsoll(options.plimsoll, upstream, folder, (), f"{name}-{number}", store))
                        for number in range(count)]

    def add_key(self, name, limits, place, folder, environment):
        told = subprocess.run([self.options.plimsoll, "keys", "add", name, *limits, *place, "--json"], env=environment,
                              capture_output=True, text=True, check=True, cwd=folder)
        return json.loads(told.stdout)["secret"]

    def cpu_s(self):
        return sum(server.cpu_s() for server in self.servers)

    def put(self, load, requests, limited):
        """So many requests at each gateway, shared among the keys. Returns the median and the 99th percentile of the slowest part."""
        pairs = [(server, key) for server in self.servers for key in self.keys[limited]]
        each = requests // KEYS

        def one(pair):
            told = subprocess.run([str(self.options.binaries / "gateway_load"), str(pair[0].port), "/v1/chat/completions", str(load),
                                   str(CONNECTIONS), str(each), str(SECONDS), pair[1]],
                                  capture_output=True, text=True, check=True)
            return json.loads(told.stdout)

        with concurrent.futures.ThreadPoolExecutor(len(pairs)) as pool:
            told = list(pool.map(one, pairs))
        for part in told:
            if part["errors"]:
                raise SystemExit(f"bench: {self.name}: {part['errors']} errors of {each}: {part['problem']}")
        return max(part["p50_ms"] for part in told), max(part["p99_ms"] for part in told)


def database_cpu_s(database):
    """Of PostgreSQL and its processes, those that have ended included."""
    server = servers.Program.__new__(servers.Program)
    server.process = database.process
    return server.cpu_s()


def measure(options, what, load, requests, limited, contenders, database):
    costs = {each.name: [] for each in contenders}
    beside = {each.name: [] for each in contenders}
    times = {}
    for each in contenders:
        each.put(load, requests // 10, limited)
    for _ in range(options.rounds):
        for each in contenders:
            before, theirs = each.cpu_s(), database_cpu_s(database)
            times[each.name] = each.put(load, requests, limited)
            time.sleep(1)  # traces are written soon after
            answered = requests // KEYS * KEYS * len(each.servers)
            costs[each.name].append((each.cpu_s() - before) / answered * 1e6)
            beside[each.name].append((database_cpu_s(database) - theirs) / answered * 1e6)
    found = {name: {"cpu_us": statistics.median(rounds), "rounds_us": rounds, "database_us": statistics.median(beside[name]),
                    "p50_ms": times[name][0], "p99_ms": times[name][1]} for name, rounds in costs.items()}
    for name, one in found.items():
        print(f"{what}, {name}: {one['cpu_us']:,.0f} µs of CPU a request, and PostgreSQL's {one['database_us']:,.0f}; "
              f"p50 {one['p50_ms']:.1f} ms, p99 {one['p99_ms']:.1f} ms", flush=True)
    return found


def run(options, folder):
    made = chats.Chats()
    small = chats.write(folder / "small.jsonl", [chats.small(max_tokens=16)])
    ten = chats.write(folder / "ten.jsonl", [made.conversation(10, 155, max_tokens=16) for _ in range(20)])
    chats.write_documents(made, folder / "documents", DOCUMENTS)
    asked = chats.write(folder / "asked.jsonl", [
        {"model": "gpt-4o-mini", "index_name": "bench", "max_tokens": 16, "messages": [{"role": "user", "content": made.text(9) + "?"}]}
        for _ in range(200)])
    loads = {"a small chat, key without limits": (small, options.requests, False),
             "a small chat": (small, options.requests, True),
             "ten messages of 200 tokens": (ten, options.requests // 3, True),
             f"a question over {DOCUMENTS:,} documents": (asked, options.requests // 10, True)}
    figures = {}
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(servers.start_upstream(options.binaries, folder)).port
        database = stack.enter_context(Postgres())
        file = Gateways(options, stack, "file", folder, upstream)
        one = Gateways(options, stack, "postgresql", folder, upstream, store=database.url)
        three = Gateways(options, stack, "three", folder, upstream, count=3, store=database.url)
        for what, (load, requests, limited) in loads.items():
            figures[what] = measure(options, what, load, requests, limited, (file, one, three), database)
    return figures


def judge(figures):
    rows = []
    for what, found in figures.items():
        rows.append((f"{what}: PostgreSQL to a file", found["postgresql"]["cpu_us"] / found["file"]["cpu_us"], 1.5))
        rows.append((f"{what}: three gateways to one", found["three"]["cpu_us"] / found["postgresql"]["cpu_us"], 1.1))
    print()
    for name, figure, most in rows:
        print(f"{name:52}{figure:6.2f} x  {'met' if figure <= most else 'MISSED'}: at most {most}")
    return all(figure <= most for _, figure, most in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--binaries", type=Path, default=ROOT / "build" / "bench", help="where the upstream and the load are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=6_000)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench" / "stores.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        figures = run(options, Path(folder))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if judge(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
