"""Every test that the rules and the threat model name is there."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/rules.md", ROOT / "docs/threat-model.md"]
NAME = re.compile(r"`([^`\n]+)`")
CASE = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)")
# A sentence that begins with "Tests:", up to the end of its paragraph.
TESTS = re.compile(r"\*Tests:\*.*?(?=\n\n)", re.S)


def sources(*tops, suffix):
    return [path for top in tops for path in (ROOT / top).rglob(f"*{suffix}")]


def cases():
    """Suites by name, each with its tests."""
    found = {}
    for path in sources("src", "apps", "tests", suffix=".cpp"):
        for suite, test in CASE.findall(path.read_text()):
            found.setdefault(suite, set()).add(test)
    return found


class NamedTests(unittest.TestCase):
    def setUp(self):
        self.suites = cases()
        python = "\n".join(path.read_text() for path in sources("tests", suffix=".py"))
        self.of_python = set(re.findall(r"^\s*(?:class|def) (\w+)", python, re.M))
        built = "\n".join(path.read_text() for path in sources("src", "tests", suffix="CMakeLists.txt"))
        self.files = {path.name for path in sources("src", "apps", "tests", suffix="_test.cpp")}
        self.files |= {f"{room}_test.cpp" for room in re.findall(r"plimsoll_(?:room|test)\(([\w/]+?)(?:_test)?[\s)]", built)}
        self.files |= {path.name for path in sources("tests", suffix=".py")}
        self.scenarios = [path.stem for path in sources("tests/scenarios", suffix=".scn")]

    def is_there(self, name):
        """None: the name is not one of a test."""
        if match := re.fullmatch(r"([A-Z]\w+)\.(\w+|\*)", name):
            suite, test = match.groups()
            return suite in self.suites and (test == "*" or test in self.suites[suite])
        if re.fullmatch(r"test_\w+\.py", name):
            return name in self.files
        if re.fullmatch(r"test_\w+", name):
            return name in self.of_python
        if re.fullmatch(r"\w+_test", name):
            return f"{name}.cpp" in self.files
        if match := re.fullmatch(r"([a-z]\d-[\w-]*)(\*?)", name):
            stem, many = match.groups()
            return any(one.startswith(stem) for one in self.scenarios) if many else stem in self.scenarios
        return None

    def test_they_are_there(self):
        missing, seen = [], 0
        for page in PAGES:
            text = page.read_text()
            names = [(name, self.is_there(name)) for name in NAME.findall(text)]
            # A word alone is a suite only where tests are listed.
            names += [(name, name in self.suites or name in self.of_python)
                      for listed in TESTS.findall(text) for name in NAME.findall(listed) if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name)]
            seen += sum(there is not None for _, there in names)
            missing += [f"{page.relative_to(ROOT)} names {name}" for name, there in names if there is False]
        self.assertFalse(missing, "\n" + "\n".join(missing))
        self.assertGreater(seen, 150)

    def test_a_missing_one_is_noticed(self):
        for name in ("FleetModels.*", "Finder.DoesNotExist", "test_of_nothing.py", "test_of_nothing_at_all", "nothing_test", "z9-*"):
            self.assertIs(self.is_there(name), False, name)
        for name in ("gpt-4o", "tests/http/test_smoke.py", "TRACE"):
            self.assertIsNone(self.is_there(name), name)

    def test_every_rule_that_stands_names_a_test(self):
        bare = []
        for rule in re.split(r"^(?=\*\*[A-Z]\d? )", (ROOT / "docs/rules.md").read_text(), flags=re.M)[1:]:
            title, text = re.match(r"\*\*(.*?)\*\*", rule)[1], rule.split("\n## ")[0]
            if not any(self.is_there(name) or name.startswith("tests/") for name in NAME.findall(text)):
                bare.append(title)
        self.assertFalse(bare)


if __name__ == "__main__":
    unittest.main()
