"""`plimsoll models` as a user meets it without a server: the catalogue, files, and what it refuses.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it). Servers are in tests/detect.
"""

import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"


def run(*arguments, env=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=False, stdin=subprocess.DEVNULL,
                          env=os.environ | (env or {}))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def gguf(**pairs):
    """The front of a GGUF file with texts and numbers; __ in a name stands for a dot."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()
    body = b""
    for key, value in pairs.items():
        body += text(key.replace("__", "."))
        body += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + body


class Catalogue(unittest.TestCase):
    def test_a_row_for_every_model(self):
        status, out, err = run("models")
        self.assertEqual((status, err), (0, ""))
        rows = out.splitlines()
        self.assertEqual(rows[0].split(),
                         ["MODEL", "WINDOW", "MAX", "OUTPUT", "TOKENIZER", "EXACTNESS", "SOURCE", "DATE", "$/M", "IN", "$/M", "OUT"])
        models = json.loads(run("models", "--json")[1])["models"]
        self.assertGreaterEqual(len(models), 150)
        self.assertEqual([row.split()[0] for row in rows[1:]], [model["name"] for model in models])
        self.assertNotIn("\033", out)

    def test_json_has_what_the_table_has(self):
        answer = json.loads(run("models", "gpt-4o-mini", "--json")[1])
        self.assertEqual(answer["schema"], 1)
        mini = next(model for model in answer["models"] if model["name"] == "gpt-4o-mini")
        self.assertEqual((mini["window"], mini["tokenizer"], mini["exactness"], mini["origin"]),
                         (128000, "o200k_base", "exact", "built in"))
        self.assertIn("source", mini)
        prices = mini["prices"]
        self.assertEqual({name: prices[name] for name in ("input", "output", "cached_input", "provider")},
                         {"input": 0.15, "output": 0.6, "cached_input": 0.075, "provider": "openai"})
        self.assertIn("gpt-4o-mini-2024-07-18", prices["names"])
        self.assertTrue(prices["source"].startswith("litellm "))
        self.assertRegex(run("models", "gpt-4o-mini")[1], r"gpt-4o-mini .* 0\.15 +0\.60\n")
        self.assertIsNone(json.loads(run("models", "llama3.2:3b", "--json")[1])["models"][0]["prices"])
        self.assertNotIn("$/M", run("models", "llama3.2:3b")[1])

    def test_an_unknown_name_is_answered_with_the_nearest(self):
        self.assertEqual(run("models", "gtp-4o")[::2],
                         (2, "plimsoll: no model name in the catalogue contains 'gtp-4o'; did you mean 'gpt-4o'?\n"))
        self.assertIn("`plimsoll models --catalogue` lists all models", run("models", "zzyzx-qwpt")[2])

    def test_parts_of_names_choose(self):
        names = [model["name"] for model in json.loads(run("models", "QWEN3", "--json")[1])["models"]]
        self.assertTrue(names)
        self.assertTrue(all("qwen3" in name for name in names), names)
        both = [model["name"] for model in json.loads(run("models", "qwen3", "grok", "--json")[1])["models"]]
        self.assertGreater(len(both), len(names))

    def test_a_name_from_elsewhere_leads_to_its_model(self):
        answer = json.loads(run("models", "meta-llama/Llama-3.2-3B-Instruct", "--json")[1])
        self.assertEqual([model["name"] for model in answer["models"]], ["llama3.2:3b"])

    def test_an_unknown_name_is_refused(self):
        status, out, err = run("models", "no-such-model")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("no-such-model", err)

    def test_entries_of_the_user_are_there(self):
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / "own.toml"
            own.write_text('[[model]]\nname = "harbour-8b"\nwindow = 5000\ntokenizer = "llama3.1"\n'
                           'specials = "parsed"\nsource = "our card"\n')
            answer = json.loads(run("models", "harbour", "--json", env={"PLIMSOLL_MODELS_FILE": str(own)})[1])
            self.assertEqual([(model["name"], model["window"], model["origin"]) for model in answer["models"]],
                             [("harbour-8b", 5000, str(own))])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def model(self, content):
        path = self.folder / "model.gguf"
        path.write_bytes(content)
        return path

    def test_a_file_that_is_not_there_is_an_error(self):
        for path in (self.folder / "none.gguf", self.folder / ".gguf"):
            done = subprocess.run([PROGRAM, "models", str(path)], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("no such file", done.stderr)

    def test_a_gguf_says_what_it_was_made_for(self):
        path = self.model(gguf(general__architecture="llama", llama__context_length=8192, general__file_type=15,
                               general__size_label="135M"))
        model = json.loads(run("models", path, "--json")[1])["models"][0]
        self.assertEqual((model["window"]["tokens"], model["window"]["source"], model["window"]["confidence"]),
                         (8192, "declared", "medium"))
        self.assertEqual((model["parameters"], model["quantization"], model["family"]), ("135M", "Q4_K_M", "llama"))

    def test_one_that_does_not_say_gets_the_default_and_the_reason(self):
        whole = gguf(general__architecture="llama", llama__context_length=8192)
        for content, words in ((gguf(general__architecture="llama"), "no llama.context_length"),
                               (gguf(general__architecture="llama", llama__context_length=0), "context_length is 0"),
                               (whole[:40], "cut off"), (b"", "cut off"), (b"not a model at all", "not a GGUF file")):
            with self.subTest(words):
                status, out, err = run("models", self.model(content))
                self.assertEqual(status, 0)
                self.assertIn("4,096", out)
                self.assertIn(words, out)
                self.assertIn("warning", err)

class Refusals(unittest.TestCase):
    def refused(self, *arguments, env=None):
        status, out, err = run("models", *arguments, env=env)
        self.assertEqual((status, out), (2, ""), err)
        return err

    def test_an_unknown_kind_names_those_there_are(self):
        err = self.refused("--upstream", "http://127.0.0.1:1", "--kind", "gopher")
        self.assertIn("gopher", err)
        self.assertIn("llama.cpp", err)

    def test_addresses_that_are_none(self):
        for url in ("nonsense", "ftp://host", "http://", "file:///etc/passwd", "http://host:port/"):
            self.assertIn("http://", self.refused("--upstream", url))

    def test_a_kind_without_a_server(self):
        self.assertIn("--upstream", self.refused("--kind", "vllm", env={"LLM_INFERENCE_URL": ""}))

    def test_times_that_make_no_sense(self):
        for seconds in ("0", "-1", "soon", "100000"):
            self.refused("--upstream", "http://127.0.0.1:1", "--timeout", seconds)


if __name__ == "__main__":
    unittest.main()
