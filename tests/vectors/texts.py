"""The texts that every tokenizer is compared on, made the same way each time.

`build(specials, root)` gives a list. An entry is a string, or a recipe for one that is too long to store:
  {"repeat": [text, times]}        the text, so many times
  {"draw": [texts, seed, times]}   so many of the texts, drawn by the generator of `draw` below
  {"join": [entry, ...]}           one after the other
`expand` makes the text of an entry; the C++ test has a twin of it.
"""

import random
import sys
import unicodedata

import samples

SEED = 7


def draw(texts, seed, times):
    """xorshift64*, so that any language can make the same text."""
    state, out = seed, []
    for _ in range(times):
        state ^= state >> 12
        state = (state ^ state << 25) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 27
        out.append(texts[((state * 0x2545F4914F6CDD1D & 0xFFFFFFFFFFFFFFFF) >> 33) % len(texts)])
    return "".join(out)


def expand(entry):
    if isinstance(entry, str):
        return entry
    (kind, value), = entry.items()
    if kind == "repeat":
        return value[0] * value[1]
    if kind == "draw":
        return draw(*value)
    if kind == "join":
        return "".join(map(expand, value))
    raise ValueError(f"no recipe is called '{kind}'")


SPACES = {
    "space": " ", "tab": "\t", "newline": "\n", "return": "\r", "crlf": "\r\n", "vertical tab": "\v",
    "form feed": "\f", "next line": "\u0085", "no-break": "\u00a0", "ogham": "\u1680", "en quad": "\u2000",
    "hair": "\u200a", "zero width": "\u200b", "line separator": "\u2028", "paragraph separator": "\u2029",
    "narrow no-break": "\u202f", "mathematical": "\u205f", "word joiner": "\u2060", "ideographic": "\u3000",
    "byte order mark": "\ufeff", "mongolian": "\u180e", "bar": "\u2581", "separator": "\x1c", "unit": "\x1f",
    "blank braille": "\u2800", "hangul filler": "\u3164",
}
NEIGHBOURS = ["a", "Z", "é", "字", "7", "٣", ".", "-", "'", "'s", "🚢", "\u0301", "<", "\n", " ", "\0"]


def whitespace(rng):
    kinds = list(SPACES.values())
    for kind_number, kind in enumerate(kinds):
        lengths = range(1, 41) if kind in " \t\n\r\u00a0\u3000\r\n\u2581" else (1, 2, 3, 4, 5, 8, 15, 16, 17, 33)
        for length in lengths:
            before = NEIGHBOURS[(kind_number + length) % len(NEIGHBOURS)]
            after = NEIGHBOURS[(kind_number * 3 + length * 5) % len(NEIGHBOURS)]
            yield (kind * length, before + kind * length, kind * length + after,
                   before + kind * length + after)[(length + kind_number) % 4]
    for _ in range(260):
        run = "".join(rng.choice(kinds[:6] if rng.random() < .6 else kinds) * rng.choice((1, 1, 1, 2, 3, 7))
                      for _ in range(rng.randint(1, 8)))
        yield rng.choice(("", *NEIGHBOURS)) + run + rng.choice(("", *NEIGHBOURS))
    for newline in ("\n", "\r\n", "\r"):
        yield newline.join(samples.ENGLISH[:6])
        yield newline.join(f"{' ' * i}{line} " for i, line in enumerate(samples.ENGLISH[:9]))
        yield (newline * 2 + "\t").join(samples.ENGLISH[6:12])


def prose(rng):
    yield from samples.ENGLISH
    for size in (2, 3, 5, 8, 13, 21) * 12:
        yield rng.choice((" ", "  ", "\n", "\n\n", " — ")).join(rng.sample(samples.ENGLISH, size))
    for line in samples.ENGLISH[:24]:
        yield rng.choice((line.upper(), line.lower(), line.title(), line.swapcase(), line[::-1], line.replace(" ", "")))


def code(rng):
    snippets = samples.CODE
    yield from snippets
    for snippet in snippets:
        yield snippet.replace("    ", "\t").replace("  ", "\t")
        yield snippet.replace("\n", "\r\n")
        yield "".join(" " * rng.randint(0, 12) + line + " " * rng.randint(0, 3) + "\n" for line in snippet.split("\n"))
        start = rng.randrange(len(snippet) // 2)
        yield snippet[start:start + rng.randint(5, 120)]
    yield "\n\n".join(snippets)


def scripts(rng):
    for sentences in samples.SCRIPTS.values():
        yield from sentences
        whole = " ".join(sentences)
        yield whole
        yield whole.replace(" ", "")
        yield unicodedata.normalize("NFD", whole)
        yield unicodedata.normalize("NFKC", whole).upper()
        yield "\n".join(sentences) + "\n"
        start = rng.randrange(len(whole) - 10)
        yield whole[start:start + rng.randint(1, 10)]
    every = [sentence for sentences in samples.SCRIPTS.values() for sentence in sentences]
    for _ in range(60):
        words = [rng.choice(rng.choice(every).split()) for _ in range(rng.randint(2, 30))]
        yield rng.choice((" ", "", ", ", "\n")).join(words)


def emoji(rng):
    yield from samples.EMOJI
    for _ in range(90):
        yield rng.choice(("", " ", "a", "!")).join(rng.choices(samples.EMOJI, k=rng.randint(1, 12)))
    for start in (0x1F600, 0x1F680, 0x2600, 0x1F900, 0x1FA70, 0x2190, 0x2500, 0x1F1E6):
        yield "".join(map(chr, range(start, start + 26)))


def combining(rng):
    marks = "".join(map(chr, range(0x0300, 0x0370)))
    bases = "aeiouAEIOUnNcCsS가각힣ЙёΩά字"
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        yield unicodedata.normalize(form, "Ångström Žižek naïve façade Việt Nam Ἀθῆναι Йошкар-Ола")
        yield unicodedata.normalize(form, "각 힣 배의 흘수선은 짐의 무게를 보여준다")
        yield unicodedata.normalize(form, "ﬁ ﬂ ℃ № ½ ² ① Ⅷ ㎏ ﷺ ｆｕｌｌ ﾊﾝｶｸ ſ K Å")
        yield unicodedata.normalize(form, "นํ้า เกื้อกูล कि क्षि র্কো ள் བོད་")
    for count in (1, 2, 3, 5, 10, 30, 31, 32, 60):
        yield rng.choice(bases) + "".join(rng.choices(marks, k=count))
    for _ in range(90):
        yield "".join(rng.choice(bases) + "".join(rng.choices(marks, k=rng.choice((0, 1, 1, 2, 4)))) + rng.choice(("", "", " "))
                      for _ in range(rng.randint(1, 15)))
    for _ in range(30):  # jamo, alone and composing
        yield "".join(chr(rng.choice((rng.randint(0x1100, 0x1112), rng.randint(0x1161, 0x1175), rng.randint(0x11A7, 0x11C2),
                                      rng.randint(0xAC00, 0xD7A3)))) for _ in range(rng.randint(1, 20)))
    yield marks
    for text in ("\u0301", " \u0301", "\n\u0301x", "1\u0301", ".\u0301a", "a\u200d\u0301", "\u0344", "\u0958", "\u2126\u212a\u212b", "\ufb1d\ufb4b",
                 "\U0001d15e", "\u0f73\u0f71", "\u1e9b\u0323", "A\u030a\u0301", "\u05d0\u05b7\u05bc", "\u0627\u0653", "\u09c7\u09be", "\U00011099\U000110ba"):
        yield text
        yield f"x{text}y {text}"


def controls(rng):
    for point in (*range(32), *range(127, 160), 0xAD, 0x061C, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
                  *range(0x2061, 0x2070), 0xFFF9, 0xFFFD, 0xE0001):
        yield rng.choice(("", "a", " ", "1")) + chr(point) * rng.choice((1, 1, 2, 5)) + rng.choice(("", "b", " ", "."))
    for _ in range(30):
        yield "".join(chr(rng.randrange(32)) for _ in range(rng.randint(2, 30)))
    yield "".join(map(chr, range(160)))


def literals(rng, specials):
    for text in specials:
        yield rng.choice((text, text * 2, f"{text} {text}", f"{text}\n{text}"))
        yield rng.choice(samples.ENGLISH)[:30] + rng.choice(("", " ", "\n", "  ")) + text + rng.choice(("", " ", "\n")) + "and so on"
        cut = rng.randint(1, len(text))
        yield rng.choice((text[:-1], text[1:], text.upper(), text.swapcase(), text[:cut] + " " + text[cut:], f'"{text}"', f"<{text}>",
                          text + text[:cut], text[:cut] + text, f"\u2581{text}", f" {text} ", f"'{text}'s", f"é{text}字"))
    for _ in range(80):
        yield "".join(rng.choice((rng.choice(specials), rng.choice(samples.ENGLISH)[:rng.randint(1, 20)], " ", "\n", "<|", "|>", "<", "[", "\n\n"))
                      for _ in range(rng.randint(2, 14)))


def contractions(rng):
    endings = ["s", "t", "re", "ve", "m", "ll", "d", "ſ", "S", "RE", "rE", "Re", "VE", "lL", "Ll", "LL", "vE", "D", "M", "T", "l", "r", "v", "x", "sx",
               "st", "red", "lll", "İ", "ı", "K", "st", "d7", "s's", "ſs", "'s", "s'", "ve'd"]
    for ending in endings:
        for before in ("they", "THEY", "They", " I", "1", "", "é", ".", "字", "a ", "\n", "'", "x\u0301", "’"):
            if rng.random() < .33:
                yield f"{before}'{ending}{rng.choice(('', ' x', 'x', '.', '9', chr(10)))}"
        yield f"I{chr(0x2019)}{ending} you'{ending}"
    yield " ".join(f"we'{ending}" for ending in endings)


def digits(rng):
    zeros = [48, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xBE6, 0xE50, 0xF20, 0x1040, 0x17E0, 0x1810, 0xFF10, 0x104A0, 0x1D7CE, 0x1E950, 0x1FBF0]
    for zero in zeros:
        for size in (1, 2, 3, 4, 7, 10):
            yield rng.choice(("", " ", "a", "-", "$", "字")) + "".join(chr(zero + rng.randrange(10)) for _ in range(size)) + rng.choice(("", " ", "px", ".", "%"))
    for text in ("3.14159265358979", "1,000,000", "0x1F600", "1e-9", "2026-11-15T18:06:00Z", "192.168.0.1:8080", "½⅓¼", "①②③⑩", "ⅠⅣⅫ", "²³¹⁰", "一二三〇",
                 "𝟘𝟙𝟚", "༳", "৴", "٪ ١٢٣", "1٢3४5", "12 345 678", "+49 30 123456", "00000000", "9" * 40, "1" * 257, "1 2 3 4", "a1b2c3", "１２３ＡＢＣ"):
        yield text
    for _ in range(30):
        yield "".join(rng.choice("0123456789.,-+eExX :/%$") for _ in range(rng.randint(3, 40)))


def mixed_case(rng):
    words = "load line ship hold mark deep water cargo HTTP Server JSON id URL iOS McDonald ßtraße ÉCOLE Ñandú ǅ ǈ ʰ ª ﬀ İstanbul ŒUVRE Ж ж Ω ω 字 Ⴀ ა Ა".split()
    for _ in range(150):
        parts = [rng.choice((str.lower, str.upper, str.title, str.swapcase, str))(rng.choice(words)) for _ in range(rng.randint(1, 7))]
        yield rng.choice(("", "", "_", "-", " ", "'s", "\u0301")).join(parts)
    for _ in range(60):
        yield "".join(rng.choice("aAbBzZéÉßǅǆʰªж Ж'字\u03011._/") for _ in range(rng.randint(2, 24)))


def bars(rng):
    for count in range(1, 18):
        yield rng.choice(("", "a", " ")) + "\u2581" * count + rng.choice(("", "b", " ", "\u2581 \u2581"))
    for _ in range(40):
        yield "".join(rng.choice("ab \u2581\n\t.") for _ in range(rng.randint(1, 25)))
    yield "<0x0A><0xE2> <0x20>\u2581<0x00>"


def random_points(rng):
    def point(low, high):
        while True:
            value = rng.randint(low, high)
            if not 0xD800 <= value <= 0xDFFF:
                return chr(value)
    planes = [(0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x10FFFF), (0x10000, 0x1FFFF), (0x20000, 0x3FFFF), (0xE000, 0xF8FF)]
    for _ in range(160):
        low, high = rng.choice(planes)
        yield "".join(point(low, high) for _ in range(rng.randint(1, 50)))
    for _ in range(120):
        yield "".join(point(*rng.choice(planes)) + rng.choice(("", "", " ", "a", "\n")) for _ in range(rng.randint(1, 40)))
    assigned = [chr(value) for value in range(0x20000) if unicodedata.category(chr(value)) not in ("Cn", "Cs", "Co")]
    for _ in range(120):
        yield "".join(rng.choices(assigned, k=rng.randint(1, 60)))
    for category in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Cf"):
        members = [one for one in assigned if unicodedata.category(one) == category]
        for size in (3, 30, 90):
            yield "".join(rng.choices(members, k=size))
        yield " ".join(rng.choices(members, k=12)) + "a"


def bytes_as_text(rng):
    for _ in range(60):
        data = rng.randbytes(rng.randint(1, 80))
        yield data.decode(rng.choice(("latin-1", "cp437")))
    for _ in range(20):
        yield rng.randbytes(rng.randint(8, 60)).decode("utf-16-le", "replace")
    for _ in range(20):
        yield rng.choice(list(samples.SCRIPTS.values()))[0].encode().decode("latin-1")


def periodic(rng):
    for unit in ("a", "ab", "abc", "aab", " ", "  ", "\n", "\t", " \n", "\r\n", "é", "字", "の", "🚢", "\u0301", "0", "10", "-", "=", ".", "'s", "x'", "aA", "Aa",
                 "ha", "the ", " the", "\u3000", "\u2581", "\0", "\u200d", "가", "ক", "a\u0301", "<", "<|", "e.", "_", "/", "\\"):
        for times in (rng.randint(2, 9), rng.randint(10, 70), rng.choice((100, 127, 128, 129, 255, 256, 300))):
            yield {"repeat": [unit, times]}


def large():
    lower = [chr(point) for point in range(97, 123)]
    everything = [sentence + " " for sentences in samples.SCRIPTS.values() for sentence in sentences]
    english = [line + end for line in samples.ENGLISH for end in (" ", "\n")]
    million = 1_000_000
    yield from ({"repeat": ["a", million]}, {"repeat": ["ab", 500_000]}, {"repeat": [" ", million]}, {"repeat": [" ", 9_999]}, {"repeat": ["\n", 100_000]})
    yield from ({"repeat": ["字", 30_000]}, {"repeat": ["\r\n\t ", 5_000]}, {"repeat": ["-", 50_000]}, {"repeat": ["7", 50_000]}, {"repeat": ["🚢", 20_000]})
    yield {"draw": [lower, 11, 300_000]}
    yield {"draw": [["a", "b"], 12, 60_000]}
    yield {"draw": [lower + [" "], 13, 200_000]}
    yield {"draw": [english, 14, 11_000]}
    yield {"draw": [everything, 15, 2_500]}
    yield {"draw": [[snippet + "\n\n" for snippet in samples.CODE], 16, 800]}
    yield {"draw": [[" ", "\n", "\t", "x", "\u3000"], 17, 30_000]}
    yield {"draw": [["<|", "|>", "endoftext", "im_start", " ", "a"], 18, 20_000]}
    yield {"draw": [["e", "\u0301", "a", "\u0323"], 19, 20_000]}
    yield {"join": [{"repeat": [" ", 4095]}, "x", {"repeat": ["y", 4097]}, "\n", {"repeat": [".", 8191]}, "字"]}
    # A piece that crosses 64 KiB, where a reader may change its stretch.
    yield {"join": [{"repeat": ["lo ", 21_845]}, {"draw": [lower, 20, 400]}, " end"]}
    yield {"join": [{"repeat": ["é", 32_767]}, "ab字", {"repeat": [" é", 2_000]}]}


def snapshots(root):
    """Documents and sources of this repository as they stand, in stretches of at most 6,000 characters."""
    for path in ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/rules.md", "docs/settings.md", "Makefile", "CMakeLists.txt", "tools/setup.py",
                 "src/count/bpe.cpp", "src/count/split/scan.hpp", "src/count/split/normalize.cpp", "src/base/settings/settings.cpp", "include/plimsoll/count.hpp", "data/assets.toml"):
        file = root / path
        if file.exists():
            text = file.read_text()
            for start in range(0, min(len(text), 18_000), 6_000):
                yield text[start:start + 6_000]


def build(specials, root):
    rng = random.Random(SEED)
    entries = ["", "a", " ", "\n", "\0"]
    for part in (prose(rng), code(rng), scripts(rng), whitespace(rng), emoji(rng), combining(rng), controls(rng), literals(rng, specials),
                 contractions(rng), digits(rng), mixed_case(rng), bars(rng), random_points(rng), bytes_as_text(rng), periodic(rng),
                 snapshots(root), large()):
        entries += part
    seen, unique = set(), []
    for entry in entries:
        key = str(entry)
        if key not in seen:
            seen.add(key)
            unique.append(entry)
    return unique


if __name__ == "__main__":
    sys.exit("run tools/make_vectors.py")
