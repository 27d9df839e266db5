"""What each strategy really sends (S10): the prompt that is kept in the trace, before a server and before the embedded model,
over OpenAI's route and over `/chat/message`.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder and the embedded model.
"""

import re
import unittest

from gateway import WithGateway, user

# About 100 tokens each, in their order in the index. The last sentence has no word of the questions.
DOCUMENTS = {
    "a-film.txt": (
        "Snow Day\n\nSnow Day is a film of 1984 about a village that is cut off by a storm. The director of Snow Day was Xawery Nowak, "
        "and the music was written by a cellist. It was shot within six weeks near the coast. Critics praised the long shots of the "
        "frozen harbour, and a festival gave it a prize for its camera. A television series with the same title followed much later. "
        "The negative burned in a warehouse; three copies are left, and one of them is shown every January."),
    "b-person.txt": (
        "Xawery Nowak\n\nXawery Nowak was born in a mining town and learned to take photographs in the shop of an uncle. His mother was the botanist "
        "Halina Zielinska, who described eleven kinds of moss. He studied in the capital, made newsreels for nine years, and then "
        "comedies. He taught until he was seventy. Students remember that he ate an apple before each lesson. His archive has four "
        "thousand letters, which the city library keeps in a cellar."),
    "c-ferry.txt": (
        "Ferries\n\nThe ferry to the island leaves at seven and at noon, except on Sundays, when it leaves at nine. Bicycles travel free of charge "
        "if there is room on the lower deck. Dogs must be on a leash. The crossing takes forty minutes in calm weather and up to an "
        "hour in a swell. In winter the noon crossing is often cancelled, and a notice is put on the pier. Tickets are sold on board, "
        "and a return ticket is valid for three days."),
    "d-garden.txt": (
        "Gardens\n\nThe garden behind the town hall is open from dawn to dusk. Its oldest tree is a mulberry that was planted by a gardener of "
        "the abbey. Benches stand along the south wall, where figs ripen in good years. Visitors may not pick anything, but windfalls "
        "are given away in September. A fountain in the middle runs on rain from the roof. Concerts take place on the lawn when the "
        "weather is dry, and chairs are lent at the gate."),
}
LAST = {name: text.rsplit(". ", 1)[-1] for name, text in DOCUMENTS.items()}
FIRST = {name: text.split("\n\n")[1].split(". ")[0] for name, text in DOCUMENTS.items()}
HOPS = "Who was the mother of the director of Snow Day?"
CRISIS = "I want to end my life. Who was the director of Snow Day?"


class Strategies(WithGateway):
    MODELS = {"gpt-4o": 8192}
    SETTINGS = {"keep_prompts": True}
    CHAT_MESSAGE = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.gateway.folder / "texts"
        folder.mkdir()
        for name, text in DOCUMENTS.items():
            (folder / name).write_text(text + "\n")
        cls.gateway.run("index", "add", "town", folder, "--quiet")

    def sent(self, question, strategy=None, **wishes):
        """The answer's part of ours, the trace, and the text of the last message as it was sent."""
        ours = ({"strategy": strategy} if strategy else {}) | wishes
        if self.CHAT_MESSAGE:
            reply = self.gateway.ask("/chat/message", {"message": question, "collection_id": "town", "model_name": self.model,
                                                       "plimsoll": ours})
        else:
            reply = self.gateway.chat(self.model, user(question), index_name="town", plimsoll=ours, max_tokens=4)
        self.assertEqual(reply.status, 200, reply.body[:2000])
        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
        if not self.EMBEDDED:
            self.assertIn(self.upstream.last().json["messages"][-1]["content"].splitlines()[-1], question)
        self.assertIn("passages" if trace["passages"] else question.split()[0], trace["prompt"])
        return reply.ours, trace, trace["prompt"]

    def whole(self, prompt):
        """The documents that are in the prompt from their first to their last sentence, without a gap."""
        flat = re.sub(r"\\n|\s+", " ", prompt)
        return [name for name, text in DOCUMENTS.items() if re.sub(r"\s+", " ", text.split("\n\n")[1]) in flat]

    def parts(self, prompt):
        return [name for name, text in DOCUMENTS.items() if any(one in prompt for one in re.split(r"(?<=\.) ", text.split("\n\n")[1]))]

    def test_stuff_sends_whole_documents_in_their_order(self):
        ours, trace, prompt = self.sent(HOPS, "STUFF")
        self.assertEqual(ours["strategy"], "STUFF")
        self.assertEqual(self.whole(prompt), list(DOCUMENTS))
        places = [prompt.index(FIRST[name]) for name in DOCUMENTS]
        self.assertEqual(places, sorted(places))
        self.assertEqual({passage["reason"] for passage in trace["passages"]}, {"pasted whole"})

    def test_stuff_is_the_rule_for_work_on_small_contents(self):
        ours, trace, prompt = self.sent("Summarize this collection")
        self.assertEqual((ours["strategy"], trace["plan"]["strategy"]["strategy"]), ("STUFF", "STUFF"))
        self.assertEqual(self.whole(prompt), list(DOCUMENTS))

    def test_hybrid_sends_the_key_document_whole_and_passages_of_the_rest(self):
        ours, trace, prompt = self.sent(HOPS, "HYBRID", budget=370)
        self.assertEqual(ours["strategy"], "HYBRID")
        reasons = {passage["document"].rpartition("/")[2]: passage["reason"] for passage in trace["passages"]}
        key = [name for name, reason in reasons.items() if reason == "the best document, whole"]
        self.assertEqual(len(key), 1, reasons)
        self.assertIn(key[0], ("a-film.txt", "b-person.txt"))
        self.assertIn(key[0], self.whole(prompt))
        self.assertTrue(set(self.parts(prompt)) - set(key), prompt)
        self.assertLess(len(self.whole(prompt)), len(DOCUMENTS))

    def test_rag_sends_passages(self):
        ours, trace, prompt = self.sent("When does the ferry leave on Sundays?", "RAG", budget=110)
        self.assertEqual(ours["strategy"], "RAG")
        self.assertEqual(self.whole(prompt), [])
        self.assertIn(FIRST["c-ferry.txt"], prompt)
        self.assertNotIn("pasted whole", str(trace["passages"]))

    def test_rag_with_graph_sends_passages_that_names_led_to(self):
        ours, trace, prompt = self.sent(HOPS, "RAG+GRAPH", budget=180)
        self.assertEqual(ours["strategy"], "RAG+GRAPH")
        self.assertLess(len(self.whole(prompt)), 2)
        self.assertIn("Halina Zielinska", prompt)
        self.assertIn("The director of Snow Day was Xawery Nowak", prompt)
        self.assertRegex(str([passage["reason"] for passage in trace["passages"]]), "'xawery nowak' is named in .*a-film.txt")
        _, trace, _ = self.sent(HOPS, "RAG", budget=180)
        self.assertNotIn("is named in", str([passage["reason"] for passage in trace["passages"]]))

    def test_each_part_of_a_question_gets_its_share(self):
        first, second = "Who was the director of Snow Day?", "What happens to the fountain and the windfalls in the garden?"
        for question in (f"{first} {second}", f"{first[:-1]}, and {second[0].lower()}{second[1:]}"):
            _, trace, prompt = self.sent(question, "RAG", budget=150)
            self.assertIn("The director of Snow Day was Xawery Nowak", prompt)
            self.assertIn("windfalls are given away", prompt)
            reasons = str([passage["reason"] for passage in trace["passages"]])
            self.assertTrue("part 1 of the question" in reasons and "part 2 of the question" in reasons, reasons)

    def test_a_crisis_is_hybrid_whatever_is_asked_for(self):
        for strategy in (None, "STUFF"):
            with self.subTest(strategy):
                ours, trace, _ = self.sent(CRISIS, strategy)
                self.assertEqual(ours["strategy"], "HYBRID")
                self.assertTrue(trace["plan"]["strategy"]["crisis"])
        for strategy in ("HYBRID", "RAG", "RAG+GRAPH"):
            self.assertEqual(self.sent(CRISIS, strategy)[0]["strategy"], strategy)


class ChatMessage(Strategies):
    """The same over /chat/message, which has no budget of its own: rule B1 gives the room, and top_k bounds the chunks."""

    CHAT_MESSAGE = True

    def sent(self, question, strategy=None, **wishes):
        wishes.pop("budget", None)
        return super().sent(question, strategy, **wishes)

    def asked(self, **fields):
        reply = self.gateway.ask("/chat/message", {"message": HOPS, "collection_id": "town", "model_name": self.model} | fields)
        self.assertEqual(reply.status, 200, reply.body[:2000])
        return reply.json

    def test_rag_sends_passages(self):
        for strategy in ("RAG", "RAG+GRAPH"):
            body = self.asked(plimsoll={"strategy": strategy}, top_k=1)
            self.assertEqual((body["plimsoll"]["strategy"], len(body["chunks"])), (strategy, 1))
            self.assertNotIn("whole", body["chunks"][0]["reason"])

    def test_rag_with_graph_sends_passages_that_names_led_to(self):
        reasons = {name: str([chunk["reason"] for chunk in self.asked(plimsoll={"strategy": name})["chunks"]]) for name in ("RAG", "RAG+GRAPH")}
        self.assertIn("is named in", reasons["RAG+GRAPH"])
        self.assertNotIn("is named in", reasons["RAG"])

    def test_top_k_bounds_whole_documents_too(self):
        body = self.asked(plimsoll={"strategy": "STUFF"}, top_k=2)
        self.assertLessEqual(len(body["chunks"]), 2)
        self.assertNotIn("pasted whole", str(body["chunks"]))
        body = self.asked(plimsoll={"strategy": "STUFF"}, top_k=4)
        self.assertEqual([chunk["reason"] for chunk in body["chunks"]], ["pasted whole"] * 4)

    def test_a_wrong_strategy_is_refused(self):
        for ours, location in (({"strategy": "PASTE"}, ["body", "plimsoll", "strategy"]), ({"strategy": 3}, ["body", "plimsoll", "strategy"]),
                               ("RAG", ["body", "plimsoll"])):
            reply = self.gateway.ask("/chat/message", {"message": HOPS, "collection_id": "town", "model_name": self.model, "plimsoll": ours})
            self.assertEqual((reply.status, reply.json["detail"][0]["loc"]), (422, location))


class EmbeddedStrategies(Strategies):
    EMBEDDED = True
    test_stuff_is_the_rule_for_work_on_small_contents = None  # it reads slowly, and gets 500 tokens by rule


class EmbeddedChatMessage(ChatMessage):
    EMBEDDED = True
    test_stuff_is_the_rule_for_work_on_small_contents = None


if __name__ == "__main__":
    unittest.main()
