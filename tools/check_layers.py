"""Holds the table of rooms, and fails when an include breaks it.

  python3 tools/check_layers.py [ROOT]

A room includes itself and lower ranks. Rooms of equal rank are strangers. Adapters see the ports and base
alone, and not each other. Of adapters and gateway only apps sees both. Pure rooms do no I/O and read no
clock. The engine knows no HTTP and no field of a provider's format. docs/architecture.md gives the reasons.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

RANKS = {
    "include": 0,
    "base": 1,
    "count": 2,
    "window": 3,
    "strategy": 3,
    "search": 3,
    "retrieve": 3,
    "memory": 3,
    "budget": 3,
    "render": 3,
    "grounding": 3,
    "ledger": 3,
    "ingest": 3,
    "chat": 4,
    "models": 4,
    "library": 4,
    "conversation": 4,
    "adapters": 4,
    "engine": 5,
    "eval": 6,
    "gateway": 7,
    "config": 8,
    "apps": 9,
}
PURE = {"count", "window", "strategy", "budget", "render", "grounding", "ledger", "chat"}
MOST_HEADERS = 25

BEAST_ROOMS = {"gateway", "adapters"}
ASIO_ROOMS = BEAST_ROOMS | {"apps"}  # apps runs the io_context that it wires the adapters to
ASIO_FOR_PORTS = "boost/asio/awaitable.hpp"

# What reaches the outside; a pure room gets such things done by base, or gets values.
IO_HEADERS = re.compile(r"fstream|iostream|fcntl\.h|unistd\.h|netdb\.h|poll\.h|sys/(socket|mman|stat|epoll)\.h"
                        r"|(netinet|arpa)/.*")
IO_CALLS = re.compile(r"::now\s*\(|(?<![\w.>:])(?:std::)?(?:fopen|getenv|time)\s*\(")
# What belongs to adapters and the gateway, in code and comments of the engine: HTTP's words, and fields of providers' formats.
OF_HTTP = re.compile(r"status|header", re.I)
OF_PROVIDERS = re.compile(r"\b(?:choices|completion_tokens|delta|done_reason|eval_count|keep_alive|num_ctx|num_predict|prompt_eval_count"
                          r"|prompt_tokens|source_nodes|stop_reason|stop_sequences|stream_options|tool_use)\b")
NOT_SHIPPED = re.compile(r"_(test|bench|fuzz)\.[ch]pp$|^testing")

# Comments and literals, so that neither is taken for code. Raw strings first: they may hold the others.
QUIET = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


@dataclass(frozen=True)
class Place:
    """A room, and within `adapters` which adapter."""

    room: str
    adapter: str = ""

    def __str__(self):
        return f"{self.room}/{self.adapter}" if self.adapter else self.room


def place_of(parts):
    """The place of a path below the root, or None if it is in no room."""
    if parts[0] in ("include", "apps"):
        return Place(parts[0])
    if parts[0] == "src" and len(parts) > 2:
        return Place(parts[1], parts[2] if parts[1] == "adapters" and len(parts) > 3 else "")
    return None


def without_comments(text):
    """The text with comments blanked, its lines kept. Literals stay: an include's name is one."""
    return QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match[0]) if match[0][0] == "/" else match[0], text)


def without_literals(text):
    return QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def included_place(root, file, name):
    """The place that an include leads to, or None if it is not ours."""
    for base in (file.parent, root / "include", root / "src", root / "apps", root):
        path = (base / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            place = place_of(path.relative_to(root).parts)
            if place:
                return place
    # A file that is not there still names its room.
    parts = name.split("/")
    if parts[0] in ("plimsoll", "include"):
        return Place("include")
    if parts[0] in RANKS and len(parts) > 1:
        return place_of(["src", *parts])
    return None


def objection(here, there):
    """Why `here` may not include `there`, or an empty text."""
    if here == there:
        return ""
    if there.room not in RANKS:
        return "that folder is in no room of the table"
    mine, theirs = RANKS[here.room], RANKS[there.room]
    if here.room == "adapters" and there.room not in ("include", "base"):
        return "adapters see the ports and base alone"
    if here.room == "gateway" and there.room == "adapters":
        return "only apps sees both an adapter and the gateway"
    if theirs > mine:
        return "includes point down"
    if here.room != there.room and theirs == mine:
        return "rooms of equal rank are strangers"
    return ""


def outside_objection(room, name, shipped):
    """Why a room may not include a header that is not ours, or an empty text."""
    if name.startswith("boost/"):
        if room in PURE and shipped:
            return f"{room} is pure: no Boost"
        if name.startswith("boost/beast") and room not in BEAST_ROOMS:
            return "Beast stays in gateway and adapters"
        if name.startswith("boost/asio") and shipped and room not in ASIO_ROOMS and name != ASIO_FOR_PORTS:
            return f"Asio stays in gateway, adapters and apps; elsewhere only <{ASIO_FOR_PORTS}>"
    if room in PURE and shipped and IO_HEADERS.fullmatch(name):
        return f"{room} is pure: no I/O"
    return ""


def check_file(root, file, problems, known):
    where = file.relative_to(root)
    here = place_of(where.parts)
    if here.room not in RANKS:
        return  # said once, for the folder
    shipped = not NOT_SHIPPED.search(file.name)
    text = without_comments(file.read_text(errors="replace"))
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        name = match[2]
        there = included_place(root, file, name)
        if there:
            why = objection(here, there)
            if why:
                rank = f"rank {RANKS[there.room]}" if there.room in RANKS else "no rank"
                problems.append(f"{where}:{line}: {here} (rank {RANKS[here.room]}) may not include "
                                f"{there} ({rank}): {why}")
            elif there.room != here.room and there.room != "include":
                known.setdefault(here.room, {}).setdefault(there.room, f"{where}:{line}")
        else:
            why = outside_objection(here.room, name, shipped)
            if why:
                problems.append(f"{where}:{line}: {here} may not include <{name}>: {why}")
    if here.room == "engine" and shipped:
        whole = file.read_text(errors="replace")
        for kind, words in (("HTTP", OF_HTTP), ("a provider's format", OF_PROVIDERS)):
            for match in words.finditer(whole):
                line = whole.count("\n", 0, match.start()) + 1
                problems.append(f"{where}:{line}: the engine does not know {kind}: `{match[0]}`")
    if here.room in PURE and shipped:
        code = without_literals(text)
        for match in IO_CALLS.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            problems.append(f"{where}:{line}: {here} is pure: `{match[0].strip()}...` reads a clock or the system")


def check_cmake(root, known, problems):
    """A room's CMakeLists.txt lists every room that its files include."""
    for room, others in sorted(known.items()):
        listing = root / "src" / room / "CMakeLists.txt"
        if room in ("apps", "adapters") or not listing.is_file():
            continue
        listed = set(re.findall(r"plimsoll::(\w+)", re.sub(r"#[^\n]*", "", listing.read_text())))
        for other, where in sorted(others.items()):
            if other not in listed:
                problems.append(f"{where}: {room} includes {other}, but {listing.relative_to(root)} does not list "
                                f"plimsoll::{other} in DEPENDS")


def check(root):
    """Everything wrong below the root, a line each."""
    root = Path(root).resolve()
    problems, known = [], {}
    for folder in sorted((root / "src").iterdir()) if (root / "src").is_dir() else []:
        if folder.is_dir() and folder.name not in RANKS:
            problems.append(f"src/{folder.name}: this folder is in no room; add it to RANKS in tools/check_layers.py "
                            "and to docs/architecture.md")
    headers = sorted((root / "include").rglob("*.hpp"))
    if len(headers) > MOST_HEADERS:
        problems.append(f"include/plimsoll: {len(headers)} headers, at most {MOST_HEADERS}: what only the rooms use "
                        "belongs beside its .cpp")
    files = [path for top in ("include", "src", "apps") for path in sorted((root / top).rglob("*"))
             if path.suffix in (".hpp", ".cpp", ".h", ".inc")]
    for file in files:
        if place_of(file.relative_to(root).parts) is None:
            problems.append(f"{file.relative_to(root)}: this file is in no room")
        else:
            check_file(root, file, problems, known)
    check_cmake(root, known, problems)
    return problems, len(files)


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parent.parent)
    problems, files = check(root)
    for problem in problems:
        print(problem)
    if not files:
        print(f"{root}: no source files found")
    print(f"layers: {files} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
