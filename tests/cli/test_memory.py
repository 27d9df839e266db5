"""`plimsoll memory` as a user meets it.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it); set-up must have brought the embedder.
"""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"


class Memory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-memory-")
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name) / "new" / "store.db"

    def run_(self, *arguments, status=0, settings=()):
        done = subprocess.run([PROGRAM, *settings, "memory", arguments[0], "--store", str(self.store), *arguments[1:]],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def add(self, *arguments):
        return re.search(r"mem_\S+(?=:)", self.run_("add", *arguments))[0]

    def test_a_life_of_a_memory(self):
        self.assertIn("plimsoll memory add", self.run_("list", status=2))  # a file that was named is to be there
        self.assertFalse(self.store.exists())
        nuts = self.add("Ann is allergic to hazelnuts", "--importance", "0.9")
        self.add("The office is in Hamburg")
        self.add("The pump is blue", "--session", "ticket-7")
        self.assertIn(f"renewed {nuts}", self.run_("add", " Ann is allergic\nto hazelnuts "))
        listed = self.run_("list")
        self.assertRegex(listed, r"ID +TRUST +IMPORTANCE +SESSION +SAID +TEXT")
        self.assertRegex(listed, rf"{nuts} +0\.50 +0\.90 +- +\d{{4}}-\d\d-\d\d +Ann is allergic to hazelnuts")
        self.assertNotIn("Hamburg", self.run_("list", "--session", "ticket-7"))
        found = json.loads(self.run_("search", "Which food must she avoid?", "--json"))
        self.assertEqual(found["data"][0]["id"], nuts)
        self.assertEqual(found["notes"], [])
        self.assertIn("trust 0.55 after 1 judgement", self.run_("feedback", nuts, "--helpful"))
        self.assertIn("trust 0.45 after 2 judgements", self.run_("feedback", nuts, "--not-helpful"))
        self.assertIn("forgotten: 1 memory", self.run_("forget", nuts))
        self.assertIn("forgotten: 1 memory", self.run_("forget", "--session", "ticket-7"))
        held = b"".join(path.read_bytes() for path in self.store.parent.iterdir())
        self.assertNotIn(b"hazelnuts", held)
        self.assertNotIn(b"pump is blue", held)
        self.assertEqual([one["text"] for one in json.loads(self.run_("list", "--json"))["data"]], ["The office is in Hamburg"])

    def test_mistakes_are_told_with_what_to_do(self):
        self.assertIn("plimsoll memory add", self.run_("forget", "mem_x", status=2))  # there is no store yet
        kept = self.add("Ann likes tea")
        self.assertIn("there is no memory 'mem_x'", self.run_("forget", "mem_x", status=2))
        self.assertIn("--helpful or --not-helpful", self.run_("feedback", kept, status=2))
        self.assertIn("--session", self.run_("forget", status=2))
        self.assertIn("at most 4,000", self.run_("add", "x" * 4001, status=2))
        self.assertIn("empty", self.run_("add", " ", status=2))
        self.assertIn("unknown key id 'key_x'", self.run_("add", "x", "--owner", "key_x", status=2))
        self.run_("add", "x", "--importance", "2", status=2)

    def test_without_an_embedder_words_are_enough_and_it_is_said(self):
        settings = ("--set", "embedders=")
        done = json.loads(self.run_("add", "Ann likes tea", "--json", settings=settings))
        self.assertIn("found by words alone", done["note"])
        found = json.loads(self.run_("search", "tea", "--json", settings=settings))
        self.assertEqual(len(found["data"]), 1)
        self.assertIn("by words alone", found["notes"][0])
        # With one, it gets its vector when it is first looked for.
        self.assertEqual(len(json.loads(self.run_("search", "what does she drink?", "--json"))["data"]), 1)


if __name__ == "__main__":
    unittest.main()
