"""JSON that was saved: others may have written or changed it, so each field has its type and range before use."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from advisor.checks import shown
from advisor.errors import InputError, printable, reason
from advisor.inputs.numbers import LARGEST_TOTAL, MOST_LABELS
from simulator.protocols import EPSILON_MAX, EPSILON_MIN

LARGEST_FILE = 1 << 28  # bytes


class Number(NamedTuple):
    """Shape of a number in a range; 8.0 is a whole number, as some languages write it, and true and "8" are none."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False


class Maybe(NamedTuple):
    """Shape of what may be null."""

    shape: Any


NAMES: dict[type, str] = {str: "text", bool: "true or false", list: "a list", dict: "an object"}
BUDGET = Number(EPSILON_MIN, EPSILON_MAX)
CATEGORIES = Number(2, MOST_LABELS, whole=True)
USERS, COUNT = (Number(least, LARGEST_TOTAL, whole=True) for least in (1, 0))


def read_json(path: str) -> Any:
    """Return the content of a JSON file, None if it is none; raise InputError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST_FILE + 1)
        return json.loads(text) if len(text) <= LARGEST_FILE else None
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read ({reason(error)})") from None
    except (ValueError, RecursionError):
        return None


def checked(shape: Any, value: Any, name: str = "") -> Any:
    """Return a value of JSON, or raise InputError if it has another shape.

    shape: `str`, `bool`, `Number`, `Maybe`, ``[shape]`` for a list, ``(shape,)`` for one or a list of them, a dict for
        an object, or a function that returns the value, called with name and value. A field whose name ends with "?"
        may be missing; `...` stands for all other fields, which are left out without it.

    >>> checked({"n": Number(1, 9, whole=True), "label?": Maybe(str), "x": [bool]}, {"n": 8.0, "x": [True], "y": 1})
    {'n': 8, 'x': [True]}
    """
    kind = shape if isinstance(shape, type) else type(shape)
    if kind is Maybe:
        return None if value is None else checked(shape.shape, value, name)
    if kind is tuple:
        return checked([shape[0]] if isinstance(value, list) else shape[0], value, name)
    if kind is Number:
        low, high, whole = shape
        with suppress(OverflowError):
            if type(value) in (int, float) and low <= value <= high and (not whole or value == int(value)):
                return int(value) if whole else float(value)
        wanted = f"a whole number from {low:,} to {high:,}" if whole else f"a number from {low:g} to {high:g}"
    elif kind not in NAMES:
        return shape(name, value)
    else:
        wanted = NAMES[kind]
        if isinstance(value, kind) and not (isinstance(value, str) and re.search("[\ud800-\udfff]", value)):
            return _inside(shape, value, name)
    got = NAMES[type(value)] if isinstance(value, list | dict) else shown(value)
    raise InputError(f"{name[:80] or 'the content'} must be {wanted}, got {got}")


def _inside(shape: Any, value: Any, name: str) -> Any:
    """Return a list or an object with its items checked, and anything else as it is."""
    if isinstance(shape, list):
        return [checked(shape[0], item, f"{name}[{at}]") for at, item in enumerate(value)]
    if not isinstance(shape, dict):
        return value
    before, fields = f"{name}." if name else "", {str(key).rstrip("?"): of for key, of in shape.items() if key != ...}
    if missing := [key for key in shape if key != ... and not key.endswith("?") and key not in value]:
        raise InputError(f"{before}{missing[0]} is missing")
    names = value if ... in shape else [key for key in fields if key in value]
    return {key: checked(fields.get(key, shape.get(...)), value[key], before + key) for key in names}
