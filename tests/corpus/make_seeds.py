"""Writes the seeds of the fuzzers: texts for count_fuzz, queries, an agent's lines, and for readers_fuzz a small definition
in each form.

Fuzzers find their way from a whole file far sooner than from nothing; each is as small as its form allows.
"""

import base64
import io
import json
import struct
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TEXTS = ["they've loaded it, isn't it? I'LL see.\n\n  def f(x):\r\n\treturn x+1\n", "Größe Ñandú ÉCOLE CamelCaseURL 12345 ½",
         "字の船カタカナ 中文，한국어 ไทย", "a" * 200, "     \n\n\n    \t\t x", "e\u0301\u0301 \u200d🚢👩\u200d🚀 \u3000\u00a0\u2028"]
QUERIES = ["What is the source? Cite it.", "I don\u2019t want to live, self-harm 988", "Write an idea: trade-off, pros and cons",
           "ＷＨＡＴ is 请verify一下 \u00adsui\u00adcide", "remember fact_store last time"]
SCHEMAS = [{"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]{2,3}(x|y)?$"},
                                             "b": {"$ref": "#/$defs/t"}}, "required": ["a"], "additionalProperties": {"type": "null"},
            "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "minItems": 1, "maxItems": 3}}},
           {"anyOf": [{"const": 1}, {"enum": ["x", None, True]}, {"type": ["integer", "boolean"], "minimum": -3, "exclusiveMaximum": 400}]},
           {"allOf": [{"properties": {"d": {"format": "date-time"}}}, {"properties": {"u": {"format": "uuid"}}}]},
           {"prefixItems": [{"type": "number"}, {"oneOf": [{"type": "string"}]}]}]
THOUGHTS = ["<think>deep</think>The answer.", "still thinking</think> Yes <THINKING>a<reasoning>b</reasoning></thinking>.", "No <thought>", "<thi"]
FACTS = [{"id": "1", "text": "Ann likes tea", "importance": 0.9, "trust": 0.5, "score": 1, "created": "2026-01-01T00:00:00Z"}]
WORDS = ["a", "b", "c", " ", "ab", "abc", " a"]


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def added(text, number, special):
    return {"id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": special}


def tokenizer_json(model, pre, normalizer=None):
    return json.dumps({"version": "1.0", "added_tokens": [added("<s>", 90, True), added("\n\n", 91, False)],
                       "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": None, "decoder": None,
                       "model": model}).encode()


def forms():
    """The content type in the first line, the body behind it."""
    part = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    files = [b'; filename="a \\"quoted\\" C:\\x.txt"', b"; filename*=UTF-8'en'na%C3%AFve.txt", b"; filename=bare.txt\r\nContent-Type: text/plain"]
    yield b"multipart/form-data; boundary=b\n" + b"".join(part % (b"file", name, b"x\r\n--bc") for name in files) + b"--b--\r\n"
    yield b'multipart/form-data; charset=utf-8; boundary="b"\nbefore\r\n' + part % (b"index", b"", b"docs") + b"--b \t--b--"


def anthropic_texts():
    """A chat, a message, and a stream of events."""
    cached = {"cache_control": {"type": "ephemeral"}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}
    yield json.dumps({"messages": [
        {"role": "system", "content": [{"type": "text", "text": "s"} | cached]},
        {"role": "user", "content": [{"type": "text", "text": "u"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]},
        {"role": "assistant", "content": None, "tool_calls": [call], "thinking_blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}]},
        {"role": "tool", "tool_call_id": "c", "content": "r"}], "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}} | cached],
        "tool_choice": "required", "parallel_tool_calls": False, "stop": "x", "max_tokens": 9, "thinking": {"budget_tokens": 9}}).encode()
    usage = {"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3}
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    yield json.dumps({"id": "m", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "x"}, tool],
                      "stop_reason": "tool_use", "usage": usage}).encode()
    deltas = [{"type": "text_delta", "text": "x"}, {"type": "input_json_delta", "partial_json": "{}"}, {"type": "signature_delta", "signature": "s"}]
    events = [{"type": "message_start", "message": {"id": "m", "usage": usage}}, {"type": "content_block_start", "index": 0, "content_block": tool},
              *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas), {"type": "content_block_stop", "index": 0},
              {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}, {"type": "message_stop"}]
    yield b"".join(b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode()) for event in events)


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(tag, value):
    if isinstance(value, bytes):
        return varint(tag << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(tag << 3 | 5) + struct.pack("<f", value)
    return varint(tag << 3) + varint(value)


def sentencepiece(kind):
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("<0x0A>", 0.0, 6), ("[X]", 0.0, 4)]
    pieces += [(word.replace(" ", "\u2581"), -float(i), 1) for i, word in enumerate(WORDS)]
    model = b"".join(field(1, field(1, text.encode()) + field(2, score) + field(3, form)) for text, score, form in pieces)
    return model + field(2, field(3, kind)) + field(3, field(1, b"identity") + field(3, 1) + field(4, 0))


def gguf(pre, model):
    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def array(kind, values, write):
        return struct.pack("<IIQ", 9, kind, len(values)) + b"".join(map(write, values))
    tokens = ["<|end|>", *(word.replace(" ", "\u0120") for word in WORDS)]
    entries = {"general.architecture": struct.pack("<I", 8) + text("llama"),
               "tokenizer.ggml.model": struct.pack("<I", 8) + text(model),
               "tokenizer.ggml.pre": struct.pack("<I", 8) + text(pre),
               "tokenizer.ggml.tokens": array(8, tokens, text),
               "tokenizer.ggml.scores": array(6, [-float(i) for i in range(len(tokens))], lambda x: struct.pack("<f", x)),
               "tokenizer.ggml.token_type": array(5, [3] + [1] * len(WORDS), lambda x: struct.pack("<i", x)),
               "tokenizer.ggml.merges": array(8, ["a b", "ab c", "\u0120 a"], text),
               "tokenizer.ggml.bos_token_id": struct.pack("<II", 4, 0)}
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(text(key) + value for key, value in entries.items())


def mcp_lines():
    def call(tool, arguments):
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    start = [json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version}})
             for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")]
    ping = json.dumps({"jsonrpc": "2.0", "id": "a", "method": "ping"})
    return [f"{start[0]}\n{ping}\n", f"{start[1]}\n[{ping},{ping}]\n", f"{start[2]}\n" + ping.replace("ping", "tools/list"), start[3],
            call("context_strategy", {"query": "What is it?", "file_paths": ["x", "../x"], "content_size_hint": "tiny",
                                      "char_count": 4, "used_tokens": 1, "model_context_length": 9, "available_tools": ["memory"]}),
            call("count_tokens", {"messages": [{"role": "user", "content": "x"}], "model": "gpt-4"}),
            call("model_window", {"model": "gpt-4"}), call("plan_context", {"request": {"messages": []}, "model": "gpt-4"})]


def plan_requests():
    """Requests with all that a plan takes apart: turns, steps of an agent, results that stand apart, candidates."""
    def call(*names):
        return {"role": "assistant", "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]}

    def result(name):
        return {"role": "tool", "tool_call_id": name, "content": "12"}
    user, reply, system = ({"role": role, "content": "ship"} for role in ("user", "assistant", "system"))
    image = {"role": "user", "content": [{"type": "text", "text": "this?"}, {"type": "image_url", "image_url": {"url": "x"}}]}
    ours = {"policy": "history", "thinking": 5, "passages": [{"id": "p", "text": "t", "score": 0.5}],
            "memories": [{"text": "m", "importance": 1}]}
    yield {"messages": [system, user, reply, user, reply, image], "max_tokens": 5, "plimsoll": ours}
    yield {"messages": [user, call("a", "b"), result("a"), result("b"), call("c"), result("c")], "thinking": {"budget_tokens": 9}}
    yield {"messages": [user, call("a"), user, result("a"), reply, user], "context_token_ratio": 0.6, "max_completion_tokens": 7}
    yield [system, {"role": "developer", "content": "d"}, reply, result("z")]


def documents():
    """What the readers of documents read, by fuzzer. In front of some, a byte that says which reader."""
    page = ("<!DOCTYPE html><html><head><title>T &amp; U</title></head><body><nav><a>Home</a></nav><h1>Ships</h1><p>She is\n "
            "<b>loaded</b> &mdash; Caf&eacute;.<ul><li>one<li>two</ul><table><tr><th>A<th>B<tr><td>1<td>2</table><table><tr>"
            "<td><h2>x</table><pre>a\n b</pre><form>f</form><div hidden>h</div><br>end")
    markdown = ("---\ntitle: x\n---\n# One `c`\n\ntext\nmore. And\n\nSub\n---\n> - q\n>   | a | b |\n>   |---|---|\n>   | 1 | 2 |\n\n"
                "1. a\n   - b\n\n```c\nx\n```\n    code\n<div>h</div>\n[a]: b\n")
    code = ["struct P { int x; };\n/* c */\nint f(int a) {\n  return a;\n}\n",
            "namespace n {\ntemplate <class T> class B : A {\n int s() { return 1; }\n};\n}\n",
            "# c\n@d\nclass A(B):\n    x = 1\n    def f(self):\n        return \"\"\"a\"\"\"\n",
            "export const f = (a) => `${a}`;\nclass A { go() {} }\n",
            "export interface P<T> { x: number }\nnamespace N { enum E { A } }\n", "const App = () => <b a={1}>x</b>;\n",
            "package p\ntype S struct{ X int }\nfunc (s *S) M() int { return 1 }\n",
            "/// d\n#[a]\nimpl<T> P for Q { fn m(&self) -> i32 { r#\"x\"#; 1 } }\n",
            "class A {\n  /** d */ int m() { return 1; }\n}\nrecord R(int x) {}\n", "if x; then\n  y\nfi\n\nz\n"]
    texts = ["One. Two e.g. three\r\nfour\n\n\u8239\u3002 x", "a,b\n\"x\"\"y\n\",2\n", "a\tb\n1\t2\n",
             json.dumps({"a": [{"b": "x" * 700}], "c": {"d": 1}}), '{"a": 1}\n{"a": "One.\\n2. Two."}\n', "#!/bin/sh\nx\n",
             "A line of the page that is long enough to be\nbroken, and an exam-\nple.\n\n- x\n\fnext\n"]
    word = ("<w:document xmlns:w='x'><w:body><w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>"
            "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t><w:tab/><w:br/></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a"
            "</w:t></w:r></w:p></w:tc><w:tc/></w:tr></w:tbl><w:style w:styleId='s'><w:name w:val='heading 2'/></w:style>"
            "</w:body></w:document>")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("word/document.xml"), word)
    cuts = [bytes([50, 12, 20, 5, 15, 0, 1, 6, 0, 60, 23, 0, 4, 40, 14, 0])
            + ("# Head\nOne two. Three four five\nsix. " * 6).encode()]
    rules = ["*.log\n!keep.log\n/a/**/b/\n**/c\n[!a-c]x?\n\\#x\0a/x/b", "a*b?c\0axxbyc"]
    yield "read_html_fuzz", [page.encode(), b"<p>\xe9\xff &copy2026 &#x41; &bogus"]
    yield "read_markdown_fuzz", [markdown.encode(), b"\xef\xbb\xbf# x\r\n\r\n- a\r- b"]
    yield "read_code_fuzz", [bytes([i]) + text.encode() for i, text in enumerate(code)]
    yield "read_text_fuzz", [*(bytes([i]) + text.encode() for i, text in enumerate(texts)), b"\x00\xff\xfea\x00b\x00",
                             b"\x00caf\xe9 and more"]
    yield "read_docx_fuzz", [b"\x01" + word.encode(), b"\x00" + packed.getvalue()]
    yield "cut_fuzz", cuts
    yield "ignore_fuzz", [text.encode() for text in rules]


def e5_file():
    """The weights of multilingual-e5-small in their smallest form: a vocabulary and one tensor of each type."""
    texts = [b"<s>", b"<pad>", b"</s>", b"<unk>", b"\xe2\x96\x81", b"a", b"b", b"\xe2\x96\x81ab", b"<mask>"]
    ends = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
    out = b"E5S1" + struct.pack("<I7IfI", 1, 32, 1, 1, 32, 9, 8, 2, 1e-12, 32)
    out += struct.pack("<5IQ", len(texts), 0, 2, 1, 3, ends[-1]) + struct.pack(f"<{len(ends)}I", *ends)
    out += struct.pack(f"<{len(texts)}f", *(-i for i in range(len(texts)))) + b"".join(texts)
    out += struct.pack("<IIIBI", 1, 9, 9, 1, 32)
    tensors = [(b"emb.word", 1, 32, bytes(18)), (b"emb.ln.w", 0, 32, bytes(128))]
    start = len(out) + 4 + sum(23 + len(name) for name, *_ in tensors)
    out += struct.pack("<I", len(tensors))
    for number, (name, kind, values, data) in enumerate(tensors):
        offset = start + sum(len(one[3]) for one in tensors[:number])
        out += struct.pack("<H", len(name)) + name + struct.pack("<BIQQ", kind, values, offset, len(data))
    return out + b"".join(data for *_, data in tensors)


def main():
    vocabulary = {word.replace(" ", "\u0120"): i for i, word in enumerate(WORDS)}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    bpe = {"type": "BPE", "unk_token": None, "byte_fallback": False, "ignore_merges": True, "vocab": vocabulary,
           "merges": ["a b", "ab c", "\u0120 a"]}
    chars = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
             "vocab": {"<unk>": 0, "<0x0A>": 1, "a": 2, "b": 3, "ab": 4, "\u2581": 5}, "merges": [["a", "b"]]}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *([word, -1.5 * i] for i, word in enumerate(WORDS))]}
    wordpiece = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                 "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "ab": 3}}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    seeds = {
        "bpe.json": tokenizer_json(bpe, byte_level, {"type": "NFC"}),
        "bpe_split.json": tokenizer_json(bpe, {"type": "Sequence", "pretokenizers": [split("[a-z]+|\\s"), byte_level | {"use_regex": False}]}),
        "bpe_chars.json": tokenizer_json(chars, None, replace),
        "unigram.json": tokenizer_json(unigram, {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}),
        "wordpiece.json": tokenizer_json(wordpiece, {"type": "BertPreTokenizer"}, bert),
        "ranks.tiktoken": "".join(f"{encoded(word)} {i}\n" for i, word in enumerate(WORDS)).encode(),
        "tekken.json": json.dumps({
            "config": {"pattern": "[a-z]+|\\s+", "num_vocab_tokens": 7, "default_vocab_size": 9, "default_num_special_tokens": 2, "version": "v3"},
            "vocab": [{"rank": i, "token_bytes": encoded(word), "token_str": word} for i, word in enumerate(WORDS)]}).encode(),
        "claude.json": json.dumps({"explicit_n_vocab": 9, "pat_str": " ?\\p{L}+|\\s+", "special_tokens": {"<EOT>": 0},
                                   "bpe_ranks": "! 1 " + " ".join(map(encoded, WORDS))}).encode(),
        "bpe.model": sentencepiece(2), "unigram.model": sentencepiece(1),
        "gpt2.gguf": gguf("smollm", "gpt2"), "llama.gguf": gguf("default", "llama"), "e5.bin": e5_file(),
    }
    seeds = {f"readers_fuzz/{name}": data for name, data in seeds.items()}
    seeds["e5_file_fuzz/tiny"] = e5_file()
    # In front, which tokenizer, and where the text is cut into parts.
    seeds |= {f"count_fuzz/seed{i}": bytes([i * 3, i * 7]) + text.encode() for i, text in enumerate(TEXTS)}
    seeds |= {f"classify_fuzz/seed{i}": text.encode() for i, text in enumerate(QUERIES)}
    seeds |= {f"schema_fuzz/seed{i}": json.dumps(schema).encode() for i, schema in enumerate(SCHEMAS)}
    seeds |= {f"reasoning_fuzz/seed{i}": text.encode() for i, text in enumerate(THOUGHTS)}
    seeds |= {"memories_fuzz/seed0": json.dumps({"facts": FACTS}).encode(), "memories_fuzz/seed1": json.dumps(FACTS).encode(),
              "facts_fuzz/seed0": b"Sure: " + json.dumps(FACTS).encode() + b" That is all.", "facts_fuzz/seed1": b'["tea"]'}
    seeds |= {f"mcp_fuzz/seed{i}": text.encode() for i, text in enumerate(mcp_lines())}
    seeds |= {f"multipart_fuzz/seed{i}": data for i, data in enumerate(forms())}
    seeds |= {f"parts_fuzz/seed{i}": json.dumps(request).encode() for i, request in enumerate(plan_requests())}
    seeds |= {f"anthropic_fuzz/seed{i}": data for i, data in enumerate(anthropic_texts())}
    for fuzzer, inputs in documents():
        seeds |= {f"{fuzzer}/seed{i}": data for i, data in enumerate(inputs)}
    for name, data in seeds.items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
