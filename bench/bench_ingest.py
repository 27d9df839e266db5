"""Putting documents into an index, beside the same model in Python. `make bench-ingest` runs it.

  python3 bench/bench_ingest.py [--documents N] [--plimsoll PATH]

N documents of about 180 tokens out of manuals. Python's onnxruntime embeds each as a whole, one at a time, as it does best with
this model, with all cores and with one; `plimsoll index add` reads, cuts, embeds and stores them as files, in turn with it.
Then the same folder again, unchanged. Prints a table, writes build/bench/ingest.json, and exits with 1 if a target is missed.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import passages

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = CACHE / "venv-bench" / "bin" / "python"
SPEED, UNCHANGED = 0.9, 20_000
TIMES_THE_FILES = 20  # so many documents are needed to time the unchanged ones

PEER = """
import sys, time, json, numpy, onnxruntime
from pathlib import Path
from tokenizers import Tokenizer
model, folder, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
tokenizer.enable_truncation(max_length=256); tokenizer.no_padding()
options = onnxruntime.SessionOptions()
if threads: options.intra_op_num_threads = threads
session = onnxruntime.InferenceSession(str(model / "model.onnx"), options)
texts = [path.read_text() for path in sorted(folder.iterdir())]
def embed(text):
    ids = numpy.array([tokenizer.encode(text).ids], numpy.int64)
    states = session.run(None, {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)})[0]
    mean = states[0].mean(axis=0)
    return mean / numpy.linalg.norm(mean)
for text in texts[:20]: embed(text)
began = time.perf_counter()
for text in texts: embed(text)
print(json.dumps({"seconds": time.perf_counter() - began}))
"""


def write_documents(folder, count):
    """A passage of 100 words and the half of the next are about 180 tokens of these manuals."""
    words = " ".join(passages.passages(count * 3 // 2 + 2)).split()
    folder.mkdir()
    for number in range(count):
        part = words[number * 130:(number + 1) * 130]
        text = ". ".join(" ".join(part[i:i + 13]).capitalize() for i in range(0, len(part), 13)) + ".\n"
        (folder / f"{number:05}.txt").write_text(text)


def add(plimsoll, store, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run([str(plimsoll), "--set", f"store_file={store}", "index", "add", "bench", str(folder), "--json"],
                          capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"bench: {done.stderr}{done.stdout[:2000]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout) | {"wall_s": seconds, "cpu_s": cpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    options = parser.parse_args()
    figures = {"documents": options.documents, "ours_s": [], "python_s": [], "python_one_thread_s": []}
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as temporary:
        folder = Path(temporary) / "documents"
        write_documents(folder, options.documents)
        for number in range(options.rounds):
            for name, threads in (("python_s", 0), ("python_one_thread_s", 1)):
                told = subprocess.run([str(PYTHON), "-c", PEER, str(CACHE / "assets/all-minilm-l6-v2"), str(folder), str(threads)],
                                      capture_output=True, text=True, check=True)
                figures[name].append(json.loads(told.stdout)["seconds"])
            store = Path(temporary) / f"{number}.db"
            figures["ours_s"].append(add(options.plimsoll, store, folder)["wall_s"])
        many = Path(temporary) / "many"
        many.mkdir()
        for copy in range(TIMES_THE_FILES):
            for path in folder.iterdir():
                (many / f"{copy}-{path.name}").write_text(f"{copy} {path.read_text()}")
        store = Path(temporary) / "unchanged.db"
        subprocess.run([str(options.plimsoll), "--set", f"store_file={store}", "index", "add", "bench", str(many), "--no-embedder",
                        "--json"], capture_output=True, check=True)
        again = min((add(options.plimsoll, store, many) for _ in range(3)), key=lambda one: one["seconds"])
    assert again["unchanged"] == options.documents * TIMES_THE_FILES, again
    ours, python = min(figures["ours_s"]), min(figures["python_s"] + figures["python_one_thread_s"])
    figures["unchanged_per_s"] = again["unchanged"] / again["seconds"]
    rows = [("documents a second, from files into the index", options.documents / ours, options.documents / python,
             python / ours >= SPEED, f"{python / ours:.2f} x Python's, at least {SPEED}"),
            ("unchanged documents a second", figures["unchanged_per_s"], 0, figures["unchanged_per_s"] > UNCHANGED,
             f"more than {UNCHANGED:,}")]
    print(f"{'':48}{'ours':>10}{'Python':>10}")
    for name, mine, theirs, met, target in rows:
        shown = f"{theirs:>10,.1f}" if theirs else " " * 10
        print(f"{name:48}{mine:>10,.1f}{shown}  {'met' if met else 'MISSED'}: {target}")
    out = ROOT / "build" / "bench" / "ingest.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if all(row[3] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
