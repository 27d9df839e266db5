"""`plimsoll index`, `search` and `eval` as a user meets them.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it); set-up must have brought a tokenizer and the embedder.
"""

import contextlib
import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"

LOG = """# The log

## Loading
The grain came aboard in Odessa. Nine hundred tons went into the hold.
The load line stood two inches above the water when we sailed.

## Crew
The cook signed on in Genoa. He could not swim.

| name | rank |
|---|---|
| Amara | mate |
| Olsen | carpenter |
"""


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = os.environ | {"XDG_DATA_HOME": str(self.folder / "data")}
        self.write("docs/log.md", LOG)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path

    def run_it(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stdout + done.stderr

    def as_json(self, *arguments, status=0):
        return json.loads(self.run_it(*arguments, "--json", status=status))

    def search(self, query, *more):
        return self.as_json("search", "ship", query, *more)


class Index(InAFolder):
    def test_documents_go_in_and_passages_come_out_with_their_places(self):
        self.run_it("index", "add", "ship", "docs")
        found = self.search("How much grain was loaded?", "--budget", 60)
        passage = found["passages"][0]
        self.assertEqual(passage["document"], "docs/log.md")
        source = (self.folder / "docs/log.md").read_bytes()
        for one in found["passages"]:
            self.assertEqual(source[one["start"]:one["end"]].decode(), one["text"])
        self.assertIn("Nine hundred tons", found["context"])
        self.assertLessEqual(found["tokens"], 60)
        self.assertEqual(found["budget"], 60)
        self.assertGreater(found["candidates"], 0)
        counted = subprocess.run([PROGRAM, "count", "--tokenizer", "o200k_base", "--json", "-"], input=found["context"],
                                 capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(counted.stdout)["tokens"], found["tokens"])

    def test_what_is_unchanged_is_not_embedded_again_and_what_changed_is_replaced(self):
        self.write("docs/other.txt", "The dog slept on the hatch. Nothing else happened.\n")
        first = self.as_json("index", "add", "ship", "docs")
        self.assertEqual((first["added"], first["updated"], first["unchanged"]), (2, 0, 0))
        again = self.as_json("index", "add", "ship", "docs")
        self.assertEqual((again["added"], again["updated"], again["unchanged"], again["sentences"]), (0, 0, 2, 0))
        self.write("docs/log.md", LOG.replace("Odessa", "Riga"))
        third = self.as_json("index", "add", "ship", "docs")
        self.assertEqual((third["added"], third["updated"], third["unchanged"]), (0, 1, 1))
        self.assertEqual(third["sentences"], 1)  # the one sentence that is new
        context = self.search("Where did the grain come from?")["context"]
        self.assertIn("Riga", context)
        self.assertNotIn("Odessa", context)

    def test_what_is_removed_is_gone(self):
        self.write("docs/other.txt", "The dog slept on the hatch. Nothing else happened.\n")
        self.run_it("index", "add", "ship", "docs")
        self.run_it("index", "remove", "ship", "docs/other.txt")
        self.assertNotIn("dog", self.search("Where did the dog sleep?")["context"])
        said = self.run_it("index", "remove", "ship", "docs/other.txt", status=2)
        self.assertIn("docs/other.txt", said)
        (self.folder / "docs/log.md").unlink()
        pruned = self.as_json("index", "add", "ship", "docs", "--prune")
        self.assertEqual(pruned["removed"], 1)
        said = self.run_it("index", "remove", "ship", status=2)
        self.assertIn("--yes", said)
        self.assertEqual(self.as_json("index", "show", "ship")["name"], "ship")
        self.run_it("index", "remove", "ship", "--yes")
        self.assertEqual(self.as_json("index", "list"), [])

    def test_removing_an_index_asks_on_a_terminal(self):
        self.run_it("index", "add", "ship", "docs", "--no-embedder")
        for answer, status in (("n\n", 2), ("\n", 2), ("yes\n", 0)):
            ours, theirs = pty.openpty()
            process = subprocess.Popen([PROGRAM, "index", "remove", "ship"], cwd=self.folder, env=self.environment,
                                       stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            os.close(theirs)
            os.write(ours, answer.encode())
            said, _ = process.communicate(timeout=60)
            os.close(ours)
            self.assertEqual(process.returncode, status, said)
            self.assertIn("Remove index 'ship' with 1 document? [y/N]", said)
        self.assertEqual(self.as_json("index", "list"), [])

    def test_commands_that_only_read_make_no_store(self):
        for command in (["keys", "list"], ["inspect", "--last"], ["usage"], ["memory", "list"], ["index", "list"],
                        ["ask", "ship", "Where is the cook?"], ["chat", "ship"]):
            said = self.run_it(*command, "--store", self.folder / "typo.db", status=2)
            self.assertIn("typo.db", said)
        self.assertIn("no such file", self.run_it("index", "list", "--store", "typo.db", "--json", status=2))
        self.assertIn("no keys", self.run_it("keys", "list"))
        self.assertEqual([path for path in self.folder.rglob("*") if ".db" in path.name], [])

    def test_lists_and_shows(self):
        self.assertIn("no index yet", self.run_it("index", "list"))
        self.run_it("index", "add", "ship", "docs", "--meta", "year=1869", "--meta", "port=Leith")
        listed = self.as_json("index", "list")
        self.assertEqual(listed[0]["name"], "ship")
        self.assertEqual(listed[0]["embedders"], ["all-minilm-l6-v2"])
        self.assertEqual(self.as_json("index", "show", "ship")["documents"], 1)
        documents = self.as_json("index", "documents", "ship")
        self.assertEqual(documents[0]["metadata"]["year"], 1869)
        self.assertEqual(documents[0]["type"], "text/markdown")
        self.assertIn("docs/log.md", self.run_it("index", "documents", "ship"))
        self.assertIn("ship is sound", self.run_it("index", "verify", "ship"))
        self.assertIn("rebuilt ship", self.run_it("index", "rebuild", "ship"))
        self.assertTrue(self.as_json("index", "verify", "ship")["sound"])

    def test_folders_of_the_same_name_do_not_overwrite_each_other(self):
        for project in ("p1", "p2"):
            self.write(f"{project}/docs/README.md", f"# Guide\n\nThis is the guide of project {project}, and no other.\n")
            self.write(f"{project}/docs/{project}.md", f"Only project {project} has this page.\n")
            report = self.as_json("index", "add", "ship", self.folder / project / "docs")
            self.assertEqual((report["added"], report["updated"]), (2, 0))
        documents = {one["document"]: one["file"] for one in self.as_json("index", "documents", "ship")}
        self.assertEqual(set(documents), {"docs/README.md", "docs/p1.md", "p2/docs/README.md", "docs/p2.md"})
        self.assertEqual(documents["p2/docs/README.md"], str((self.folder / "p2/docs/README.md").resolve()))
        for project in ("p1", "p2"):
            self.assertIn(f"project {project}, and no other", self.search(f"guide of project {project}")["context"])
        again = self.as_json("index", "add", "ship", self.folder / "p1/docs", self.folder / "p2")
        self.assertEqual((again["added"], again["updated"], again["unchanged"]), (0, 0, 4))
        (self.folder / "p1/docs/p1.md").unlink()
        (self.folder / "p2/docs/p2.md").unlink()
        pruned = self.as_json("index", "add", "ship", self.folder / "p2/docs", "--prune")
        self.assertEqual(pruned["removed"], 1)
        left = {one["document"] for one in self.as_json("index", "documents", "ship")}
        self.assertEqual(left, {"docs/README.md", "docs/p1.md", "p2/docs/README.md"})

    def test_documents_of_renamed_files_are_told(self):
        note = r"the file of 1 document was deleted or renamed: docs/log\.md; --prune removes the document"
        self.assertNotRegex(self.run_it("index", "add", "ship", "docs"), note)
        (self.folder / "docs/log.md").rename(self.folder / "docs/diary.md")
        self.assertRegex(self.run_it("index", "add", "ship", "docs"), note)
        self.write("elsewhere.txt", "The dog slept on the hatch.\n")
        self.assertNotRegex(self.run_it("index", "add", "ship", "elsewhere.txt"), note)
        told = self.as_json("index", "add", "ship", "docs")
        self.assertRegex(told["warnings"][0]["reason"], note)
        (self.folder / "docs").rename(self.folder / "new")
        (self.folder / "docs").mkdir()
        self.assertIn("the files of 2 documents were deleted or renamed, for example docs/", self.run_it("index", "add", "ship", "docs"))
        pruned = self.as_json("index", "add", "ship", "docs", "--prune")
        self.assertEqual((pruned["removed"], pruned["warnings"]), (2, []))

    def test_prune_keeps_what_came_from_elsewhere(self):
        self.write(".git/HEAD", "x")
        self.write(".gitignore", "private\n")
        self.write("private/notes.md", "Notes that git does not see.\n")
        self.run_it("index", "add", "ship", "private")
        pruned = self.as_json("index", "add", "ship", ".", "--prune")
        self.assertEqual(pruned["removed"], 0)
        (self.folder / "private/notes.md").unlink()
        self.assertEqual(self.as_json("index", "add", "ship", ".", "--prune")["removed"], 1)

    def test_prune_keeps_what_it_cannot_look_at(self):
        self.write("docs/far.md", "A page on a disk that may be away.\n")
        self.run_it("index", "add", "ship", "docs", "--no-embedder")
        (self.folder / "docs/far.md").unlink()
        (self.folder / "docs/far.md").symlink_to("/no/such/disk/far.md")
        pruned = self.as_json("index", "add", "ship", "docs", "--prune", status=1)
        self.assertEqual((pruned["removed"], len(pruned["problems"])), (0, 1))
        (self.folder / "docs/far.md").unlink()
        self.assertEqual(self.as_json("index", "add", "ship", "docs", "--prune")["removed"], 1)

    def test_a_store_of_an_older_version_gets_no_document_twice(self):
        self.write("docs/old.md", "A page that goes away.\n")
        self.run_it("index", "add", "ship", "docs", "--no-embedder")
        store = next((self.folder / "data").rglob("*.db"))
        with contextlib.closing(sqlite3.connect(store)) as connection:
            connection.executescript("ALTER TABLE documents DROP COLUMN file_path; "
                                     "ALTER TABLE documents DROP COLUMN file_root; DROP TABLE forget_orders; "
                                     "DROP TRIGGER trace_share_added; DROP TRIGGER trace_share_changed; DROP TRIGGER trace_share_removed; "
                                     "DROP TABLE trace_shares; DROP TRIGGER session_vectors_removed; DROP TABLE turn_vectors; "
                                     "ALTER TABLE usage DROP COLUMN nano_usd; ALTER TABLE usage DROP COLUMN priced; PRAGMA user_version = 7;")
        (self.folder / "docs/old.md").unlink()
        again = self.as_json("index", "add", "ship", "docs", "--prune")
        self.assertEqual((again["added"], again["updated"], again["unchanged"], again["removed"]), (0, 0, 1, 0))
        self.assertIn("1 document was not found", again["warnings"][0]["reason"])
        documents = {one["document"]: one["file"] for one in self.as_json("index", "documents", "ship")}
        self.assertEqual(documents, {"docs/log.md": str((self.folder / "docs/log.md").resolve()), "docs/old.md": None})

    def test_what_cannot_be_read_by_its_kind_is_skipped_and_counted(self):
        for number in range(5):
            self.write(f"docs/{number}.png", b"\x89PNG\r\n\x1a\n" + bytes(100))
            self.write(f"docs/{number}.svg", "<svg>" + "<path d='M 0 0 L 1 1'/>\n" * 200 + "</svg>")
        self.write("docs/app.min.js", "var a=1;" * 2_000)
        self.write("docs/data.bin", bytes(range(256)))
        said = self.run_it("index", "add", "ship", "docs", "--no-embedder")
        self.assertIn("skipped   12 files of kinds that are not indexed (PNG image 5, SVG image 5, binary file 1, minified code 1)",
                      said)
        self.assertEqual(len(said.splitlines()), 2, said)
        self.assertIn("skipped   docs/3.svg: an SVG image\n", self.run_it("index", "add", "ship", "docs", "--verbose"))
        report = self.as_json("index", "add", "ship", "docs")
        self.assertEqual(len(report["skipped"]), 12)
        self.assertEqual(report["problems"], [])
        named = self.as_json("index", "add", "ship", "docs/1.svg", "docs/1.png", status=1)
        self.assertEqual((named["added"], len(named["problems"]), named["skipped"]), (1, 1, []))

    def test_people_are_not_shown_bytes(self):
        self.write("docs/page.html", "<html><body><p>The pilot of the harbour is called Ines.</p></body></html>")
        self.run_it("index", "add", "ship", "docs/page.html", "--no-embedder")
        said = self.run_it("search", "ship", "pilot of the harbour")
        self.assertRegex(said, r"^docs/page\.html  \d+ tokens, relevance ")
        self.assertIn("end", self.search("pilot of the harbour")["passages"][0])

    def test_patterns_choose_files(self):
        self.write("docs/a.txt", "The letter a.\n")
        self.write("docs/deep/b.txt", "The letter b.\n")
        self.write("docs/deep/c.md", "The letter c.\n")
        self.write("docs/deep/d.svg", "<svg>The letter d.</svg>\n")

        def added(name, *options):
            self.run_it("index", "add", name, "docs", "--no-embedder", *options)
            return {one["document"] for one in self.as_json("index", "documents", name)}
        self.assertEqual(added("text", "--include", "*.txt"), {"docs/a.txt", "docs/deep/b.txt"})
        self.assertEqual(added("deep", "--include", "deep/", "--exclude", "*.txt"), {"docs/deep/c.md", "docs/deep/d.svg"})
        self.assertEqual(added("flat", "--exclude", "deep/", "--exclude", "log.md"), {"docs/a.txt"})

    def test_the_store_shrinks_after_prune(self):
        for number in range(30):
            self.write(f"many/{number}.txt", f"{number} " + "words and words and words.\n" * 4_000)
        self.run_it("index", "add", "ship", "many", "docs", "--no-embedder")
        store = next((self.folder / "data").rglob("*.db"))
        before = store.stat().st_size
        shutil.rmtree(self.folder / "many")
        (self.folder / "many").mkdir()
        self.assertEqual(self.as_json("index", "add", "ship", "many", "--prune")["removed"], 30)
        self.assertLess(store.stat().st_size * 4, before)
        self.assertTrue(self.as_json("index", "verify", "ship")["sound"])

    def test_passages_say_their_lines(self):
        self.run_it("index", "add", "ship", "docs")
        for passage in self.search("How much grain was loaded?", "--budget", 60)["passages"]:
            lines = LOG.splitlines()[passage["first_line"] - 1:passage["last_line"]]
            self.assertIn(passage["text"], "\n".join(lines))
            self.assertIn(passage["text"].splitlines()[0], lines[0])
            self.assertIn(passage["text"].splitlines()[-1], lines[-1])
        self.assertRegex(self.run_it("search", "ship", "grain"), r"docs/log.md > .*  lines \d+ to \d+, ")

    def test_parts_of_identifiers_are_found(self):
        self.write("docs/api.md", "Add the CORSMiddleware to the application before anything else.\n\n"
                                  "Set include_in_schema to false and the route is hidden.\n")
        self.run_it("index", "add", "ship", "docs", "--no-embedder")
        self.assertIn("CORSMiddleware", self.search("CORS")["context"])
        self.assertIn("include_in_schema", self.search("schema")["context"])
        self.assertIn("include_in_schema", self.search("include in schema")["context"])

    def test_bad_files_are_named_and_the_rest_goes_in(self):
        self.write("docs/broken.pdf", b"%PDF-1.7\nthis is no PDF")
        self.write("docs/binary.dat", bytes(range(256)) * 40)
        self.write("docs/latin.txt", "Stra\xdfe der Schiffe, gro\xdf und sch\xf6n.\n".encode("latin-1"))
        self.write("docs/line.txt", "word " * 200_000)
        os.symlink(self.folder / "docs", self.folder / "docs/loop")
        report = self.as_json("index", "add", "ship", "docs", "--no-embedder", status=1)
        named = {problem["document"]: problem["reason"] for problem in report["problems"]}
        self.assertTrue(any("broken.pdf" in name for name in named), named)
        skipped = [one["document"] for one in report["skipped"]]
        self.assertTrue(any("binary.dat" in name for name in skipped), skipped)
        self.assertTrue(any("loop" in name for name in skipped), skipped)
        documents = [one["document"] for one in self.as_json("index", "documents", "ship")]
        self.assertIn("docs/log.md", documents)
        self.assertIn("docs/line.txt", documents)
        self.assertIn("docs/latin.txt", documents)

    def test_what_is_not_there_is_named_and_the_rest_goes_in(self):
        said = self.run_it("index", "add", "ship", "docs", "nowhere.md", status=1)
        self.assertIn("left out  nowhere.md: no such file or folder", said)
        self.assertIn("1 added", said)
        self.assertIn("nowhere.md", self.run_it("index", "add", "other", "nowhere.md", status=2))
        self.assertEqual([one["name"] for one in self.as_json("index", "list")], ["ship"])

    def test_too_large_a_file_is_left_out_by_the_setting(self):
        self.write("docs/large.txt", "x" * 5_000)
        said = self.run_it("--set", "max_document_bytes=2000", "--set", "log_level=error", "index", "add", "ship", "docs", "--no-embedder", status=1)
        self.assertIn("large.txt", said)
        self.assertIn("max_document_bytes", said)

    def test_an_index_keeps_to_how_it_was_made(self):
        self.run_it("index", "add", "ship", "docs", "--no-embedder", "--chunk-tokens", 100)
        for other in (["--embedder", "all-minilm-l6-v2"], ["--chunk-tokens", 150], ["--tokenizer", "qwen3"]):
            self.assertIn("create a new index", self.run_it("index", "add", "ship", "docs", *other, status=2))
        found = self.search("grain")
        self.assertTrue(any("by words alone" in note for note in found["notes"]))
        self.assertIn("Odessa", found["context"])
        self.assertIn("unknown embedder", self.run_it("index", "add", "new", "docs", "--embedder", "nobody", status=2))

    def test_without_the_embedder_search_goes_by_words_and_says_so(self):
        report = json.loads(self.run_it("--set", f"assets_dir={self.folder}", "index", "add", "ship", "docs", "--json"))
        self.assertIn("searched by words alone", report["warnings"][0]["reason"])
        self.assertEqual(self.as_json("index", "show", "ship")["embedders"], [])
        self.assertIn("Odessa", self.search("grain")["context"])
        said = self.run_it("--set", f"assets_dir={self.folder}", "index", "add", "new", "docs", "--embedder", "all-minilm-l6-v2",
                           status=2)
        self.assertIn("all-minilm-l6-v2", said)

    def test_filters_orders_and_limits(self):
        self.run_it("index", "add", "ship", "docs", "--meta", "kind=log")
        self.write("notes/dog.md", "The dog ate grain in Odessa once.\n")
        self.run_it("index", "add", "ship", "notes", "--meta", "kind=note")
        only = self.search("grain in Odessa", "--filter", "kind=note")
        self.assertEqual({one["document"] for one in only["passages"]}, {"notes/dog.md"})
        self.assertEqual(self.search("grain", "--filter", "kind=none")["passages"], [])
        self.assertEqual(len(self.search("grain", "--top-k", 1)["passages"]), 1)
        scores = [one["score"] for one in self.search("grain Odessa cook", "--order", "best-last")["passages"]]
        self.assertEqual(scores, sorted(scores))
        self.assertIn("unknown order", self.run_it("search", "ship", "x", "--order", "sideways", status=2))
        counted = self.search("grain", "--model", "llama3.1:8b")
        self.assertEqual(counted["tokenizer"], "llama3.1")

    def test_says_what_is_not_there(self):
        self.assertIn("no store", self.run_it("search", "ship", "x", status=2))
        self.run_it("index", "add", "ship", "docs", "--no-embedder")
        self.assertIn("there are: ship", self.run_it("search", "shop", "x", status=2))
        self.assertIn("nowhere", self.run_it("index", "add", "ship", "nowhere", status=2))
        self.assertIn("KEY=VALUE", self.run_it("search", "ship", "x", "--filter", "novalue", status=2))

    def test_a_damaged_snapshot_is_made_anew(self):
        self.run_it("index", "add", "ship", "docs")
        before = self.search("grain from Odessa")
        for path in (self.folder / "data").rglob("*.index"):
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0xFF
            path.write_bytes(data)
        self.assertEqual(self.search("grain from Odessa")["passages"], before["passages"])
        for path in (self.folder / "data").rglob("*.index"):
            path.unlink()
        self.assertEqual(self.search("grain from Odessa")["passages"], before["passages"])

    def test_a_blank_file_stops_no_other(self):
        for name, text in (("__init__.py", "\n"), ("blank.md", " \t\n"), ("bom.txt", "\ufeff\r\n"), ("rows.csv", "\n\n")):
            self.write(f"blank/{name}", text)
        self.write("blank/log.md", "# Log\n\nThe grain came aboard in Odessa.\n")
        self.assertEqual(self.as_json("index", "add", "ship", "blank")["added"], 5)
        self.assertTrue(self.as_json("index", "verify", "ship")["sound"])
        self.assertEqual(self.as_json("index", "add", "ship", "blank")["unchanged"], 5)

    def test_ctrl_c_leaves_an_index_that_goes_on(self):
        for number in range(3_000):
            lines = (f"Entry {number} of page {page}: the wind was {number % 12} and {page * number} gulls were seen.\n"
                     for page in range(8))
            self.write(f"many/{number}.txt", "".join(lines))
        process = subprocess.Popen([PROGRAM, "index", "add", "ship", "many"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, said)
        self.assertTrue(self.as_json("index", "verify", "ship")["sound"])
        stored = self.as_json("index", "show", "ship")["documents"]
        self.assertGreater(stored, 0)
        self.assertIn(f"the {stored:,} documents stored so far are kept", said)
        self.assertLess(stored, 3_000)
        shutil.rmtree(self.folder / "many")
        self.write("many/0.txt", "Entry 0, new.\n")
        self.assertEqual(self.as_json("index", "add", "ship", "many", "--prune")["stopped"], False)
        self.assertTrue(self.as_json("index", "verify", "ship")["sound"])


class Eval(InAFolder):
    def test_measures_evidence(self):
        text = LOG + "\n" + "".join(f"\nOn day {n} the wind blew from the north and nothing was seen.\n" for n in range(200))
        self.write("data/corpora/log.md", text)
        line = "The grain came aboard in Odessa."
        start = text.index(line)
        question = {"question": "Where did the grain come aboard?", "document": "log.md",
                    "evidence": [{"start": start, "end": start + len(line)}]}
        self.write("data/questions.jsonl", json.dumps(question) + "\n")
        report = self.as_json("eval", "evidence", "--data", "data", "--budgets", "50,200", "--tokenizer", "o200k_base")
        self.assertEqual(report["questions"], 1)
        self.assertEqual([one["budget"] for one in report["budgets"]], [50, 200])
        for one in report["budgets"]:
            self.assertEqual(one["recall"], 1.0)
            self.assertEqual(one["all_evidence"], 1.0)
            self.assertLessEqual(one["tokens_used"], one["budget"])
        self.assertGreater(report["ms_per_query"], 0)
        self.assertIn("RECALL", self.run_it("eval", "evidence", "--data", "data", "--no-embedder"))
        self.assertIn("corpora", self.run_it("eval", "evidence", "--data", "nowhere", status=2))


if __name__ == "__main__":
    unittest.main()
