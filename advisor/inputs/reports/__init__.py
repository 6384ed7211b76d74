"""Read the reports that users sent, and tally them: for most protocols, those that support each category.

What a row holds:

=================  ============================================================================================
protocol           one report
=================  ============================================================================================
grr                the reported category; categories that no report names have to be given by `domain` or `k`
rappor, oue, the   k columns of 0 and 1, in the order of the domain or with its labels as the header; or one
                   column with a string of k characters 0 and 1. (A first line "0,1" is a report, not the names
                   of two categories, unless `header` says so)
ss                 the reported categories: one a column, or all in one cell with blanks, ";", "|" or "," between
                   them. Needs `domain` or `k`, on which their number omega depends
blh, olh           the seed of the hash function, from 0 to 2^32 - 1, and the symbol, from 0 to g - 1, in columns
                   of these names or in the first two. Categories are hashed as their places 0 to k - 1 in the
                   domain. Needs `domain` or `k`
pgr, hr,           the number of the symbol, as the protocol's `perturb` gives it. Needs `domain` or `k`
sw, haar_hrr
tree, tree_half    the height that was drawn, from 0 (the leaves) on, and what is said of its nodes, in columns
                   "height" and "node" or in the first two. Where a height has fewer than 3 e^eps + 2 nodes, the
                   number of one of them, from 0; else one character 0 or 1 for each. Needs `domain` or `k`
=================  ============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from advisor.errors import InputError
from advisor.inputs.blocks import Rows
from advisor.inputs.columns import Table
from advisor.inputs.labels import check_domain
from advisor.inputs.reports.bits import bits_have_header, collect_bits
from advisor.inputs.reports.categories import collect_sets, collect_values, labels_have_header
from advisor.inputs.reports.nodes import collect_nodes
from advisor.inputs.reports.plausibility import implausible
from advisor.inputs.reports.settings import (
    READABLE,
    Collected,
    Parameters,
    Settings,
    check_report_options,
    readable_protocols,
    report_kind,
)
from advisor.inputs.reports.symbols import collect_hashes, collect_symbols
from advisor.inputs.rows import opened_rows
from simulator import Tally

__all__ = ["READABLE", "RawReports", "check_report_options", "read_reports", "readable_protocols", "report_kind"]

_COLLECTORS: dict[str, Callable[[Rows, Settings], Collected]] = {
    "value": collect_values,
    "bits": collect_bits,
    "subset": collect_sets,
    "hash": collect_hashes,
    "symbol": collect_symbols,
    "node": collect_nodes,
}
"""What reads the reports of each kind in `READABLE`."""


@dataclass(frozen=True)
class RawReports:
    """What was read, and what was decided on the way."""

    labels: tuple[str, ...]  # the k categories
    tally: Tally  # of the protocol: for most, the ``(k,)`` reports that support each category (users)
    assumptions: tuple[str, ...]  # what was decided for the user, one sentence each
    warnings: tuple[str, ...]  # what the user should look at, one sentence each
    plausible: bool = True  # whether they can be such reports; if not, the first warning says why


def read_reports(
    path: str,
    protocol: str,
    epsilon: float,
    *,
    k: int | None = None,
    domain: Sequence[str] | None = None,
    column: str | None = None,
    header: bool | None = None,
    hash: str | None = None,  # noqa: A002 - the protocols call it so
    parameters: Parameters | None = None,
    stdin: BinaryIO | None = None,
) -> RawReports:
    r"""Tally reports in CSV, TSV, plain text, gzip of these, or Parquet, one report a row.

    The rows stream by: memory grows with the domain, not with the number of reports. What a row holds is said above.

    Parameters
    ----------
    path : str
        The file, "-" for standard input.
    protocol, epsilon : str, float
        The key of one of the protocols above, and the privacy budget of each report.
    k, domain : int and sequence of str, or None
        Number of categories, or all of them in the order in which the users' devices know them. Without a domain they
        are 0 to k - 1, for grr and ss also 1 to k or other labels, if the reports hold these.
    column, header : str and bool, or None
        The column with the reports, by header or by number from 1; whether the first line names the columns.
    parameters : mapping, or None
        Parameters that other packages choose in another way: ``subset_size`` of ss, ``hash_range`` (g) of olh,
        ``block_count`` of hr.
    hash, stdin : str and binary file, or None
        For blh and olh: "mix64" or "xxh32" (None: `simulator.hashing.DEFAULT_HASH`); what "-" reads.

    Raises
    ------
    InputError
        One line that says what is wrong with the options or the file, where, and the way out.

    Examples
    --------
    >>> import io
    >>> read = read_reports("-", "oue", 1.0, stdin=io.BytesIO(b"0110\n1000\n0010\n"))
    >>> read.labels, read.tally.counts.tolist(), read.tally.n
    (('0', '1', '2', '3'), [1, 1, 2, 0], 3)
    """
    settings = _settings(protocol, epsilon, k, domain, column, hash, parameters or {})
    kind = settings.kind

    def names_columns(first: Sequence[str], _rest: Sequence[Sequence[str]], _table: Table, usual: bool) -> bool:
        if kind in ("value", "subset"):
            return labels_have_header(first, usual, settings)
        return bits_have_header(first, usual, settings) if kind == "bits" else usual  # a header has no number

    # "New York" on a line is one label, where labels may have several words.
    blanks = kind != "value" and not any(len(label.split()) > 1 for label in settings.domain or ())
    with opened_rows(
        path, "reports", header=header, asked=(column,), names_columns=names_columns, blanks=blanks, stdin=stdin
    ) as rows:
        found = _COLLECTORS[kind](rows, settings)
    odd = implausible(found.tally, settings.oracle(len(found.labels)))
    doubts = rows.doubts if kind == "value" else ()
    warnings = (*odd, *rows.warnings(), *doubts, *found.warnings)
    return RawReports(found.labels, found.tally, (*rows.assumptions, *found.assumptions), warnings, not odd)


def _settings(
    protocol: str,
    epsilon: float,
    k: int | None,
    domain: Sequence[str] | None,
    column: str | None,
    hashing: str | None,
    parameters: Parameters,
) -> Settings:
    check_report_options(protocol, epsilon, k=k, has_domain=domain is not None, column=column, hash=hashing)
    labels = None if domain is None else check_domain(domain)
    if labels is not None and len(labels) < 2:
        raise InputError(f"domain: has {len(labels)} label(s); a domain needs at least 2 categories")
    if labels is not None and k is not None and k != len(labels):
        raise InputError(f"--k: got {k}, but the domain has {len(labels)} labels; leave out --k")
    return Settings(protocol, epsilon, k if labels is None else len(labels), labels, column, hashing, parameters)
