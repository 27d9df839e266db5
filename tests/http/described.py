"""Compares replies with the schemas of /openapi.json, as far as those go."""

KINDS = {"integer": int, "boolean": bool, "string": str, "null": type(None), "array": list, "object": dict}


class Described:
    def __init__(self, openapi):
        self.openapi = openapi
        self.schemas = openapi["components"]["schemas"]

    def faults(self, value, method, path):
        """What a successful reply of a route has that its description does not allow."""
        content = self.openapi["paths"][path][method.lower()]["responses"]["2XX"]["content"]
        return list(self.compare(content["application/json"]["schema"], value, ""))

    def compare(self, schema, value, place):
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]]
        if "anyOf" in schema:
            tried = [list(self.compare(one, value, place)) for one in schema["anyOf"]]
            yield from [] if [] in tried else min(tried, key=len)
            return
        if "const" in schema or "enum" in schema:
            if value not in schema.get("enum", [schema.get("const")]):
                yield f"{place}: {value!r}"
            return
        kinds = schema.get("type", "object")
        if not any(self.is_of(kind, value) for kind in (kinds if isinstance(kinds, list) else [kinds])):
            yield f"{place}: {value!r} is not {kinds}"
        elif isinstance(value, dict):
            yield from (f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value)
            for name, one in schema.get("properties", {}).items():
                if name in value:
                    yield from self.compare(one, value[name], f"{place}.{name}")
        elif isinstance(value, list):
            for i, one in enumerate(value):
                yield from self.compare(schema.get("items", {"anyOf": [{"type": kind} for kind in (*KINDS, "number")]}), one, f"{place}[{i}]")

    @staticmethod
    def is_of(kind, value):
        if isinstance(value, bool):
            return kind == "boolean"
        return isinstance(value, (int, float)) if kind == "number" else isinstance(value, KINDS[kind])
