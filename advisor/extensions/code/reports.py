"""Reports as lines: counted as the server counts them, and made from known bytes as test vectors."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from types import ModuleType

from advisor.errors import InputError
from advisor.extensions.code.collection import CodedCollection, client_file, rendered
from advisor.inputs.head import FileLayout
from advisor.inputs.reports import count_reports, with_categories
from advisor.inputs.reports.settings import ReportSettings, place_names
from simulator import Tally

BLOCK = 100_000  # lines that are read at once
VECTORS, CHARACTERS = 64, 200_000  # most vectors, and about how many characters their reports may have in all
LEAST = 8
SOURCE = "word i of 8 bytes, the highest first: output i of SplitMix64 from the seed (Steele, Lea, Flood, OOPSLA 2014)"


def counted(collection: CodedCollection, lines: Iterable[str]) -> tuple[Tally, int]:
    """Return the tally of reports, one a line, and how many lines are none: these are left out, however many.

    Scripts of servers import this: it keeps its name and its arguments.

    Raises InputError if no line is a report.
    """
    rest, size, total = map(str.strip, lines), 0, None
    while block := list(islice(rest, BLOCK)):
        size += len(block)
        for tally in _tallies(collection, block):
            total = tally if total is None else total + tally
    if total is None:
        raise InputError("there are no reports")
    return total, size - total.n


def _tallies(collection: CodedCollection, block: list[str]) -> Iterator[Tally]:
    """Yield tallies of the lines that are reports: a block with one that is none is read by halves."""
    settings = ReportSettings(
        collection.read_as, collection.epsilon, domain=place_names(collection.k), **collection.options
    )
    content = io.BytesIO("\n".join(block).encode())
    with suppress(InputError):
        tally = with_categories(count_reports(["-"], settings, layout=FileLayout(header=False), stdin=content)).tally
        if tally.n == len(block):
            yield tally
            return
    half = len(block) // 2
    for part in (block[:half], block[half:]) if half else ():
        yield from _tallies(collection, part)


def module_of(source: str) -> ModuleType:
    """Return a text of this package, a client or its check, as a module."""
    module = ModuleType("client")
    exec(compile(source, "client.py", "exec"), module.__dict__)  # noqa: S102 - our own text
    return module


def vectors(collection: CodedCollection) -> str:
    """Return the test vectors of a collection as JSON: the reports of client.py, and our frequencies from them."""
    device, labels, k = module_of(client_file(collection)), collection.labels, collection.k
    check = module_of(rendered("check.py"))
    vector_rows: list[dict[str, object]] = []
    lines: list[str] = []
    while len(lines) < LEAST or (len(lines) < VECTORS and sum(map(len, lines)) < CHARACTERS):
        seed = len(lines)
        value = seed * (k - 1) // (VECTORS - 1) if k > VECTORS else seed % k
        answer = device.degrees_of(value) if collection.cells.centre else value if labels is None else labels[value]
        lines.append(device.report(answer, check.known_bytes(seed)))
        vector_rows.append({"seed": seed, "answer": answer, "report": lines[-1]})
    content = {
        "protocol": collection.protocol,
        "method": collection.method,
        "epsilon": collection.epsilon,
        "k": k,
        **collection.options,
        "bytes": SOURCE,
        "vectors": vector_rows,
        "frequencies": collection.frequencies(counted(collection, lines)[0]).tolist(),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
