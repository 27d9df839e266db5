"""`plimsoll doctor`: what it finds, and what it says to do."""

import http.server
import json
import os
import socket
import sqlite3
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path


class Models(http.server.BaseHTTPRequestHandler):
    """A server of one model that tells no window."""

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": "my-model", "object": "model"}]}).encode()
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Models)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.upstream = f"upstreams=gpu=http://127.0.0.1:{server.server_port}/v1"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "ship.md").write_text("# Ship\n\nShe may be loaded to the line, and no deeper.\n")

    def run_it(self, *arguments, status=0, settings=()):
        """`plimsoll` with a store of its own."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        environment = inherited | {"XDG_DATA_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        command = ["plimsoll", "--set", "embedders=", "--set", self.upstream]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, env=environment,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def found(self, *arguments, status=0, settings=()):
        told = json.loads(self.run_it("doctor", "--json", *arguments, status=status, settings=settings))
        self.assertEqual(told["sound"], status == 0)
        return {check["check"]: check for check in told["checks"]}

    def test_a_machine_with_nothing_yet(self):
        found = self.found()
        self.assertEqual(found["store"]["status"], "ok")
        self.assertIn("does not exist yet", found["store"]["found"])
        self.assertEqual(found["upstream gpu"]["status"], "ok")
        self.assertEqual(found["window of gpu/my-model"]["status"], "warning")
        self.assertIn("4,096 tokens by default", found["window of gpu/my-model"]["found"])
        for check in found.values():
            self.assertEqual(bool(check["remedy"]), check["status"] != "ok", check)
        self.assertFalse((self.folder / "plimsoll" / "store.db").exists())

    def test_usage_that_a_server_reported_falsely(self):
        self.run_it("index", "add", "manual", self.folder / "ship.md")
        self.assertEqual(self.found()["usage"]["status"], "ok")
        with sqlite3.connect(self.folder / "plimsoll" / "store.db") as store:
            store.executemany("INSERT INTO usage (day, owner, model, section, tokens, requests) VALUES (20000, 'key-1', ?, 'answer', ?, 1)",
                              [("m", 2**63 - 1), ("n", 2**63 - 1)])
        store.close()
        usage = self.found()["usage"]
        self.assertEqual(usage["status"], "warning")
        self.assertIn("2 rows", usage["found"])
        self.assertIn("key-1 on 2024-10-04", usage["found"])
        told = json.loads(self.run_it("usage", "--json", "--by", "key", "--day", "2024-10-04"))
        self.assertEqual(told["usage"][0]["tokens"], 10**15)

    def test_a_sound_index(self):
        self.run_it("index", "add", "manual", self.folder / "ship.md")
        self.assertIn("sound: 1 document", self.found()["index manual"]["found"])

    def test_a_damaged_index(self):
        self.run_it("index", "add", "manual", self.folder / "ship.md")
        store = sqlite3.connect(self.folder / "plimsoll" / "store.db")
        with store:
            store.execute("UPDATE chunks SET text = 'something else'")
        store.close()
        check = self.found(status=1)["index manual"]
        self.assertEqual(check["status"], "bad")
        self.assertIn("plimsoll index rebuild manual", check["remedy"])

    def test_a_store_that_is_none(self):
        (self.folder / "plimsoll").mkdir()
        (self.folder / "plimsoll" / "store.db").write_bytes(b"no database at all" * 1000)
        check = self.found(status=1)["store"]
        self.assertEqual(check["status"], "bad")
        self.assertIn("backup", check["remedy"])

    def test_an_upstream_that_is_silent(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
            check = self.found("--upstream", f"gpu={address}", status=1, settings=["window_timeout_seconds=1"])
        self.assertEqual(check["upstream gpu"]["status"], "bad")
        self.assertIn("127.0.0.1", check["upstream gpu"]["found"])

    def test_limits_of_files(self):
        check = self.found(settings=["max_connections=1000000"])["open files"]
        self.assertEqual(check["status"], "warning")
        self.assertIn("2000128", check["remedy"])

    def test_an_embedder_that_is_not_there(self):
        check = self.found(status=1, settings=["embedders=no-such-embedder"])["embedder no-such-embedder"]
        self.assertEqual(check["status"], "bad")

    def test_a_door_without_a_lock(self):
        check = self.found(status=1, settings=["listen=0.0.0.0:8000"])["listen"]
        self.assertIn("plimsoll keys add", check["remedy"])
        check = self.found(settings=["listen=0.0.0.0:8000", "open_to_all=true"])["listen"]
        self.assertEqual(check["status"], "warning")
        self.run_it("keys", "add", "ann")
        self.assertIn("1 key", self.found(settings=["listen=0.0.0.0:8000"])["listen"]["found"])

    def test_people_read_a_list(self):
        text = self.run_it("doctor")
        self.assertRegex(text, r"warning  window of gpu/my-model +4,096 tokens")
        self.assertIn("-> add its context_length", text)


if __name__ == "__main__":
    unittest.main()
