"""The request for what was collected: an estimate, or the reports themselves, read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from advisor.checks import text
from advisor.errors import InputError
from advisor.inputs.domain_file import read_domain
from advisor.inputs.estimates import read_estimates
from advisor.inputs.reports import read_reports
from advisor.question.collected import collect
from advisor.question.estimate_request import build_estimate_request
from advisor.question.option import Settings, option
from advisor.question.request import Collected, RankSettings, Request
from advisor.question.sample import sample_name
from advisor.question.settings import Categories, Cleaning, Columns, member, require_one
from simulator import PROTOCOLS


@dataclass(frozen=True)
class Collection(Settings):
    """How something was collected, and what stands for the truth behind it."""

    panel: ClassVar[str] = "Question"

    used: tuple[str, ...] = option(
        "--protocol", "-p", read=partial(member, "protocol"), metavar="NAME", repeated=True,
        help="the protocol that was used",
    )  # fmt: skip
    surrogate: str | None = option(
        "--surrogate", read=text, metavar="NAME", advanced=True,
        help="what stands for the truth: ensemble, norm_sub, … [default: ensemble]",
    )  # fmt: skip

    @property
    def protocol(self) -> str | None:
        """The protocol, or None if none was named.

        Raises
        ------
        InputError
            If there are several.
        """
        return require_one("protocol", self.used)


@dataclass(frozen=True)
class EstimateColumns(Settings):
    """Where the estimates stand in a file."""

    panel: ClassVar[str] = "Data"

    estimates: str | None = option("--estimates", read=text, metavar="NAME", help="column of the estimates")


@dataclass(frozen=True)
class ReportFormat(Settings):
    """How reports are written."""

    panel: ClassVar[str] = "Data"

    hash: str | None = option("--hash", read=text, metavar="NAME", help="hash of blh and olh reports: mix64 or xxh32")


def estimate_request(
    path: str,
    settings: RankSettings,
    domain: Categories,
    columns: Columns,
    cleaning: Cleaning,
    collection: Collection,
    where: EstimateColumns,
) -> Request:
    """Read an estimate and build the request that it is for.

    Raises
    ------
    InputError
        If the file, or what it is said to hold, is wrong.
    """
    categories = None if cleaning.domain is None else read_domain(cleaning.domain)
    read = read_estimates(path, column=columns.column, estimates=where.estimates, header=columns.header)
    collected = collect(
        read.labels,
        read.values,
        protocol=collection.protocol or "",
        epsilon=settings.epsilon,
        n=settings.question.n or 0,
        k=domain.k,
        domain=categories,
        ordered=domain.ordered,
        assumptions=read.assumptions,
        warnings=read.warnings,
    )
    return build_estimate_request(settings, collected, name=sample_name(path), surrogate=collection.surrogate)


def reports_request(
    path: str,
    settings: RankSettings,
    domain: Categories,
    columns: Columns,
    cleaning: Cleaning,
    collection: Collection,
    how: ReportFormat,
) -> Request:
    """Read reports, turn them into an estimate, and build the request that it is for.

    Raises
    ------
    InputError
        If the file, or what it is said to hold, is wrong.
    """
    protocol = collection.protocol or ""
    categories = None if cleaning.domain is None else read_domain(cleaning.domain)
    read = read_reports(
        path,
        protocol,
        settings.epsilon,
        k=domain.k,
        domain=categories,
        column=columns.column,
        header=columns.header,
        hash=how.hash,
    )
    n = settings.question.n
    if n not in (None, read.n):
        raise InputError(f"the file holds {read.n:,} reports, --n {n:,} was given: leave --n out")
    oracle = PROTOCOLS[protocol](len(read.labels), settings.epsilon)
    try:
        collected: Collected = collect(
            read.labels,
            oracle.estimate(read.support, read.n),
            protocol=protocol,
            epsilon=settings.epsilon,
            n=read.n,
            domain=categories,
            ordered=domain.ordered,
            assumptions=[f"{read.n:,} reports read", *read.assumptions],
            warnings=read.warnings,
        )
    except InputError as error:
        # What looked odd on the way, a hash for instance, may be the reason.
        raise InputError("; ".join([str(error), *read.warnings])) from None
    return build_estimate_request(settings, collected, name=sample_name(path), surrogate=collection.surrogate)
