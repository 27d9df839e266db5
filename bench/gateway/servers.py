"""Starts the programs that are measured, and asks the kernel what they cost."""

import contextlib
import http.client
import os
import socket
import subprocess
import time
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
LITELLM = CACHE / "venv-bench-gateway" / "bin" / "litellm"

# As an admin of streams has it: connections to the upstream are kept, and nothing is held back. Without a log, which
# is not what is compared; the gateway's traces stay on.
NGINX = """
daemon off;
worker_processes {workers};
error_log {folder}/nginx.err warn;
pid {folder}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_body_buffer_size 1m;
  keepalive_requests 1000000;
  upstream models {{ server 127.0.0.1:{upstream}; keepalive 1024; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://models;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering {buffering};
    }}
  }}
}}
"""

LITELLM_CONFIG = """
model_list:
  - model_name: gpt-4o-mini
    litellm_params: {{model: openai/gpt-4o-mini, api_base: "http://127.0.0.1:{upstream}/v1", api_key: none}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port, path, timeout=5):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


class Program:
    """A server under measurement, with all its processes."""

    def __init__(self, name, command, port, health, folder, patience_s=10, environment=None):
        self.name, self.port = name, port
        self.log = open(folder / f"{name}.log", "w")
        began = time.perf_counter()
        self.process = subprocess.Popen([str(part) for part in command], stdout=self.log, stderr=self.log, cwd=folder,
                                        env=os.environ | (environment or {}))
        while True:
            try:
                if get(port, health) == 200:
                    break
            except OSError:
                pass
            if self.process.poll() is not None or time.perf_counter() > began + patience_s:
                self.stop()
                raise SystemExit(f"bench: {name} does not answer:\n{Path(self.log.name).read_text()[-2000:]}")
            time.sleep(0.002)
        self.ready_ms = (time.perf_counter() - began) * 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def processes(self):
        found = [self.process.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since
                    found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def cpu_s(self):
        """User and system time of all its processes, by the clock that the kernel keeps for each: nanoseconds, where
        /proc/PID/stat has hundredths of seconds."""
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.processes())

    def rss_mb(self):
        """Of all its processes together, and how much of it is its own and not pages of files."""
        total = {"VmRSS": 0, "RssAnon": 0}
        for pid in self.processes():
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name in total:
                    total[name] += int(rest.split()[0]) / 1024
        return total["VmRSS"], total["RssAnon"]


def start_upstream(binaries, folder):
    port = free_port()
    return Program("upstream", [binaries / "gateway_upstream", port], port, "/v1/models", folder)


def start_plimsoll(binary, upstream, folder, settings=(), name="plimsoll", store=None):
    """`store`: the URL of a server, which is better not seen in the list of processes; otherwise a file in the folder."""
    port = free_port()
    command = [binary]
    for setting in settings:
        command += ["--set", setting]
    command += ["serve", "--listen", f"127.0.0.1:{port}", "--upstream", f"http://127.0.0.1:{upstream}/v1"]
    if not store:
        command += ["--store", folder / "store.db"]
    return Program(name, command, port, "/health", folder, environment={"PLIMSOLL_STORE": store, "PLIMSOLL_INDEX_CACHE_DIR": str(folder / "search-data")} if store else None)


def start_nginx(upstream, workers, buffering, folder):
    port = free_port()
    name = f"nginx-{buffering}"
    home = folder / name
    home.mkdir()
    config = home / "nginx.conf"
    config.write_text(NGINX.format(workers=workers, folder=home, upstream=upstream, port=port, buffering=buffering))
    return Program(name, ["nginx", "-p", home, "-e", home / "nginx.err", "-c", config], port, "/v1/models", folder)


def start_litellm(upstream, folder):
    """Without a key, as its makers allow for local use: it listens on loopback, has an upstream that is none, and the
    others ask for no key either, which would cost it time."""
    port = free_port()
    config = folder / "litellm.yaml"
    config.write_text(LITELLM_CONFIG.format(upstream=upstream))
    return Program("litellm", [LITELLM, "--config", config, "--host", "127.0.0.1", "--port", port, "--num_workers", 1,
                               "--telemetry", "False"], port, "/health/liveliness", folder, patience_s=120,
                   environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR",
                                "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"})
