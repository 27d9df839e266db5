"""How much of the evidence for questions gets into a budget of tokens. `make bench-evidence` runs it.

  EVIDENCE_DATA=FOLDER python3 bench/bench_evidence.py [--plimsoll PATH]

FOLDER is laid out as `plimsoll eval evidence --help` says. With the embedded embedder and by words alone, labels and separators
counted. Prints a table, writes build/bench/evidence.json, and exits with 1 if a target is missed. Without data it says so
and is content.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = {250: 0.86, 500: 0.94, 1000: 0.97, 2000: 0.99}
# The best that plain BM25 reached by rank on the same questions, at whichever size of chunk, separators not counted.
PLAIN = {250: 0.674, 500: 0.797, 1000: 0.932, 2000: 0.969, 4000: 0.991}
BUDGETS = "250,500,1000,2000,4000"


def measure(plimsoll, data, *more):
    done = subprocess.run([str(plimsoll), "eval", "evidence", "--data", data, "--budgets", BUDGETS, "--tokenizer", "o200k_base",
                           "--json", *more], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    options = parser.parse_args()
    data = os.environ.get("EVIDENCE_DATA", "")
    if not Path(data, "questions.jsonl").is_file() or not data:
        print("bench: no data: EVIDENCE_DATA names no folder with questions.jsonl in it. Skipped.")
        return 0
    both = measure(options.plimsoll, data)
    words = measure(options.plimsoll, data, "--no-embedder")
    print(f"{both['questions']} questions, {both['ms_per_query']:.1f} ms each with the question's embedding\n")
    print(f"{'budget':>8}{'recall':>9}{'all':>8}{'precision':>11}{'words alone':>13}{'plain BM25':>12}  target")
    missed = []
    for ours, by_words in zip(both["budgets"], words["budgets"]):
        target = TARGETS.get(ours["budget"])
        met = target is None or ours["recall"] >= target
        if not met:
            missed.append(ours["budget"])
        verdict = "" if target is None else f"{'met' if met else 'MISSED'}: {target}"
        print(f"{ours['budget']:>8}{ours['recall']:>9.3f}{ours['all_evidence']:>8.3f}{ours['precision']:>11.3f}"
              f"{by_words['recall']:>13.3f}{PLAIN.get(ours['budget'], 0):>12.3f}  {verdict}")
    out = ROOT / "build" / "bench" / "evidence.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"words_and_meaning": both, "words": words}, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
