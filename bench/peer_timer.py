"""Times a Python package: `peer_timer.py gigatoken|tiktoken ENCODING FILE ROUNDS` prints one line of JSON.

Cold: making the tokenizer from the ranks that set-up brought, and the first encoding of the text. Warm: the best
of ROUNDS further ones. CPU time of the whole process; the import is apart.
"""

import base64
import json
import os
import sys
import time
from pathlib import Path

ASSETS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll" / "assets"


def gigatoken_encoder(encoding):
    """Its one-document call on bytes: the fastest of its ways on one thread, and exact."""
    import gigatoken
    yield
    tokenizer = gigatoken.Tokenizer.from_tiktoken(ASSETS / encoding / f"{encoding}.tiktoken")
    yield lambda text: len(tokenizer.encode(text))


def tiktoken_encoder(encoding):
    import tiktoken
    from tiktoken_ext import openai_public
    yield
    ranks = {}
    for line in (ASSETS / encoding / f"{encoding}.tiktoken").read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    tokenizer = tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[encoding]())
    yield lambda text: len(tokenizer.encode_ordinary(text))


def cpu_ms():
    return time.process_time_ns() / 1e6


def main():
    peer, encoding, path, rounds = sys.argv[1:]
    text = Path(path).read_bytes()
    if peer == "tiktoken":
        text = text.decode()
    steps = {"gigatoken": gigatoken_encoder, "tiktoken": tiktoken_encoder}[peer](encoding)
    begun = cpu_ms()
    next(steps)
    imported = cpu_ms()
    count = next(steps)
    loaded = cpu_ms()
    tokens = count(text)
    cold = cpu_ms()
    warm = []
    for _ in range(int(rounds)):
        before = cpu_ms()
        count(text)
        warm.append(cpu_ms() - before)
    print(json.dumps({"tokens": tokens, "import_ms": imported - begun, "load_ms": loaded - imported,
                      "first_ms": cold - loaded, "cold_ms": cold - imported, "warm_ms": min(warm)}))


if __name__ == "__main__":
    main()
