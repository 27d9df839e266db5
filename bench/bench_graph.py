"""Questions that need two documents, and what following names costs. `make bench-graph` runs it.

  TWOHOP_DATA=FOLDER EVIDENCE_DATA=FOLDER python3 bench/bench_graph.py [--plimsoll PATH] [--timer PATH] [--no-embedder]

TWOHOP_DATA has passages.jsonl ({id, title, text}) and questions.jsonl ({question, evidence: [{passage, start, end}]}); a passage becomes
the document "Title: text". Each set is measured with and without links: the share of questions with all of their evidence inside,
the difference, and its 95 % interval by a paired bootstrap. Weights were set on the questions with even numbers, from 0; the
two-hop figures are those of the odd ones. Prints tables, writes build/bench/graph.json, and exits with 1 if a target is missed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from evidence_runs import BUDGETS, interval, measure

ROOT = Path(__file__).resolve().parent.parent
TEXT_BYTES = 45_000_000  # about 10 million tokens


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_two_hop(source, folder):
    """The two-hop set in the form of `plimsoll eval evidence`."""
    titles = {}
    (folder / "corpora").mkdir()
    with open(folder / "documents.txt", "w", encoding="utf-8") as documents:
        for passage in lines_of(source / "passages.jsonl"):
            text = f"{passage['title']}: {passage['text']}"
            titles[passage["id"]] = len(passage["title"]) + 2
            (folder / "corpora" / f"{passage['id']}.txt").write_text(text + "\n", encoding="utf-8")
            documents.write(" ".join(text.split()) + "\n")
    with open(folder / "questions.jsonl", "w", encoding="utf-8") as questions, \
            open(folder / "questions.txt", "w", encoding="utf-8") as plain:
        for question in lines_of(source / "questions.jsonl"):
            evidence = [{"document": f"{each['passage']}.txt", "start": each["start"] + titles[each["passage"]],
                         "end": each["end"] + titles[each["passage"]]} for each in question["evidence"]]
            questions.write(json.dumps({"question": question["question"], "evidence": evidence}) + "\n")
            plain.write(" ".join(question["question"].split()) + "\n")


def compare(name, without, with_links, part, rng):
    print(f"{name}\n{'budget':>8}{'without':>9}{'with':>8}{'difference':>12}  95 % interval")
    rows = []
    for before, after in zip(without["budgets"], with_links["budgets"]):
        a, b = before["all_by_question"][part], after["all_by_question"][part]
        differences = [y - x for x, y in zip(a, b)]
        low, high = interval(differences, rng)
        rows.append({"budget": before["budget"], "without": sum(a) / len(a), "with": sum(b) / len(b), "low": low, "high": high})
        print(f"{before['budget']:>8}{sum(a) / len(a):>9.3f}{sum(b) / len(b):>8.3f}{sum(differences) / len(a):>12.3f}  {low:.3f} to {high:.3f}")
    print()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--timer", type=Path, default=ROOT / "build" / "bench" / "graph_timer")
    parser.add_argument("--no-embedder", action="store_true", help="search by words alone")
    options = parser.parse_args()
    rng = random.Random(7)
    out, missed = {}, []
    two_hop = Path(os.environ.get("TWOHOP_DATA", ""))
    if os.environ.get("TWOHOP_DATA") and (two_hop / "passages.jsonl").is_file():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_two_hop(two_hop, folder)
            without, with_links = measure(options, folder, "--no-links"), measure(options, folder)
            out["two_hop"] = compare("Two documents needed, odd questions", without, with_links, slice(1, None, 2), rng)
            at_1000 = out["two_hop"][BUDGETS.index(1000)]
            if at_1000["with"] - at_1000["without"] < 0.12:
                missed.append("12 points more at 1,000 tokens")
            if options.timer.is_file():
                (folder / "store").mkdir()
                done = subprocess.run([str(options.timer), str(folder / "documents.txt"), str(folder / "questions.txt"),
                                       str(TEXT_BYTES), str(folder / "store")], capture_output=True, text=True, check=True)
                cost = out["cost"] = json.loads(done.stdout)
                print("\n".join(f"{key:>22} {value}" for key, value in cost.items()) + "\n")
                missed += [what for what, met in (("1 MB of text per second", cost["names_mb_per_cpu_s"] >= 1),
                                                  ("a question within 20 ms", cost["p50_ms"] < 20),
                                                  ("3 bytes per byte of text", cost["names_bytes_per_text"] < 3)) if not met]
    else:
        print("bench: no data: TWOHOP_DATA names no folder with passages.jsonl in it. Skipped.")
    evidence = os.environ.get("EVIDENCE_DATA", "")
    if evidence and Path(evidence, "questions.jsonl").is_file():
        without, with_links = measure(options, evidence, "--no-links"), measure(options, evidence)
        out["one_hop"] = compare("One document needed, all questions", without, with_links, slice(None), rng)
        missed += [f"no loss at {row['budget']} tokens" for row in out["one_hop"] if row["high"] < 0]
    for what in missed:
        print(f"MISSED: {what}")
    path = ROOT / "build" / "bench" / "graph.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(out, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
