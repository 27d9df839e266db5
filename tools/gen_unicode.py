#!/usr/bin/env python3
"""Writes the tables of code points that src/count stands on.

unicode_ranges.inc: the general category of every code point, as the references see it.

The tables of Unicode grow each year, and a code point that one version calls a letter was unassigned
before: a pre-tokeniser cuts it differently. So the categories are not taken from a database of some
version but asked of tiktoken itself, by patterns of one category each.

normal_ranges.inc: the code points that a normal form may change or reorder; a text without any is normal.

Run by the Python that has the references (tools/setup refs): gen_unicode.py src/count
"""
import sys
import unicodedata
from pathlib import Path

import tiktoken
import tokenizers

CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn").split()
ALL = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
NEWEST = [c for c in ALL if unicodedata.decomposition(c) and ord(c) >= 0x11900]
BYTES = {bytes([i]): i for i in range(256)}


def matching(pattern):
    """The code points that match, found by what is left of a text of all of them."""
    encoding = tiktoken.Encoding(pattern, pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    return encoding.decode(encoding.encode_ordinary(ALL))


def categories():
    category_of = {}
    for category in CATEGORIES:
        for character in matching(r"\p{%s}" % category):
            category_of[ord(character)] = category.lower()
    for character in matching(r"\s"):
        if category_of[ord(character)] == "cc":
            category_of[ord(character)] = "cc_space"
    return [category_of.get(c, "cn") for c in range(0x110000)]


def is_newer(character, nfc):
    """Whether Hugging Face's NFC, whose tables are of 2017, neither reorders, composes nor decomposes what
    today's does. A mark of class 1 after it and one of class 240 before it show the order."""
    pairs = [unicodedata.decomposition(other).split() for other in NEWEST]
    composing = [chr(int(pair[0], 16)) + character for pair in pairs if pair[1:] == [f"{ord(character):04X}"]]
    probes = [character, character + "\u0334", "\u0345" + character, *composing]
    return any(nfc(probe) != unicodedata.normalize("NFC", probe) for probe in probes)


def unstable():
    """1: NFC may change it or what stands before it; 2: NFKC may; 3: NFKC may, and NFC does not know it yet."""
    second = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for c in ALL:
        parts = unicodedata.decomposition(c).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second.add(int(parts[1], 16))
    nfc = tokenizers.normalizers.NFC().normalize_str
    result = [0] * 0x110000
    for c in ALL:
        if unicodedata.combining(c) or ord(c) in second or unicodedata.normalize("NFC", c) != c:
            result[ord(c)] = 3 if is_newer(c, nfc) else 1
        elif unicodedata.normalize("NFKC", c) != c:
            result[ord(c)] = 2
    return result


def write(path, note, values):
    lines = ["// Made by tools/gen_unicode.py; " + note]
    row = []
    for code_point, value in enumerate(values):
        if code_point and value == values[code_point - 1]:
            continue
        row.append("{0x%x,%s}," % (code_point, value))
        if len(row) == 8:
            lines.append("".join(row))
            row = []
    lines.append("".join(row))
    path.write_text("\n".join(lines).rstrip() + "\n")


def main():
    folder = Path(sys.argv[1])
    write(folder / "unicode_ranges.inc", "first code point of each range of one general category.", categories())
    write(folder / "normal_ranges.inc", "first code point of each range: 1 not stable under NFC, 2 not under NFKC, "
          "3 not under NFKC but inert under NFC.", unstable())


main()
