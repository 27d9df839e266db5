"""Random texts, ours against the reference tokenizers, until the time is up. `make fuzz` runs it.

  <cache>/plimsoll/venv-refs/bin/python tools/fuzz_references.py [--seconds 60] [--seed N] [FAMILY...]

Each round makes texts, has the references encode them, and lets build/count_conformance_test hold ours against that, with all
that the conformance tests check besides. A round that fails leaves its folder and says how to run it again.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "vectors"), str(ROOT / "tools")]

import make_vectors  # noqa: E402
import references  # noqa: E402
import samples  # noqa: E402
import texts  # noqa: E402

TEXTS_A_ROUND = 400
TEST = ROOT / "build" / "count_conformance_test"


def snippet(rng, literals):
    """Something short; most of what is odd about tokenizers lies where two such things meet."""
    kind = rng.randrange(10)
    if kind == 0:
        return rng.choice(rng.choice(list(samples.SCRIPTS.values())))[:rng.randint(1, 25)]
    if kind == 1:
        return rng.choice(list(texts.SPACES.values())) * rng.choice((1, 1, 2, 3, 8, 17))
    if kind == 2:
        return rng.choice(samples.EMOJI)
    if kind == 3:
        return rng.choice(literals)
    if kind == 4:
        return "".join(rng.choices("0123456789٣٤५６½Ⅷ", k=rng.randint(1, 9)))
    if kind == 5:
        return "'" + rng.choice(("s", "S", "t", "re", "VE", "m", "ll", "d", "ſ", "x"))
    if kind == 6:
        return "".join(rng.choices("aAbBeEéÉßжЖǅʰ字の\u0301\u0323", k=rng.randint(1, 12)))
    if kind == 7:
        code = rng.choice(samples.CODE)
        start = rng.randrange(len(code))
        return code[start:start + rng.randint(1, 40)]
    if kind == 8:
        points = (rng.randrange(rng.choice((0x80, 0x800, 0x3000, 0x10000, 0x20000, 0x110000))) for _ in range(rng.randint(1, 6)))
        return "".join(chr(point) for point in points if not 0xD800 <= point <= 0xDFFF)
    return rng.choice(samples.ENGLISH)[:rng.randint(1, 30)]


def text(rng, literals):
    few = [snippet(rng, literals) for _ in range(rng.randint(1, 6))]
    return "".join(rng.choice(few) if rng.random() < .5 else snippet(rng, literals)
                   for _ in range(rng.choice((1, 2, 3, 5, 8, 20, 60))))


def check_round(rng, loaded, literals, folder):
    """Writes one round's vectors and runs the tests on them; their output where they fail."""
    entries = [text(rng, literals) for _ in range(TEXTS_A_ROUND)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    for reference in loaded:
        make_vectors.write_rows(folder, reference, entries)
    done = subprocess.run([TEST, "--gtest_filter=*Conformance*:ClassifyVectors.*", "--gtest_brief=1"], check=False,
                          env=os.environ | {"PLIMSOLL_VECTORS": str(folder)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.stdout if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of the first round (the time of day)")
    parser.add_argument("family", nargs="*", default=references.NAMES)
    options = parser.parse_args()
    if not TEST.exists():
        raise SystemExit(f"fuzz: {TEST.relative_to(ROOT)} is missing; run `make build`")
    started = time.monotonic()
    loaded = [references.load(name) for name in options.family]
    literals = sorted({literal for reference in loaded for literal in reference.added[:40]} | {"<s>", "[INST]"})
    seed = options.seed if options.seed is not None else time.time_ns() % 2**32
    rounds = 0
    while rounds == 0 or time.monotonic() - started < options.seconds:
        with tempfile.TemporaryDirectory(prefix="plimsoll-fuzz-") as folder:
            output = check_round(random.Random(seed + rounds), loaded, literals, Path(folder))
        if output:
            kept = ROOT / "build" / "fuzz" / f"references-{seed + rounds}"
            kept.mkdir(parents=True, exist_ok=True)
            check_round(random.Random(seed + rounds), loaded, literals, kept)
            print(output)
            print(f"failed; run again with: PLIMSOLL_VECTORS={kept.relative_to(ROOT)} build/count_conformance_test "
                  f"--gtest_filter='*Conformance*'")
            return 1
        rounds += 1
    print(f"{rounds * TEXTS_A_ROUND} random texts, {len(loaded)} families: as the references have them "
          f"(seed {seed}, {time.monotonic() - started:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
