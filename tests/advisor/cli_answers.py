"""Answers of commands: their schema, how they are read, and refusals."""

import csv
import io
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


def answered(run, *words):
    """Return the JSON of a command, which must have an answer."""
    code, out, err = run(*words, "--format", "json")
    assert code == 0, err
    return answer(out)


def refused(run, *words):
    """Return the line that a command is refused with, which is all that it prints."""
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1), out + err
    return err


def csv_rows(text):
    """Return the rows of a table with a header, by its columns."""
    return list(csv.DictReader(io.StringIO(text)))
