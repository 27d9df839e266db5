"""Runs of `plimsoll eval evidence`, and how sure their differences are, for the benchmarks of search."""

import json
import subprocess

BUDGETS = [250, 500, 1000, 2000]
ROUNDS = 10_000


def measure(options, data, *more):
    """One run over the questions of a folder; `options` have `plimsoll` and `no_embedder`."""
    command = [str(options.plimsoll), "eval", "evidence", "--data", str(data), "--budgets", ",".join(map(str, BUDGETS)),
               "--json", "--by-question", *more]
    if options.no_embedder:
        command.append("--no-embedder")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench: {done.stderr}")
    return json.loads(done.stdout)


def interval(differences, rng):
    """The 95 % interval of the mean, by drawing questions again."""
    size = len(differences)
    means = sorted(sum(rng.choices(differences, k=size)) / size for _ in range(ROUNDS))
    return means[ROUNDS // 40], means[-ROUNDS // 40]
