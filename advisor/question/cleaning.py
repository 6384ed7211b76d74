"""Options for the treatment of rows, labels and numbers of a sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from advisor.checks import choice, path, real, shown, text, whole
from advisor.errors import InputError
from advisor.inputs.bins import Cut, edge_text
from advisor.inputs.numbers import MOST_LABELS, MissingCodes
from advisor.question.option import Settings, option, refuse


def rising(name: str, value: object) -> tuple[float, ...]:
    """Return strictly rising numbers, from text with commas between them, or from a Python sequence.

    Raises InputError for fewer than two, for an entry that is not a number, or if the numbers do not rise.
    """
    parts = value.split(",") if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    if len(parts) < 2:
        raise InputError(f"{name} must be two or more numbers with commas between them, got {shown(value)}")
    if len(parts) > MOST_LABELS + 1:
        raise InputError(f"{name} must be at most {MOST_LABELS + 1:,} numbers, got {len(parts):,}")
    edges = tuple(real()(f"every number in {name}", part) for part in parts)
    for before, after in pairwise(edges):
        if after <= before:
            raise InputError(f"{name} must rise from one to the next, got {edge_text(after)} after {edge_text(before)}")
    return edges


@dataclass(frozen=True, kw_only=True)
class Cleaning(Settings):
    """Treatment of rows, labels and numbers of a sample."""

    panel: ClassVar[str] = "Data"

    bins: int | None = option("--bins", read=whole(2, MOST_LABELS), metavar="K", help="cut numbers into K equal bins")
    bin_width: float | None = option(
        "--bin-width", advanced=True, read=real(above=0), metavar="W", help="cut numbers into bins of width W"
    )
    edges: tuple[float, ...] = option(
        "--edges",
        read=rising,
        metavar="X,X,…",
        default=(),
        advanced=True,
        help="edges of the bins, or with --bins their range",
    )
    clamp: bool = option("--clamp", advanced=True, help="count numbers outside of --edges in the outermost bins")
    unit: str | None = option(
        "--unit", read=text, metavar="NAME", advanced=True, help="unit of the numbers, such as years"
    )

    domain: str | None = option(
        "--domain", read=path, metavar="FILE", advanced=True, help="all possible categories, one per line"
    )
    keep_top: int | None = option(
        "--keep-top", read=whole(1), metavar="N", advanced=True, help="keep the N most frequent categories"
    )
    other: bool = option("--other", advanced=True, help="merge what --keep-top leaves out instead of dropping it")
    transactions: bool = option(
        "--transactions", advanced=True, help="several items per row: each user keeps their own most frequent one"
    )
    keep: str | None = option(
        "--keep",
        read=choice(("own", "common")),
        metavar="RULE",
        advanced=True,
        help="with --transactions: own, or common (most frequent over all users) [default: own]",
    )
    drop_missing: bool = option(
        "--drop-missing", advanced=True, help="leave out rows without a value, or with NA, -, …"
    )
    missing: tuple[str, ...] = option(
        "--missing",
        read=text,
        metavar="CODE",
        repeated=True,
        advanced=True,
        help="leave out rows without a value, or with this code, such as -99",
    )

    def check(self) -> None:
        """Raise InputError for merging without removed labels, dropping without missing values, and invalid bins."""
        if self.missing_codes and self.transactions:
            flag = self.given("drop_missing", "missing")[0]
            raise InputError(f"{flag} does not go with --transactions: there an empty cell is no item anyway")
        if self.keep is not None and not self.transactions:
            raise InputError(f"--keep is for rows of several items: give --transactions --keep {self.keep}")
        if self.other and self.keep_top is None and not self.transactions:
            raise InputError("--other merges what --keep-top leaves out: give both, for example --keep-top 20 --other")
        self._check_bins()

    def _check_bins(self) -> None:
        if self.bins is not None and self.bin_width is not None:
            raise InputError("give either --bins or --bin-width, not both")
        equal = self.given("bins", "bin_width")
        if self.edges and equal and len(self.edges) != 2:
            raise InputError(
                f"--edges beside {equal[0]} is the range, two numbers such as --edges 0,100, got {len(self.edges)}: "
                f"give two, or leave out {equal[0]}"
            )
        if self.edges and not equal and len(self.edges) == 2:
            raise InputError(
                "--edges with two numbers is one bin, and a domain needs two: give more edges, or the number of equal "
                "bins between them, for example --bins 64"
            )
        if self.cut is None:
            refuse(self.given("clamp", "unit"), "goes with --bins, --bin-width or --edges")
        elif self.edges:
            self.cut.bins(None)
        elif self.clamp:
            raise InputError("--clamp goes with --edges: without them the bins hold every number")

    @property
    def missing_codes(self) -> MissingCodes:
        """The cells that stand for no value."""
        return MissingCodes(self.drop_missing, self.missing)

    @property
    def cut(self) -> Cut | None:
        """The definition of the bins; None without bins."""
        if self.bins is None and self.bin_width is None and not self.edges:
            return None
        return Cut(self.bins, self.bin_width, self.edges, self.clamp, self.unit)
