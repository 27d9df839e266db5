"""`plimsoll --version`."""

import shutil
import subprocess
import unittest

PROGRAM = shutil.which("plimsoll") or "plimsoll"


def run(*arguments, status=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Version(unittest.TestCase):
    def test_the_first_line_is_for_scripts_and_the_rest_for_reports(self):
        lines = run("--version").splitlines()
        self.assertRegex(lines[0], r"^plimsoll \d+\.\d+\.\d+$")
        said = "\n".join(lines[1:])
        self.assertRegex(said, r"commit +([0-9a-f]{7,}|unknown)")
        self.assertRegex(said, r"compiler +(g\+\+|clang) \d+\.")
        self.assertRegex(said, r"processor +(x86-64|aarch64); in use: (portable|avx2|avx512|neon) for counting, \w+ for vectors")
        self.assertIn("o200k_base", said)
        self.assertRegex(said, r"llama\.cpp +from llama-cpp-python [\d.]+, ggml [\d.]+")
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
