"""The files of a deployment, and their output directory."""

from __future__ import annotations

import json
import math
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from advisor.errors import InputError, reason
from advisor.extensions.code.collection import CodedCollection, client_file, environment
from advisor.extensions.code.parameters import Parameters
from advisor.extensions.code.reports import options_of, vectors
from advisor.figures import percent
from advisor.show.outputs import Outputs
from simulator import POSTPROCESSORS
from simulator.audit.client import CLIENT_TRIALS
from simulator.hashing import DEFAULT_HASH

MEANINGS = {
    "README.md": "the promise, what it does not cover, and how to use the files",
    "client.py": "client in Python, without dependencies",
    "client.mjs": "client in JavaScript, for browsers and Node, without dependencies",
    "server.py": "server: counts reports and estimates frequencies, with ldp-advise",
    "test_vectors.json": "reports from known random bytes, and the frequencies from these reports",
    "check.py": "checks client.py against the test vectors",
    "check.mjs": "checks client.mjs against the test vectors",
}
LINES = {
    "value": "one number per line",
    "bits": "one line of {k} characters 0 and 1 per user",
    "subset": "one line per user, numbers with commas between them",
    "hash": "seed and symbol in each line",
    "symbol": "one number per line",
    "cells": "one line of {k} whole numbers per user",
    "node": "height and node in each line",
}
FRAMES = ("README.md", "server.py", "check.py", "check.mjs")  # the same file for all protocols
NOTABLY = 0.999  # below this share of the budget, a page notes that less is spent


ENVIRONMENT = environment()
CODE = environment("# ")
ENVIRONMENT.filters["folded"] = lambda text: textwrap.fill(" ".join(text.split()), 118, break_on_hyphens=False) + "\n"


@dataclass(frozen=True)
class Deployed:
    """The written files."""

    collection: CodedCollection
    directory: str
    sizes: dict[str, int]  # bytes of each file, by name


def files_of(collection: CodedCollection) -> dict[str, str]:
    """Return the files of a deployment by name."""
    parameters, labels = collection.parameters, collection.labels
    answer = collection.k - 1 if labels is None else labels[-1]
    values = {
        "collection": collection,
        "method": POSTPROCESSORS[collection.method],
        "places": collection.cells and collection.cells.places,
        "options": options_of(collection),
        "labels": "range(K)" if labels is None else json.dumps(labels, ensure_ascii=False, indent=4),
        "answer": json.dumps(collection.centre or answer, ensure_ascii=False),
        "factor": _rounded_up(math.exp(collection.epsilon)),
        "guess": percent(1 / (1 + math.exp(-collection.epsilon))),
        "spent": spent(parameters),
        "spends_less": _spends_less(parameters),
        "line": LINES[parameters.protocol.report_kind].format(k=f"{collection.k:,}"),
        "audit": audit_command(collection),
        "calls": f"{2 * CLIENT_TRIALS:,}",
    }
    files = {name: (CODE if name == "server.py" else ENVIRONMENT).get_template(name).render(values) for name in FRAMES}
    files |= {name: client_file(collection, name) for name in ("client.py", "client.mjs")}
    files["test_vectors.json"] = vectors(collection)
    return {name: files[name] for name in MEANINGS}


def audit_command(collection: CodedCollection) -> str:
    """Return the command that audits the client."""
    hashing = "" if collection.hash == DEFAULT_HASH else f" --hash {collection.hash}"
    setting = f"{collection.read_as}{hashing} --eps {collection.parameters.epsilon} --k {collection.k}"
    if collection.cells is not None:  # cells of a row, about as far apart as the budget is promised
        places = collection.cells.places
        setting += f" --values 0,{min(int((collection.cells.radius or 1) / places.width), places.columns - 1)}"
    return f"ldp-advise audit --target client.py:audited --reports {setting}"


def spent(parameters: Parameters) -> str:
    """Return the spent budget of a report as text for readers; JSON has all digits."""
    if not _spends_less(parameters):
        return f"at most ε = {parameters.epsilon}"
    figure = Context(prec=4, rounding=ROUND_CEILING).create_decimal(parameters.exact_epsilon)
    return f"at most ε = {figure.normalize():f} of the {parameters.epsilon} that it may"


def _spends_less(parameters: Parameters) -> bool:
    return float(parameters.exact_epsilon) < NOTABLY * float(parameters.epsilon)


def _rounded_up(number: float) -> str:
    """Return a number of at least 1, rounded up to four digits or more.

    >>> _rounded_up(2.71828), _rounded_up(22026.46), _rounded_up(1.05)
    ('2.719', '22027', '1.05')
    """
    places = max(0, 3 - math.floor(math.log10(number)))
    return f"{math.ceil(round(number * 10**places, 6)) / 10**places:.{places}f}".rstrip("0" if places else "")


def written(collection: CodedCollection, directory: str, *, force: bool, inputs: Sequence[str | None]) -> Deployed:
    """Write the files of a collection: all of them are complete, in a folder beside the others, before one is there.

    Raises InputError if the directory or a file cannot be written.
    """
    files, folder = files_of(collection), Path(directory)
    outputs = Outputs(force=force, inputs=[name for name in inputs if name is not None])
    try:
        there = folder.is_dir()
        targets = {name: outputs.add("--to", str(folder / name)) for name in files if there}
        with TemporaryDirectory(prefix=".ldp-advise-", dir=folder if there else folder.resolve().parent) as beside:
            whole = Path(beside, "files")
            whole.mkdir()
            for name, text in files.items():
                (whole / name).write_text(text, encoding="utf-8")
            for name, target in targets.items():
                if target is not None:
                    target.write(partial(shutil.move, whole / name))
            if not there:
                whole.rename(folder)
    except OSError as error:
        raise InputError(f"--to {directory}: cannot be written ({reason(error)})") from None
    return Deployed(collection, directory, {name: len(text.encode()) for name, text in files.items()})
