"""The user's settings for reports, and their counts, which add up across files and workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.columns import InputTable, find_column, numbers_rows
from advisor.inputs.labels import check_domain
from advisor.inputs.numbers import MOST_LABELS, NO_CODES, MissingCodes
from simulator import PROTOCOLS, Protocol
from simulator.hashing import HASHES
from simulator.protocols import EPSILON_MAX, EPSILON_MIN
from simulator.protocols.grr import ForcedResponse

READABLE = ("value", "bits", "subset", "hash", "symbol", "cells", "node")
"""Kinds of reports that can be written into a file."""

Parameters: TypeAlias = Mapping[str, int | float | str]

RATES = {"own_rate": "--p", "other_rate": "--q"}
PARAMETERS = {"subset_size": "--subset-size", "hash_range": "--hash-range", "block_count": "--blocks", **RATES}
"""Options for parameters that other packages choose differently, by field of the protocol."""

MOST_STEPS = 1 << 60  # of she: reports are whole steps of 1 / steps

TWO_COLUMNS = {"hash": ("seed", "symbol"), "node": ("height", "node")}
"""Names of the columns, for kinds of reports with two columns."""

_TELL_K = ("value", "bits", "cells")


def report_kind(protocol: str) -> str:
    """Return the kind of a protocol's reports, "" if unknown."""
    return PROTOCOLS[protocol].report_kind if protocol in PROTOCOLS else ""


def readable_protocols() -> tuple[str, ...]:
    """Return the keys of the protocols whose reports can be read."""
    return tuple(key for key in PROTOCOLS if report_kind(key) in READABLE)


def protocol_with(protocol: str, k: int, epsilon: float, parameters: Parameters) -> Protocol:
    """Return the protocol for k categories, with unusual parameters.

    Raises InputError for an impossible parameter.
    """
    forced = protocol == "grr" and not RATES.keys().isdisjoint(parameters)
    kind: Callable[..., Protocol] = ForcedResponse if forced else PROTOCOLS[protocol]
    try:
        return kind(k, epsilon, **parameters)
    except ValueError as error:
        flags = [flag for name, flag in PARAMETERS.items() if name in parameters]
        raise InputError(f"{listed(flags)}: {error}") from None


def check_parameters(protocol: str, parameters: Parameters) -> None:
    """Raise InputError for a parameter that the protocol does not have."""
    for name, flag in PARAMETERS.items():
        owners = [key for key, kind in PROTOCOLS.items() if name in kind.__dataclass_fields__]
        owners = ["grr"] * (name in RATES) + owners  # forced unevenly; else its p and q follow from its budget
        if name in parameters and protocol not in owners:
            raise _foreign(flag, protocol, owners)


def _foreign(flag: str, protocol: str, owners: Sequence[str]) -> InputError:
    return InputError(f"{flag}: {protocol} has no such parameter; leave it out (it belongs to {listed(owners)})")


@dataclass(frozen=True)
class ReportSettings:
    """The user's settings for reports."""

    protocol: str
    epsilon: float
    k: int | None = None
    domain: tuple[str, ...] | None = None
    column: str | None = None  # of the reports, by header or by number from 1
    hash: str | None = None  # of blh and olh: "mix64" or "xxh32"; None for `simulator.hashing.DEFAULT_HASH`
    parameters: Parameters = field(default_factory=dict)  # that others choose in another way, see `PARAMETERS`
    steps: int | None = None  # of she: reports are whole steps of 1 / steps
    domain_given: bool = False  # whether the user named the categories, instead of the files
    counts: str | None = None  # column of how many reports a row stands for, see `counted`
    n: int | None = None  # reports behind sums that do not tell it
    missing: MissingCodes = NO_CODES  # what stands for no report: such rows are left out
    skip_bad: bool = False  # whether rows that are no reports are left out

    @property
    def kind(self) -> str:
        """The kind of reports."""
        return report_kind(self.protocol)

    def drops(self, cell: str) -> bool:
        """Return whether a cell is a missing report that is to be left out."""
        return cell in self.missing and cell not in (self.domain or ())

    def oracle(self, k: int) -> Protocol:
        """Return the protocol for k categories."""
        hashed = {} if self.hash is None else {"hash": self.hash}
        return protocol_with(self.protocol, k, self.epsilon, {**self.parameters, **hashed})

    def checked(self) -> ReportSettings:
        """Return the settings with stripped labels of the domain, whose number is k, before any byte is read.

        Raises InputError for the first option that does not fit.
        """
        protocol, kind, k = self.protocol, self.kind, self.k
        labels = None if self.domain is None else check_domain(self.domain)
        if labels is not None and len(labels) < 2:
            raise InputError(f"domain: has {len(labels)} label(s); a domain needs at least 2 categories")
        if labels is not None and k not in (None, len(labels)):
            raise InputError(f"--k: got {k}, but the domain has {len(labels)} labels; leave out --k")
        if kind not in READABLE:
            allowed = readable_protocols()
            miss = "" if kind else near_miss(protocol, allowed)
            raise InputError(
                f"reports of {protocol:.40} cannot be read from a file; readable are {', '.join(allowed)}{miss}"
            )
        if not EPSILON_MIN <= self.epsilon <= EPSILON_MAX:
            raise InputError(f"eps must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got {self.epsilon}")
        if k is not None and not 2 <= k <= MOST_LABELS:
            raise InputError(f"--k: got {k}; a domain has 2 to {MOST_LABELS} categories")
        if k is None and labels is None and kind not in _TELL_K:
            raise InputError(
                f"reports of {protocol} do not tell how many categories there are; say so with --k, or name all "
                "with --domain FILE"
            )
        for flag, given, kinds in (
            ("--hash", self.hash, ("hash",)),
            ("--steps", self.steps, ("cells",)),
            ("--counts", self.counts, ("value", "bits")),
        ):
            if given is not None and kind not in kinds:
                raise _foreign(flag, protocol, [key for key in PROTOCOLS if report_kind(key) in kinds])
        if self.hash is not None and self.hash not in HASHES:
            hint = near_miss(self.hash, HASHES)
            raise InputError(f"hash: got {self.hash!r:.40}; allowed are {', '.join(HASHES)}{hint}")
        if self.counts is not None and (self.missing or self.skip_bad):
            raise InputError("--counts does not go with --drop-missing, --missing and --skip-bad: remove such rows")
        if self.column is not None and kind in TWO_COLUMNS:
            names, first = " and ".join(TWO_COLUMNS[kind]), ", or put them first" if kind == "hash" else ""
            raise InputError(f"--column: reports of {protocol} are in two columns; name them {names}{first}")
        return self if labels is None else replace(self, k=len(labels), domain=labels)

    def __str__(self) -> str:
        return f"{self.protocol} with eps={self.epsilon:g}"


def named_column(table: InputTable, column: str | None, meaning: str = "report") -> int | None:
    """Return the only column, or the requested column, or the column with a known name; None if there is none."""
    if column is not None:
        return find_column(table, column, "--column")
    if table.width == 1:
        return 0
    places = table.named(meaning)
    return places[0] if len(places) == 1 else None


def column_note(table: InputTable, index: int) -> tuple[str, ...]:
    """Return a note with the column that was read, if there are others."""
    return (f"column {table.called(index)} read as reports",) if table.width > 1 else ()


def no_such_column(table: InputTable, why: str) -> InputError:
    """Return the error that asks for the column of the reports."""
    return InputError(
        f"{table.source}: has {table.width} columns: {table.columns()}; {why}; say which one holds the reports with "
        "--column"
    )


def place_names(k: int) -> tuple[str, ...]:
    """Return the labels of a domain of which only the size is known."""
    return tuple(map(str, range(k)))


def numbers_note(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the assumption about categories numbered 0 to k - 1 or 1 to k; none for other labels.

    >>> numbers_note(["0", "1", "2"]), numbers_note(["18", "19"])
    (('categories are numbered 0 to 2: no order between them (--ordered says otherwise)',), ())
    """
    note = f"categories are numbered {labels[0]} to {labels[-1]}: no order between them (--ordered says otherwise)"
    return (note,) if numbers_rows(labels) else ()
