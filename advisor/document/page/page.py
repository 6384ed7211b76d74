"""A document as one self-contained page: every word of the user's escaped, nothing loaded from elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from importlib.metadata import PackageNotFoundError, version

from advisor.document.model import TOP, Code, Document, Figure, Part, Role, Section, Sentence, Table, Tone, View, legend
from advisor.document.page.glossary import GLOSSARY
from advisor.document.page.style import COLOURS, SCRIPT, STYLE
from simulator._version import __version__

PRINTED = 25  # rows of a table that go on paper; of every table after the first: a page with all metrics stays small
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page_html(document: Document, command: str = "") -> str:
    """Return the page of a document.

    document: the answer; its sections follow its parts.
    command: the command that gives the same again, or "".
    """
    head = f"<h1>{escape(document.title)}</h1>{_paragraphs([document.setting], 'quiet')}"
    again = [Code(command)] if command else []
    sections = [*document.sections(), Section("Reproduce this", (*again, Sentence(_versions(), Role.NOTE)))]
    body = [head, _parts(_shortened(document.parts)), *map(_section, sections), _glossary()]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<link rel="icon" href="data:,"><title>{escape(document.title)}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(body)}\n<script>{SCRIPT}</script></body></html>\n"
    )


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
    return "\n".join(_part(part) for part in parts)


def _part(part: Part, *, plain: bool = False) -> str:
    if isinstance(part, Table):
        if plain:
            return _plain_table(part)
        table, sentences = part.folded()
        return _folded(table) + "".join(map(_part, sentences))
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
    whole = _table(replace(table, title=""), explained=False)
    return (
        f"{_table(replace(table.head(TOP), hidden=0))}"
        f"<details><summary>All {ranked:,} {escape(table.noun)}</summary>{whole}</details>"
    )


def _table(table: Table, *, explained: bool = True) -> str:
    """Return a table that sorts by the figures behind its cells, and what its columns mean."""
    head = "".join(
        f'<th scope="col"{" class=text" if column.text else ""}>'
        f'<button type="button">{escape(column.header or "note")}</button></th>'
        for column in table.columns
    )
    body = []
    for place, row in enumerate(table.rows):
        kinds = ["top"] if row.tone is Tone.GOOD else ["extra"] if row.extra else []
        kinds += ["beyond"] if place >= PRINTED and table.cut and not row.extra else []
        values = row.values or (None,) * len(row.cells)
        tones = row.tones or (Tone.PLAIN,) * len(row.cells)
        cells = "".join(map(_cell, row.cells, values, tones, (column.text for column in table.columns)))
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        body.append(f"<tr{kind}>{cells}</tr>")
    title = f"<h2>{escape(table.title)}</h2>" if table.title else ""
    whole = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    more = f"{table.hidden:,} more {table.noun}: --format csv and --format json hold them all." if table.hidden else ""
    meaning = _paragraphs([more, legend(table) if explained else ""], "quiet")
    return f'{title}<div class="wide"><table class="sortable">{whole}</table></div>{meaning}'


def _cell(shown: str, value: float | None, tone: Tone, is_text: bool) -> str:
    kinds = " ".join([*(["text"] if is_text else []), *(["good"] if tone is Tone.GOOD else [])])
    kind = f' class="{kinds}"' if kinds else ""
    if is_text:
        return f"<td{kind}>{escape(shown)}</td>"
    return f'<td{kind} data-value="{"" if value is None else f"{value:.6g}"}">{escape(shown)}</td>'


def _plain_table(table: Table) -> str:
    title = f"<p><b>{escape(table.title)}</b></p>" if table.title else ""
    head = "".join(f"<th>{escape(column.header)}</th>" for column in table.columns)
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row.cells) for row in table.rows)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _figure(figure: Figure) -> str:
    svg = figure.draw()
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, name)
    label = escape(figure.label, quote=True)
    return f'<h2>{escape(figure.title)}</h2><figure role="img" aria-label="{label}">{svg}</figure>'


def _section(section: Section) -> str:
    return f"<section><h2>{escape(section.title)}</h2>{_parts(section.parts)}</section>"


def _versions() -> str:
    libraries = []
    for name in LIBRARIES:
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"ldp-advise {__version__}, Python {platform.python_version()}, {', '.join(libraries)}."


def _glossary() -> str:
    entries = (f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in GLOSSARY.items())
    return f"<section><h2>Glossary</h2><dl>{''.join(entries)}</dl></section>"


def _paragraphs(texts: Iterable[str], kind: str = "") -> str:
    start = f'<p class="{kind.strip()}">' if kind.strip() else "<p>"
    return "".join(f"{start}{escape(text)}</p>" for text in texts if text)
