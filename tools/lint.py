"""Checks layout, layers and likely mistakes.

  python3 tools/lint.py [format|layers|tidy]...   all three when none is named

clang-tidy reads a file again only when the file, a header of ours that it includes, its compile command or
.clang-tidy has changed since the file was last found clean; the cache folder of the user remembers that.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import check_layers

ROOT = Path(__file__).resolve().parent.parent
ASSETS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
CACHE = ASSETS / "tidy"
FOLDERS = ("include", "src", "apps", "bench", "tests")
FORMAT = "clang-format-16"
TIDY = str(ASSETS / "venv-tidy" / "bin" / "clang-tidy")


def our_files():
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                  if path.suffix in (".hpp", ".cpp"))


def check_format():
    files = our_files()
    done = subprocess.run([FORMAT, "--dry-run", "--Werror", "--ferror-limit=3", *map(str, files)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.replace(f"{ROOT}/", ""))
        print("format: `make format` mends it")
        return False
    print(f"format: {len(files)} files, 0 problems")
    return True


def mend_format():
    subprocess.run([FORMAT, "-i", *map(str, our_files())], check=True)
    return True


def our_includes(path, seen):
    """Adds the path and every file of ours that it includes, however deep."""
    if path in seen:
        return
    seen.add(path)
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)', path.read_text(errors="replace"), re.M):
        for base in (path.parent, ROOT, ROOT / "include", ROOT / "src", ROOT / "apps"):
            found = base / name
            if found.is_file():
                our_includes(found.resolve(), seen)
                break


def key_of(entry, version):
    """What the verdict on one file depends on, as one sum."""
    seen = set()
    our_includes(Path(entry["file"]), seen)
    total = hashlib.sha256(f"{version}\n{entry['command'].replace(str(ROOT), '.')}\n".encode())
    for path in [ROOT / ".clang-tidy", *sorted(seen)]:
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def command_entries():
    """Compile commands of our own files, and of those that compile a folder of them together: what set-up brought is
    its authors' business."""
    path = ROOT / "build" / "compile_commands.json"
    if not path.is_file():
        raise SystemExit(f"lint: {path.relative_to(ROOT)} is missing; `make build` makes it")
    entries = {}
    for entry in json.loads(path.read_text()):
        file = Path(entry["file"]).resolve()
        ours = any(file.is_relative_to(ROOT / folder) for folder in FOLDERS) or file.parent.name == "unity"
        if file.is_file() and ours:
            entries[file] = entry | {"file": str(file)}
    return list(entries.values())


def tidy_one(entry, key):
    # The commands are g++'s; clang need not know all of its warnings. A file that compiles a folder includes sources.
    done = subprocess.run([TIDY, "-p", str(ROOT / "build"), "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                           "--extra-arg=-Wno-shadow",
                           # Of libstdc++ within itself; g++ sees ours.
                           "--extra-arg=-Wno-deprecated-declarations", "--checks=-bugprone-suspicious-include", entry["file"]], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        (CACHE / key).touch()
        return ""
    return (done.stdout or done.stderr).replace(f"{ROOT}/", "").strip()


def check_tidy():
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.iterdir():
        if time.time() - old.stat().st_mtime > 60 * 86400:
            old.unlink()
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    work, clean = [], 0
    for entry in command_entries():
        key = key_of(entry, version)
        if (CACHE / key).exists():
            (CACHE / key).touch()
            clean += 1
        else:
            work.append((entry, key))
    bad = 0
    # The dearest first: tests with gtest take longest.
    work.sort(key=lambda item: -os.path.getsize(item[0]["file"]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {pool.submit(tidy_one, *item): item[0]["file"] for item in work}
        for number, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            file = Path(waiting[future]).relative_to(ROOT)
            text = future.result()
            if text:
                bad += 1
                print(text, flush=True)
            print(f"tidy: [{number}/{len(work)}] {file}{': problems' if text else ''}", flush=True)
    print(f"tidy: {clean + len(work)} files, {clean} known to be clean, {bad} with problems")
    return bad == 0 and clean + len(work) > 0


STEPS = {
    "format": check_format,
    "layers": lambda: check_layers.main([str(ROOT)]) == 0,
    "tidy": check_tidy,
    "mend": mend_format,
}


def main():
    names = sys.argv[1:] or ["format", "layers", "tidy"]
    for name in names:
        if name not in STEPS:
            raise SystemExit(f"lint: no step is called {shlex.quote(name)}; there are {', '.join(STEPS)}")
    return 0 if all([STEPS[name]() for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
