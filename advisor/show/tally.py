"""The document of reports that are only counted."""

from __future__ import annotations

from contextlib import suppress

from advisor.errors import InputError
from advisor.inputs.reports import with_categories
from advisor.inputs.reports.tallies import Counts
from advisor.show.model import Column, Document, Records, Role, Row, Sentence, Table, Verdict, sentences
from simulator import PROTOCOLS

SHORT = 12  # characters of a digest that tell files apart


def tally_warnings(counts: Counts) -> tuple[str, ...]:
    """Return what the user should look at; that some reports make no domain yet is no reason to refuse them."""
    with suppress(InputError):
        return with_categories(counts).warnings
    return counts.warnings


def tally_document(counts: Counts, path: str) -> Document:
    """Return what was counted, and where the counts are."""
    settings = counts.settings
    title = f"{PROTOCOLS[settings.protocol].title} ({settings.protocol})"
    domain = "" if settings.k is None else f", {settings.k:,} categories"
    head = f"{counts.n:,} reports are counted: {title}, ε = {settings.epsilon:g}{domain}. The tally is {path}."
    rows = tuple((file.name, file.reports, file.sha256) for file in counts.files)
    return Document(
        title=f"Tally of {counts.n:,} reports",
        verdict=Verdict("counted", head),
        parts=(
            Table(
                (
                    Column("file", "a file of reports", text=True),
                    Column("reports", "reports that were counted in it"),
                    Column("SHA-256", "the digest of its bytes begins so; no two tallies may hold it", text=True),
                ),
                tuple(Row((name, f"{n:,}", digest[:SHORT]), (None, n, None)) for name, n, digest in rows),
                noun="files",
            ),
            *sentences(tally_warnings(counts), Role.WARNING),
            *sentences((f"Assumed: {text}." for text in counts.assumptions), Role.NOTE),
            Sentence(
                "To add up tallies, and see what to do with the estimate: ldp-advise reports --merge FILES", Role.NOTE
            ),
        ),
        data={
            "tally": path,
            "protocol": settings.protocol,
            "epsilon": settings.epsilon,
            "k": settings.k,
            "n": counts.n,
            "files": [{"name": name, "reports": n, "sha256": digest} for name, n, digest in rows],
            "assumptions": list(counts.assumptions),
            "warnings": list(tally_warnings(counts)),
        },
        records=Records(("file", "reports", "sha256"), rows),
        value=str(counts.n),
    )
