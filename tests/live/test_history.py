"""Three gateways on a real PostgreSQL and three nodes of a real Weaviate, while clients add, delete and search, and one after
the other a node is killed, a node hangs, a gateway is killed, PostgreSQL crashes, and a gateway is cut off from both servers.
The history of all operations is compared with a model (history.py).

  python3 -m unittest discover -s tests/live -p test_history.py

starts servers of its own; `plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. LIVE_SECONDS is how long each outage lasts.
"""

import collections
import contextlib
import http.client
import json
import os
import random
import re
import signal
import socket
import threading
import time
import unittest

from test_postgres import MISSING as NO_POSTGRES
from test_postgres import Clients, bearer, wait_for
from test_weaviate import MISSING as NO_WEAVIATE
from test_weaviate import id_of

from gateway import CHAT, PATIENCE, Gateway, user
from postgres import Postgres
from upstream import Upstream
from weaviate import Weaviate

import history
from history import FAILED, OK, History, Operation

SECONDS = float(os.environ.get("LIVE_SECONDS") or 8)
LIMIT = 60  # requests a minute of the key that has a limit
BUDGET = 4_000


class Line:
    """A proxy on loopback before a server, which can be cut: then nothing passes, and nobody is told."""

    def __init__(self, port):
        self.target, self.open = port, threading.Event()
        self.open.set()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        self.open.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        for one, other in ((client, server), (server, client)):
            threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                self.open.wait()
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.open.set()
        self.server.close()


def text_of(owner, item):
    return f"Entry number{item} of the ship{owner} speaks of the harbour."


@unittest.skipIf(NO_WEAVIATE or NO_POSTGRES, NO_WEAVIATE or NO_POSTGRES)
class Histories(unittest.TestCase):
    maxDiff = None
    OWNERS, CLIENTS = 2, 5

    @classmethod
    def setUpClass(cls):
        cls.store = cls.enterClassContext(Postgres())
        cls.server = cls.enterClassContext(Weaviate(nodes=3, replication=2))
        cls.upstream = cls.enterClassContext(Upstream({"gpt-4o": 8192}))
        cls.upstream.keeps, cls.upstream.prompt_tokens = False, 8
        # The third gateway reaches both servers through lines that can be cut.
        cls.lines = [Line(cls.store.port), *(Line(node.port) for node in cls.server.nodes)]
        for line in cls.lines:
            cls.addClassCleanup(line.close)
        cls.gateways = [cls.start(cls.store.url, cls.server.url) for _ in range(2)]
        far_store = cls.store.url.replace(f":{cls.store.port}/", f":{cls.lines[0].port}/")
        far_index = cls.server.url
        for node, line in zip(cls.server.nodes, cls.lines[1:]):
            far_index = far_index.replace(f":{node.port}", f":{line.port}")
        cls.gateways.append(cls.start(far_store, far_index))
        names = [(f"owner{number}", ()) for number in range(cls.OWNERS)]
        names.append(("limited", ("--requests-per-minute", LIMIT, "--tokens-per-day", BUDGET)))
        cls.secrets = [cls.gateways[0].run("keys", "add", name, "--private-indexes", *more).strip() for name, more in names]
        for gateway in cls.gateways:
            for secret in cls.secrets[:cls.OWNERS]:
                wait_for(lambda gateway=gateway, secret=secret: gateway.ask("/v1/models", headers=bearer(secret)).status == 200 and
                         gateway.ask("/v1/models", headers=bearer("plk_unknown")).status == 401, "the key to be known")

    @classmethod
    def start(cls, store, index_store):
        gateway = Gateway(cls.upstream, environment={"PLIMSOLL_STORE": store, "PLIMSOLL_INDEX_STORE": index_store}, embedders="")
        cls.addClassCleanup(gateway.close)
        return gateway

    def setUp(self):
        self.history, self.outages, self.chats = History(), [], []
        self.began = time.monotonic()
        self.random, self.lock, self.next = random.Random(7), threading.Lock(), collections.Counter()

    # ---- Clients ----

    def ask(self, gateway, owner, path, body):
        """(began, ended, reply or None, what went wrong)"""
        began = time.monotonic()
        try:
            reply = self.gateways[gateway].ask(path, body, headers=bearer(self.secrets[owner]), timeout=4 * PATIENCE)
        except (OSError, http.client.HTTPException) as error:
            return began, time.monotonic(), None, f"the connection broke: {error!r}"
        why = "" if reply.status == 200 else f"{reply.status} {reply.body.decode()[:300]}"
        return began, time.monotonic(), reply, why

    def do(self, kind, owner, item, gateway):
        if kind == "add":
            asked = self.ask(gateway, owner, "/index", {"index_name": "log", "documents": [{"text": text_of(owner, item)}]})
        elif kind == "delete":
            asked = self.ask(gateway, owner, "/indexes/log/documents/delete", {"doc_ids": [id_of(text_of(owner, item))]})
        else:
            asked = self.ask(gateway, owner, "/retrieve", {"index_name": "log", "query": f"number{item}", "max_node_count": 5})
        began, ended, reply, why = asked
        found = frozenset()
        if kind == "search" and not why:
            names = [re.fullmatch(r"Entry number(\d+) of the ship(\d+) .*", one["text"]) for one in reply.json["results"]]
            found = frozenset((int(name[2]), int(name[1])) for name in names if name)
        if kind == "delete" and not why and reply.json["deleted_doc_ids"] == []:
            return  # it was not there yet, because its addition failed or was under way
        self.history.add(Operation(kind, owner, item, began, ended, FAILED if why else OK, found, gateway, why))
        if why:
            time.sleep(0.05)

    def client(self, number):
        with self.lock:
            owner, gateway, dice = self.random.randrange(self.OWNERS), self.random.randrange(3), self.random.random()
            newest = self.next[owner]
            item = self.random.randint(max(0, newest - 40), max(0, newest - 1))
            if dice < 0.25 or newest < 5:
                kind, item = "add", newest
                self.next[owner] += 1
            elif dice < 0.37:
                kind = "delete"
                if (owner, item) in self.deleted:
                    kind = "search"
                self.deleted.add((owner, item))
            else:
                kind = "search"
        self.do(kind, owner, item, gateway)

    def chatter(self, number):
        began, ended, reply, why = self.ask(number % 3, self.OWNERS, CHAT, {"model": "gpt-4o", "messages": user("Ahoy!"), "max_tokens": 3})
        self.chats.append((began, ended, reply.status if reply else 0, why))
        time.sleep(0.1)

    # ---- Outages ----

    @contextlib.contextmanager
    def outage(self, name):
        began = time.monotonic()
        yield
        before = time.monotonic()
        wait_for(self.all_answer, f"all to work again after: {name}", 6 * PATIENCE)
        self.outages.append((began, time.monotonic() + 0.1))
        print(f"{name}, from {began - self.began:.1f} to {before - self.began:.1f} s: all gateways worked again {time.monotonic() - before:.1f} s after its end", flush=True)
        time.sleep(SECONDS / 2)

    def all_answer(self):
        """Everybody can search, and add."""
        for gateway in range(3):
            for owner in range(self.OWNERS):
                if self.ask(gateway, owner, "/retrieve", {"index_name": "log", "query": "harbour", "max_node_count": 1})[3]:
                    return False
        return True

    def disturb(self):
        with self.outage("a node of Weaviate was killed"):
            self.server.nodes[2].stop("kill")
            time.sleep(SECONDS)
            self.server.start(2)
        with self.outage("a node of Weaviate hung"):
            self.server.nodes[1].process.send_signal(signal.SIGSTOP)
            time.sleep(SECONDS)
            self.server.nodes[1].process.send_signal(signal.SIGCONT)
        with self.outage("a gateway was killed"):
            self.gateways[0].stop(signal.SIGKILL)
            time.sleep(SECONDS / 2)
            self.gateways[0].start()
        with self.outage("PostgreSQL crashed"):
            self.store.stop("immediate")
            time.sleep(SECONDS)
            self.store.start()
        with self.outage("a gateway was cut off"):
            for line in self.lines:
                line.open.clear()
            time.sleep(SECONDS)
            for line in self.lines:
                line.open.set()

    # ---- What is claimed ----

    def test_every_history_is_that_of_one_store(self):
        self.deleted = set()
        for owner in range(self.OWNERS):
            self.do("add", owner, self.next[owner], 0)
            self.next[owner] += 1
        self.assertEqual(self.history.count(FAILED), 0, self.history.operations)
        with Clients(self.CLIENTS, self.client), Clients(1, self.chatter):
            time.sleep(SECONDS / 2)
            self.disturb()
        found = [*history.problems_of(self.history), *history.problems_of_failures(self.history, self.outages)]
        ends = []
        for gateway in range(3):
            ends.append([self.all_of(gateway, owner) for owner in range(self.OWNERS)])
        self.assertEqual(ends[0], ends[1])
        self.assertEqual(ends[0], ends[2])
        for owner, there in enumerate(ends[0]):
            found += history.problems_at_end(self.history, owner, there)
        found += self.problems_of_limits()
        kinds = collections.Counter((one.kind, one.outcome) for one in self.history.operations)
        print(f"{len(self.history.operations)} operations: " + ", ".join(f"{count} {kind} {outcome}" for (kind, outcome), count in sorted(kinds.items())))
        whys = collections.Counter(re.sub(r"\d[\d.,:]*", "N", one.why)[:160] for one in self.history.operations if one.why)
        for why, count in whys.most_common(12):
            print(f"  {count:5} {why}")
        if found:
            self.show(found)
        self.assertEqual(found, [])
        for kind in ("add", "delete", "search"):
            self.assertGreater(kinds[kind, OK], 10)

    def show(self, problems):
        """All operations on the items of the problems, in their order."""
        for owner, item in {(int(owner), int(item)) for problem in problems for item, owner in re.findall(r"item (\d+) of owner (\d+)", problem)}:
            for one in sorted(self.history.operations, key=lambda one: one.began):
                if one.owner == owner and (one.item == item or (owner, item) in one.found):
                    print(f"  {one.began - self.began:7.3f} to {one.ended - self.began:7.3f} s at gateway {one.gateway}: {one.kind} {one.item} of {owner}: "
                          f"{one.outcome} {sorted(one.found)} {one.why[:200]}")

    def all_of(self, gateway, owner):
        there, offset = set(), 0
        while True:
            reply = self.gateways[gateway].ask(f"/indexes/log/documents?limit=100&offset={offset}", headers=bearer(self.secrets[owner]))
            self.assertEqual(reply.status, 200, reply.body)
            page = reply.json["documents"]
            for one in page:
                item, ship = re.fullmatch(r"Entry number(\d+) of the ship(\d+) .*", one["text"]).groups()
                self.assertEqual(int(ship), owner)
                there.add(int(item))
            offset += len(page)
            if len(page) < 100:
                return there

    def problems_of_limits(self):
        """No minute had more answers than the limit, and the day not more tokens than the budget."""
        answered = [(began, ended) for began, ended, status, _ in self.chats if status == 200]
        statuses = collections.Counter(status for _, _, status, _ in self.chats)
        most = history.most_within(answered, 60)
        usage = json.loads(self.gateways[1].run("usage", "--key", "limited", "--json"))["usage"]
        used = sum(one["tokens"] for one in usage)
        print(f"chats with a limit of {LIMIT} a minute and {BUDGET} tokens: {dict(statuses)}, at most {most} in a minute, {used} tokens used")
        if most > LIMIT:
            yield f"{most} chats were answered within a minute; the limit is {LIMIT}"
        if used > BUDGET:
            yield f"{used} tokens were used; the budget is {BUDGET}"
        if not answered:
            yield "no chat was answered"
        for began, ended, status, why in self.chats:
            if status not in (200, 429) and not any(began <= end and ended >= start for start, end in self.outages):
                yield f"a chat failed while nothing was away: {why}"


class TheChecker(unittest.TestCase):
    """Each kind of problem is found."""

    def check(self, *operations, outages=(), **ends):
        kept = History()
        for one in operations:
            kept.add(Operation(*one[:6], **one[6] if len(one) > 6 else {}))
        found = [*history.problems_of(kept), *history.problems_of_failures(kept, outages)]
        return found + [problem for owner, there in ends.items() for problem in history.problems_at_end(kept, int(owner[-1]), there)]

    def test_a_history_that_is_right(self):
        self.assertEqual(self.check(
            ("add", 0, 1, 0, 1, OK), ("search", 0, 1, 2, 3, OK, {"found": frozenset({(0, 1)})}), ("delete", 0, 1, 2.5, 4, OK),
            ("search", 0, 1, 3, 5, OK), ("search", 0, 1, 5, 6, OK), ("add", 0, 2, 5, 7, FAILED, {"why": "503"}), ("search", 0, 2, 6, 8, OK),
            outages=[(4, 8)], owner0=set()), [])

    def test_what_is_wrong_is_found(self):
        shown = {"found": frozenset({(0, 1)})}
        for part, operations in (
                ("was shown item 1 of owner 0", [("add", 0, 1, 0, 1, OK), ("search", 1, 5, 2, 3, OK, shown)]),
                ("before it was added", [("search", 0, 1, 0, 1, OK, shown), ("add", 0, 1, 2, 3, OK)]),
                ("after its deletion", [("add", 0, 1, 0, 1, OK), ("delete", 0, 1, 1, 2, OK), ("search", 0, 1, 3, 4, OK, shown)]),
                ("was not found", [("add", 0, 1, 0, 1, OK), ("search", 0, 1, 2, 3, OK)]),
                ("while nothing was away", [("add", 0, 1, 0, 1, FAILED, {"why": "503"})])):
            with self.subTest(part):
                self.assertIn(part, "\n".join(self.check(*operations)))
        self.assertIn("is lost", "\n".join(self.check(("add", 0, 1, 0, 1, OK), owner0=set())))
        self.assertIn("came back", "\n".join(self.check(("add", 0, 1, 0, 1, OK), ("delete", 0, 1, 1, 2, OK), owner0={1})))
        self.assertIn("nobody added", "\n".join(self.check(("add", 0, 1, 0, 1, OK), owner0={1, 2})))
        self.assertIn("without a word", "\n".join(self.check(("add", 0, 1, 0, 1, FAILED), outages=[(0, 1)])))

    def test_the_most_of_a_minute(self):
        self.assertEqual(history.most_within([(0, 1), (30, 31), (59, 60), (60, 61), (61, 62)], 60), 4)


if __name__ == "__main__":
    unittest.main()
