"""The texts that counting is measured on, out of Debian packages (`tools/setup bench`), the same on every machine
with the same packages: prose, code and multilingual text of 3.6 MB each, and three that are hard on tokenizers."""

import gzip
import random
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

SIZE = 3_600_000
HANDBOOK = Path("/usr/share/doc/debian-handbook/html")
STDLIB = Path("/usr/lib/python3.11")
LANGUAGES = ("ar-MA", "ja-JP", "ru-RU", "zh-CN", "el-GR", "ko-KR", "fa-IR", "fr-FR", "vi-VN", "zh-TW")

ORDINARY = ("prose", "code", "multilingual")
PATHOLOGICAL = ("a x 1,000,000", "random letters", "newlines")


class Words(HTMLParser):
    """The text between the tags."""

    def __init__(self):
        super().__init__()
        self.parts, self.silent = [], 0

    def handle_starttag(self, tag, attrs):
        self.silent += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.silent -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.silent:
            self.parts.append(data)


def text_of(page):
    words = Words()
    words.feed(page.read_text())
    return re.sub(r"\n{3,}", "\n\n", "".join(words.parts))


def handbook(language):
    return "".join(text_of(page) for page in sorted((HANDBOOK / language).glob("*.html")))


def pods():
    """The manual of Perl without its markup, in the order of the file names."""
    listing = subprocess.run(["dpkg", "-L", "perl-doc"], capture_output=True, text=True, check=True).stdout.split()
    for path in sorted(path for path in listing if path.endswith((".pod", ".pod.gz"))):
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8", "ignore")
        yield re.sub(r"[A-Z]<+ ?([^<>]*?) ?>+", r"\1", re.sub(r"^=.*$", "", text, flags=re.M))


def code():
    for path in sorted(STDLIB.rglob("*.py")):
        yield path.read_bytes().decode("utf-8", "ignore")


def fill(parts, size):
    """The parts, one after the other, cut at so many bytes and at a character."""
    taken, have = [], 0
    for part in parts:
        data = part.encode()
        taken.append(data)
        have += len(data)
        if have >= size:
            return b"".join(taken)[:size].decode("utf-8", "ignore")
    raise SystemExit(f"bench: only {have:,} of {size:,} bytes of text; `tools/setup bench` brings the packages they are in")


def make(name):
    if name == "prose":
        return fill([handbook("en-US"), *pods()], SIZE)
    if name == "code":
        return fill(code(), SIZE)
    if name == "multilingual":
        return "".join(fill([handbook(language)], SIZE // len(LANGUAGES)) for language in LANGUAGES)
    if name == "a x 1,000,000":
        return "a" * 1_000_000
    if name == "random letters":
        return "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000))
    if name == "newlines":
        return "\n" * 100_000
    raise KeyError(name)


def write_all(folder):
    """Writes each text once; gives name to path. A literal such as <|endoftext|> means something else to each
    program, so those are broken up."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name in (*ORDINARY, *PATHOLOGICAL):
        paths[name] = folder / (re.sub(r"\W+", "_", name) + ".txt")
        if not paths[name].exists():
            paths[name].write_bytes(make(name).replace("<|", "< |").encode())
    return paths
