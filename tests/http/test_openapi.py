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

    def test_the_schema_of_wishes_is_what_the_planner_takes(self):
        wishes = self.gateway.ask("/openapi.json").json["components"]["schemas"]["Wishes"]["properties"]

        def status(wish):
            body = {"model": self.model, "messages": [{"role": "user", "content": "How deep?"}], "plimsoll": wish}
            return self.gateway.ask("/v1/plan", body).status

        def fits(schema, value):
            """Whether a value is of a schema, as far as these schemas go."""
            if "$ref" in schema:
                return isinstance(value, list) and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in value)
            if "anyOf" in schema:
                return any(fits(one, value) for one in schema["anyOf"])
            if "enum" in schema:
                return value in schema["enum"]
            kinds = {"integer": int, "boolean": bool, "string": str, "null": type(None), "array": list, "number": float}
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            named = [name for name in types if type(value) is kinds[name]]
            if not named:
                return False
            if named == ["array"]:
                return all(fits(schema["items"], one) for one in value)
            if named == ["string"]:
                return len(value) >= schema.get("minLength", 0)
            return named != ["integer"] or schema["minimum"] <= value <= schema["maximum"]

        values = [None, True, 0, 7, -1, 2_000_000_000_000, 1.5, "", "best_last", {}, [], [""], ["m"], [{"text": "A."}], [{"id": "a"}]]
        for name, schema in wishes.items():
            for value in values + schema.get("enum", []):
                said = status({name: value})
                self.assertEqual(said == 200, fits(schema, value), f"{name}: {value!r} gave {said}")
                self.assertIn(said, (200, 400))
        self.assertEqual(status({"polcy": "strict"}), 400)

    @unittest.skipUnless(SCHEMATHESIS.exists(), "run tools/setup clients")
    def test_what_is_made_from_it_is_answered_as_it_says(self):
        done = subprocess.run(
            [SCHEMATHESIS, "run", f"{self.gateway.url}/openapi.json", "--checks", CHECKS, "--max-examples", EXAMPLES,
             "--phases", "examples,coverage,fuzzing", "--seed", "1876", "--workers", "1", "--exclude-path", "/api/{other}", "--exclude-path", "/v1/traces/stream", "--request-timeout", str(self.gateway.patience),
             "--suppress-health-check", "all", "--warnings", "off", "--no-color"],
            capture_output=True, text=True, timeout=20 * PATIENCE + self.gateway.patience, cwd=self.gateway.folder, check=False,
            env=os.environ | {"no_proxy": "127.0.0.1", "HYPOTHESIS_STORAGE_DIRECTORY": str(self.gateway.folder / "hypothesis")})
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        self.assertEqual(self.gateway.ask("/health").status, 200)


if __name__ == "__main__":
    unittest.main()
