"""Puts the figures of `make bench-count` into the documents.

  python3 tools/bench_table.py [COUNT.json]      build/bench/count.json if none is named

A document says where, and which rows: between <!-- bench:all --> or <!-- bench:short --> and <!-- /bench -->. The
caption names the machine, and the last commit before the file was written: run it where the figures were measured.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/performance.md", "docs/counting.md")
SHORT = ("prose", "code", "multilingual")
PLACE = re.compile(r"(<!-- bench:(all|short) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def machine():
    facts = dict(re.findall(r"^([^:\n]+):\s*(.*)$", subprocess.run(
        ["lscpu"], capture_output=True, text=True, check=True).stdout, re.MULTILINE))
    return f"{facts.get('Model name', facts['Architecture'])} (family {facts.get('CPU family', '?')}, model {facts.get('Model', '?')})"


def table(entries, caption):
    peers = list(entries[0]["peers"])
    lines = ["| encoding | text | state | Plimsoll, ms |" + "".join(f" {peer}, ms |" for peer in peers),
             "|---|---|---|---:|" + "---:|" * len(peers)]
    for entry in entries:
        ours = entry["ours_ms"]
        cells = "".join(f" {time:.1f} ({ours / time:.2f}) |" for time in entry["peers"].values())
        lines.append(f"| {entry['encoding']} | {entry['text']} | {entry['state']} | {ours:.1f} |{cells}")
    return "\n".join([*lines, "", caption, ""])


def main():
    source = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build/bench/count.json"
    entries = json.loads(source.read_text())
    # What was checked out when the figures were written, not what is now.
    measured = f"--before=@{int(source.stat().st_mtime)}"
    commit = subprocess.run(["git", "log", "-1", "--format=%h", measured], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.strip()
    caption = f"`make bench-count`, commit {commit}, {machine()}."
    for name in DOCUMENTS:
        path = ROOT / name
        text = path.read_text()

        def filled(place):
            wanted = [entry for entry in entries if place[2] == "all" or entry["text"] in SHORT]
            return place[1] + table(wanted, caption) + place[3]

        changed, found = PLACE.subn(filled, text)
        if found == 0:
            sys.exit(f"bench_table: {name} has no place for the figures")
        path.write_text(changed)


if __name__ == "__main__":
    main()
