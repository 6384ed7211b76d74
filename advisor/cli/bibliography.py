"""Sources of members as BibTeX, which ``explain`` and ``cite`` write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from advisor.cli.run import Output
from advisor.errors import InputError
from advisor.question.option import Settings, option
from advisor.show.model import Code, Document, Records, Scalar
from knowledge.sources import Publication, sources_of
from simulator.foreign import REGISTERED

BIBTEX = ".bib"


@dataclass(frozen=True, kw_only=True)
class References(Output):
    """Where sources go: a file called .bib takes the BibTeX alone."""

    @property
    def is_bibliography(self) -> bool:
        """Whether the suffix asks for BibTeX."""
        return self.format is None and Path(self.output or "").suffix.lower() == BIBTEX

    @property
    def chosen_format(self) -> str:
        """The format, as of any answer; of a .bib file the value, which is the BibTeX."""
        return "value" if self.is_bibliography else super().chosen_format


@dataclass(frozen=True, kw_only=True)
class Bibliography(Settings):
    """Whether the sources are shown instead."""

    panel: ClassVar[str] = "Output"

    bibtex: bool = option("--bibtex", help="only the sources, as BibTeX; so does --output refs.bib")


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
