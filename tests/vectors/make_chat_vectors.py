"""Writes tests/vectors/chat.json: what Python's jinja2 and the reference tokenizers make of some dozens of chats.

  python3 tests/vectors/make_chat_vectors.py [ASSETS]     (needs jinja2, tokenizers and tiktoken)

Templates are rendered as Hugging Face's apply_chat_template does it. Servers adapt what they hand to a template:
the arguments of a call as an object, else as text; content that is missing as null, else as "". The first that
renders is taken, here as in Plimsoll. Long texts are kept as the first 16 digits of their SHA-256.
"""

import hashlib
import json
import os
import random
import struct
import sys
from datetime import date
from pathlib import Path

import tiktoken
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

HERE = Path(__file__).parent
TEMPLATES = HERE.parent.parent / "data" / "templates"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
DAY = date(2026, 11, 15)

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather at a place, for \"today\" or later.",
    "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "description": "Name of the harbour, e.g. Łódź"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer", "minimum": 0, "maximum": 14},
        "confidence": {"type": "number", "default": 0.85, "maximum": 1.0, "minimum": 1e-07}},
        "required": ["place"]}}}
CARGO = {"type": "function", "function": {
    "name": "load_cargo", "description": "Puts cargo aboard.\nTwo lines of text.",
    "parameters": {"type": "object", "properties": {
        "items": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "tons": {"type": "number"}}}},
        "dry": {"type": "boolean"}}, "required": ["items", "dry"]}}}
PING = {"type": "function", "function": {"name": "ping", "description": "", "parameters": {"type": "object", "properties": {}}}}


def turn(role, content, **more):
    return {"role": role, "content": content, **more}


def call(name, arguments, number=1):
    return {"id": f"call{number:05}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}}


def conversations():
    user, system, answer = (lambda text: turn("user", text)), (lambda text: turn("system", text)), (lambda text: turn("assistant", text))
    texts = ["Hello", "", " leading and trailing \n", "\u00a0no-break\u3000", "Zwölf Boxkämpfer jagen Viktor", "日本語のテキスト", "emoji 👩‍👩‍👧‍👦 é",
             "code:\n```py\nfor i in range(3):\n\tprint(i)\n```", "<|im_end|> and <|eot_id|>, <end_of_turn>, <bos>", "a" * 3000, "{{ not a template }} {% raw %}",
             "tab\tand\r\nline ends\n\n\n", "quote \" backslash \\ '"]
    chats = [{"messages": [user(text)]} for text in texts]
    chats += [{"messages": [system("You are terse."), user(text)]} for text in texts[:8]]
    long = [user("one"), answer("two"), user("three"), answer("four"), user("five")]
    chats += [{"messages": long}, {"messages": [system("Be kind.")] + long}, {"messages": long[:4]}, {"messages": [turn("developer", "Only French."), user("Hi")]}]
    chats += [{"messages": [user("q"), answer("<think>\nhm\n</think>\n\nThe answer"), user("again")]}, {"messages": [user("q"), answer("<think>\nhm\n</think>\n\nThe answer")]}]
    chats += [{"messages": [user([{"type": "text", "text": "first part"}, {"type": "text", "text": "second part"}][0]["text"])]},
              {"messages": [turn("user", [{"type": "text", "text": "first part"}, {"type": "text", "text": " second "}])]}]
    for tools in ([WEATHER], [WEATHER, CARGO], [PING]):
        chats.append({"messages": [user("What is the weather in Łódź?")], "tools": tools})
        chats.append({"messages": [system("Use tools."), user("What is the weather?")], "tools": tools})
    asked = [user("Weather?"), turn("assistant", None, tool_calls=[call("get_weather", {"place": "Hull", "days": 3, "confidence": 0.5})]),
             turn("tool", "{\"sky\": \"grey\"}", tool_call_id="call00001", name="get_weather")]
    chats += [{"messages": asked, "tools": [WEATHER]}, {"messages": asked + [answer("It is grey.")], "tools": [WEATHER]},
              {"messages": asked + [answer("It is grey."), user("And Riga?")], "tools": [WEATHER]}, {"messages": asked}]
    two = [user("Both?"), turn("assistant", "I look.", tool_calls=[call("get_weather", {"place": "Gdańsk"}), call("load_cargo", {"items": [{"name": "tea", "tons": 1.5}], "dry": True}, 2)]),
           turn("tool", "sun", tool_call_id="call00001"), turn("tool", "done", tool_call_id="call00002")]
    chats += [{"messages": two, "tools": [WEATHER, CARGO]}, {"messages": [system("S")] + two + [answer("Fine.")], "tools": [WEATHER, CARGO]}]
    rng = random.Random(7)
    words = "ship load line hull Plimsoll marks fresh water summer winter North Atlantic 1876 ÄÖÜ 港 🚢".split()
    for turns in (6, 20, 60):
        messages = [turn(("user", "assistant")[i % 2], " ".join(rng.choices(words, k=rng.randint(1, 80)))) for i in range(turns - 1)]
        chats.append({"messages": messages})
    return chats


def environment():
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    made.filters["tojson"] = lambda value, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def refuse(message):
        raise ValueError(message)

    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = DAY.strftime
    return made


def takes_lists(template, tokens):
    try:
        text = template.render(messages=[turn("user", [{"type": "text", "text": "probe"}])], tools=None, documents=None, add_generation_prompt=True, **tokens)
    except Exception:
        return False
    return "probe" in text and "'text'" not in text


def shaped(messages, lists, as_text, as_empty, no_developer):
    result = json.loads(json.dumps(messages))
    for message in result:
        if isinstance(message["content"], list) and not lists:
            message["content"] = "\n".join(part["text"] for part in message["content"])
        if message["content"] is None and as_empty:
            message["content"] = ""
        if message["role"] == "developer" and no_developer:
            message["role"] = "system"
        for each in message.get("tool_calls", []):
            if not as_text:
                each["function"]["arguments"] = json.loads(each["function"]["arguments"])
    return result


def render(source, chat, tokens):
    template = environment().from_string(source)
    lists = any(isinstance(message["content"], list) for message in chat["messages"]) and takes_lists(template, tokens)
    for attempt in range(4):
        try:
            messages = shaped(chat["messages"], lists, attempt & 1, attempt & 2, "developer" not in source)
            return template.render(messages=messages, tools=chat.get("tools"), documents=None, add_generation_prompt=True, **tokens)
        except Exception:
            continue
    return None


def gguf_texts(path):
    """Texts in the metadata of a GGUF file, by key; the tokens' own texts for ids."""
    with open(path, "rb") as file:
        head = file.read(32 << 20)
    at = 24
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def text():
        nonlocal at
        length = struct.unpack_from("<Q", head, at)[0]
        at += 8 + length
        return head[at - length:at].decode()

    def value(kind):
        nonlocal at
        if kind == 8:
            return text()
        if kind == 9:
            inner, count = struct.unpack_from("<IQ", head, at)
            at += 12
            return [value(inner) for _ in range(count)]
        at += sizes[kind]
        return int.from_bytes(head[at - sizes[kind]:at], "little")

    found = {}
    for _ in range(struct.unpack_from("<Q", head, 16)[0]):
        key = text()
        kind = struct.unpack_from("<I", head, at)[0]
        at += 4
        found[key] = value(kind)
    return found


def from_config(folder):
    config = json.loads((folder / "tokenizer_config.json").read_text())
    tokens = {}
    for key in ("bos_token", "eos_token"):
        value = config.get(key)
        if value:
            tokens[key] = value["content"] if isinstance(value, dict) else value
    source = config.get("chat_template")
    if isinstance(source, list):
        source = next(named["template"] for named in source if named["name"] == "default")
    return source, tokens


def openai_count(encoding, chat):
    tokens = 3
    for message in chat["messages"]:
        tokens += 3
        for key, value in message.items():
            tokens += len(encoding.encode(value, disallowed_special=())) + (1 if key == "name" else 0)
    return tokens


def main():
    assets = Path(sys.argv[1]) if len(sys.argv) > 1 else CACHE / "plimsoll" / "assets"
    chats = conversations()
    cases = []

    def add(tokenizer, name, source, tokens, encode):
        for index, chat in enumerate(chats):
            text = render(source, chat, tokens)
            case = {"tokenizer": tokenizer, "template": name, "chat": index}
            if text is None:
                case["refused"] = True
            else:
                case["sha"] = hashlib.sha256(text.encode()).hexdigest()[:16]
                case["bytes"] = len(text.encode())
                if encode:
                    case["tokens"] = len(encode(text))
                    case["bos"] = text.startswith(tokens.get("bos_token", "\0"))
            cases.append(case)

    named = {"llama3": ["llama3"], "llama3.1": ["llama3.1"], "gemma2": ["gemma"], "qwen2.5": ["chatml"], "deepseek-v3": ["deepseek"],
             "command-r": ["command-r"], "o200k_harmony": ["harmony"]}
    for tokenizer in ("command-r", "deepseek-v3", "gemma2", "gemma3", "llama3", "llama3.1", "o200k_harmony", "qwen2.5", "qwen3"):
        source, tokens = from_config(assets / tokenizer)
        reference = Tokenizer.from_file(str(assets / tokenizer / "tokenizer.json"))
        encode = lambda text: reference.encode(text, add_special_tokens=False).ids
        if source:
            add(tokenizer, "", source, tokens, encode)
        for name in named.get(tokenizer, []):
            add(tokenizer, name, (TEMPLATES / f"{name}.jinja").read_text(), tokens, encode)
    metadata = gguf_texts(assets / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf")
    texts = metadata["tokenizer.ggml.tokens"]
    tokens = {f"{kind}_token": texts[metadata[f"tokenizer.ggml.{kind}_token_id"]] for kind in ("bos", "eos")}
    add("smollm2", "", metadata["tokenizer.chat_template"], tokens, None)
    for name in ("mistral-tekken", "mistral-v3"):
        tokenizer = "mistral-nemo" if name == "mistral-tekken" else "mistral-v3"
        add(tokenizer, name, (TEMPLATES / f"{name}.jinja").read_text(), {"bos_token": "<s>", "eos_token": "</s>"}, None)
    for name in ("cl100k_base", "o200k_base"):
        encoding = tiktoken.get_encoding(name) if not (assets / name).exists() else load(assets / name / f"{name}.tiktoken", name)
        for index, chat in enumerate(chats):
            if all(isinstance(message["content"], str) and set(message) == {"role", "content"} for message in chat["messages"]) and "tools" not in chat:
                cases.append({"tokenizer": name, "template": "openai", "chat": index, "tokens": openai_count(encoding, chat)})
    lines = [json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases]
    chats_text = ",\n".join(json.dumps(chat, ensure_ascii=False, separators=(",", ":")) for chat in chats)
    (HERE / "chat.json").write_text('{"date":"%s","chats":[\n%s\n],"cases":[\n%s\n]}\n' % (DAY, chats_text, ",\n".join(lines)))
    refused = sum("refused" in case for case in cases)
    print(f"{len(chats)} chats, {len(cases)} cases, {refused} refused by their template")


def load(path, name):
    """tiktoken's encoding from the file that set-up brought, so that nothing is fetched."""
    import base64
    from tiktoken_ext import openai_public
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in path.read_bytes().splitlines() if line)}
    kept = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = lambda *_args, **_more: ranks
    try:
        return tiktoken.Encoding(**getattr(openai_public, name)())
    finally:
        openai_public.load_tiktoken_bpe = kept


if __name__ == "__main__":
    main()
