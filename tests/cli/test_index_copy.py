"""`plimsoll index copy` between files; between a file and a server it is in tests/live."""

import signal
import sqlite3
import subprocess
import time
import unittest

from test_index import PROGRAM, InAFolder

MANY = 4_000
PATIENCE = 60  # seconds


class IndexCopy(InAFolder):
    def setUp(self):
        super().setUp()
        self.write("galley/bread.md", "# Bread\n\nThe cook bakes bread on Fridays. Flour is kept in the hold.\n")
        self.run_it("--set", "store_file=a.db", "index", "add", "ship", "docs")
        self.run_it("--set", "store_file=a.db", "index", "add", "galley", "galley", "--no-embedder", "--meta", "deck=2")

    def copy(self, *arguments, status=0):
        if status:
            return self.run_it("index", "copy", *arguments, status=status)
        return self.as_json("index", "copy", *arguments)

    def at(self, store, *arguments):
        return self.as_json("--set", f"store_file={store}", *arguments)

    def names(self, store):
        return [one["name"] for one in self.at(store, "index", "list")]

    def test_puts_all_indexes_beside_what_is_there(self):
        self.run_it("--set", "store_file=b.db", "index", "add", "log", "docs", "--no-embedder")
        copied = self.copy("a.db", "b.db")
        self.assertEqual([one["index"] for one in copied], ["ship", "galley"])
        self.assertEqual(self.names("b.db"), ["log", "ship", "galley"])
        for query in ("Where is the anchor?", "bread flour"):
            found = [[(one["text"], one["score"]) for one in self.at(store, "search", "ship", query)["passages"]]
                     for store in ("a.db", "b.db")]
            self.assertEqual(*found)
        documents = [self.at(store, "index", "documents", "galley") for store in ("a.db", "b.db")]
        for one in documents:
            for document in one:
                document.pop("added_ms", None)
        self.assertEqual(*documents)
        self.run_it("--set", "store_file=b.db", "index", "verify", "ship")

    def test_an_index_of_that_name_is_kept_unless_it_is_to_be_replaced(self):
        self.copy("a.db", "b.db", "galley")
        self.assertIn("--replace", self.copy("a.db", "b.db", "galley", status=2))
        self.copy("a.db", "b.db", "galley", "--as", "kitchen")
        self.assertEqual(self.names("b.db"), ["galley", "kitchen"])
        self.write("galley/soup.md", "# Soup\n\nThe soup is made of beans.\n")
        self.run_it("--set", "store_file=a.db", "index", "add", "galley", "galley", "--meta", "deck=2")
        self.assertEqual(self.at("b.db", "search", "galley", "soup beans")["passages"], [])
        self.copy("a.db", "b.db", "galley", "--replace")
        self.assertIn("beans", self.at("b.db", "search", "galley", "soup beans")["passages"][0]["text"])
        self.assertEqual(self.names("b.db"), ["kitchen", "galley"])

    def test_says_what_cannot_be_copied(self):
        self.assertIn("tally", self.copy("a.db", "b.db", "tally", status=2))
        self.assertIn("--as", self.copy("a.db", "a.db", "ship", status=2))
        self.assertIn("--as", self.copy("a.db", "b.db", "--as", "other", status=2))
        self.assertIn("nowhere.db", self.copy("nowhere.db", "b.db", status=2))
        self.assertFalse((self.folder / "nowhere.db").exists())

    def test_goes_on_after_ctrl_c_with_what_changed_meanwhile(self):
        for number in range(MANY):
            self.write(f"many/{number}.txt", f"Barrel {number} holds salted herring from the harbour of Bergen.\n")
        self.run_it("--set", "store_file=a.db", "index", "add", "many", "many", "--no-embedder", "--quiet")
        copying = subprocess.Popen([PROGRAM, "index", "copy", "a.db", "b.db", "many"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until = time.monotonic() + PATIENCE
        while not self.rows("b.db") and copying.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        copying.send_signal(signal.SIGINT)
        told, _ = copying.communicate(timeout=PATIENCE)
        self.assertEqual(copying.returncode, 130, told)
        self.assertIn("goes on", told)
        self.assertEqual(self.names("b.db"), [])
        self.write("many/0.txt", "Barrel 0 is empty.\n")
        (self.folder / "many/1.txt").unlink()
        self.run_it("--set", "store_file=a.db", "index", "add", "many", "many", "--prune", "--quiet")
        copied = self.copy("a.db", "b.db", "many")[0]
        self.assertEqual(copied["documents"], MANY - 1)
        self.assertGreater(copied["there"], 0)
        keys = [sorted(one["document"] for one in self.at(store, "index", "documents", "many", "--limit", MANY)) for store in ("a.db", "b.db")]
        self.assertEqual(*keys)
        self.assertIn("empty", self.at("b.db", "search", "many", "barrel empty")["passages"][0]["text"])

    def rows(self, store):
        try:
            with sqlite3.connect(f"file:{self.folder / store}?mode=ro", uri=True) as opened:
                return opened.execute("SELECT count(*) FROM documents").fetchone()[0]
        except sqlite3.Error:  # not there yet
            return 0


if __name__ == "__main__":
    unittest.main()
