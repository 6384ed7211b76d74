"""Reports as lines: counted as the server counts them, and made from known bytes as test vectors."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from advisor.errors import InputError
from advisor.extensions.code.collection import HASHED, CodedCollection, client_file
from advisor.inputs.head import FileLayout
from advisor.inputs.reports import count_reports, with_categories
from simulator import Tally
from simulator._types import FloatArray
from simulator.methods import POSTPROCESSORS, observe

Options: TypeAlias = Mapping[str, Any]  # ``hash`` and ``steps`` of `advisor.inputs.reports.count_reports`
TEMPLATES = Path(__file__).with_name("templates")
BLOCK = 100_000  # lines that are read at once
VECTORS, CHARACTERS = 64, 200_000  # most vectors, and about how many characters their reports may have in all
LEAST = 8
SOURCE = "word i of 8 bytes, the highest first: output i of SplitMix64 from the seed (Steele, Lea, Flood, OOPSLA 2014)"


def counted(lines: Iterable[str], protocol: str, epsilon: float, k: int, options: Options) -> tuple[Tally, int]:
    """Return the tally of reports, one a line, and how many lines are none: these are left out.

    One broken client must not stop a collection. A block of lines with one that is no report is read by halves.
    Options are what lines depend on besides. Scripts of servers import this: it keeps its name and its arguments.

    Raises InputError if no line is a report.
    """
    labels = [str(value) for value in range(k)]

    def tallies(block: list[str]) -> list[Tally]:
        stdin = io.BytesIO("\n".join(block).encode())
        try:
            counts = count_reports(
                "-", protocol, epsilon, **options, domain=labels, layout=FileLayout(header=False), stdin=stdin
            )
            read = with_categories(counts)
            if read.tally.n == len(block):
                return [read.tally]
        except InputError:
            pass
        half = len(block) // 2
        return [*tallies(block[:half]), *tallies(block[half:])] if half else []

    rest, size, total = map(str.strip, lines), 0, None
    while block := list(islice(rest, BLOCK)):
        size += len(block)
        for part in tallies(_near(block, epsilon, options)):
            total = part if total is None else total + part
    if total is None:
        raise InputError("there are no reports")
    return total, size - total.n


def _near(block: list[str], epsilon: float, options: Options) -> list[str]:
    """Return the lines without those of whole steps that are further out than honest ones ever are (odds of e^60)."""
    steps = options.get("steps")
    if steps is None:
        return block
    limit = steps * (1 + 120 / epsilon)  # the noise has scale 2 / epsilon
    cells = [line.replace("-", "").split(",") for line in block]
    near = (all(cell.isdecimal() and len(cell) < 16 and int(cell) < limit for cell in line) for line in cells)
    return [line for line, keep in zip(block, near, strict=True) if keep]


def options_of(collection: CodedCollection) -> Options:
    """Return what lines depend on besides protocol, budget and number of answers: options of `counted`."""
    if collection.protocol in HASHED:
        return {"hash": collection.hash}
    return {"steps": collection.parameters.whole("GRID")} if collection.protocol == "she" else {}


def frequencies(collection: CodedCollection, lines: Iterable[str]) -> FloatArray:
    """Return the frequencies ``(k,)`` that the server makes of lines."""
    tally, _ = counted(lines, collection.read_as, collection.epsilon, collection.k, options_of(collection))
    return POSTPROCESSORS[collection.method].apply(observe(collection.parameters.protocol, tally, collection.domain))


def module_of(source: str) -> ModuleType:
    """Return a text of this package, a client or its check, as a module."""
    module = ModuleType("client")
    exec(compile(source, "client.py", "exec"), module.__dict__)  # noqa: S102 - our own text
    return module


def vectors(collection: CodedCollection) -> str:
    """Return the test vectors of a collection as JSON: the reports of client.py, and our frequencies from them."""
    device, labels, k = module_of(client_file(collection)), collection.labels, collection.k
    check = module_of((TEMPLATES / "check.py").read_text(encoding="utf-8"))
    vector_rows: list[dict[str, object]] = []
    size = 0
    while len(vector_rows) < LEAST or (len(vector_rows) < VECTORS and size < CHARACTERS):
        seed = len(vector_rows)
        value = seed * (k - 1) // (VECTORS - 1) if k > VECTORS else seed % k
        answer = value if labels is None else labels[value]
        if collection.centre:
            answer = device.degrees_of(value)
        report = device.report(answer, check.known_bytes(seed))
        vector_rows.append({"seed": seed, "answer": answer, "report": report})
        size += len(report)
    head = {
        "protocol": collection.protocol,
        "method": collection.method,
        "epsilon": collection.epsilon,
        "k": k,
        **({"hash": collection.hash} if collection.protocol in HASHED else {}),
        "bytes": SOURCE,
    }
    text = json.dumps(head, indent=2)[:-2]
    rows = ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in vector_rows)
    estimate = frequencies(collection, [str(each["report"]) for each in vector_rows])
    return f'{text},\n  "vectors": [\n{rows}\n  ],\n  "frequencies": {json.dumps(estimate.tolist())}\n}}\n'
