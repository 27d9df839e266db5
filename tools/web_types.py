"""Writes TypeScript types from the schemas of /openapi.json."""

HEAD = "// Made by `python3 tools/web.py types` from /openapi.json of the gateway. A test compares the two.\n"
WORDS = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def typescript(openapi):
    """The types of all schemas, in the order of the document."""
    out = HEAD
    for name, schema in openapi["components"]["schemas"].items():
        out += "\n" + comment(schema, "")
        written = written_type(schema, "")
        out += f"export interface {name} {written}\n" if written.startswith("{") and written.endswith("}") else f"export type {name} = {written};\n"
    return out


def comment(schema, indent):
    return f"{indent}// {schema['description']}\n" if "description" in schema else ""


def written_type(schema, indent):
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "const" in schema:
        return literal(schema["const"])
    if "enum" in schema:
        return " | ".join(map(literal, schema["enum"]))
    if "anyOf" in schema and "type" not in schema:
        return " | ".join(dict.fromkeys(written_type(one, indent) for one in schema["anyOf"]))
    kinds = schema.get("type", "object")
    return " | ".join(of_kind(kind, schema, indent) for kind in (kinds if isinstance(kinds, list) else [kinds]))


def literal(value):
    return {None: "null", True: "true", False: "false"}.get(value) if value is None or isinstance(value, bool) else \
        f'"{value}"' if isinstance(value, str) else str(value)


def of_kind(kind, schema, indent):
    if kind == "array":
        inner = written_type(schema.get("items", {}), indent)
        return f"({inner})[]" if " | " in inner and not inner.startswith("{") else f"{inner}[]"
    if kind != "object":
        return WORDS[kind]
    if not schema.get("properties"):
        return "object"
    within = indent + "  "
    lines = ""
    for name, one in schema["properties"].items():
        optional = "" if name in schema.get("required", []) else "?"
        lines += comment(one, within) + f"{within}{name}{optional}: {written_type(one, within)};\n"
    return "{\n" + lines + indent + "}"
