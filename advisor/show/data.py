"""A document as data: its fields as JSON, its rows as CSV, its parts as plain text, Markdown and LaTeX."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import groupby

from rich.cells import cell_len

from advisor.errors import printable_lines
from advisor.figures import csv_of
from advisor.show.model import Code, Document, Json, Records, Scalar, Sentence, Shown, Table, Tone, View
from simulator._version import __version__

SCHEMA_VERSION = 1
PRINTED_COLUMNS = 4  # of a brief table in Markdown, if that many are optional
ROWS = ("recommendations", "results", "frontier")  # fields of JSON objects that hold the rows of a ranking
GROUPS = ("metric", "next_round")  # columns of records that tell rankings apart
LIBRARIES = ("numpy", "scipy")  # whose versions are recorded, because figures depend on them
# What LaTeX takes for something else, or has no letter for; [ behind a line end would be its option.
_MATHS = {
    **{"<": "<", ">": ">", "|": "|", "−": "-", "±": r"\pm", "×": r"\times", "≤": r"\le", "≥": r"\ge", "′": "'"},
    **{"∞": r"\infty", "ε": r"\varepsilon", "δ": r"\delta", "²": "^2", "₀": "_0", "₁": "_1", "·": r"\cdot"},
    **{"→": r"\to", "√": r"\surd", "⌈": r"\lceil", "⌉": r"\rceil", "ω": r"\omega", "◂": r"\triangleleft"},
}
_MARKS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "[": "{[}", "–": "--"}
LATEX = str.maketrans(
    {**{mark: f"\\{mark}" for mark in "%_&#${}"}, **_MARKS, **{mark: f"${name}$" for mark, name in _MATHS.items()}}
)
HEAD: Mapping[str, Json] = {"schema_version": SCHEMA_VERSION, "tool_version": __version__}  # of every JSON object


def envelope() -> dict[str, Json]:
    """Return what every JSON answer starts with."""
    return {**HEAD, "versions": {name: version(name) for name in LIBRARIES}}


def json_text(document: Document) -> str:
    """Return the data of a document as one JSON object."""
    headline = {} if document.verdict is None else {"headline": document.verdict.data}
    # JSON has no number for infinite figures: they are null.
    text = json.dumps({**envelope(), **headline, **document.data})
    data = json.loads(text, parse_constant=lambda name: math.nan if name == "NaN" else None)
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    return "\n".join(map(_escaped, text.split("\n")))


def cut(document: Document, top: int | None) -> Document:
    """Return a document with the first `top` rows of each ranking in its data and records; None: all."""
    if top is None:
        return document
    columns, seen, rows = document.records.columns, Counter[tuple[Scalar, ...]](), []
    groups = [columns.index(name) for name in GROUPS if name in columns]
    for row in document.records.rows:
        group = tuple(row[place] for place in groups)
        seen[group] += 1
        rows += [row] if seen[group] <= top else []
    data = {name: _cut(value, name, top) for name, value in document.data.items()}
    return replace(document, data=data, records=Records(columns, tuple(rows)))


def _cut(value: Json, name: str, top: int) -> Json:
    if isinstance(value, Mapping):
        return {key: _cut(one, key, top) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_cut(one, "", top) for one in (value[:top] if name in ROWS else value)]
    return value


def error_json(message: str, more: Mapping[str, Json] | None = None) -> str:
    """Return an error as one JSON object on one line, with what else is known beside its message."""
    return _escaped(json.dumps({**HEAD, "error": {"message": message, **(more or {})}}, ensure_ascii=False))


def _escaped(line: str) -> str:
    """Return a line of JSON with the marks that would steer a terminal, or are no UTF-8, as escapes of JSON."""
    return line if line.isprintable() else "".join(m if m.isprintable() else json.dumps(m)[1:-1] for m in line)


def csv_text(document: Document, *, safe_cells: bool = False) -> str:
    """Return the records of a document: a header, then one line for each; what is not known is empty."""
    records = document.records
    return csv_of([records.columns, *map(_printable, records.rows)], safe_cells=safe_cells)


def _printable(row: tuple[Scalar, ...]) -> list[Scalar]:
    return [printable_lines(cell) if isinstance(cell, str) else cell for cell in row]


def plain_text(document: Document, view: View) -> str:
    """Return a document as plain text that ends with a line end."""

    def written(part: Shown) -> str:
        if isinstance(part, Table):
            return "\n".join([*([part.title] if part.title else []), *aligned(part)])
        if isinstance(part, Code):
            return (f"{part.title}:\n\n" if part.title else "") + part.text.rstrip("\n")
        return part.full_text

    return _blocks(document, view, written, "\n")


def _blocks(document: Document, view: View, written: Callable[[Shown], str], between: str) -> str:
    """Return the parts of a document apart from each other, but sentences that follow each other in one block."""
    groups = groupby(view.parts(document), lambda part: isinstance(part, Sentence))
    blocks = ((between if sentences else "\n\n").join(map(written, group)) for sentences, group in groups)
    return "\n\n".join(blocks) + "\n"


def aligned(table: Table) -> list[str]:
    """Return header and rows of a table with aligned columns."""
    rows = [tuple(column.header for column in table.columns), *(row.cells for row in table.rows)]
    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for cells in rows:
        padded = [
            cell + " " * (width - cell_len(cell)) if column.text else " " * (width - cell_len(cell)) + cell
            for cell, width, column in zip(cells, widths, table.columns, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def markdown(document: Document, view: View) -> str:
    """Return a document in Markdown that ends with a line end; sentences that follow each other share a paragraph."""

    def written(part: Shown) -> str:
        if isinstance(part, Table):
            surplus = max(0, len(part.columns) - PRINTED_COLUMNS) if part.brief and not view.verbose else 0
            table = table_lines(part.without(*part.droppable[:surplus]))
            return f"**{part.title}**\n\n{table}" if part.title else table
        if isinstance(part, Code):
            return f"{f'{part.title}:' if part.title else ''}\n\n```\n{part.text.rstrip()}\n```".strip()
        return f"{f'**{part.badge}:** ' if part.badge else ''}{replace(part, badge='').full_text}"

    return _blocks(document, view, written, "  \n")


def table_lines(table: Table) -> str:
    """Return a table; single cells that stand out as good are bold."""
    rule = [":---" if column.text else "---:" for column in table.columns]
    rows = [[column.header for column in table.columns], rule]
    for row in table.rows:
        cells = (cell.replace("*", "\\*") for cell in row.cells)  # a mark is no emphasis
        rows.append([f"**{cell}**" if tone is Tone.GOOD else cell for cell, tone in zip(cells, row.tones, strict=True)])
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def latex(document: Document, view: View) -> str:
    r"""Return the tables of a document as ``tabular`` of booktabs, for ``\input``; all else is in comments."""
    lines = [r"% needs \usepackage{booktabs}"]
    for part in view.parts(document):
        text = part.title if isinstance(part, Table) else part.full_text
        lines += [f"% {line}" for line in text.splitlines()]
        if isinstance(part, Table):
            lines += _tabular(part)
    return "\n".join(lines) + "\n"


def _tabular(table: Table) -> list[str]:
    rows = [[column.header.translate(LATEX) for column in table.columns]]
    for row in table.rows:
        cells = [cell.strip().translate(LATEX) for cell in row.cells]
        marked = zip(cells, row.tones, strict=True)
        rows.append([f"\\textbf{{{cell}}}" if tone is Tone.GOOD else cell for cell, tone in marked])
    head, *body = [f"{' & '.join(row)} \\\\" for row in rows]
    form = "".join("l" if column.text else "r" for column in table.columns)
    return [f"\\begin{{tabular}}{{{form}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
