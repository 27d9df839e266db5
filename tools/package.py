"""Makes the release tarball from a build: `make package`.

It holds the program, its data, the libraries that a plain Debian lacks, the man page, completions for shells, a systemd unit
and the licences. docs/adr/0014 says why the libraries are shipped. Nothing is downloaded: set-up has filled the cache.
"""

import argparse
import gzip
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"

# In every Debian: glibc, and what apt itself needs. Everything else is shipped.
BASE = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+)\.so.*")
# What the program reads at run time.
ASSETS = ("onnxruntime", "all-minilm-l6-v2", "smollm2")
# Contents under these terms may be passed on with their notice. Others are left out.
FREE = ("MIT", "Apache-2.0", "BSD")
DEBIAN_12_GLIBC = (2, 36)


class PackageError(Exception):
    """Something that the user can act on; the text says what."""


def output_of(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def libraries_of(program):
    """Pairs (name, path) of the libraries that the program loads and a plain Debian lacks."""
    found = []
    for line in output_of("ldd", program).splitlines():
        match = re.match(r"\s*(\S+) => (\S+)", line)
        if match and not BASE.fullmatch(match[1]):
            if match[2] == "not":
                raise PackageError(f"{program} needs {match[1]}, which is not on this machine")
            found.append((match[1], Path(match[2]).resolve()))
    return found


def owner_of(library):
    """The Debian package with its version that a library came from, or nothing."""
    for path in (str(library), str(library).removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            name = done.stdout.split(": ")[0].split(",")[0]
            return name.split(":")[0], output_of("dpkg-query", "-W", "-f", "${Version}", name)
    return None


def newest_glibc(files):
    """The newest version of glibc that these files ask for."""
    versions = [tuple(map(int, version.split("."))) for file in files
                for version in re.findall(r"GLIBC_(\d+\.\d+)", output_of("objdump", "-T", file))]
    return max(versions)


def copy_libraries(program, folder, licences):
    """Copies the libraries, and returns what they are for the README."""
    folder.mkdir(parents=True)
    lines = []
    for name, path in libraries_of(program):
        shutil.copy(path, folder / name)
        (folder / name).chmod(0o644)
        owner = owner_of(path)
        if not owner:
            raise PackageError(f"{path} belongs to no Debian package, so its licence is not known")
        package, version = owner
        lines.append(f"| `{name}` | {package} {version} |")
        copyright_file = Path("/usr/share/doc") / package / "copyright"
        if not copyright_file.exists():
            raise PackageError(f"{copyright_file} is missing, so the licence of {name} is not known")
        shutil.copy(copyright_file, licences / f"{package}.txt")
    return sorted(lines)


def copy_data(folder):
    """Copies assets and compiled tokenizers. Returns lines for the licence file: what is here, and what was left out."""
    with open(ROOT / "data" / "assets.toml", "rb") as file:
        assets = tomllib.load(file)["asset"]
    here, left_out = [], []
    for asset in assets:
        if asset.get("machine", platform.machine()) != platform.machine():
            continue
        is_tokenizer = asset["kind"] == "tokenizer"
        if not is_tokenizer and asset["name"] not in ASSETS:
            continue
        line = f"{asset['name']}: {asset['upstream']}, from {asset['registry']} {asset['package']} {asset['version']}"
        if not asset["upstream"].startswith(FREE):
            left_out.append(line)
            continue
        here.append(line)
        if asset["name"] in ASSETS:
            source = CACHE / "assets" / asset["name"]
            if not source.is_dir():
                raise PackageError(f"{source} is missing; run `tools/setup assets`")
            shutil.copytree(source, folder / "assets" / asset["name"])
        if is_tokenizer:
            name = f"{asset['name']}-{asset['files'][0]['sha256'][:12]}.ptok"
            if not (CACHE / "tokenizers" / name).exists():
                raise PackageError(f"{CACHE / 'tokenizers' / name} is missing; run `plimsoll tokenizers --compile`")
            (folder / "compiled-tokenizers").mkdir(parents=True, exist_ok=True)
            shutil.copy(CACHE / "tokenizers" / name, folder / "compiled-tokenizers" / name)
    shutil.copy(CACHE / "assets" / "llama.cpp" / "LICENSE", folder / "LICENSE.llama.cpp")
    return here, left_out


def write_tar(stage, target, level, time):
    """The same input gives the same bytes: sorted, owned by root, with one time."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = time
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry
    part = target.with_name(f".{target.name}.part")
    with open(part, "wb") as raw, gzip.GzipFile("", "wb", level, raw, mtime=time) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted([stage, *stage.rglob("*")]):
            archive.add(path, path.relative_to(stage.parent), recursive=False, filter=plain)
    os.replace(part, target)


def commit_time():
    done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(done.stdout.strip() or 0)


def make_package(build, into, level):
    program = build / "plimsoll"
    if not program.exists():
        raise PackageError(f"{program} is missing; run `make build`")
    version = output_of(program, "--version").splitlines()[0].split()[1]
    name = f"plimsoll-{version}-linux-{platform.machine()}"
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".stage-", dir=into) as folder:
        stage = Path(folder) / name
        subprocess.run(["cmake", "--install", build, "--prefix", stage, "--component", "program", "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        licences = stage / "share" / "doc" / "plimsoll" / "licences"
        licences.mkdir(parents=True)
        shutil.copy(ROOT / "LICENSE", stage / "LICENSE")
        libraries = copy_libraries(program, stage / "lib" / "plimsoll", licences)
        here, left_out = copy_data(stage / "share" / "plimsoll")
        shutil.move(stage / "share" / "plimsoll" / "LICENSE.llama.cpp", licences / "llama.cpp.txt")
        (licences / "data.txt").write_text("Tokenizers and models in this package:\n  " + "\n  ".join(here) +
                                           "\n\nLeft out because of their terms:\n  " + "\n  ".join(left_out) + "\n")
        glibc = newest_glibc([stage / "bin" / "plimsoll", *(stage / "lib" / "plimsoll").iterdir()])
        if glibc > DEBIAN_12_GLIBC:
            print(f"package: built on a newer system than Debian 12: it needs glibc {glibc[0]}.{glibc[1]}", file=sys.stderr)
        text = (ROOT / "deploy" / "release.md").read_text()
        (stage / "README.md").write_text(text.replace("@VERSION@", version).replace("@NAME@", name)
                                         .replace("@GLIBC@", f"{glibc[0]}.{glibc[1]}").replace("@LIBRARIES@", "\n".join(libraries)))
        target = into / f"{name}.tar.gz"
        write_tar(stage, target, level, commit_time())
    return target


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tools/package.py", description="Makes the release tarball from a build.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build (default: build)")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "package", help="folder of the tarball (default: build/package)")
    parser.add_argument("--level", type=int, default=6, help="compression from 1, quick, to 9, small (default: 6)")
    options = parser.parse_args(arguments)
    target = make_package(options.build.resolve(), options.into.resolve(), options.level)
    print(f"{target}  {target.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PackageError as error:
        print(f"package: {error}", file=sys.stderr)
        sys.exit(1)
