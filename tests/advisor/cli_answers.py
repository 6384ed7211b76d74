"""Answers of the main command: their schema, and how they are read."""

from __future__ import annotations

import json

from tests.advisor.schemas import schema

SCHEMA = schema("advice")
QUICK = ("--reps", "4", "--max-reps", "4")


def answer(text: str) -> dict[str, object]:
    """Parse one JSON object, refuse NaN and Infinity, and hold it against the shipped schema."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    data: dict[str, object] = json.loads(text, parse_constant=refuse)
    SCHEMA.validate(data)
    return data
