"""What the test runner shows of a step that failed."""

import tempfile
import unittest
from pathlib import Path

import run_tests

RULE, LINE = "=" * 70, "-" * 70
LOG = f"""a warning of a test that passed
{RULE}
FAIL: test_mark (test_ship.Ship)
{LINE}
AssertionError: too deep
{RULE}
ERROR: test_anchor (test_ship.Ship)
{LINE}
ValueError: no chain

{LINE}
Ran 5 tests in 1.0s

FAILED (failures=1, errors=1)
a warning that came later
/src/hull_test.cpp:12: Failure
Value of: afloat()
[  FAILED  ] Hull.Floats (0 ms)
"""


class WhatFailed(unittest.TestCase):
    def blocks(self, text):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            log.write_text(text)
            return run_tests.what_failed(log)

    def test_names_each_failed_test_and_why(self):
        first, second, third = self.blocks(LOG)
        self.assertEqual(first, f"FAIL: test_mark (test_ship.Ship)\n{LINE}\nAssertionError: too deep\n")
        self.assertIn("ValueError: no chain", second)
        self.assertNotIn("Ran 5 tests", second)
        self.assertTrue(third.startswith("/src/hull_test.cpp:12: Failure") and third.endswith("Hull.Floats (0 ms)"))

    def test_shows_the_end_of_a_log_that_names_none(self):
        self.assertEqual(self.blocks("\n".join(map(str, range(100))))[0].splitlines()[0], "40")


if __name__ == "__main__":
    unittest.main()
