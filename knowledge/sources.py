"""Publications that members name as their source, and the entry of this project, as BibTeX."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from simulator._version import __version__

OWN = "this project"  # source named by members of this project


@dataclass(frozen=True)
class Publication:
    """A publication."""

    # key, kind: of the BibTeX entry
    key: str
    kind: str
    authors: tuple[str, ...]  # given name first, accents as BibTeX writes them
    title: str
    # Names and values of the other fields of the entry that are known: where it appeared, year, volume, pages
    fields: tuple[tuple[str, str | int], ...] = ()

    @property
    def year(self) -> int:
        """Year of publication, 0 where it is not known."""
        return int(dict(self.fields).get("year", 0))

    @property
    def bibtex(self) -> str:
        """The entry."""
        fields = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}", **dict(self.fields)}
        lines = (f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}\n"


OWN_ENTRY = Publication(
    "ldp_advise",
    "software",
    ("{The ldp-advise contributors}",),
    "ldp-advise: which local differential privacy protocol and post-processing method to use",
    (("version", __version__), ("year", 2026)),
)


@cache
def sources() -> dict[str, Publication]:
    """Return the publications of `sources.toml` and this project, by the reference that members name."""
    stored = tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))
    return {reference: _publication(**entry) for reference, entry in stored.items()} | {OWN: OWN_ENTRY}


def _publication(key: str, kind: str, author: list[str], title: str, **fields: str | int) -> Publication:
    return Publication(key, kind, tuple(author), title, tuple(fields.items()))


def sources_of(reference: str) -> tuple[Publication, ...]:
    """Return the publications that a reference names, with semicolons between them.

    An unknown reference, as of members of other packages, becomes an entry with the reference as its note.
    """
    named = [part for part in map(str.strip, reference.split(";")) if part]
    return tuple(sources().get(part) or _noted(part) for part in named)


def _noted(reference: str) -> Publication:
    words = re.findall(r"[a-z0-9]+", reference.lower())
    years = [("year", int(word)) for word in words if re.fullmatch(r"(19|20)\d\d", word)]
    return Publication("_".join(words[:3]) or "source", "misc", (), reference, tuple(years[:1]))
