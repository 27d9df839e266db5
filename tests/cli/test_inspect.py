"""`plimsoll inspect` as a user meets it, over a store that `plimsoll index` made and rows as docs/inspect.md has them.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it); set-up must have brought a tokenizer.
"""

import json
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
NOW_MS = int(time.time() * 1000)


def trace(number, **changes):
    """A trace as the gateway keeps it."""
    one = {
        "schema": 1, "id": f"0199c8a0-{number:08x}", "at_ms": NOW_MS + number * 1000, "owner": "local", "session": "",
        "route": "/v1/chat/completions", "asked_model": "llama3.2:3b", "model": "llama3.2:3b", "upstream": "ollama",
        "index": "", "stream": False, "changed": False, "status": 200, "error": "", "finish_reason": "stop",
        "window": 4096, "input_tokens": 1573, "thinking_tokens": 0, "answer_tokens": 512, "margin": 50,
        "exactness": "exact", "usage": {"input": 1573, "answer": 117, "thinking": None, "cached": None},
        "cost": {"nano_usd": 2_345_678_000},
        "used": {"template": 7, "question": 1566, "answer": 117}, "drift": 0,
        "upstream_cut_tokens": 0, "us": {"plan": 210, "retrieve": 0, "first_byte": 90_400, "total": 1_250_000},
        "attempts": [{"upstream": "ollama", "model": "llama3.2:3b", "status": 200, "outcome": "answered", "window": 4096,
                      "took_us": 1_249_000}],
        "passages": [], "warnings": [], "plan": None}
    return one | changes


class Inspect(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = os.environ | {"XDG_DATA_HOME": str(self.folder / "data"), "TZ": "UTC"}
        self.store = self.folder / "data" / "plimsoll" / "store.db"

    def run_it(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stdout + done.stderr

    def inspect(self, *arguments, status=0):
        return self.run_it("inspect", *arguments, status=status)

    def as_json(self, *arguments):
        return [json.loads(line) for line in self.inspect(*arguments, "--json").splitlines()]

    def make_store(self):
        (self.folder / "a.md").write_text("The load line.\n")
        self.run_it("index", "add", "ship", "a.md", "--no-embedder")
        self.run_it("inspect", status=2)  # no traces yet, but their tables

    def keep(self, *traces):
        if not self.store.exists():
            self.make_store()
        with sqlite3.connect(self.store) as store:
            for one in traces:
                text = json.dumps(one)
                store.execute("INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?)",
                              (one["id"], one["owner"], one["session"], one["at_ms"], len(text), text))
        store.close()

    def plan(self):
        """A real plan, of a request that does not wholly fit."""
        turns = [{"role": role, "content": f"{number} " + "ballast " * 300}
                 for number in range(4) for role in ("user", "assistant")]
        body = {"model": "gpt-4o", "messages": [*turns, {"role": "user", "content": "And now?"}]}
        (self.folder / "request.json").write_text(json.dumps(body))
        return json.loads(self.run_it("plan", "request.json", "--window", 2000, "--json"))

    def test_the_table_has_a_line_for_each_with_the_latest_last(self):
        self.keep(*[trace(number) for number in range(30)],
                  trace(40, status=502, model="", usage={}, drift=None, error="refused"))
        lines = self.inspect().splitlines()
        self.assertEqual(len(lines), 21)
        self.assertRegex(lines[0], r"TIME +ID +MODEL +STATUS +INPUT +WINDOW +ANSWER +DRIFT +MS")
        self.assertRegex(lines[-2], r"0000001d +llama3.2:3b +200 +█+\S+ +1,573 +/ 4,096 +117 +0 +1,250")
        self.assertRegex(lines[-1], r"00000028 +llama3.2:3b +502 ")
        self.assertEqual(len(self.inspect("--limit", 3).splitlines()), 4)
        self.assertEqual([one["id"][-2:] for one in self.as_json("--limit", 2)], ["1d", "28"])

    def test_one_is_drawn_with_its_plan_and_what_came_of_it(self):
        plan = self.plan()
        passage = {"document": "docs/log.md", "start": 10, "end": 90, "first_line": 3, "last_line": 4, "tokens": 20, "score": 0.81, "distance": 0.42,
                   "reason": "nearest", "text": "Nine hundred tons."}
        refused = {"upstream": "ollama", "model": "gpt-4o", "status": 400, "outcome": "overflow: the window is 2,000",
                   "window": 4096, "took_us": 12_000}
        self.keep(trace(1, plan=plan, changed=True, model="gpt-4o", asked_model="gpt-4", stream=True, session="s7",
                        index="ship", passages=[passage], warnings=["the answer was lowered"], prompt="x" * 5000,
                        input_tokens=plan["input_tokens"], answer_tokens=plan["answer_tokens"],
                        usage={"input": plan["input_tokens"] + 3, "answer": 117, "thinking": 40, "cached": 1024}, drift=3,
                        attempts=[refused, trace(0)["attempts"][0]]))
        shown = " ".join(self.inspect("00000001").split())
        for part in ("Trace 0199c8a0-00000001", "gpt-4o answered on ollama instead of gpt-4, status 200 (stop), streamed",
                     "the request was changed by the plan", "session s7", "index ship",
                     "window 2,000 tokens", "Left out", "messages[0]", "With another window",
                     "cached 1,024", "answer 117", "thinking 40; drift +3", "plan 0.2 ms", "first byte after 90 ms, all 1,250 ms",
                     "1. gpt-4o on ollama, window 4,096, status 400 after 12 ms: overflow: the window is 2,000",
                     "docs/log.md, lines 3 to 4, 20 tokens, similarity 0.79: nearest", "Nine hundred tons.",
                     "Warnings the answer was lowered",
                     f"messageCount {plan['messageCount']} memoryCount 0 inputTokenCount {plan['input_tokens']} "
                     f"adjustedMaxTokens {plan['answer_tokens']}", "The prompt is stored (5.0 kB); --json shows it."):
            self.assertIn(part, shown)
        self.assertNotIn("CUT", shown)
        drawn = " ".join(self.run_it("plan", "request.json", "--window", 2000).split())
        self.assertIn(drawn, shown)  # as `plan` draws it

    def test_a_cut_prompt_cannot_be_overlooked(self):
        cut = trace(1, usage={"input": 498, "answer": 9}, drift=-1075, upstream_cut_tokens=1075)
        self.keep(cut)
        self.assertIn("CUT 1,075", self.inspect())
        shown = " ".join(self.inspect("--last").split())
        self.assertIn("THE UPSTREAM CUT THE PROMPT It read 498 of the 1,573 tokens", shown)

    def test_json_is_the_trace_itself(self):
        kept = trace(1, plan={"model": "m", "messageCount": 3}, session="s")
        self.keep(kept)
        self.assertEqual(self.as_json("0199c8a0-00000001"), [kept])
        self.assertEqual(self.as_json("--last"), [kept])

    def test_the_cost_is_shown_or_why_it_is_not_known(self):
        before = trace(4)
        del before["cost"]  # kept by an older version
        self.keep(trace(1), trace(2, cost={"nano_usd": None, "why": "the server did not report its usage"}), trace(3, cost=None), before)
        for number, said in ((1, "cost $2.35 by the list price"), (2, "cost not known: the server did not report its usage"), (3, None), (4, None)):
            shown = self.inspect(f"0000000{number}")
            if said:
                self.assertIn(said, shown)
            else:
                self.assertNotIn("cost", shown)
        self.keep(trace(5, cost={"nano_usd": -1}))
        self.assertIn("'cost'", self.inspect("00000005", status=1))

    def test_a_session_is_listed_and_its_last_shown(self):
        self.keep(trace(1, session="a"), trace(2, session="b"), trace(3, session="a"), trace(4))
        self.assertEqual([one["id"][-1] for one in self.as_json("--session", "a")], ["1", "3"])
        self.assertEqual([one["id"][-1] for one in self.as_json("--session", "b", "--last")], ["2"])
        self.assertIn("no trace for session 'c'", self.inspect("--session", "c", status=2))

    def test_follow_shows_each_as_it_comes_until_interrupted(self):
        self.keep(trace(5))
        following = subprocess.Popen([PROGRAM, "inspect", "--follow", "--json"], stdout=subprocess.PIPE, text=True,
                                     env=self.environment, cwd=self.folder)
        self.addCleanup(following.stdout.close)
        self.addCleanup(following.kill)

        def next_id():
            self.assertTrue(select.select([following.stdout], [], [], 20)[0], "nothing came")
            return json.loads(following.stdout.readline())["id"][-1]

        time.sleep(1)
        self.keep(trace(7))
        self.assertEqual(next_id(), "7")
        self.keep(trace(6))  # began earlier, ended later
        self.assertEqual(next_id(), "6")
        following.send_signal(signal.SIGINT)
        self.assertEqual(following.wait(timeout=20), 0)

    def test_follow_begins_with_as_many_as_asked_for_under_one_header(self):
        self.keep(*[trace(number) for number in range(5)])
        following = subprocess.Popen([PROGRAM, "inspect", "--follow", "--limit", "2"], stdout=subprocess.PIPE, text=True,
                                     env=self.environment, cwd=self.folder)
        self.addCleanup(following.stdout.close)
        self.addCleanup(following.kill)
        lines = [following.stdout.readline() for _ in range(3)]
        self.keep(trace(9))
        lines.append(following.stdout.readline())
        following.send_signal(signal.SIGTERM)
        self.assertEqual(following.wait(timeout=20), 0)
        self.assertTrue(lines[0].startswith("TIME"))
        self.assertEqual([line.split()[2][-1] for line in lines[1:]], ["3", "4", "9"])

    def test_errors_say_what_to_do(self):
        self.assertIn("`plimsoll serve`", self.inspect(status=2))
        self.assertFalse(self.store.exists())
        self.make_store()
        for arguments in ((), ("--last",)):
            self.assertIn("plimsoll serve", self.inspect(*arguments, status=2))
        self.keep(trace(1), trace(2))
        self.assertIn("no trace is called 'zz'", self.inspect("zz", status=2))
        unclear = self.inspect("0199", status=2)
        self.assertIn("0199c8a0-00000001, 0199c8a0-00000002", unclear)
        self.inspect("0199c8a0-00000001", "--last", status=2)
        self.inspect("--follow", "--last", status=2)

    def test_another_store_can_be_named(self):
        self.keep(trace(1))
        self.store.rename(self.folder / "other.db")
        for suffix in ("-wal", "-shm"):
            Path(f"{self.store}{suffix}").unlink(missing_ok=True)
        self.assertIn("00000001", self.inspect("--store", self.folder / "other.db"))
        self.assertIn("00000001", self.run_it("--set", f"store_file={self.folder / 'other.db'}", "inspect"))

    def test_what_a_client_sent_does_not_reach_the_terminal_raw(self):
        self.keep(trace(1, model="\x1b[31mred\x07", session="\u202eevil", error="line\r\x1b]0;title\x07"))
        for shown in (self.inspect(), self.inspect("--last")):
            for bad in ("\x1b", "\x07", "\u202e", "\r"):
                self.assertNotIn(bad, shown)

    def test_a_plan_that_cannot_be_read_hides_nothing_else(self):
        self.keep(trace(1, plan={"sections": 7}))
        shown = self.inspect("--last")
        self.assertIn("The plan cannot be drawn", shown)
        self.assertIn("plan and usage agree", shown)

    def test_help_teaches(self):
        shown = self.inspect("--help")
        for part in ("--last", "--session", "--follow", "X-Plimsoll-Trace", "jq"):
            self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
