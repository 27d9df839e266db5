"""The committed bundle of the web console: built from the sources beside it, small, and without requests elsewhere.

Needs no Node; where set-up has brought the packages of web/, the bundle is built again and compared byte for byte.
"""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

WEB = Path(__file__).resolve().parent.parent.parent / "web"
DIST = WEB / "dist"
SINGLE = ("build.mjs", "index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts")
MOST_BYTES = 150_000


def sources():
    below = [path for folder in ("src", "public") for path in (WEB / folder).rglob("*")
             if path.is_file() and not re.search(r"\.test\.tsx?$", path.name)]
    return sorted({path.relative_to(WEB).as_posix() for path in below} | set(SINGLE))


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Bundle(unittest.TestCase):
    def test_it_was_built_from_these_sources(self):
        lines = [f"{path} {hashlib.sha256((WEB / path).read_bytes()).hexdigest()}\n" for path in sources()]
        said = json.loads((DIST / "sources.json").read_text())
        built = {"files": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}
        self.assertEqual(said, built, "the sources of web/ have changed: run `make web`")

    @unittest.skipUnless(shutil.which("node") and (WEB / "node_modules").is_dir(), "run tools/setup web")
    def test_building_it_again_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory(prefix="plimsoll-web-") as folder:
            done = subprocess.run(["node", "build.mjs", f"{folder}/dist"], cwd=WEB, capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            built, committed = files_of(Path(folder) / "dist"), files_of(DIST)
        self.assertEqual(sorted(built), sorted(committed))
        for name, content in committed.items():
            self.assertEqual(built[name], content, name)

    def test_the_first_load_is_small(self):
        self.assertLessEqual(sum(len(gzip.compress(content)) for content in files_of(DIST).values()), MOST_BYTES)

    def test_it_asks_nobody_else_and_has_nothing_inline(self):
        page = (DIST / "index.html").read_text()
        self.assertNotRegex(page, r"<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=")
        for name, content in files_of(DIST).items():
            # Names of XML's namespaces are no addresses.
            hosts = set(re.findall(rb"https?://[\w.-]+", content)) - {b"http://www.w3.org"}
            self.assertEqual(hosts, set(), name)
            self.assertNotIn(b"@import", content)

    def test_the_lock_file_names_no_host(self):
        lock = json.loads((WEB / "package-lock.json").read_text())
        for name, package in lock["packages"].items():
            self.assertNotIn("resolved", package, name)
        for name, version in json.loads((WEB / "package.json").read_text())["devDependencies"].items():
            self.assertRegex(version, r"^\d+\.\d+\.\d+$", name)


if __name__ == "__main__":
    unittest.main()
