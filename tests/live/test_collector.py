"""Spans in a real OpenTelemetry collector (Rotel), which prints what it took.

  python3 -m unittest discover -s tests/live -p test_collector.py

`tools/setup live` fetches the collector; `plimsoll` must be on the PATH, or PLIMSOLL_BIN name it.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "http")]

from gateway import CHAT, PATIENCE, Gateway, user  # noqa: E402
from upstream import Upstream  # noqa: E402

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def program():
    found = list((CACHE / "venv-live").glob("lib/python3*/site-packages/rotel/rotel-agent"))
    if not found:
        raise unittest.SkipTest("the package rotel is missing; `tools/setup live` fetches it")
    return found[0]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as line:
        return line.getsockname()[1]


class Rotel:
    """The collector, which writes every span that it takes into a file."""

    def __init__(self, folder, port):
        self.port = port
        self.log = Path(folder) / "collector.log"
        self.out = open(self.log, "ab")
        # Another name for the same file, because a package's files need not be executable.
        agent = Path(folder) / "rotel-agent"
        if not agent.exists():
            agent.write_bytes(program().read_bytes())
            agent.chmod(0o700)
        self.process = subprocess.Popen(
            [agent, "start", "--otlp-http-endpoint", f"127.0.0.1:{port}", "--otlp-grpc-endpoint", f"127.0.0.1:{free_port()}",
             "--exporter", "blackhole", "--debug-log", "traces", "--debug-log-verbosity", "detailed"],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.out)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"the collector did not start: {self.told()}")

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.out.close()

    def told(self):
        return self.log.read_text(errors="replace")

    def spans(self, trace, count):
        """What it printed of each span of this trace, once there are `count` of them."""
        until = time.monotonic() + PATIENCE
        while True:
            found = [text for text in re.split(r"^Span #\d+$", self.told(), flags=re.M)[1:] if f": {trace}\n" in text]
            if len(found) >= count:
                return found
            if time.monotonic() > until:
                raise AssertionError(f"{len(found)} of {count} spans: {self.told()[-4000:]}")
            time.sleep(0.05)


class RealCollector(unittest.TestCase):
    def setUp(self):
        program()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="plimsoll-collector-"))
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192}))
        self.upstream.prompt_tokens = 12
        self.port = free_port()
        self.collector = Rotel(self.folder, self.port)
        self.addCleanup(lambda: self.collector.stop())
        self.gateway = Gateway(self.upstream, otlp_endpoint=f"http://127.0.0.1:{self.port}")
        self.addCleanup(self.gateway.close)

    def ask(self, trace):
        reply = self.gateway.ask(CHAT, {"model": "gpt-4o", "max_tokens": 9, "messages": user("How deep?")},
                                 headers={"traceparent": f"00-{trace}-{PARENT}-01", "tracestate": "a=1"})
        self.assertEqual(reply.status, 200, reply.body)
        return reply.headers["x-plimsoll-trace"]

    def test_it_reads_every_field(self):
        ours = self.ask(TRACE)
        request, attempt = self.collector.spans(TRACE, 2)
        for line in (f"Parent ID      : {PARENT}", f"Name           : POST {CHAT}", "SPAN_KIND_SERVER", f"-> plimsoll.trace: Str({ours})",
                     "-> plimsoll.window: Int(8192)", "-> http.response.status_code: Int(200)", "-> Name: plimsoll.plan"):
            self.assertIn(line, request)
        span = re.search(r"^ +ID +: (\w+)$", request, re.M)[1]
        for line in (f"Parent ID      : {span}", "Name           : chat gpt-4o", "SPAN_KIND_CLIENT", "-> gen_ai.operation.name: Str(chat)",
                     "-> gen_ai.usage.input_tokens: Int(12)"):
            self.assertIn(line, attempt)
        self.assertNotIn("How deep?", self.collector.told())

    def test_it_may_be_away_for_a_moment(self):
        self.collector.stop()
        self.ask(TRACE)
        time.sleep(1.5)  # the first try has failed
        self.collector = Rotel(self.folder, self.port)
        self.collector.spans(TRACE, 2)


if __name__ == "__main__":
    unittest.main()
