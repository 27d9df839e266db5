"""`plimsoll plan` as a user meets it: the drawn window, the JSON, the exit status, what it refuses and how."""

import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
RESERVED = {"thinking", "answer", "margin"}


def run(*arguments, text="", env=None):
    done = subprocess.run([PROGRAM, "plan", *map(str, arguments)], input=text.encode(), capture_output=True, check=False,
                          env=os.environ | (env or {}))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def conversation(turns, words=60, **fields):
    messages = [{"role": "system", "content": "You are a harbour master."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{turn} " + "ship " * words})
        messages.append({"role": "assistant", "content": f"{turn} " + "ahoy " * words})
    messages.append({"role": "user", "content": "How deep may she be loaded?"})
    return {"messages": messages} | fields


class Plans(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.request = Path(folder.name) / "request.json"

    def plan(self, request, *arguments, env=None):
        self.request.write_text(json.dumps(request))
        return run(self.request, *arguments, env=env)

    def plan_json(self, request, *arguments, status=0, env=None):
        code, out, err = self.plan(request, *arguments, "--json", env=env)
        self.assertEqual(code, status, err)
        return json.loads(out)

    def assert_lawful(self, plan):
        used = {section["name"]: section["used"] for section in plan["sections"]}
        self.assertEqual(sum(tokens for name, tokens in used.items() if name not in RESERVED), plan["input_tokens"])
        self.assertEqual(plan["input_tokens"] + used["thinking"] + plan["answer_tokens"] + plan["margin"] + plan["left"],
                         plan["window"]["tokens"])
        self.assertGreaterEqual(plan["left"], 0)

    def test_json_has_everything(self):
        plan = self.plan_json(conversation(3), "--model", "gpt-4o", "--window", "2000")
        for key in ("schema", "model", "window", "sections", "pieces", "input_tokens", "answer_tokens", "margin", "left",
                    "fits", "pressure", "strategy", "fallback", "messageCount", "memoryCount", "inputTokenCount",
                    "adjustedMaxTokens", "warnings", "hash"):
            self.assertIn(key, plan)
        self.assertEqual(plan["schema"], 1)
        self.assertEqual(plan["window"]["source"], "configured")
        self.assertEqual([section["name"] for section in plan["sections"]],
                         ["template", "system", "tools", "memory", "history", "context", "question", "thinking", "answer",
                          "margin"])
        self.assertEqual(set(plan["pieces"][0]), {"section", "id", "tokens", "fate", "reason"})
        self.assertEqual(len(plan["pieces"]), 8)
        self.assert_lawful(plan)

    def test_hash_is_the_same_for_the_same_inputs(self):
        first = self.plan_json(conversation(3), "--model", "gpt-4o", "--window", "2000")
        again = self.plan_json(conversation(3), "--model", "gpt-4o", "--window", "2000")
        other = self.plan_json(conversation(3), "--model", "gpt-4o", "--window", "2001")
        self.assertEqual(first, again)
        self.assertNotEqual(first["hash"], other["hash"])

    def test_history_is_cut_and_said(self):
        plan = self.plan_json(conversation(20), "--model", "gpt-4o", "--window", "1500")
        self.assert_lawful(plan)
        dropped = [piece for piece in plan["pieces"] if piece["fate"] == "dropped"]
        self.assertTrue(dropped)
        self.assertEqual({piece["section"] for piece in dropped}, {"history"})
        self.assertEqual(plan["messageCount"], 42 - len(dropped))
        code, out, _ = self.plan(conversation(20), "--model", "gpt-4o", "--window", "1500")
        self.assertEqual(code, 0)
        self.assertIn("Left out", out)
        self.assertIn("history is cut from its oldest end", " ".join(out.split()))

    def test_what_does_not_fit_ends_with_3_and_the_numbers(self):
        request = conversation(0)
        request["messages"][-1]["content"] = "ship " * 900
        plan = self.plan_json(request, "--model", "gpt-4o", "--window", "1000", status=3)
        self.assertFalse(plan["fits"])
        self.assertLess(plan["left"], 0)
        enough = self.plan_json(request, "--model", "gpt-4o", "--window", str(plan["least_window"]))
        self.assertTrue(enough["fits"])
        code, out, _ = self.plan(request, "--model", "gpt-4o", "--window", "1000")
        self.assertEqual(code, 3)
        self.assertIn("Prompt length exceeds context window.", " ".join(out.split()))

    def test_emits_the_request_to_send(self):
        request = conversation(20, temperature=0.5)
        request["plimsoll"] = {"passages": [{"id": "p1", "text": "The mark is on her side.", "score": 1}]}
        code, out, err = self.plan(request, "--model", "gpt-4o", "--window", "1500", "--emit")
        self.assertEqual(code, 0, err)
        sent = json.loads(out)
        self.assertEqual(sent["temperature"], 0.5)
        self.assertNotIn("plimsoll", sent)
        self.assertLess(len(sent["messages"]), 42)
        self.assertIn("The mark is on her side.", sent["messages"][-1]["content"])
        again = self.plan_json(sent, "--model", "gpt-4o", "--window", "1500")
        self.assertEqual([piece["fate"] for piece in again["pieces"]], ["kept"] * len(sent["messages"]))

    def test_emits_the_plans_model_and_limits(self):
        request = conversation(10, words=400, model="gpt-4", max_tokens=3000)
        code, out, err = self.plan(request, "--fallback", "gpt-5-mini", "--max-tokens", "2500", "--emit")
        self.assertEqual(code, 0, err)
        sent = json.loads(out)
        self.assertEqual((sent["model"], sent["max_tokens"]), ("gpt-5-mini", 2500))

    def test_emits_nothing_where_it_does_not_fit(self):
        code, out, err = self.plan(conversation(0), "--model", "gpt-4o", "--window", "50", "--emit")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("does not fit", err)

    def test_ids_cannot_write_to_the_terminal(self):
        request = conversation(0)
        request["plimsoll"] = {"passages": [{"id": "\x1b]0;title\x07\nfake", "text": "ship " * 900}]}
        code, out, err = self.plan(request, "--model", "gpt-4o", "--window", "1000")
        self.assertEqual(code, 0, err)
        self.assertIn("Left out", out)
        self.assertNotRegex(out, "[\x00-\x09\x0b-\x1f]")
        self.assertNotIn("\nfake", out)

    def test_falls_back_where_it_may(self):
        request = conversation(10, words=500)
        plan = self.plan_json(request, "--model", "gpt-4", "--fallback", "gpt-4,gpt-5-mini")
        self.assertEqual(plan["fallback"]["from"], "gpt-4")
        self.assertEqual(plan["fallback"]["to"], "gpt-5-mini")
        self.assertEqual([one["model"] for one in plan["fallback"]["considered"]], ["gpt-4", "gpt-5-mini"])
        self.assertEqual(plan["model"], "gpt-5-mini")
        by_setting = self.plan_json(request, "--model", "gpt-4", env={
            "LLM_FALLBACK_ENABLED": "true", "LLM_ALLOWED_FALLBACK_MODELS": "gpt-5-mini"})
        self.assertEqual(by_setting["model"], "gpt-5-mini")
        off = self.plan_json(request, "--model", "gpt-4")
        self.assertIsNone(off["fallback"]["to"])

    def test_settings_are_heard(self):
        plan = self.plan_json(conversation(3), "--model", "gpt-4o", env={"LLM_CONTEXT_WINDOW": "3000"})
        self.assertEqual(plan["window"]["tokens"], 3000)
        limited = self.plan_json(conversation(5), "--model", "gpt-4o", env={"PLIMSOLL_MAX_HISTORY_TURNS": "2"})
        self.assertEqual(limited["messageCount"], 6)

    def test_the_request_names_its_model(self):
        self.assertEqual(self.plan_json(conversation(1, model="qwen2.5:7b"))["model"], "qwen2.5:7b")
        code, _, err = self.plan(conversation(1))
        self.assertEqual(code, 2)
        self.assertIn("--model", err)

    def test_wrong_options_are_told_in_words(self):
        self.request.write_text("{}")
        for arguments, said in [(("--window", "0"), "--window must be from 1 to 1000000000000, not '0'"),
                                (("--policy", "foo"), "not 'foo'"), (("--json", "--emit"), "--json and --emit cannot be given together"),
                                (("--window",), "--window needs a value"), (("--windw", "9"), "did you mean `--window`?")]:
            status, _, err = run(self.request, *arguments)
            self.assertEqual((status, err.count("\n")), (2, 1), err)
            self.assertIn(said, err)
            self.assertIn("`plimsoll plan --help`", err)
        self.assertIn("REQUEST is missing", run()[2])

    def test_a_mistyped_model_gets_the_nearest_name(self):
        _, out, _ = self.plan(conversation(1), "--model", "gpt-4oo")
        self.assertIn("did you mean 'gpt-4o'?", " ".join(out.split()))

    def test_bad_input_ends_with_2(self):
        for text, said in (("", "JSON"), ("{}", "messages"), ('{"messages": [], "max_tokens": "x"}', "")):
            with self.subTest(text=text):
                code, out, err = run("-", "--model", "gpt-4o", text=text)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(said, err)
        self.assertEqual(run("/no/such/file", "--model", "gpt-4o")[0], 2)
        self.assertEqual(self.plan(conversation(0), "--model", "gpt-4o", "--policy", "greedy")[0], 2)
        self.assertEqual(self.plan(conversation(0), "--model", "gpt-4o", "--window", "0")[0], 2)

    def test_the_bar_is_as_wide_as_the_page(self):
        _, out, _ = self.plan(conversation(10), "--model", "gpt-4o", "--window", "2000")
        bars = [line for line in out.splitlines() if re.fullmatch(r"[fsomhcqtax]+·*", line)]
        self.assertEqual([len(line) for line in bars], [80])
        self.assertNotIn("\033", out)

    def on_terminal(self, columns, env=None):
        """Output on a terminal of that width."""
        self.request.write_text(json.dumps(conversation(10)))
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        subprocess.run(["stty", "cols", str(columns)], stdin=slave, check=True)
        done = subprocess.Popen([PROGRAM, "plan", self.request, "--model", "gpt-4o", "--window", "1200"], stdout=slave,
                                env=os.environ | {"TERM": "xterm"} | (env or {}))
        os.close(slave)
        out = b""
        try:
            while chunk := os.read(master, 65536):
                out += chunk
        except OSError:
            pass  # the other end was closed
        self.assertEqual(done.wait(), 0)
        return out.decode().replace("\r\n", "\n")

    def test_narrow_terminals_and_no_color(self):
        coloured = self.on_terminal(60)
        self.assertIn("\033[38;5;", coloured)
        plain = re.sub(r"\033\[[0-9;]*m", "", coloured)
        self.assertLessEqual(max(len(line) for line in plain.splitlines()), 60)
        self.assertNotIn("\033", self.on_terminal(60, {"NO_COLOR": "1"}))


if __name__ == "__main__":
    unittest.main()
