"""A document as one self-contained page: every word of the user's escaped, nothing loaded from elsewhere."""

from __future__ import annotations

import hashlib
import platform
import re
import tomllib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import groupby, takewhile

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from advisor.show.model import TOP, Code, Document, Explorer, Figure, Part, Role, Section, Sentence, Table, View, legend
from advisor.show.page.curve import curve_of
from simulator._version import __version__

PRINTED = 25  # rows of every table after the first: a page with all metrics stays small
MOST_WHOLE = 8  # characters of a cell that is never broken
RESTS_ON = "What it rests on"
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")
STYLE, SCRIPT, _WORDS = (
    (files(__name__) / name).read_text("utf-8") for name in ("page.css", "page.js", "glossary.toml")
)
GLOSSARY: list[Mapping[str, str]] = tomllib.loads(_WORDS)["words"]
DIGEST = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
# What the pictures are drawn in, and what the page calls it, so that they follow the reader's light or dark.
COLOURS = {
    "#1a1a1a": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#767676": "var(--quiet)",
    "#e6ecf2": "var(--band)",
    "#c8cdd2": "var(--bars)",
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--orange)",
}


def page_html(document: Document, command: str = "") -> str:
    """Return the page of a document.

    document: the answer; its sections follow its parts, but for those that stand first, behind the answer itself.
    command: the command that gives the same again, or "".
    """
    again = [Code(command)] if command else []
    sections = document.sections()
    answer, blocks = _arranged(document)
    return PAGE.render(
        document=document,
        answer=answer,
        first=[section for section in sections if section.first],
        contents=sum(bool(block.title) for block in blocks) > 2,
        sections=[
            *blocks,
            *(section for section in sections if not section.first),
            Section("Reproduce this", (*again, Sentence(_versions(), Role.NOTE))),
        ],
    )


def pieces_html(document: Document) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the answer in sentences, with its warnings, and what follows it under headings.

    For a page that has more around them.
    """
    answer, blocks = _arranged(document)
    return _made("parts", answer), tuple((block.title, _made("parts", block.parts)) for block in blocks)


def section_html(section: Section) -> str:
    """Return a section, without a heading where it stands right behind the answer."""
    return _made("parts", section.parts) if section.first else _made("section", section)


def explorer_html(explorer: Explorer) -> str:
    """Return the figures as they are where the question was asked, the dials, and the curve."""
    return _made("explorer", explorer)


def fragment_html(document: Document, view: View | None = None) -> str:
    """Return a document for a notebook: sentences and tables, without style, script or figures."""
    seen = View(TOP, options=False) if view is None else view
    warnings = tuple(Sentence(f"Warning: {words}", Role.WARNING) for words in document.warnings)
    return _made("fragment", (*warnings, *seen.parts(document)))


def svg_html(svg: str) -> str:
    """Return a picture in the colours of the page, which follow light and dark."""
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, name)
    return svg


def _picture(figure: Figure) -> Markup:
    return Markup(svg_html(figure.draw()))  # noqa: S704 - matplotlib has escaped what is the user's


def _made(macro: str, value: object) -> str:
    """Return what a macro of the parts makes of a value."""
    return str(getattr(PARTS, macro)(value))


def _arranged(document: Document) -> tuple[list[Part], list[Section]]:
    """Return the sentences of the answer, then the warnings, and all that follows under its headings."""
    parts = document.every_part
    warnings = [part for part in parts if isinstance(part, Sentence) and part.role is Role.WARNING]
    others = [part for part in parts if part not in warnings]
    answer: list[Part] = list(takewhile(lambda part: isinstance(part, Sentence), others))
    return [*answer, *warnings], _blocks(_shortened(others[len(answer) :]))


def _blocks(parts: Iterable[Part]) -> list[Section]:
    """Return parts under the headings of their tables, what follows the last of these under one of its own."""
    blocks: list[Section] = []
    pending: list[Part] = []
    for part in parts:
        pending.append(part)
        if isinstance(part, Table) and part.heading:
            blocks.append(Section(part.heading, tuple(pending)))
            pending = []
    return [*blocks, Section(RESTS_ON if blocks else "", tuple(pending))] if pending else blocks


def _shortened(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of a document, the first table whole and the others cut."""
    tables = {place: part for place, part in enumerate(parts) if isinstance(part, Table) and part.cut}
    cut = {place: table.head(PRINTED) for place, table in list(tables.items())[1:]}
    return [cut.get(place, part) for place, part in enumerate(parts)]


def _folds(parts: Iterable[Part]) -> list[tuple[bool, list[Part]]]:
    """Return parts in groups: whether each is folded (other formats show it on request), and its parts."""
    groups = groupby(parts, lambda part: isinstance(part, Sentence) and part.role is Role.LEGEND)
    return [(folded, list(group)) for folded, group in groups]


def _breaks(text: str) -> Markup:
    """Return a cell that breaks, where it is narrow, before a margin and within an interval."""
    between = Markup("–<wbr>") if len(text) > MOST_WHOLE else "–"
    return Markup.escape(text).replace("± ", Markup("±&nbsp;")).replace("–", between)


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())


def _versions() -> str:
    libraries = []
    for name in LIBRARIES:
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"ldp-advise {__version__}, Python {platform.python_version()}, {', '.join(libraries)}."


def _words_in(html: str) -> list[Mapping[str, str]]:
    """Return the words of the glossary that stand in the text of a page."""
    return [word for word in GLOSSARY if re.search(word.get("pattern", ""), html)]


_environment = Environment(
    loader=PackageLoader("advisor.show", "page"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_environment.filters |= {
    "anchor": _anchor,
    "breaks": _breaks,
    "folds": _folds,
    "legend": legend,
    "picture": _picture,
    "short": lambda table: replace(table.head(TOP), hidden=0),
    "words_in": _words_in,
    "curve": curve_of,
}
_environment.tests |= {
    "table": lambda part: isinstance(part, Table),
    "figure": lambda part: isinstance(part, Figure),
    "code": lambda part: isinstance(part, Code),
    "explorer": lambda part: isinstance(part, Explorer),
}
_environment.globals |= {"PRINTED": PRINTED, "STYLE": STYLE, "SCRIPT": SCRIPT, "DIGEST": DIGEST}
PAGE = _environment.get_template("page.html")
PARTS = _environment.get_template("parts.html").module
