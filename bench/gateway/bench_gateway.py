"""What the gateway costs, beside nginx and LiteLLM's proxy. `make bench-gateway` runs it.

  python3 bench/gateway/bench_gateway.py [--plimsoll PATH] [--binaries FOLDER] [--rounds N] [--without-litellm]

One upstream that answers at once, one load, on loopback; the CPU time of each server's processes, divided by requests.
Servers are measured in turn, and of the rounds the median counts. Prints a table, writes build/bench/gateway.json, and
exits with 1 if a target is missed.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import chats
import servers

ROOT = Path(__file__).resolve().parent.parent.parent
CONNECTIONS, MANY = 16, 1_000
EVENTS = 50  # chunks of a stream
SECONDS = 60  # no load lasts longer
DOCUMENTS = 1_000
REST_S = 7  # the gateway gives memory back every five seconds


@dataclass
class Load:
    """Requests of one kind; `light` of them are enough for servers that take milliseconds for each."""

    name: str
    bodies: Path
    requests: int
    light: int
    per: str = "request"
    path: str = "/v1/chat/completions"
    connections: int = CONNECTIONS

    def units(self, requests):
        return requests * (EVENTS if self.per == "chunk" else 1)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.figures = {}
        self.rows = []  # (name, figure, target, whether it was met)

    def put(self, server, load, requests):
        told = subprocess.run([str(self.options.binaries / "gateway_load"), str(server.port), load.path, str(load.bodies),
                               str(load.connections), str(requests), str(SECONDS)],
                              capture_output=True, text=True, check=True)
        return json.loads(told.stdout)

    def cost_us(self, server, load, requests):
        """CPU of one request or chunk; what was not answered as it should be ends the whole run."""
        before = server.cpu_s()
        told = self.put(server, load, requests)
        spent = server.cpu_s() - before
        if told["errors"]:
            raise SystemExit(f"bench: {server.name}, {load.name}: {told['errors']} errors of {requests}: {told['problem']}")
        if load.per == "chunk" and told["events"] < requests * EVENTS:
            raise SystemExit(f"bench: {server.name}, {load.name}: only {told['events']} events of {requests} streams")
        return spent / load.units(requests) * 1e6, told

    def measure(self, load, contenders):
        """The median CPU of each contender, taken in turn."""
        costs = {server.name: [] for server in contenders}
        last = {}
        for _ in range(self.options.rounds):
            for server in contenders:
                requests = load.light if server.name == "litellm" else load.requests
                cost, last[server.name] = self.cost_us(server, load, requests)
                costs[server.name].append(cost)
        entry = {name: {"cpu_us": statistics.median(each), "rounds_us": each, "p50_ms": last[name]["p50_ms"],
                        "p99_ms": last[name]["p99_ms"]} for name, each in costs.items()}
        self.figures[load.name] = {"per": load.per, **entry}
        shown = "".join(f"  {name} {one['cpu_us']:,.1f}" for name, one in entry.items())
        print(f"{load.name}, µs of CPU a {load.per}:{shown}", flush=True)
        return {name: one["cpu_us"] for name, one in entry.items()}

    def judge(self, name, figure, least=None, most=None, unit="x"):
        met = (most is None or figure <= most) and (least is None or figure >= least)
        target = f"at most {most:,}" if most is not None else f"at least {least:,}" if least is not None else "reported"
        self.rows.append((name, f"{figure:,.1f} {unit}", target, met))
        self.figures.setdefault("judged", []).append({"what": name, "figure": figure, "unit": unit, "target": target, "met": met})

    # --- what is measured -----------------------------------------------------------------------

    def loads(self, seeded):
        made = chats.Chats()

        def write(name, bodies):
            return chats.write(self.folder / f"{name}.jsonl", bodies)

        streamed = {"stream": True, "stream_options": {"include_usage": True}, **seeded}
        # Every conversation is a new one: none of its text was counted before.
        new = [made.conversation(10, 155) for _ in range(4_000 if not self.options.quick else 500)]
        long = [made.conversation(60, 155, model="gpt-4") for _ in range(100)]
        return {
            "chat": Load("pass-through", write("chat", [chats.small(**seeded)]), 20_000, 200),
            "paced": Load("streaming, a chunk every 2 ms", write("paced", [chats.small(**streamed, user="paced")]), 320, 64, "chunk"),
            "burst": Load("streaming, all at once", write("burst", [chats.small(**streamed)]), 5_000, 64, "chunk"),
            "new": Load("planned, 10 messages of new text", write("new", new), len(new) // self.options.rounds, 0),
            "again": Load("planned, 10 messages seen before", write("again", new[:20]), 4_000, 0),
            "cut": Load("planned and cut, 60 messages", write("cut", long), 1_000, 0),
            "many": Load("1,000 connections", self.folder / "chat.jsonl", 20_000, 0, connections=MANY),
        }

    def proxies(self, upstream, threads):
        with contextlib.ExitStack() as stack:
            plimsoll = stack.enter_context(servers.start_plimsoll(self.options.plimsoll, upstream, self.folder))
            nginx = stack.enter_context(servers.start_nginx(upstream, threads, "off", self.folder))
            buffered = stack.enter_context(servers.start_nginx(upstream, threads, "on", self.folder))
            loads = self.loads({"seed": self.planned_tokens(plimsoll)})
            for server in (plimsoll, nginx, buffered):
                self.put(server, loads["chat"], 2_000)
            light = []
            if not self.options.without_litellm:
                light = [stack.enter_context(servers.start_litellm(upstream, self.folder))]
                self.put(light[0], loads["chat"], 50)
            three = (plimsoll, nginx, buffered)
            costs = {key: self.measure(loads[key], three) for key in ("chat", "paced", "burst")}
            for key in ("chat", "burst") if light else ():
                costs[key] |= self.measure(Load(loads[key].name + ", with LiteLLM", *list(vars(loads[key]).values())[1:]), light)
            for key in ("new", "again", "cut"):
                costs[key] = self.measure(loads[key], (plimsoll, nginx))
            self.compare(costs)
            total, own = plimsoll.rss_mb()
            self.figures["rss_mb"] = {"after planning": [total, own], "litellm": [server.rss_mb()[0] for server in light]}
            self.judge("memory after planning with two vocabularies", total, unit="MB")
        self.crowd(upstream, loads)

    def crowd(self, upstream, loads):
        """A gateway of its own, that passes through, streams and then has a thousand clients at once."""
        home = self.folder / "crowd"
        home.mkdir()
        with servers.start_plimsoll(self.options.plimsoll, upstream, home) as plimsoll:
            for key in ("chat", "burst"):
                self.put(plimsoll, loads[key], loads[key].requests)
            crowd = self.put(plimsoll, loads["many"], loads["many"].requests)
            self.figures["many"] = crowd
            self.judge("errors at 1,000 connections", crowd["errors"], most=0, unit="")
            time.sleep(REST_S)
            total, own = plimsoll.rss_mb()
            self.figures["rss_mb"]["after a crowd"] = [total, own]
            self.judge("memory after a crowd, without an embedder", total, most=40, unit="MB")

    def compare(self, costs):
        def times(key, other="nginx-off"):
            return costs[key]["plimsoll"] / costs[key][other]

        self.judge("pass-through, to nginx", times("chat"), most=4)
        self.judge("streaming, a chunk every 2 ms, to nginx", times("paced"), most=4)
        self.judge("streaming, all at once, to nginx", times("burst"), most=4)
        self.judge("planned, 10 messages of new text, to nginx", times("new"), most=10)
        self.judge("planned, 10 messages seen before, to nginx", times("again"), most=10)
        self.judge("planned and cut, 60 messages, to nginx", times("cut"))
        if "litellm" in costs["chat"]:
            self.judge("pass-through, LiteLLM to ours", 1 / times("chat", "litellm"), least=100)
            self.judge("streaming, LiteLLM to ours", 1 / times("burst", "litellm"), least=100)

    def planned_tokens(self, server):
        """What the gateway counts for the small request, so that the upstream can say the same."""
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}/v1/chat/completions",
                                         json.dumps(chats.small()).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.headers["X-Plimsoll-Input-Tokens"])

    def documents(self, upstream):
        """Chats with an index, less what the embedding of their questions costs by itself."""
        made = chats.Chats()
        home = self.folder / "indexed"
        home.mkdir()
        chats.write_documents(made, home / "documents", DOCUMENTS)
        subprocess.run([str(self.options.plimsoll), "--set", f"store_file={home}/store.db", "index", "add", "bench",
                        str(home / "documents"), "--json"], capture_output=True, check=True)
        questions = [made.text(9) + "?" for _ in range(200)]
        chat = chats.write(home / "chat.jsonl", [
            {"model": "gpt-4o-mini", "index_name": "bench", "messages": [{"role": "user", "content": one}]} for one in questions])
        embed = chats.write(home / "embed.jsonl", [{"model": "all-minilm-l6-v2", "input": one} for one in questions])
        with servers.start_plimsoll(self.options.plimsoll, upstream, home) as plimsoll:
            asked = Load("chat with an index of 1,000 documents", chat, 400, 0, connections=1)
            embedded = Load("embedding of the same questions", embed, 400, 0, path="/v1/embeddings", connections=1)
            self.put(plimsoll, asked, 20)
            self.put(plimsoll, embedded, 20)
            # In turn, a hundred at once: the machine's speed changes within seconds, and this is a small difference.
            costs = [[self.cost_us(plimsoll, load, 100)[0] for load in (asked, embedded)] for _ in range(9)]
            for place, load in enumerate((asked, embedded)):
                each = [cost[place] for cost in costs]
                self.figures[load.name] = {"per": load.per, "plimsoll": {"cpu_us": statistics.median(each), "rounds_us": each}}
                print(f"{load.name}, µs of CPU a request:  plimsoll {statistics.median(each):,.1f}", flush=True)
            besides = [with_index - alone for with_index, alone in costs]
            self.judge("chat with an index, besides the embedding", statistics.median(besides) / 1000, most=2, unit="ms")
            total, own = plimsoll.rss_mb()
            self.figures["rss_with_embedder_mb"] = [total, own]
            self.judge("memory with the embedder loaded", total, most=150, unit="MB")

    def start(self, upstream):
        times = []
        for number in range(5):
            home = self.folder / f"start{number}"
            home.mkdir()
            with servers.start_plimsoll(self.options.plimsoll, upstream, home) as plimsoll:
                times.append(plimsoll.ready_ms)
        self.figures["ready_ms"] = times
        self.judge("ready after", statistics.median(times), most=300, unit="ms")

    def run(self):
        threads = min(os.cpu_count() or 1, 4)  # as many as the gateway takes for its own I/O
        with servers.start_upstream(self.options.binaries, self.folder) as upstream:
            self.start(upstream.port)
            self.proxies(upstream.port, threads)
            self.documents(upstream.port)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--binaries", type=Path, default=ROOT / "build" / "bench", help="where the upstream and the load are")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-litellm", action="store_true")
    parser.add_argument("--quick", action="store_true", help="fewer conversations, to try it out")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench" / "gateway.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        bench = Bench(options, Path(folder))
        bench.run()
    print(f"\n{'':48}{'measured':>14}")
    for name, figure, target, met in bench.rows:
        print(f"{name:48}{figure:>14}  {'' if target == 'reported' else 'met: ' if met else 'MISSED: '}{target}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(bench.figures, indent=1) + "\n")
    return 0 if all(row[3] for row in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
