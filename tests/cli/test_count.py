"""`plimsoll count` as a user meets it: what it prints, what it refuses and how, and how much memory it takes.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it). Tests that count need a tokenizer that set-up brought.
"""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
MEGABYTE = 1_000_000
MEMORY_LIMIT_KB = 200 * 1024
PDF = (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
       b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
       b"4 0 obj<</Length 57>>stream\nBT /F1 12 Tf 10 100 Td (The load line is amidships.) Tj ET\nendstream endobj\n"
       b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")


def run(*arguments, text=None, env=None):
    """Standard input is `text`, as str or bytes; outputs come back as str."""
    data = text.encode() if isinstance(text, str) else text or b""
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=data, capture_output=True, check=False,
                          env=os.environ | (env or {}))
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def peak_memory(arguments, env=None):
    """Exit status, standard output, and the most memory that the program held, in KiB."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=output, stderr=subprocess.STDOUT,
                                   env=os.environ | (env or {}))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace"), usage.ru_maxrss


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def count(self, *arguments, text=None):
        """The JSON of a count that must succeed."""
        status, out, err = run("count", "--tokenizer", "o200k_base", "--json", *arguments, text=text)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)


class Tables(InAFolder):
    def test_many_files_end_with_a_total(self):
        one = self.file("one.txt", "hello world\n")
        two = self.file("two.txt", "a b c d e f g\n" * 100)
        status, out, err = run("count", "--tokenizer", "o200k_base", one, two)
        self.assertEqual((status, err), (0, ""))
        rows = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
        tokens = [int(rows[str(name)][1].replace(",", "")) for name in (one, two)]
        self.assertEqual(tokens, [3, 800])
        self.assertEqual(int(rows["total"][1]), sum(tokens))
        self.assertEqual(int(rows["total"][2].replace(",", "")), one.stat().st_size + two.stat().st_size)
        self.assertIn("o200k_base, exact", out)

    def test_one_file_needs_no_total(self):
        _, out, _ = run("count", "--tokenizer", "o200k_base", self.file("one.txt", "hello"))
        self.assertNotIn("total", out)

    def test_the_share_of_a_window_is_shown(self):
        path = self.file("one.txt", "hello world\n")
        _, out, _ = run("count", "--tokenizer", "o200k_base", "--window", "6", path)
        self.assertIn("OF 6", out)
        self.assertIn("50.0%", out)
        self.assertEqual(self.count("--window", "6", path)["share"], 0.5)

    def test_a_pipe_gets_no_colours(self):
        _, out, _ = run("count", "--tokenizer", "o200k_base", "--show", text="two words\n")
        self.assertNotIn("\033", out)


class Input(InAFolder):
    def test_standard_input_with_and_without_a_dash(self):
        for arguments in ([], ["-"]):
            counted = self.count(*arguments, text="hello world")
            self.assertEqual((counted["tokens"], counted["files"][0]["file"]), (2, "-"))

    def test_json_says_bytes_and_characters(self):
        counted = self.count(self.file("é.txt", "é字🚢"))
        self.assertEqual(counted["exactness"], "exact")
        self.assertEqual((counted["files"][0]["bytes"], counted["files"][0]["characters"]), (9, 3))

    def test_an_empty_file_has_no_tokens(self):
        self.assertEqual(self.count(self.file("empty", ""))["tokens"], 0)

    def test_json_lines_give_a_count_each(self):
        lines = [{"text": "hello world"}, {"text": ""}, {"text": "a\nb", "more": 1}, {"text": "é\u2028"}]
        status, out, err = run("count", "--tokenizer", "o200k_base", "--jsonl",
                               text="\n".join(map(json.dumps, lines)) + "\n\n")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.split()[:3], ["2", "0", "3"])
        self.assertEqual(len(out.split()), 4)

    def test_a_bad_json_line_is_named(self):
        for bad in ('{"text": 1}', "nonsense", '{"txt": "a"}', "[]", '{"text": "a"'):
            status, out, err = run("count", "--tokenizer", "o200k_base", "--jsonl", text='{"text": "a"}\n' + bad + "\n")
            self.assertEqual((status, out), (2, "1\n"), bad)
            self.assertIn("line 2", err)

    def docx(self, name, words):
        path = self.folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("word/document.xml", '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxml'
                             'formats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>' + words +
                             "</w:t></w:r></w:p></w:body></w:document>")
            archive.writestr("word/media/image.bin", bytes(range(256)) * 100)
        return path

    def test_a_document_is_counted_by_its_text_and_says_so(self):
        words = "The load line stood two inches above the water. " * 20
        path = self.docx("log.docx", words.strip())
        counted = self.count(path)
        plain = self.count("-", text=words.strip())
        self.assertEqual(counted["tokens"], plain["tokens"])
        self.assertEqual(counted["files"][0]["read_as"], ".docx")
        piped = json.loads(run("count", "--tokenizer", "o200k_base", "--json", "-", text=path.read_bytes())[1])
        self.assertEqual((piped["tokens"], piped["files"][0]["read_as"]), (counted["tokens"], ".docx"))
        self.assertIn("read as a .docx document", run("count", "--tokenizer", "o200k_base", path)[1])
        advice = json.loads(run("strategy", "Summarize this", "--json", "--files", path)[1])
        self.assertEqual((advice["files"][0]["tokens"], advice["files"][0]["read_as"]), (plain["tokens"], ".docx"))

    def test_a_pdf_is_counted_by_its_text(self):
        path = self.folder / "paper.pdf"
        path.write_bytes(PDF)
        words = self.count("-", text="The load line is amidships.")["tokens"]
        for counted in (self.count(path), json.loads(run("count", "--tokenizer", "o200k_base", "--json", "-", text=PDF)[1])):
            self.assertEqual(counted["files"][0]["read_as"], "PDF")
            self.assertTrue(words <= counted["tokens"] <= words + 2, counted)  # and the end of the page
        advice = json.loads(run("strategy", "Summarize this", "--json", "--files", path)[1])
        self.assertEqual((advice["files"][0]["tokens"], advice["files"][0]["read_as"]), (counted["tokens"], "PDF"))

    def test_a_pipe_is_counted_whole(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        text = "The load line stood two inches above the water. " * 200
        writer = threading.Thread(target=path.write_text, args=(text,), daemon=True)
        writer.start()
        counted = self.count(path)
        writer.join(60)
        self.assertEqual(counted["files"][0]["bytes"], len(text))

    def test_an_archive_that_is_no_document_is_counted_by_its_bytes(self):
        path = self.folder / "x.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.bin", bytes(100))
        counted = self.count(path)
        self.assertEqual(counted["files"][0]["bytes"], path.stat().st_size)

    def test_a_special_literal_is_text_unless_parsing_is_asked_for(self):
        path = self.file("special", "<|endoftext|>")
        self.assertGreater(self.count(path)["tokens"], 1)
        self.assertEqual(self.count("--specials", "parsed", path)["tokens"], 1)

    def test_bytes_that_are_no_text_are_counted_and_said(self):
        counted = self.count(self.file("binary", b"\xff\xfe\x00abc"))["files"][0]
        self.assertEqual((counted["bytes"], counted["invalid_bytes"]), (6, 2))
        self.assertIn("2 of 6 bytes are not UTF-8", counted["remark"])
        _, out, _ = run("count", "--tokenizer", "o200k_base", self.file("nul", b"a\0b"))
        self.assertIn("has NUL bytes", out)

    def test_random_bytes_are_counted(self):
        data = bytes((i * 197 + i // 7) % 256 for i in range(100_000))
        counted = self.count(self.file("noise", data))
        self.assertGreater(counted["tokens"], 20_000)
        self.assertLessEqual(counted["tokens"], len(data))

    def test_a_character_cut_by_the_end_of_a_read_is_whole(self):
        # Reads are of a megabyte; the ship of four bytes lies across that border.
        for shift in range(4):
            text = "x" * (2**20 - shift) + "🚢" + " end"
            counted = self.count(self.file("cut", text))["files"][0]
            self.assertNotIn("invalid_bytes", counted)
            self.assertEqual(counted["characters"], len(text))

    def test_a_definition_can_be_given_as_a_file(self):
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
        definition = cache / "assets" / "cl100k_base" / "cl100k_base.tiktoken"
        if not definition.exists():
            self.skipTest("cl100k_base was not fetched; run `tools/setup assets`")
        texts = [run("count", *choice, "--json", text="They've 1234567 reasons.")
                 for choice in (["--tokenizer", "cl100k_base"], ["--tokenizer-file", definition])]
        self.assertEqual(json.loads(texts[0][1])["tokens"], json.loads(texts[1][1])["tokens"])


class Showing(InAFolder):
    def test_tokens_are_told_apart(self):
        status, out, _ = run("count", "--tokenizer", "o200k_base", "--show", "-", text="hello world\n")
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith("hello| world|"), out)
        self.assertIn("3 tokens, 12 bytes, o200k_base", out)

    def shown_on_a_terminal(self, env):
        leader, follower = pty.openpty()
        process = subprocess.Popen([PROGRAM, "count", "--tokenizer", "o200k_base", "--show", self.file("t", "hello world")],
                                   stdout=follower, stdin=subprocess.DEVNULL, env=os.environ | {"TERM": "xterm"} | env)
        process.wait()
        os.close(follower)
        out = os.read(leader, 10_000).decode()
        os.close(leader)
        return out

    def test_a_terminal_gets_colours_unless_it_asks_for_none(self):
        self.assertIn("\033[", self.shown_on_a_terminal({"NO_COLOR": ""}))
        self.assertNotIn("\033[", self.shown_on_a_terminal({"NO_COLOR": "1"}))
        self.assertNotIn("\033[", self.shown_on_a_terminal({"TERM": "dumb", "NO_COLOR": ""}))


class Refusals(InAFolder):
    def refuses(self, arguments, *words, text=None):
        status, out, err = run("count", *arguments, text=text)
        self.assertEqual(status, 2, err)
        for word in words:
            self.assertIn(word, err)
        self.assertLess(len(err.splitlines()), 4, err)
        return out

    def test_a_missing_file_and_a_folder_are_named_and_the_others_counted(self):
        good = self.file("good", "hello")
        out = self.refuses(["--tokenizer", "o200k_base", "--json", self.folder / "none", good, self.folder],
                           "none: No such file", f"{self.folder} is a folder")
        self.assertEqual(json.loads(out)["tokens"], 1)

    def test_an_unknown_tokenizer_comes_with_a_guess(self):
        self.refuses(["--tokenizer", "o200kbase"], "unknown tokenizer 'o200kbase'", "did you mean 'o200k_base'?")
        self.refuses(["--tokenizer", "nothing-like-it"], "plimsoll tokenizers")

    def test_bad_flags_say_which(self):
        self.refuses(["--bogus"], "--bogus")
        self.refuses(["--tokenizer", "o200k_base", "--json", "--show"], "--json", "--show")
        for window in ("0", "-3"):
            self.refuses(["--tokenizer", "o200k_base", "--window", window],
                         f"plimsoll: --window must be from 1 to 1000000000, not '{window}'; `plimsoll count --help` explains it\n")
        self.refuses(["--tokenizer", "o200k_base", "--specials", "maybe"], "--specials")
        self.refuses(["--tokenizer", "o200k_base", "--tokenizer-file", "x"], "--tokenizer-file")

    def test_without_a_model_it_says_what_it_counts_with(self):
        status, out, err = run("count", text="hello world")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("o200k_base, exact: the default; choose with --model", out)

    def test_a_file_that_is_no_definition(self):
        self.refuses(["--tokenizer-file", self.file("x.json", "{}")], "x.json", text="x")
        self.refuses(["--tokenizer-file", self.folder / "none.json"], "none.json", text="x")

    def test_a_reader_that_goes_away_is_no_crash(self):
        path = self.file("long", "some words to show\n" * 200_000)
        process = subprocess.Popen([PROGRAM, "count", "--tokenizer", "o200k_base", "--show", path],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read().decode()
        process.stderr.close()
        self.assertIn(process.wait(), (-13, 1, 2, 3, 141))
        self.assertLess(len(err.splitlines()), 3, err)


class Memory(InAFolder):
    """Files are read in stretches: what is held does not grow with them."""

    def big(self, name, block, size):
        path = self.folder / name
        with open(path, "wb") as file:
            for _ in range(size // len(block)):
                file.write(block)
        return path

    def counted_within_bounds(self, path, tokenizer="o200k_base"):
        status, out, peak = peak_memory(["count", "--tokenizer", tokenizer, "--json", path])
        self.assertEqual(status, 0, out)
        self.assertLess(peak, MEMORY_LIMIT_KB, f"{peak / 1024:.0f} MiB for {path.stat().st_size / MEGABYTE:.0f} MB")
        return json.loads(out)["tokens"]

    def test_300_megabytes_of_text(self):
        lines = "".join(f"Crate {i} of {i * i} weighs {i / 7:.3f} kg, they've said: \"größer\" 字.\n" for i in range(20_000))
        block = lines.encode()
        times = 300 * MEGABYTE // len(block)
        path = self.big("text", block, times * len(block))
        self.assertEqual(self.counted_within_bounds(path), times * self.count(text=lines)["tokens"])

    def test_100_megabytes_of_one_letter(self):
        path = self.big("a", b"a" * MEGABYTE, 100 * MEGABYTE)
        self.assertEqual(self.counted_within_bounds(path), 100 * MEGABYTE // 8)

    def test_100_megabytes_of_nuls(self):
        path = self.big("nul", bytes(MEGABYTE), 100 * MEGABYTE)
        tokens = self.counted_within_bounds(path)
        some = self.count(text=bytes(MEGABYTE))["tokens"]
        self.assertAlmostEqual(tokens / some, 100, delta=1)


if __name__ == "__main__":
    unittest.main()
