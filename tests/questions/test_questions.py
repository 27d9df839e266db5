"""Thirty questions as a new user asks them, over .docx, PDF, HTML and Markdown: is what answers them in the window?

`python3 test_questions.py` prints a line for each question.
"""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))

from gateway import Gateway  # noqa: E402
from library import make_library  # noqa: E402
from upstream import Upstream  # noqa: E402

QUESTIONS = json.loads((HERE / "questions.json").read_text())
# How many of the thirty must have all their evidence inside, by budget.
NEEDED = {250: 22, 500: 26, 1000: 28}
MOST_MEAN_TOKENS = 2000
LARGE, SMALL = "gpt-4o", "gpt-4"  # windows of 128,000 and 8,192 tokens


def plain(text):
    """Without marks and line ends, so that a sentence is found however it is set."""
    text = re.sub(r"[`*_\\|]", "", text.replace("“", '"').replace("”", '"').replace("’", "'"))
    return " ".join(text.split())


def has_evidence(question, text):
    text = plain(text)
    return all(plain(one) in text for one in question["evidence"])


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="plimsoll-questions-")))
        make_library(folder / "library")
        cls.upstream = cls.enterClassContext(Upstream({LARGE: 128_000, SMALL: 8_192}))
        cls.gateway = Gateway(cls.upstream)
        cls.addClassCleanup(cls.gateway.close)
        cls.gateway.run("index", "add", "library", folder / "library")
        cls.gateway.run("index", "add", "manual", folder / "library" / "pump-manual.pdf")
        cls.gateway.run("index", "add", "prune", folder / "library" / "npm" / "commands" / "npm-prune.html")

    def asked(self, question, model=LARGE, **ours):
        """The text that the model was sent, and the tokens of the whole request."""
        self.upstream.clear()
        reply = self.gateway.chat(model, [{"role": "user", "content": question["question"]}], index_name="library",
                                  **({"plimsoll": ours} if ours else {}))
        self.assertEqual(reply.status, 200, reply.body[:2000])
        return self.upstream.requests[-1].json["messages"][-1]["content"], reply.ours["input_tokens"]

    def missed(self, **arguments):
        return [one["question"] for one in QUESTIONS if not has_evidence(one, self.asked(one, **arguments)[0])]

    def test_there_are_thirty_questions_of_every_kind_of_document(self):
        self.assertEqual(len(QUESTIONS), 30)
        kinds = {Path(one["document"]).suffix for one in QUESTIONS}
        self.assertEqual(kinds, {".docx", ".pdf", ".html", ".md"})

    def test_the_evidence_is_inside_a_budget(self):
        for budget, needed in NEEDED.items():
            with self.subTest(budget=budget):
                missed = self.missed(budget=budget)
                self.assertGreaterEqual(len(QUESTIONS) - len(missed), needed, missed)

    def test_a_search_finds_it_too(self):
        for budget, needed in NEEDED.items():
            with self.subTest(budget=budget):
                missed = []
                for one in QUESTIONS:
                    found = json.loads(self.gateway.run("search", "library", one["question"], "--budget", budget, "--json"))
                    if not has_evidence(one, "\n".join(passage["text"] for passage in found["passages"])):
                        missed.append(one["question"])
                self.assertGreaterEqual(len(QUESTIONS) - len(missed), needed, missed)

    def search(self, question, budget):
        return json.loads(self.gateway.run("search", "library", question, "--budget", budget, "--json"))["passages"]

    def whole(self, index):
        """The only document of the index as it is sent whole, as a passage and as a source node."""
        reply = self.gateway.chat(LARGE, [{"role": "user", "content": "Summarize this."}], index_name=index)
        self.assertEqual(reply.status, 200, reply.body[:2000])
        self.assertEqual(len(reply.ours["passages"]), 1)
        return reply.ours["passages"][0], reply.json["source_nodes"][0]

    def test_a_whole_pdf_names_its_first_and_its_last_page(self):
        passage, node = self.whole("manual")
        self.assertEqual((passage["page"], passage["last_page"]), (1, 2))
        self.assertEqual((node["metadata"]["page"], node["metadata"]["last_page"]), (1, 2))

    def test_a_passage_of_a_pdf_names_its_own_pages(self):
        text = self.whole("manual")[0]["text"]
        second_page = len(text[:text.index("If payment is late")].encode())
        seen = set()
        for question in ("Goods in their original packing are taken back", "Replace the shaft seal every 4,000 operating hours",
                         "How long is the warranty on the pump?", "What happens if we pay too late?", "Who bears transport damage?"):
            for passage in self.search(question, 45) + self.search(question, 250):
                if not passage["document"].endswith(".pdf"):
                    continue
                pages = (passage["page"], passage["last_page"])
                seen.add(pages)
                expected = (1 if passage["start"] < second_page else 2, 1 if passage["end"] <= second_page else 2)
                self.assertEqual(pages, expected, passage["text"])
        self.assertLessEqual({(1, 1), (2, 2)}, seen)

    def test_tables_of_a_pdf_are_rows(self):
        text = self.whole("manual")[0]["text"]
        self.assertIn("Property | HP-20 | HP-40\nFlow rate | 320 l/min | 610 l/min\n", text)
        self.assertIn("\nE4 | Pressure sensor fails | Replace the sensor\n", text)

    def test_a_passage_has_the_heading_of_its_own_section(self):
        found = [one for one in self.search("How long is parental leave?", 30) if "fourteen months" in one["text"]]
        self.assertEqual([one["heading"] for one in found], ["Employee handbook > Leave > Parental leave"])
        self.assertEqual((found[0]["page"], found[0]["last_page"]), (None, None))
        reply = self.gateway.chat(LARGE, [{"role": "user", "content": "How long is parental leave?"}], index_name="library",
                                  plimsoll={"budget": 100})
        ours = [one for one in reply.ours["passages"] if one["document"].endswith("handbook.docx")]
        self.assertTrue(ours)
        for passage in ours:
            self.assertFalse({"page", "last_page"} & set(passage), passage)
            self.assertIn(f'{passage["document"]} > {passage["path"]}">', self.upstream.requests[-1].json["messages"][-1]["content"])

    def test_a_page_of_html_has_its_title_above_all_headings(self):
        self.assertEqual(self.whole("prune")[0]["path"], "npm-prune")

    def test_by_default_few_tokens_hold_it(self):
        for model in (LARGE, SMALL):
            with self.subTest(model=model):
                sent = [self.asked(one, model) for one in QUESTIONS]
                missed = [one["question"] for one, (text, _) in zip(QUESTIONS, sent) if not has_evidence(one, text)]
                mean = sum(tokens for _, tokens in sent) / len(sent)
                self.assertLessEqual(mean, MOST_MEAN_TOKENS)
                self.assertGreaterEqual(len(QUESTIONS) - len(missed), NEEDED[1000], missed)

    def in_conversation(self, *said):
        """The text that the model was sent, the tokens of the whole request, and its passages."""
        self.upstream.clear()
        messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant") * len(said), said)]
        reply = self.gateway.chat(LARGE, messages, index_name="library")
        self.assertEqual(reply.status, 200, reply.body[:2000])
        return self.upstream.requests[-1].json["messages"][-1]["content"], reply.ours["input_tokens"], reply.ours["passages"]

    def test_a_follow_up_holds_it_in_about_as_many_tokens(self):
        plain_mean = sum(self.asked(one)[1] for one in QUESTIONS) / len(QUESTIONS)
        for follow_up in ("Give me an example", "Tell me more about that.", "And for the second one?"):
            with self.subTest(follow_up):
                sent = [self.in_conversation(one["question"], f"The documents say: {one['evidence'][0]}.", follow_up) for one in QUESTIONS]
                missed = [one["question"] for one, (text, *_) in zip(QUESTIONS, sent) if not has_evidence(one, text)]
                self.assertGreaterEqual(len(QUESTIONS) - len(missed), NEEDED[1000], missed)
                self.assertLessEqual(sum(tokens for _, tokens, _ in sent) / len(sent), 1.3 * plain_mean)

    def test_the_form_of_a_follow_up_brings_no_documents(self):
        said = ("What does npm prune do?", "It removes extraneous packages.", "Give me an example")
        text, tokens, passages = self.in_conversation(*said)
        self.assertIn("extraneous", text)
        self.assertLessEqual(tokens, 1_600)
        self.assertLessEqual(len(passages), 15)

    def test_a_question_that_names_nothing_gets_nothing(self):
        for question in ("And for the second one?", "Give me an example", "Tell me more about it."):
            with self.subTest(question):
                _, tokens, passages = self.in_conversation(question)
                self.assertEqual(passages, [])
                self.assertLess(tokens, 50)
        for query in ("And for the second one?", "Give me an example"):
            found = self.gateway.ask("/search", {"query": query, "collection_id": "library", "model_name": LARGE}).json["chunks"]
            self.assertEqual(found, [], query)

    def test_a_search_for_chunks_stops_where_the_evidence_does(self):
        asked = {"query": "How long is the warranty on the pump?", "collection_id": "library", "model_name": LARGE}
        found = self.gateway.ask("/search", asked).json["chunks"]
        self.assertIn("24 months from delivery", plain(found[0]["content"]))
        self.assertTrue(all(one["relevance"] >= 0.3 for one in found), found)
        many = self.gateway.ask("/search", asked | {"top_k": 10}).json["chunks"]
        self.assertEqual(len(many), 10)
        self.assertLess(len(found), 10)


def show():
    """What each budget holds, a line a question."""
    Questions.setUpClass()
    case = Questions()
    try:
        for one in QUESTIONS:
            marks = ["+" if has_evidence(one, case.asked(one, budget=budget)[0]) else "-" for budget in NEEDED]
            text, tokens = case.asked(one)
            print(*marks, "+" if has_evidence(one, text) else "-", f"{tokens:6}", one["question"], flush=True)
    finally:
        Questions.doClassCleanups()


if __name__ == "__main__":
    show()
