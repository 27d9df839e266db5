"""Makes the real vectors that vector search is measured on, once: `make bench-search` runs it where they are missing.

  python embed_passages.py MODEL_FOLDER PASSAGES QUERIES OUT.bf16 COUNT

all-MiniLM-L6-v2 over the first 25 words of COUNT passages, then over the queries, with one thread; about half an hour for
100,000. OUT holds 384 numbers of 16 bits (the upper half of a float) for each. What an earlier run began is gone on with.
"""

import sys
import time
from pathlib import Path

import numpy
import onnxruntime
from tokenizers import Tokenizer

DIMENSIONS = 384
FIRST_WORDS = 25
BATCH = 32


class Model:
    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(max_length=64)
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self.names = {one.name for one in self.session.get_inputs()}

    def embed(self, texts):
        """Unit vectors: the mean of the tokens'. Texts of like length go together, so that little is padding."""
        tokens = [one.ids for one in self.tokenizer.encode_batch(texts)]
        vectors = numpy.zeros((len(texts), DIMENSIONS), numpy.float32)
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        for start in range(0, len(order), BATCH):
            part = order[start:start + BATCH]
            longest = max(len(tokens[i]) for i in part)
            ids = numpy.zeros((len(part), longest), numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, i in enumerate(part):
                ids[row, :len(tokens[i])] = tokens[i]
                mask[row, :len(tokens[i])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            states = self.session.run(None, {name: given[name] for name in self.names})[0]
            summed = (states * mask[:, :, None]).sum(axis=1)
            vectors[part] = summed / numpy.linalg.norm(summed, axis=1, keepdims=True)
        return vectors


def to_bf16(vectors):
    """The nearest, ties to even."""
    bits = vectors.view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def main():
    folder, passages, queries, out, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]), int(sys.argv[5])
    texts = [" ".join(line.split()[:FIRST_WORDS]) for line in Path(passages).read_text().splitlines()[:count]]
    texts += Path(queries).read_text().splitlines()
    part = out.with_suffix(".part")
    row = DIMENSIONS * 2
    done = part.stat().st_size // row if part.exists() else 0
    model, began, first = Model(folder), time.monotonic(), done
    with open(part, "r+b" if part.exists() else "wb") as file:
        file.truncate(done * row)
        file.seek(done * row)
        while done < len(texts):
            some = texts[done:done + 1024]
            file.write(to_bf16(model.embed(some)).tobytes())
            file.flush()
            done += len(some)
            rate = (done - first) / (time.monotonic() - began)
            print(f"\rvectors: {done:,} of {len(texts):,}, {(len(texts) - done) / rate:.0f} s left ", end="", flush=True)
    print()
    part.rename(out)


if __name__ == "__main__":
    main()
