"""A key's budget binds: whatever is asked at once, left early or embedded, and over a reload of the settings."""

import concurrent.futures
import json
import signal
import unittest

from gateway import CHAT, Gateway, http_request, long_history, user
from test_keys import add_key, bearer, wait_for
from upstream import Upstream


class Budgets(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192, "slow/gpt-4o": 8192, "pause/gpt-4o": 8192}))
        self.upstream.prompt_tokens = 8

    def start(self, *options):
        gateway = Gateway(self.upstream)
        self.addCleanup(gateway.close)
        ann = add_key(gateway, "ann", *options)
        wait_for(lambda: gateway.ask("/v1/models").status == 401, "the gateway to ask for keys")
        return gateway, ann

    def used(self, gateway):
        sections = json.loads(gateway.run("usage", "--by", "section", "--json"))["usage"]
        return sum(one["tokens"] for one in sections if one["section"])

    def test_a_crowd_spends_no_more_than_the_day_has(self):
        gateway, ann = self.start("--tokens-per-day", 5000)
        body = {"model": "pause/gpt-4o", "messages": user("Ahoy!"), "max_tokens": 1000}
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            asked = [pool.submit(gateway.ask, CHAT, body, headers=bearer(ann)) for _ in range(50)]
            wait_for(lambda: sum(one.done() for one in asked) >= 46, "those that do not fit to be refused")
            self.assertEqual(len(self.upstream.to()), 4)  # 4 * (10 + 1000) fit into 5000
            self.upstream.release.set()
            replies = [one.result() for one in asked]
        self.assertEqual(sorted({one.status for one in replies}), [200, 429])
        refused = next(one for one in replies if one.status == 429)
        self.assertEqual(refused.headers["retry-after"], "1")
        self.assertIn("this one up to 1,010", refused.json["detail"])
        self.assertEqual(gateway.ask(CHAT, body, headers=bearer(ann)).status, 200)  # what was set aside is back

    def test_every_limit_that_a_server_may_obey_counts(self):
        gateway, ann = self.start("--tokens-per-day", 5000)
        for fields in ({"max_tokens": 4000, "max_completion_tokens": 1}, {"max_tokens": 1, "n_predict": 4000},
                       {"max_tokens": 1, "max_new_tokens": 4000}, {"max_tokens": 1, "options": {"num_predict": 4000}}):
            with self.subTest(fields):
                self.upstream.clear()
                body = {"model": "pause/gpt-4o", "messages": user("Ahoy!")} | fields
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    first = pool.submit(gateway.ask, CHAT, body, headers=bearer(ann))
                    wait_for(lambda: self.upstream.to(), "the first one")
                    self.assertEqual(gateway.ask(CHAT, body, headers=bearer(ann)).status, 429)
                    sent = self.upstream.last().json
                    self.upstream.release.set()
                    self.assertEqual(first.result().status, 200)
                self.assertEqual(sent["max_tokens"], 4000)
                self.assertNotIn("n_predict", sent)
                self.assertNotIn("max_new_tokens", sent)

    def test_a_server_that_lies_about_its_answer_costs_no_more_than_was_asked_for(self):
        gateway, ann = self.start("--tokens-per-day", 10_000)
        self.upstream.usage = lambda answer=3: {"prompt_tokens": 8, "completion_tokens": 99_999_999, "total_tokens": 100_000_007,
                                                "completion_tokens_details": {"reasoning_tokens": 99_999_999}}
        body = {"model": "gpt-4o", "messages": user("Ahoy!"), "max_tokens": 10}
        for _ in range(3):
            self.assertEqual(gateway.ask(CHAT, body, headers=bearer(ann)).status, 200)
        wait_for(lambda: 30 < self.used(gateway) < 100, "what was asked for to be charged")
        self.assertEqual(gateway.ask(CHAT, body, headers=bearer(ann)).status, 200)

    def test_an_answer_without_a_limit_gets_one_near_the_end_of_the_budget(self):
        gateway, ann = self.start("--tokens-per-day", 1000)
        reply = gateway.ask(CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")}, headers=bearer(ann))
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(self.upstream.last().json["max_tokens"], 512)
        self.assertIn("daily budget", " ".join(reply.ours["warnings"]))
        too_long = gateway.ask(CHAT, {"model": "gpt-4o", "messages": user("Ahoy!"), "max_tokens": 2000}, headers=bearer(ann))
        self.assertEqual((too_long.status, too_long.json["error"]["code"]), (429, "insufficient_quota"))
        self.assertIn("shorter answer (max_tokens)", too_long.json["detail"])

    def test_of_many_prompts_all_are_charged_and_nothing_is_learned_of_them(self):
        gateway, ann = self.start("--tokens-per-day", 1_000_000)
        self.upstream.prompt_tokens = 40 * 101
        body = {"model": "gpt-4o", "prompt": ["ship " * 100] * 40, "max_tokens": 1}
        margin = gateway.ask("/v1/models/gpt-4o", headers=bearer(ann)).json["margin"]
        self.assertEqual(gateway.ask("/v1/completions", body, headers=bearer(ann)).status, 200)
        wait_for(lambda: self.used(gateway) >= 40 * 101, "all prompts to be charged")
        self.assertEqual(gateway.ask("/v1/models/gpt-4o", headers=bearer(ann)).json["margin"], margin)

    def test_what_is_reserved_for_a_list_of_texts_has_no_bound_but_its_bytes(self):
        gateway, ann = self.start("--tokens-per-day", 40_000)
        reply = gateway.ask("/v1/embeddings", {"model": "gpt-4o", "input": ["ship " * 1000] * 100}, headers=bearer(ann))
        self.assertEqual((reply.status, reply.json["error"]["code"]), (429, "insufficient_quota"))
        self.assertEqual(self.upstream.to("/v1/embeddings"), [])

    def test_a_completion_without_a_limit_is_sent_the_one_that_is_charged(self):
        gateway, ann = self.start("--tokens-per-day", 5000)
        body = {"model": "gpt-4o", "prompt": "Ahoy!"}
        self.assertEqual(gateway.ask("/v1/completions", body, headers=bearer(ann)).status, 200)
        self.assertEqual(self.upstream.last("/v1/completions").json["max_tokens"], 16)
        self.assertEqual(gateway.ask("/v1/completions", body | {"max_tokens": 40}, headers=bearer(ann)).status, 200)
        self.assertEqual(self.upstream.last("/v1/completions").json["max_tokens"], 40)

    def test_who_leaves_before_the_first_event_has_used_the_input(self):
        self.upstream.slow_after = 0
        gateway, ann = self.start("--tokens-per-day", 5000)
        body = {"model": "slow/gpt-4o", "stream": True, "messages": user("Ahoy!")}
        line = gateway.dial(http_request(body, extra=f"Authorization: Bearer {ann}\r\n"))
        wait_for(lambda: self.upstream.to(), "the upstream to be asked")
        wait_for(lambda: gateway.ask("/metrics", headers=bearer(ann)).status == 200, "an answer")
        line.close()
        wait_for(lambda: self.used(gateway) >= 8, "the input to be charged")

    def test_what_the_own_embedder_reads_is_charged(self):
        gateway, ann = self.start("--tokens-per-day", 60)
        for path in ("/v1/embeddings", "/api/embed"):
            before = self.used(gateway)
            reply = gateway.ask(path, {"model": "all-minilm-l6-v2", "input": "a ship at sea " * 4}, headers=bearer(ann))
            self.assertEqual(reply.status, 200, reply.body)
            wait_for(lambda: self.used(gateway) == before + 18, f"what {path} has read")
            refused = gateway.ask(path, {"model": "all-minilm-l6-v2", "input": "a ship at sea " * 40}, headers=bearer(ann))
            self.assertEqual(refused.status, 429, refused.body)
            self.assertIn("of its 60 tokens", str(refused.json["error"]))

    def test_limits_of_a_minute_outlast_a_reload(self):
        gateway, ann = self.start("--requests-per-minute", 3)
        for _ in range(3):
            self.assertEqual(gateway.ask("/v1/models", headers=bearer(ann)).status, 200)
        gateway.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "settings read again" in gateway.logged(), "the settings to be read again")
        self.assertEqual(gateway.ask("/v1/models", headers=bearer(ann)).status, 429)

    def test_tokens_of_a_minute_outlast_a_reload(self):
        gateway, ann = self.start("--tokens-per-minute", 1000)
        self.upstream.usage = lambda answer=3: {"prompt_tokens": 8, "completion_tokens": 900, "total_tokens": 908}
        body = {"model": "gpt-4o", "messages": user("Ahoy!"), "max_tokens": 900}
        self.assertEqual(gateway.ask(CHAT, body, headers=bearer(ann)).status, 200)
        gateway.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "settings read again" in gateway.logged(), "the settings to be read again")
        refused = gateway.ask(CHAT, body, headers=bearer(ann))
        self.assertEqual((refused.status, refused.json["error"]["code"]), (429, "rate_limit_exceeded"), refused.body)

    def test_a_summary_that_exceeds_the_budget_is_not_written_by_a_model(self):
        gateway, ann = self.start("--tokens-per-day", 9_000)
        body = {"model": "gpt-4o", "messages": long_history(80), "max_tokens": 100}
        reply = gateway.ask(CHAT, body, headers=bearer(ann))
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(len(self.upstream.to()), 1)
        self.assertIn("extractive, not written by a model", " ".join(reply.ours["warnings"]))
        self.assertIn("tokens", " ".join(reply.ours["warnings"]))

if __name__ == "__main__":
    unittest.main()
