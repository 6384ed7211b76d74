"""The rows of a document as CSV."""

from __future__ import annotations

import csv
import io

from advisor.errors import printable_lines
from advisor.show.model import Document, Scalar


def csv_text(document: Document) -> str:
    """Return the records of a document: a header, then one line for each; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(document.records.columns)
    writer.writerows([_shown(cell) for cell in row] for row in document.records.rows)
    return text.getvalue()


def _shown(cell: Scalar) -> Scalar:
    return printable_lines(cell) if isinstance(cell, str) else "" if cell is None else cell
