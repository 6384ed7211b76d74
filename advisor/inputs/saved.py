"""JSON that was saved before: others may have written or changed it, so each field has its type and range before use.

A reader takes the name of a field and its value, as those of `advisor.checks` do. JSON has types: text is no number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from advisor.checks import Reader, shown
from advisor.errors import InputError, printable, reason

T = TypeVar("T")
LARGEST = 1 << 28  # maximum of bytes of a file


def read_json(path: str) -> object:
    """Return the content of a JSON file, None if it is none; raise InputError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST + 1)
        return json.loads(text) if len(text) <= LARGEST else None
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read ({reason(error)})") from None
    except (ValueError, RecursionError):
        return None


def flag(name: str, value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise _wrong(name, "true or false", value)
    return value


def string(name: str, value: object) -> str:
    """Return a text that UTF-8 can write."""
    if not isinstance(value, str) or any("\ud800" <= mark <= "\udfff" for mark in value):
        raise _wrong(name, "text", value)
    return value


def figure(low: float = -math.inf, high: float = math.inf) -> Reader[float]:
    """Return the reader of a number in a range; infinite if the range is, and never NaN."""

    def read(name: str, value: object) -> float:
        with suppress(OverflowError):
            if isinstance(value, int | float) and not isinstance(value, bool) and low <= float(value) <= high:
                return float(value)
        raise _wrong(name, f"a number from {low:g} to {high:g}", value)

    return read


def integer(low: int, high: int) -> Reader[int]:
    """Return the reader of a whole number; 8.0 is 8, as some languages write it."""

    def read(name: str, value: Any) -> int:
        inside = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        if inside and int(value) == value:
            return int(value)
        raise _wrong(name, f"a whole number from {low:,} to {high:,}", value)

    return read


def maybe(reader: Reader[T]) -> Reader[T | None]:
    """Return the reader of a value or null."""
    return lambda name, value: None if value is None else reader(name, value)


def each(reader: Reader[T]) -> Reader[list[T]]:
    """Return the reader of a list."""

    def read(name: str, value: object) -> list[T]:
        if not isinstance(value, list):
            raise _wrong(name, "a list", value)
        return [reader(f"{name}[{at}]", item) for at, item in enumerate(value)]

    return read


def one_or_more(reader: Reader[Any]) -> Reader[Any]:
    """Return the reader of a value, or of a list of them."""
    return lambda name, value: (each(reader) if isinstance(value, list) else reader)(name, value)


def entries(reader: Reader[T]) -> Reader[dict[str, T]]:
    """Return the reader of an object with any names."""

    def read(name: str, value: object) -> dict[str, T]:
        if not isinstance(value, dict):
            raise _wrong(name, "an object", value)
        return {string(name, key): reader(f"{name}.{shown(key)}", item) for key, item in value.items()}

    return read


Fields: TypeAlias = Mapping[str, Reader[Any]]


def record(needed: Fields, optional: Fields = MappingProxyType({}), *, closed: bool = False) -> Reader[dict[str, Any]]:
    """Return the reader of an object with these fields; it leaves out all others, or refuses them."""
    fields = {**needed, **optional}

    def read(name: str, value: object) -> dict[str, Any]:
        content, inside = entries(lambda _, item: item)(name, value), f"{name}." if name else ""
        if missing := [field for field in needed if field not in content]:
            raise InputError(f"{inside}{missing[0]} is missing")
        if closed and (others := content.keys() - fields):
            raise InputError(f"{inside}{min(others)} is no field that is known here")
        return {field: fields[field](inside + field, content[field]) for field in fields if field in content}

    return read


def _wrong(name: str, allowed: str, value: object) -> InputError:
    got = {list: "a list", dict: "an object", type(None): "null"}.get(type(value)) or shown(value)
    return InputError(f"{name or 'the content'} must be {allowed}, got {got}")
