"""Names that lead from one document to another: `plimsoll search` and `plimsoll graph` as a user meets them.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it); set-up must have brought a tokenizer and the embedder.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
QUESTION = "Who is the mother of the director of Snow Day?"
FILM = "Snow Day: Snow Day is a 2009 Polish film directed by Xawery Nowak. It is set in Warsaw.\n"
PERSON = "Xawery Nowak: Xawery Nowak was born in Lublin. He is the son of the actress Anna Braun.\n"


class Graph(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = os.environ | {"XDG_DATA_HOME": str(self.folder / "data")}
        for name, text in (("film.txt", FILM), ("person.txt", PERSON)):
            (self.folder / name).write_text(text)
        # Documents that have one of the question's words more than the one that answers it.
        for i in range(8):
            (self.folder / f"other{i}.txt").write_text(
                f"School {i}: The school with the number {i} is old. Its new director came in the year 190{i} by train.\n")
        self.run_it("index", "add", "films", ".")

    def run_it(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stdout + done.stderr

    def search(self, *more):
        return json.loads(self.run_it("search", "films", QUESTION, "--budget", 80, "--json", *more))["passages"]

    def test_the_second_document_is_found_by_its_name_in_the_first(self):
        found = {passage["document"]: passage for passage in self.search()}
        self.assertIn("film.txt", found)
        self.assertIn("Anna Braun", found["person.txt"]["text"])
        self.assertIn("'xawery nowak' is named in film.txt", found["person.txt"]["reason"])
        self.assertIn("'snow day' is named in the question", found["film.txt"]["reason"])

    def test_a_filter_holds_for_what_is_linked(self):
        self.run_it("index", "remove", "films", "film.txt")
        self.run_it("index", "add", "films", "film.txt", "--meta", "kind=film")
        self.assertEqual({passage["document"] for passage in self.search("--filter", "kind=film")}, {"film.txt"})

    def test_a_removed_document_is_not_linked(self):
        self.run_it("index", "remove", "films", "person.txt")
        self.assertNotIn("person.txt", {passage["document"] for passage in self.search()})
        self.assertEqual(json.loads(self.run_it("graph", "films", "Xawery Nowak", "--json"))["title_of"], [])

    def test_the_neighbourhood_of_a_name(self):
        found = json.loads(self.run_it("graph", "films", "Xawery", "Nowak", "--json"))
        self.assertEqual(found["title_of"], ["person.txt"])
        self.assertEqual(sorted(found["mentioned_in"]), ["film.txt", "person.txt"])
        self.assertIn("anna braun", {name["name"] for name in found["names"]})
        text = self.run_it("graph", "films", "xawery nowak")
        self.assertIn("Title of\n  person.txt", text)
        dot = self.run_it("graph", "films", "Xawery Nowak", "--dot")
        self.assertTrue(dot.startswith("graph names {") and dot.endswith("}\n"))
        self.assertIn('"xawery nowak" -- "document: person.txt" [label="title"]', dot)

    def test_the_most_frequent_names(self):
        names = json.loads(self.run_it("graph", "films", "--most", 3, "--json"))["names"]
        self.assertEqual(len(names), 3)
        self.assertEqual(names[0], {"name": "xawery nowak", "chunks": 2})

    def test_what_is_unknown_is_refused(self):
        self.assertIn("has no name 'Nobody Here'", self.run_it("graph", "films", "Nobody Here", status=2))
        self.assertIn("add it after the index", self.run_it("graph", "films", "--dot", status=2))


if __name__ == "__main__":
    unittest.main()
