"""How often the turns that answer a question about a long conversation are found. `make bench-turns` runs it.

  python3 bench/bench_turns.py [--plimsoll PATH] [--data FILE] [--half first|second|all]

The data is LongMemEval's file with the sessions that have the evidence, which `tools/setup bench-turns` fetches. All 940 sessions are
pooled into one conversation of 10,866 messages, ordered by date. A question sees its own date and all of that. Budgets are
counted with o200k_base, labels of turns included for ours and left out for plain BM25 over whole turns. The weights of the
ranking were set on every second question from the first on; the figures are those of the others. Prints a table, writes
build/bench/turns.json, and exits with 1 if a target is missed.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
TARGETS = {500: 0.48, 1000: 0.56, 2000: 0.64}


def measure(options, *more):
    done = subprocess.run([str(options.plimsoll), "eval", "turns", "--data", str(options.data), "--half", options.half, "--json", *more],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("bench: plimsoll eval turns failed")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--data", type=Path, default=CACHE / "assets" / "longmemeval" / "longmemeval_oracle.json")
    parser.add_argument("--half", choices=["first", "second", "all"], default="second", help="which questions to ask (default: second)")
    options = parser.parse_args()
    if not options.data.is_file():
        print(f"bench: no data: {options.data} is not there; `tools/setup bench-turns` fetches it. Skipped.")
        return 0
    both, words = measure(options), measure(options, "--no-embedder")
    ours, plain = both["turns"], both["plain_bm25"]
    print(f"{ours['questions']} questions of {ours['sessions']} sessions with {ours['turns']} messages, "
          f"{ours['ms_per_question']:.1f} ms each without the question's embedding\n")
    print(f"{'budget':>8}{'all evidence':>14}{'turns':>8}{'words alone':>13}{'plain BM25':>12}  target")
    missed = []
    for at, score in enumerate(ours["budgets"]):
        target = TARGETS.get(score["budget"])
        met = target is None or score["all_evidence"] >= target
        if not met:
            missed.append(score["budget"])
        verdict = "" if target is None else f"{'met' if met else 'MISSED'}: {target}"
        print(f"{score['budget']:>8}{score['all_evidence']:>14.3f}{score['recall']:>8.3f}"
              f"{words['turns']['budgets'][at]['all_evidence']:>13.3f}{plain['budgets'][at]['all_evidence']:>12.3f}  {verdict}")
    print()
    for kind in ours["budgets"][0]["kinds"]:
        shares = "".join(f"{score['kinds'][kind]['all_evidence']:>8.3f}" for score in ours["budgets"])
        print(f"{kind:<28}{ours['budgets'][0]['kinds'][kind]['questions']:>5} questions{shares}")
    out = ROOT / "build" / "bench" / "turns.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"half": options.half, "words_and_meaning": both, "words": words}, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
