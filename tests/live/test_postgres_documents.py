"""Documents of three gateways that share a real PostgreSQL: what one adds the others find, what one deletes the others do
not show any more, owners see only their own, and a gateway that is killed loses nothing that was acknowledged.

  python3 -m unittest discover -s tests/live -p test_postgres_documents.py

Each gateway has a folder of its own for search data, as on a machine of its own.
"""

import hashlib
import json
import signal
import statistics
import subprocess
import threading
import time
import unittest
from urllib.parse import quote

from test_postgres import Clients, OverPostgres, bearer, wait_for

from gateway import PROGRAM, Gateway, user

BRIDGE = "The bridge of Hoorn carries eleven tonnes."
HARBOUR = "The harbour of Enkhuizen freezes in January."
WORDS = "anchor barge canal dock estuary ferry gantry harbour inlet jetty keel lock mast narrows oar pier quay rope".split()


def id_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def told(number):
    """A text of its own for each number, which a search finds by its number."""
    return f"Entry number{number} speaks of the {WORDS[number % len(WORDS)]} and the {WORDS[number // 7 % len(WORDS)]}."


class WithDocuments(OverPostgres):
    SETTINGS = {"index_cache_dir": "search-data", "embedders": ""}

    def add(self, gateway, secret, name, *texts):
        return gateway.ask("/index", {"index_name": name, "documents": [{"text": text} for text in texts]},
                           headers=bearer(secret) if secret else {})

    def added(self, *given):
        reply = self.add(*given)
        self.assertEqual(reply.status, 200, reply.body)

    def delete(self, gateway, secret, name, *texts):
        return gateway.ask(f"/indexes/{name}/documents/delete", {"doc_ids": [id_of(text) for text in texts]},
                           headers=bearer(secret))

    def retrieve(self, gateway, secret, name, query):
        return gateway.ask("/retrieve", {"index_name": name, "query": query, "max_node_count": 10},
                           headers=bearer(secret) if secret else {})

    def found(self, gateway, secret, name, query):
        reply = self.retrieve(gateway, secret, name, query)
        self.assertEqual(reply.status, 200, reply.body)
        return [one["text"] for one in reply.json["results"]]

    def texts(self, gateway, secret, name):
        out, offset = [], 0
        while True:
            reply = gateway.ask(f"/indexes/{name}/documents?limit=100&offset={offset}", headers=bearer(secret))
            self.assertEqual(reply.status, 200, reply.body)
            page = [one["text"] for one in reply.json["documents"]]
            out += page
            offset += len(page)
            if len(page) < 100:
                return out

    def folders(self, gateway):
        """The indexes of which a gateway has search data on its disk."""
        return sorted(path.name for path in (gateway.folder / "search-data").glob("*/*"))


class Shared(WithDocuments):
    """All gateways answer from the same documents."""

    def test_what_one_adds_the_others_find_and_what_one_deletes_nobody_shows(self):
        first, second, third = self.gateways
        secret = self.key()
        self.added(first, secret, "ports", BRIDGE)
        for gateway in self.gateways:
            self.assertEqual(self.found(gateway, secret, "ports", "How much does the bridge carry?"), [BRIDGE])
        self.added(second, secret, "ports", HARBOUR)
        for gateway in self.gateways:
            self.assertEqual(self.found(gateway, secret, "ports", "When does the harbour freeze?")[:1], [HARBOUR])
        changed = third.ask("/indexes/ports/documents", {"documents": [{"doc_id": id_of(BRIDGE), "text": "The bridge is closed."}]},
                            headers=bearer(secret))
        self.assertEqual(changed.status, 200, changed.body)
        for gateway in self.gateways:
            self.assertIn("The bridge is closed.", self.found(gateway, secret, "ports", "bridge"))
            self.assertNotIn(BRIDGE, self.found(gateway, secret, "ports", "How much does the bridge carry?"))
        gone = self.delete(third, secret, "ports", HARBOUR)
        self.assertEqual((gone.status, gone.json["deleted_doc_ids"]), (200, [id_of(HARBOUR)]), gone.body)
        for gateway in self.gateways:
            self.assertNotIn(HARBOUR, self.found(gateway, secret, "ports", "When does the harbour freeze?"))
            reply = gateway.ask(body={"model": "gpt-4o", "messages": user("When does the harbour freeze?"), "index_name": "ports"},
                                headers=bearer(secret))
            self.assertEqual(reply.status, 200, reply.body)
            self.assertNotIn("Enkhuizen", reply.body.decode())

    def test_deleted_text_is_never_shown_afterwards(self):
        """A reader at another gateway, before and after each delete that was acknowledged."""
        first, second, third = self.gateways
        secret = self.key()
        self.added(first, secret, "rounds", "This one stays.")
        for number in range(25):
            text = told(number)
            self.added(first, secret, "rounds", text)
            self.assertIn(text, self.found(second, secret, "rounds", f"number{number}"))
            deleted = self.delete(third, secret, "rounds", text)
            self.assertEqual(deleted.status, 200, deleted.body)
            for gateway in self.gateways:
                self.assertNotIn(text, self.found(gateway, secret, "rounds", f"number{number}"))

    def test_an_update_at_one_never_brings_back_what_another_deletes(self):
        first, second, third = self.gateways
        secret = self.key()
        self.added(first, secret, "race", "This one stays.")
        fates = []
        for number in range(40):
            text = told(number)
            self.added(first, secret, "race", text)
            updates = []

            def update():
                updates.append(second.ask("/indexes/race/documents", {"documents": [
                    {"doc_id": id_of(text), "text": f"{text} More of it."}]}, headers=bearer(secret)))

            other = threading.Thread(target=update)
            other.start()
            time.sleep(number % 8 / 1000)
            deleted = self.delete(third, secret, "race", text)
            other.join()
            self.assertEqual((updates[0].status, deleted.status), (200, 200), (updates[0].body, deleted.body))
            self.assertEqual(deleted.json["deleted_doc_ids"], [id_of(text)])
            fates.append(bool(updates[0].json["updated_documents"]))
            self.assertEqual(self.texts(first, secret, "race"), ["This one stays."])
        print(f"an update against a delete at another gateway, 40 times: the update was first in {sum(fates)}, nothing came back")

    def test_an_index_that_is_removed_is_gone_everywhere_and_can_be_made_again(self):
        first, second, _ = self.gateways
        secret = self.key()
        self.added(first, secret, "short", BRIDGE)
        self.assertEqual(self.found(second, secret, "short", "bridge"), [BRIDGE])
        removed = first.ask("/indexes/short", method="DELETE", headers=bearer(secret))
        self.assertEqual(removed.status, 200, removed.body)
        for gateway in self.gateways:
            self.assertEqual(self.retrieve(gateway, secret, "short", "bridge").status, 404)
            self.assertNotIn("short", gateway.ask("/indexes", headers=bearer(secret)).json)
        self.added(second, secret, "short", HARBOUR)
        for gateway in self.gateways:
            self.assertEqual(self.found(gateway, secret, "short", "bridge harbour"), [HARBOUR])

    def test_owners_see_only_their_own(self):
        first, second, third = self.gateways
        ann, bob = self.key("--private-indexes"), self.key("--private-indexes")
        self.added(first, ann, "private", BRIDGE)
        for gateway in self.gateways:
            self.assertEqual(self.retrieve(gateway, bob, "private", "bridge").status, 404)
            self.assertEqual(gateway.ask("/indexes", headers=bearer(bob)).json, [])
        self.added(second, bob, "private", HARBOUR)
        for gateway in self.gateways:
            self.assertEqual(self.found(gateway, ann, "private", "bridge harbour"), [BRIDGE])
            self.assertEqual(self.found(gateway, bob, "private", "bridge harbour"), [HARBOUR])
        self.assertEqual(self.delete(third, bob, "private", BRIDGE).json["deleted_doc_ids"], [])
        self.assertEqual(self.found(third, ann, "private", "bridge"), [BRIDGE])
        self.assertEqual(third.ask("/indexes/private", method="DELETE", headers=bearer(bob)).status, 200)
        self.assertEqual(self.found(second, ann, "private", "bridge"), [BRIDGE])

    def test_all_add_to_one_index_that_none_of_them_had(self):
        secret = self.key()
        replies = []

        def ask(number):
            reply = self.add(self.gateways[number % 3], secret, "crowd", told(number))
            return number, reply.status, reply.body

        with Clients(9, ask, calls=60) as clients:
            clients.join()
        for number, status, body in clients.results:
            self.assertEqual(status, 200, body)
            replies.append(told(number))
        for gateway in self.gateways:
            self.assertEqual(sorted(self.texts(gateway, secret, "crowd")), sorted(replies))
            for number in (0, 31, 59):
                self.assertIn(told(number), self.found(gateway, secret, "crowd", f"number{number}"))
        self.assertEqual(self.server.query("SELECT count(*) FROM plimsoll.indexes WHERE name = 'crowd'"), "1")

    def test_commands_and_gateways_share_documents_and_nothing_is_in_a_file(self):
        first, second, _ = self.gateways
        (first.folder / "bridge.md").write_text(f"# Bridges\n\n{BRIDGE}\n")
        first.run("index", "add", "manual", "bridge.md", "--no-embedder")
        self.assertIn("manual", second.run("index", "list"))
        self.assertIn("eleven tonnes", second.run("search", "manual", "How much does the bridge carry?"))
        self.assertIn("manual is sound: 1 documents", second.run("index", "verify", "manual"))
        saved = second.run("index", "add", "manual", str(first.folder / "bridge.md"))
        self.assertIn("1 unchanged", saved)
        second.run("index", "remove", "manual", "--yes")
        self.assertNotIn("manual", first.run("index", "list"))
        for gateway in self.gateways:
            self.assertFalse((gateway.folder / "store.db").exists())
        doctor = subprocess.run([PROGRAM, "doctor"], cwd=first.folder, env=first.environment, capture_output=True, text=True,
                                check=False).stdout
        self.assertIn("index cache", doctor)

    def test_search_data_of_removed_indexes_leaves_the_disks(self):
        first, second, _ = self.gateways
        secret = self.key()
        texts = [told(number) for number in range(400)]  # enough for a file
        for name in ("kept", "left"):
            self.added(first, secret, name, *texts)
            self.found(second, secret, name, "number7")
        ids = {name: self.server.query(f"SELECT id FROM plimsoll.indexes WHERE name = '{name}'") for name in ("kept", "left")}
        self.assertIn(ids["left"], self.folders(second))
        first.ask("/indexes/left", method="DELETE", headers=bearer(secret))
        self.assertEqual(self.retrieve(second, secret, "left", "number7").status, 404)
        self.added(first, secret, "other", BRIDGE)
        self.found(second, secret, "other", "bridge")  # opens an index
        self.assertNotIn(ids["left"], self.folders(second))
        self.assertIn(ids["kept"], self.folders(second))


class Cost(WithDocuments):
    """The same work over PostgreSQL and over a file, side by side."""

    def test_a_search_costs_little_more_than_over_a_file(self):
        file = Gateway(self.upstream, **self.SETTINGS)
        self.addCleanup(file.close)
        secret = self.key()
        texts = [told(number) for number in range(2_000)]
        sides = {"file": (file, ""), "server": (self.gateways[0], secret)}
        adding, one, searching = {}, {}, {}
        for side, (gateway, key) in sides.items():
            begun = time.monotonic()
            for start in range(0, len(texts), 500):
                self.added(gateway, key, "cost", *texts[start:start + 500])
            adding[side] = (time.monotonic() - begun) / len(texts)
            self.found(gateway, key, "cost", "number1")
        for number in range(300):  # by turns, so that other load is the same for both
            for side, (gateway, key) in sides.items():
                begun = time.perf_counter()
                self.assertIn(told(number), self.found(gateway, key, "cost", f"number{number} {WORDS[number % 18]}"))
                searching.setdefault(side, []).append(time.perf_counter() - begun)
        for number in range(2_000, 2_050):
            for side, (gateway, key) in sides.items():
                begun = time.perf_counter()
                self.added(gateway, key, "cost", told(number))
                one.setdefault(side, []).append(time.perf_counter() - begun)
        middle = {what: {side: statistics.median(times) * 1000 for side, times in of.items()}
                  for what, of in {"search": searching, "add": one}.items()}
        for what, unit in middle.items():
            print(f"one {what}, median: {unit['file']:.2f} ms over a file, {unit['server']:.2f} ms over PostgreSQL")
        print(f"documents in calls of 500: {adding['file'] * 1000:.2f} ms each over a file, "
              f"{adding['server'] * 1000:.2f} ms over PostgreSQL")
        # Four round trips to a server of this machine, and a machine that does other work.
        self.assertLess(middle["search"]["server"], middle["search"]["file"] * 2 + 5)


class Copied(WithDocuments):
    """A store in a file becomes one on a server."""

    def test_a_gateway_serves_what_was_copied(self):
        file = Gateway(self.upstream, **self.SETTINGS)
        self.addCleanup(file.close)
        secret = file.run("keys", "add", "ann", "--private-indexes").strip()
        wait_for(lambda: self.knows(file, secret), "the key to be known")
        texts = [told(number) for number in range(300)]
        self.added(file, secret, "moved", *texts)
        self.added(file, secret, "other", BRIDGE)
        made = self.respond(file, secret)
        self.assertTrue(made.json["store"], made.body)
        memory = file.ask("/v1/memories", {"text": "Ann sails on Friday"}, headers=bearer(secret))
        self.assertIn(memory.status, (200, 201), memory.body)
        time.sleep(1)  # usage and traces are written a moment later

        copy = ["store", "copy", file.folder / "store.db", self.server.url, "--json"]
        with Clients(2, lambda number: (number % 300, self.found(file, secret, "moved", f"number{number % 300}"))) as readers:
            stopped = subprocess.Popen([PROGRAM, *map(str, copy)], cwd=file.folder, env=file.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.15)
            stopped.send_signal(signal.SIGINT)
            self.assertIn(stopped.wait(60), (0, 130, -signal.SIGINT))
            report = json.loads(file.run(*copy))
        self.assertGreater(len(readers.results), 5)
        for number, found in readers.results:
            self.assertEqual(found, [told(number)])
        rows = {one["table"]: one["rows"] for one in report["tables"]}
        self.assertEqual((rows["indexes"], rows["documents"], rows["keys"], rows["facts"]), (2, 301, 1, 1))
        for gateway in self.gateways:
            wait_for(lambda: self.knows(gateway, secret), "the key to be known")
            self.assertEqual(self.found(gateway, secret, "moved", "number123"), [told(123)])
            self.assertEqual(self.found(gateway, secret, "other", "bridge"), [BRIDGE])
            self.assertEqual(gateway.ask(f"/v1/responses/{made.json['id']}", headers=bearer(secret)).json, made.json)
            self.assertEqual([one["text"] for one in gateway.ask("/v1/memories", headers=bearer(secret)).json["data"]],
                             ["Ann sails on Friday"])
        self.added(self.gateways[0], secret, "moved", HARBOUR)
        self.assertEqual(self.found(self.gateways[1], secret, "moved", "harbour of Enkhuizen")[:1], [HARBOUR])
        again = subprocess.run([PROGRAM, *map(str, copy)], cwd=file.folder, env=file.environment, capture_output=True, text=True,
                               check=False)
        self.assertEqual(again.returncode, 2, again.stdout)
        self.assertIn("copy into an empty store", again.stderr)
        self.assertNotIn(self.server.password, again.stdout + again.stderr)

    def test_indexes_go_to_the_server_and_back(self):
        file = Gateway(self.upstream, **self.SETTINGS)
        self.addCleanup(file.close)
        for where in (file, self.gateways[0]):
            where.run("keys", "add", "bo", "--private-indexes")
        store, back = file.folder / "store.db", file.folder / "back.db"
        (file.folder / "log.md").write_text("".join(f"# Day {day}\n\n{told(day)}\n\n" for day in range(50)))
        file.run("index", "add", "round", file.folder / "log.md")
        (there,) = json.loads(file.run("index", "copy", store, self.server.url, "--json"))
        (again,) = json.loads(file.run("index", "copy", self.server.url, back, "round", "--json"))
        self.assertEqual((there["documents"], again["checksum"]), (1, there["checksum"]))
        found = [json.loads(file.run("--set", f"store_file={one}", "search", "round", "number17", "--json"))["passages"] for one in (store, back)]
        self.assertEqual(*found)
        self.assertEqual(json.loads(file.run("index", "copy", store, self.server.url, "--key", "bo", "--json")), [])


class Killed(WithDocuments):
    """Gateways are killed while they change documents."""

    def test_nothing_that_was_acknowledged_is_lost(self):
        secret = self.key()
        kept, lock = {}, threading.Lock()
        victims = [self.start() for _ in range(3)]
        for victim in victims:
            wait_for(lambda: self.knows(victim, secret), "the key to be known")
        current = [victims[0]]
        deleted = set()

        def ask(number):
            gateway = current[0] if number % 2 else self.gateways[0]
            text = told(number)
            try:
                reply = self.add(gateway, secret, "log", text)
                if reply.status == 200:
                    with lock:
                        kept[number] = text
                    if number % 5 == 0:
                        with lock:
                            del kept[number]  # not known until the reply is there
                        gone = self.delete(gateway, secret, "log", text)
                        if gone.status == 200:
                            with lock:
                                deleted.add(text)
            except OSError:
                time.sleep(0.02)
            return number

        with Clients(8, ask):
            for number, victim in enumerate(victims):
                current[0] = victim
                already = len(kept)
                wait_for(lambda: len(kept) > already + 40, "documents to be added")
                victim.stop(signal.SIGKILL)
            current[0] = self.gateways[1]
        for gateway in self.gateways:
            there = self.texts(gateway, secret, "log")
            self.assertEqual(len(there), len(set(there)))
            self.assertFalse(set(kept.values()) - set(there))
            self.assertFalse(deleted & set(there))
            for number in list(kept)[-20:]:
                self.assertIn(kept[number], self.found(gateway, secret, "log", f"number{number}"))
            for text in list(deleted)[-5:]:
                self.assertNotIn(text, self.found(gateway, secret, "log", text))
        self.assertGreater(len(kept), 100)
        self.assertEqual(self.server.query(
            "SELECT count(*) FROM plimsoll.chunks c LEFT JOIN plimsoll.documents d ON d.id = c.document_id WHERE d.id IS NULL"), "0")
        print(f"three gateways killed while they indexed: {len(kept)} documents acknowledged, none lost; {len(deleted)} deleted, none shown")

    def test_the_server_crashes_while_documents_are_added(self):
        secret = self.key()
        kept, failed = [], []

        def ask(number):
            reply = self.add(self.gateways[number % 3], secret, "crash", told(number))
            if reply.status == 200:
                kept.append(told(number))
            else:
                failed.append(reply)
                time.sleep(0.02)
            return number

        with Clients(6, ask):
            wait_for(lambda: len(kept) > 30, "documents to be added")
            self.server.stop("immediate")
            self.addCleanup(lambda: self.server.process or self.server.start())
            time.sleep(1)
            refused = self.retrieve(self.gateways[0], secret, "crash", "number1")
            self.assertEqual(refused.status, 503, refused.body)
            self.server.start()
            already = len(kept)
            wait_for(lambda: len(kept) > already + 30, "documents to be added again")
        self.assertTrue(failed)
        for reply in failed:
            self.assertEqual(reply.status, 503, reply.body)
            self.assertNotIn(str(self.server.port), reply.body.decode())
        for gateway in self.gateways:
            self.assertFalse(set(kept) - set(self.texts(gateway, secret, "crash")))
            self.assertIn(kept[-1], self.found(gateway, secret, "crash", kept[-1].split()[1]))
        print(f"a crash of the server while documents were added: {len(kept)} acknowledged, none lost; {len(failed)} refused")

    def test_a_command_that_is_killed_goes_on_where_it_was(self):
        gateway = self.gateways[0]
        folder = gateway.folder / "many"
        folder.mkdir()
        for number in range(3_000):
            (folder / f"{number}.md").write_text("\n\n".join(told(number * 40 + line) for line in range(40)))
        command = [*gateway.command[:1], "index", "add", "many", "many", "--no-embedder", "--quiet"]
        process = subprocess.Popen(command, cwd=gateway.folder, env=gateway.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        stored = "SELECT coalesce(sum(documents), 0) FROM plimsoll.indexes WHERE name = 'many'"
        wait_for(lambda: process.poll() is not None or int(self.server.query(stored)) > 0, "documents to be stored")
        process.kill()
        process.wait()
        before = int(self.server.query(stored))
        self.assertGreater(before, 0)
        done = json.loads(gateway.run("index", "add", "many", "many", "--no-embedder", "--quiet", "--json"))
        self.assertEqual(done["unchanged"], before)
        self.assertEqual(done["added"], 3_000 - before)
        self.assertIn("is sound: 3000 documents", self.gateways[1].run("index", "verify", "many"))


if __name__ == "__main__":
    unittest.main()
