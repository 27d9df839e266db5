"""Makes tests/vectors anew: the texts, and what the reference tokenizers make of them.

  make vectors
  <cache>/plimsoll/venv-refs/bin/python tools/make_vectors.py llama3 qwen3      some families only, on the texts there are

tests/vectors/texts.jsonl has one text a line, as a JSON string or a recipe (tests/vectors/texts.py). Line i of
tests/vectors/<family>.tsv says of text i: count and hash of the ids where special literals are plain text, and the
same two where they are parsed, if that differs; `-` where the reference gave up. The hash is FNV-1a of 64 bits over the ids as little-endian u32.
The first line is `#` and what is known of parsing: `plain` or `plain parsed`.
"""

import json
import sys
import time
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "tests" / "vectors"
sys.path.insert(0, str(VECTORS))

import references  # noqa: E402
import texts  # noqa: E402

# So many of a family's literals go into texts; the rest of thousands are fillers of the same form.
LITERALS_EACH = 14


def fnv1a(ids):
    value = 0xCBF29CE484222325
    for byte in array("I", ids).tobytes():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def cell(encode, text):
    """Count and hash, or `-` where the reference cannot: tiktoken panics on very long runs of white space."""
    try:
        ids = encode(text)
    except Exception as error:  # noqa: BLE001
        print(f"  left out: {len(text)} x {text[:8]!r}...: {error}")
        return "-"
    except BaseException as panic:  # a Rust panic is no Exception
        if type(panic).__name__ != "PanicException":
            raise
        print(f"  left out: {len(text)} x {text[:8]!r}...: {panic}")
        return "-"
    return f"{len(ids)}\t{fnv1a(ids):016x}"


def write_rows(folder, reference, expanded):
    """Writes the family's file for these texts; gives how many differ when parsed."""
    rows = ["# plain parsed" if reference.parsed else "# plain"]
    for text in expanded:
        row = plain = cell(reference.plain, text)
        if reference.parsed and any(literal in text for literal in reference.added):
            parsed = cell(reference.parsed, text)
            row = plain if parsed == plain else f"{plain}\t{parsed}"
        rows.append(row)
    (folder / f"{reference.name}.tsv").write_text("\n".join(rows) + "\n")
    return sum(row.count("\t") > 1 for row in rows)


def literals():
    """A few of each family's added tokens, evenly over its list, each once."""
    chosen = {"<s>": None, "</s>": None, "[INST]": None, "<unk>": None}
    for name in references.NAMES:
        added = references.load(name).added
        step = max(1, len(added) // LITERALS_EACH)
        chosen |= dict.fromkeys(added[::step][:LITERALS_EACH])
    return list(chosen)


def main():
    names = sys.argv[1:] or references.NAMES
    path = VECTORS / "texts.jsonl"
    if names == references.NAMES or not path.exists():
        entries = texts.build(literals(), ROOT)
        lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries]
        path.write_text("\n".join(lines) + "\n", newline="\n")
        print(f"{len(entries)} texts, {path.stat().st_size:,} bytes")
    # A line is what lies between two newlines; U+2028 and its like may stand in a text.
    expanded = [texts.expand(json.loads(line)) for line in path.read_bytes().decode().split("\n")[:-1]]
    for name in names:
        started = time.monotonic()
        differing = write_rows(VECTORS, references.load(name), expanded)
        print(f"{name}: {differing} differ when parsed, {time.monotonic() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
