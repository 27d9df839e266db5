"""The requests of the benchmark, made of the words of this project's own documents."""

import json
import random
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Chats:
    """Always the same ones: the words are drawn with a fixed seed."""

    def __init__(self):
        text = " ".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
        self.words = [word for word in text.split() if word.isascii() and word.replace(",", "").replace(".", "").isalpha()]
        self.random = random.Random(1876)

    def text(self, words):
        return " ".join(self.random.choices(self.words, k=words))

    def conversation(self, messages, words_each, model="gpt-4o-mini", **fields):
        turns = [{"role": "system", "content": self.text(words_each)}]
        while len(turns) < messages:
            turns.append({"role": "assistant" if turns[-1]["role"] == "user" else "user", "content": self.text(words_each)})
        if turns[-1]["role"] != "user":
            turns[-1]["role"] = "user"
        return {"model": model, "messages": turns, **fields}


def small(**fields):
    return {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "What is a Plimsoll line?"}], **fields}


def write(path, bodies):
    """One a line, as bench/gateway/load.cpp reads them. The small separators are those of OpenAI's own client."""
    path.write_text("".join(json.dumps(body, separators=(",", ":")) + "\n" for body in bodies))
    return path


def write_documents(chats, folder, count):
    """Documents of about 180 tokens, in sentences."""
    folder.mkdir()
    for number in range(count):
        sentences = [chats.text(14).replace(".", "").replace(",", "").capitalize() + "." for _ in range(9)]
        (folder / f"{number:04}.txt").write_text(" ".join(sentences) + "\n")
