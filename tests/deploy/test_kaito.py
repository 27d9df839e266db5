"""The launcher and the hooks that a RAGEngine pod of KAITO starts: its environment, its snapshots, its end."""

import contextlib
import http.server
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
KAITO = ROOT / "deploy" / "kaito"
sys.path[:0] = [str(ROOT / "tools"), str(KAITO), str(KAITO / "lifecycle")]

import hooks  # noqa: E402
import lint_deploy  # noqa: E402
import main as launcher  # noqa: E402
import place  # noqa: E402

PROGRAM = shutil.which("plimsoll")
MOUNTS = """\
21 1 0:20 / / rw,relatime - overlay overlay rw
30 21 8:1 / /data rw - ext4 /dev/sda1 rw
31 21 0:40 / /mnt/data rw - {kind} source rw
32 21 8:2 / /mnt/with\\040space rw - ext4 /dev/sdb1 rw
33 21 0:41 / /mnt/data/deeper rw - xfs /dev/sdc rw
"""
LOCAL, REMOTE = MOUNTS.format(kind="ext4"), MOUNTS.format(kind="nfs4")


def pod():
    return lint_deploy.yaml.safe_load((Path(__file__).parent / "ragengine_pod.yaml").read_text())["spec"]["template"]["spec"]


def environment_of_the_pod():
    return {one["name"]: one.get("value", "from elsewhere") for one in pod()["containers"][0]["env"]}


@unittest.skipUnless(lint_deploy.yaml, "needs `tools/setup deploy`")
class Pod(unittest.TestCase):
    def test_what_it_starts_is_in_the_image(self):
        said = (KAITO / "Dockerfile").read_text()
        self.assertIn("WORKDIR /app/ragengine\n", said)
        copied = {f"{target}{Path(file).name}": KAITO / file
                  for files, target in re.findall(r"^COPY (.*) (\S+/)$", said, re.M) for file in files.split()}
        container = pod()["containers"][0]
        commands = [container["command"], *(container["lifecycle"][hook]["exec"]["command"] for hook in ("postStart", "preStop"))]
        scripts = [script for command in commands for script in re.findall(r"\S+\.py", " ".join(command))]
        self.assertEqual(len(scripts), 3)
        for script in scripts:
            self.assertTrue(copied[os.path.join("/app/ragengine", script)].is_file(), script)
        self.assertTrue(all(path.is_file() for path in copied.values()))
        self.assertRegex(said, r"apt-get install -y --no-install-recommends python3\b")

    def test_the_launcher_needs_what_debians_python_has(self):
        for script in KAITO.rglob("*.py"):
            for module in re.findall(r"^(?:import|from) (\w+)", script.read_text(), re.M):
                self.assertIn(module, sys.stdlib_module_names | {"place"}, script)

    def test_its_probes_and_its_port_are_the_gateways(self):
        container = pod()["containers"][0]
        for probe in ("readinessProbe", "livenessProbe"):
            self.assertIn(container[probe]["httpGet"]["path"], lint_deploy.read_program().routes)
            self.assertEqual(container[probe]["httpGet"]["port"], place.PORT)

    def test_it_has_the_time_that_the_gateway_needs_to_end(self):
        left = pod()["terminationGracePeriodSeconds"] - hooks.LAST_SECONDS
        self.assertGreaterEqual(left, lint_deploy.read_program().drain_seconds)

    def test_each_of_its_variables_is_explained(self):
        said = (ROOT / "docs" / "migrate-from-kaito.md").read_text()
        for name in environment_of_the_pod():
            self.assertIn(f"`{name}`", said.replace("`OUTPUT_GUARDRAILS_*`", "`OUTPUT_GUARDRAILS_ENABLED`"))

    def test_they_become_settings_that_there_are(self):
        where = place.place_of(environment_of_the_pod(), LOCAL)
        told = launcher.gateway_environment(environment_of_the_pod(), where)
        settings = lint_deploy.read_program().settings
        ours = {name.removeprefix("PLIMSOLL_").lower() for name in told if name.startswith("PLIMSOLL_")}
        self.assertEqual(ours, {"store_file", "default_vector_db_persist_dir", "listen", "open_to_all", "kaito_compat"})
        self.assertLessEqual(ours, settings)
        self.assertEqual(told["PLIMSOLL_LISTEN"], "0.0.0.0:5000")
        self.assertEqual(told["LLM_INFERENCE_URL"], "http://phi-4/v1/chat/completions")
        self.assertEqual(launcher.check(environment_of_the_pod()), [])


class Environment(unittest.TestCase):
    def told(self, **variables):
        return launcher.gateway_environment(variables, place.place_of(variables, LOCAL))

    def test_service_links_are_left_out_and_settings_stay(self):
        links = ["PLIMSOLL_SERVICE_HOST", "PLIMSOLL_SERVICE_PORT", "PLIMSOLL_SERVICE_PORT_HTTP", "PLIMSOLL_PORT", "PLIMSOLL_PORT_80_TCP",
                 "PLIMSOLL_PORT_80_TCP_PROTO", "PLIMSOLL_PORT_80_TCP_ADDR", "PLIMSOLL_POSTGRESQL_SERVICE_HOST", "PLIMSOLL_POSTGRESQL_PORT"]
        told = self.told(**{name: "tcp://10.0.0.1:80" for name in links}, PLIMSOLL_LOG_FORMAT="json", OTHER_PORT="1")
        self.assertFalse(told.keys() & set(links))
        self.assertEqual((told["PLIMSOLL_LOG_FORMAT"], told["OTHER_PORT"]), ("json", "1"))
        for setting in re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text(), re.M):
            self.assertIsNone(launcher.SERVICE_LINK.fullmatch(f"PLIMSOLL_{setting.upper()}"), setting)

    def test_what_the_user_says_wins_and_an_empty_variable_says_nothing(self):
        told = self.told(PLIMSOLL_KAITO_COMPAT="false", PLIMSOLL_LISTEN="127.0.0.1:5001", PLIMSOLL_OPEN_TO_ALL="")
        self.assertEqual((told["PLIMSOLL_KAITO_COMPAT"], told["PLIMSOLL_LISTEN"], told["PLIMSOLL_OPEN_TO_ALL"]), ("false", "127.0.0.1:5001", "true"))

    def test_without_a_model_server_no_other_model_answers(self):
        self.assertEqual(self.told()["PLIMSOLL_EMBEDDED_MODEL"], "false")
        self.assertNotIn("PLIMSOLL_EMBEDDED_MODEL", self.told(LLM_INFERENCE_URL="http://phi-4/v1/chat/completions"))

    def test_guardrails_and_other_vector_stores_are_refused(self):
        for variables, part in (({"OUTPUT_GUARDRAILS_ENABLED": "true"}, "no output guardrails"), ({"VECTOR_DB_TYPE": "qdrant"}, "VECTOR_DB_TYPE is qdrant")):
            with self.assertRaises(launcher.Refused) as caught:
                launcher.check(variables)
            self.assertIn(part, str(caught.exception))

    def test_embedders_without_effect_are_said(self):
        self.assertEqual(launcher.check({}), [])
        self.assertIn("'remote'", launcher.check({"EMBEDDING_TYPE": "remote"})[0])
        self.assertIn("'intfloat/e5-base'", launcher.check({"MODEL_ID": "intfloat/e5-base"})[0])

    def test_the_store_is_on_the_volume_if_the_volume_is_of_this_machine(self):
        where = place.place_of({"DEFAULT_VECTOR_DB_PERSIST_DIR": "/mnt/data/rag"}, LOCAL)
        self.assertEqual(where, place.Place(Path("/mnt/data/rag"), Path("/mnt/data/rag/.plimsoll/store.db"), False))

    def test_the_store_is_beside_a_volume_of_another_machine(self):
        for kind in ("nfs4", "cifs", "fuse.blobfuse2", "ceph", "lustre", "smb3"):
            where = place.place_of({"DEFAULT_VECTOR_DB_PERSIST_DIR": "/mnt/data/rag"}, MOUNTS.format(kind=kind))
            self.assertEqual(where, place.Place(Path("/mnt/data/rag"), place.LOCAL_STORE, True), kind)

    def test_a_pod_without_a_volume_keeps_nothing(self):
        for variables in ({}, {"DEFAULT_VECTOR_DB_PERSIST_DIR": "storage"}):
            self.assertEqual(place.place_of(variables, REMOTE), place.Place(Path("/app/ragengine/storage"), place.LOCAL_STORE, False))

    def test_the_nearest_mount_counts(self):
        for path, kind in (("/mnt/data/rag", "nfs4"), ("/mnt/data/deeper/x", "xfs"), ("/mnt/with space/x", "ext4"), ("/mnt/database", "overlay")):
            self.assertEqual(place.file_system_of(Path(path), REMOTE), kind, path)
        self.assertTrue(place.file_system_of(Path("/proc"), place.mounts()))


class Gateway:
    """Answers as the gateway does what the hooks ask; `broken`: indexes that can be neither loaded nor written."""

    def __init__(self, indexes=(), broken=(), with_keys=False):
        self.indexes, self.broken, self.asked = dict.fromkeys(indexes, "new"), set(broken), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                outer.asked.append(self.path)
                self.answer(401, {}) if with_keys else self.answer(200, list(outer.indexes))

            def do_POST(self):
                outer.asked.append(self.path)
                url = urllib.parse.urlsplit(self.path)
                _, what, index = (urllib.parse.unquote(part) for part in url.path.split("/"))
                folder = Path(urllib.parse.parse_qs(url.query)["path"][0])
                if index in outer.broken:
                    return self.answer(500, {"detail": "no"})
                if what == "persist":
                    folder.mkdir(parents=True)
                    (folder / "plimsoll-index.db").write_text(outer.indexes[index])
                else:
                    outer.indexes[index] = (folder / "plimsoll-index.db").read_text()
                return self.answer(200, {"message": "done"})

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Hooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.volume = self.folder / "volume"
        self.volume.mkdir()
        self.where = place.Place(self.volume, self.folder / "store.db", True)
        self.said, self.stops = io.StringIO(), 0
        for target, name, value in ((hooks, "MISSED_FILE", self.folder / "missed"), (hooks, "LAST_SECONDS", 0), (place, "PID_FILE", self.folder / "pid")):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def gateway(self, *indexes, **options):
        gateway = Gateway(indexes, **options)
        self.addCleanup(gateway.close)
        return gateway

    def start(self, gateway, where=None):
        with contextlib.redirect_stdout(self.said):
            return hooks.poststart(where or self.where, gateway.url)

    def stop(self, gateway, where=None, uid="0123456789abcdef"):
        stamp = f"2026-01-01T00-00-{self.stops:02}"
        self.stops += 1
        with contextlib.redirect_stdout(self.said), mock.patch.object(hooks.time, "strftime", return_value=stamp):
            return hooks.prestop(where or self.where, gateway.url, {"POD_UID": uid, "POD_NAME": "rag-1"})

    def lives(self, *indexes, **options):
        """A pod that starts, gets indexes, and ends; returns its gateway and the status of prestop."""
        hooks.MISSED_FILE.unlink(missing_ok=True)
        gateway = self.gateway(**options)
        self.assertEqual(self.start(gateway), 0)
        gateway.indexes.update(dict.fromkeys(indexes, "new"))
        return gateway, self.stop(gateway)

    def test_indexes_go_from_pod_to_pod(self):
        self.assertEqual(self.lives("notes", "a/b c", "%2F?&")[1], 0)
        self.assertTrue((self.volume / "LATEST").is_symlink())
        self.assertEqual(os.readlink(self.volume / "LATEST"), "systemsnapshots/2026-01-01T00-00-00_pod-01234567")
        after, _ = self.lives()
        self.assertEqual(set(after.indexes), {"notes", "a/b c", "%2F?&"})
        self.assertIn("overwrite=true", next(path for path in after.asked if path.startswith("/load/notes?")))

    def test_deleted_indexes_do_not_come_back(self):
        self.lives("notes")
        gateway, status = self.lives()
        gateway.indexes.clear()
        self.assertEqual((status, self.stop(gateway)), (0, 0))
        self.assertEqual(self.lives()[0].indexes, {})

    def test_what_could_not_be_loaded_is_kept(self):
        self.lives("notes", "broken")
        gateway, status = self.lives("more", broken={"broken"})
        self.assertEqual((status, set(gateway.indexes)), (0, {"notes", "more"}))
        self.assertEqual(set(self.lives()[0].indexes), {"notes", "more", "broken"})

    def test_what_cannot_be_written_is_kept_as_it_was_and_said(self):
        self.lives("notes")
        gateway = self.gateway()
        self.start(gateway)
        gateway.indexes["notes"], gateway.indexes["fresh"], gateway.broken = "newer", "newer", {"notes", "fresh"}
        self.assertEqual(self.stop(gateway), 1)
        self.assertIn("'notes' is kept as it was", self.said.getvalue())
        self.assertEqual(self.lives()[0].indexes, {"notes": "new"})

    def test_a_pod_that_did_not_load_writes_nothing(self):
        self.lives("notes")
        hooks.MISSED_FILE.unlink()
        self.assertEqual(self.stop(self.gateway()), 1)
        self.assertIn("writes no newer one", self.said.getvalue())
        self.assertEqual(set(self.lives()[0].indexes), {"notes"})

    def test_five_snapshots_are_kept_and_a_half_written_one_does_not_count(self):
        for number in range(7):
            self.lives(f"index-{number}")
        snapshots = [path for path in (self.volume / "systemsnapshots").iterdir() if path.is_dir()]
        self.assertEqual(len(snapshots), hooks.KEPT)
        (self.volume / "systemsnapshots" / "2027-01-01T00-00-00_pod-x").mkdir()
        (self.volume / "LATEST").unlink()
        self.assertEqual(len(self.lives()[0].indexes), 7)

    def test_kaitos_own_snapshots_are_named_and_left_alone(self):
        old = self.volume / "systemsnapshots" / "2025-01-01T00-00-00_pod-old"
        (old / "notes").mkdir(parents=True)
        (old / "notes" / "docstore.json").write_text("{}")
        (old / "metadata.json").write_text('{"index_names": ["notes"], "version": 1}')
        gateway, status = self.lives("more")
        self.assertEqual((status, set(gateway.indexes)), (0, {"more"}))
        self.assertIn("KAITO's own files are not read", self.said.getvalue())
        self.assertTrue(list(self.volume.glob("LATEST/*/docstore.json")))
        self.assertTrue((old / "notes" / "docstore.json").exists())

    def test_a_store_on_the_volume_needs_no_snapshots(self):
        where = place.Place(self.volume, self.volume / ".plimsoll" / "store.db", False)
        gateway = self.gateway("notes")
        self.assertEqual((self.start(gateway, where), self.stop(gateway, where)), (0, 0))
        self.assertEqual(gateway.asked, ["/indexes"])
        self.assertEqual(list(self.volume.iterdir()), [])

    def test_with_keys_the_hooks_say_that_they_can_do_nothing(self):
        gateway = self.gateway("notes", with_keys=True)
        self.assertEqual(self.start(gateway), 0)
        self.assertIn("API keys", self.said.getvalue())
        self.assertEqual(self.stop(gateway), 1)

    def test_a_gateway_that_does_not_answer_fails_the_hook(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with mock.patch.object(hooks, "START_SECONDS", 1), self.assertRaises(TimeoutError):
            hooks.wait_for(f"http://127.0.0.1:{port}", 1)
        done = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {[str(KAITO), str(KAITO / 'lifecycle')]!r}; import hooks; hooks.wait_for.__defaults__ = (1,); "
                               "sys.exit(hooks.main(['poststart']))"], env=os.environ | {"PLIMSOLL_LISTEN": f"127.0.0.1:{port}"},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no answer from the gateway", done.stdout)

    def test_a_proxy_is_not_asked(self):
        gateway = self.gateway("notes")
        with mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:1", "no_proxy": ""}):
            self.assertEqual(self.start(gateway), 0)

    def test_the_gateway_is_told_to_end(self):
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
            place.PID_FILE.write_text(f"{process.pid}\n")
            self.lives()
            self.assertEqual(process.wait(10), -signal.SIGTERM)

    def test_it_is_used_with_one_word(self):
        done = subprocess.run([sys.executable, str(KAITO / "lifecycle" / "hooks.py"), "restart"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "usage: hooks.py poststart|prestop\n"))


class Launched(unittest.TestCase):
    """main.py as the pod starts it: by a shell, in its folder, with a program called plimsoll on the PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shutil.copytree(KAITO, self.folder / "app")
        main = self.folder / "app" / "place.py"
        main.write_text(main.read_text().replace("/run/plimsoll.pid", f"{self.folder}/pid"))
        hook = self.folder / "app" / "lifecycle" / "hooks.py"
        hook.write_text(hook.read_text().replace("/run/plimsoll-missed.json", f"{self.folder}/missed"))

    def environment(self, **variables):
        return {"PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": str(self.folder),
                "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")), "PYTHONDONTWRITEBYTECODE": "1"} | variables

    def test_the_program_gets_the_settings_and_the_number_of_the_process(self):
        stub = self.folder / "plimsoll"
        stub.write_text("#!/bin/sh\necho \"$@\"; echo $$; env\n")
        stub.chmod(0o755)
        done = subprocess.run(["/bin/sh", "-c", "python3 main.py"], cwd=self.folder / "app", capture_output=True, text=True, check=True,
                              env=self.environment(DEFAULT_VECTOR_DB_PERSIST_DIR=str(self.folder / "volume" / "rag"), PLIMSOLL_PORT="tcp://10.0.0.1:80"))
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], lines[1]), ("serve", (self.folder / "pid").read_text().strip()))
        self.assertIn("PLIMSOLL_KAITO_COMPAT=true", lines)
        self.assertNotIn("PLIMSOLL_PORT=tcp://10.0.0.1:80", lines)
        self.assertTrue((self.folder / "volume" / "rag").is_dir())

    def test_what_is_refused_starts_nothing(self):
        done = subprocess.run(["/bin/sh", "-c", "python3 main.py"], cwd=self.folder / "app", capture_output=True, text=True, check=False,
                              env=self.environment(OUTPUT_GUARDRAILS_ENABLED="true"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no output guardrails", done.stderr)

    @unittest.skipUnless(PROGRAM, "needs build/plimsoll on the PATH")
    def test_documents_survive_the_pod(self):
        """The real gateway: a document is indexed, the pod ends by its hook, and another pod has it."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        volume = self.folder / "volume"
        shared = self.environment(DEFAULT_VECTOR_DB_PERSIST_DIR=str(volume), PLIMSOLL_LISTEN=f"127.0.0.1:{port}", PLIMSOLL_SERVICE_HOST="10.0.0.1")
        for on_the_volume in (False, True):
            shutil.rmtree(volume, ignore_errors=True)
            for life in (1, 2):
                own = {} if on_the_volume else {"PLIMSOLL_STORE_FILE": str(self.folder / f"pod-{life}.db")}
                with self.subTest(on_the_volume=on_the_volume, life=life), \
                        subprocess.Popen(["/bin/sh", "-c", "python3 main.py"], cwd=self.folder / "app", env=shared | own,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                    try:
                        self.hook("poststart", shared | own)
                        if life == 1:
                            self.ask(port, "/index", {"index_name": "notes", "documents": [{"text": "The mast is 40 m high."}]})
                        else:
                            self.assertEqual([one["text"] for one in self.ask(port, "/indexes/notes/documents")["documents"]], ["The mast is 40 m high."])
                        with self.assertRaises(urllib.error.HTTPError) as caught:
                            self.ask(port, "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello!"}]})
                        self.assertEqual(caught.exception.code, 503)
                        caught.exception.close()
                        self.hook("prestop", shared | own)
                        self.assertEqual(process.wait(45), 0)
                    finally:
                        process.kill()

    def hook(self, word, environment):
        done = subprocess.run([sys.executable, str(self.folder / "app" / "lifecycle" / "hooks.py"), word], cwd=self.folder / "app",
                              env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @staticmethod
    def ask(port, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=json.dumps(body).encode() if body else None,
                                         headers={"Content-Type": "application/json"})
        with hooks.opener.open(request, timeout=60) as reply:
            return json.load(reply)


if __name__ == "__main__":
    unittest.main()
