"""How much evidence is kept, and for how many tokens, where a request names no budget. `make bench-cutoff` runs it.

  EVIDENCE_DATA=FOLDER python3 bench/bench_cutoff.py [--plimsoll PATH]

Every second question of the folder is asked, from the second on: the others were used to choose the cutoff. Prints a table of
recall against the tokens that were sent, with the budget filled and with the cutoff, and writes build/bench/cutoff.json.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = "250,500,1000,2000,4000"


def measure(plimsoll, data, *more):
    done = subprocess.run([str(plimsoll), "eval", "evidence", "--data", data, "--budgets", BUDGETS, "--json", *more],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench: {done.stderr}")
    return json.loads(done.stdout)["budgets"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    options = parser.parse_args()
    data = os.environ.get("EVIDENCE_DATA", "")
    if not data or not Path(data, "questions.jsonl").is_file():
        print("bench: no data: EVIDENCE_DATA names no folder with questions.jsonl in it. Skipped.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        half = Path(folder)
        lines = Path(data, "questions.jsonl").read_text().splitlines()
        (half / "questions.jsonl").write_text("\n".join(lines[1::2]) + "\n")
        (half / "corpora").symlink_to(Path(data, "corpora").resolve())
        filled, cut = measure(options.plimsoll, str(half)), measure(options.plimsoll, str(half), "--cutoff")
    print(f"{'most tokens':>12}{'filled: recall':>16}{'tokens':>8}{'cutoff: recall':>16}{'tokens':>8}")
    for full, stopped in zip(filled, cut):
        print(f"{full['budget']:>12}{full['recall']:>16.3f}{full['tokens_used']:>8.0f}{stopped['recall']:>16.3f}"
              f"{stopped['tokens_used']:>8.0f}")
    out = ROOT / "build" / "bench" / "cutoff.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"filled": filled, "cutoff": cut}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
