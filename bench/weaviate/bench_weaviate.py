"""Indexes on Weaviate beside Weaviate alone: importing the same objects with its own Python client, and the same queries.

  python3 bench/weaviate/bench_weaviate.py [--chunks N]

`make bench-weaviate` runs it. Each import has a new server on this machine.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from weaviate import CACHE, Weaviate  # noqa: E402 (the server of the tests, not the client)

TIMER = ROOT / "build" / "bench" / "weaviate_timer"

# Runs in the environment of the client.
IMPORT = """
import json, random, sys, time
import weaviate
from weaviate.classes.query import MetadataQuery

port, grpc, path, size, requests = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
with open(path) as lines:
    schema = json.loads(next(lines))
    objects = [json.loads(line) for line in lines]
with weaviate.connect_to_local(port=port, grpc_port=grpc) as client:
    collection = client.collections.create_from_dict(schema)
    began = time.monotonic()
    with collection.batch.fixed_size(batch_size=size, concurrent_requests=requests) as batch:
        for one in objects:
            batch.add_object(properties=one["properties"], uuid=one["id"], vector=one["vectors"])
    took = time.monotonic() - began
    assert not collection.batch.failed_objects, collection.batch.failed_objects[:1]
    assert len(collection) == len(objects), len(collection)
    times = []
    for one in random.Random(3).sample(objects, min(300, len(objects))):
        at = time.monotonic()
        collection.query.near_vector(one["vectors"]["e0"], target_vector="e0", limit=100, return_properties=[],
                                     return_metadata=MetadataQuery(distance=True))
        times.append(time.monotonic() - at)
print(json.dumps({"import_s": took, "near_ms": sorted(times)[len(times) // 2] * 1000}))
"""


def ours(chunks, objects):
    with Weaviate() as server:
        done = subprocess.run([TIMER, server.url, str(chunks), objects], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def client(objects, size=256, requests=2):
    with Weaviate() as server:
        node = server.nodes[0]
        done = subprocess.run([CACHE / "venv-bench-weaviate" / "bin" / "python", "-c", IMPORT, str(node.port), str(node.grpc), objects,
                               str(size), str(requests)], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    found, others = [], []
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        objects = Path(folder) / "objects.jsonl"
        for _ in range(options.rounds):  # in turn, because the machine is not always equally busy
            found.append(ours(options.chunks, objects))
            print(json.dumps(found[-1]), flush=True)
            others.append(client(objects))
            print(json.dumps(others[-1]), flush=True)
    for kind in ("words", "vectors"):
        print(f"{kind}: {statistics.median(one[kind]['ours_ms'] for one in found):.2f} ms, the same query sent as it is "
              f"{statistics.median(one[kind]['raw_ms'] for one in found):.2f} ms, ratio {statistics.median(one[kind]['ratio'] for one in found):.2f}")
    here, there = (statistics.median(one["import_s"] for one in times) for times in (found, others))
    print(f"import of {options.chunks} pieces: {options.chunks / here:.0f}/s, its own client {options.chunks / there:.0f}/s, ratio {there / here:.2f}")


if __name__ == "__main__":
    main()
