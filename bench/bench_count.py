"""Counting, side by side: ours, gigatoken, tiktoken and bpe-openai. `make bench-count` runs it.

  python3 bench/bench_count.py [--rounds N] [--quick] [--timer PATH]

Each program counts each text in a fresh process, all programs in turn, for several rounds; the best of each is
kept. CPU time of the whole process, one thread. Cold is making the tokenizer and the first count; warm is the
best of more counts of the same text. All must agree on the number of tokens. Prints tables, writes
build/bench/count.json, and exits with 1 if a target is missed (--quick: never).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import corpus

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
ENCODINGS = ("cl100k_base", "o200k_base")
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

# Against gigatoken on ordinary text, and against bpe-openai on pathological text: at most so many times its time.
WARM_LIMIT, WARM_GOAL = 1.5, 1.0
COLD_LIMIT, COLD_GOAL = 0.5, 0.33
PATHOLOGICAL_LIMIT = 1.0
# The time per MB may differ by so much between 12.5 and 100 MB.
LINEAR_LIMIT = 1.5


def build():
    """Builds our timer and the Rust one; gives the commands that time each program."""
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "--log-level=WARNING", "-DPLIMSOLL_BENCHES=ON",
                    "-DPLIMSOLL_TESTS=OFF", f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={BUILD}"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", "count_timer"], check=True, stdout=subprocess.DEVNULL)
    return BUILD / "count_timer"


def rust_timer():
    target = BUILD / "bpe_openai"
    subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", ROOT / "bench/bpe_openai/Cargo.toml",
                    "--target-dir", target], check=True)
    return target / "release" / "bpe_openai_timer"


def measure(command):
    done = subprocess.run([str(part) for part in command], env=os.environ | ONE_THREAD, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise SystemExit(f"bench: `{' '.join(map(str, command))}` failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(commands, encoding, path, rounds):
    """Best figures of each program over the rounds; ends if two disagree on the tokens."""
    best = {}
    for _ in range(rounds):
        for name, command in commands.items():
            found = measure([*command, encoding, path, 7])
            kept = best.setdefault(name, found)
            if found["tokens"] != best["ours"]["tokens"]:
                raise SystemExit(f"bench: {name} counts {found['tokens']} tokens, ours {best['ours']['tokens']} "
                                 f"({path}, {encoding})")
            for key in found:
                kept[key] = min(kept[key], found[key])
    return best


def verdict(state, text, ratios):
    """What the figures are held against: (met, sentence)."""
    if text in corpus.PATHOLOGICAL:
        ratio = ratios["bpe-openai"]
        return ratio <= PATHOLOGICAL_LIMIT, f"{ratio:.2f} x bpe-openai, at most {PATHOLOGICAL_LIMIT}"
    ratio = ratios["gigatoken"]
    limit, goal = (WARM_LIMIT, WARM_GOAL) if state == "warm" else (COLD_LIMIT, COLD_GOAL)
    reached = ", goal reached" if ratio <= goal else f", goal {goal}"
    return ratio <= limit, f"{ratio:.2f} x gigatoken, at most {limit}{reached}"


def side_by_side(commands, paths, rounds):
    entries, missed = [], []
    peers = [name for name in commands if name != "ours"]
    for encoding in ENCODINGS:
        print(f"\n{encoding}, CPU ms (ours / the peer's)")
        print(f"{'text':16}{'state':6}{'tokens':>10}{'ours':>9}", *(f"{peer:>18}" for peer in peers), " target")
        first = []
        for text, path in paths.items():
            best = compare(commands, encoding, path, rounds)
            for state in ("cold", "warm"):
                ours = best["ours"][f"{state}_ms"]
                times = {peer: round(best[peer][f"{state}_ms"], 3) for peer in peers}
                ratios = {peer: ours / max(time, 1e-3) for peer, time in times.items()}
                met, sentence = verdict(state, text, ratios)
                if not met:
                    missed.append(f"{encoding}, {text}, {state}: {sentence}")
                print(f"{text:16}{state:6}{best['ours']['tokens']:>10}{ours:>9.2f}",
                      *(f"{times[peer]:.2f} ({ratios[peer]:.2f})".rjust(18) for peer in peers),
                      f" {'met' if met else 'MISSED'}: {sentence}", flush=True)
                entries.append({"encoding": encoding, "text": text, "state": state, "ours_ms": round(ours, 3),
                                "peers": times})
            if text in corpus.PATHOLOGICAL:
                ours, theirs = best["ours"]["first_ms"], best["bpe-openai"]["first_ms"]
                first.append(f"{text} {ours:.2f} / {theirs:.2f} ({ours / theirs:.2f})")
        # A warm count may be a piece that is remembered; this is the work itself.
        print(f"first count without loading, ours / bpe-openai: {'; '.join(first)}")
        loads = {name: {key: round(found[key], 1) for key in ("import_ms", "load_ms") if key in found}
                 for name, found in best.items()}
        print(f"of that, loading: {json.dumps(loads)}; an import is in no figure above")
    return entries, missed


def linearity(timer, paths):
    missed = []
    for encoding in ENCODINGS:
        print(f"\n{encoding}, ours, CPU ms per MB")
        done = subprocess.run([timer, "--linear", encoding, paths["prose"], paths["code"]], capture_output=True,
                              text=True, check=True)
        rows = {}
        for line in done.stdout.splitlines():
            one = json.loads(line)
            rows.setdefault(one["kind"], []).append((one["bytes"] / 1e6, one["ms"] / (one["bytes"] / 1e6)))
        sizes = "".join(f"{size:>9.1f} MB" for size, _ in rows["prose"])
        print(f"{'text':16}{sizes}  largest / smallest")
        for kind, row in rows.items():
            growth = row[-1][1] / row[0][1]
            if growth > LINEAR_LIMIT:
                missed.append(f"{encoding}, {kind}: {growth:.2f} times as long per MB at 100 MB as at 12.5")
            times = "".join(f"{time:>12.2f}" for _, time in row)
            print(f"{kind:16}{times}{growth:>12.2f}  {'linear' if growth <= LINEAR_LIMIT else 'NOT LINEAR'}")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="fresh processes per program, text and encoding (5)")
    parser.add_argument("--quick", action="store_true", help="2 rounds, no sizes, and missed targets are no failure")
    parser.add_argument("--timer", type=Path, help="a count_timer that was built already")
    options = parser.parse_args()
    timer = options.timer or build()
    python = CACHE / "venv-bench" / "bin" / "python"
    commands = {"ours": [timer], "gigatoken": [python, ROOT / "bench/peer_timer.py", "gigatoken"],
                "tiktoken": [python, ROOT / "bench/peer_timer.py", "tiktoken"], "bpe-openai": [rust_timer()]}
    paths = corpus.write_all(BUILD / "texts")
    entries, missed = side_by_side(commands, paths, 2 if options.quick else options.rounds)
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "count.json").write_text(json.dumps(entries, indent=1) + "\n")
    if not options.quick:
        missed += linearity(timer, paths)
    print(f"\nbuild/bench/count.json has the figures. Targets missed: {len(missed)}")
    for one in missed:
        print(f"  {one}")
    return 1 if missed and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
