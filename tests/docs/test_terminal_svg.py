"""The picture of a terminal shows what was printed, where it was printed and in its colours."""

import re
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import terminal_svg  # noqa: E402


def runs(output, columns=80):
    return [[(run.column, run.text, run.style.ink, run.style.paper, run.style.bold) for run in row]
            for row in terminal_svg.rows_of(output, columns)]


INK = terminal_svg.INK


class Rows(unittest.TestCase):
    def test_colours_begin_and_end_where_the_codes_say(self):
        self.assertEqual(runs("a\x1b[48;5;24;38;5;255mb\x1b[0mc\x1b[1md"),
                         [[(0, "a", INK, "", False), (1, "b", "#eeeeee", "#005f87", False), (2, "c", INK, "", False),
                           (3, "d", INK, "", True)]])

    def test_a_long_line_goes_on_in_the_next_row(self):
        self.assertEqual([[run[:2] for run in row] for row in runs("abcdef\ng", 4)],
                         [[(0, "abcd")], [(0, "ef")], [(0, "g")]])

    def test_wide_characters_take_two_columns_and_are_not_cut(self):
        self.assertEqual([[run[:2] for run in row] for row in runs("a船b船", 5)], [[(0, "a"), (1, "船"), (3, "b")], [(0, "船")]])

    def test_marks_take_none(self):
        self.assertEqual([run[:2] for run in runs("e\u0301x")[0]], [(0, "e\u0301"), (1, "x")])


class Picture(unittest.TestCase):
    def test_is_well_formed_and_holds_the_text(self):
        svg = xml.fromstring(terminal_svg.picture([("echo '<&>'", "<&>  █▌ 50%\n")], 40))
        texts = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["$", "echo '<&>'", "<&>", "50%"])
        self.assertEqual(len([node for node in svg.iter("{http://www.w3.org/2000/svg}rect")]), 3)  # paper and two blocks

    def test_a_command_sees_a_terminal_of_the_width_asked_for(self):
        printed = terminal_svg.printed_by("test -t 1 && stty size < /dev/stdout", 61, {"PATH": "/usr/bin:/bin"})
        self.assertEqual(printed.split(), ["50", "61"])

    def test_a_command_that_fails_stops_it(self):
        with self.assertRaises(SystemExit):
            terminal_svg.printed_by("echo no; false", 80, {"PATH": "/usr/bin:/bin"})

    def test_the_one_of_the_readme_shows_a_program_that_is_there(self):
        text = (ROOT / "docs" / "terminal.svg").read_text()
        xml.fromstring(text)
        self.assertTrue(re.search(r">plimsoll count --model", text))


if __name__ == "__main__":
    unittest.main()
