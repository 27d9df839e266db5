"""The tokenizers that ours are held against, each as its authors publish it.

OpenAI's and those that hold ranked bytes run in tiktoken, those with a tokenizer.json in Hugging Face's
tokenizers, SentencePiece models in sentencepiece. Needs the environment `venv-refs` (`tools/setup refs`).
"""

import base64
import json
import os
import struct
import unicodedata
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
ASSETS = CACHE / "assets"

OPENAI = ("cl100k_base", "o200k_base", "p50k_base", "r50k_base")
HUGGING_FACE = ("o200k_harmony", "llama3", "llama3.1", "qwen2.5", "qwen3", "gemma2", "gemma3", "deepseek-v3",
                "command-r")
NAMES = (*OPENAI, *HUGGING_FACE, "mistral-nemo", "mistral-v3", "claude-legacy", "smollm2")


class Reference:
    """plain(text) and parsed(text) give ids; parsed is None where nothing defines it. `added` are the literals
    that a parsing server takes for one token."""

    def __init__(self, name, plain, parsed, added):
        self.name, self.plain, self.parsed, self.added = name, plain, parsed, added


def tiktoken_encoding(name, pattern, ranks, specials):
    import tiktoken
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)


def of_tiktoken(name, encoding, specials, prepare=lambda text: text):
    return Reference(name, lambda text: encoding.encode_ordinary(prepare(text)),
                     lambda text: encoding.encode(prepare(text), allowed_special="all"), list(specials))


def openai(name):
    """The published pattern and specials, with the ranks that set-up brought instead of a download."""
    from tiktoken_ext import openai_public
    ranks = {}
    for line in (ASSETS / name / f"{name}.tiktoken").read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    facts = openai_public.ENCODING_CONSTRUCTORS[name]()
    specials = facts["special_tokens"]
    return of_tiktoken(name, tiktoken_encoding(name, facts["pat_str"], ranks, specials), specials)


def claude():
    facts = json.loads((ASSETS / "claude-legacy" / "claude.json").read_text())
    ranks = {}
    for line in facts["bpe_ranks"].splitlines():
        _, first, *tokens = line.split(" ")
        for rank, token in enumerate(tokens, int(first)):
            ranks[base64.b64decode(token)] = rank
    return of_tiktoken("claude-legacy", tiktoken_encoding("claude", facts["pat_str"], ranks, facts["special_tokens"]),
                       facts["special_tokens"], lambda text: unicodedata.normalize("NFKC", text))


def mistral_nemo():
    """As mistral_common does it: as many ranks as leave room for the specials, whose ids come first. The file lists
    no specials; they are never parsed from text there."""
    facts = json.loads((ASSETS / "mistral-nemo" / "tekken_240718.json").read_text())
    config = facts["config"]
    specials = config["default_num_special_tokens"]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"]
             for entry in facts["vocab"][:config["default_vocab_size"] - specials]}
    encoding = tiktoken_encoding("tekken", config["pattern"], ranks, {})
    return Reference("mistral-nemo", lambda text: [rank + specials for rank in encoding.encode_ordinary(text)], None, [])


def mistral_v3():
    """SentencePiece takes a control symbol in a text for plain text, and has no other way."""
    import sentencepiece
    model = sentencepiece.SentencePieceProcessor(
        model_file=str(ASSETS / "mistral-v3" / "mistral_instruct_tokenizer_240323.model.v3"))
    controls = [model.id_to_piece(i) for i in range(model.vocab_size()) if model.is_control(i)]
    return Reference("mistral-v3", model.encode, None, controls)


def of_hugging_face(name, tokenizer):
    def plain(text):
        tokenizer.encode_special_tokens = True
        return tokenizer.encode(text, add_special_tokens=False).ids

    def parsed(text):
        tokenizer.encode_special_tokens = False
        return tokenizer.encode(text, add_special_tokens=False).ids

    added = [token.content for _, token in sorted(tokenizer.get_added_tokens_decoder().items())]
    return Reference(name, plain, parsed, added)


def hugging_face(name):
    import tokenizers
    return of_hugging_face(name, tokenizers.Tokenizer.from_file(str(ASSETS / name / "tokenizer.json")))


def gguf_metadata(path):
    """The key-value part at the front of a GGUF file, without looking at the weights."""
    with open(path, "rb") as file:
        def number(form):
            return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))[0]

        def text():
            return file.read(number("Q")).decode()

        def value(kind):
            if kind == 8:
                return text()
            if kind == 9:
                inner, size = number("I"), number("Q")
                return [value(inner) for _ in range(size)]
            return number("BbHhIif?__Qqd"[kind])

        if file.read(4) != b"GGUF":
            raise ValueError(f"{path} is not a GGUF file")
        _, _, keys = number("I"), number("Q"), number("Q")
        found = {}
        for _ in range(keys):
            key = text()
            found[key] = value(number("I"))
        return found


def smollm2():
    """Of a few bytes the vocabulary has no token. Servers that read GGUF leave them out after merging, Hugging Face
    would before; so each gets a token here that nothing merges with, and is taken out of the result."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
    facts = gguf_metadata(next((ASSETS / "smollm2").glob("*.gguf")))
    tokens = facts["tokenizer.ggml.tokens"]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    size = len(vocabulary)
    for letter in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocabulary.setdefault(letter, len(vocabulary))
    merges = [tuple(merge.split(" ")) for merge in facts["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    control, user_defined = 3, 4
    kinds = facts["tokenizer.ggml.token_type"]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False)
                                  for token, kind in zip(tokens, kinds) if kind == control])
    tokenizer.add_tokens([AddedToken(token, normalized=False)
                          for token, kind in zip(tokens, kinds) if kind == user_defined])
    whole = of_hugging_face("smollm2", tokenizer)
    return Reference("smollm2", lambda text: [i for i in whole.plain(text) if i < size],
                     lambda text: [i for i in whole.parsed(text) if i < size], whole.added)


def load(name):
    if name in OPENAI:
        return openai(name)
    if name in HUGGING_FACE:
        return hugging_face(name)
    return {"mistral-nemo": mistral_nemo, "mistral-v3": mistral_v3, "claude-legacy": claude, "smollm2": smollm2}[name]()
