"""The embedded model beside llama-cpp-python: the same weights, threads and switches, in one run. `make bench-embedded` runs it.

  python3 bench/embedded/bench_embedded.py [--plimsoll PATH] [--rounds N]

Both read the same prompts and make as many tokens, by turns, so that a busy machine is busy for both. Then a conversation: how
much sooner the second turn begins, because what was read stays. Prints a table, writes build/bench/embedded.json, and exits
with 1 if a target is missed.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
MODEL = CACHE / "assets" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
WINDOW, PROMPT_WORDS, ANSWER = 4_096, 500, 64
TARGETS = {"prompt": 0.95, "generation": 0.95, "second_turn": 3.0}
WORDS = "ship hull line cargo water port mate grain anchor tide deck crane rope sail wind load mark keel bow stern".split()


def text(made, words):
    return " ".join(made.choice(WORDS) for _ in range(words))


class Ours:
    """`plimsoll serve` with its embedded model, on a port of its own."""

    def __init__(self, plimsoll, threads, folder):
        command = [str(plimsoll), "--set", f"store_file={folder}/store.db", "--set", "listen=127.0.0.1:0", "--set",
                   f"embedded_threads={threads}", "--set", "embedded_slots=1", "--set", f"embedded_window={WINDOW}", "serve", "--upstream",
                   "embedded"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.root = re.search(r"http://\S+", self.process.stdout.readline())[0]

    def post(self, path, body):
        request = urllib.request.Request(self.root + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=600)

    def complete(self, prompt, answer):
        """The answer is held to its length by forbidding its end: an empty stop list ends at the end token alone."""
        with self.post("/v1/completions", {"model": "smollm2:135m", "prompt": prompt, "max_tokens": answer, "temperature": 0}) as reply:
            return json.load(reply)

    def first_token_s(self, messages):
        """Seconds to the first word, the whole answer, and how much of the prompt was there already."""
        begun, first, said, usage = time.perf_counter(), None, "", {}
        with self.post("/v1/chat/completions", {"model": "smollm2:135m", "messages": messages, "stream": True, "max_tokens": 24,
                                                "temperature": 0, "stream_options": {"include_usage": True}}) as reply:
            for line in reply:
                if not line.startswith(b"data: {"):
                    continue
                chunk = json.loads(line[6:])
                usage = chunk.get("usage") or usage
                for choice in chunk["choices"]:
                    words = choice["delta"].get("content") or ""
                    if words and first is None:
                        first = time.perf_counter() - begun
                    said += words
        return first, said, usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


class Peer:
    def __init__(self, threads):
        python = CACHE / "venv-bench-embedded" / "bin" / "python"
        self.process = subprocess.Popen([str(python), str(ROOT / "bench/embedded/peer.py"), str(MODEL), str(threads), str(WINDOW)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit("bench: llama-cpp-python did not start")

    def run(self, tokens, answer):
        self.process.stdin.write(json.dumps({"tokens": tokens, "answer": answer}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def tokens_of(plimsoll, prompt):
    """The prompt's tokens, counted; which ones they are matters neither to the time nor to the peer."""
    told = subprocess.run([str(plimsoll), "count", "--tokenizer", "smollm2", "--json", "-"], input=prompt, capture_output=True,
                          text=True, check=True)
    return json.loads(told.stdout)["files"][0]["tokens"]


def side_by_side(options, threads, folder):
    made = random.Random(7)
    ours, peer = Ours(options.plimsoll, threads, folder), Peer(threads)
    rows = []
    try:
        ours.complete("warm", 2)
        for number in range(options.rounds + 1):
            prompt = f"{number} " + text(made, PROMPT_WORDS)
            count = tokens_of(options.plimsoll, prompt)
            told = ours.complete(prompt, ANSWER)
            spent, timings = told["usage"], told["timings"]
            theirs = peer.run([made.randrange(1_000, 40_000) for _ in range(spent["prompt_tokens"])], spent["completion_tokens"])
            if spent["prompt_tokens"] != count:
                raise SystemExit(f"bench: {count} tokens counted, {spent['prompt_tokens']} read")
            if number == 0:
                continue  # both have their pages then
            fresh = timings["prompt_n"]
            rows.append({"ours_prompt": fresh / timings["prompt_ms"] * 1e3, "peer_prompt": spent["prompt_tokens"] / theirs["prompt_ms"] * 1e3,
                         "ours_generation": spent["completion_tokens"] / timings["predicted_ms"] * 1e3,
                         "peer_generation": spent["completion_tokens"] / theirs["answer_ms"] * 1e3})
            print(f"  round {number} of {options.rounds}", file=sys.stderr, flush=True)
    finally:
        ours.end()
        peer.end()
    return rows


def second_turns(options, threads, folder):
    made, ratios = random.Random(8), []
    ours = Ours(options.plimsoll, threads, folder)
    try:
        ours.complete("warm", 2)
        for number in range(options.rounds):
            messages = [{"role": "system", "content": f"{number}. You are the mate of a steamer. " + text(made, 400)},
                        {"role": "user", "content": "What do you carry?"}]
            first, said, _ = ours.first_token_s(messages)
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "Where to?"}]
            second, _, cached = ours.first_token_s(messages)
            ratios.append({"first_s": first, "second_s": second, "cached": cached})
    finally:
        ours.end()
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plimsoll", type=Path, default=ROOT / "build" / "plimsoll")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=max(1, os.cpu_count() or 1))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = side_by_side(options, options.threads, folder)
        turns = second_turns(options, options.threads, folder)

    def middle(key):
        return statistics.median(row[key] for row in rows)

    figures = {name: statistics.median(row[f"ours_{name}"] / row[f"peer_{name}"] for row in rows) for name in ("prompt", "generation")}
    figures["second_turn"] = statistics.median(one["first_s"] / one["second_s"] for one in turns)
    print(f"{'SMOLLM2 135M, ' + str(options.threads) + ' THREADS':34} {'PLIMSOLL':>10} {'PEER':>10} {'RATIO':>7} {'ASKED':>7}")
    for name, title in (("prompt", "prompt, tokens a second"), ("generation", "generation, tokens a second")):
        print(f"{title:34} {middle('ours_' + name):10.1f} {middle('peer_' + name):10.1f} {figures[name]:7.2f} {TARGETS[name]:7.2f}")
    first, second = (statistics.median(one[key] for one in turns) for key in ("first_s", "second_s"))
    print(f"{'first token: first turn, second, s':34} {first:10.3f} {second:10.3f} {figures['second_turn']:7.2f} {TARGETS['second_turn']:7.2f}")
    out = ROOT / "build" / "bench" / "embedded.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"ratios": figures, "targets": TARGETS, "rounds": rows, "turns": turns, "threads": options.threads}, indent=1))
    missed = [name for name, target in TARGETS.items() if figures[name] < target]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
