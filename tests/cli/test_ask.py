"""`plimsoll ask` and `plimsoll chat`: a question, or a conversation, with no server beside it."""

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest
from pathlib import Path


class Asking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "log.md").write_text("# Log\n\nThe cook of the Aurora is called Bertil.\n\nShe sails on Monday.\n")
        cls.run_it("index", "add", "ship", "log.md", "--quiet")

    @classmethod
    def run_it(cls, *arguments, status=0, told=""):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        environment = inherited | {"XDG_DATA_HOME": str(cls.folder), "XDG_CONFIG_HOME": str(cls.folder)}
        environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        done = subprocess.run(["plimsoll", *arguments], capture_output=True, text=True, env=environment, timeout=300, check=False,
                              cwd=cls.folder, input=told)
        if done.returncode != status:
            raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if status else "")

    EMBEDDED = ("--upstream", "embedded", "--window", "1024")

    def test_a_question(self):
        said = self.run_it("ask", "What is the capital of France? Answer in one word.", *self.EMBEDDED, "--max-tokens", "8",
                           "--explain")
        self.assertIn("Paris", said)
        self.assertIn("smollm2:135m", said)
        self.assertIn("1,024", said)
        self.assertNotIn("Sources", said)

    def test_a_question_about_documents_has_its_sources_and_the_window(self):
        said = self.run_it("ask", "ship", "What is the cook of the Aurora called?", *self.EMBEDDED, "--max-tokens", "24",
                           "--explain")
        self.assertIn("Bertil", said.split("Sources")[0])
        self.assertIn("[1] log.md", said)
        self.assertRegex(said, r"\ntotal +\d+ +\d[\d,]*\n", "the least that it needs, and what it took")
        self.assertRegex(said, r"\nPassages\n  log\.md, (lines \d+ to \d+, )?\d+ tokens, similarity 0\.\d\d: (?!.*meaning)")
        brief = self.run_it("ask", "ship", "What is the cook of the Aurora called?", *self.EMBEDDED, "--max-tokens", "24")
        self.assertTrue(said.startswith(brief.split("\n\nSources")[0]))
        self.assertNotIn("1,024", brief)

    def test_a_question_in_several_words_or_from_standard_input(self):
        once = self.run_it("ask", "What is the capital of France?", *self.EMBEDDED, "--max-tokens", "8")
        self.assertEqual(self.run_it("ask", "What", "is", "the", "capital", "of", "France?", *self.EMBEDDED, "--max-tokens", "8"), once)
        self.assertEqual(self.run_it("ask", "-", *self.EMBEDDED, "--max-tokens", "8", told="What is the capital of France?"), once)
        words = self.run_it("ask", "ship", "What", "is", "the", "cook", "called?", *self.EMBEDDED, "--max-tokens", "8")
        self.assertIn("[1] log.md", words)

    def test_an_answer_without_documents_says_so(self):
        told = self.run_it("ask", "ship", "zzyzx qwpt 83812", *self.EMBEDDED, "--max-tokens", "4", "--budget", "0")
        self.assertIn("WARNING: this answer does not use your documents.", told)
        told = self.run_it("ask", "ship", "zzyzx qwpt 83812", *self.EMBEDDED, "--max-tokens", "4", "--budget", "0", "--explain")
        self.assertEqual(told.count("does not use your documents") + told.count("Answered without documents"), 1, told)

    def test_sources_that_are_not_near_the_question_are_not_taken_for_evidence(self):
        far = "What colour is the sky on Mars?"
        warning = "WARNING: Nothing in the index 'ship' is near the question."
        told = self.run_it("ask", "ship", far, *self.EMBEDDED, "--max-tokens", "4")
        self.assertLess(told.index(warning), told.index("\nSources\n"))
        self.assertEqual(self.run_it("ask", "ship", far, *self.EMBEDDED, "--max-tokens", "4", "--explain").count("is near"), 1)
        said = json.loads(self.run_it("ask", "ship", far, *self.EMBEDDED, "--max-tokens", "4", "--json"))
        self.assertTrue(said["nothing_near"].startswith("Nothing in the index 'ship'"))
        self.assertTrue(said["sources"])
        self.assertIn(warning, self.run_it("chat", "ship", *self.EMBEDDED, "--max-tokens", "4", told=far + "\n/quit\n"))
        near = self.run_it("ask", "ship", "What is the cook of the Aurora called?", *self.EMBEDDED, "--max-tokens", "4")
        self.assertNotIn("WARNING", near)
        whole = self.run_it("ask", "ship", "Summarize this", *self.EMBEDDED, "--max-tokens", "4")
        self.assertNotIn("WARNING", whole, "all documents go along with such a task")

    def test_every_command_on_the_store_takes_its_file(self):
        (self.folder / "other.md").write_text("The bosun is called Tove. She keeps the invoices.")
        self.run_it("index", "add", "crew", "other.md", "--store", "other.db", "--quiet")
        self.assertIn("Tove", self.run_it("search", "crew", "bosun", "--store", "other.db", "--budget", "100"))
        self.assertIn("no index", self.run_it("search", "crew", "bosun", status=2).lower())
        self.assertRegex(self.run_it("search", "crew", "Who keeps invoices?", "--store", "other.db", "--budget", "100"),
                         r"line 1, \d+ tokens, relevance 0\.[5-9]\d, words: keeps, invoices; meaning")

    def test_a_search_without_a_budget_stops_where_nothing_is_near(self):
        self.assertIn("Bertil", self.run_it("search", "ship", "Who is the cook?"))
        said = self.run_it("search", "ship", "zebra quantum chromodynamics")
        self.assertIn("0 passages", said)
        self.assertIn("note: nothing in the index is near the query; --budget shows the nearest text all the same", said)
        self.assertNotIn("0 passages", self.run_it("search", "ship", "zebra quantum chromodynamics", "--budget", "200"))

    def test_a_threshold_of_the_settings_is_named_where_nothing_is_within_it(self):
        said = self.run_it("--set", "rag_similarity_threshold=0.01", "ask", "ship", "Who is the cook?", *self.EMBEDDED)
        self.assertIn("is within the distance of 0.01 (rag_similarity_threshold) of the question", said)
        self.assertTrue(said.startswith("No source was read for this question."), said)

    def test_an_empty_query_is_refused(self):
        for query in ("", " "):
            self.assertEqual(self.run_it("search", "ship", query, status=2), "plimsoll: the query is empty\n")

    def test_a_mistyped_model_is_told_the_nearest(self):
        (self.folder / "typed.md").write_text("The bosun keeps the invoices.")
        said = self.run_it("index", "add", "typed", "typed.md", "--model", "gpt-4oo", status=2)
        self.assertIn("the catalogue has no entry for 'gpt-4oo' (did you mean 'gpt-4o'?)", said)
        self.assertIn("counted with o200k_base; did you mean 'gpt-4o'?", self.run_it("search", "ship", "cook", "--model", "gpt-4oo"))
        self.assertNotIn("did you mean", self.run_it("search", "ship", "cook", "--model", "gpt-4o"))
        self.assertIn("did you mean 'gpt-4o'?", self.run_it("count", "log.md", "--model", "gpt-4oo", status=2))
        self.assertIn("(did you mean 'gpt-4o'?)", self.run_it("strategy", "Fix it", "--files", "log.md", "--model", "gpt-4oo", status=2))

    def test_an_index_and_a_question_are_told_apart(self):
        told = self.run_it("ask", "what", "colour", *self.EMBEDDED, status=2)
        self.assertIn("no index is called 'what'; there are: ship.", told)
        self.assertIn('If \'what colour\' is the question, put it in quotes: plimsoll ask "what colour"', told)
        self.assertIn("no index is called 'shpi' (did you mean 'ship'?); there are: ship", self.run_it("ask", "shpi", "Who?", *self.EMBEDDED, status=2))
        self.assertIn("(did you mean 'ship'?)", self.run_it("search", "shpi", "cook", status=2))
        self.assertIn("'ship' is an index; ask it something: plimsoll ask ship QUESTION", self.run_it("ask", "ship", *self.EMBEDDED, status=2))
        self.assertIn("put it last: plimsoll ask - Summarize", self.run_it("ask", "Summarize", "-", *self.EMBEDDED, status=2, told="Text."))

    def prompt_of(self, *arguments, told):
        """The last message as the model read it, and what was said on stderr."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        environment = inherited | {"XDG_DATA_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        done = subprocess.run(["plimsoll", "--set", "keep_prompts=true", "ask", *arguments, *self.EMBEDDED, "--max-tokens", "2", "--json"],
                              capture_output=True, text=True, env=environment, timeout=300, check=True, cwd=self.folder, input=told)
        prompt = json.loads(done.stdout)["trace"]["prompt"]
        prompt = json.loads(prompt) if isinstance(prompt, str) else prompt
        return prompt["messages"][-1]["content"], done.stderr

    def test_standard_input_goes_along_with_a_question(self):
        both = "-old\n+new\n\nWhat changed?"
        self.assertEqual(self.prompt_of("-", "What changed?", told="-old\n+new\n"), (both, ""))
        self.assertEqual(self.prompt_of("-", "What", "changed?", told="-old\n+new\n"), (both, ""))
        self.assertEqual(self.prompt_of("What", "changed?", "-", told="-old\n+new\n"), (both, ""))
        self.assertIn(both, self.prompt_of("ship", "-", "What changed?", told="-old\n+new\n")[0])
        prompt, said = self.prompt_of("What changed?", told="-old\n+new\n")
        self.assertEqual((prompt, said),
                         ("What changed?", "plimsoll: standard input was not read; use `plimsoll ask - QUESTION` to include it\n"))
        self.assertEqual(self.prompt_of("What changed?", told="")[1], "")

    def test_queries_may_be_several_words(self):
        self.assertEqual(*(json.loads(self.run_it("search", "ship", *words, "--json"))["context"]
                           for words in (["cook", "of", "the", "Aurora"], ["cook of the Aurora"])))
        self.assertEqual(self.run_it("strategy", "Summarize", "this", "--files", "log.md"),
                         self.run_it("strategy", "Summarize this", "--files", "log.md"))

    def test_the_nearest_option_and_command_are_named(self):
        self.assertIn("`plimsoll ask` has no option `--upstrem`; did you mean `--upstream`?", self.run_it("ask", "Hm?", "--upstrem", "x", status=2))
        self.assertIn("`--upstrem`; did you mean `--upstream`?", self.run_it("ask", "Hm?", "--upstrem=x", status=2))
        self.assertIn("`plimsoll` has no option `--versio`; did you mean `--version`?", self.run_it("--versio", status=2))
        self.assertIn("`--set` goes before the command: `plimsoll --set ... ask`", self.run_it("ask", "Hm?", "--set", "a=b", status=2))
        self.assertIn("`plimsoll index list --help`", self.run_it("index", "list", "--zzz", status=2))
        self.assertEqual(self.run_it("help"), self.run_it("--help"))
        self.assertEqual(self.run_it("help", "ask"), self.run_it("ask", "--help"))
        self.assertEqual(self.run_it("help", "index", "add"), self.run_it("index", "add", "--help"))
        self.assertIn("did you mean `plimsoll search`?", self.run_it("help", "serch", status=2))

    def test_an_unknown_model_names_those_that_there_are(self):
        for command in (["ask", "Hm?"], ["chat"]):
            told = self.run_it(*command, *self.EMBEDDED, "--model", "nosuch", status=2)
            self.assertIn("no upstream has the model 'nosuch'; available: smollm2:135m", told)
            self.assertNotIn("GET /v1", told)
        silent = ("--upstream", "a=http://127.0.0.1:9/v1", "--upstream", "b=http://127.0.0.1:10/v1")
        self.assertIn("no upstream has the model 'nosuch', and none lists its models", self.run_it("ask", "Hm?", *silent, "--model", "nosuch", status=2))
        self.assertIn("(did you mean 'smollm2:135m'?)", self.run_it("ask", "Hm?", *self.EMBEDDED, "--model", "smolm2:135m", status=2))

    def test_the_help_of_mcp_lists_every_tool(self):
        listed = json.loads(self.run_it("mcp", told='{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'))["result"]["tools"]
        told = re.search(r"Tools: ([\w,\s]+)\.", self.run_it("mcp", "--help"))[1]
        self.assertEqual(re.split(r",\s+", told), [tool["name"] for tool in listed])

    def test_a_mistyped_store_is_not_created(self):
        """Commands that add nothing of their own."""
        for command in (("chat", *self.EMBEDDED), ("chat", "ship", *self.EMBEDDED), ("ask", "Hm?", *self.EMBEDDED), ("search", "ship", "cook"),
                        ("usage",), ("inspect", "--last"), ("memory", "list"), ("memory", "search", "cook"), ("keys", "list"),
                        ("index", "list"), ("graph", "ship"), ("models", "--forget", "gpt-4o")):
            with self.subTest(command=command):
                self.assertRegex(self.run_it(*command, "--store", "typo.db", status=2), r"no (store at |such file: ')typo\.db")
        self.assertIn("creates one", self.run_it("chat", *self.EMBEDDED, "--store", "typo.db", status=2))
        checked = json.loads(self.run_it("doctor", "--store", "typo.db", "--json", status=1).split("\nplimsoll:")[0])
        self.assertIn(("store", "bad"), [(one["check"], one["status"]) for one in checked["checks"]])
        self.assertFalse(list(self.folder.glob("typo.db*")))

    def test_what_another_store_learned_is_forgotten(self):
        self.run_it("index", "add", "crew", "log.md", "--store", "learned.db", "--quiet")
        said = self.run_it("models", "--forget", "no-such-model", "--store", "learned.db")
        self.assertIn("A running gateway on learned.db notices", said)

    def test_a_conversation_on_another_store_is_gone_on_with_by_its_option(self):
        self.run_it("index", "add", "crew", "log.md", "--store", "third.db", "--quiet")
        told = self.run_it("chat", *self.EMBEDDED, "--max-tokens", "2", "--session", "s9", "--store", "third.db", told="Hello\n/quit\n")
        self.assertRegex(told, r"Continue with: plimsoll chat .*--session s9 --store third\.db\n")
        self.assertNotIn("--set", told)

    def test_json(self):
        told = json.loads(self.run_it("ask", "ship", "What is the cook called?", *self.EMBEDDED, "--max-tokens", "12", "--json", "--generate"))
        self.assertEqual(told["sources"][0]["document"], "log.md")
        self.assertIn("cook", told["sources"][0]["text"])
        self.assertEqual(told["trace"]["upstream"], "embedded")
        self.assertEqual(told["trace"]["drift"], 0)

    def test_a_small_model_quotes_and_every_sentence_is_supported(self):
        question = "What is the cook of the Aurora called?"
        said = self.run_it("ask", "ship", question, *self.EMBEDDED)
        self.assertTrue(said.startswith("The cook of the Aurora is called Bertil. [1]"), said)
        self.assertIn("\n1 of 1 sentence is supported by the sources.\n", said)
        told = json.loads(self.run_it("ask", "ship", question, *self.EMBEDDED, "--json"))
        self.assertEqual(told["written_by"], "quotation")
        self.assertEqual(told["check"], {"supported": 1, "unsupported": 0, "sentences": [
            {"text": "The cook of the Aurora is called Bertil. [1]", "verdict": "supported", "sources": [1], "reason": None}]})
        self.assertIsNone(told["trace"]["usage"]["answer"] if "usage" in told["trace"] else None, "no model was asked")

    def test_what_a_small_model_writes_is_checked(self):
        question = "What is the cook of the Aurora called?"
        told = json.loads(self.run_it("ask", "ship", question, *self.EMBEDDED, "--max-tokens", "24", "--json", "--generate"))
        self.assertEqual(told["written_by"], "model")
        self.assertEqual(told["trace"]["drift"], 0)
        self.assertTrue(told["check"]["sentences"])
        for sentence in told["check"]["sentences"]:
            self.assertIn(sentence["verdict"], ("supported", "unsupported", "no_claim"))
            self.assertEqual(bool(sentence["sources"]), sentence["verdict"] == "supported")
            self.assertEqual(sentence["reason"] is None, sentence["verdict"] == "supported")
        said = self.run_it("ask", "ship", question, *self.EMBEDDED, "--max-tokens", "24", "--generate")
        self.assertRegex(said, r"\n\d of (1 sentence is|\d sentences are) supported by the sources\.\n  .*(\[1\]|\(not in the sources: )")

    def test_without_documents_the_model_writes_and_nothing_is_checked(self):
        told = json.loads(self.run_it("ask", "What is the capital of France?", *self.EMBEDDED, "--max-tokens", "8", "--json"))
        self.assertEqual((told["written_by"], told["check"]), ("model", None))

    def test_a_question_that_nothing_answers_is_not_answered(self):
        said = self.run_it("ask", "ship", "What colour is the sky on Mars?", *self.EMBEDDED)
        self.assertTrue(said.startswith("The sources do not answer this question."), said)
        told = json.loads(self.run_it("ask", "ship", "What colour is the sky on Mars?", *self.EMBEDDED, "--json"))
        self.assertEqual((told["answer"], told["check"]["sentences"]), ("", []))

    def test_a_chat_about_documents_quotes_too(self):
        question = "What is the cook of the Aurora called?\n"
        said = self.run_it("chat", "ship", *self.EMBEDDED, told=question + "/quit\n")
        self.assertIn("The cook of the Aurora is called Bertil. [1]\n\n1 of 1 sentence is supported by the sources.\n", said)
        said = self.run_it("chat", "ship", *self.EMBEDDED, told=question + "Give me an example\nWho are you?\n/quit\n")
        self.assertEqual(said.count("is called Bertil. [1]"), 1, said)
        self.assertNotIn("0 of 1", said)
        said = self.run_it("chat", "ship", *self.EMBEDDED, "--generate", "--max-tokens", "16", told=question + "/quit\n")
        self.assertRegex(said, r"supported by the sources\.\n  ")
        self.assertRegex(said, r"Continue with: .*--generate")

    def test_help_shows_examples_and_no_names_of_types(self):
        for command in ("count", "strategy", "plan", "index add", "search", "ask", "chat", "eval evidence", "inspect", "serve", "keys add", "usage",
                        "memory add", "mcp", "models", "tokenizers", "config", "doctor"):
            told = self.run_it(*command.split(), "--help")
            self.assertNotRegex(told, r" in \[|Excludes:|Needs:|REQUIRED|INT|FLOAT|UINT|:\{", command)
            self.assertIn(f"plimsoll {command.split()[0]}", told.split("Options:")[-1], "every command has examples")

    def test_what_cannot_be_asked_is_said(self):
        self.assertIn("no index is called", self.run_it("ask", "no-such-index", "Hm?", *self.EMBEDDED, status=2))
        self.assertIn("/nowhere.gguf", self.run_it("ask", "Hm?", "--upstream", "embedded", "--model-file", "/nowhere.gguf", status=2))
        self.run_it("ask", status=2)
        self.assertIn("the question is empty", self.run_it("ask", "-", *self.EMBEDDED, status=2))
        self.assertIn("the question is empty", self.run_it("ask", " ", *self.EMBEDDED, status=2))
        self.assertIn("no index is called 'nope'", self.run_it("chat", "nope", *self.EMBEDDED, status=2))
        self.assertIn("unknown command `plimsoll nope`; `plimsoll --help`", self.run_it("nope", status=2))
        self.assertIn("did you mean `plimsoll search`?", self.run_it("serch", status=2))
        self.assertIn("Examples:", self.run_it())
        self.assertIn("unknown command `plimsoll memory nope`", self.run_it("memory", "nope", status=2))
        self.assertIn("--port is too large: 99999", self.run_it("serve", "--port", "99999", status=2))
        self.assertIn("--port must be a number, not 'x'", self.run_it("serve", "--port", "x", status=2))
        self.assertIn("it takes no further words: 'extra'", self.run_it("index", "list", "extra", status=2))
        self.assertIn("`plimsoll model list` shows them", self.run_it("models", "--upstream", "embedded", status=2))

    def test_what_is_remembered_comes_along_where_it_is_wanted(self):
        said = self.run_it("chat", "--session", "m1", *self.EMBEDDED, told="/remember My ship is called Aurora\n/remember\n/quit\n")
        self.assertRegex(said, r"remembered mem_[\w-]+: My ship is called Aurora\nStart with --memory to use it\.")
        self.assertIn("Example: /remember", said)

        def memories(*more):
            told = json.loads(self.run_it("ask", "What is my ship called?", *self.EMBEDDED, "--max-tokens", "8", "--json", *more))
            return [section["used"] for section in told["trace"]["plan"]["sections"] if section["name"] == "memory"]

        self.assertGreater(memories("--memory")[0], 4)
        self.assertEqual(sum(memories()), 0)
        self.assertRegex(self.run_it("ask", "What is my ship called?", *self.EMBEDDED, "--max-tokens", "8", "--memory",
                                     "--explain"),
                         r"Memories\n  mem_\S+, \d+ tokens\n")

    def typed(self, keys, until):
        """What a terminal shows after these keys, up to these words."""
        leader, follower = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")} | {
            "XDG_DATA_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "TERM": "xterm"}
        environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        shown = b""
        with subprocess.Popen(["plimsoll", "chat", "ship", *self.EMBEDDED], stdin=follower, stdout=follower, stderr=follower,
                              env=environment, cwd=self.folder) as process:
            os.close(follower)
            try:
                end = time.monotonic() + 60
                sent = False
                while until not in shown and time.monotonic() < end:
                    if select.select([leader], [], [], 0.2)[0]:
                        shown += os.read(leader, 1 << 16)
                    if not sent and b"> " in shown:
                        os.write(leader, keys)
                        sent = True
                os.write(leader, b"/quit\r")
                while process.poll() is None and time.monotonic() < end:
                    if select.select([leader], [], [], 0.2)[0]:
                        with contextlib.suppress(OSError):
                            os.read(leader, 1 << 16)
            finally:
                process.kill()
                os.close(leader)
        return shown

    def test_a_line_can_be_edited_and_is_remembered(self):
        left = b"\x1b[D"
        self.assertIn(b"/remember  store the fact", self.typed(b"/hlp" + left + left + b"e\r", b"/remember  store the fact"))  # /help
        history = self.folder / "plimsoll" / "chat-history"
        self.assertIn("/help", history.read_text())
        self.assertEqual(history.stat().st_mode & 0o077, 0)
        up = b"\x1b[A"
        self.assertIn(b"/remember  store the fact", self.typed(up + up + b"\r", b"/remember  store the fact"))  # behind /quit

    def test_it_says_which_model_and_which_index(self):
        said = self.run_it("chat", "ship", "--session", "names", *self.EMBEDDED, told="/quit\n")
        self.assertIn("Model smollm2:135m, index ship.", said)

    def test_a_conversation_is_kept_and_gone_on_with(self):
        lines = "My name is Ada.\n/context\n/why\n/nonsense\n/quit\n"
        said = self.run_it("chat", "--session", "s1", *self.EMBEDDED, "--max-tokens", "12", told=lines)
        self.assertIn("Session s1.", said)
        self.assertIn("history", said)
        self.assertIn("Unknown command /nonsense", said)
        self.assertIn("plimsoll chat --upstream embedded --window 1024 --max-tokens 12 --session s1\n", said)
        self.assertIn("(cut off at its length; --max-tokens allows more)", said)
        again = self.run_it("chat", "--session", "s1", *self.EMBEDDED, told="/context\n")
        self.assertIn("Session s1, 2 messages so far", again)
        self.assertRegex(again, r"h history [1-9]")
        self.assertNotIn("so far", self.run_it("chat", "--session", "s2", *self.EMBEDDED, told="/context\n"))


if __name__ == "__main__":
    unittest.main()
