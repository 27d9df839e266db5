#!/usr/bin/env python3
"""Trains small tokenizers of the kinds that no fetched one has, and writes what Hugging Face counts with them.

    <cache>/plimsoll/venv-refs/bin/python tests/vectors/make_small_vectors.py

tests/vectors/small/NAME.json is the definition, NAME.tsv its cases: the text as JSON, a tab, the count.
"""
import json
import random
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(__file__).resolve().parent / "small"
SIZE = 600
ALPHABET = "abcdefghij klmnop  qrstuvwxyz.,!?ABC éßÉ中文字😀\n\t0123▁'-"


def kinds():
    unigram = Tokenizer(models.Unigram())
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    unigram.decoder = decoders.Metaspace()
    yield "unigram", unigram, trainers.UnigramTrainer(vocab_size=SIZE, unk_token="<unk>", special_tokens=["<unk>"])

    wordpiece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    wordpiece.normalizer = normalizers.BertNormalizer()
    wordpiece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    yield "wordpiece", wordpiece, trainers.WordPieceTrainer(vocab_size=SIZE, special_tokens=["[UNK]", "[CLS]", "[SEP]"])

    prefixed = Tokenizer(models.BPE())
    prefixed.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    yield "byte-bpe-prefixed", prefixed, trainers.BpeTrainer(
        vocab_size=SIZE, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    metaspace = Tokenizer(models.BPE(unk_token="<unk>"))
    metaspace.pre_tokenizer = pre_tokenizers.Metaspace()
    yield "metaspace-bpe", metaspace, trainers.BpeTrainer(vocab_size=SIZE, special_tokens=["<unk>"])

    other = Tokenizer(models.BPE(unk_token="<unk>"))
    other.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Punctuation(), pre_tokenizers.Digits(individual_digits=True)])
    yield "other-pattern", other, trainers.BpeTrainer(vocab_size=SIZE, special_tokens=["<unk>"])


def texts():
    chance = random.Random(3)
    for _ in range(400):
        yield "".join(chance.choice(ALPHABET) for _ in range(chance.randint(0, 40)))
    for path in sorted((ROOT / "docs" / "adr").glob("*.md")):
        text = path.read_text()
        yield from (text[i : i + 200] for i in range(0, min(len(text), 1000), 200))


def main():
    OUT.mkdir(exist_ok=True)
    sample = [path.read_text() for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    for name, tokenizer, trainer in kinds():
        tokenizer.train_from_iterator(sample, trainer)
        tokenizer.save(str(OUT / f"{name}.json"), pretty=False)
        rows = [f"{json.dumps(text)}\t{len(tokenizer.encode(text, add_special_tokens=False).ids)}\n" for text in texts()]
        (OUT / f"{name}.tsv").write_text("".join(rows))


main()
