"""Where a RAGEngine pod keeps its documents, from its environment. The launcher and the hooks must agree on it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

# File systems on other machines, where SQLite's locks and shared memory do not work between two pods.
REMOTE = ("nfs", "cifs", "smb", "fuse", "9p", "ceph", "glusterfs", "lustre", "gpfs", "beegfs", "afs", "virtiofs")
LOCAL_STORE = Path("/data/store.db")
PID_FILE = Path("/run/plimsoll.pid")
PORT = 5000


@dataclass(frozen=True)
class Place:
    """`snapshots`: the folder of POST /persist, which the pod calls DEFAULT_VECTOR_DB_PERSIST_DIR. `store`: the database.
    `needs_hooks`: the database goes with the pod, the folder stays; so the hooks copy indexes between the two."""

    snapshots: Path
    store: Path
    needs_hooks: bool


def file_system_of(path, mounts):
    """The type of the file system that holds the path, which need not exist, by the lines of /proc/self/mountinfo."""
    best, kind = Path("/"), ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        # Spaces and the like are written as \040.
        point = Path(re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= len(best.parts):  # of two on one place the later one counts
            best, kind = point, after.split()[0]
    return kind


def place_of(environment, mounts, folder=Path("/app/ragengine")):
    """`folder`: the working folder of the pod, which a relative path is relative to."""
    given = Path(environment.get("PLIMSOLL_DEFAULT_VECTOR_DB_PERSIST_DIR") or
                 environment.get("DEFAULT_VECTOR_DB_PERSIST_DIR") or "storage")
    snapshots = Path(os.path.normpath(folder / given))
    if environment.get("PLIMSOLL_STORE_FILE"):
        store = Path(environment["PLIMSOLL_STORE_FILE"])
    elif given.is_absolute() and not file_system_of(snapshots, mounts).startswith(REMOTE):
        store = snapshots / ".plimsoll" / "store.db"
    else:
        store = LOCAL_STORE
    # A relative folder is the container's own, so nothing would outlive the pod there either.
    return Place(snapshots, store, given.is_absolute() and not store.is_relative_to(snapshots))


def mounts():
    return Path("/proc/self/mountinfo").read_text()


def address(environment):
    """Where the pod's own gateway answers."""
    port = environment.get("PLIMSOLL_LISTEN", "").rpartition(":")[2]
    return f"http://127.0.0.1:{port or PORT}"
