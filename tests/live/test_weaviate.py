"""Indexes on a real Weaviate: on one node by the command line, compared with the built-in index; and on three nodes with two
copies behind two gateways, of which one node is killed under load.

  python3 -m unittest discover -s tests/live -p test_weaviate.py

starts servers of its own; `plimsoll` must be on the PATH, or PLIMSOLL_BIN name it.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from test_postgres import MISSING as NO_POSTGRES
import test_postgres
from test_postgres import Clients, bearer, wait_for

from gateway import PATIENCE, PROGRAM, Gateway
from postgres import Postgres
from upstream import Upstream
from weaviate import Weaviate, program

ROOT = Path(__file__).resolve().parents[2]
try:
    program()
    MISSING = ""
except SystemExit as error:
    MISSING = str(error)

QUESTIONS = [
    "How are fractions of tokens assigned?", "What happens when the minimums do not fit into the window?",
    "Where does Plimsoll keep API keys?", "How is drift between plan and reported usage learned?",
    "What is a tenant in Helm values?", "How do I load a snapshot from a folder?", "Which tokenizers are exact?",
    "What does limits_without_store do?", "How is a conversation compressed?", "Can I use an Ollama model with a small window?",
    "What are the routes of KAITO's RAGEngine?", "How do I search in a language other than English?",
    "What is written to the trace of a request?", "How does the gateway choose a fallback model?",
    "Is the prompt text part of spans?", "How are passages ordered in the prompt?", "What does plimsoll doctor check?",
    "How are damaged indexes repaired?", "What is the margin of a window?", "How many tokens does an image cost?",
]
# Seconds until the server has written new words from its memory, where it misses some of the weaker hits (ADR 28).
FLUSHED_AFTER = 6
SAME_FIRST, SHARED = 0.8, 0.8  # of the questions, and of the text of the five best passages


def shared(here, there):
    """How much of the text of some passages is in others, too. A sentence more or less at an end makes another passage."""
    def common(one, other):
        return max(0, min(one[2], other[2]) - max(one[1], other[1])) if one[0] == other[0] else 0

    size = sum(end - start for _, start, end in here)
    return sum(common(one, other) for one in here for other in there) / size if size else 1.0


class Home:
    """A user of the command line with a store of their own."""

    def __init__(self, folder, **settings):
        self.folder = folder
        folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        self.environment = kept | {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder),
                                   "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")}
        self.environment |= {f"PLIMSOLL_{name.upper()}": value for name, value in settings.items()}

    def run(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=20 * PATIENCE)

    def out(self, *arguments):
        done = self.run(*arguments)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def passages(self, index, question):
        found = json.loads(self.out("search", index, question, "--json", "--top-k", "5"))
        return [(one["document"], one["start"], one["end"]) for one in found["passages"]]


@unittest.skipIf(MISSING, MISSING)
class OneNode(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="plimsoll-live-")))
        self.server = self.enterContext(Weaviate(key="s3cr3t-of-weaviate", PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS="1"))
        shutil.copytree(ROOT / "docs", self.folder / "docs", ignore=shutil.ignore_patterns("console", "*.svg"))
        self.remote = Home(self.folder / "remote", index_store=self.server.url)

    def add(self, home):
        home.out("index", "add", "manual", str(self.folder / "docs"))
        time.sleep(FLUSHED_AFTER)

    def test_finds_what_the_built_in_index_finds(self):
        local = Home(self.folder / "local")
        self.add(local)
        self.add(self.remote)
        self.assertEqual(len(self.server.collections()), 1)
        first = text = 0
        for question in QUESTIONS:
            here, there = local.passages("manual", question), self.remote.passages("manual", question)
            first += shared(here[:1], there[:1]) > 0.5
            text += shared(here, there)
        print(f"\n{len(QUESTIONS)} questions: the same best passage in {first}, and {text / len(QUESTIONS):.1%} of the text of the best five")
        self.assertGreaterEqual(first / len(QUESTIONS), SAME_FIRST)
        self.assertGreaterEqual(text / len(QUESTIONS), SHARED)
        self.assertIn("sound", self.remote.out("index", "verify", "manual"))

    def test_follows_the_store_and_survives_a_restart(self):
        self.add(self.remote)
        question = "Where do gateways share a store?"
        keys = {one[0] for one in self.remote.passages("manual", question)}
        gone = next(key for key in keys if key.endswith("scale.md"))
        self.remote.out("index", "remove", "manual", gone)
        self.assertNotIn(gone, {one[0] for one in self.remote.passages("manual", question)})
        before = [self.remote.passages("manual", one) for one in QUESTIONS[:5]]
        self.server.nodes[0].stop()
        away = self.remote.run("search", "manual", question)
        self.assertNotEqual(away.returncode, 0)  # and not: nothing was found
        self.assertIn("does not answer", away.stderr)
        self.assertNotIn("s3cr3t", away.stderr)
        self.assertIn("does not answer", self.remote.run("doctor").stdout)
        self.server.start(0)
        self.assert_like(before)
        self.assertIn("manual", self.remote.out("index", "list"))
        self.assertIn("sound", self.remote.out("doctor"))
        self.remote.out("index", "rebuild", "manual")
        self.assert_like(before)
        self.remote.out("index", "remove", "manual", "--yes")
        self.assertEqual(self.server.collections(), [])

    def assert_like(self, before):
        """Nearly the same passages: what the server has in memory and what it has written differ a little (ADR 28)."""
        now = [self.remote.passages("manual", one) for one in QUESTIONS[:5]]
        self.assertGreater(sum(map(shared, before, now)) / len(now), 0.6)

    def test_refuses_a_wrong_key_without_showing_it(self):
        wrong = Home(self.folder / "wrong", index_store=self.server.url.replace("s3cr3t-of-weaviate", "wr0ng"))
        done = wrong.run("index", "add", "manual", str(self.folder / "docs" / "README.md"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("refuses the key", done.stderr)
        self.assertNotIn("wr0ng", done.stdout + done.stderr)


def id_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def entry(owner, number):
    """A text of its own for each owner and number, found by its number."""
    return f"Entry number{number} of the ship{owner} speaks of the harbour."


@unittest.skipIf(MISSING or NO_POSTGRES, MISSING or NO_POSTGRES)
class ThreeNodes(unittest.TestCase):
    maxDiff = None
    OWNERS, ENTRIES = 2, 30

    @classmethod
    def setUpClass(cls):
        cls.store = cls.enterClassContext(Postgres())
        cls.server = cls.enterClassContext(Weaviate(nodes=3, replication=2))
        upstream = cls.enterClassContext(Upstream({"gpt-4o": 8192}))
        environment = {"PLIMSOLL_STORE": cls.store.url, "PLIMSOLL_INDEX_STORE": cls.server.url}
        cls.gateways = []
        for _ in range(2):
            cls.gateways.append(Gateway(upstream, environment=environment, embedders=""))
            cls.addClassCleanup(cls.gateways[-1].close)
        cls.secrets = [cls.gateways[0].run("keys", "add", f"key{owner}", "--private-indexes").strip() for owner in range(cls.OWNERS)]
        for gateway in cls.gateways:
            for secret in cls.secrets:
                wait_for(lambda gateway=gateway, secret=secret: test_postgres.OverPostgres.knows(gateway, secret), "the key to be known")
        for owner in range(cls.OWNERS):
            reply = cls.add(owner, range(cls.ENTRIES))
            assert reply.status == 200, reply.body

    @classmethod
    def add(cls, owner, numbers, gateway=0):
        texts = [{"text": entry(owner, number)} for number in numbers]
        return cls.gateways[gateway].ask("/index", {"index_name": "log", "documents": texts}, headers=bearer(cls.secrets[owner]))

    def search(self, owner, number, gateway):
        return self.gateways[gateway].ask("/retrieve", {"index_name": "log", "query": f"number{number}", "max_node_count": 5},
                                          headers=bearer(self.secrets[owner]))

    def judge(self, owner, number, reply):
        """"right", "away", or what is wrong with a reply."""
        if reply.status == 503:
            return "away" if "index store" in reply.body.decode() else f"an unclear error: {reply.body!r}"
        if reply.status != 200:
            return f"status {reply.status}: {reply.body!r}"
        texts = [one["text"] for one in reply.json["results"]]
        foreign = [text for text in texts if f"ship{owner} " not in text]
        if foreign:
            return f"owner {owner} sees {foreign}"
        return "right" if entry(owner, number) in texts else f"number{number} of {owner} is missing in {texts}"

    def one(self, call):
        owner, number, gateway = call % self.OWNERS, call * 7 % self.ENTRIES, call // 2 % 2
        return self.judge(owner, number, self.search(owner, number, gateway))

    def load(self, during):
        with Clients(4, self.one) as clients:
            time.sleep(1)
            during()
            time.sleep(1)
        return clients.results

    def expect(self, results, title):
        wrong = [one for one in results if one not in ("right", "away")]
        print(f"\n{title}: {len(results)} searches, {results.count('right')} right, {results.count('away')} with 503, {len(wrong)} wrong")
        self.assertEqual(sorted(set(wrong)), [])
        self.assertGreater(results.count("right"), 0)

    def all_right(self):
        return {self.one(call) for call in range(2 * self.OWNERS * 2)} == {"right"}

    def test_a_lost_node(self):
        self.assertEqual({self.one(call) for call in range(20)}, {"right"})
        self.assertEqual(len(self.server.collections()), self.OWNERS)

        def kill():
            self.server.nodes[2].stop("kill")
            time.sleep(6)

        self.expect(self.load(kill), "a node of three is killed")
        wait_for(self.all_right, "searches without the node")
        late = self.ENTRIES + 1
        self.assertEqual(self.add(0, [late], gateway=1).status, 200)  # the store has it
        self.assertIn(self.judge(0, late, self.search(0, late, 0)), ("right", "away"))
        began = time.monotonic()
        self.server.start(2)
        wait_for(lambda: self.judge(0, late, self.search(0, late, 0)) == "right", "the change to be applied")
        print(f"\nthe change was found {time.monotonic() - began:.1f} s after the node was started")
        wait_for(self.all_right, "searches with the node")

    def test_all_nodes_are_away(self):
        def stop():
            for node in self.server.nodes:
                node.stop()
            for gateway in range(2):
                self.assertEqual(self.judge(0, 1, self.search(0, 1, gateway)), "away")
            self.server.start(0, 1, 2)
            wait_for(self.all_right, "searches to work again")

        self.expect(self.load(stop), "all nodes stop and start")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
