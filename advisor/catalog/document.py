"""Documents of the catalogue: the three tables, and what is known of one member."""

from __future__ import annotations

from dataclasses import asdict

from advisor.catalog.answer import Catalog, Explanation, MethodEntry, MetricEntry, ProtocolEntry
from advisor.document.model import Code, Column, Document, Part, Records, Role, Row, Scalar, Sentence, Table

NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"
NAME, TITLE, UNIT = (Column(header, text=True) for header in ("name", "title", "unit"))
PROMISES = Column("promises", "what every result keeps, and what a member needs", text=True)
COST = Column("cost", text=True, drop=1)
REFERENCE = Column("reference", text=True, drop=2)
FIELDS = (
    "kind", "name", "title", "unit", "nonnegative", "sums_to_one", "ordered_only", "queries_only", "promises", "cost",
    "reference",
)  # fmt: skip

Entry = ProtocolEntry | MethodEntry | MetricEntry


def list_document(catalog: Catalog) -> Document:
    """Return a table of the protocols, one of the methods and one of the metrics."""
    kinds: tuple[tuple[str, tuple[Entry, ...]], ...] = (
        ("protocol", catalog.protocols),
        ("method", catalog.methods),
        ("metric", catalog.metrics),
    )
    return Document(
        title="Protocols, post-processing methods and metrics",
        parts=(
            *(_table(kind, entries) for kind, entries in kinds),
            Sentence("ldp-advise explain NAME says more about any of them.", Role.NOTE),
        ),
        data=asdict(catalog),
        records=Records(FIELDS, tuple(_record(kind, entry) for kind, entries in kinds for entry in entries)),
        value="\n".join(entry.name for _, entries in kinds for entry in entries),
    )


def _table(kind: str, entries: tuple[Entry, ...]) -> Table:
    columns = (NAME, TITLE, UNIT, PROMISES, COST) if kind == "metric" else (NAME, TITLE, PROMISES, COST, REFERENCE)
    rows = []
    for entry in entries:
        fields = asdict(entry) | {"promises": ", ".join(entry.promises)}
        rows.append(Row(tuple(fields[column.header] for column in columns)))
    return Table(columns, tuple(rows), title=f"{kind}s", noun=f"{kind}s", cut=False)


def _record(kind: str, entry: Entry) -> tuple[Scalar, ...]:
    fields: dict[str, Scalar] = {**asdict(entry), "kind": kind, "promises": "; ".join(entry.promises)}
    return tuple(fields.get(name) for name in FIELDS)


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
    parts: list[Part] = [Sentence(f"{member.name}: {member.title} ({member.kind})", Role.ANSWER)]
    parts += [Sentence(NOTATION, Role.NOTE)] if member.kind == "method" else []
    parts += [Sentence(f"{name}: {text}") for name, text in facts if text]
    parts += [
        Code(text, title)
        for title, text in (("With this package", member.python), ("With numpy alone", member.python_numpy))
        if text
    ]
    fields: dict[str, Scalar] = {**asdict(member), "promises": "; ".join(member.promises)}
    return Document(
        title=f"{member.name}: {member.title}",
        parts=tuple(parts),
        data=asdict(member),
        records=Records(tuple(fields), (tuple(fields.values()),)),
        value=member.name,
        setting=member.kind,
    )
