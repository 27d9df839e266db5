"""What watching costs: the gateway's processor time at 200 requests a second, with nobody and with ten viewers of
/v1/traces/stream, in turns, and the ratio of the two sums.

  PATH=$PWD/build:$PATH python3 bench/gateway/bench_viewers.py [SECONDS] [ROUNDS]
"""

import os
import selectors
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests" / "http"))

from gateway import http_request, serving  # noqa: E402
from upstream import Upstream  # noqa: E402

RATE = 200
REQUEST = http_request({"model": "gpt-4o", "messages": [{"role": "user", "content": "How deep may she be loaded? " * 20}],
                        "max_tokens": 50})
WATCH = b"GET /v1/traces/stream HTTP/1.1\r\nHost: x\r\n\r\n"


def processor_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(gateway, seconds):
    """Asks at the rate, one after the other, and returns the number of answers."""
    with gateway.dial() as line, line.makefile("rb") as answers:
        count, begun = 0, time.monotonic()
        while (now := time.monotonic() - begun) < seconds:
            time.sleep(max(0, count / RATE - now))
            line.sendall(REQUEST)
            length = 0
            while (header := answers.readline()) != b"\r\n":
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            answers.read(length)
            count += 1
        return count


class Viewers:
    """Connections that watch and read what comes."""

    def __init__(self, gateway, count):
        self.lines = [gateway.dial(WATCH) for _ in range(count)]
        self.bytes = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        with selectors.DefaultSelector() as selector:
            for line in self.lines:
                selector.register(line, selectors.EVENT_READ)
            while not self.over.wait(0 if self.lines else 0.1):
                for ready, _ in selector.select(0.2):
                    self.bytes += len(ready.fileobj.recv(1 << 20))

    def close(self):
        self.over.set()
        self.thread.join()
        for line in self.lines:
            line.close()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with Upstream({"gpt-4o": 8192}) as upstream:
        upstream.keeps = False
        upstream.prompt_tokens = 100
        with serving(upstream) as gateway:
            load(gateway, 3)
            each = {0: [], 10: []}  # microseconds of processor time for a request, by viewers
            for round_number in range(rounds):
                # Whatever else the machine does meets both alike.
                for count in (0, 10) if round_number % 2 == 0 else (10, 0):
                    viewers = Viewers(gateway, count)
                    before = processor_seconds(gateway.process.pid)
                    answers = load(gateway, seconds)
                    used = processor_seconds(gateway.process.pid) - before
                    viewers.close()
                    each[count].append(1e6 * used / answers)
                    print(f"{count:2} viewers: {answers} requests, {used / seconds:.1%} of a core, {1e6 * used / answers:.0f} µs each, "
                          f"{gateway.rss():.1f} MB, {viewers.bytes / 1e6:.1f} MB sent to viewers", flush=True)
                    time.sleep(1)  # for viewers to be noticed as gone
            ratios = sorted(watched / alone for alone, watched in zip(each[0], each[10], strict=True))
            print(f"ten viewers cost {sum(each[10]) / sum(each[0]):.3f} times the processor time of none "
                  f"(rounds: {', '.join(f'{ratio:.3f}' for ratio in ratios)})")


if __name__ == "__main__":
    main()
