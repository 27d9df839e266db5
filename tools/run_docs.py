"""Runs the commands that the documents show and compares what they print.

  python3 tools/run_docs.py [FILE.md]...     README.md, CONTRIBUTING.md and docs/ when none is named

  ```console      `$ ` begins a command, `> ` goes on with it; the lines below are what it prints. `...` stands
                  for anything within a line, alone on a line for any lines. `[exit 2]` as the last line is the
                  exit status, 0 if not given.
  ```sh           a script; must end with 0, its output is not compared.
  ```sh skip      shown only: what needs root, minutes or a server.

The blocks of one document run in order, in a scratch folder of its own that holds copies of the documents, with
build/ on the PATH.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300  # for one block; far more than any needs
SHELLS = ("sh", "bash", "shell")
MARK = "\x01"  # between the outputs of two commands; no program of ours prints it


class DocsError(Exception):
    """A block that cannot be read."""


@dataclass
class Command:
    line: int
    text: str
    expected: list[str] = field(default_factory=list)
    status: int = 0


@dataclass
class Block:
    line: int
    kind: str  # console, sh or skip
    commands: list[Command]


def blocks_of(path):
    """The blocks of one document that show commands."""
    blocks, lines, number = [], path.read_text().splitlines(), 0
    while number < len(lines):
        fence = re.match(r"(\s*)(`{3,}|~{3,})\s*(.*)$", lines[number])
        number += 1
        if not fence:
            continue
        start, body = number, []
        while number < len(lines) and lines[number].strip() != fence[2]:
            body.append(lines[number].removeprefix(fence[1]))
            number += 1
        if number == len(lines):
            raise DocsError(f"{path.name}:{start}: this block is not closed")
        number += 1
        words = fence[3].split()
        if not words or words[0] not in ("console", *SHELLS):
            continue
        if words[0] == "console":
            blocks.append(Block(start, "console", console_commands(path, start, body)))
        elif words[1:] == ["skip"]:
            blocks.append(Block(start, "skip", []))
        elif words[1:]:
            raise DocsError(f"{path.name}:{start}: '{fence[3]}' is neither `sh` nor `sh skip`")
        else:
            blocks.append(Block(start, "sh", [Command(start, "\n".join(body))]))
    return blocks


def console_commands(path, start, body):
    commands = []
    for offset, line in enumerate(body, 1):
        if line.startswith("$ "):
            commands.append(Command(start + offset, line[2:]))
        elif not commands:
            raise DocsError(f"{path.name}:{start + offset}: a console block begins with a `$ ` line")
        elif line.startswith("> ") and not commands[-1].expected:
            commands[-1].text += "\n" + line[2:]
        elif status := re.fullmatch(r"\[exit (\d+)\]", line):
            commands[-1].status = int(status[1])
        else:
            commands[-1].expected.append(line.rstrip())
    return commands


def matches(expected, actual):
    """Whether the lines printed are those shown."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def run_block(block, folder, env):
    """Runs one block in one shell; gives a list of (command, status, lines printed)."""
    script = "".join(f"{{ {command.text}\n}} 2>&1\nprintf '{MARK}%d{MARK}' $?\n" for command in block.commands)
    try:
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [(block.commands[0], -1, [f"took more than {SECONDS} s"])]
    text = re.sub(r"\x1b\[[0-9;]*m", "", (done.stdout + done.stderr).decode(errors="replace"))
    parts = text.split(MARK)
    results = []
    for number, command in enumerate(block.commands):
        output, status = (parts[2 * number:2 * number + 2] + ["", ""])[:2]
        results.append((command, int(status) if status.isdigit() else done.returncode or -1,
                        [line.rstrip() for line in output.splitlines()]))
    return results


def environment(folder):
    """The user's own, less what would make the outcome depend on who runs it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return env | {"PATH": f"{ROOT / 'build'}:{env.get('PATH', '')}", "XDG_CACHE_HOME": cache, "HOME": str(folder),
                  "XDG_CONFIG_HOME": str(folder / ".config"), "XDG_DATA_HOME": str(folder / ".local/share"),
                  "COLUMNS": "100", "LC_ALL": "C.UTF-8"}


def fill(folder):
    """What the commands find: the documents, and build/."""
    for path in ROOT.glob("*.md"):
        shutil.copy(path, folder)
    for name in ("docs", "data"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
    (folder / "build").symlink_to(ROOT / "build")


def check(path):
    """(how many commands were run, what is wrong with them) for one document."""
    problems, ran = [], 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-docs-") as scratch:
        folder = Path(scratch)
        fill(folder)
        for block in blocks_of(path):
            if block.kind == "skip":
                continue
            for command, status, actual in run_block(block, folder, environment(folder)):
                ran += 1
                shown = command.text.replace("\n", "\n    > ")
                where = f"{path.name}:{command.line}:\n    $ {shown}\n"
                printed = "".join(f"    {line}\n" for line in actual[:60])
                if status != command.status:
                    problems.append(f"{where}  ended with {status}, not {command.status}. It printed:\n{printed}")
                elif block.kind == "console" and not matches(command.expected, actual):
                    wanted = "".join(f"    {line}\n" for line in command.expected)
                    problems.append(f"{where}  shown:\n{wanted}  printed:\n{printed}")
    return ran, problems


def documents():
    return [path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
            if path.is_file()]


def main():
    total, bad = 0, 0
    for path in [Path(name) for name in sys.argv[1:]] or documents():
        try:
            ran, problems = check(path)
        except DocsError as error:
            ran, problems = 0, [str(error)]
        total += ran
        bad += len(problems)
        for problem in problems:
            print(problem)
    print(f"docs: {total} commands run, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
