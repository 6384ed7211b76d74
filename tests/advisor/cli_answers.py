"""Answers of the main command: their schema, and how they are read."""

import json

from tests.advisor.schemas import schema

SCHEMA = schema("advice")
QUICK = ("--reps", "4", "--max-reps", "4")


def answer(text):
    """Parse one JSON object, refuse NaN and Infinity, and hold it against the shipped schema."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    data = json.loads(text, parse_constant=refuse)
    SCHEMA.validate(data)
    return data
