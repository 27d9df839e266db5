"""Starts the gateway with the environment of a RAGEngine pod.

KAITO's controller sets the variables and the command `python3 main.py`. This program turns what the gateway does not read by
itself into settings, refuses what it cannot do, and becomes the gateway: the process keeps its number.
"""

import os
import re
import sys
from pathlib import Path

import place

# What Kubernetes sets for each Service of the namespace, such as PLIMSOLL_PORT for one called plimsoll. The gateway refuses
# variables with its prefix that are no settings.
SERVICE_LINK = re.compile(r"PLIMSOLL_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)")
DEFAULT_EMBEDDER = "BAAI/bge-small-en-v1.5"


class Refused(Exception):
    """The pod asks for something that the gateway does not do and that may not be left out in silence."""


def check(environment):
    """Returns warnings about what has no effect; refuses what would be missed."""
    if environment.get("OUTPUT_GUARDRAILS_ENABLED", "").lower() == "true":
        raise Refused("OUTPUT_GUARDRAILS_ENABLED is true, and Plimsoll has no output guardrails. "
                      "Set spec.guardrails.enabled of the RAGEngine to false, or keep KAITO's image.")
    if environment.get("VECTOR_DB_TYPE", "faiss").lower() not in ("", "faiss"):
        raise Refused(f"VECTOR_DB_TYPE is {environment['VECTOR_DB_TYPE']}, and Plimsoll keeps vectors in its own store. "
                      "Remove spec.storage.vectorDB of the RAGEngine; spec.storage.persistentVolume keeps the store.")
    warnings = []
    kind = environment.get("EMBEDDING_SOURCE_TYPE") or environment.get("EMBEDDING_TYPE") or "local"
    if kind.lower() != "local":
        warnings.append(f"the embedding type '{kind}' is not used: documents are embedded inside the gateway")
    model = environment.get("LOCAL_EMBEDDING_MODEL_ID") or environment.get("MODEL_ID") or DEFAULT_EMBEDDER
    if model != DEFAULT_EMBEDDER:
        warnings.append(f"the embedding model '{model}' is not used: documents are embedded with all-MiniLM-L6-v2")
    return warnings


def gateway_environment(environment, where):
    """The environment that the gateway starts with. What has the gateway's own prefix and is not empty is the user's."""
    out = {name: value for name, value in environment.items()
           if not SERVICE_LINK.fullmatch(name) and (value or not name.startswith("PLIMSOLL_"))}
    defaults = {
        "PLIMSOLL_STORE_FILE": str(where.store),
        "PLIMSOLL_DEFAULT_VECTOR_DB_PERSIST_DIR": str(where.snapshots),
        "PLIMSOLL_LISTEN": f"0.0.0.0:{place.PORT}",
        # RAGEngine has no keys. With `plimsoll keys add` there are some, and then they are required.
        "PLIMSOLL_OPEN_TO_ALL": "true",
        "PLIMSOLL_KAITO_COMPAT": "true",
    }
    if not environment.get("LLM_INFERENCE_URL"):
        # RAGEngine answers 503 to chats then; the embedded model must not answer in its place.
        defaults["PLIMSOLL_EMBEDDED_MODEL"] = "false"
    return defaults | out


def main():
    where = place.place_of(os.environ, place.mounts(), Path.cwd())
    try:
        for warning in check(os.environ):
            print(f"main.py: {warning}", file=sys.stderr)
    except Refused as error:
        print(f"main.py: {error}", file=sys.stderr)
        return 2
    print(f"main.py: documents are in {where.store}" +
          (f", and between two pods in snapshots below {where.snapshots}" if where.needs_hooks else ""), file=sys.stderr, flush=True)
    for folder in (where.store.parent, where.snapshots):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        place.PID_FILE.write_text(f"{os.getpid()}\n")
    except OSError as error:
        print(f"main.py: the hook cannot end the gateway early: {error}", file=sys.stderr)
    environment = gateway_environment(os.environ, where)
    os.execvpe("plimsoll", ["plimsoll", "serve"], environment)


if __name__ == "__main__":
    sys.exit(main())
