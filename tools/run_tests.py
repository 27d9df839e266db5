"""Runs the tests a step at a time and adds them up.

  python3 tools/run_tests.py quick | full | STEP...

Each step prints a line; its whole output is in build/logs/<step>.log and is shown when it fails. The last line
is `N passed, N failed`, and the exit status is 1 if anything failed. build/plimsoll must be there (`make build`).
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
CORES = str(os.cpu_count() or 1)
# Test files at a time. They wait more than they compute: for servers to start, for time limits and for upstreams.
FILES_AT_ONCE = int(os.environ.get("TEST_FILES_AT_ONCE") or 2 * int(CORES))
# These take longest, so they start first.
FIRST = ("test_embedded_suite.py", "test_strategies.py", "test_memory_budget.py", "test_embedded.py")
# These have many threads at the same state; the others send one request after the other. Only these run under ThreadSanitizer.
SHARING = ("test_budgets.py", "test_chat_message.py", "test_client_leaves.py", "test_console.py", "test_evaluation.py",
           "test_fairness.py", "test_faults.py", "test_keys.py", "test_memory.py", "test_memory_budget.py", "test_reload.py",
           "test_spans.py", "test_upload.py")
# Files whose tests compare durations run one by one, after the others.
ALONE = ("test_fairness.py", "test_client_leaves.py")

SANITIZERS = {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "detect_stack_use_after_return=1",
              "TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:suppressions={ROOT}/tools/tsan_suppressions.txt"}


class Failed(Exception):
    """A step could not be done; its log says why."""


class Step:
    """Runs the commands of one step into one log, and counts what passed and failed."""

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = 0
        self.log = LOGS / f"{name}.log"

    def run(self, command, env=None, check=True):
        with open(self.log, "a+", errors="replace") as log:
            print("$", *command, file=log, flush=True)
            start = log.tell()
            done = subprocess.run([str(part) for part in command], cwd=ROOT, env=os.environ | (env or {}),
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False)
            log.seek(start)
            output = log.read()
        if check and done.returncode:
            raise Failed(f"`{' '.join(map(str, command))}` ended with {done.returncode}")
        return done.returncode, output

    def verdict(self, good):
        """Counts one thing."""
        if good:
            self.passed += 1
        else:
            self.failed += 1


def lint(which):
    def run(step):
        status, _ = step.run([sys.executable, "tools/lint.py", which], check=False)
        step.verdict(status == 0)
    return run


def deploy(step):
    """The manifests for Kubernetes, against its schemas and against the program's sources."""
    status, _ = step.run([sys.executable, "tools/lint_deploy.py"], check=False)
    step.verdict(status == 0)


def unittests(step, folders, env=None, at_once=FILES_AT_ONCE, only=()):
    """The test_*.py of each folder, or `only` some, `at_once` files at a time, with build/plimsoll first on the PATH."""
    known = {"PATH": f"{BUILD}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "tools"), "PYTHONDONTWRITEBYTECODE": "1"}
    files = [path for folder in folders for path in Path(folder).glob("test_*.py") if not only or path.name in only]
    files.sort(key=lambda path: (path.name not in FIRST, -path.stat().st_size, path))
    together = [path for path in files if path.name not in ALONE]
    alone = [path for path in files if path.name in ALONE]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for outcome in pool.map(lambda path: test_file(path, known | (env or {})), together):
            count(step, *outcome)
    for path in alone:
        count(step, *test_file(path, known | (env or {})))


def test_file(path, env):
    """Runs the tests of one file in a process of its own. Returns its path, exit status, output and seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "unittest", "discover", "-s", path.parent, "-t", path.parent, "-p", path.name]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=os.environ | env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return path, done.returncode, done.stdout, time.monotonic() - started


def count(step, path, status, output, seconds):
    """Adds the outcome of a test file to the step and to its log."""
    with open(step.log, "a", errors="replace") as log:
        print(f"$ {path.relative_to(ROOT)}: {seconds:.0f} s\n{output}", file=log)
    ran = re.search(r"^Ran (\d+) tests?", output, re.M)
    bad = sum(int(number) for number in re.findall(r"(?:failures|errors|unexpected successes)=(\d+)", output))
    skipped = sum(int(number) for number in re.findall(r"skipped=(\d+)", output))
    if not ran or (status and not bad):
        bad += 1
    step.failed += bad
    step.passed += max(0, int(ran[1] if ran else 0) - bad - skipped)


def python_tests(step):
    """Every tests/<folder> with test_*.py in it, but for what needs a real server."""
    folders = {path.parent for path in (ROOT / "tests").glob("*/test_*.py")} - {ROOT / "tests" / "live"}
    unittests(step, sorted(folders))


def http_under(name, slower, only=()):
    """The tests of the gateway, or some of them, with a sanitizer's build of it, which takes so many times as long."""
    def run(step):
        step.run(["cmake", "--preset", name, "--log-level=WARNING"])
        step.run(["cmake", "--build", BUILD / name, "--target", "plimsoll"])
        program = BUILD / name / "apps" / "plimsoll" / "plimsoll"
        unittests(step, [ROOT / "tests" / "http"],
                  SANITIZERS | {"PLIMSOLL_BIN": str(program), "PLIMSOLL_SLOWER": str(slower)}, at_once=int(CORES), only=only)
    return run


def soak(step):
    """Many mixed requests, after which nothing may have grown."""
    count = os.environ.get("SOAK_REQUESTS", "100000")
    env = {"PATH": f"{BUILD}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    status, _ = step.run([sys.executable, "tests/http/soak.py", count], env=env, check=False)
    step.verdict(status == 0)


def kills(step):
    """The gateway killed under load, after which all that it acknowledged must be there."""
    count = os.environ.get("KILL_ROUNDS", "100")
    env = {"PATH": f"{BUILD}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    status, _ = step.run([sys.executable, "tests/http/kills.py", count], env=env, check=False)
    step.verdict(status == 0)


def neighbours(step):
    """A quiet key beside a noisy one, which it may not notice."""
    count = os.environ.get("NEIGHBOUR_REQUESTS", "100")
    env = {"PATH": f"{BUILD}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    status, _ = step.run([sys.executable, "tests/http/neighbours.py", count], env=env, check=False)
    step.verdict(status == 0)


def live(step):
    """The ports and three gateways over a real PostgreSQL; indexes on a real Weaviate; a gateway before a real Ollama, built where there is none yet; and one
    that sends spans to a real collector."""
    for server, name in (("postgres", "postgres_test"), ("postgres", "stores_test"), ("weaviate", "weaviate_index_test")):
        step.run(["cmake", "--build", BUILD, "--target", name])
        _, told = step.run([sys.executable, f"tools/{server}.py", BUILD / name], check=False)
        step.passed += int((re.findall(r"^\[  PASSED  \] (\d+) tests?", told, re.M) or [0])[0])
        step.failed += int((re.findall(r"^\[  FAILED  \] (\d+) tests?", told, re.M) or [0 if "[  PASSED  ]" in told else 1])[0])
    _, told = step.run([sys.executable, "tools/build_ollama.py"])
    weights = CACHE / "assets" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    unittests(step, [ROOT / "tests" / "live"], {"OLLAMA_BIN": told.strip().splitlines()[-1], "SMOLLM2_GGUF": str(weights)})


def ctest(step, folder, arguments=(), env=None):
    """Runs the unit tests of a build folder and counts gtest's cases; a program that died counts as a failure."""
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    status, output = step.run(
        ["ctest", "--test-dir", folder, "--output-on-failure", "--timeout", "900", "--no-tests=error",
         "--parallel", CORES, *arguments],
        env=SANITIZERS | {"GTEST_OUTPUT": f"xml:{reports}/"} | (env or {}), check=False)
    failed = 0
    for report in reports.glob("*.xml"):
        suites = xml.etree.ElementTree.parse(report).getroot()
        bad = int(suites.get("failures")) + int(suites.get("errors", 0))
        skipped = sum(int(suite.get("skipped", 0)) for suite in suites)
        failed += bad
        step.passed += int(suites.get("tests")) - bad - int(suites.get("disabled", 0)) - skipped
    summary = re.search(r"(\d+) tests? failed out of (\d+)", output)
    programs = int(summary[2]) if summary else 0
    step.passed += max(0, programs - len(list(reports.glob("*.xml"))) - (int(summary[1]) if summary else 0))
    if status and not failed:
        failed = max(1, int(summary[1]) if summary else 1)
    step.failed += failed


def preset(name):
    def run(step):
        step.run(["cmake", "--preset", name, "--log-level=WARNING"])
        step.run(["cmake", "--build", BUILD / name, "--target", "unit_tests"])
        ctest(step, BUILD / name)
    return run


def web(step):
    """The console: types, components, and the pages in a browser before the real gateway."""
    for what in ("check", "test", "browser"):
        status, output = step.run([sys.executable, "tools/web.py", what], check=False)
        counts = {word: int(number) for number, word in re.findall(r"^\s*(?:Tests\s+)?(\d+) (passed|failed)", plain(output), re.M)}
        failed = counts.get("failed", 0)
        step.passed += counts.get("passed", 0) + (what == "check" and status == 0)
        step.failed += failed or (1 if status else 0)


def plain(text):
    """Without a terminal's colours."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def release(step):
    ctest(step, BUILD)


def damage(step):
    status, _ = step.run([sys.executable, "-m", "unittest", "discover", "-s", "tests/cli", "-t", "tests/cli", "-p", "test_corruption.py"],
                         env={"PATH": f"{BUILD}:{os.environ['PATH']}", "PLIMSOLL_CORRUPTIONS": "2400"}, check=False)
    step.verdict(status == 0)


def crash(step):
    ctest(step, BUILD, ["-R", "^(crash|power)$"], env={"PLIMSOLL_CRASH_ROUNDS": "200"})


def fuzz(step):
    """Each fuzzer for FUZZ_SECONDS, going on from the inputs that earlier runs found."""
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    step.run(["cmake", "--preset", "fuzz", "--log-level=WARNING"])
    step.run(["cmake", "--build", BUILD / "fuzz"])
    fuzzers = sorted(path for path in (BUILD / "fuzz").rglob("*_fuzz") if path.is_file() and os.access(path, os.X_OK))
    if not fuzzers:
        raise Failed("no fuzzer was built")
    with concurrent.futures.ThreadPoolExecutor(int(CORES)) as pool:
        for fuzzer, status, output in pool.map(lambda fuzzer: run_fuzzer(fuzzer, seconds), fuzzers):
            with open(step.log, "a", errors="replace") as log:
                print(f"$ {fuzzer.relative_to(ROOT)}\n{output}", file=log)
            if status:
                found = re.search(r"Test unit written to (\S+)", output)
                print(f"      failed; run again with: {fuzzer.relative_to(ROOT)} {found[1] if found else ''}")
            step.verdict(status == 0)


def run_fuzzer(fuzzer, seconds):
    """Returns the fuzzer, its exit status and its output."""
    corpus, crashes = CACHE / "fuzz" / fuzzer.name, BUILD / "fuzz" / "crashes" / fuzzer.name
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    seeds = [path for path in [ROOT / "tests" / "corpus" / fuzzer.name] if path.is_dir()]
    print(f"      {fuzzer.name}, {seconds} s", flush=True)
    command = [fuzzer, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1",
               f"-artifact_prefix={crashes}/", corpus, *seeds]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=os.environ | SANITIZERS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return fuzzer, done.returncode, done.stdout


# Rooms with code for one kind of processor, or whose arithmetic depends on it.
BY_PROCESSOR = ("base_test", "count_test", "count_conformance_test", "search_test", "retrieve_test", "ingest_test",
                "grounding_test", "llama_test")


def aarch64(step):
    """The program, cross-compiled, and the tests of the rooms whose code depends on the processor, in an emulator."""
    folder = BUILD / "aarch64"
    step.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "--log-level=WARNING", "-DCMAKE_BUILD_TYPE=Release",
              "--toolchain", ROOT / "tools" / "aarch64.cmake", f"-DPLIMSOLL_LLAMA={CACHE / 'assets-aarch64' / 'llama.cpp'}"])
    step.run(["cmake", "--build", folder, "--target", "plimsoll", *BY_PROCESSOR])
    names = "|".join(target.removesuffix("_test") for target in BY_PROCESSOR)
    ctest(step, folder, ["--timeout", "3600", "-R", f"^({names})$"])


STEPS = {
    "format": ("layout of the code", lint("format")),
    "layers": ("who includes whom", lint("layers")),
    "deploy": ("manifests for Kubernetes", deploy),
    "unit": ("unit tests", release),
    "python": ("set-up, command line and docs", python_tests),
    "web": ("the web console, in a browser", web),
    "asan": ("unit tests under AddressSanitizer and UBSan", preset("asan")),
    "tidy": ("likely mistakes", lint("tidy")),
    "crash": ("a writer killed 200 times, and its power cut 800 times", crash),
    "damage": ("2,400 damaged files", damage),
    "tsan": ("unit tests under ThreadSanitizer", preset("tsan")),
    "http-asan": ("the gateway under AddressSanitizer and UBSan", http_under("asan", 4)),
    "http-tsan": ("the gateway under ThreadSanitizer, where requests share state", http_under("tsan", 10, SHARING)),
    "soak": ("100,000 mixed requests", soak),
    "kills": ("the gateway killed 100 times", kills),
    "neighbours": ("a quiet key beside a noisy one", neighbours),
    "live": ("gateways over a real PostgreSQL, before a real Ollama and with a real collector", live),
    "fuzz": ("fuzzers", fuzz),
    "aarch64": ("the program and unit tests on aarch64", aarch64),
}
QUICK = ["format", "layers", "deploy", "unit", "python", "web", "asan"]
SETS = {"quick": QUICK, "full": [*QUICK, "tidy", "crash", "damage", "tsan", "http-asan", "http-tsan", "soak", "kills", "neighbours", "fuzz", "aarch64"]}


def what_failed(log):
    """What a log has of each failed test of unittest or GoogleTest, or else its end."""
    text = log.read_text(errors="replace")
    blocks = re.findall(r"^=+\n((?:FAIL|ERROR): .*?)(?=^=+\n|^-+\nRan |\Z)", text, re.M | re.S)
    blocks += re.findall(r"^\S+:\d+: Failure\n.*?^\[  FAILED  \].*?$", text, re.M | re.S)
    return blocks or ["\n".join(text.splitlines()[-60:])]


def show(block):
    """Its beginning, which names the test, and its end, which says why."""
    lines = block.splitlines()
    for line in lines if len(lines) <= 40 else [*lines[:10], "...", *lines[-30:]]:
        print(f"      {line}")


def main():
    names = [name for word in sys.argv[1:] or ["quick"] for name in SETS.get(word, [word])]
    for name in names:
        if name not in STEPS:
            raise SystemExit(f"run_tests: no step is called '{name}'; there are {', '.join([*SETS, *STEPS])}")
    LOGS.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    faults = []
    for name in names:
        about, action = STEPS[name]
        step = Step(name)
        step.log.unlink(missing_ok=True)
        print(f"....  {name}: {about}", flush=True)
        started = time.monotonic()
        reason = ""
        try:
            action(step)
        except Failed as error:
            step.failed += 1
            reason = f": {error}"
        took = time.monotonic() - started
        print(f"{'FAIL' if step.failed else 'ok  '}  {name}: {step.passed} passed, {step.failed} failed, "
              f"{took:.0f} s{reason}", flush=True)
        if step.failed:
            blocks = what_failed(step.log)
            for block in blocks:
                show(block)
            faults += [f"{name}: {block.splitlines()[0]}" for block in blocks if block]
            print(f"      all of it: {step.log.relative_to(ROOT)}", flush=True)
        passed += step.passed
        failed += step.failed
    for fault in faults:  # once more, below whatever was printed since
        print(fault)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
