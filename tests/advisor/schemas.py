"""The shipped JSON schemas: each is held against the standard when it is first used, not with every answer."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from jsonschema import Draft202012Validator


@cache
def schema(name: str) -> Draft202012Validator:
    """Return what holds answers against the shipped schema of that name."""
    text = resources.files("advisor").joinpath(f"schema/{name}.schema.json").read_text(encoding="utf-8")
    data = json.loads(text)
    Draft202012Validator.check_schema(data)
    return Draft202012Validator(data)
