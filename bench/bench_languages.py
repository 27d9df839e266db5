"""Evidence found in documents that are not in English. `make bench-languages` runs it.

  python3 bench/bench_languages.py [--plimsoll PATH] [--handbook FOLDER] [--languages de-DE,...] [--no-embedder | --embedder NAME] [--across]

The Debian Administrator's Handbook is the same book in many languages (the package debian-handbook, which apt-get downloads if it is not
installed). A question is the heading of a
section, without its number; its evidence is the first paragraph of the section. Headings are left out of the indexed text, and so are paragraphs
that are still in English; sections whose heading or first paragraph is give no question. With --across the same sections are also asked for by
their English headings. Weights may be set on the questions with even numbers, from 0; the figures are
those of the odd ones. Prints a table, and writes build/bench/languages.json.
"""

import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from evidence_runs import BUDGETS, measure

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = "en-US,de-DE,fr-FR,es-ES,it-IT,ru-RU,ja-JP,zh-CN"
PIECE = re.compile(r'<h[1-4] class="title">(.*?)</h[1-4]>|<div class="para">(.*?)</div>', re.DOTALL)
LEAST = {"ja-JP": 30, "zh-CN": 30}


def plain(piece):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", piece)).split())


def sections_of(page):
    """(heading, [paragraph, ...]) in order."""
    out = []
    for heading, paragraph in PIECE.findall(page.read_text(encoding="utf-8", errors="replace")):
        if heading:
            out.append((re.sub(r"^[\d.]+\s*|^(Chapter|Kapitel|Chapitre|Cap[ií]tulo|Capitolo|Глава|第)\s*[\d.]+\s*章?", "", plain(heading)).strip(" .\xa0"), []))
        elif out and plain(paragraph):
            out[-1][1].append(plain(paragraph))
    return out


def pages_of(folder):
    return {page.name: sections_of(page) for page in sorted(folder.glob("*.html")) if page.name != "index.html"}


def english_headings(name, sections, english):
    """The heading of each section in the English page, if it has the same sections; else of none."""
    theirs = english.get(name, [])
    return [heading for heading, _ in theirs] if len(theirs) == len(sections) else [""] * len(sections)


def write(pages, english, folder, least, across=False):
    """Writes the texts and the questions; those across languages come last, and their number is returned too."""
    (folder / "corpora").mkdir()
    foreign = []
    known = {text for sections in english.values() for heading, paragraphs in sections for text in (heading, *paragraphs)}
    questions = []
    for name, sections in pages.items():
        text, found = "", []
        for (heading, paragraphs), asked in zip(sections, english_headings(name, sections, english)):
            for number, paragraph in enumerate(paragraphs):
                if paragraph in known:
                    continue
                if number == 0 and len(paragraph) >= least and heading and not {heading, paragraph} & known:
                    found.append({"question": heading, "document": f"{name}.txt", "evidence": [{"start": len(text), "end": len(text) + len(paragraph)}]})
                    if across and asked:
                        foreign.append(found[-1] | {"question": asked})
                text += paragraph + "\n\n"
        if text:
            (folder / "corpora" / f"{name}.txt").write_text(text, encoding="utf-8")
            questions += found
    with open(folder / "questions.jsonl", "w", encoding="utf-8") as file:
        for question in questions + foreign:
            file.write(json.dumps(question) + "\n")
    return len(questions), len(foreign)


def fetched_handbook():
    """The folder of the handbook, downloaded with apt-get; None if that fails."""
    folder = ROOT / "build" / "bench" / "handbook"
    pages = folder / "usr" / "share" / "doc" / "debian-handbook" / "html"
    if not pages.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["apt-get", "download", "debian-handbook"], cwd=folder, check=True, stdout=sys.stderr)
            subprocess.run(["dpkg-deb", "-x", str(next(folder.glob("*.deb"))), str(folder)], check=True)
        except (OSError, subprocess.CalledProcessError, StopIteration):
            return None
    return pages


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--handbook", type=Path, default=Path("/usr/share/doc/debian-handbook/html"))
    parser.add_argument("--languages", default=LANGUAGES)
    parser.add_argument("--no-embedder", action="store_true", help="search by words alone")
    parser.add_argument("--embedder", help="instead of the built-in one")
    parser.add_argument("--across", action="store_true", help="ask with the English headings too")
    parser.add_argument("--pages", type=int, default=1, metavar="N", help="only every Nth page, for a slow machine")
    parser.add_argument("--even", action="store_true", help="show the figures of the even questions")
    options = parser.parse_args()
    handbook = options.handbook if options.handbook.is_dir() else fetched_handbook()
    if handbook is None or not (handbook / "en-US").is_dir():
        print(f"bench: no handbook: {options.handbook} has no en-US. Skipped.")
        return 0
    english = pages_of(handbook / "en-US")
    if options.embedder:
        os.environ["PLIMSOLL_EMBEDDERS"] = options.embedder
    out = {}
    print(f"{'language':>13}{'questions':>11}" + "".join(f"{f'recall@{budget}':>13}" for budget in BUDGETS) + "".join(f"{f'all@{budget}':>10}" for budget in BUDGETS))
    for language in options.languages.split(","):
        pages = english if language == "en-US" else pages_of(handbook / language)
        pages = dict(list(pages.items())[::options.pages])
        with tempfile.TemporaryDirectory() as name:
            own, across = write(pages, {} if language == "en-US" else english, Path(name), LEAST.get(language, 80), options.across)
            report = measure(options, name)
        for asked, first, count in ((language, 0, own), (f"en->{language}", own, across)):
            if not count:
                continue
            part = slice(first + (0 if options.even else 1), first + count, 2)
            rows = [(each["recall_by_question"][part], each["all_by_question"][part]) for each in report["budgets"]]
            recall, whole = ([sum(row[i]) / len(row[i]) for row in rows] for i in (0, 1))
            out[asked] = {"questions": len(rows[0][0]), "budgets": BUDGETS, "recall": recall, "all": whole, "recall_by_question": [row[0] for row in rows]}
            print(f"{asked:>13}{len(rows[0][0]):>11}" + "".join(f"{one:>13.3f}" for one in recall) + "".join(f"{one:>10.3f}" for one in whole), flush=True)
    path = ROOT / "build" / "bench" / "languages.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(out, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
