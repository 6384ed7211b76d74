"""Documents of the catalogue: the three tables, what is known of one member, and its sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from advisor.answers.catalog import Entry, Explanation
from advisor.answers.usage import trial
from advisor.errors import InputError
from advisor.show.model import Code, Column, Document, Part, Records, Role, Row, Scalar, Sentence, Table, sentences
from knowledge.sources import Publication, sources_of
from simulator.foreign import REGISTERED

SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z(])")  # between two of them
NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"
NAME, TITLE, UNIT = (Column(header, text=True) for header in ("name", "title", "unit"))
PROMISES = Column(
    "promises", "what results keep, and a member needs; monotone: no larger estimate becomes the smaller", text=True
)
COST = Column("cost", text=True, drop=1)
REFERENCE = Column("reference", text=True, drop=2)
FIELDS = (
    "kind",
    "name",
    "title",
    "unit",
    "nonnegative",
    "sums_to_one",
    "ordered_only",
    "queries_only",
    "promises",
    "cost",
    "reference",
)


def list_document(catalog: Mapping[str, tuple[Entry, ...]]) -> Document:
    """Return a table of the protocols, one of the methods and one of the metrics."""
    all_entries = [(kind, entry) for kind, entries in catalog.items() for entry in entries]
    rows = [{"kind": kind.removesuffix("s"), **_flat(entry)} for kind, entry in all_entries]
    return Document(
        title="Protocols, post-processing methods and metrics",
        verdict=None,
        parts=(
            *(_table(kind, entries) for kind, entries in catalog.items()),
            Sentence("ldp-advise explain NAME says more about any of them.", Role.NOTE),
        ),
        data=catalog,
        records=Records(FIELDS, tuple(tuple(row.get(name) for name in FIELDS) for row in rows)),
        value="\n".join(str(entry["name"]) for _, entry in all_entries),
    )


def _table(kind: str, entries: tuple[Entry, ...]) -> Table:
    columns = (NAME, TITLE, UNIT, PROMISES, COST) if kind == "metrics" else (NAME, TITLE, PROMISES, COST, REFERENCE)
    rows = (_flat(entry, ", ") for entry in entries)
    return Table(
        columns,
        tuple(Row.of(str(row[column.header]) for column in columns) for row in rows),
        title=kind,
        noun=kind,
        cut=False,
    )


def _flat(fields: Mapping[str, Scalar | tuple[str, ...]], between: str = "; ") -> dict[str, Scalar]:
    """Return fields with lists as one text."""
    return {name: between.join(cell) if isinstance(cell, tuple) else cell for name, cell in fields.items()}


def explain_document(member: Explanation) -> Document:
    """Return what is known of a member: the first sentence of each fact; the rest, and code to copy, on request."""
    texts = {
        "Description": member.description,
        "Good for": member.good_for,
        "Pitfalls": member.pitfalls,
        "Formula": member.formula,
    }
    facts = {name: SENTENCE.split(text, maxsplit=1) for name, text in texts.items() if text}
    facts |= {name: [text] for name, text in (("Cost", member.cost), ("Source", member.reference)) if text}
    facts["Try it"] = [trial(member.kind, member.name, member.eps or 1.0, member.k or 16)]
    called = member.name if member.title == member.name else f"{member.name}: {member.title}"
    parts: list[Part] = [Sentence(f"{called} ({member.kind})", Role.ANSWER)]
    for name, (first, *_) in facts.items():
        parts.append(Sentence(f"{name}: {first}"))
        parts += [Sentence(NOTATION, Role.NOTE)] if name == "Formula" and member.kind == "method" else []
    more = [f"{name}, further: {text}" for name, (_, *rest) in facts.items() for text in rest]
    more += [f"Promises: {'; '.join(member.promises)}"] if member.promises else []
    parts += [*sentences(more, Role.LEGEND), Code(member.python, "With this package", Role.LEGEND)]
    if member.source:
        parts.append(Code(member.source, "The function itself", Role.LEGEND))
    if member.client:
        client = f"Client without dependencies, client.py (ε = {member.eps:g}, k = {member.k:,})"
        parts.append(Code(member.client, client, Role.LEGEND))
        written = f"ldp-advise code --protocol {member.name} … writes this file and more to a directory."
        parts.append(Sentence(written, Role.LEGEND))
    elif member.kind == "protocol":
        parts.append(Sentence(f"There is no client of {member.name} without this package.", Role.LEGEND))
    data = asdict(member)
    return Document(
        title=called,
        verdict=None,
        parts=tuple(parts),
        data=data,
        records=Records.of([_flat(data)]),
        value=member.name,
        setting=member.kind,
    )


def bibtex_document(name: str, reference: str) -> Document:
    """Return the BibTeX entries of what one member names as its source.

    Raises InputError if it names none.
    """
    if reference == REGISTERED.get(name):
        raise InputError(f"{name} is code of your own, {reference}: it has no source to cite")
    sources = sources_of(reference)
    if not sources:
        raise InputError(f"{name} names no source: --bibtex is for protocols and methods")
    text = bibtex(sources)
    return Document(
        title=f"Sources of {name}",
        verdict=None,
        parts=(Code(text),),
        data={"name": name, "reference": reference, "bibtex": text},
        records=Records.of([source_data(source) for source in sources]),
        value=text.rstrip("\n"),
    )


def bibtex(sources: Iterable[Publication]) -> str:
    """Return the entries, a blank line between them."""
    return "\n".join(source.bibtex for source in sources)


def source_data(source: Publication) -> dict[str, Scalar]:
    """Return the fields of a source."""
    return {
        "key": source.key,
        "type": source.kind,
        "title": source.title,
        "authors": " and ".join(source.authors),
        "year": source.year,
    }
