"""A collector of OpenTelemetry's spans that keeps what it was sent, and fails on demand."""

import http.server
import json
import threading
import time


class Collector:
    """`with Collector() as collector:` listens on `collector.url` until the end of the block."""

    def __init__(self):
        self.requests = []  # headers and body of each, in order
        self.statuses = []  # of the next replies; 200 when there are none
        self.answering = threading.Event()  # cleared: it hangs
        self.answering.set()

    def __enter__(self):
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.answering.wait(60)
                status = collector.statuses.pop(0) if collector.statuses else 200
                collector.requests.append((self.path, dict(self.headers.items()), json.loads(body), status))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.answering.set()
        self.server.shutdown()
        self.server.server_close()

    def spans(self):
        """Those that it took."""
        return [span for _, _, body, status in list(self.requests) if status == 200 for part in body["resourceSpans"]
                for scope in part["scopeSpans"] for span in scope["spans"]]

    def of_trace(self, trace, count, patience):
        """The spans with this id, once there are `count` of them."""
        until = time.monotonic() + patience
        while len(found := [span for span in self.spans() if span["traceId"] == trace]) < count:
            if time.monotonic() > until:
                raise AssertionError(f"{len(found)} of {count} spans of {trace}: {self.requests}")
            time.sleep(0.02)
        return found


def attributes(of):
    """Names and values."""
    return {one["key"]: next(iter(one["value"].values())) for one in of["attributes"]}
