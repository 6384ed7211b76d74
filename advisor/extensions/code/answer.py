"""The files of a deployment, and their output directory."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from advisor.errors import InputError, reason
from advisor.extensions.code.collection import CodedCollection, client_file, rendered
from advisor.extensions.code.reports import vectors
from advisor.show.outputs import Outputs
from simulator import POSTPROCESSORS
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


def files_of(collection: CodedCollection) -> dict[str, str]:
    """Return the files of a deployment by name."""
    answer = collection.k - 1 if collection.labels is None else collection.labels[-1]
    values = {
        "collection": collection,
        "method": POSTPROCESSORS[collection.method],
        "answer": json.dumps(collection.cells.centre or answer, ensure_ascii=False),
        "factor": _rounded_up(f"{math.exp(collection.epsilon):.12g}"),
        "guess": f"{_rounded_up(f'{100 / (1 + math.exp(-collection.epsilon)):.12g}', 3)} %",
        "spent": spent(collection),
        "audit": audit_command(collection),
    }
    files = {name: client_file(collection, name) for name in ("client.py", "client.mjs")}
    files["test_vectors.json"] = vectors(collection)
    return {name: files.get(name) or rendered(name, **values) for name in MEANINGS}


def audit_command(collection: CodedCollection) -> str:
    """Return the command that audits the client."""
    hashing = "" if collection.hash == DEFAULT_HASH else f" --hash {collection.hash}"
    setting = f"{collection.read_as}{hashing} --eps {collection.parameters.epsilon} --k {collection.k}"
    if collection.cells.grid:  # cells of a row, about as far apart as the budget is promised
        places = collection.cells.places
        setting += f" --values 0,{min(int((collection.cells.radius or 1) / places.width), places.columns - 1)}"
    return f"ldp-advise audit --target client.py:audited --reports {setting}"


def spent(collection: CodedCollection) -> str:
    """Return the spent budget of a report as text for readers; JSON has all digits."""
    given = f"at most ε = {collection.parameters.epsilon}"
    if collection.protocol != "the":  # its bits tell less than the noisy numbers behind them
        return given
    return f"{given}, in fact {_rounded_up(collection.parameters.exact_epsilon)}"


def _rounded_up(number: str, digits: int = 4) -> str:
    """Return a number, rounded up to some digits.

    >>> _rounded_up("2.71828"), _rounded_up("22026.46"), _rounded_up("1.05")
    ('2.719', '22030', '1.05')
    """
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(number).normalize():f}"


def written(collection: CodedCollection, directory: str, *, force: bool, inputs: Sequence[str | None]) -> None:
    """Write the files of a collection: all of them are complete, in a folder beside the others, before one is there.

    Raises InputError if the directory or a file cannot be written.
    """
    files, folder = files_of(collection), Path(directory)
    outputs = Outputs(force=force, inputs=list(filter(None, inputs)))
    try:
        there = folder.is_dir()
        targets = {name: outputs.take("--to", str(folder / name)) for name in files if there}
        with TemporaryDirectory(prefix=".ldp-advise-", dir=folder if there else folder.resolve().parent) as beside:
            whole = Path(beside, "files")
            whole.mkdir()
            for name, text in files.items():
                (whole / name).write_text(text, encoding="utf-8")
            for name, target in targets.items():
                target.write(partial(shutil.move, whole / name))
            if not there:
                whole.rename(folder)
    except OSError as error:
        raise InputError(f"--to {directory}: cannot be written ({reason(error)})") from None
