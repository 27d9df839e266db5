"""Searching, side by side with tantivy, and vector search by its own targets. `make bench-search` runs it.

  python3 bench/bench_search.py [--rounds N] [--quick] [--timer PATH]

100,000 passages of 100 words out of manuals, 1,000 questions of 2 to 6 words, the ten best of each. Each program builds and
searches in a fresh process, in turn, for several rounds; the best of each is kept. CPU time, one thread. Then 100,000 vectors
of all-MiniLM-L6-v2, made once and kept in the cache, whole questions over both, and 1,000,000 synthetic vectors. Prints tables, writes
build/bench/search.json, and exits with 1 if a target is missed (--quick: fewer rounds, no million, and never).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import passages

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = CACHE / "venv-bench" / "bin" / "python"
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

PASSAGES, QUERIES, MANY = 100_000, 1_000, 1_000_000
QUERY_LIMIT, QUERY_GOAL = 1.5, 1.0  # times tantivy's CPU time
BUILD_LIMIT = 0.7  # times tantivy's passages per CPU-second
AGREEMENT = 0.9  # of the ten best: tantivy keeps lengths in one byte, and so ranks a little differently
RECALL, NEAREST_MS, MANY_MB = 0.98, 1.0, 1200
WHOLE_MS = 5.0  # of a whole question, without its embedding


def build():
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "--log-level=WARNING", "-DPLIMSOLL_BENCHES=ON",
                    "-DPLIMSOLL_TESTS=OFF", f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={BUILD}"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", "search_timer", "hybrid_timer"], check=True,
                   stdout=subprocess.DEVNULL)
    return BUILD / "search_timer"


def measure(*command):
    done = subprocess.run([str(part) for part in command], env=os.environ | ONE_THREAD, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise SystemExit(f"bench: `{' '.join(map(str, command))}` failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def texts(folder):
    """Passages, questions and stop words as files, made once."""
    lines = passages.write(folder / "passages.txt", PASSAGES)
    queries, stop = folder / "queries.txt", folder / "stop_words.txt"
    if not queries.exists():
        queries.write_text("\n".join(passages.queries(lines.read_text().splitlines(), QUERIES)) + "\n")
    stop.write_text("\n".join(passages.stop_words()) + "\n")
    return lines, queries, stop


def vectors(lines, queries):
    """The file of real vectors; about seven minutes where there is none yet."""
    out = CACHE / "bench" / f"minilm-{PASSAGES}.bf16"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([PYTHON, ROOT / "bench/embed_passages.py", CACHE / "assets/all-minilm-l6-v2", lines, queries, out,
                        str(PASSAGES)], check=True)
    return out


class Report:
    def __init__(self):
        self.missed = []

    def row(self, name, ours, theirs, met, target):
        if not met:
            self.missed.append(f"{name}: {target}")
        print(f"{name:42}{ours:>14}{theirs:>14}  {'met' if met else 'MISSED'}: {target}", flush=True)


def words(timer, files, rounds, report):
    lines, queries, stop = files
    best = {}
    for _ in range(rounds):
        for name, found in (("ours", measure(timer, "words", lines, queries, 5, BUILD / "texts")),
                            ("tantivy", measure(PYTHON, ROOT / "bench/tantivy_timer.py", lines, queries, stop, 5))):
            kept = best.setdefault(name, found)
            for key in ("build_s", "query_ms"):
                kept[key] = min(kept[key], found[key])
    ours, theirs = best["ours"], best["tantivy"]
    common = [len({chunk for chunk, _ in one} & {chunk for chunk, _ in other}) / max(1, len(other))
              for one, other in zip(ours.pop("found"), theirs.pop("found"))]
    agreement = sum(common) / len(common)
    query = ours["query_ms"] / theirs["query_ms"]
    speed = theirs["build_s"] / ours["build_s"]
    print(f"\nwords, {PASSAGES:,} passages{'ours':>32}{'tantivy':>14}")
    report.row("the ten best of a question, CPU ms", f"{ours['query_ms']:.3f}", f"{theirs['query_ms']:.3f}",
               query <= QUERY_LIMIT, f"{query:.2f} x tantivy, at most {QUERY_LIMIT}, goal {QUERY_GOAL}")
    report.row("build, passages per CPU-second", f"{PASSAGES / ours['build_s']:,.0f}", f"{PASSAGES / theirs['build_s']:,.0f}",
               speed >= BUILD_LIMIT, f"{speed:.2f} x tantivy, at least {BUILD_LIMIT}")
    report.row("of the ten best the same", f"{agreement:.3f}", "", agreement >= AGREEMENT, f"at least {AGREEMENT}")
    print(f"reading every posting {ours['all_ms']:.3f} ms; opening the file with all its checks {ours['open_ms']:.0f} ms; "
          f"bytes {ours['bytes']:,} / {theirs['bytes']:,}")
    return {"ours": ours, "tantivy": theirs, "agreement": agreement}


def nearest(timer, file, report):
    found = measure(timer, "vectors", file, PASSAGES, 3)
    print(f"\nvectors, {PASSAGES:,} of MiniLM, 384 dimensions{'ours':>14}")
    report.row("recall of the ten nearest", f"{found['recall']:.4f}", "", found["recall"] >= RECALL, f"at least {RECALL}")
    report.row("the ten nearest, CPU ms", f"{found['query_ms']:.3f}", "", found["query_ms"] <= NEAREST_MS,
               f"at most {NEAREST_MS}")
    filtered = ", ".join(f"{share}: {ms:.2f}" for share, ms in found["filtered_ms"].items())
    print(f"comparing with every one {found['exact_ms']:.2f} ms; build {found['build_s']:.0f} CPU-s; "
          f"where one document in so many may be found, ms: {filtered}")
    return found


def whole(timer, files, vector_file, report):
    """A question from its words and vector to 4,000 tokens of passages; the store is made once."""
    lines, queries, _ = files
    found = measure(timer.parent / "hybrid_timer", lines, queries, vector_file, PASSAGES, BUILD / "hybrid")
    print(f"\nwhole questions, {found['chunks']:,} chunks{'ours':>29}")
    report.row("half of them within, ms", f"{found['p50_ms']:.2f}", "", found["p50_ms"] <= WHOLE_MS, f"at most {WHOLE_MS}")
    print(f"95 of 100 within {found['p95_ms']:.2f} ms; {found['tokens']:,} tokens chosen; opening the index {found['open_s']:.2f} s")
    return found


def many(timer, report):
    found = measure(timer, "many", MANY)
    print(f"\nvectors, {MANY:,} synthetic, 384 dimensions{'ours':>15}")
    report.row("resident, MB", f"{found['resident_mb']:,.0f}", "", found["peak_mb"] <= MANY_MB,
               f"at most {MANY_MB}, also at its peak: {found['peak_mb']:,.0f}")
    print(f"recall {found['recall']:.4f}; {found['query_ms']:.2f} ms; comparing with every one {found['exact_ms']:.0f} ms; "
          f"build {found['build_s']:,.0f} CPU-s")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes per program (3)")
    parser.add_argument("--quick", action="store_true", help="1 round, no million vectors, missed targets are no failure")
    parser.add_argument("--timer", type=Path, help="a search_timer that was built already")
    options = parser.parse_args()
    timer = options.timer or build()
    BUILD.mkdir(parents=True, exist_ok=True)
    files = texts(BUILD / "texts")
    report = Report()
    vector_file = vectors(*files[:2])
    figures = {"words": words(timer, files, 1 if options.quick else options.rounds, report),
               "vectors": nearest(timer, vector_file, report),
               "whole": whole(timer, files, vector_file, report)}
    if not options.quick:
        figures["many"] = many(timer, report)
    (BUILD / "search.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(f"\nbuild/bench/search.json has the figures. Targets missed: {len(report.missed)}")
    for one in report.missed:
        print(f"  {one}")
    return 1 if report.missed and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
