"""The shipped JSON schemas: rows have the fields and the types of their classes.

    python -m tests.advisor.schemas    # writes them anew, after a field was added

An object of a schema whose comment names a class is made from it. Words, bounds and fields that the class does not have
stay as they stand there.
"""

import json
import types
import typing
from functools import cache
from importlib import resources
from pathlib import Path
from pydoc import locate

from jsonschema import Draft202012Validator

NAMES = ("advice", "audit", "columns", "rounds")
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}
INFINITE = "null: infinite"
FOLDER = Path(str(resources.files("advisor"))) / "schema"


@cache
def schema(name):
    """Return what holds answers against the shipped schema of that name; it is held against the standard itself."""
    data = json.loads(text(name))
    Draft202012Validator.check_schema(data)
    return Draft202012Validator(data)


def text(name):
    """Return a schema as it is shipped."""
    return (FOLDER / f"{name}.schema.json").read_text("utf-8")


def made(name):
    """Return a schema with its rows made from their classes."""
    return json.dumps(_made(json.loads(text(name))), indent=2, ensure_ascii=False) + "\n"


def _made(part):
    if isinstance(part, list):
        return [_made(item) for item in part]
    if not isinstance(part, dict):
        return part
    part = {key: _made(item) for key, item in part.items()}
    if "$comment" not in part:
        return part
    hints = typing.get_type_hints(locate(part["$comment"]))
    kept = part.get("properties", {})
    fields = {name: _field(hint, kept.get(name, {})) for name, hint in hints.items()}
    return {
        **part,
        "required": list(hints),
        "properties": fields | {key: kept[key] for key in kept if key not in hints},
    }


def _type(hint):
    """Return a type in the words of JSON schema."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        same = {"items": _type(inner[0])} if inner[-1] is ... or len(set(inner)) == 1 else {}
        fixed = {} if inner[-1] is ... else {"minItems": len(inner), "maxItems": len(inner)}
        return {"type": "array", **same, **fixed}
    if origin in (types.UnionType, typing.Union):
        several = [_type(each) for each in inner]
        names = list(dict.fromkeys(each["type"] for each in several))
        merged = {key: item for each in several for key, item in each.items()}
        return {**merged, "type": names[0] if len(names) == 1 else names}
    return {"type": TYPES[hint]} if hint in TYPES else {"type": "object", "required": list(typing.get_type_hints(hint))}


def _field(hint, kept):
    """Return a field; one that says so is null where the figure is infinite, as JSON has no number for that."""
    made = {**_type(hint), **_words(kept)}
    return made | {"type": [made["type"], "null"]} if INFINITE in made.get("description", "") else made


def _words(kept):
    """Return what a schema says of a field beyond its type."""
    return {key: item for key, item in kept.items() if key not in ("type", "items", "$ref")}


if __name__ == "__main__":
    for each in NAMES:
        new = made(each)
        (FOLDER / f"{each}.schema.json").write_text(new, "utf-8")
