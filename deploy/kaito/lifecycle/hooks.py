"""The hooks of a RAGEngine pod: `hooks.py poststart` when its container has started, `hooks.py prestop` before it ends.

If the store outlives the pod, poststart only waits for the gateway. Otherwise prestop writes all indexes into a new folder below
`systemsnapshots` and lets the link LATEST point to it, and poststart loads them from there.
"""

import json
import os
import shutil
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import place  # noqa: E402  pylint: disable=wrong-import-position

# Written by poststart when it has loaded what it could: the indexes of the snapshot that it could not load.
MISSED_FILE = Path("/run/plimsoll-missed.json")
START_SECONDS = 60  # Kubernetes ends the container if the hook fails, so this is for a gateway that hangs
CALL_SECONDS = 30
KEPT = 5
# In which load balancers stop sending to the pod.
LAST_SECONDS = 5


def say(text):
    print(f"hooks.py: {text}", flush=True)


# The gateway is in this container: no proxy is between.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(url, method="GET", seconds=CALL_SECONDS):
    """The answer's JSON."""
    with opener.open(urllib.request.Request(url, method=method), timeout=seconds) as reply:
        return json.load(reply)


def wait_for(gateway, seconds=START_SECONDS):
    """The names of the indexes, once the gateway answers. With API keys it answers 401, and then None."""
    end = time.monotonic() + seconds
    while True:
        try:
            return ask(f"{gateway}/indexes", seconds=2)
        except urllib.error.HTTPError as error:
            if error.code == 401:
                return None
            problem = error
        except (OSError, ValueError) as error:
            problem = error
        if time.monotonic() > end:
            raise TimeoutError(f"no answer from the gateway in {seconds} s: {problem}")
        time.sleep(0.2)


def snapshot_url(gateway, what, index, path, **options):
    query = urllib.parse.urlencode({"path": str(path)} | options)
    return f"{gateway}/{what}/{urllib.parse.quote(index, safe='')}?{query}"


def folder_name(number):
    """Of an index within a snapshot; names of indexes may be anything."""
    return f"index-{number:04}"


def snapshots_in(root):
    """The complete snapshots, newest first: their names begin with the time."""
    folder = root / "systemsnapshots"
    return sorted((path for path in folder.iterdir() if (path / "metadata.json").is_file()), reverse=True) if folder.is_dir() else []


def latest_in(root):
    """The snapshot that LATEST points to, or else the newest."""
    link = root / "LATEST"
    if link.is_symlink() and (link / "metadata.json").is_file():
        return link.resolve()
    return next(iter(snapshots_in(root)), None)


def folders_of(snapshot):
    """The folder of each index. KAITO's own snapshots have them by the names of the indexes."""
    told = json.loads((snapshot / "metadata.json").read_text())
    return {index: told.get("folders", {}).get(index, index) for index in told.get("index_names", [])}


def load(gateway, snapshot):
    """Loads what the snapshot has; returns the indexes that could not be loaded."""
    missed = []
    for index, folder in folders_of(snapshot).items():
        if not (snapshot / folder / "plimsoll-index.db").is_file():
            say(f"'{index}' in {snapshot.name} is not Plimsoll's: KAITO's own files are not read. Index its documents again.")
            missed.append(index)
            continue
        try:
            ask(snapshot_url(gateway, "load", index, snapshot / folder, overwrite="true"), "POST")
            say(f"loaded '{index}'")
        except (OSError, ValueError) as error:
            say(f"'{index}' was not loaded: {error}")
            missed.append(index)
    return missed


def poststart(where, gateway):
    """0, unless the gateway does not answer. An index that cannot be loaded is logged: the pod serves the others."""
    indexes = wait_for(gateway)
    snapshot = latest_in(where.snapshots)
    if not where.needs_hooks:
        if snapshot and not indexes:
            say(f"the snapshot {snapshot.name} is not loaded: the documents are in {where.store}")
        return 0
    if indexes is None:
        say("the store has API keys, so the hooks can neither load nor keep indexes")
        return 0
    MISSED_FILE.write_text(json.dumps(load(gateway, snapshot) if snapshot else []))
    return 0


def save(where, gateway, environment):
    """Writes a snapshot of all indexes, which counts from the moment its metadata.json is there.

    Without indexes it is an empty one: indexes that were deleted must not come back with an older snapshot. An index that
    poststart could not load, or that cannot be written now, is copied from the older one."""
    if not MISSED_FILE.is_file():
        raise RuntimeError("this pod has not loaded the latest snapshot, so it writes no newer one")
    missed, before = json.loads(MISSED_FILE.read_text()), latest_in(where.snapshots)
    indexes = ask(f"{gateway}/indexes", seconds=5)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
    snapshot = where.snapshots / "systemsnapshots" / f"{stamp}_pod-{(environment.get('POD_UID') or 'unknown')[:8]}"
    snapshot.mkdir(parents=True)
    saved, old_copies = {}, set(missed) - set(indexes)
    try:
        for number, index in enumerate(indexes):
            try:
                ask(snapshot_url(gateway, "persist", index, snapshot / folder_name(number)), "POST")
                saved[index] = folder_name(number)
            except (OSError, ValueError) as error:
                say(f"'{index}' was not kept: {error}")
                old_copies.add(index)
        there = folders_of(before) if before else {}
        for number, index in enumerate(sorted(old_copies & there.keys()), len(indexes)):
            shutil.copytree(before / there[index], snapshot / folder_name(number))
            saved[index] = folder_name(number)
            say(f"'{index}' is kept as it was in {before.name}")
        part = snapshot / ".metadata.json"
        part.write_text(json.dumps({"index_names": list(saved), "folders": saved, "pod_name": environment.get("POD_NAME", ""),
                                    "pod_uid": environment.get("POD_UID", ""), "version": 1}, indent=1) + "\n")
        os.replace(part, snapshot / "metadata.json")
    except BaseException:
        shutil.rmtree(snapshot, ignore_errors=True)
        raise
    link = where.snapshots / f".LATEST-{os.getpid()}"
    link.symlink_to(snapshot.relative_to(where.snapshots))
    os.replace(link, where.snapshots / "LATEST")
    for old in snapshots_in(where.snapshots)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    say(f"kept {len(saved)} indexes in {snapshot.name}")
    if set(indexes) - saved.keys() or old_copies & set(indexes):
        raise RuntimeError("some have no copy, or only an older one")


def end_gateway():
    """SIGTERM, which lets running requests finish. The pod's command runs in a shell, which does not pass signals on."""
    try:
        os.kill(int(place.PID_FILE.read_text()), signal.SIGTERM)
    except (OSError, ValueError) as error:
        say(f"the gateway was not told to end: {error}")


def prestop(where, gateway, environment):
    began, status = time.monotonic(), 0
    if where.needs_hooks:
        try:
            save(where, gateway, environment)
        except (OSError, ValueError, RuntimeError) as error:
            say(f"not all indexes were kept: {error}")
            status = 1
    time.sleep(max(0.0, LAST_SECONDS - (time.monotonic() - began)))
    end_gateway()
    return status


def main(arguments):
    where, gateway = place.place_of(os.environ, place.mounts(), Path.cwd()), place.address(os.environ)
    if arguments == ["poststart"]:
        try:
            return poststart(where, gateway)
        except TimeoutError as error:
            say(str(error))
            return 1
    if arguments == ["prestop"]:
        return prestop(where, gateway, os.environ)
    print("usage: hooks.py poststart|prestop", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
