"""A document as one self-contained page: every word of the user's escaped, nothing loaded from elsewhere."""

from __future__ import annotations

import hashlib
import platform
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby, takewhile

from advisor.show.explorer import Explorer
from advisor.show.model import (
    TOP,
    Code,
    Column,
    Document,
    Figure,
    Part,
    Role,
    Section,
    Sentence,
    Table,
    Tone,
    View,
    legend,
)
from advisor.show.page.explorer import explorer_html
from advisor.show.page.glossary import GLOSSARY
from advisor.show.page.script import SCRIPT
from advisor.show.page.style import COLOURS, STYLE
from simulator._version import __version__

PRINTED = 25  # rows of every table after the first: a page with all metrics stays small
MOST_WHOLE = 8  # characters of a cell that is never broken
RESTS_ON = "What it rests on"
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")
DIGEST = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{DIGEST}'; img-src data:; form-action 'none'"
)


def page_html(document: Document, command: str = "") -> str:
    """Return the page of a document.

    document: the answer; its sections follow its parts, but for those that stand first, behind the answer itself.
    command: the command that gives the same again, or "".
    """
    again = [Code(command)] if command else []
    sections = document.sections()
    last = [Section("Reproduce this", (*again, Sentence(_versions(), Role.NOTE)))]
    answer, blocks = _arranged(document)
    titles = [title for title, _ in blocks if title]
    titles += [section.title for section in (*sections, *last) if not section.first]
    body = [
        f"<header><h1>{escape(document.title)}</h1>{_paragraphs([document.setting], 'quiet')}</header>",
        f'<main><section class="verdict">{_parts(answer)}</section>',
        *(_parts(section.parts) for section in sections if section.first),
        _contents([*titles, "Glossary"]) if sum(bool(title) for title, _ in blocks) > 2 else "",
        *(_section(Section(title, tuple(parts))) for title, parts in blocks),
        *(_section(section) for section in (*sections, *last) if not section.first),
    ]
    body.append(f"{_glossary(' '.join(body))}</main>")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<link rel="icon" href="data:,"><title>{escape(document.title)}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(part for part in body if part)}\n<script>{SCRIPT}</script></body></html>\n"
    )


def pieces_html(document: Document) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the answer in sentences, with its warnings, and what follows it under headings.

    For a page that has more around them.
    """
    answer, blocks = _arranged(document)
    return _parts(answer), tuple((title, _parts(parts)) for title, parts in blocks)


def section_html(section: Section) -> str:
    """Return a section, without a heading where it stands right behind the answer."""
    return _parts(section.parts) if section.first else _section(section)


def svg_html(svg: str) -> str:
    """Return a picture in the colours of the page, which follow light and dark."""
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, name)
    return svg


def _arranged(document: Document) -> tuple[list[Part], list[tuple[str, list[Part]]]]:
    """Return the sentences of the answer, then the warnings, and all that follows under its headings."""
    parts = document.every_part
    warnings = [part for part in parts if isinstance(part, Sentence) and part.role is Role.WARNING]
    others = [part for part in parts if part not in warnings]
    answer: list[Part] = list(takewhile(lambda part: isinstance(part, Sentence), others))
    return [*answer, *warnings], _blocks(_shortened(others[len(answer) :]))


def _blocks(parts: Sequence[Part]) -> list[tuple[str, list[Part]]]:
    """Return parts under the headings of their tables, what follows the last of these under one of its own."""
    blocks: list[tuple[str, list[Part]]] = []
    pending: list[Part] = []
    for part in parts:
        pending.append(part)
        if isinstance(part, Table) and part.heading:
            blocks.append((part.heading, pending))
            pending = []
    return [*blocks, (RESTS_ON if blocks else "", pending)] if pending else blocks


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())


def _contents(titles: Iterable[str]) -> str:
    links = "".join(f'<li><a href="#{escape(_anchor(title))}">{escape(title)}</a></li>' for title in titles)
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{links}</ul></nav>'


def fragment_html(document: Document, view: View | None = None) -> str:
    """Return a document for a notebook: sentences and tables, without style, script or figures."""
    seen = View(TOP, options=False) if view is None else view
    warnings = tuple(Sentence(f"Warning: {words}", Role.WARNING) for words in document.warnings)
    return "".join(_part(part, plain=True) for part in (*warnings, *seen.parts(document)))


def _shortened(parts: Iterable[Part]) -> list[Part]:
    """Return the parts of a document, the first table whole and the others cut."""
    shown: list[Part] = []
    whole = True
    for part in parts:
        if isinstance(part, Table) and part.cut:
            shown.append(part if whole else part.head(PRINTED))
            whole = False
        else:
            shown.append(part)
    return shown


def _parts(parts: Sequence[Part]) -> str:
    """Return parts one after the other; what is said on request elsewhere is folded."""
    texts = []
    for folded, group in groupby(parts, lambda part: isinstance(part, Sentence) and part.role is Role.LEGEND):
        inside = "\n".join(map(_part, group))
        texts.append(f"<details><summary>More about these figures</summary>{inside}</details>" if folded else inside)
    return "\n".join(texts)


def _part(part: Part, *, plain: bool = False) -> str:
    if isinstance(part, Table):
        if plain:
            return _plain_table(part)
        table, sentences = part.folded()
        whole = _folded(table) + "".join(map(_part, sentences))
        title = f"<summary>{escape(table.title)}</summary>"
        return f"<details>{title}{whole}</details>" if table.verbose and table.title else whole
    if isinstance(part, Explorer):
        return "" if plain else explorer_html(part)
    if isinstance(part, Figure):
        return _figure(part)
    if isinstance(part, Code):
        title = f"<p>{escape(part.title)}:</p>" if part.title else ""
        return f"{title}<pre>{escape(part.text)}</pre>"
    if plain:
        words = escape(part.text)
        bold = part.role is Role.ANSWER
        return f"<p><b>{words}</b></p>" if bold else f"<p><small>{words}</small></p>"
    kinds = {Role.ANSWER: "answer", Role.WARNING: "warning", Role.NOTE: "quiet", Role.LEGEND: "quiet"}
    kind = kinds.get(part.role, "") + (" unsure" if part.tone is Tone.DOUBTFUL else "")
    return _paragraphs([part.text], kind)


def _folded(table: Table) -> str:
    """Return a table; of a long one the head, and all rows where the reader unfolds them."""
    ranked = sum(not row.extra for row in table.rows)
    if not table.cut or ranked <= PRINTED:
        return _table(table)
    name = f"{table.heading or table.title or table.noun}: all {ranked:,}"  # that of the head is another region
    whole = _table(replace(table, title="", heading=name), explained=False)
    return (
        f'<div class="short">{_table(replace(table.head(TOP), hidden=0))}</div>'
        f"<details><summary>All {ranked:,} {escape(table.noun)}</summary>{whole}</details>"
    )


def _table(table: Table, *, explained: bool = True) -> str:
    """Return a table that sorts by the figures behind its cells, and what its columns mean."""
    head = "".join(
        f'<th scope="col"{_kinds("text" * column.text, "rarer" * (column.drop > 0))}>'
        f'<button type="button">{escape(column.header or "note")}</button></th>'
        for column in table.columns
    )
    body = []
    for row in table.rows:
        values = row.values or (None,) * len(row.cells)
        tones = row.tones or (Tone.PLAIN,) * len(row.cells)
        cells = "".join(map(_cell, row.cells, values, tones, table.columns))
        body.append(f"<tr{_kinds('top' if row.tone is Tone.GOOD else 'extra' * row.extra)}>{cells}</tr>")
    title = f"<h3>{escape(table.title)}</h3>" if table.title and not table.verbose else ""
    whole = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    more = f"{table.hidden:,} more {table.noun}: the CSV and the JSON hold them all." if table.hidden else ""
    meaning = _paragraphs([more, legend(table) if explained else ""], "quiet")
    rarer = any(column.drop for column in table.columns)
    narrow = '<p class="narrow quiet">More columns on a wider screen, and on paper.</p>' if rarer else ""
    name = escape(table.heading or table.title or table.noun, quote=True)
    return (
        f'{title}<div class="wide" role="region" tabindex="0" aria-label="{name}"><table class="sortable">{whole}'
        f"</table></div>{narrow}{meaning}"
    )


def _kinds(*kinds: str) -> str:
    """Return the attribute that names the classes of an element, without the empty ones."""
    named = " ".join(filter(None, kinds))
    return f' class="{named}"' if named else ""


def _cell(shown: str, value: float | None, tone: Tone, column: Column) -> str:
    kinds = _kinds("text" * column.text, "good" * (tone is Tone.GOOD), "rarer" * (column.drop > 0))
    # A narrow cell breaks before a margin and within an interval.
    words = escape(shown).replace("± ", "±&nbsp;").replace("–", "–<wbr>" if len(shown) > MOST_WHOLE else "–")
    if column.text:
        return f"<td{kinds}>{words}</td>"
    return f'<td{kinds} data-value="{"" if value is None else f"{value:.6g}"}">{words}</td>'


def _plain_table(table: Table) -> str:
    title = f"<p><b>{escape(table.title)}</b></p>" if table.title else ""
    head = "".join(f"<th>{escape(column.header)}</th>" for column in table.columns)
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row.cells) for row in table.rows)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _figure(figure: Figure) -> str:
    svg = svg_html(figure.draw())
    label = escape(figure.label, quote=True)
    head = f"<h3>{escape(figure.title)}</h3>" if figure.title else ""
    return f'{head}<figure aria-label="{label}">{svg}</figure>'


def _section(section: Section) -> str:
    head = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    parts = [
        replace(part, title="") if isinstance(part, Figure) and part.title == section.title else part
        for part in section.parts
    ]
    return f'<section id="{escape(_anchor(section.title))}">{head}{_parts(parts)}</section>'


def _versions() -> str:
    libraries = []
    for name in LIBRARIES:
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"ldp-advise {__version__}, Python {platform.python_version()}, {', '.join(libraries)}."


def _glossary(text: str) -> str:
    """Return what the words mean that stand in the text of a page."""
    used = ((word, meaning) for word, (meaning, pattern) in GLOSSARY.items() if re.search(pattern, text))
    entries = (f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in used)
    words = f"<details><summary>The words of this page</summary><dl>{''.join(entries)}</dl></details>"
    return f'<section id="glossary"><h2>Glossary</h2>{words}</section>'


def _paragraphs(texts: Iterable[str], kind: str = "") -> str:
    start = f'<p class="{kind.strip()}">' if kind.strip() else "<p>"
    return "".join(f"{start}{escape(text)}</p>" for text in texts if text)
