"""Every file and folder that a document names is there, and every room of the tree is on the page about the design."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402

PATH = re.compile(r"(?<![\w./-])(?:src|apps|include|tests|tools|docs|data|bench|cmake|deploy|examples)/[\w./-]*\w/?")
EXAMPLES = {"docs/adr/NNNN-title.md", "docs/guide.md", "tools/call", "tools/list"}  # of a name, a document, MCP's methods
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")])


def named_paths(text):
    # Old decisions and changes speak of what there was; a name with <...> or X stands for many.
    return {match[0].rstrip(".") for match in PATH.finditer(text) if not text[match.end():match.end() + 1] in ("<", "*", "{")}


class Paths(unittest.TestCase):
    def test_what_pages_name_is_there(self):
        missing, seen = [], 0
        for page in PAGES:
            if page.name == "CHANGELOG.md" or page.parent.name == "adr":
                continue
            for path in sorted(named_paths(page.read_text()) - EXAMPLES):
                seen += 1
                if not (ROOT / path).exists() and not (page.parent / path).exists():
                    missing.append(f"{page.relative_to(ROOT)} names {path}")
        self.assertFalse(missing, "\n" + "\n".join(missing))
        self.assertGreater(seen, 60)

    def test_every_room_is_described_with_its_rank(self):
        page = (ROOT / "docs/architecture.md").read_text()
        rows = {room: int(rank) for rank, room in re.findall(r"^\| (\d+) \| `(?:src/)?(\w+)/", page, re.M)}
        self.assertEqual(rows, check_layers.RANKS)

    def test_no_folder_is_too_full(self):
        for folder in {path.parent for top in ("src", "apps", "include") for path in (ROOT / top).rglob("*.?pp")}:
            files = [path for path in folder.iterdir() if path.is_file()]
            self.assertLessEqual(len(files), 45, folder.relative_to(ROOT))


if __name__ == "__main__":
    unittest.main()
