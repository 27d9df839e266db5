"""A real Weaviate for tests: the program that `tools/setup live` builds, on loopback, in temporary folders.

  tools/weaviate.py [--nodes N] COMMAND...   runs the command with PLIMSOLL_TEST_WEAVIATE set to the URL of a server
                                             of N nodes (1), then stops it
"""

import argparse
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PATIENCE = 90  # seconds until a node answers


def program():
    path = CACHE / "assets" / "weaviate" / "weaviate"
    if not path.exists():
        raise SystemExit("weaviate: the program is missing; `tools/setup live` builds it")
    return path


def free_pair(taken):
    """Two free ports next to each other, below those that the system gives to connections."""
    while True:
        port = random.randrange(20_000, 32_000, 2)
        if port in taken:
            continue
        with socket.socket() as one, socket.socket() as two:
            try:
                one.bind(("127.0.0.1", port))
                two.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
        taken.add(port)
        return port, port + 1


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Node:
    """One process, which can be stopped and started again with its data."""

    def __init__(self, number, folder, key, environment, taken):
        self.name, self.folder, self.key = f"node{number}", folder / f"node{number}", key
        # On one machine the second port of each pair is taken to be the one after the first.
        (self.port, self.grpc), (self.gossip, self.data), (self.raft, self.raft_rpc) = (free_pair(taken) for _ in range(3))
        self.environment, self.process = environment, None
        self.folder.mkdir()

    def settings(self, join, nodes):
        own = {
            "CLUSTER_HOSTNAME": self.name, "CLUSTER_IN_LOCALHOST": "true", "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
            "CLUSTER_BIND_ADDR": "127.0.0.1", "CLUSTER_GOSSIP_BIND_PORT": str(self.gossip), "CLUSTER_DATA_BIND_PORT": str(self.data),
            "RAFT_PORT": str(self.raft), "RAFT_INTERNAL_RPC_PORT": str(self.raft_rpc), "GRPC_PORT": str(self.grpc),
            "GO_PROFILING_DISABLE": "true", "DISABLE_TELEMETRY": "true",
            "PERSISTENCE_DATA_PATH": str(self.folder / "data"), "DEFAULT_VECTORIZER_MODULE": "none", "ENABLE_MODULES": "",
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false" if self.key else "true", "LOG_LEVEL": "warning",
            "RAFT_BOOTSTRAP_EXPECT": str(len(nodes)), "RAFT_JOIN": ",".join(f"{one.name}:{one.raft}" for one in nodes),
            "DISK_USE_READONLY_PERCENTAGE": "99", "DISK_USE_WARNING_PERCENTAGE": "99",
        }
        if self.key:
            own |= {"AUTHENTICATION_APIKEY_ENABLED": "true", "AUTHENTICATION_APIKEY_ALLOWED_KEYS": self.key,
                    "AUTHENTICATION_APIKEY_USERS": "plimsoll", "AUTHORIZATION_ADMINLIST_ENABLED": "true",
                    "AUTHORIZATION_ADMINLIST_USERS": "plimsoll"}
        if join:
            own["CLUSTER_JOIN"] = f"127.0.0.1:{join.gossip}"
        return own | self.environment

    def start(self, nodes):
        join = next((one for one in nodes if one.process is not None), None)
        self.log = open(self.folder / "log", "a")  # noqa: SIM115 (closed by stop)
        self.process = subprocess.Popen(
            [program(), "--host", "127.0.0.1", "--port", str(self.port), "--scheme", "http", "--write-timeout", "600s",
             "--read-timeout", "600s"],
            env=os.environ | self.settings(join, nodes), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=subprocess.STDOUT)

    def wait_for(self, what, is_there):
        until = time.monotonic() + PATIENCE
        while not is_there():
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"weaviate: {self.name} {what}:\n{(self.folder / 'log').read_text()[-4000:]}")
            time.sleep(0.05)

    def get(self, path, timeout=5):
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.read()

    def is_ready(self):
        try:
            self.get("/v1/.well-known/ready")
            return True
        except (OSError, urllib.error.URLError):
            return False

    def stop(self, how="ask"):
        """`ask` lets it write everything down; `kill` is a crash."""
        if self.process is None:
            return
        self.process.kill() if how == "kill" else self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.log.close()


class Weaviate:
    """`with Weaviate(nodes=3) as server:` has a server at `server.url`, whose nodes can be stopped and started again."""

    def __init__(self, nodes=1, key="", replication=0, **environment):
        self.count, self.key, self.replication, self.environment = nodes, key, replication, environment
        self.nodes = []

    def __enter__(self):
        program()
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-weaviate-"))
        taken = set()
        try:
            self.nodes = [Node(number, self.folder, self.key, self.environment, taken) for number in range(self.count)]
            self.start(*range(self.count))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            for node in self.nodes:
                if node.process is not None:
                    node.process.terminate()
            for node in self.nodes:
                node.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self):
        key = f"{self.key}@" if self.key else ""
        options = f"?replication={self.replication}" if self.replication else ""
        return f"weaviate://{key}{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}{options}"

    def start(self, *numbers):
        """Starts nodes that do not run, and waits until they answer."""
        for number in numbers:
            self.nodes[number].start(self.nodes)
            if self.count > 1:
                self.nodes[number].wait_for("does not gossip", lambda node=self.nodes[number]: listens(node.gossip))
        for number in numbers:
            self.nodes[number].wait_for("did not start", self.nodes[number].is_ready)

    def collections(self):
        """The names of all collections, as the first living node knows them."""
        node = next(one for one in self.nodes if one.process is not None)
        return [one["class"] for one in json.loads(node.get("/v1/schema")).get("classes") or []]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--replication", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not options.command:
        parser.error("which command?")
    with Weaviate(options.nodes, replication=options.replication) as server:
        done = subprocess.run(options.command, env=os.environ | {"PLIMSOLL_TEST_WEAVIATE": server.url}, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
