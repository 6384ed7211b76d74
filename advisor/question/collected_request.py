"""The request for what was collected: an estimate, or the reports themselves, read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import text, whole
from advisor.errors import InputError
from advisor.inputs.domain_file import read_domain
from advisor.inputs.estimates import read_estimates
from advisor.inputs.reports import read_reports
from advisor.inputs.reports.settings import PARAMETERS, Parameters, check_parameters, numbers_note, protocol_with
from advisor.question.cleaning import Cleaning
from advisor.question.collected import collect, collect_tally
from advisor.question.estimate_request import build_estimate_request
from advisor.question.option import Settings, like, option
from advisor.question.request import RankSettings, Request
from advisor.question.sample import sample_name
from advisor.question.settings import Categories, Columns, Menu, require_one
from simulator import frequency_oracles
from simulator.protocols.hadamard import HadamardResponse


@dataclass(frozen=True)
class Collection(Settings):
    """How something was collected, and what stands for the truth behind it."""

    panel: ClassVar[str] = "Question"

    used: tuple[str, ...] = like(Menu, "protocol", help="the protocol that was used")
    surrogate: str | None = option(
        "--surrogate", read=text, metavar="NAME", advanced=True,
        help="what stands for the truth: ensemble, norm_sub, … [default: ensemble]",
    )  # fmt: skip
    subset_size: int | None = option(
        "--subset-size", read=whole(1), metavar="N", advanced=True,
        help="values in a subset of ss [default: the best]",
    )  # fmt: skip
    hash_range: int | None = option(
        "--hash-range", read=whole(2), metavar="G", advanced=True,
        help="symbols of olh [default: e^ε + 1]",
    )  # fmt: skip
    block_count: int | None = option(
        "--blocks", read=whole(1), metavar="N", advanced=True,
        help="blocks of hr; pure-ldp has 1 up to ε = 1 [default: the best]",
    )  # fmt: skip

    @property
    def parameters(self) -> Parameters:
        """The parameters of the protocol that were given."""
        return {name: value for name in PARAMETERS if (value := getattr(self, name)) is not None}

    def check(self) -> None:
        """Refuse parameters that the protocol does not have."""
        if self.protocol is not None:
            check_parameters(self.protocol, self.parameters)

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
    read = read_estimates(path, column=columns.label, estimates=where.estimates, header=columns.header)
    numbered = () if read.labelled else _numbered(read.labels, domain, cleaning)
    collected = collect(
        read.labels,
        read.values,
        protocol=collection.protocol or "",
        epsilon=settings.epsilon,
        parameters=collection.parameters,
        n=settings.question.n or 0,
        k=domain.k,
        domain=categories,
        ordered=False if numbered else domain.ordered,
        assumptions=(*read.assumptions, *numbered),
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
        column=columns.label,
        header=columns.header,
        hash=how.hash,
        parameters=collection.parameters,
    )
    n, tally = settings.question.n, read.tally
    if n not in (None, tally.n):
        raise InputError(f"the file holds {tally.n:,} reports, --n {n:,} was given: leave --n out")
    numbered = _numbered(read.labels, domain, cleaning) if protocol in frequency_oracles() else ()
    try:
        collected = collect_tally(
            read.labels,
            tally,
            protocol=protocol,
            epsilon=settings.epsilon,
            parameters=collection.parameters,
            domain=categories,
            ordered=False if numbered else domain.ordered,
            assumptions=[f"{tally.n:,} reports read", *read.assumptions, *numbered],
            warnings=read.warnings,
        )
    except InputError as error:
        oracle = protocol_with(protocol, len(read.labels), settings.epsilon, collection.parameters)
        pure = isinstance(oracle, HadamardResponse) and oracle.blocks > 1 and settings.epsilon <= 1
        hint = "; reports of pure-ldp have one block here: --blocks 1" if pure else ""
        # That the reports are odd is the reason why their estimate is.
        raise InputError((str(error) if read.plausible else read.warnings[0]) + hint) from None
    return build_estimate_request(settings, collected, name=sample_name(path), surrogate=collection.surrogate)


def _numbered(labels: tuple[str, ...], domain: Categories, cleaning: Cleaning) -> tuple[str, ...]:
    """Return that categories which are only numbered have no order, where that is so and nobody said otherwise."""
    note = numbers_note(labels) if domain.ordered is None and cleaning.domain is None else None
    return () if note is None else (note,)
