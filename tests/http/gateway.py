"""Starts `plimsoll serve`, asks it over plain sockets, and ends it."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from upstream import Upstream

PROGRAM = os.environ.get("PLIMSOLL_BIN") or shutil.which("plimsoll") or "plimsoll"
SANITIZED = "PLIMSOLL_SLOWER" in os.environ  # a sanitizer's build, which takes so many times as long
SLOW = float(os.environ.get("PLIMSOLL_SLOWER") or 4)  # how much longer than a calm machine it may take
PATIENCE = 20 * SLOW
CHAT = "/v1/chat/completions"
EMBEDDED_MODEL = "smollm2:135m"


def user(text):
    return [{"role": "user", "content": text}]


def long_history(turns, words=60):
    """Turns of `words` tokens or a little more each, and a question."""
    messages = []
    for number in range(turns):
        messages.append({"role": "user", "content": f"{number} " + "ship " * words})
        messages.append({"role": "assistant", "content": f"{number} " + "aye " * words})
    return messages + user("How deep may she be loaded?")


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, {k.lower(): v for k, v in headers}, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def ours(self):
        return self.json["plimsoll"]

    @property
    def events(self):
        """The JSON of each event of a stream but the last, which must be [DONE]."""
        pieces = [piece for piece in self.body.split(b"\n\n") if piece]
        if pieces[-1] != b"data: [DONE]":
            raise AssertionError(f"the stream does not end: {pieces[-1][:300]!r}")
        return [json.loads(piece.removeprefix(b"data: ")) for piece in pieces[:-1]]


class Gateway:
    """One `plimsoll serve` with a store of its own."""

    def __init__(self, *upstreams, folder=None, environment=None, **settings):
        self.temporary = None if folder else tempfile.TemporaryDirectory(prefix="plimsoll-http-")
        self.folder = Path(folder or self.temporary.name)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        self.environment = inherited | {"XDG_CONFIG_HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder),
                                         "no_proxy": "127.0.0.1"} | (environment or {})
        self.environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        # Who names no upstream has none: the embedded model has tests of its own.
        # Models that this user has downloaded are not offered.
        settings = {"store_file": self.folder / "store.db", "log_format": "json", "embedded_model": False,
                    "models_dir": self.folder / "models"} | settings
        self.command = [PROGRAM]
        for name, value in settings.items():
            self.command += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        self.command += ["serve", "--listen", "127.0.0.1:0"]
        for one in upstreams:
            self.command += ["--upstream", one if isinstance(one, str) else one.url]
        # The embedded model shares a core with the test and reads a hundred tokens a second.
        self.patience = PATIENCE * (10 if "embedded" in upstreams else 1)
        self.log = open(self.folder / "log", "ab")
        try:
            self.start()
        except AssertionError:
            self.stop(signal.SIGKILL)
            self.log.close()
            raise

    def start(self):
        began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.log, cwd=self.folder,
                                        env=self.environment)
        first = self.process.stdout.readline().decode()
        if "listens on http" not in first:
            raise AssertionError(f"{first!r}: {self.logged()}")
        self.port = int(first.rsplit(":", 1)[1])
        self.url = first.split(" listens on ", 1)[1].strip()
        self.greeting = first
        self.listening_after = time.monotonic() - began
        while not self.greeting.endswith("inspect --last\n"):
            line = self.process.stdout.readline().decode()
            if not line:
                raise AssertionError(f"it ended: {self.logged()}")
            self.greeting += line

    def stop(self, sign=signal.SIGTERM):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()

    def close(self):
        status = self.stop()
        self.log.close()
        said = self.logged()
        if self.temporary:
            self.temporary.cleanup()
        if status != 0 or "Sanitizer" in said:
            raise AssertionError(f"plimsoll serve ended with {status}: {said[-4000:]}")

    def logged(self):
        return (self.folder / "log").read_text(errors="replace")

    def rss(self):
        """In MB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1000
        raise AssertionError("no VmRSS")

    def run(self, *arguments):
        """Another command of the program over the same store."""
        done = subprocess.run(
            [PROGRAM, "--set", f"store_file={self.folder / 'store.db'}", *map(str, arguments)], cwd=self.folder,
            capture_output=True, text=True, env=self.environment, timeout=4 * PATIENCE, check=False)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def inspect(self, trace):
        """The trace, which is written a moment after the answer."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return json.loads(self.run("inspect", trace, "--json"))
            except AssertionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    # ---- Asking ----

    def ask(self, path=CHAT, body=None, method=None, headers=None, timeout=None):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout or self.patience)
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, body,
                               {"Content-Type": "application/json"} | (headers or {}))
            got = connection.getresponse()
            return Reply(got.status, got.getheaders(), got.read())
        finally:
            connection.close()

    def chat(self, model, messages, **fields):
        short = {"max_tokens": 16} if model == EMBEDDED_MODEL else {}
        return self.ask(CHAT, {"model": model, "messages": messages} | short | fields)

    def dial(self, data=b""):
        """A bare connection."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        line.sendall(data)
        return line


@contextlib.contextmanager
def serving(*upstreams, **settings):
    """A gateway for a block."""
    gateway = Gateway(*upstreams, **settings)
    try:
        yield gateway
    finally:
        gateway.close()


def read_all(line):
    """What comes until the other side closes."""
    got = b""
    while piece := line.recv(1 << 16):
        got += piece
    return got


def http_request(body, path=CHAT, extra=""):
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{extra}"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class WithGateway(unittest.TestCase):
    """One upstream and one gateway for a class of tests."""

    MODELS = {"gpt-4o": 8192}
    SETTINGS = {}
    EMBEDDED = False  # True: nothing behind the gateway but its own model, and so no `upstream`
    model = "gpt-4o"

    @classmethod
    def setUpClass(cls):
        if cls.EMBEDDED:
            cls.model, cls.behind = EMBEDDED_MODEL, "embedded"
            cls.gateway = Gateway("embedded", embedded_threads=1, embedded_window=2048, **cls.SETTINGS)
        else:
            cls.behind = cls.upstream = cls.enterClassContext(Upstream(cls.MODELS))
            cls.gateway = Gateway(cls.upstream, **cls.SETTINGS)
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        if self.EMBEDDED:
            return
        self.upstream.clear()
        self.upstream.prompt_tokens = None

    def __getattr__(self, name):
        if name == "upstream" and self.EMBEDDED:
            raise unittest.SkipTest("looks at what a server was sent")
        raise AttributeError(name)

    def assert_error(self, reply, status, code=None, *words):
        """Both shapes of an error (K6)."""
        self.assertEqual(reply.status, status, reply.body[:2000])
        body = reply.json
        self.assertEqual(body["detail"], body["error"]["message"])
        if code:
            self.assertEqual(body["error"]["code"], code)
        for word in words:
            self.assertIn(word, body["detail"])
        return body["error"]
