"""A document as plain text: aligned columns, no boxes, no colours."""

from __future__ import annotations

from rich.cells import cell_len

from advisor.show.model import Code, Document, Sentence, Table, View


def plain_text(document: Document, view: View) -> str:
    """Return a document as plain text that ends with a line end."""
    blocks: list[list[str]] = [[]]
    for part in view.parts(document):
        if isinstance(part, Sentence):
            blocks[-1].append(part.text)
            continue
        if isinstance(part, Code):
            blocks.append([*([f"{part.title}:", ""] if part.title else []), part.text.rstrip("\n")])
        elif isinstance(part, Table):
            blocks.append([*([part.title] if part.title else []), *aligned(part)])
        blocks.append([])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


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
