"""The server against its own description: schemathesis makes requests from /openapi.json, good and bad ones, and no
reply may be a 5xx or other than described.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the clients. Nothing here leaves this
machine.
"""

import os
import subprocess
import unittest
from pathlib import Path

from gateway import PATIENCE, WithGateway

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
PYTHON = Path(os.environ.get("CLIENTS_PYTHON") or CACHE / "venv-clients" / "bin" / "python")
SCHEMATHESIS = PYTHON.parent / "schemathesis"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES") or "5"


class OpenApi(WithGateway):
    def test_every_route_is_described(self):
        described = self.gateway.ask("/openapi.json").json
        self.assertEqual(described["openapi"], "3.1.0")
        listed = {route.replace("...}", "}") for route in self.gateway.ask("/").json["routes"]}
        there = {f"{method.upper()} {path}" for path, methods in described["paths"].items() for method in methods}
        self.assertEqual(listed, there)
        self.assertGreater(len(there), 40)
        identifiers = [one["operationId"] for methods in described["paths"].values() for one in methods.values()]
        self.assertEqual(len(identifiers), len(set(identifiers)))

    @unittest.skipUnless(SCHEMATHESIS.exists(), "run tools/setup clients")
    def test_what_is_made_from_it_is_answered_as_it_says(self):
        done = subprocess.run(
            [SCHEMATHESIS, "run", f"{self.gateway.url}/openapi.json", "--checks", CHECKS, "--max-examples", EXAMPLES,
             "--phases", "examples,coverage,fuzzing", "--seed", "1876", "--workers", "1", "--exclude-path", "/api/{other}", "--request-timeout", str(self.gateway.patience),
             "--suppress-health-check", "all", "--warnings", "off", "--no-color"],
            capture_output=True, text=True, timeout=20 * PATIENCE + self.gateway.patience, cwd=self.gateway.folder, check=False,
            env=os.environ | {"no_proxy": "127.0.0.1", "HYPOTHESIS_STORAGE_DIRECTORY": str(self.gateway.folder / "hypothesis")})
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        self.assertEqual(self.gateway.ask("/health").status, 200)


if __name__ == "__main__":
    unittest.main()
