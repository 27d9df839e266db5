"""The gateway before a real Ollama with SmolLM2: what is planned is what the model reads, to the token.

  make test-live

OLLAMA_BIN is an Ollama (tools/build_ollama.py builds one), SMOLLM2_GGUF the weights that set-up brought.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

PROGRAM = os.environ.get("PLIMSOLL_BIN") or shutil.which("plimsoll") or "plimsoll"
OLLAMA = os.environ.get("OLLAMA_BIN")
GGUF = os.environ.get("SMOLLM2_GGUF")

CONVERSATIONS = int(os.environ.get("LIVE_CONVERSATIONS") or 200)
OVERFLOWS = int(os.environ.get("LIVE_OVERFLOWS") or 50)
SMALL_WINDOW = 512

# The model's own template, and one of ours that no format of Plimsoll's renders: with tools.
PLAIN = "FROM {gguf}\nPARAMETER temperature 0\n"
TOOLS = PLAIN + '''TEMPLATE """{{{{- range .Messages }}}}<|im_start|>{{{{ .Role }}}}
{{{{ .Content }}}}{{{{- range .ToolCalls }}}}
[call {{{{ .Function.Name }}}} {{{{ .Function.Arguments }}}}]{{{{- end }}}}<|im_end|>
{{{{ end }}}}{{{{- if .Tools }}}}<|im_start|>tools
{{{{- range .Tools }}}}
{{{{ . }}}}{{{{- end }}}}<|im_end|>
{{{{ end }}}}<|im_start|>assistant
"""
'''
MODELS_FILE = """[[model]]
name = "deckhand"
window = 8192
tokenizer = "smollm2"
specials = "parsed"
source = "the model's own GGUF"
date = 2026-11-16
"""

TEXTS = [
    "How deep may she be loaded?",
    "The mate weighs the cargo, twice, and writes it down.\nThen he sleeps.",
    "Сколько груза может взять судно?", "船は何トンまで積めますか。", "حمولة السفينة مئة طن.", "Ünïcödé — “quotes” … ‰",
    "🚢⚓️ 👩‍✈️ ahoy", "def load(tons: int) -> bool:\n\treturn tons <= 1_000  # not more\n", "   leading and trailing   ",
    "{\"depth\": [1, 2.5, null], \"unit\": \"fathom\"}", "a" * 90, "1234567890 " * 12, "line\n\n\nline\r\nline\ttab", "x",
]
TOOL = {"type": "function", "function": {"name": "sound", "description": "Depth below the keel, in fathoms.", "parameters": {
    "type": "object", "properties": {"side": {"type": "string", "description": "port or starboard"}}, "required": ["side"]}}}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def post(url, body, patience=300):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=patience) as reply:
            return reply.status, dict(reply.headers), json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), json.loads(error.read())


def wait_for(url, process, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nobody answers at {url}")


def text(rng, least, most):
    said = rng.choice(TEXTS)
    while len(said) < rng.randint(least, most):
        said += rng.choice([" ", "\n", ""]) + rng.choice(TEXTS)
    return said


def conversation(rng, tools, longest=160):
    messages = [{"role": "system", "content": text(rng, 1, longest)}] if rng.random() < 0.5 else []
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 5])):
        messages.append({"role": "user", "content": text(rng, 1, longest)})
        if tools and rng.random() < 0.6:
            messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {
                "name": "sound", "arguments": json.dumps({"side": rng.choice(["port", "starboard"])})}}]})
            messages.append({"role": "tool", "tool_call_id": "c1", "content": text(rng, 1, 60)})
        messages.append({"role": "assistant", "content": text(rng, 1, longest)})
    return messages + [{"role": "user", "content": text(rng, 1, longest)}]


@unittest.skipUnless(OLLAMA and GGUF, "needs OLLAMA_BIN and SMOLLM2_GGUF: `make test-live`")
class RealOllama(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="plimsoll-live-")
        cls.addClassCleanup(cls.folder.cleanup)
        root = Path(cls.folder.name)
        cls.ollama_url = f"http://127.0.0.1:{free_port()}"
        env = os.environ | {"OLLAMA_HOST": cls.ollama_url, "OLLAMA_MODELS": str(root / "models"), "HOME": str(root),
                            "OLLAMA_NUM_PARALLEL": "1", "OLLAMA_MAX_LOADED_MODELS": "2", "OLLAMA_KEEP_ALIVE": "10m", "OLLAMA_CONTEXT_LENGTH": "2048"}
        cls.ollama = cls.start([OLLAMA, "serve"], env, root / "ollama.log")
        wait_for(cls.ollama_url + "/api/version", cls.ollama)
        for name, modelfile in (("smollm2:135m", PLAIN), ("deckhand", TOOLS)):
            (root / "Modelfile").write_text(modelfile.format(gguf=GGUF))
            subprocess.run([OLLAMA, "create", name, "-f", root / "Modelfile"], env=env, check=True, capture_output=True)
        (root / "models.toml").write_text(MODELS_FILE)

    @classmethod
    def start(cls, command, env, log):
        with open(log, "w") as out:
            process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT)
        cls.addClassCleanup(process.wait, 20)
        cls.addClassCleanup(process.terminate)
        return process

    def gateway(self, name, *settings):
        root = Path(self.folder.name)
        address = f"127.0.0.1:{free_port()}"
        sets = [part for one in (f"store_file={root / name}.db", f"models_file={root / 'models.toml'}",
                                 "first_byte_timeout_seconds=300", *settings) for part in ("--set", one)]
        env = {key: value for key, value in os.environ.items() if not key.startswith("PLIMSOLL_")}
        log = root / f"{name}.log"
        process = self.start([PROGRAM, *sets, "serve", "--listen", address, "--upstream", self.ollama_url], env, log)
        self.addCleanup(lambda: print(log.read_text()[-3000:], file=sys.stderr) if os.environ.get("LIVE_LOGS") else None)
        wait_for(f"http://{address}/health", process)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with urllib.request.urlopen(f"http://{address}/ready") as reply:
                if json.loads(reply.read())["upstreams"][0]["models"] == 2:
                    break
            time.sleep(0.1)
        return f"http://{address}/v1/chat/completions"

    def test_1_what_is_planned_is_what_the_model_reads(self):
        url = self.gateway("exact")
        rng = random.Random(20261116)
        wrong, with_tools = [], 0
        for number in range(CONVERSATIONS):
            tools = number % 4 == 0
            body = {"model": "deckhand" if number % 2 == 0 else "smollm2:135m", "max_tokens": 1,
                    "messages": conversation(rng, tools)}
            if tools:
                body["tools"] = [TOOL]
                with_tools += 1
            status, headers, reply = post(url, body)
            self.assertEqual(status, 200, f"{number}: {reply}")
            planned, read = int(headers["X-Plimsoll-Input-Tokens"]), reply["usage"]["prompt_tokens"]
            if planned != read:
                wrong.append((number, body["model"], tools, planned, read))
        self.assertEqual(wrong, [], f"planned and read differ in {len(wrong)} of {CONVERSATIONS}")
        self.assertGreaterEqual(with_tools, CONVERSATIONS // 4)

    def test_2_what_would_overflow_is_planned_or_refused_and_never_cut(self):
        url = self.gateway("overflow", f"ollama_num_ctx_max={SMALL_WINDOW}")
        rng = random.Random(7)
        planned_ones = refused = 0
        for number in range(OVERFLOWS):
            body = {"model": "smollm2:135m", "max_tokens": rng.choice([16, 64]), "messages": []}
            while sum(len(message["content"]) for message in body["messages"]) < 6 * SMALL_WINDOW:
                body["messages"] += conversation(rng, False, 300)
            if number % 10 == 0:  # one message that cannot fit
                body["messages"] = [{"role": "user", "content": "cargo and more cargo, " * 4 * SMALL_WINDOW}]
            status, headers, reply = post(url, body)
            if status == 400:
                self.assertEqual(reply["error"]["code"], "context_length_exceeded", reply)
                self.assertIn(f"{SMALL_WINDOW:,}", reply["detail"])
                refused += 1
                continue
            self.assertEqual(status, 200, reply)
            ours, usage = reply["plimsoll"], reply["usage"]
            self.assertTrue(ours["left_out"], f"{number}: nothing is said to be left out")
            self.assertEqual(ours["upstream_cut_tokens"], 0)
            self.assertEqual(usage["prompt_tokens"], ours["input_tokens"], number)
            self.assertLessEqual(usage["prompt_tokens"] + ours["answer_tokens"], SMALL_WINDOW)
            planned_ones += 1
        print(f"{planned_ones} planned, {refused} refused", file=sys.stderr)
        self.assertGreaterEqual(refused, OVERFLOWS // 10)
        self.assertGreaterEqual(planned_ones, OVERFLOWS // 2)

    def test_3_streams_end_with_the_usage_and_tell_the_trace(self):
        url = self.gateway("stream")
        request = urllib.request.Request(url, json.dumps({
            "model": "smollm2:135m", "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 8,
            "messages": [{"role": "user", "content": "Count to three."}]}).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as reply:
            planned = int(reply.headers["X-Plimsoll-Input-Tokens"])
            events = [event for event in reply.read().decode().split("\n\n") if event]
        self.assertEqual(events[-1], "data: [DONE]")
        chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
        self.assertEqual(chunks[-1]["usage"]["prompt_tokens"], planned)
        self.assertTrue("".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks[:-1] if chunk["choices"]))


if __name__ == "__main__":
    unittest.main()
