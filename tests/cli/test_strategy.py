"""`plimsoll strategy` as a user meets it: the advice, the JSON, what is counted, what is refused."""

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
FIELDS = [
    "strategy",
    "confidence",
    "reasoning",
    "content_tokens",
    "available_budget",
    "model_context_length",
    "used_tokens",
    "utilization_pct",
    "task_type",
    "retrieval_budget_tokens",
    "steps",
    "crisis",
]


def run(*arguments, env=None):
    done = subprocess.run(
        [PROGRAM, "strategy", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=os.environ | (env or {}),
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def on_terminal(columns, *arguments, env=None):
    """What a terminal of so many columns gets to see."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [PROGRAM, "strategy", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.STDOUT,
        env=os.environ | {"TERM": "xterm"} | (env or {}),
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(master)
    process.wait()
    return seen.decode().replace("\r\n", "\n")


class Strategy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def advice(self, *arguments, env=None):
        status, out, err = run(*arguments, "--json", env=env)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)

    def test_json_has_the_fields_of_the_rule_first(self):
        advice = self.advice("What is a load line?", "--hint", "small")
        self.assertEqual(list(advice)[: len(FIELDS)], FIELDS)
        self.assertEqual(
            (advice["strategy"], advice["confidence"], advice["task_type"]), ("HYBRID", 0.85, "rag_critical")
        )
        self.assertEqual(
            (advice["content_tokens"], advice["available_budget"], advice["retrieval_budget_tokens"]),
            (8000, 96000, 28800),
        )
        self.assertEqual(
            (advice["model_context_length"], advice["used_tokens"], advice["utilization_pct"]), (128000, 0, 6.2)
        )
        self.assertIs(advice["crisis"], False)

    def test_without_any_size_64000_tokens_are_assumed(self):
        advice = self.advice("Fix it")
        self.assertEqual((advice["content_tokens"], advice["content_source"]), (64000, "default"))
        self.assertEqual((advice["strategy"], advice["confidence"]), ("HYBRID", 0.6))

    def test_files_are_counted_exactly_and_missing_ones_said(self):
        one, two = self.file("one.txt", "hello world\n"), self.file("two.txt", "a b c d e f g\n" * 100)
        gone = self.folder / "gone.txt"
        advice = self.advice("Fix it", "--files", one, gone, two, self.folder)
        self.assertEqual(
            (advice["content_tokens"], advice["content_source"], advice["exactness"]), (803, "counted", "exact")
        )
        self.assertEqual(advice["tokenizer"], "o200k_base")
        self.assertEqual([(file["file"], file["tokens"]) for file in advice["files"]], [(str(one), 3), (str(two), 800)])
        self.assertEqual([skipped["file"] for skipped in advice["skipped"]], [str(gone), str(self.folder)])
        self.assertIn("No such file", advice["skipped"][0]["why"])
        self.assertIn("folder", advice["skipped"][1]["why"])
        _, out, _ = run("Fix it", "--files", one, gone)
        self.assertIn("counted with o200k_base, exact", out)
        self.assertIn(f"skipped: cannot read {gone}", out)

    def test_a_model_brings_its_tokenizer_and_window(self):
        path = self.file("one.txt", "hello world\n")
        advice = self.advice("Fix it", "--files", path, "--model", "Qwen/Qwen2.5-7B-Instruct")
        self.assertEqual((advice["model"], advice["tokenizer"]), ("qwen2.5:7b", "qwen2.5"))
        self.assertEqual((advice["model_context_length"], advice["window_source"]), (32768, "catalogue"))
        given = self.advice("Fix it", "--model", "qwen2.5:7b", "--window", "9000")
        self.assertEqual((given["model_context_length"], given["window_source"]), (9000, "given"))
        configured = self.advice("Fix it", "--model", "qwen2.5:7b", env={"LLM_CONTEXT_WINDOW": "5000"})
        self.assertEqual((configured["model_context_length"], configured["window_source"]), (5000, "configured"))

    def test_without_a_tokenizer_files_are_estimated_and_it_says_why(self):
        path = self.file("one.txt", "x" * 4000)
        empty = {"PLIMSOLL_ASSETS_DIR": str(self.folder / "none"), "PLIMSOLL_TOKENIZER_DIR": str(self.folder / "none")}
        advice = self.advice("Fix it", "--files", path, self.folder / "gone", env=empty)
        self.assertEqual(
            (advice["content_tokens"], advice["content_source"], advice["exactness"]), (1000, "file_sizes", "estimated")
        )
        self.assertIn("o200k_base", advice["not_counted"])
        self.assertEqual(len(advice["skipped"]), 1)
        _, out, _ = run("Fix it", "--files", path, env=empty)
        self.assertIn("estimated from the file sizes", out)

    def test_characters_come_before_files(self):
        advice = self.advice("Fix it", "--chars", "4003", "--files", self.file("one.txt", "hello"), "--hint", "huge")
        self.assertEqual((advice["content_tokens"], advice["content_source"]), (1000, "char_count"))

    def test_a_hint_or_characters_beside_missing_files(self):
        gone = self.folder / "gone"
        hinted = self.advice("Fix it", "--hint", "small", "--files", gone)
        self.assertEqual((hinted["content_tokens"], hinted["content_source"], len(hinted["skipped"])), (8000, "hint", 1))
        counted = self.advice("Fix it", "--chars", "4000", "--files", gone)
        self.assertEqual((counted["content_tokens"], counted["content_source"]), (1000, "char_count"))
        status, _, err = run("Fix it", "--files", gone)
        self.assertEqual(status, 2, err)
        self.assertIn("no file could be read", err)

    def test_the_least_trust_is_a_setting(self):
        half = self.advice("Fix it", "--window", "1000", "--used", "425", env={"PLIMSOLL_BASE_MIN_TRUST": "0.35"})["prefetch"]
        self.assertEqual((half["level"], half["min_trust"]), ("hybrid", 0.35))

    def test_used_tokens_and_tools_matter(self):
        advice = self.advice("Fix it", "--hint", "tiny", "--used", "94001", "--tools", "web_search,memory")
        self.assertEqual(
            (advice["strategy"], advice["available_budget"], advice["retrieval_budget_tokens"]), ("RAG", 1999, 1999)
        )
        steps = " ".join(advice["steps"])
        self.assertIn("web_search", steps)
        self.assertIn("Search memory", steps)
        self.assertNotIn("read_file", steps)

    def test_memories_follow_the_pressure(self):
        tight = self.advice("Fix it", "--window", "1000", "--used", "800")["prefetch"]
        self.assertEqual(
            (tight["threshold_tokens"], tight["level"], tight["limit"], tight["min_trust"]), (850, "selective", 2, 0.5)
        )
        self.assertEqual((tight["skip"], tight["wanted"]), (False, False))
        self.assertTrue(self.advice("Who is he?", "--window", "1000", "--used", "800")["prefetch"]["wanted"])
        self.assertTrue(self.advice("Fix it", "--window", "1000", "--used", "900")["prefetch"]["skip"])

    def test_a_crisis_is_never_pasted(self):
        advice = self.advice("Write a poem, I don\u2019t want to live", "--hint", "tiny")
        self.assertEqual((advice["strategy"], advice["crisis"], advice["task_type"]), ("HYBRID", True, "rag_critical"))
        self.assertTrue(advice["steps"][0].startswith("Crisis:"))

    def test_people_see_strategy_reason_window_and_steps(self):
        status, out, err = run("Compare the hulls", "--hint", "huge", "--used", "60000")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("RAG, confidence 0.80\n"), out)
        for part in [
            'hybrid, by "compare"',
            "500,000 tokens, 390.6% of the window; estimated from the hint",
            "128,000 tokens, default",
            "used 60,000",
            "464,000 tokens of content do not fit",
            "up to 25,200 tokens",
            "memories  pressure 55.1%",
            " 1. ",
        ]:
            self.assertIn(part, out)
        self.assertNotIn("\033", out)

    def test_a_narrow_terminal_is_respected(self):
        for columns in (40, 60, 100):
            out = on_terminal(columns, "What is it?", "--hint", "huge", "--used", "1000", env={"NO_COLOR": "1"})
            self.assertNotIn("\033", out)
            self.assertLessEqual(max(map(len, out.splitlines())), columns, out)
        self.assertIn("\033[", on_terminal(80, "What is it?", env={"NO_COLOR": ""}))

    def test_bad_input_is_refused_with_a_reason(self):
        for arguments, words in [
            ([], "QUERY is missing"),
            ([""], "the query is empty"),
            (["  "], "the query is empty"),
            (["x", "--hint", "enormous"], "unknown size 'enormous'; use one of tiny, small"),
            (["x", "--window", "0"], "'0' is not a whole number of 1 or more"),
            (["x", "--window", "many"], "'many' is not a whole number of 1 or more"),
            (["x", "--window", "99999999999999999999"], "is not a whole number"),
            (["x", "--used", "-1"], "'-1' is not a whole number of 0 or more"),
            (["x", "--chars", "1.5"], "is not a whole number"),
            (["x", "--model", "no-such-model"], "no entry for 'no-such-model'"),
            (["x", "--colour"], "--colour"),
        ]:
            with self.subTest(arguments=arguments):
                status, out, err = run(*arguments)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(words, err)

    def test_help_teaches_by_example(self):
        status, out, _ = run("--help")
        self.assertEqual(status, 0)
        for part in ["Examples:", "--files", "--hint", "STUFF pastes everything", "RAG+GRAPH"]:
            self.assertIn(part, out)


if __name__ == "__main__":
    unittest.main()
