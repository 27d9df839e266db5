"""Builds a real Ollama for `make test-live`, once, into the cache: python3 tools/build_ollama.py

Prints where the program is. The module comes by name through Go's client and must have the sum below. Its zip lacks
some C++ headers of llama.cpp, which come from the source package of llama-cpp-python, checked by SHA-256. Go alone builds
for the oldest processor of its kind, which reads ten tokens a second: what this one has is switched on.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"

MODULE = "github.com/ollama/ollama"
VERSION = "v0.17.4"
SUM = "h1:X3KNm9x4BlHqk/AXMGtC7pBAFd46nmJmy8yDaBZLo9s="
HEADERS = "llama-cpp-python"
HEADERS_VERSION = "0.3.36"
HEADERS_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
HEADER_FOLDERS = ("vendor", "vendor/stb", "vendor/miniaudio")
FAST = {"avx2": "-mavx2", "fma": "-mfma", "f16c": "-mf16c", "bmi2": "-mbmi2"}  # by the name in /proc/cpuinfo


def command(name, otherwise):
    """A program of the environment that `tools/setup live` made, or else of this machine."""
    ours = CACHE / "venv-live" / "bin" / name
    return str(ours) if ours.exists() else otherwise


def instructions():
    """The compiler's switches for all of FAST, or none of them."""
    told = Path("/proc/cpuinfo").read_text(errors="replace").split()
    return list(FAST.values()) if set(FAST) <= set(told) else []


def headers(folder):
    """The vendor folder of llama.cpp, unpacked below `folder`."""
    subprocess.run([command("python", sys.executable), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                    "--dest", folder, f"{HEADERS}=={HEADERS_VERSION}"], check=True)
    found = sorted(Path(folder).glob("llama_cpp_python-*.tar.gz"))
    if not found:
        sys.exit(f"{HEADERS} {HEADERS_VERSION} could not be fetched")
    got = hashlib.sha256(found[0].read_bytes()).hexdigest()
    if got != HEADERS_SHA256:
        sys.exit(f"{found[0].name} has the sum {got}, not {HEADERS_SHA256}")
    with tarfile.open(found[0]) as archive:
        wanted = [member for member in archive if "/vendor/llama.cpp/vendor/" in member.name]
        archive.extractall(folder, members=wanted, filter="data")
    return next(Path(folder).glob("*/vendor/llama.cpp"))


def main():
    fast = instructions()
    program = CACHE / f"ollama-{VERSION}{'-avx2' if fast else ''}" / "ollama"
    if program.exists():
        print(program)
        return
    go = command("go", shutil.which("go"))
    if not go:
        sys.exit("Go is needed to build Ollama: `tools/setup live` brings it")
    fetched = json.loads(subprocess.run([go, "mod", "download", "-json", f"{MODULE}@{VERSION}"], check=True,
                                        capture_output=True, text=True, cwd="/").stdout)
    if fetched["Sum"] != SUM:
        sys.exit(f"{MODULE} {VERSION} has the sum {fetched['Sum']}, not {SUM}")
    with tempfile.TemporaryDirectory(prefix="ollama-build-") as folder:
        source = Path(folder) / "ollama"
        shutil.copytree(fetched["Dir"], source)
        subprocess.run(["chmod", "-R", "u+w", source], check=True)
        vendor = headers(folder)
        flags = " ".join(["-O3", "-g0", *fast])
        includes = " ".join(f"-I{vendor / name}" for name in HEADER_FOLDERS)
        print("building Ollama, about 8 minutes of processor time", file=sys.stderr, flush=True)
        subprocess.run([go, "build", "-trimpath", "-o", "ollama", "."], check=True, cwd=source,
                       env=os.environ | {"CGO_CFLAGS": flags, "CGO_CXXFLAGS": f"{flags} {includes}", "CGO_ENABLED": "1",
                                         "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"})
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source / "ollama", program)
    print(program)


main()
