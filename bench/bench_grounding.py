"""How well answers are checked, and how often a quoted answer has the evidence. `make bench-grounding` runs it.

  EVIDENCE_DATA=FOLDER python3 bench/bench_grounding.py [--plimsoll PATH] [--tune] [--questions 60] [--wrong]

The folder has the questions and documents of `plimsoll eval evidence`. Sentences of the evidence, as they are and in light
paraphrases, are sentences that the passages support. The same with another number, another name or a negation, and sentences from
elsewhere, are not. Prints precision and recall of "unsupported", then asks questions with `plimsoll ask --json` and the
embedded model, and prints the share of answers with the evidence. Every second question is used, from the second on; the rules of the
check were corrected on the others, which --tune uses. Writes build/bench/grounding.json.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10"}
SYNONYMS = {"began": "started", "large": "big", "help": "assist", "often": "frequently", "near": "close to", "many": "numerous",
            "received": "got", "however": "but", "also": "too", "built": "constructed", "about": "around", "several": "some",
            "important": "significant", "shows": "displays", "said": "stated", "made": "created", "because": "since"}
NEGATED = {"was": "was not", "were": "were not", "is": "is not", "are": "are not", "has": "has not", "had": "had not", "can": "cannot",
           "will": "will not", "could": "could not"}
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
NUMBER = re.compile(r"(?<![\w.,@-])\d[\d,]*(?![\w@-])")
VERB = re.compile(r"\b(" + "|".join(NEGATED) + r")\b(?! not\b| never\b| no\b| n't)")


def sentences_of(text):
    pieces = re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])|\n+", text)
    return [piece.strip(" .") + "." for piece in pieces if len(piece.split()) >= 6]


def in_one_line(text):
    return " ".join(text.split())


def paraphrases(sentence, others, rng):
    """Sentences that say the same, each with its kind."""
    yield "lead-in", "According to the passages, " + sentence
    spelled = re.sub(r"\b(" + "|".join(WORDS) + r")\b", lambda match: WORDS[match[0]], sentence)
    spelled = re.sub(r"(?<=\d),(?=\d{3}\b)", "", spelled)
    if spelled != sentence:
        yield "number written otherwise", spelled
    other = re.sub(r"\b(" + "|".join(SYNONYMS) + r")\b", lambda match: SYNONYMS[match[0]], sentence)
    if other != sentence:
        yield "synonyms", other
    head, comma, tail = sentence.partition(" , ") if " , " in sentence else sentence.partition(", ")
    if comma and len(head.split()) >= 6 and len(tail.split()) >= 3:
        yield "shortened", head.strip() + "."
    if others:
        yield "two joined", sentence.rstrip(".") + ", and " + rng.choice(others)


def made_up(sentence, passages, elsewhere, rng):
    """Sentences that the passages do not support, each with its kind."""
    numbers = NUMBER.findall(sentence)
    text = " ".join(passages)
    if numbers:
        old = rng.choice(numbers)
        new = str(int(old.replace(",", "")) + rng.choice([1, 3, 7, 20]))
        if not re.search(rf"\b{new}\b", text):
            yield "number changed", re.sub(rf"(?<![\w.,]){re.escape(old)}(?!\w)", new, sentence, count=1)
        inside = sorted(set(NUMBER.findall(text)) - set(numbers))
        if inside:
            yield "number of another sentence", re.sub(rf"(?<![\w.,]){re.escape(old)}(?!\w)", rng.choice(inside), sentence, count=1)
    names = NAME.findall(sentence)
    if names:
        old = rng.choice(names)
        inside = sorted({name for name in NAME.findall(text) if name not in sentence and old not in name})
        if inside:
            yield "name of another sentence", sentence.replace(old, rng.choice(inside), 1)
        outside = sorted({name for name in NAME.findall(elsewhere) if name not in text})
        if outside:
            yield "name from elsewhere", sentence.replace(old, rng.choice(outside), 1)
    if VERB.search(sentence):
        yield "negation added", VERB.sub(lambda match: NEGATED[match[0]], sentence, count=1)
    denied = re.sub(r"\b(was|were|is|are|did|does|do|has|had|could|will) not\b", r"\1", sentence, count=1)
    if denied != sentence:
        yield "negation removed", denied


def search(options, store, question):
    done = run(options, store, "search", "evidence", question, "--budget", "500", "--json")
    return [passage["text"] for passage in json.loads(done)["passages"]]


def run(options, store, *arguments):
    done = subprocess.run([str(options.plimsoll), "--set", f"store_file={store}", *arguments], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def make_cases(options, store, questions):
    rng = random.Random(23)
    found = [search(options, store, question["question"]) for question in questions]
    evidence = [[sentence for span in question["evidence"] for sentence in sentences_of(span["text"])] for question in questions]
    cases = []
    for question, passages, own in zip(questions, found, evidence):
        lines = [in_one_line(passage) for passage in passages]

        def add(kind, supported, sentence, question=question, passages=passages):
            cases.append({"question": question["question"], "passages": passages, "sentence": in_one_line(sentence),
                          "supported": supported, "kind": kind})

        inside = [sentence for sentence in own if any(in_one_line(sentence).rstrip(".") in line for line in lines)]
        far = [i for i, other in enumerate(questions) if other["document"] != question["document"] and evidence[i]]
        near = [i for i, other in enumerate(questions) if other["document"] == question["document"] and evidence[i]]
        elsewhere = " ".join(in_one_line(passage) for i in rng.sample(far, 3) for passage in found[i])
        for sentence in inside[:2]:
            add("verbatim", True, sentence)
            for kind, text in paraphrases(sentence, [other for other in inside if other != sentence], rng):
                add(kind, True, text)
            for kind, text in made_up(sentence, lines, elsewhere, rng):
                add(kind, False, text)
        if far:
            add("another document", False, rng.choice(evidence[rng.choice(far)]))
        outside = [sentence for i in near for sentence in evidence[i]
                   if not any(in_one_line(sentence).rstrip(".") in line for line in lines)]
        if outside:
            add("elsewhere in the document", False, rng.choice(outside))
    return cases


def tokens(text):
    return Counter(re.findall(r"[a-z0-9]+", text.lower()))


def f1(one, other):
    one, other = tokens(one), tokens(other)
    shared = sum((one & other).values())
    return 2 * shared / (sum(one.values()) + sum(other.values())) if shared else 0


def has_evidence(answer, spans):
    """A sentence of the answer is like an evidence sentence, or a whole evidence text is in the answer."""
    said = [sentence["text"] for sentence in answer["check"]["sentences"]] if answer["check"] else []
    wanted = [sentence for span in spans for sentence in [span["text"], *sentences_of(span["text"])]]
    if any(f1(sentence, text) >= .5 for sentence in said for text in wanted):
        return True
    whole = tokens(answer["answer"])
    return any(sum((tokens(span["text"]) & whole).values()) >= .9 * sum(tokens(span["text"]).values()) for span in spans)


def ask(options, store, questions):
    hits, sentences, unsupported, missed = 0, 0, 0, []
    for question in questions:
        answer = json.loads(run(options, store, "ask", "evidence", question["question"], "--upstream", "embedded", "--json"))
        check = answer["check"] or {"supported": 0, "unsupported": 0}
        sentences += check["supported"] + check["unsupported"]
        unsupported += check["unsupported"]
        hit = has_evidence(answer, question["evidence"])
        hits += hit
        if not hit:
            missed.append({"question": question["question"], "answer": answer["answer"]})
    return {"questions": len(questions), "with_evidence": hits, "sentences": sentences, "unsupported": unsupported, "missed": missed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--tune", action="store_true", help="use the questions that the rules were corrected on")
    parser.add_argument("--questions", type=int, default=60, help="questions to ask (default: 60)")
    parser.add_argument("--wrong", action="store_true", help="list the sentences with a wrong verdict and the answers without evidence")
    options = parser.parse_args()
    data = os.environ.get("EVIDENCE_DATA", "")
    if not data or not Path(data, "questions.jsonl").is_file():
        print("bench: no data: EVIDENCE_DATA names no folder with questions.jsonl in it. Skipped.")
        return 0
    lines = Path(data, "questions.jsonl").read_text().splitlines()
    questions = [json.loads(line) for line in (lines[0::2] if options.tune else lines[1::2])]
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "store.db")
        run(options, store, "index", "add", "evidence", str(Path(data, "corpora")), "--quiet")
        cases = make_cases(options, store, questions)
        file = Path(folder, "cases.jsonl")
        file.write_text("\n".join(json.dumps(case) for case in cases) + "\n")
        for name, more in (("with meanings", []), ("words only", ["--no-embedder"])):
            print(f"{len(cases)} sentences, {name}")
            print(run(options, store, "eval", "grounding", "--data", str(file), *more))
            result[name] = json.loads(run(options, store, "eval", "grounding", "--data", str(file), "--json", *more))
        if options.wrong:
            for i in result["with meanings"]["wrong"]:
                print(f"{cases[i]['kind']}, {'supported' if cases[i]['supported'] else 'made up'}: {cases[i]['sentence']}")
        # Evenly over the documents.
        step = max(1, len(questions) // max(1, options.questions))
        result["ask"] = ask(options, store, questions[::step][:options.questions])
    asked = result["ask"]
    print(f"{asked['with_evidence']} of {asked['questions']} answers have the evidence; {asked['sentences']} sentences, of which "
          f"{asked['unsupported']} were found unsupported")
    if options.wrong:
        for one in asked["missed"]:
            print(f"- {one['question']}\n  {one['answer']}")
    out = ROOT / "build" / "bench" / "grounding.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
