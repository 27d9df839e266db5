"""SIGHUP: other settings on the same port, and nothing that was under way is lost.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import http.client
import json
import signal
import tempfile
import time
import unittest
from pathlib import Path

from gateway import CHAT, PATIENCE, Gateway, user
from upstream import Upstream


class Reload(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192, "slow/gpt-4o": 8192}))
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-http-")
        self.addCleanup(folder.cleanup)
        self.config = Path(folder.name) / "plimsoll" / "plimsoll.toml"
        self.config.parent.mkdir()
        self.config.write_text("llm_context_window = 4000\n")
        self.gateway = Gateway(self.upstream, folder=folder.name)
        self.addCleanup(self.gateway.close)

    def window(self):
        return self.gateway.ask("/v1/plan", {"model": "gpt-4o", "messages": user("Ahoy")}).json["window"]["tokens"]

    def reload(self, text, words):
        self.config.write_text(text)
        before = self.gateway.logged().count(words)
        self.gateway.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + PATIENCE
        while self.gateway.logged().count(words) == before:
            self.assertLess(time.monotonic(), until, self.gateway.logged())
            time.sleep(0.02)

    def test_settings_are_read_again(self):
        self.assertEqual(self.window(), 4000)
        for window in (2000, 3000):
            self.reload(f"llm_context_window = {window}\n", "settings read again")
            self.assertEqual(self.window(), window)
        self.assertEqual(self.gateway.chat("gpt-4o", user("Ahoy")).status, 200)

    def test_bad_settings_change_nothing(self):
        self.reload("llm_context_window = 2000\nno_such_setting = 1\n", "the old ones stay in use")
        self.assertIn("no_such_setting", self.gateway.logged())
        self.assertEqual(self.window(), 4000)

    def test_an_answer_under_way_is_answered_to_its_end(self):
        line = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE)
        self.addCleanup(line.close)
        body = {"model": "slow/gpt-4o", "messages": user("Ahoy"), "stream": True}
        line.request("POST", CHAT, json.dumps(body), {"Content-Type": "application/json"})
        reply = line.getresponse()
        self.assertEqual(reply.status, 200)
        first = reply.read1(10)
        self.reload("llm_context_window = 2000\n", "settings read again")
        self.upstream.release.set()
        self.assertTrue((first + reply.read()).rstrip().endswith(b"data: [DONE]"))
        self.assertEqual(self.window(), 2000)

    def test_a_server_that_hangs_delays_no_reload_and_keeps_its_models(self):
        self.upstream.hangs_for_lists = True
        begun = time.monotonic()
        self.reload("window_timeout_seconds = 60\nllm_context_window = 2000\n", "settings read again")
        self.assertLess(time.monotonic() - begun, PATIENCE / 4)
        self.assertIn("gpt-4o", [one["id"] for one in self.gateway.ask("/v1/models").json["data"]])
        self.assertEqual(self.gateway.chat("gpt-4o", user("Ahoy")).status, 200)

    def test_a_signal_to_stop_waits_for_no_server_during_a_start_or_a_reload(self):
        self.upstream.hangs_for_lists = True
        self.config.write_text("window_timeout_seconds = 60\n")
        begun = time.monotonic()
        self.assertEqual(self.gateway.stop(), 0)
        self.gateway.start()
        self.assertIn("no answer yet", self.gateway.greeting)
        self.gateway.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertEqual(self.gateway.stop(), 0)
        self.gateway.start()
        self.assertLess(time.monotonic() - begun, PATIENCE / 4)

    def test_nobody_is_turned_away_meanwhile(self):
        self.config.write_text("llm_context_window = 2000\n")
        before = self.gateway.logged().count("settings read again")
        self.gateway.process.send_signal(signal.SIGHUP)
        asked, until = 0, time.monotonic() + PATIENCE
        while self.gateway.logged().count("settings read again") == before:
            self.assertLess(time.monotonic(), until)
            self.assertIn(self.window(), (2000, 4000))
            asked += 1
        self.assertGreater(asked, 0)
        self.assertEqual(self.window(), 2000)


if __name__ == "__main__":
    unittest.main()
