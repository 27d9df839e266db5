"""A server on this machine that replies as a test says, well or badly, and a way to ask it with `plimsoll models`."""

import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"
RECORDED = Path(__file__).resolve().parent / "recorded"


def recorded(name):
    return (RECORDED / f"{name}.json").read_bytes()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        route = f"{self.command} {self.path.partition('?')[0]}"
        server = self.server.owner
        server.asked.append((route, dict(self.headers), body))
        action = server.routes.get(route, server.otherwise)
        if callable(action):
            action(self)
        else:
            self.reply(action)

    do_GET = do_POST = do_HEAD = answer

    def reply(self, body, status=200, **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def wait(self):
        """Until the test is over."""
        self.server.owner.over.wait(60)
        self.close_connection = True

    def log_message(self, *_):
        pass


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Clients that go away in the middle are what is tested."""


class Server:
    """`with Server({"GET /v1/models": b"..."}) as server`: an action is a body, or a function of the handler."""

    def __init__(self, routes=None, otherwise=None, certificate=None):
        self.routes = routes or {}
        self.otherwise = otherwise or (lambda handler: handler.reply(b"404 page not found", 404))
        self.asked = []
        self.over = threading.Event()
        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.http.owner = self
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme = "https"
        self.url = f"{self.scheme}://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def routes_asked(self):
        return [route for route, _, _ in self.asked]


# ---- Ways to reply badly; each is a function of the handler ----

def stall_before_header(handler):
    handler.wait()


def stall_in_header(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
    handler.wfile.flush()
    handler.wait()


def stall_in_body(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"data\": [")
    handler.wfile.flush()
    handler.wait()


def drip(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{")
    while not handler.server.owner.over.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def cut(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"data\": [")
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def close_at_once(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def ten_megabytes(handler):
    handler.reply(b"{\"data\": [" + b" " * 10_000_000 + b"]}")


def endless(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not handler.server.owner.over.is_set():
        handler.wfile.write(b"10000\r\n" + b" " * 65536 + b"\r\n")


def endless_header(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not handler.server.owner.over.is_set():
        handler.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")


def status(code, body=b""):
    return lambda handler: handler.reply(body, code)


def no_http(handler):
    handler.wfile.write(b"220 mail.example ESMTP\r\n")
    handler.wfile.flush()
    close_at_once(handler)


class Run:
    """`plimsoll models` with a cache folder of its own."""

    def __init__(self, cache):
        self.cache = Path(cache)

    def __call__(self, *arguments, env=None):
        clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        begin = time.monotonic()
        done = subprocess.run([PROGRAM, "models", *map(str, arguments)], capture_output=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL,
                              env=clean | {"XDG_CACHE_HOME": str(self.cache)} | (env or {}))
        self.took = time.monotonic() - begin
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def json(self, *arguments, env=None):
        status_code, out, err = self(*arguments, "--json", env=env)
        if status_code:
            raise AssertionError(f"exit status {status_code}: {err}")
        return json.loads(out)
