"""Manifests against the fields of their kinds (manifest_schemas.json)."""

import json
import re
from pathlib import Path

SCHEMAS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
          "boolean": bool}


def wrong_with(document):
    """What a manifest, or a recipe, has that its kind has not; None where it is of
    Kubernetes' own kinds."""
    key = f"{document.get('apiVersion')} {document['kind']}" if "kind" in document else "recipe"
    schema = SCHEMAS["kinds"].get(key)
    return None if schema is None else list(_wrong(document, schema, key))


def _is(value, kind):
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _wrong(value, schema, at):
    if "$ref" in schema:
        schema = SCHEMAS["definitions"][schema["$ref"]]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{at}: {value!r:.40} is no {' or '.join(kinds)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r:.40}, expected one of {schema['enum']}"
    for bound, is_wrong in (("minimum", lambda a, b: a < b), ("maximum", lambda a, b: a > b)):
        if bound in schema and is_wrong(value, schema[bound]):
            yield f"{at}: {value}, {bound} {schema[bound]}"
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        yield f"{at}: {value!r:.80}, expected {schema['pattern']}"
    sizes = {"maxLength": 1, "maxItems": 1, "minItems": -1}
    for bound, sign in sizes.items():
        if bound in schema and sign * len(value) > sign * schema[bound]:
            yield f"{at}: {len(value)} long, {bound} {schema[bound]}"
    if isinstance(value, dict):
        yield from _wrong_members(value, schema, at)
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _wrong(item, schema["items"], f"{at}[{number}]")


def _wrong_members(value, schema, at):
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{at}: lacks {key}"
    known, others = schema.get("properties"), schema.get("additionalProperties", True)
    for key, item in value.items():
        if known and key in known:
            yield from _wrong(item, known[key], f"{at}.{key}")
        elif isinstance(others, dict):
            yield from _wrong(item, others, f"{at}.{key}")
        elif known:
            yield f"{at}: has {key}"
