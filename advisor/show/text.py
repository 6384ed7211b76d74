"""A document as text: plain, with aligned columns and no colours, or in Markdown."""

from __future__ import annotations

from rich.cells import cell_len

from advisor.show.model import Code, Document, Role, Sentence, Table, Tone, View


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


def markdown(document: Document, view: View) -> str:
    """Return a document in Markdown that ends with a line end; sentences that follow each other share a paragraph."""
    blocks: list[str] = []
    lines: list[str] = []
    for part in view.parts(document):
        if isinstance(part, Sentence):
            lines.append(f"**{part.text}**" if part.role is Role.ANSWER else part.text)
            continue
        if lines:
            blocks.append("  \n".join(lines))
            lines = []
        if isinstance(part, Code):
            blocks.append(f"{f'{part.title}:' if part.title else ''}\n\n```\n{part.text.rstrip()}\n```".strip())
        elif isinstance(part, Table):
            blocks += [f"**{part.title}**"] if part.title else []
            blocks.append(table_lines(part))
    if lines:
        blocks.append("  \n".join(lines))
    return "\n\n".join(blocks) + "\n"


def table_lines(table: Table) -> str:
    """Return a table; single cells that stand out as good are bold."""
    rule = [":---" if column.text else "---:" for column in table.columns]
    rows = [[column.header for column in table.columns], rule]
    for row in table.rows:
        cells = (cell.replace("*", "\\*") for cell in row.cells)  # a mark is no emphasis
        rows.append([f"**{cell}**" if tone is Tone.GOOD else cell for cell, tone in zip(cells, row.tones, strict=True)])
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
