"""The tables of protocols, methods and metrics, and what a budget means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from advisor.answers.catalog import Entry
from advisor.answers.epsilon import Meaning, Shuffled
from advisor.question.statement import Conversion
from advisor.show.model import Column, Document, Records, Role, Row, Scalar, Sentence, Table, Verdict
from advisor.show.sentences import meaning_sentences, shuffled_sentences

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


def epsilon_document(conversion: Conversion, meaning: Meaning, promise: Shuffled | None = None) -> Document:
    """Return what a budget means in sentences, behind where it comes from; shuffled reports first."""
    sentences = [*([] if promise is None else shuffled_sentences(promise)), *meaning_sentences(meaning)]
    first, *rest = [*_origin(conversion), *sentences]
    facts: dict[str, Scalar] = {"epsilon": conversion.epsilon, "epsilon_removal": conversion.removal}
    names = ("odds", "best_guess", "prior", "protocol_guess", "flip_probability")
    facts |= {name: getattr(meaning, name) for name in names}
    facts |= {} if promise is None else {"central_epsilon": promise.central, "delta": promise.delta}
    return Document(
        title=f"What ε = {conversion.epsilon:.4g} means",
        verdict=Verdict("meaning", first),
        parts=tuple(Sentence(text) for text in rest),
        data={
            "epsilon": conversion.epsilon,
            "epsilon_removal": conversion.removal,
            "formula": conversion.formula,
            "in_words": asdict(meaning),
            "shuffled": None if promise is None else asdict(promise),
            "sentences": sentences,
        },
        records=Records.of([facts]),
        value=f"{conversion.epsilon if promise is None else promise.central:.6g}",
    )


def _origin(conversion: Conversion) -> list[str]:
    """Return how a budget was converted."""
    if conversion.formula == "as given":
        return []
    lines = [f"ε = {conversion.epsilon:.4g} by replacement (the user's value against any other): {conversion.formula}."]
    if conversion.removal is not None:
        lines.append(f"ε = {conversion.removal:.4g} by removal (the user's value against {conversion.reference}).")
    return lines
