"""Conversations to be made short: an upstream that also writes summaries, and talk with facts planted in it."""

import asyncio
import json
import random
import threading

from upstream import Upstream

NOUNS = ("anchor keel mast sail rudder hull deck hold cargo harbour tide current wind lantern rope pulley crane compass chart "
         "pilot mate cook crew galley bilge pump hatch ladder barrel crate wharf beacon buoy channel fog swell").split()
VERBS = "lower raise mend paint load stow check clean turn watch tie lift move grease sound mark count seal".split()
WAYS = "slow heavy calm rough dry wet narrow deep cold warm safe loose tight new old steady".split()


def is_summary(body):
    return str(body["messages"][-1]["content"]).startswith("<conversation>")


class Writer(Upstream):
    """Answers chats as the others do; what it does when asked for a summary is in `summary`."""

    def __init__(self, models):
        super().__init__(models)
        self.summary = "They spoke of ships."  # a text, or "STALL" or "FAIL"
        self.hold, self.held = threading.Event(), threading.Event()  # what a summary waits for; one that waits
        self.hold.set()

    async def well(self, request, writer):
        body = request.json
        if request.path != "/v1/chat/completions" or not is_summary(body):
            return await super().well(request, writer)
        if self.summary == "STALL":
            await asyncio.sleep(60)
            return False
        if self.summary == "FAIL":
            return await self.plain(request, writer, {"error": {"message": "boom"}}, "500 Internal Server Error")
        while not self.hold.is_set():
            self.held.set()
            await asyncio.sleep(0.01)
        reply = self.completion(body)
        reply["choices"][0]["message"] = {"role": "assistant", "content": self.summary,
                                          "reasoning_content": "thoughts beside"}
        reply["usage"] = {"prompt_tokens": 700, "completion_tokens": 50, "total_tokens": 750}
        return await self.plain(request, writer, reply)

    @property
    def asked_summaries(self):
        return [one.json for one in self.to() if is_summary(one.json)]

    @property
    def chats(self):
        return [one.json for one in self.to() if not is_summary(one.json)]


class Talk:
    """A conversation that grows by what two sides say, the same for the same seed. A third of its sentences have
    figures in them, so that planted facts do not stand out by theirs alone."""

    def __init__(self, seed=8):
        self.random = random.Random(seed)
        self.facts = []

    def sentence(self):
        one = self.random.choice
        if self.random.random() < 0.3:
            return f"Take {self.random.randint(2, 90)} fathoms of {one(NOUNS)} for the {one(WAYS)} {one(NOUNS)}."
        return f"We {one(VERBS)} the {one(NOUNS)} while the {one(NOUNS)} is {one(WAYS)}."

    def question(self):
        one = self.random.choice
        return f"{self.sentence()} How do we {one(VERBS)} the {one(WAYS)} {one(NOUNS)}?"

    def answer(self):
        return f"{self.sentence()} {self.sentence()}"

    def fact(self):
        """What the user says once, and the word that nobody can guess."""
        number = len(self.facts)
        key = f"{self.random.randint(1000, 9999)}-{chr(65 + number % 26)}{self.random.randint(10, 99)}"
        self.facts.append(key)
        name = f"{self.random.choice(NOUNS)} {self.random.choice(NOUNS)}"
        return f"The locker of the {name} opens with {key}."


def sent_text(body):
    return json.dumps(body["messages"])
