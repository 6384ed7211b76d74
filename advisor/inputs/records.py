"""Find the records of a block of text: where each ends, where its separators are, and on which line it begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True)
class Layout:
    """The complete records at the beginning of a block."""

    data: bytes  # the records, each with a line feed at its end, before which a carriage return may stand
    taken: int  # bytes of the block that they took
    last: NDArray[np.bool_]  # for every separator and every line end after a record, whether it is a line end
    lines: NDArray[np.intp] | None  # lines before each record; None if every record is one line
    # Position in `data` of the line end after each record; None if all line feeds are such
    known_ends: NDArray[np.intp] | None = None

    @cached_property
    def rows(self) -> int:
        """Number of records."""
        return int(np.count_nonzero(self.last))

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """Position of the line end after each record."""
        if self.known_ends is not None:
            return self.known_ends
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == _LINE_FEED)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Position of the first byte of each record."""
        return np.concatenate([[0], self.ends[:-1] + 1])

    def widths(self) -> NDArray[np.intp]:
        """Return how many cells each record has."""
        return np.diff(np.flatnonzero(self.last), prepend=-1)

    def is_regular(self, width: int) -> bool:
        """Tell whether every record has so many cells."""
        return len(self.last) == self.rows * width and bool(self.last[width - 1 :: width].all())

    def blanks(self, widths: NDArray[np.intp], *, quoted: bool) -> NDArray[np.bool_]:
        """Tell which records hold nothing but white space, also if `quoted`; an empty quoted cell is no blank."""
        cells, starts = np.frombuffer(self.data, np.uint8), self.starts
        first = cells[starts]
        if quoted:
            first = np.where(first == _QUOTE, cells[np.minimum(starts + 1, self.ends)], first)
        result: NDArray[np.bool_] = (widths == 1) & (self.ends - starts - (first == _RETURN) <= 0)
        for at in np.flatnonzero(~result & (widths == 1) & ((first <= ord(" ")) | (first > 127))).tolist():
            text = self.data[starts[at] : self.ends[at]].decode()
            result[at] = not text or text.isspace() or (text[0] == text[-1] == '"' and text[1:-1].isspace())
        return result

    def only(self, kept: NDArray[np.bool_]) -> bytes:
        """Return the text of some of the records."""
        chosen = np.repeat(kept, np.diff(self.ends, prepend=-1))
        return np.frombuffer(self.data, np.uint8)[chosen].tobytes()


def find_records(block: bytes, delimiter: str | None, *, quoted: bool) -> Layout | None:
    """Return the complete records of a block that ends with a line end.

    block: UTF-8 text.
    delimiter: the separator, one ASCII character; None for none.
    quoted: whether quotation marks may enclose cells.

    Returns None if a quotation mark stands where it does not enclose a cell, or beside carriage returns that end lines,
    so that only reading character by character tells what it means.
    """
    quoted = quoted and b'"' in block
    taken = len(block)
    # pandas knows the two together. Whether there is any is told much faster than how many there are.
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        if quoted:
            return None
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    cells = np.frombuffer(block, np.uint8)
    special = cells == _LINE_FEED
    if delimiter is not None:
        special |= cells == ord(delimiter)
    if not quoted:
        # The block ends with a line end, so all of it is taken.
        return Layout(block, taken, cells[np.flatnonzero(special)] == _LINE_FEED, None)
    at = np.flatnonzero(special | (cells == _QUOTE))
    kinds = cells[at]
    quotes = kinds == _QUOTE
    if not _encloses(cells, special):
        return None
    outside = (np.cumsum(quotes, dtype=np.uint8) & np.uint8(1)) == 0
    inside_ends = bool((kinds[~outside] == _LINE_FEED).any())
    chosen = outside & ~quotes
    last = kinds[chosen] == _LINE_FEED
    if outside[-1] and not inside_ends:
        return Layout(block, taken, last, None)
    ends = at[chosen][last]
    size = int(ends[-1]) + 1 if ends.size else 0
    whole = len(last) - int(last[::-1].argmax()) if ends.size else 0
    lines = np.searchsorted(at[kinds == _LINE_FEED], ends[:-1], side="right") if inside_ends else None
    return Layout(block[:size], size, last[:whole], None if lines is None else np.concatenate([[0], lines]), ends)


def _encloses(cells: NDArray[np.uint8], borders: NDArray[np.bool_]) -> bool:
    """Tell whether every quotation mark opens or closes a cell, or is one of two that stand for one in a cell."""
    at = np.flatnonzero(cells == _QUOTE)
    opening, closing = at[::2], at[1::2]
    opens = (opening == 0) | borders[opening - 1]
    # There is a next character, as the block ends with a line end.
    closes = borders[closing + 1] | (cells[closing + 1] == _RETURN)
    if opens.all() and closes.all():
        return True
    doubled = opening[1:] == closing[: len(opening) - 1] + 1
    opens[1:] |= doubled
    closes[: len(doubled)] |= doubled
    return bool(opens.all() and closes.all())
