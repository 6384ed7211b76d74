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
from itertools import chain, groupby, takewhile

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from advisor.errors import InputError
from advisor.show.model import Code, Document, Explorer, Figure, Part, Role, Section, Sentence, Table, View, legend
from advisor.show.page.curve import curve_of
from advisor.show.pictures import require_matplotlib
from advisor.show.strip import ratio_svg
from simulator._version import __version__

PRINTED = 25  # rows at its end of every table after the first: a page with all metrics stays small
MOST_WHOLE = 8  # characters of a cell that is never broken
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
    """Return the page of a document: answer, picked rows, pictures, notes, and all rows as an appendix.

    Pictures need matplotlib; without it, a sentence stands in their place.

    document: the answer; its sections follow its tables, but for those that stand first, behind the answer itself.
    command: the command that gives the same again, or "".
    """
    again = [Code(command)] if command else []
    sections = [_drawable(section) for section in document.sections()]
    parts = [part for part in document.every_part if not (isinstance(part, Code) and part.text == command)]
    warnings = [part for part in parts if isinstance(part, Sentence) and part.role is Role.WARNING]
    others = [part for part in parts if part not in warnings]
    answer = list(takewhile(lambda part: isinstance(part, Sentence), others))
    groups, appendix = _picked(others[len(answer) :])
    tables, notes = _blocks(groups)
    return PAGE.render(
        document=document,
        answer=[*answer, *warnings],
        first=[section for section in sections if section.first],
        contents=len(tables) > 1,
        sections=[
            *tables,
            *(section for section in sections if not section.first),
            *notes,
            Section("Reproduce this", (*again, Sentence(_versions(), Role.NOTE))),
        ],
        appendix=appendix,
    )


def section_html(section: Section) -> str:
    """Return a section, without a heading where it stands right behind the answer."""
    return _made("parts", section.parts) if section.first else _made("section", section)


def explorer_html(explorer: Explorer) -> str:
    """Return the figures as they are where the question was asked, the dials, and the curve."""
    return _made("explorer", explorer)


def fragment_html(document: Document) -> str:
    """Return a document for a notebook: sentences and tables, with a style of its own, and no script or figures."""
    parts = View(hint=False).parts(document)
    said = {role: [p for p in document.parts if isinstance(p, Sentence) and p.role is role] for role in Role}
    meanings = dict.fromkeys(legend(part) for part in parts if isinstance(part, Table))
    explained = (Sentence(words, Role.LEGEND) for words in meanings if words)
    return _made("fragment", (*said[Role.WARNING], *parts, *said[Role.LEGEND], *explained))


def _picture(figure: Figure) -> Markup:
    """Return a picture in the colours of the page, which follow light and dark."""
    svg = figure.draw()
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, name)
    return Markup(svg)  # noqa: S704 - matplotlib has escaped what is the user's


def _made(macro: str, value: object) -> str:
    """Return what a macro of the parts makes of a value."""
    return str(getattr(PARTS, macro)(value))


def _picked(parts: Iterable[Part]) -> tuple[list[list[Part]], list[Section]]:
    """Return each part with what is said of it, columns and rows left out, and the tables that lack rows."""
    groups: list[list[Part]] = []
    appendix: list[Section] = []
    for part in parts:
        if not isinstance(part, Table):
            groups.append([part])
            continue
        table, notes = View().table(part)
        if table.hidden:
            ranked, heading = sum(not row.extra for row in part.rows), f": {part.heading}" if part.heading else ""
            silent = replace(part, columns=tuple(replace(column, meaning="") for column in part.columns), title="")
            whole, _ = View(PRINTED if appendix else None).table(silent)
            appendix.append(Section(f"All {ranked:,} {part.noun}{heading}", (whole,)))
            hidden = Sentence(f"{table.hidden:,} more {part.noun} stand at the end.", Role.NOTE)
            table, notes = replace(table, hidden=0), (hidden, *notes)
        groups.append([table, *notes])
    return groups, appendix


def _blocks(groups: Sequence[Sequence[Part]]) -> tuple[list[Section], list[Section]]:
    """Return parts under the headings of their tables, or before the last table, and what follows these."""
    tables = {place: group[0] for place, group in enumerate(groups) if isinstance(group[0], Table)}
    headings = {place: table.heading for place, table in tables.items() if not table.verbose}
    ends = [place for place, heading in headings.items() if heading] or list(headings)[-1:]
    starts = [0, *(end + 1 for end in ends)]
    blocks = [
        Section(headings[end], tuple(chain.from_iterable(groups[start : end + 1])))
        for start, end in zip(starts, ends, strict=False)
    ]
    rest = tuple(chain.from_iterable(groups[starts[-1] :]))
    return blocks, [Section("Notes" if blocks else "", rest)] if rest else []


def _drawable(section: Section) -> Section:
    """Return a section that says what its pictures need where they cannot be drawn."""
    others = tuple(part for part in section.parts if not isinstance(part, Figure))
    if len(others) < len(section.parts):
        try:
            require_matplotlib("What is drawn here")
        except InputError as error:
            return replace(section, parts=(*others, Sentence(f"{error}.", Role.NOTE)))
    return section


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


ENVIRONMENT = Environment(
    loader=PackageLoader("advisor.show", "page"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
ENVIRONMENT.filters |= {
    "anchor": _anchor,
    "breaks": _breaks,
    "folds": _folds,
    "legend": legend,
    "picture": _picture,
    "strip": ratio_svg,
    "words_in": _words_in,
    "curve": curve_of,
}
ENVIRONMENT.tests |= {
    "table": lambda part: isinstance(part, Table),
    "figure": lambda part: isinstance(part, Figure),
    "code": lambda part: isinstance(part, Code),
    "explorer": lambda part: isinstance(part, Explorer),
}
ENVIRONMENT.globals |= {"STYLE": STYLE, "SCRIPT": SCRIPT, "DIGEST": DIGEST}
PAGE, DECISION = map(ENVIRONMENT.get_template, ("page.html", "decision.html"))
PARTS = ENVIRONMENT.get_template("parts.html").module
