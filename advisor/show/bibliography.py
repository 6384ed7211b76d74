"""Sources of members as BibTeX."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.errors import InputError
from advisor.show.model import Code, Document, Records
from knowledge.sources import Source, sources_of
from simulator.foreign import REGISTERED

FIELDS = ("key", "type", "title", "authors", "year")


def bibtex_document(name: str, reference: str) -> Document:
    """Return the BibTeX entries of what one member names as its source.

    Raises InputError if it names none.
    """
    if reference == REGISTERED.get(name):
        raise InputError(f"{name} is code of your own, {reference}: it has no source to cite")
    sources = sources_of(reference)
    if not sources:
        raise InputError(f"{name} names no source: --bibtex is for protocols and methods")
    return Document(
        title=f"Sources of {name}",
        verdict=None,
        parts=(Code(bibtex(sources)),),
        data={"name": name, "reference": reference, "bibtex": bibtex(sources)},
        records=Records(FIELDS, tuple(source_fields(source) for source in sources)),
        value=bibtex(sources).rstrip("\n"),
    )


def bibtex(sources: Sequence[Source]) -> str:
    """Return the entries, a blank line between them."""
    return "\n".join(source.bibtex for source in sources)


def source_fields(source: Source) -> tuple[str | int, ...]:
    """Return what `FIELDS` name."""
    return source.key, source.kind, source.title, " and ".join(source.authors), source.year
