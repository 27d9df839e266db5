"""Questions of several parts: how often all evidence of both parts gets into a budget. `make bench-parts` runs it.

  EVIDENCE_DATA=FOLDER python3 bench/bench_parts.py [--plimsoll PATH] [--no-embedder]

FOLDER is laid out as `plimsoll eval evidence --help` says. Pairs of its questions are joined to one, in three ways: two sentences; one
sentence with "and"; a numbered list. Pairs of questions with even numbers, from 0, are for setting weights, pairs of odd ones for
reporting. Each set is measured as one question and split into its parts, and the single questions as well, which may not
lose. Prints tables with the 95 % interval of the difference by a paired bootstrap, and writes build/bench/parts.json.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from evidence_runs import interval, measure

ROOT = Path(__file__).resolve().parent.parent
# Words that a question may start with and that are written in lower case after "and".
OPENERS = {"what", "who", "when", "where", "why", "how", "which", "whom", "whose", "in", "on", "at", "did", "does", "do", "is", "are", "was",
           "were", "can", "could", "to", "for", "from", "by", "during", "according", "after", "under"}


def joined(first, second, way):
    first, second = first.strip(), second.strip()
    if way == 0:
        return f"{first} {second}"
    if way == 1:
        opener = second.split()[0]
        second = second[0].lower() + second[1:] if opener.lower() in OPENERS else second
        return f"{first.rstrip('?. ')}, and {second}"
    return f"1. {first}\n2. {second}"


def pairs_of(questions, remainder, rng):
    mine = questions[remainder::2]
    out = []
    for _ in range(2):
        order = rng.sample(mine, len(mine))
        out += [(a, b) for a, b in zip(order[::2], order[1::2])]
    return [{"question": joined(a["question"], b["question"], number % 3),
             "evidence": [{"document": one.get("document") or each["document"], "start": one["start"], "end": one["end"]}
                          for each in (a, b) for one in each["evidence"]]} for number, (a, b) in enumerate(out)]


def compare(name, data, options, rng):
    exact = ["--tokenizer", "o200k_base"]
    whole, split = measure(options, data, *exact, "--no-parts"), measure(options, data, *exact)
    print(f"{name}: {split['questions']} questions, {whole['ms_per_query']:.1f} ms each as one question, {split['ms_per_query']:.1f} ms split")
    print(f"{'budget':>8}{'as one':>9}{'split':>8}{'difference':>12}  95 % interval")
    rows = []
    for before, after in zip(whole["budgets"], split["budgets"]):
        a, b = before["all_by_question"], after["all_by_question"]
        low, high = interval([y - x for x, y in zip(a, b)], rng)
        rows.append({"budget": before["budget"], "whole": sum(a) / len(a), "split": sum(b) / len(b), "low": low, "high": high,
                     "recall_whole": before["recall"], "recall_split": after["recall"]})
        print(f"{before['budget']:>8}{sum(a) / len(a):>9.3f}{sum(b) / len(b):>8.3f}{(sum(b) - sum(a)) / len(a):>12.3f}  {low:.3f} to {high:.3f}")
    print()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--no-embedder", action="store_true", help="search by words alone")
    options = parser.parse_args()
    source = os.environ.get("EVIDENCE_DATA", "")
    if not source or not Path(source, "questions.jsonl").is_file():
        print("bench: no data: EVIDENCE_DATA names no folder with questions.jsonl in it. Skipped.")
        return 0
    with open(Path(source, "questions.jsonl"), encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    rng = random.Random(7)
    out = {}
    for name, remainder in (("Pairs of even questions (weights were set on them)", 0), ("Pairs of odd questions", 1)):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(Path(source, "corpora").resolve(), Path(folder, "corpora"))
            Path(folder, "questions.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs_of(questions, remainder, rng)),
                                                       encoding="utf-8")
            out["odd" if remainder else "even"] = compare(name, folder, options, rng)
    out["single"] = compare("Single questions", source, options, rng)
    path = ROOT / "build" / "bench" / "parts.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(out, indent=1) + "\n")
    return 1 if any(row["high"] < 0 for rows in out.values() for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
