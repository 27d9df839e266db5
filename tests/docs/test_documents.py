"""Every command that a document shows works and prints what is shown."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import run_docs  # noqa: E402


class Documents(unittest.TestCase):
    def test_the_readme_is_among_them(self):
        self.assertIn(ROOT / "README.md", run_docs.documents())


def test_of(path):
    def test(self):
        _, problems = run_docs.check(path)
        self.assertFalse(problems, "\n" + "\n".join(problems))
    return test


for document in run_docs.documents():
    name = document.relative_to(ROOT).with_suffix("").as_posix()
    setattr(Documents, f"test_{name}", test_of(document))

if __name__ == "__main__":
    unittest.main()
