"""Evaluations (C3): questions to a collection, answered behind the request, with their passages and plans.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. Nothing here leaves
this machine.
"""

import re
import signal
import time
import unittest

from chat import CATS, TOWER, ChatWithDocuments
from gateway import PATIENCE, SLOW, Gateway, serving
from upstream import Upstream

START = "/evaluation/plugin/start-with-questions"


class Evaluating(ChatWithDocuments):
    SETTINGS = {"max_evaluation_questions": 5, "max_evaluation_runs": 2, "evaluation_question_seconds": 0.5 * SLOW}

    def start(self, questions=(TOWER, CATS), **fields):
        return self.gateway.ask(START, {"collection_id": "IDX", "questions": questions, "llm_model": "gpt-4o",
                                        "user_id": "abc123"} | fields)

    def over(self, reply):
        run = self.good(reply, 202)["run_id"]
        return self.until(f"/evaluation/runs/{run}", lambda body: body["status"] != "running")

    def test_a_run_answers_its_questions_in_order(self):
        run = self.over(self.start())
        self.assertEqual((run["status"], run["collection_id"], run["llm_model"], run["user_id"], run["questions"],
                          run["answered"], run["failed"], run["error"]), ("done", "IDX", "gpt-4o", "abc123", 2, 2, 0, None))
        self.assertEqual([one["question"] for one in run["results"]], [TOWER, CATS])
        for one, text in zip(run["results"], (TOWER, CATS)):
            self.assertEqual((one["answer"], one["error"]), (self.upstream.text, None))
            self.assertEqual(one["passages"][0]["content"].strip(), text)
            self.assertEqual((one["plan"]["index"], one["plan"]["window"]), ("IDX", 8192))
            self.assertTrue(one["metadata"]["context_window_optimization"]["optimization_enabled"])
            self.assertEqual(self.gateway.inspect(one["trace"])["index"], "IDX")
        self.assertEqual(self.gateway.ask("/chat/sessions").json["sessions"], [])

    def test_memories_stay_out_of_what_is_kept(self):
        with serving(self.upstream, recall_memories="true") as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
            self.assertEqual(gateway.ask("/v1/memories", {"text": "The Eiffel Tower is Ann's", "importance": 0.9}).status, 201)
            self.assertIn("Ann's", str(gateway.chat("gpt-4o", [{"role": "user", "content": TOWER}]).ours))
            self.upstream.clear()
            started = gateway.ask(START, {"collection_id": "IDX", "questions": [TOWER], "llm_model": "gpt-4o", "user_id": "a"})
            path = f"/evaluation/runs/{started.json['run_id']}"
            until = time.monotonic() + PATIENCE
            while (run := gateway.ask(path).json)["status"] == "running" and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual((run["status"], run["answered"]), ("done", 1))
            self.assertNotIn("Ann's", str(run) + str(self.upstream.last().json))

    def test_a_question_that_fails_does_not_stop_the_run(self):
        run = self.over(self.start(["ship " * 9000, TOWER]))
        self.assertEqual((run["status"], run["answered"], run["failed"]), ("done", 1, 1))
        self.assertIn("Prompt length exceeds", run["results"][0]["error"])
        run = self.over(self.start(llm_model="status-401/gpt-4o"))
        self.assertEqual([one["error"] for one in run["results"]], ["who are you?"] * 2)

    def test_each_question_has_a_deadline(self):
        run = self.over(self.start([TOWER], llm_model="slow/gpt-4o"))
        self.assertEqual((run["status"], run["failed"], run["results"][0]["answer"]), ("done", 1, None))
        self.assertTrue(run["results"][0]["error"])

    def test_runs_at_once_are_bounded(self):
        running = [self.good(self.start([TOWER] * 5, llm_model="slow/gpt-4o"), 202)["run_id"] for _ in range(2)]
        refused = self.start()
        self.assertEqual(refused.status, 429)
        self.assertIn("max_evaluation_runs", refused.json["detail"])
        self.upstream.release.set()
        for run in running:
            self.until(f"/evaluation/runs/{run}", lambda body: body["status"] == "done")
        until = time.monotonic() + PATIENCE
        while (reply := self.start()).status == 429 and time.monotonic() < until:
            time.sleep(0.02)
        self.over(reply)

    def test_bad_input(self):
        asked = len(self.upstream.to())
        for fields, kind, *location in [
                ({"questions": []}, "too_short", "questions"), ({"questions": [TOWER] * 6}, "too_long", "questions"),
                ({"questions": "x"}, "list_type", "questions"), ({"questions": [1]}, "string_type", "questions", 0),
                ({"questions": [TOWER, " "]}, "string_too_short", "questions", 1), ({"llm_model": 5}, "string_type", "llm_model"),
                ({"user_id": {}}, "string_type", "user_id"), ({"collection_id": ""}, "string_too_short", "collection_id")]:
            with self.subTest(fields=str(fields)[:60]):
                self.complaint(self.start(**fields), kind, "body", *location)
        self.assertEqual(self.start(collection_id="nowhere").status, 404)
        self.assertEqual(self.gateway.ask("/evaluation/runs/none").status, 404)
        self.assertEqual(self.gateway.ask(START).status, 405)
        self.assertEqual(len(self.upstream.to()), asked)


class CutShort(unittest.TestCase):
    def begin(self, gateway):
        gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
        run = gateway.ask(START, {"collection_id": "IDX", "questions": [TOWER] * 3, "llm_model": "slow/gpt-4o"}).json["run_id"]
        return f"/evaluation/runs/{run}"

    def test_a_run_that_a_restart_cut_short_says_so(self):
        with Upstream({"slow/gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream)
            self.addCleanup(gateway.close)
            for sign in (signal.SIGKILL, signal.SIGTERM):
                path = self.begin(gateway)
                until = time.monotonic() + PATIENCE
                while not upstream.to() and time.monotonic() < until:
                    time.sleep(0.01)
                begun = time.monotonic()
                gateway.stop(sign)
                self.assertLess(time.monotonic() - begun, PATIENCE / 2)
                gateway.start()
                run = gateway.ask(path).json
                self.assertEqual((run["status"], run["results"]), ("interrupted", []))
                self.assertIn("start the run again", run["error"])
                upstream.clear()

    def test_a_question_from_the_terminal_leaves_a_run_alone(self):
        with Upstream({"slow/gpt-4o": 8192, "gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            path = self.begin(gateway)
            self.assertIn(upstream.text, gateway.run("ask", "Ahoy?", "--upstream", upstream.url, "--model", "gpt-4o", "--brief"))
            self.assertEqual(gateway.ask(path).json["status"], "running")

    def test_a_budget_that_is_used_up_ends_the_answers(self):
        with Upstream({"gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            key = re.search(r"plk_\S+", gateway.run("keys", "add", "ann", "--tokens-per-day", "100"))[0]
            headers = {"Authorization": f"Bearer {key}"}
            until = time.monotonic() + PATIENCE
            while gateway.ask("/indexes").status != 401 and time.monotonic() < until:
                time.sleep(0.02)
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]}, headers=headers)
            started = gateway.ask(START, {"collection_id": "IDX", "questions": [TOWER] * 4, "llm_model": "gpt-4o"}, headers=headers)
            path = f"/evaluation/runs/{started.json['run_id']}"
            while (run := gateway.ask(path, headers=headers).json)["status"] == "running" and time.monotonic() < until:
                time.sleep(0.02)
            self.assertEqual((run["status"], len(run["results"])), ("done", 4))
            self.assertGreater(run["answered"], 0)
            self.assertIn("tokens for today", run["results"][3]["error"])
            self.assertEqual(len(upstream.to()), run["answered"])

    def test_a_model_that_nobody_has_is_told_at_once(self):
        with Upstream({"gpt-4o": 8192}) as one, Upstream({"gpt-4": 8192}) as two, serving(one, two) as gateway:
            gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": TOWER}]})
            reply = gateway.ask(START, {"collection_id": "IDX", "questions": [TOWER], "llm_model": "nobody-has-this"})
            self.assertEqual(reply.status, 404, reply.body)


if __name__ == "__main__":
    unittest.main()
