"""Another program uses the installed library: examples/embed, built against what `cmake --install` leaves."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"


class Embed(unittest.TestCase):
    def run_in(self, folder, *command):
        done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_the_example_builds_against_the_package_and_plans(self):
        program = shutil.which("plimsoll")
        self.assertIsNotNone(program, "build/ must be on the PATH")
        with tempfile.TemporaryDirectory() as folder:
            prefix = Path(folder) / "prefix"
            self.run_in(folder, "cmake", "--install", Path(program).parent, "--prefix", prefix)
            self.assertTrue((prefix / "bin/plimsoll").is_file())
            vocabularies = [path for path in prefix.rglob("*") if path.suffix in (".ptok", ".tiktoken", ".gguf")]
            self.assertEqual(vocabularies, [])
            # A copy, so that nothing of the source tree is found by chance.
            shutil.copytree(ROOT / "examples" / "embed", Path(folder) / "embed")
            self.run_in(folder, "cmake", "-S", "embed", "-B", "built", f"-DCMAKE_PREFIX_PATH={prefix}",
                        "-DCMAKE_BUILD_TYPE=Release")
            self.run_in(folder, "cmake", "--build", "built")
            out = self.run_in(folder, "built/embed", CACHE)
        figures = re.fullmatch(r"input (\d+), answer (\d+), margin (\d+), free (\d+), (\d+) of 41 messages\n", out)
        self.assertIsNotNone(figures, out)
        tokens, answer, margin, free, messages = map(int, figures.groups())
        self.assertEqual(tokens + answer + margin + free, 600)
        self.assertEqual(answer, 400)
        self.assertLess(messages, 41)
        self.assertGreater(messages, 1)


if __name__ == "__main__":
    unittest.main()
