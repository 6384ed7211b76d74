"""Read the reports that users sent, and count for each category those that support it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, near_miss
from advisor.inputs.columns import Table
from advisor.inputs.domain_labels import check_domain
from advisor.inputs.limits import MOST_LABELS
from advisor.inputs.report_formats import Asked, Collected
from advisor.inputs.report_hashes import collect_hashes
from advisor.inputs.report_labels import collect_sets, collect_values, labels_have_header
from advisor.inputs.report_vectors import collect_vectors, vectors_have_header
from advisor.inputs.rows import Rows, opened_rows
from simulator.hashing import HASHES
from simulator.protocols import EPSILON_MAX, EPSILON_MIN, FrequencyOracle

_COLLECTORS: dict[str, Callable[[Rows, Asked], Collected]] = {
    "grr": collect_values,
    "rappor": collect_vectors,
    "oue": collect_vectors,
    "blh": collect_hashes,
    "olh": collect_hashes,
    "ss": collect_sets,
    "the": collect_vectors,
}
_HASHED = ("blh", "olh")
_LABELLED = ("grr", "ss")
_NEEDS_K = ("blh", "olh", "ss")


@dataclass(frozen=True)
class RawReports:
    """What was read, and what was decided on the way.

    Attributes
    ----------
    labels : tuple of str
        The k categories.
    support : ndarray of int64, shape (k,)
        Reports that support each category (users); from it and n the protocol's `estimate` takes frequencies.
    n : int
        Number of reports.
    assumptions : tuple of str
        What was decided for the user, one sentence each.
    warnings : tuple of str
        What the user should look at, one sentence each.
    """

    labels: tuple[str, ...]
    support: NDArray[np.int64]
    n: int
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]


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
    stdin: BinaryIO | None = None,
) -> RawReports:
    r"""Count the supports of reports in CSV, TSV, plain text, gzip of these, or Parquet, one report a row.

    The rows stream by: memory grows with the domain, not with the number of reports. What a row holds:

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
    =================  ============================================================================================

    Parameters
    ----------
    path : str
        The file, "-" for standard input.
    protocol : str
        The key of one of the protocols above.
    epsilon : float
        The privacy budget of each report.
    k : int or None
        Number of categories. Without a domain they are 0 to k - 1, for grr and ss also 1 to k or other labels, if
        the reports hold these.
    domain : sequence of str or None
        All categories, in the order in which the users' devices know them.
    column : str or None
        The column with the reports, by header or by number from 1, if there are others.
    header : bool or None
        Whether the first line names the columns, None to find out.
    hash : str or None
        For blh and olh: "mix64" (None) or "xxh32", see `simulator.hashing`.
    stdin : binary file or None
        What "-" reads, None for the standard input of the process.

    Raises
    ------
    InputError
        One line that says what is wrong with the options or the file, where, and the way out.

    Examples
    --------
    >>> import io
    >>> read = read_reports("-", "oue", 1.0, stdin=io.BytesIO(b"0110\n1000\n0010\n"))
    >>> read.labels, read.support.tolist(), read.n
    (('0', '1', '2', '3'), [1, 1, 2, 0], 3)
    """
    asked = _checked(protocol, epsilon, k, domain, column, hash)

    def names_columns(first: Sequence[str], _rest: Sequence[Sequence[str]], _table: Table, usual: bool) -> bool:
        if protocol in _HASHED:  # a header has no number, a report has two
            return usual
        return (labels_have_header if protocol in _LABELLED else vectors_have_header)(first, usual, asked)

    # "New York" on a line is one label, where labels may have several words.
    blanks = protocol != "grr" and not any(len(label.split()) > 1 for label in asked.domain or ())
    with opened_rows(
        path, "reports", header=header, asked=(column,), names_columns=names_columns, blanks=blanks, stdin=stdin
    ) as rows:
        found = _COLLECTORS[protocol](rows, asked)
    warnings = (*rows.warnings(), *found.warnings)
    if protocol not in _LABELLED:  # the size of a set is fixed, and was checked
        warnings = (*warnings, *_implausible(found.support, found.n, asked.oracle(len(found.labels))))
    return RawReports(found.labels, found.support, found.n, (*rows.assumptions, *found.assumptions), warnings)


def _checked(
    protocol: str, epsilon: float, k: int | None, domain: Sequence[str] | None, column: str | None, hashing: str | None
) -> Asked:
    if protocol not in _COLLECTORS:
        allowed = ", ".join(_COLLECTORS)
        miss = near_miss(protocol, _COLLECTORS)
        raise InputError(f"protocol: reports of {protocol!r} cannot be read, those of {allowed} can{miss}")
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise InputError(f"eps must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got {epsilon}")
    if k is not None and not 2 <= k <= MOST_LABELS:
        raise InputError(f"--k: got {k}; a domain has 2 to {MOST_LABELS} categories")
    labels = None if domain is None else check_domain(domain)
    if labels is not None and len(labels) < 2:
        raise InputError(f"domain: has {len(labels)} label(s); a domain needs at least 2 categories")
    if labels is not None and k is not None and k != len(labels):
        raise InputError(f"--k: got {k}, but the domain has {len(labels)} labels; leave out --k")
    if k is None and labels is None and protocol in _NEEDS_K:
        raise InputError(
            f"reports of {protocol} do not tell how many categories there are; say so with --k, or name all "
            "with --domain FILE"
        )
    if hashing is not None and protocol not in _HASHED:
        raise InputError(f"hash: {protocol} has no hash function; leave it out (it belongs to blh and olh)")
    if hashing is not None and hashing not in HASHES:
        raise InputError(f"hash: got {hashing!r}; allowed are {', '.join(HASHES)}{near_miss(hashing, HASHES)}")
    if column is not None and protocol in _HASHED:
        raise InputError(
            f"--column: reports of {protocol} are in two columns; name them seed and symbol, or put them first"
        )
    return Asked(protocol, epsilon, k if labels is None else len(labels), labels, column, hashing)


def _implausible(support: NDArray[np.int64], n: int, oracle: FrequencyOracle) -> tuple[str, ...]:
    """Say so if the supports add up to what the protocol hardly ever gives, whatever the users hold.

    Each report supports its own value with probability p and each of the k - 1 others with q, so the total has mean
    ``n (p + (k-1) q)`` and, supports being independent (local hashing: nearly so), variance
    ``n (p (1-p) + (k-1) q (1-q))``.
    """
    p, q, k = oracle.p, oracle.q, oracle.k
    if p is None or q is None:
        return ()
    mean = n * (p + (k - 1) * q)
    variance = n * (p * (1 - p) + (k - 1) * q * (1 - q))
    total = int(support.sum())
    # Six standard deviations; by Bernstein's inequality 12 more keep false alarms below 1 in 10^7 for any n, p and q.
    if abs(total - mean) <= 6 * math.sqrt(variance) + 12:
        return ()
    culprits = "the protocol, eps, k or hash may be wrong"
    return (
        f"a report supports {total / n:.4g} categories on average, while {oracle.key} with eps={oracle.epsilon:g} "
        f"and k={k} gives {mean / n:.4g} whatever users hold; {culprits}",
    )
