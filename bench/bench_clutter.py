"""Evidence found within budgets of tokens among tables of contents and text that was read wrongly.
`make bench-clutter` runs it.

  EVIDENCE_DATA=FOLDER python3 bench/bench_clutter.py [--plimsoll PATH]

FOLDER is laid out as `plimsoll eval evidence --help` says. Beside its documents the index gets, for each of them, a table of
contents (the first words of every third paragraph, dots and a page) and a bad copy (every tenth paragraph with its letters
set apart). Prints the recall of questions with odd numbers, which no weight was set on, without and with the clutter.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = "250,500,1000,2000"


def measure(plimsoll, data):
    done = subprocess.run([str(plimsoll), "eval", "evidence", "--data", data, "--budgets", BUDGETS, "--tokenizer", "o200k_base",
                           "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench: {done.stderr}")
    return [row["recall"] for row in json.loads(done.stdout)["budgets"]]


def contents_of(text):
    paragraphs = [line for line in text.split("\n") if len(line.split()) > 12]
    return "\n".join(f"{' '.join(words.split()[:9])} ........ {page}" for page, words in enumerate(paragraphs[::3], 3))


def bad_copy_of(text, chance):
    paragraphs = [line for line in text.split("\n") if len(line.split()) > 12]
    return "\n\n".join(" ".join(paragraph.replace(" ", "")) for paragraph in paragraphs if chance.random() < 0.1)


def copy(data, to, half, with_clutter):
    """Copies the questions of one half, and the documents with or without clutter beside them."""
    chance = random.Random(7)
    corpora = to / "corpora"
    corpora.mkdir(parents=True)
    questions = (data / "questions.jsonl").read_text().splitlines(keepends=True)
    (to / "questions.jsonl").write_text("".join(questions[half == "odd"::2]))
    for path in sorted((data / "corpora").iterdir()):
        text = path.read_text()
        (corpora / path.name).write_text(text)
        if with_clutter:
            (corpora / f"contents-{path.name}").write_text(contents_of(text))
            (corpora / f"copy-{path.name}").write_text(bad_copy_of(text, chance))
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--half", choices=("odd", "even"), default="odd")
    options = parser.parse_args()
    data = os.environ.get("EVIDENCE_DATA", "")
    if not Path(data, "questions.jsonl").is_file() or not data:
        print("bench: no data: EVIDENCE_DATA names no folder with questions.jsonl in it. Skipped.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        plain, among = (measure(options.plimsoll, copy(Path(data), Path(folder, name), options.half, name == "among"))
                        for name in ("plain", "among"))
    print(f"{'budget':>8}{'recall':>9}{'among clutter':>15}")
    for budget, without, with_it in zip(BUDGETS.split(","), plain, among):
        print(f"{budget:>8}{without:>9.3f}{with_it:>15.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
