"""`plimsoll serve` killed again and again under load: whatever it had acknowledged is there afterwards.

  python3 tests/http/kills.py [ROUNDS]

Documents come by POST /index, turns of conversations by POST /chat/message, memories by POST /v1/memories, and keys by
`plimsoll keys add`, all at once,
until SIGKILL at a random moment. Then it starts again, which must take less than a second, and is asked for all of it.
"""

import random
import re
import sys
import threading
import time

from gateway import SANITIZED, SLOW, Gateway
from upstream import Upstream

START_S = SLOW if SANITIZED else 1.0


class Writer(threading.Thread):
    """Does one thing over and over until the gateway is gone; `done` has what was acknowledged."""

    def __init__(self, step):
        super().__init__(daemon=True)
        self.step, self.done, self.wrong = step, [], []
        self.over = threading.Event()

    def run(self):
        while not self.over.is_set():
            try:
                self.done.append(self.step())
            except (OSError, EOFError, ValueError):  # killed in the middle: nothing was acknowledged
                self.over.wait(0.01)
            except AssertionError as error:
                if not self.over.is_set():
                    self.wrong.append(str(error))


class Kills:
    def __init__(self, gateway, key):
        self.gateway, self.key = gateway, key
        self.random = random.Random(1876)
        self.documents, self.turns, self.keys, self.memories = [], {}, [key], {}
        self.count = self.rounds = 0
        self.slowest = 0.0

    def ask(self, path, body=None, key=None):
        reply = self.gateway.ask(path, body, headers={"Authorization": f"Bearer {key or self.key}"})
        if reply.status not in (200, 201):
            raise AssertionError(f"{path}: {reply.status} {reply.body[:300]!r}")
        return reply.json

    def put_document(self):
        self.count += 1
        text = f"Document {self.count} says that hold {self.random.random()} takes {self.count} barrels."
        made = self.ask("/index", {"index_name": "hold", "documents": [{"text": text}]})
        return made[0]["doc_id"]

    def take_turn(self):
        self.count += 1
        message = f"Turn {self.count}: how many barrels?"
        told = self.ask("/chat/message", {"message": message, "collection_id": "hold", "model_name": "gpt-4o",
                                          "session_id": f"kills{self.rounds}"})
        return message, told["session_id"]

    def remember(self):
        """Every third is forgotten again: what was acknowledged is the last word."""
        self.count += 1
        made = self.ask("/v1/memories", {"text": f"Memory {self.count}: hold {self.random.random()} is dry."})
        if self.count % 3:
            return made["id"], True
        reply = self.gateway.ask(f"/v1/memories/{made['id']}", method="DELETE", headers={"Authorization": f"Bearer {self.key}"})
        if reply.status != 200:
            raise AssertionError(f"{reply.status} {reply.body[:300]!r}")
        return made["id"], False

    def add_key(self):
        self.count += 1
        told = self.gateway.run("keys", "add", f"k{self.count}")
        return re.search(r"plk_\S+", told)[0]

    def round(self):
        self.rounds += 1  # a session each: of a long one the oldest turns are forgotten
        writers = [Writer(step) for step in (self.put_document, self.take_turn, self.add_key, self.remember)]
        for writer in writers:
            writer.start()
        time.sleep(self.random.uniform(0.1, 1.0))
        self.gateway.process.kill()
        for writer in writers:
            writer.over.set()
        for writer in writers:
            writer.join()
        self.gateway.process.wait()
        self.gateway.process.stdout.close()
        self.gateway.start()
        self.slowest = max(self.slowest, self.gateway.listening_after)
        documents, turns, keys, memories = (writer.done for writer in writers)
        self.documents += documents
        for message, session in turns:
            self.turns.setdefault(session, []).append(message)
        self.keys += keys
        self.memories |= dict(memories)
        for key in keys:
            self.ask("/indexes", key=key)
        return [wrong for writer in writers for wrong in writer.wrong]

    def missing(self):
        """What was acknowledged and is not there."""
        there = set()
        while True:
            page = self.ask(f"/indexes/hold/documents?limit=100&offset={len(there)}")["documents"]
            there |= {document["doc_id"] for document in page}
            if len(page) < 100:
                break
        lost = [identifier for identifier in self.documents if identifier not in there]
        for session, messages in self.turns.items():
            kept = {turn["content"] for turn in self.ask(f"/chat/sessions/{session}")["turns"]}
            lost += [message for message in messages if message not in kept]
        for identifier, there in self.memories.items():
            status = self.gateway.ask(f"/v1/memories/{identifier}", headers={"Authorization": f"Bearer {self.key}"}).status
            if status != (200 if there else 404):
                lost.append(f"{identifier}: {status}")
        return lost


def kills(rounds):
    with Upstream({"gpt-4o": 8192}) as upstream:
        upstream.keeps = False
        gateway = Gateway(upstream)
        try:
            key = re.search(r"plk_\S+", gateway.run("keys", "add", "first"))[0]
            while gateway.ask("/indexes").status != 401:  # until then nobody needs a key, and all is everybody's
                time.sleep(0.05)
            test = Kills(gateway, key)
            test.put_document()
            wrong = []
            for _ in range(rounds):
                wrong += test.round()
            lost = test.missing()
        finally:
            gateway.close()
    turns = sum(map(len, test.turns.values()))
    print(f"{rounds} kills: {len(test.documents)} documents, {turns} turns, {len(test.memories)} memories and {len(test.keys)} keys acknowledged, {len(lost)} lost; "
          f"listening again after {test.slowest * 1000:.0f} ms at most; {len(wrong)} unexpected replies")
    for one in (lost + wrong)[:10]:
        print("  ", one)
    enough = len(test.documents) >= rounds and turns > 0 and len(test.memories) > rounds // 2 and len(test.keys) > rounds // 4
    return not lost and not wrong and enough and test.slowest < START_S


if __name__ == "__main__":
    sys.exit(0 if kills(int(sys.argv[1]) if len(sys.argv) > 1 else 5) else 1)
