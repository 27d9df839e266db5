"""What the chart's pods run, over a real PostgreSQL and with a real Weaviate: the settings, variables and commands of renderings.

  python3 -m unittest discover -s tests/live -p test_kubernetes.py

`plimsoll` must be on the PATH; `tools/setup live` brings PostgreSQL, Weaviate, Helm and the rest.
"""

import base64
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import lint_deploy  # noqa: E402
import weaviate  # noqa: E402
from postgres import Postgres, package_folders  # noqa: E402

try:
    package_folders()
    weaviate.program()
    MISSING = "" if lint_deploy.is_set_up() and shutil.which("plimsoll") else "needs `tools/setup live`, and build/plimsoll on the PATH"
except SystemExit as error:
    MISSING = str(error)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def status(port, path, key=""):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except OSError:
        return 0


@unittest.skipIf(MISSING, MISSING)
class BundledDatabase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = lint_deploy.documents(lint_deploy.render("--values", lint_deploy.variants()["bundled"]))
        cls.pods = {name: pod["spec"] for name, pod in lint_deploy.pods(cls.made)}
        database = cls.pods["plimsoll-postgresql"]["containers"][0]
        cls.probe = database["readinessProbe"]["exec"]["command"]
        settings = dict(re.fullmatch(r"(\w+)=(\d+)", one).groups() for one in database["args"] if one != "-c")
        cls.server = cls.enterClassContext(Postgres(**settings))
        cls.server.query("CREATE DATABASE plimsoll")
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def pod(self, number):
        """A folder and an environment as a pod has them; only the addresses are of this machine."""
        folder, port = self.folder / str(number), free_port()
        folder.mkdir(exist_ok=True)
        settings = next(one["data"]["plimsoll.toml"] for one in self.made if one["kind"] == "ConfigMap")
        (folder / "plimsoll.toml").write_text(settings.replace("0.0.0.0:8000", f"127.0.0.1:{port}"))
        container = self.pods["plimsoll"]["containers"][0]
        variables = {one["name"]: one.get("value", "") for one in container["env"]}
        self.assertEqual(variables.keys(), {"PLIMSOLL_CONFIG", "PLIMSOLL_STORE", "PGPASSWORD"})
        return port, {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CACHE_HOME": str(lint_deploy.CACHE.parent),
                      "PLIMSOLL_CONFIG": str(folder / "plimsoll.toml"), "PGPASSWORD": self.server.password,
                      "PLIMSOLL_STORE": variables["PLIMSOLL_STORE"].replace("@plimsoll-postgresql/", f"@127.0.0.1:{self.server.port}/")}

    def test_pods_wait_for_the_first_key_and_share_it(self):
        _, environment = self.pod(0)
        waits = self.pods["plimsoll"]["initContainers"][0]
        with subprocess.Popen([*waits["command"], *waits["args"]], env=environment, stdout=subprocess.PIPE, text=True) as waiting:
            self.assertIn("There is no API key yet", waiting.stdout.readline())
            added = subprocess.run(["plimsoll", "keys", "add", "ann"], env=environment, capture_output=True, text=True, check=True)
            self.assertEqual(waiting.wait(30), 0)
        key = added.stdout.strip()
        ports, gateways = [], []
        try:
            for number in (1, 2):
                port, environment = self.pod(number)
                ports.append(port)
                gateways.append(subprocess.Popen(self.pods["plimsoll"]["containers"][0]["command"], env=environment,
                                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            for port in ports:
                end = time.monotonic() + 60
                while status(port, "/ready") != 200 and time.monotonic() < end:
                    time.sleep(0.1)
                self.assertEqual((status(port, "/ready"), status(port, "/v1/models"), status(port, "/v1/models", key)), (200, 401, 200))
            for gateway in gateways:
                gateway.send_signal(signal.SIGTERM)
            for gateway in gateways:
                self.assertEqual(gateway.wait(45), 0)
        finally:
            for gateway in gateways:
                gateway.kill()
                gateway.wait()

    def test_the_database_is_asked_as_its_probe_does(self):
        command = [str(self.server.bin / self.probe[0]), *self.probe[1:], f"--port={self.server.port}"]
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)
        self.assertEqual(self.server.query("SHOW max_connections"), "196")


@unittest.skipIf(MISSING, MISSING)
class BundledNode(unittest.TestCase):
    """One node of Weaviate with the command and the variables of its pod; only ports and folders are of this machine."""

    def test_it_starts_and_lets_in_the_gateway_alone(self):
        made = lint_deploy.documents(lint_deploy.render(
            "--set", "upstreams[0].name=gpu,upstreams[0].url=http://gpu:8000/v1",
            "--set", "indexStore.mode=bundled,weaviate.replicas=1,weaviate.copies=1"))
        container = next(pod["spec"]["containers"][0] for name, pod in lint_deploy.pods(made) if name == "plimsoll-weaviate")
        secret = next(one["data"]["key"] for one in made if one["kind"] == "Secret")
        key = base64.b64decode(secret).decode()
        known = {"metadata.name": "plimsoll-weaviate-0", "status.podIP": "127.0.0.1"}
        variables = {}
        for one in container["env"]:
            source = one.get("valueFrom", {})
            variables[one["name"]] = (known[source["fieldRef"]["fieldPath"]] if "fieldRef" in source else
                                      key if "secretKeyRef" in source else one.get("value", ""))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        taken = set()
        (port, grpc), (gossip, data), (raft, rpc) = (weaviate.free_pair(taken) for _ in range(3))
        variables |= {"PERSISTENCE_DATA_PATH": folder, "CLUSTER_GOSSIP_BIND_PORT": str(gossip), "CLUSTER_DATA_BIND_PORT": str(data),
                      "RAFT_PORT": str(raft), "RAFT_INTERNAL_RPC_PORT": str(rpc), "GRPC_PORT": str(grpc), "CLUSTER_BIND_ADDR": "127.0.0.1",
                      "CLUSTER_IN_LOCALHOST": "true", "GO_PROFILING_DISABLE": "true", "RAFT_JOIN": variables["RAFT_JOIN"].replace(":8300", f":{raft}"),
                      # The Service that they find each other by is the cluster's.
                      "CLUSTER_JOIN": ""}
        arguments = [str(port) if one == "8080" else "127.0.0.1" if one == "0.0.0.0" else one for one in container["args"]]
        with open(Path(folder) / "log", "w") as log, \
                subprocess.Popen([weaviate.program(), *arguments], env={"PATH": os.environ["PATH"]} | variables, cwd=folder, stdout=log,
                                 stderr=subprocess.STDOUT) as node:
            try:
                end = time.monotonic() + weaviate.PATIENCE
                while status(port, container["readinessProbe"]["httpGet"]["path"]) != 200 and time.monotonic() < end:
                    time.sleep(0.1)
                for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                    self.assertEqual(status(port, container[probe]["httpGet"]["path"]), 200, (Path(folder) / "log").read_text()[-2000:])
                self.assertEqual([status(port, "/v1/schema", one) for one in ("", "other", key)], [401, 401, 200])
                self.index(port, key, folder)
            finally:
                node.terminate()
                node.wait(60)

    def index(self, port, key, folder):
        """The program keeps an index there, with the URL as the chart has it."""
        (Path(folder) / "text").mkdir()
        (Path(folder) / "text" / "a.md").write_text("The harbour master weighs every ship before noon.\n")
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_CACHE_HOME": str(lint_deploy.CACHE.parent), "XDG_DATA_HOME": folder,
                       "PLIMSOLL_INDEX_STORE": f"weaviate://{key}@127.0.0.1:{port}?replication=1"}
        for command in (("index", "add", "kb", f"{folder}/text"), ("search", "kb", "Who weighs ships?", "--json")):
            done = subprocess.run(["plimsoll", *command], env=environment, capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("harbour master", done.stdout)


if __name__ == "__main__":
    unittest.main()
