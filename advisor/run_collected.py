"""The part of a run that is about an estimate or reports: which options fit, and what is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.cli import outputs as files
from advisor.errors import InputError
from advisor.inputs.domain import read_domain
from advisor.inputs.estimates import read_estimates
from advisor.inputs.reports import read_reports
from advisor.names import resolve
from advisor.question.collected import Collected, collect
from advisor.question.request import Request, build_estimate_request
from simulator import PROTOCOLS


@dataclass(frozen=True)
class CollectedOptions:
    """Options about what was collected.

    Attributes
    ----------
    protocol
        The protocol that was used, as the user named it.
    from_reports
        Whether the file holds reports, not an estimate.
    estimates
        Column of the estimates.
    hash
        Hash of the reports.
    surrogate
        How the truth behind the estimate is imagined.
    apply
        File for the post-processed estimate.
    """

    protocol: str
    from_reports: bool
    estimates: str | None
    hash: str | None
    surrogate: str | None
    apply: str | None


def check_collected_options(
    about: CollectedOptions, checked: dict[str, Any], reading: dict[str, Any], *, keep_top: int | None, other: bool
) -> None:
    """Refuse what cannot be asked of an estimate, before anything is read.

    Raises
    ------
    InputError
        For the first option that does not fit.
    """
    option = "--reports" if about.from_reports else "--estimate"
    resolve("protocol", about.protocol)
    unfit = {
        "--counts": reading["counts"],
        "--transactions": reading["transactions"],
        "--drop-missing": reading["drop_missing"],
        "--keep-top": keep_top,
        "--other": other,
    }
    for name, given in unfit.items():
        if given:
            raise InputError(f"{name} is for a sample and does not go with {option}")
    if not about.from_reports:
        if about.hash is not None:
            raise InputError("--hash goes with --reports: an estimate is counted already")
        if checked["n"] is None:
            raise InputError("--n is missing: an estimate does not tell how many users reported")


def apply_file(
    about: CollectedOptions, sample: str, taken: Iterable[Path | None], *, several_metrics: bool, force: bool
) -> Path | None:
    """Return the file for the post-processed estimate, checked; None if there is to be none.

    Raises
    ------
    InputError
        If it cannot be written, or another output goes to the same file.
    """
    if about.apply is None:
        return None
    if about.apply == "-":
        raise InputError("--apply needs the name of a file: the answer goes to standard output")
    if Path(about.apply).suffix.lower() not in ("", ".csv"):
        raise InputError(f"--apply {about.apply}: what is written is CSV, the suffix must be .csv")
    if several_metrics:
        raise InputError("--apply writes one estimate, so it needs one --metric, or the one --method to apply")
    target = files.check_writable("--apply", about.apply, force=force, sample=sample)
    if any(other is not None and other.resolve() == target.resolve() for other in taken):
        raise InputError(f"--apply names the same file as another output, {about.apply}")
    return target


def collected_request(
    sample: str,
    about: CollectedOptions,
    checked: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    domain: str | None,
) -> Request:
    """Read an estimate, or reports and turn them into one, and build the request.

    Raises
    ------
    InputError
        If the file, or what it is said to hold, is wrong.
    """
    protocol = resolve("protocol", about.protocol)
    known = None if domain is None else read_domain(domain)
    read = _from_reports if about.from_reports else _from_estimates
    collected = read(sample, protocol, about, checked, reading, ordered, known)
    name = "standard input" if sample == "-" else sample
    return build_estimate_request(checked, collected, name=name, surrogate=about.surrogate)


def _from_estimates(
    sample: str,
    protocol: str,
    about: CollectedOptions,
    checked: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    known: tuple[str, ...] | None,
) -> Collected:
    read = read_estimates(sample, column=reading["column"], estimates=about.estimates, header=reading["header"])
    return collect(
        read.labels,
        read.values,
        protocol=protocol,
        epsilon=checked["epsilon"],
        n=checked["n"],
        k=checked["k"],
        domain=known,
        ordered=ordered,
        assumptions=read.assumptions,
        warnings=read.warnings,
    )


def _from_reports(
    sample: str,
    protocol: str,
    about: CollectedOptions,
    checked: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    known: tuple[str, ...] | None,
) -> Collected:
    read = read_reports(
        sample,
        protocol,
        checked["epsilon"],
        k=checked["k"],
        domain=known,
        column=reading["column"],
        header=reading["header"],
        hash=about.hash,
    )
    if checked["n"] not in (None, read.n):
        raise InputError(f"the file holds {read.n:,} reports, --n {checked['n']:,} was given: leave --n out")
    oracle = PROTOCOLS[protocol](len(read.labels), checked["epsilon"])
    try:
        return collect(
            read.labels,
            oracle.estimate(read.support, read.n),
            protocol=protocol,
            epsilon=checked["epsilon"],
            n=read.n,
            domain=known,
            ordered=ordered,
            assumptions=[f"{read.n:,} reports read", *read.assumptions],
            warnings=read.warnings,
        )
    except InputError as error:
        # What looked odd on the way, a hash for instance, may be the reason.
        raise InputError("; ".join([str(error), *read.warnings])) from None
