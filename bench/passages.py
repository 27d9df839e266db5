"""The passages that searching is measured on: 100 words each, out of the manuals of Debian, Perl, PostgreSQL, Python and
Linux and Python's library (`tools/setup bench`), and questions made of them."""

import gzip
import random
import re
from collections import Counter
from pathlib import Path

import corpus

WORDS = 100
LINUX = Path("/usr/share/doc/linux-doc-6.1")
PYTHON = Path("/usr/share/doc/python3.11/html/_sources")
POSTGRESQL = Path("/usr/share/doc/postgresql-doc-15/html")


def documents():
    """The text of each page, in a fixed order."""
    for page in sorted((corpus.HANDBOOK / "en-US").glob("*.html")):
        yield corpus.text_of(page)
    yield from corpus.pods()
    for page in sorted(POSTGRESQL.glob("*.html")):
        yield corpus.text_of(page)
    for page in sorted(PYTHON.rglob("*.txt")):
        yield page.read_text(errors="ignore")
    for page in sorted((LINUX / "html").rglob("*.html")):
        if page.name not in ("genindex.html", "search.html") and "translations" not in page.parts:
            yield corpus.text_of(page)
    for page in sorted((LINUX / "Documentation").rglob("*.gz")):
        if page.name.endswith((".txt.gz", ".yaml.gz")):
            yield gzip.decompress(page.read_bytes()).decode("utf-8", "ignore")
    yield from corpus.code()


def passages(count):
    """So many passages of 100 words; a page's last words are left out where they do not make one."""
    made = 0
    for text in documents():
        words = text.split()
        for start in range(0, len(words) - WORDS + 1, WORDS):
            if made == count:
                return
            made += 1
            yield " ".join(words[start:start + WORDS])
    raise SystemExit(f"bench: only {made:,} of {count:,} passages; `tools/setup bench` brings the manuals they are made of")


def write(path, count):
    """One passage a line; made once."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(passages(count)) + "\n"
        part = path.with_suffix(".part")
        part.write_text(text)
        part.rename(path)
    return path


def stop_words():
    """Ours, so that every program leaves the same words out."""
    source = (Path(__file__).resolve().parent.parent / "src/base/text/words.cpp").read_text()
    listed = re.search(r'stop_words =\s*((?:"[^"]*"\s*)+);', source)
    return "".join(re.findall(r'"([^"]*)"', listed[1])).split()


def queries(lines, count, seed=7):
    """Questions of 2 to 6 words that stand together in a passage. Stop words and words of fewer than three passages are
    not asked for; all others are, as often as they are used."""
    left_out = set(stop_words())
    uses = Counter(word for line in lines for word in set(line.split()))
    rng = random.Random(seed)
    made = []
    while len(made) < count:
        words = [word for word in dict.fromkeys(rng.choice(lines).split())
                 if word not in left_out and uses[word] >= 3 and re.fullmatch("[a-z]{2,14}", word)]
        wanted = rng.randint(2, 6)
        if len(words) >= wanted:
            made.append(" ".join(rng.sample(words, wanted)))
    return made
