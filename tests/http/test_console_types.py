"""The types of the web console are those of /openapi.json, and replies are as it describes them.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import importlib.util
import time
import unittest
from pathlib import Path

from described import Described
from gateway import CHAT, PATIENCE, WithGateway, long_history, user

ROOT = Path(__file__).resolve().parent.parent.parent


def generator():
    spec = importlib.util.spec_from_file_location("web_types", ROOT / "tools" / "web_types.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.typescript


class Types(WithGateway):
    MODELS = {"gpt-4o": 8192, "small": 900}

    def test_the_committed_types_are_those_of_this_gateway(self):
        made = generator()(self.gateway.ask("/openapi.json").json)
        self.assertEqual((ROOT / "web/src/api/schemas.ts").read_text(), made, "run `python3 tools/web.py types` and `make web`")

    def test_how_schemas_are_written(self):
        schemas = {"A": {"type": "object", "description": "Of all kinds.", "required": ["one", "two"], "properties": {
                       "one": {"type": ["integer", "null"]}, "two": {"type": "array", "items": {"enum": ["x", None, 3, True]}},
                       "three": {"anyOf": [{"$ref": "#/components/schemas/B"}, {"type": "null"}]}, "four": {"type": "object"},
                       "five": {"type": "object", "properties": {"six": {"const": 1, "description": "Always."}}}}},
                   "B": {"type": "array", "items": {"type": "number"}}}
        self.assertEqual(generator()({"components": {"schemas": schemas}}).split("\n\n", 1)[1],
                         "// Of all kinds.\nexport interface A {\n  one: number | null;\n  two: (\"x\" | null | 3 | true)[];\n  three?: B | null;\n  four?: object;\n"
                         "  five?: {\n    // Always.\n    six?: 1;\n  };\n}\n\nexport type B = number[];\n")

    def test_replies_are_as_they_are_described(self):
        described = Described(self.gateway.ask("/openapi.json").json)
        self.upstream.prompt_tokens = 8

        def get(path, route=None, method="GET", body=None):
            reply = self.gateway.ask(path, body, method=method)
            self.assertLess(reply.status, 300, (path, reply.body))
            self.assertEqual(described.faults(reply.json, method, route or path.split("?")[0]), [], path)
            return reply.json

        get("/v1/memories", method="POST", body={"text": "The captain drinks tea."})
        index = get("/index", method="POST", body={"index_name": "ship", "documents": [
            {"text": "# Mary Bright\n\nMary Bright was a barque that Samuel Hall built in Sunderland."},
            {"text": "# Samuel Hall\n\nSamuel Hall was a shipbuilder, and never met Mary Bright again."}]})
        key = index[0]["doc_id"]
        chat = {"model": "gpt-4o", "messages": user("Who built the Mary Bright?"), "index_name": "ship", "plimsoll": {"check": True, "explain": True, "memory": True}}
        get(CHAT, method="POST", body=chat)
        get(CHAT, method="POST", body={"model": "small", "messages": long_history(30), "max_tokens": 100})
        get("/v1/plan?render=true", method="POST", body=chat)
        get("/v1/plan", method="POST", body={"model": "small", "messages": user("ship " * 3000)})
        run = get("/evaluation/plugin/start-with-questions", method="POST", body={"collection_id": "ship", "questions": ["Who?"], "llm_model": "gpt-4o"})
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            done = get(f"/evaluation/runs/{run['run_id']}", "/evaluation/runs/{id}")
            listed = get("/v1/traces?limit=50")["data"]
            if done["status"] == "done" and len(listed) >= 3:
                break
            time.sleep(0.1)
        self.assertGreaterEqual(len(listed), 3)
        for trace in listed:
            whole = get(f"/v1/traces/{trace['id']}", "/v1/traces/{id}")
            self.assertEqual(described.faults(whole, "GET", "/v1/traces/{id}"), [])
        self.assertTrue(any(get(f"/v1/traces/{trace['id']}", "/v1/traces/{id}")["passages"] for trace in listed))
        self.assertTrue(get("/v1/usage?by=model")["data"])
        for path in ("/v1/account", "/v1/indexes", "/v1/models", "/ready", "/v1/memories", "/evaluation/runs"):
            get(path)
        get("/v1/search", method="POST", body={"index": "ship", "query": "Who built the barque?"})
        for path, route in (("documents", "documents"), (f"text?document={key}&start=3&end=20", "text"), ("names", "names"),
                            ("names?entity=samuel%20hall", "names")):
            get(f"/v1/indexes/ship/{path}", f"/v1/indexes/{{name}}/{route}")


class TheCheck(unittest.TestCase):
    def test_it_finds_what_is_wrong(self):
        described = Described({"components": {"schemas": {"A": {"type": "object", "required": ["x"], "properties": {
            "x": {"type": "integer"}, "y": {"type": ["string", "null"]}, "z": {"type": "array", "items": {"$ref": "#/components/schemas/A"}}}}}}, "paths": {}})
        schema = {"$ref": "#/components/schemas/A"}
        for right in ({"x": 1}, {"x": 1, "y": None, "z": [{"x": 2}], "more": True}):
            self.assertEqual(list(described.compare(schema, right, "")), [])
        for wrong in ([], {}, {"x": 1.5}, {"x": True}, {"x": 1, "y": 2}, {"x": 1, "z": [{"x": "1"}]}, {"x": 1, "z": {}}):
            self.assertEqual(len(list(described.compare(schema, wrong, ""))), 1, wrong)


if __name__ == "__main__":
    unittest.main()
