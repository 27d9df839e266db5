"""`plimsoll chat` with the embedded model, which quotes documents, beside a server that writes summaries and questions."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from gateway import EMBEDDED_MODEL, PATIENCE, PROGRAM
from upstream import Upstream

WRITER = "gpt-4o"


class QuotedConversations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="plimsoll-chat-")))
        cls.upstream = cls.enterClassContext(Upstream({WRITER: 8192}))
        (cls.folder / "cook.md").write_text("The cook of the Aurora is called Bertil.\n")
        (cls.folder / "rope.md").write_text("The anchor rope is 40 metres long.\n")
        cls.run_it("index", "add", "ship", "cook.md", "rope.md", "--quiet")

    def setUp(self):
        self.upstream.clear()

    @classmethod
    def run_it(cls, *arguments, told=""):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")} | {
            "XDG_DATA_HOME": str(cls.folder), "XDG_CONFIG_HOME": str(cls.folder), "no_proxy": "127.0.0.1"}
        environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, cwd=cls.folder, input=told,
                              timeout=10 * PATIENCE, check=False)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def chat(self, *lines, session, **settings):
        chosen = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        return self.run_it("--set", f"summary_model={WRITER}", *chosen, "chat", "ship", "--session", session, "--model", EMBEDDED_MODEL,
                           "--upstream", "embedded", "--upstream", f"writer={self.upstream.url}", "--window", "1024",
                           told="".join(f"{line}\n" for line in (*lines, "/quit")))

    def test_it_says_that_older_turns_are_summarised(self):
        self.upstream.text = "They spoke about the cook."
        said = self.chat(*(f"What is the cook of the Aurora called? {'Please look at it closely. ' * 40}" for _ in range(5)), session="long")
        self.assertIn("(summarising older turns...)\n", said)
        self.assertIn("older turns are sent as a summary", said)

    def test_the_rewritten_question_is_searched_for_the_quotation_too(self):
        self.upstream.text = "How long is the anchor rope?"
        lines = ("What is good?", "Tell me more about it.")
        said = self.chat(*lines, session="rewritten", rewrite_follow_ups="true")
        self.assertIn("(rewriting the question...)\n", said)
        self.assertIn("The anchor rope is 40 metres long. [", said)
        self.assertNotIn("The anchor rope is 40 metres long. [", self.chat(*lines, session="plain"))


if __name__ == "__main__":
    unittest.main()
