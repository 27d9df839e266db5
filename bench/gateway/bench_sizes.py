"""What documents take: bytes of the store, of search data and of memory, and the time to add them, for a store in a file, one
on PostgreSQL, and one on PostgreSQL with search data on Weaviate. `make bench-sizes` runs it; docs/scale.md computes from it.

  python3 bench/gateway/bench_sizes.py [--plimsoll PATH] [--documents N]

Adds a fifth of the documents, and then the rest: what the rest added, divided by its pieces, is the cost of a piece. Prints a
table and writes build/bench/sizes.json.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import chats
import servers

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from postgres import Postgres  # noqa: E402
from weaviate import Weaviate  # noqa: E402


def folder_bytes(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def of_process(process):
    """A server that another tool has started, as one that can be measured."""
    found = servers.Program.__new__(servers.Program)
    found.process = process
    return found


class Place:
    """Where an index is kept: which settings lead there, and what it takes there."""

    def __init__(self, options, folder, upstream, database=None, nodes=None):
        self.options, self.folder, self.upstream, self.database, self.nodes = options, folder, upstream, database, nodes
        folder.mkdir()
        self.environment = os.environ | {"PLIMSOLL_INDEX_CACHE_DIR": str(folder / "search-data")}
        if database:
            self.environment["PLIMSOLL_STORE"] = database.url
        else:
            self.environment["PLIMSOLL_STORE_FILE"] = str(folder / "store.db")
        if nodes:
            self.environment["PLIMSOLL_INDEX_STORE"] = nodes.url

    def add(self, documents):
        """Returns the seconds, and those of the processor at this program, PostgreSQL and Weaviate."""
        others = [of_process(self.database.process)] if self.database else []
        others += [of_process(node.process) for node in self.nodes.nodes] if self.nodes else []
        before = [one.cpu_s() for one in others]
        began, used = time.monotonic(), os.times()
        subprocess.run([self.options.plimsoll, "index", "add", "sizes", documents, "--json"], env=self.environment, capture_output=True, check=True)
        took, now = time.monotonic() - began, os.times()
        own = now.children_user + now.children_system - used.children_user - used.children_system
        return {"add_s": took, "add_cpu_s": own, "servers_cpu_s": sum(one.cpu_s() for one in others) - sum(before)}

    def sizes(self):
        """After a search at a gateway that has just started."""
        listed = subprocess.run([self.options.plimsoll, "index", "list", "--json"], env=self.environment, capture_output=True, text=True, check=True)
        (index,) = json.loads(listed.stdout)
        port = servers.free_port()
        with servers.Program("gateway", [self.options.plimsoll, "serve", "--listen", f"127.0.0.1:{port}", "--upstream",
                                         f"http://127.0.0.1:{self.upstream}/v1"], port, "/health", self.folder, environment=self.environment) as gateway:
            began = time.monotonic()
            body = json.dumps({"index_name": "sizes", "query": "Which limit is reserved before a request?"}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{port}/retrieve", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=600) as reply:
                reply.read()
            opened = time.monotonic() - began
            memory = gateway.rss_mb()[0]
        found = {"pieces": index["chunks"], "text": index["bytes"], "tokens": index["tokens"], "gateway": memory * 2**20, "open_s": opened}
        if self.database:
            self.database.query("CHECKPOINT")
            found["store"] = int(self.database.query("SELECT pg_database_size(current_database())"))
            found["search"] = folder_bytes(self.folder / "search-data")
        else:
            found["store"] = sum(path.stat().st_size for path in self.folder.glob("store.db*") if path.is_file())
            found["search"] = folder_bytes(self.folder / "store.db.indexes")
        if self.nodes:
            found["search"] = sum(folder_bytes(node.folder / "data") for node in self.nodes.nodes)
            found["nodes"] = sum(of_process(node.process).rss_mb()[0] for node in self.nodes.nodes) * 2**20
        return found


def measure(place, first, rest):
    place.add(first)
    before = place.sizes()
    added = place.add(rest)
    after = place.sizes()
    pieces = after["pieces"] - before["pieces"]
    each = {name: (after[name] - before[name]) / pieces for name in ("text", "tokens", "store", "search", "gateway", "nodes") if name in after}
    each |= {name: value / pieces for name, value in added.items()}
    return each | {"pieces": pieces, "open_s": after["open_s"]}


def run(options, folder):
    made = chats.Chats()
    chats.write_documents(made, folder / "first", options.documents // 5)
    chats.write_documents(made, folder / "rest", options.documents - options.documents // 5)
    found = {}
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(servers.start_upstream(options.binaries, folder)).port
        for name in ("a file", "PostgreSQL", "PostgreSQL and Weaviate"):
            with contextlib.ExitStack() as here:
                database = here.enter_context(Postgres()) if name != "a file" else None
                nodes = here.enter_context(Weaviate()) if "Weaviate" in name else None
                place = Place(options, folder / name.replace(" ", "-"), upstream, database, nodes)
                found[name] = measure(place, folder / "first", folder / "rest")
                print(name, json.dumps(found[name]), flush=True)
    return found


ROWS = [("text, bytes", "text"), ("tokens", "tokens"), ("store, bytes", "store"), ("search data, bytes", "search"), ("gateway's memory, bytes", "gateway"),
        ("Weaviate's memory, bytes", "nodes")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--binaries", type=Path, default=ROOT / "build" / "bench", help="where the upstream is")
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench" / "sizes.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        found = run(options, Path(folder))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\n{'of a piece':32}" + "".join(f"{name:>26}" for name in found))
    for title, key in ROWS:
        print(f"{title:32}" + "".join(f"{one.get(key, 0):26,.0f}" for one in found.values()))
    for title, key in (("to add, ms", "add_s"), ("to add, ms of processor", "add_cpu_s"), ("of the servers' processors, ms", "servers_cpu_s")):
        print(f"{title:32}" + "".join(f"{one[key] * 1000:26,.2f}" for one in found.values()))
    print(f"{'first search of a gateway, s':32}" + "".join(f"{one['open_s']:26,.2f}" for one in found.values()))


if __name__ == "__main__":
    main()
