"""Documents of the catalogue: the three tables, and what is known of one member."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from advisor.answers.catalog import Entry, Explanation
from advisor.show.model import Code, Column, Document, Part, Records, Role, Row, Scalar, Sentence, Table

NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"
NAME, TITLE, UNIT = (Column(header, text=True) for header in ("name", "title", "unit"))
PROMISES = Column("promises", "what every result keeps, and what a member needs", text=True)
COST = Column("cost", text=True, drop=1)
REFERENCE = Column("reference", text=True, drop=2)
FIELDS = (
    "kind", "name", "title", "unit", "nonnegative", "sums_to_one", "ordered_only", "queries_only", "promises", "cost",
    "reference",
)  # fmt: skip


def list_document(catalog: Mapping[str, tuple[Entry, ...]]) -> Document:
    """Return a table of the protocols, one of the methods and one of the metrics."""
    return Document(
        title="Protocols, post-processing methods and metrics",
        verdict=None,
        parts=(
            *(_table(kind, entries) for kind, entries in catalog.items()),
            Sentence("ldp-advise explain NAME says more about any of them.", Role.NOTE),
        ),
        data=catalog,
        records=Records(FIELDS, tuple(_record(kind, entry) for kind, entries in catalog.items() for entry in entries)),
        value="\n".join(str(entry["name"]) for entries in catalog.values() for entry in entries),
    )


def _table(kind: str, entries: tuple[Entry, ...]) -> Table:
    columns = (NAME, TITLE, UNIT, PROMISES, COST) if kind == "metrics" else (NAME, TITLE, PROMISES, COST, REFERENCE)
    rows = tuple(Row(tuple(_words(entry[column.header], ", ") for column in columns)) for entry in entries)
    return Table(columns, rows, title=kind, noun=kind, cut=False)


def _alone(member: Explanation) -> tuple[tuple[str, str | None], ...]:
    """Return the code that does not need this package, with titles."""
    if not member.client:
        return (("With numpy alone", member.python_numpy),)
    settings = f"ε = {member.eps:g}, k = {member.k:,}"
    return (
        (f"Client without dependencies, client.py ({settings})", member.client),
        ("What the server imports, postprocessing.py", member.postprocessing),
        (f"Server with numpy alone, server.py ({settings})", member.python_numpy),
    )


def _record(kind: str, entry: Entry) -> tuple[Scalar, ...]:
    fields: Entry = {"kind": kind.removesuffix("s"), **entry}
    cells = (fields.get(name) for name in FIELDS)
    return tuple("; ".join(cell) if isinstance(cell, tuple) else cell for cell in cells)


def _words(cell: str | bool | tuple[str, ...], between: str) -> str:
    return between.join(cell) if isinstance(cell, tuple) else str(cell)


def explain_document(member: Explanation) -> Document:
    """Return what is known of a member in sentences, with code to copy."""
    facts = (
        ("Description", member.description),
        ("Formula", member.formula),
        ("Good for", member.good_for),
        ("Pitfalls", member.pitfalls),
        ("Promises", "; ".join(member.promises)),
        ("Cost", member.cost),
        ("Source", member.reference),
    )
    called = member.name if member.title == member.name else f"{member.name}: {member.title}"
    parts: list[Part] = [Sentence(f"{called} ({member.kind})", Role.ANSWER)]
    parts += [Sentence(NOTATION, Role.NOTE)] if member.kind == "method" else []
    parts += [Sentence(f"{name}: {text}") for name, text in facts if text]
    blocks = [("With this package", member.python), *_alone(member)]
    parts += [Code(text, title) for title, text in blocks if text]
    if member.client:
        parts.append(
            Sentence(f"ldp-advise code --protocol {member.name} … writes these files and more to a directory.")
        )
    elif member.kind == "protocol":
        parts.append(Sentence(f"There is no code of {member.name} without this package: no client, and no server."))
    data = asdict(member)
    return Document(
        title=called,
        verdict=None,
        parts=tuple(parts),
        data=data,
        records=Records(
            tuple(data), (tuple("; ".join(cell) if isinstance(cell, tuple) else cell for cell in data.values()),)
        ),
        value=member.name,
        setting=member.kind,
    )
