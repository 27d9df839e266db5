"""Three gateways that share a real PostgreSQL: what one knows the others know, limits hold for all of them together,
and neither a server that is away nor a gateway that is killed loses what was acknowledged.

  tools/postgres.py python3 -m unittest discover -s tests/live -p test_postgres.py

starts a server of its own for each class; `plimsoll` must be on the PATH, or PLIMSOLL_BIN name it.
LIVE_LIMIT is the limit of requests per minute that is offered five times.
"""

import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "http"), str(ROOT / "tools")]

from gateway import CHAT, PATIENCE, PROGRAM, Gateway, user  # noqa: E402
from postgres import Postgres, package_folders  # noqa: E402
from upstream import Upstream  # noqa: E402

LIMIT = int(os.environ.get("LIVE_LIMIT") or 1000)
RESPONSES = "/v1/responses"
try:
    package_folders()
    MISSING = ""
except SystemExit as error:
    MISSING = str(error)


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def wait_for(condition, what, patience=PATIENCE):
    until = time.monotonic() + patience
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"in vain waited for: {what}")
        time.sleep(0.02)


class Clients:
    """Threads that call `ask(number)` over and over, until the block ends or all calls were made."""

    def __init__(self, threads, ask, calls=None):
        self.over, self.lock, self.left = threading.Event(), threading.Lock(), calls
        self.results, self.ask, self.count = [], ask, 0
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(threads)]

    def run(self):
        while not self.over.is_set():
            with self.lock:
                if self.left is not None and self.count >= self.left:
                    return
                number = self.count
                self.count += 1
            result = self.ask(number)
            with self.lock:
                self.results.append(result)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join(4 * PATIENCE)
            if thread.is_alive():
                raise AssertionError("a client waits for ever")


@unittest.skipIf(MISSING, MISSING)
class OverPostgres(unittest.TestCase):
    SETTINGS = {}

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Postgres())
        cls.upstream = cls.enterClassContext(Upstream({"gpt-4o": 8192}))
        cls.upstream.prompt_tokens = 8
        cls.gateways = [cls.start() for _ in range(3)]
        cls.keys = 0

    @classmethod
    def start(cls):
        gateway = Gateway(cls.upstream, environment={"PLIMSOLL_STORE": cls.server.url, "PLIMSOLL_INDEX_CACHE_DIR": "search-data"}, **cls.SETTINGS)
        cls.addClassCleanup(cls.end, gateway)
        return gateway

    @classmethod
    def end(cls, gateway):
        if gateway.process.returncode is None:
            gateway.close()
        else:
            gateway.log.close()
            gateway.temporary.cleanup()

    def key(self, *options):
        """A new key, which all gateways know."""
        type(self).keys += 1
        secret = self.gateways[0].run("keys", "add", f"key{self.keys}", *options).strip()
        for gateway in self.gateways:
            wait_for(lambda: self.knows(gateway, secret), "the key to be known")
        return secret

    @staticmethod
    def knows(gateway, secret):
        """Whether it asks for keys, and takes this one."""
        return [gateway.ask("/v1/models", headers=bearer(one)).status for one in ("plk_unknown", secret)] == [401, 200]

    def chat(self, gateway, secret, **fields):
        return gateway.ask(CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")} | fields, headers=bearer(secret))

    def respond(self, gateway, secret, **fields):
        return gateway.ask(RESPONSES, {"model": "gpt-4o", "input": "Ahoy!"} | fields, headers=bearer(secret))


class Shared(OverPostgres):
    """What one gateway was told, the others know."""

    def test_keys_responses_memories_and_traces_are_everywhere(self):
        first, second, third = self.gateways
        secret = self.key()
        self.assertEqual(second.ask("/v1/models", headers=bearer("plk_unknown")).status, 401)
        made = self.respond(first, secret)
        self.assertEqual((made.status, made.json["store"]), (200, True), made.body)
        kept = second.ask(f"{RESPONSES}/{made.json['id']}", headers=bearer(secret))
        self.assertEqual(kept.json, made.json)
        later = self.respond(third, secret, input="And now?", previous_response_id=made.json["id"])
        self.assertEqual(later.status, 200, later.body)
        sent = self.upstream.last(CHAT).json["messages"]
        self.assertEqual([one["content"] for one in sent][::2], ["Ahoy!", "And now?"])

        memory = second.ask("/v1/memories", {"text": "Ann sails on Friday"}, headers=bearer(secret))
        self.assertIn(memory.status, (200, 201), memory.body)
        listed = third.ask("/v1/memories", headers=bearer(secret)).json["data"]
        self.assertEqual([one["text"] for one in listed], ["Ann sails on Friday"])
        self.assertEqual(third.ask("/v1/memories", headers=bearer(self.key())).json["data"], [])  # another owner

        trace = made.headers["x-plimsoll-trace"]
        wait_for(lambda: trace in subprocess.run(
            [PROGRAM, "inspect", "--json", trace], env=third.environment, capture_output=True, text=True,
            check=False).stdout, "the trace to be kept")
        wait_for(lambda: "gpt-4o" in third.run("usage", "--by", "model"), "the usage to be kept")
        third.run("keys", "revoke", f"key{self.keys - 1}")
        for gateway in self.gateways:
            wait_for(lambda: self.chat(gateway, secret).status == 401, "the key to be refused")

    def test_the_password_is_nowhere(self):
        said = self.gateways[0].greeting + "".join(gateway.logged() for gateway in self.gateways)
        said += self.gateways[0].run("config") + self.gateways[0].run("config", "--json")
        said += subprocess.run([PROGRAM, "doctor"], env=self.gateways[0].environment, capture_output=True, text=True,
                               check=False).stdout
        self.assertNotIn(self.server.password, said)
        self.assertIn(f"postgres://127.0.0.1:{self.server.port}/postgres", self.gateways[0].greeting)


class Limits(OverPostgres):
    """Limits hold for all gateways together."""

    def test_a_limit_of_requests_is_exact_under_load(self):
        secret = self.key("--requests-per-minute", LIMIT)
        # What the key took until every gateway knew it counts for the same minute.
        time.sleep(62)
        begun = time.monotonic()

        def ask(number):
            time.sleep(max(0.0, begun + number * 58 / (5 * LIMIT) - time.monotonic()))
            reply = self.chat(self.gateways[number % 3], secret, max_tokens=3)
            return reply.status, reply.headers.get("retry-after")

        with Clients(24, ask, calls=5 * LIMIT) as clients:
            clients.join()
        took = time.monotonic() - begun
        statuses = collections.Counter(status for status, _ in clients.results)
        print(f"limit {LIMIT} a minute, {len(clients.results)} offered to three gateways within {took:.1f} s: {dict(statuses)}")
        self.assertEqual(set(statuses), {200, 429})
        self.assertLessEqual(statuses[200], LIMIT)
        self.assertGreaterEqual(statuses[200], LIMIT * 0.99)
        for status, wait in clients.results:
            self.assertTrue(status == 200 or 1 <= int(wait) <= 61, wait)

    def test_a_budget_is_never_overdrawn(self):
        budget = 3_000
        secret = self.key("--tokens-per-day", budget)
        with Clients(24, lambda number: self.chat(self.gateways[number % 3], secret, max_tokens=200).status,
                     calls=2_000) as clients:
            clients.join()
        statuses = collections.Counter(clients.results)
        self.assertEqual(set(statuses), {200, 429})
        used = self.used(f"key{self.keys}")
        print(f"budget {budget} tokens, {len(clients.results)} requests of up to 208 tokens: {dict(statuses)}, used {used}")
        self.assertLessEqual(used, budget)
        # The next request of 208 tokens would not fit.
        self.assertGreater(used, budget - 2 * 208)

    def used(self, name):
        time.sleep(2)  # usage is written a moment after the answer
        return sum(one["tokens"] for one in json.loads(self.gateways[1].run("usage", "--key", name, "--json"))["usage"])


class Outages(OverPostgres):
    """The server is stopped, and a gateway killed, under load."""

    def setUp(self):
        self.limited = self.key("--requests-per-minute", 1_000_000)
        self.free = self.key()

    def under_load(self, disturb, gateways):
        """Runs `disturb` while clients store responses. Returns those that were acknowledged, and the failures."""
        kept, failed = [], []

        def ask(number):
            gateway = gateways[number % len(gateways)]
            try:
                reply = self.respond(gateway, (self.limited, self.free)[number % 2], input=f"Ahoy {number}")
            except OSError:
                failed.append((gateway, number % 2, None, b""))
                time.sleep(0.02)
                return
            if reply.status == 200 and reply.json["store"]:
                kept.append((number, reply.json))
            else:
                failed.append((gateway, number % 2, reply, reply.body))
                time.sleep(0.02)

        with Clients(12, ask):
            wait_for(lambda: len(kept) > 50, "the load to begin")
            disturb(kept)
            already = len(kept)
            wait_for(lambda: len(kept) > already + 50, "the load to go on")
        return kept, failed

    def all_there(self, kept, gateway):
        for number, response in kept:
            secret = (self.limited, self.free)[number % 2]
            found = gateway.ask(f"{RESPONSES}/{response['id']}", headers=bearer(secret))
            self.assertEqual(found.status, 200, found.body)
            self.assertEqual(found.json, response)

    def outage(self, how):
        recovered = []

        def disturb(_):
            self.server.stop(how)
            self.addCleanup(lambda: self.server.process or self.server.start())
            time.sleep(3)
            listed = self.gateways[0].ask("/v1/memories", headers=bearer(self.free))
            self.assertEqual(listed.status, 503, listed.body)
            self.assertIn("retry-after", listed.headers)
            self.assertIn("the store", listed.body.decode())
            self.assertNotIn(str(self.server.port), listed.body.decode())
            refused = self.chat(self.gateways[1], self.limited)
            self.assertEqual(refused.status, 503, refused.body)
            self.assertIn("retry-after", refused.headers)
            self.assertIn("limits_without_store", refused.body.decode())
            self.assertEqual(self.chat(self.gateways[2], self.free).status, 200)  # needs nothing of the store
            self.server.start()
            begun = time.monotonic()
            for gateway in self.gateways:
                wait_for(lambda: self.respond(gateway, self.limited).json.get("store"), "the gateway to recover")
            recovered.append(time.monotonic() - begun)

        kept, failed = self.under_load(disturb, self.gateways)
        self.assertTrue(failed)
        for _, is_free, reply, body in failed:
            self.assertIsNotNone(reply, "a connection was cut")
            if is_free:  # answered, and said not to be stored
                self.assertEqual(reply.status, 200, body)
                self.assertIn("the response was not stored", body.decode())
            else:
                self.assertIn(reply.status, (200, 503), body)
                self.assertTrue(reply.status == 200 or "retry-after" in reply.headers)
        for gateway in self.gateways:
            self.all_there(kept[:200] + kept[-200:], gateway)
        print(f"{how} stop of 3 s: {len(kept)} responses acknowledged, {len(failed)} not, all three gateways "
              f"again after {recovered[0]:.2f} s")

    def test_a_server_that_is_restarted(self):
        self.outage("fast")

    def test_a_server_that_crashes(self):
        self.outage("immediate")

    def test_a_gateway_that_is_killed(self):
        victim = self.start()
        for secret in (self.limited, self.free):
            wait_for(lambda: self.knows(victim, secret), "the key to be known")

        def disturb(_):
            victim.stop(signal.SIGKILL)

        kept, failed = self.under_load(disturb, [*self.gateways, victim])
        for gateway, _, reply, body in failed:
            self.assertIs(gateway, victim, body)
            self.assertIsNone(reply)
        self.all_there(kept, self.gateways[0])
        print(f"a gateway killed: {len(kept)} responses acknowledged, none lost")


class LastKnown(OverPostgres):
    """Gateways that go on by what they knew last."""

    SETTINGS = {"limits_without_store": "last_known"}

    def test_limits_hold_for_each_gateway_while_the_server_is_away(self):
        secret = self.key("--requests-per-minute", 20, "--tokens-per-day", 1_000_000)
        self.server.stop()
        try:
            for gateway in self.gateways:
                statuses = [self.chat(gateway, secret).status for _ in range(30)]
                self.assertEqual(set(statuses), {200, 429})
                self.assertLessEqual(statuses.count(200), 21)
        finally:
            self.server.start()
        wait_for(lambda: self.chat(self.gateways[0], secret).status in (200, 429), "the store to be back")


if __name__ == "__main__":
    unittest.main()
