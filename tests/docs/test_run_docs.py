"""The runner itself: what it accepts, and that it can fail."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import run_docs  # noqa: E402


class Runner(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            path.write_text(text)
            return run_docs.check(path)

    def good(self, text, ran):
        self.assertEqual(self.check(text), (ran, []))

    def bad(self, text, part):
        _, problems = self.check(text)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(part, problems[0])

    def test_output_that_is_as_shown(self):
        self.good("```console\n$ echo one; echo two\none\ntwo\n$ true\n```\n", 2)

    def test_output_that_differs(self):
        self.bad("```console\n$ echo one\ntwo\n```\n", "page.md:2:\n    $ echo one\n  shown:\n    two\n")

    def test_output_that_is_not_shown_differs_too(self):
        self.bad("```console\n$ echo one\n```\n", "printed:\n    one")
        self.bad("```console\n$ true\nmore\n```\n", "shown:\n    more")

    def test_a_failing_command(self):
        self.bad("```console\n$ false\n```\n", "ended with 1, not 0")
        self.bad("```sh\nfalse\n```\n", "ended with 1, not 0")

    def test_an_expected_failure(self):
        self.good("```console\n$ echo no >&2; (exit 3)\nno\n[exit 3]\n```\n", 1)
        self.bad("```console\n$ true\n[exit 3]\n```\n", "ended with 0, not 3")

    def test_a_program_that_is_not_there(self):
        self.bad("```sh\nno-such-program\n```\n", "ended with 127")

    def test_dots_stand_for_anything(self):
        self.good("```console\n$ seq 5\n1\n...\n5\n$ echo took 12 ms\ntook ... ms\n$ seq 3\n...\n```\n", 3)
        self.bad("```console\n$ seq 5\n1\n...\n6\n```\n", "shown")
        self.bad("```console\n$ echo took 12 s\ntook ... ms\n```\n", "shown")

    def test_colours_are_not_compared(self):
        self.good("```console\n$ printf '\\033[31mred\\033[0m\\n'\nred\n```\n", 1)

    def test_commands_go_on_and_blocks_share_a_folder(self):
        self.good("```console\n$ cat > a.txt <<END\n> hello\n> END\n```\ntext\n```console\n$ cat a.txt\nhello\n```\n", 2)

    def test_a_block_shares_its_shell(self):
        self.good("```console\n$ word=deep\n$ echo $word\ndeep\n```\n", 2)

    def test_a_command_that_leaves_the_shell_is_noticed(self):
        _, problems = self.check("```console\n$ exit 0\n$ echo never\nnever\n```\n")
        self.assertTrue(problems)

    def test_blocks_that_are_not_run(self):
        self.good("```sh skip\nfalse\n```\n```\n$ false\n```\n```cpp\nfalse\n```\n", 0)

    def test_an_unknown_mark_and_an_open_block_are_errors(self):
        with self.assertRaises(run_docs.DocsError):
            self.check("```sh skipp\nfalse\n```\n")
        with self.assertRaises(run_docs.DocsError):
            self.check("```console\n$ true\n")


if __name__ == "__main__":
    unittest.main()
