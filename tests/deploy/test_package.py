"""The release tarball, unpacked into an empty folder: it runs from there with nothing of this machine but the base system."""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = shutil.which("plimsoll")
sys.path.insert(0, str(ROOT / "tools"))
import package  # noqa: E402  pylint: disable=wrong-import-position

PATIENCE = 300


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.archive = package.make_package(Path(PROGRAM).resolve().parent, cls.folder / "made", 1)
        with tarfile.open(cls.archive) as archive:
            cls.entries = {entry.name: entry for entry in archive}
            archive.extractall(cls.folder / "unpacked", filter="fully_trusted") if hasattr(tarfile, "fully_trusted_filter") \
                else archive.extractall(cls.folder / "unpacked")
        cls.root = next((cls.folder / "unpacked").iterdir())
        (cls.folder / "home").mkdir()
        (cls.folder / "home" / "log.md").write_text("# Log\n\nThe cook of the Aurora is called Bertil.\n\nShe sails on Monday.\n")

    def run_it(self, *arguments):
        done = subprocess.run(["env", "-i", f"HOME={self.folder / 'home'}", "PATH=/usr/bin:/bin", str(self.root / "bin" / "plimsoll"), *arguments],
                              capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=self.folder / "home")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_it_holds_what_it_promises(self):
        for path in ("bin/plimsoll", "LICENSE", "README.md", "share/man/man1/plimsoll.1", "share/bash-completion/completions/plimsoll",
                     "share/zsh/site-functions/_plimsoll", "share/fish/vendor_completions.d/plimsoll.fish",
                     "lib/systemd/system/plimsoll.service", "share/doc/plimsoll/licences/data.txt", "share/doc/plimsoll/licences/llama.cpp.txt"):
            self.assertGreater((self.root / path).stat().st_size, 100, path)
        self.assertTrue(all(entry.uid == 0 and entry.name.startswith(self.root.name) for entry in self.entries.values()))
        self.assertNotIn("@", re.sub(r"\S+@\S+\.\w+", "", (self.root / "README.md").read_text()))

    def test_only_the_base_system_is_needed(self):
        said = subprocess.run(["env", "-i", "ldd", str(self.root / "bin" / "plimsoll")], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"(\S+) => (\S+)", said)
        self.assertGreater(len(found), 20)
        for name, path in found:
            self.assertTrue(package.BASE.fullmatch(name) or Path(path).resolve().is_relative_to(self.root.resolve()), f"{name} => {path}")
        headers = subprocess.run(["objdump", "-p", str(self.root / "bin" / "plimsoll")], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r"(RPATH|RUNPATH)\s+(\S+)", headers), [("RPATH", "$ORIGIN/../lib/plimsoll")])
        for library in (self.root / "lib" / "plimsoll").iterdir():
            self.assertIn(f"`{library.name}`", (self.root / "README.md").read_text())

    def test_what_may_not_be_passed_on_is_left_out(self):
        names = {path.name.rpartition("-")[0] for path in (self.root / "share" / "plimsoll" / "compiled-tokenizers").iterdir()}
        self.assertTrue({"o200k_base", "qwen3", "smollm2"} <= names, names)
        self.assertFalse(names & {"llama3", "gemma3", "command-r"}, names)

    def test_it_runs_from_there(self):
        self.assertIn("plimsoll ", self.run_it("--version"))
        self.assertRegex(self.run_it("count", "log.md", "--model", "gpt-4o"), r"\b1\d\b")
        self.run_it("index", "add", "ship", "log.md", "--quiet")
        said = self.run_it("ask", "ship", "What is the cook of the Aurora called?", "--upstream", "embedded", "--window", "1024",
                           "--max-tokens", "24")
        self.assertIn("Bertil", said)
        self.assertIn("[1] log.md", said)
        self.assertIn(str(self.root), self.run_it("model", "list"))

    def test_it_can_lie_where_it_may_not_be_written(self):
        for path in [self.root, *self.root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o555)
        try:
            self.assertIn("Paris", self.run_it("ask", "What is the capital of France? Answer in one word.", "--upstream", "embedded",
                                               "--window", "1024", "--max-tokens", "8"))
        finally:
            for path in [self.root, *self.root.rglob("*")]:
                if path.is_dir():
                    path.chmod(0o755)

    def test_the_same_build_gives_the_same_bytes(self):
        stage = self.folder / "same"
        stage.mkdir()
        (stage / "b").write_text("b")
        (stage / "a").write_text("a")
        package.write_tar(stage, self.folder / "1.tar.gz", 1, 1_000_000)
        package.write_tar(stage, self.folder / "2.tar.gz", 1, 1_000_000)
        self.assertEqual((self.folder / "1.tar.gz").read_bytes(), (self.folder / "2.tar.gz").read_bytes())


if __name__ == "__main__":
    unittest.main()
