"""`plimsoll wrap`: another program's models are asked through a gateway of its own."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from gateway import PATIENCE, PROGRAM
from test_clients import PYTHON
from upstream import Upstream

SDKS = """
import anthropic, openai
chat = openai.OpenAI().chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Ahoy!"}])
said = anthropic.Anthropic().messages.create(model="gpt-4o", max_tokens=50, messages=[{"role": "user", "content": "Ahoy!"}])
print(chat.choices[0].message.content, "|", said.content[0].text)
"""


class Wrap(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192}))
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="plimsoll-wrap-test-")))
        given = ("PLIMSOLL_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "GOOSE_", "CLAUDE_", "AIDER_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(given)} | {
            "XDG_CONFIG_HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder), "no_proxy": "127.0.0.1"}

    def command(self, *words, options=()):
        return [PROGRAM, "--set", "embedded_model=false", "wrap", "--store", str(self.folder / "s.db"), "--upstream", self.upstream.url,
                *options, *words]

    def wrap(self, *words, options=(), environment=None):
        return subprocess.run(self.command(*words, options=options), capture_output=True, text=True, timeout=4 * PATIENCE,
                              env=self.environment | (environment or {}), check=False)

    def variables(self, **settings):
        done = self.wrap("env", **settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    def test_clients_find_the_gateway_by_their_variables_and_the_end_sums_up(self):
        done = self.wrap(str(PYTHON), "-c", SDKS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), f"{self.upstream.text} | {self.upstream.text}")
        self.assertEqual(len(self.upstream.to()), 2)
        row = next(line for line in done.stderr.splitlines() if line.startswith("gpt-4o"))
        self.assertEqual(row.split()[1:3], ["2", "0"])  # requests, failed

    def test_the_program_is_told_the_window(self):
        told = self.variables()
        self.assertEqual((told["GOOSE_CONTEXT_LIMIT"], told["CLAUDE_CODE_AUTO_COMPACT_WINDOW"]), ("8192", "8192"))
        self.assertEqual(told["OPENAI_BASE_URL"], told["ANTHROPIC_BASE_URL"] + "/v1")
        self.assertTrue(told["OLLAMA_HOST"].startswith("http://127.0.0.1:"))
        self.assertNotIn("OPENAI_MODEL", told)
        shown = self.wrap("sh", "-c", 'cat "$AIDER_MODEL_METADATA_FILE"')
        self.assertEqual(json.loads(shown.stdout)["openai/gpt-4o"]["max_input_tokens"], 8192)
        self.assertFalse(Path(told["AIDER_MODEL_METADATA_FILE"]).exists())
        told = self.variables(options=("--model", "gpt-4o"), environment={"GOOSE_CONTEXT_LIMIT": "100", "OPENAI_API_KEY": "sk-own"})
        self.assertEqual((told["OPENAI_MODEL"], told["GOOSE_CONTEXT_LIMIT"], told["OPENAI_API_KEY"]), ("gpt-4o", "100", "sk-own"))

    def test_two_dashes_may_stand_before_the_program(self):
        for options in ((), ("--model", "gpt-4o"), ("--model=gpt-4o",)):
            done = self.wrap("--", "sh", "-c", "echo $0", "--", "-x", options=options)
            self.assertEqual((done.returncode, done.stdout), (0, "--\n"), done.stderr)

    def test_options_of_the_program_are_its_own(self):
        done = self.wrap("sh", "-c", 'echo "$0 $@"; exit 7', "--model", "x", "--", "--help")
        self.assertEqual((done.returncode, done.stdout), (7, "--model x -- --help\n"))
        self.assertIn("the gateway got no requests", done.stderr)

    def test_what_cannot_be_run_is_told(self):
        for words, options, status, said in (
                (("no-such-program-xyz",), (), 2, "cannot run 'no-such-program-xyz'"), ((), (), 2, "give the program"),
                (("true",), ("--model", "nosuch"), 2, "available: gpt-4o"), (("sh", "-c", "kill -9 $$"), (), 137, "no request")):
            with self.subTest(words=words):
                done = self.wrap(*words, options=options)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stderr)

    def test_with_keys_one_is_needed(self):
        key = subprocess.run([PROGRAM, "--set", f"store_file={self.folder / 's.db'}", "keys", "add", "ann"], capture_output=True, text=True,
                             env=self.environment, check=True).stdout.strip()
        refused = self.wrap("true")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--key", refused.stderr)
        done = self.wrap(str(PYTHON), "-c", SDKS, options=("--key", key))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_ctrl_c_is_the_programs_own(self):
        run = subprocess.Popen(self.command("sh", "-c", 'trap "echo caught; exit 3" INT; echo ready; while :; do sleep 0.05; done'),
                               stdout=subprocess.PIPE, text=True, env=self.environment, start_new_session=True)
        self.assertEqual(run.stdout.readline(), "ready\n")
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        self.assertEqual(run.communicate(timeout=PATIENCE)[0], "caught\n")
        self.assertEqual(run.returncode, 3)


if __name__ == "__main__":
    unittest.main()
