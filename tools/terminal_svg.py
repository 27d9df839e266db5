"""Draws what commands print in a terminal as an SVG picture.

  python3 tools/terminal_svg.py [-o FILE] [-c COLUMNS] COMMAND...

Each command runs in bash under a pseudo-terminal of that width, with build/ on the PATH, so that it prints in
colour as it does for a person. The picture shows the commands as they were given and all that they printed.
docs/terminal.svg is made by:

  python3 tools/terminal_svg.py -o docs/terminal.svg -c 88 'plimsoll count --model gpt-4 docs/[acmr]*.md' \\
    "echo 'She may load 42,195 tonnes: to her Plimsoll line, not one naïve crate more.' |
    plimsoll count --model gpt-4o --show"

docs/plan.svg by:

  python3 tools/terminal_svg.py -o docs/plan.svg -c 88 'plimsoll plan examples/conversation.json --window 1300'
"""

import argparse
import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 60

CELL, LINE, SIZE, PAD, BAR = 8.4, 20, 14, 18, 38  # pixels: a column, a row, the font, the margin, the title
PAPER, INK = "#10151c", "#d6dde6"
BASIC = ("#10151c #f47067 #57ab5a #c69026 #539bf5 #b083f0 #39c5cf #adbac7 "
         "#768390 #ff938a #6bc46d #daaa3f #6cb6ff #dcbdfb #56d4dd #ffffff").split()
# Glyphs that fonts draw with gaps: as (left, top, right, bottom), in eighths of a cell.
BLOCKS = {"█": (0, 0, 8, 8), "─": (0, 3.8, 8, 4.2)} | {c: (0, 0, i, 8) for i, c in enumerate("▏▎▍▌▋▊▉", 1)}


@dataclass(frozen=True)
class Style:
    ink: str = INK
    paper: str = ""
    bold: bool = False


@dataclass
class Run:
    """Neighbours in one row that look alike; `cells` is their width in columns."""
    column: int
    text: str
    cells: int
    style: Style


def colour(number):
    """One of the 256 colours of a terminal."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#" + f"{8 + (number - 232) * 10:02x}" * 3
    steps = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#" + "".join(f"{steps[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6))


def restyled(style, codes):
    """The style after ESC [ codes m."""
    rest = [int(code or 0) for code in codes.split(";")]
    while rest:
        code = rest.pop(0)
        if code == 0:
            style = Style()
        elif code == 1:
            style = replace(style, bold=True)
        elif code == 22:
            style = replace(style, bold=False)
        elif code in (38, 48) and rest[:1] == [5]:
            part = {"ink" if code == 38 else "paper": colour(rest[1])}
            style, rest = replace(style, **part), rest[2:]
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = replace(style, ink=colour(code - 30 if code < 90 else code - 82))
        elif code == 39:
            style = replace(style, ink=INK)
        elif code == 49:
            style = replace(style, paper="")
    return style


def width_of(character):
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def rows_of(output, columns):
    """Rows of runs, wrapped as a terminal of this width wraps them."""
    rows, column, style = [[]], 0, Style()
    for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", output.replace("\r\n", "\n").rstrip("\n")):
        if part.startswith("\x1b["):
            if part.endswith("m"):
                style = restyled(style, part[2:-1])
            continue
        for character in part:
            if character == "\n":
                rows.append([])
                column = 0
                continue
            if character < " ":
                continue
            width = width_of(character)
            if column + width > columns:
                rows.append([])
                column = 0
            row = rows[-1]
            # A wide character has a run of its own: fonts disagree on how wide it is.
            joins = row and row[-1].style == style and width < 2 and row[-1].cells == len(row[-1].text)
            if joins or (row and width == 0):
                row[-1].text += character
                row[-1].cells += width
            else:
                row.append(Run(column, character, width, style))
            column += width
    return rows


def printed_by(command, columns, env):
    """What a command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen(["bash", "-c", command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError as error:  # how Linux says that the other side has closed
            if error.errno != errno.EIO:
                raise
            break
        if not part:
            break
        output += part
    os.close(ours)
    status = child.wait(SECONDS)
    if status != 0:
        sys.exit(f"terminal_svg: '{command}' ended with {status}:\n{output.decode(errors='replace')}")
    return output.decode(errors="replace")


def drawn(run, top):
    """One run as SVG: its paper, its block glyphs as rectangles, and its text."""
    left, out = PAD + run.column * CELL, []
    if run.style.paper:
        out.append(f'<rect x="{left:.1f}" y="{top + 1}" width="{run.cells * CELL:.1f}" height="{LINE - 2}" rx="2" fill="{run.style.paper}"/>')
    at, text = 0, ""
    for character in run.text:
        if character in BLOCKS:
            x0, y0, x1, y1 = BLOCKS[character]
            x, y = left + (at + x0 / 8) * CELL, top + 3 + y0 / 8 * (LINE - 6)
            out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{(x1 - x0) / 8 * CELL + 0.1:.1f}" height="{(y1 - y0) / 8 * (LINE - 6):.1f}" '
                       f'fill="{run.style.ink}"/>')
            character = " "
        text += character
        at += width_of(character)
    # Words that stand apart get places of their own: SVG folds spaces, and no font is exactly as wide as our columns.
    bold = ' font-weight="bold"' if run.style.bold else ""
    for words in re.finditer(r"[^ ]+(?: [^ ]+)*", text):
        x = left + CELL * sum(map(width_of, text[:words.start()]))
        cells = sum(map(width_of, words[0]))
        out.append(f'<text x="{x:.1f}" y="{top + 15}" textLength="{cells * CELL:.1f}" lengthAdjust="spacingAndGlyphs" '
                   f'fill="{run.style.ink}"{bold}>{escape(words[0])}</text>')
    return out


def picture(shots, columns):
    """`shots`: pairs of a command and what it printed."""
    body, top = [], BAR + 10
    for number, (command, output) in enumerate(shots):
        if number > 0:
            top += LINE // 2
        prompt = f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m"
        for row in rows_of(prompt, columns) + rows_of(output, columns):
            for run in row:
                body += drawn(run, top)
            top += LINE
    width, height = round(columns * CELL + 2 * PAD), top + 14
    lights = "".join(f'<circle cx="{22 + 20 * i}" cy="{BAR // 2}" r="6" fill="{fill}"/>' for i, fill in enumerate(("#f47067", "#daaa3f", "#57ab5a")))
    label = escape("; ".join(command for command, _ in shots), {'"': "&quot;"})
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">',
        f'<rect width="{width}" height="{height}" rx="9" fill="{PAPER}" stroke="#2d333b"/>',
        f'<path d="M0.5 {BAR}h{width - 1}" stroke="#2d333b"/>{lights}',
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{SIZE}">',
        *body, "</g>", "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="Draws what commands print in a terminal as an SVG picture.")
    parser.add_argument("-o", "--output", type=Path, help="file to write; standard output if not given")
    parser.add_argument("-c", "--columns", type=int, default=90, help="width of the terminal (%(default)s)")
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    options = parser.parse_args()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PLIMSOLL_", "NO_COLOR"))}
    env |= {"PATH": f"{ROOT / 'build'}:{env.get('PATH', '')}", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    svg = picture([(command, printed_by(command, options.columns, env)) for command in options.commands], options.columns)
    if options.output:
        options.output.write_text(svg)
    else:
        print(svg, end="")


if __name__ == "__main__":
    main()
