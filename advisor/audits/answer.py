"""One run of the ``audit`` command: check, attack, write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.cli.progress import DelayedProgress
from advisor.errors import InputError, listed, near_miss
from advisor.numerals import real_number, whole_number

if TYPE_CHECKING:
    from simulator.audit import Audit
    from simulator.audit.run import Subject

MOST_K = 1_000_000
PARALLEL_CELLS = 20_000_000  # numbers drawn in one audit from which threads are worth their start


@dataclass(frozen=True)
class AuditOptions:
    """Options of an audit, each as the command line knows it; an empty tuple or None where it was not given."""

    eps: tuple[float, ...] = ()
    k: tuple[int, ...] = ()
    protocols: tuple[str, ...] = ()
    every: bool = False
    trials: int | None = None
    alpha: float | None = None
    attack: str | None = None
    values: tuple[int, ...] = ()
    target: str | None = None
    reports: str | None = None
    support: str | None = None
    hash: str | None = None
    symbols: int | None = None
    rounds: tuple[int, ...] = ()
    attributes: tuple[int, ...] = ()
    solutions: tuple[str, ...] = ()
    hashing_only: tuple[int, ...] = ()
    seed: int = 0
    jobs: int | None = None


def numbers(name: str, text: str | None) -> tuple[float, ...]:
    """Return the numbers of a list with commas; none if it was not given.

    >>> numbers("eps", "0.5,1")
    (0.5, 1.0)
    """
    if text is None:
        return ()
    return tuple(
        dict.fromkeys(value for part in text.split(",") if (value := real_number(name, part.strip())) is not None)
    )


def whole_numbers(name: str, text: str | None, at_least: int) -> tuple[int, ...]:
    """Return the whole numbers of a list with commas; none if it was not given.

    >>> whole_numbers("k", "25,1e3", 2)
    (25, 1000)
    """
    if text is None:
        return ()
    found = (whole_number(name, part.strip(), at_least=at_least) for part in text.split(","))
    return tuple(dict.fromkeys(value for value in found if value is not None))


def run(options: AuditOptions, *, output_format: str, output: str | None, force: bool, quiet: bool) -> None:
    """Audit what was asked for and write the result.

    Raises
    ------
    InputError
        If an option, the target or the output file is wrong.
    """
    from advisor.audits import document as audit_text
    from advisor.cli import outputs as files

    target = None if output is None else files.check_writable("--output", output, force=force)
    try:
        found = audits(options, quiet=quiet)
    except ValueError as error:
        raise InputError(str(error)) from None
    if output_format == "table" and target is None:
        audit_text.print_table(found, quiet=quiet)
        return
    text = {
        "table": audit_text.to_plain,
        "json": lambda rows: audit_text.to_json(rows, options),
        "csv": audit_text.to_csv,
        "markdown": audit_text.to_markdown,
    }[output_format](found)
    if target is None:
        sys.stdout.write(text)
    else:
        files.write_text(target, text)


def audits(options: AuditOptions, *, quiet: bool = True) -> tuple[Audit, ...]:
    """Return one audit for each combination of what the options list.

    Raises
    ------
    InputError, ValueError
        If an option or the target is wrong.
    """
    from simulator.audit import ALPHA, TRIALS

    _check(options)
    alpha = ALPHA if options.alpha is None else options.alpha
    if options.target is not None:
        return _audits_of_target(options, alpha, quiet=quiet)
    from simulator.audit import run_audit
    from simulator.audit.run import check_audit

    trials = options.trials or TRIALS
    for k in options.k:
        check_audit(k, _values(options), options.attack or "guess", trials, alpha)
    wanted = _subjects(options)
    rows = []
    with DelayedProgress("auditing", enabled=not quiet) as progress:
        for place, subject in enumerate(wanted):
            jobs = options.jobs
            if jobs is None:
                jobs = (os.cpu_count() or 1) if trials * subject.cells > PARALLEL_CELLS else 1
            rows.append(
                run_audit(
                    subject,
                    trials=trials,
                    alpha=alpha,
                    seed=options.seed,
                    jobs=jobs,
                    comparisons=len(wanted),
                    progress=_part(progress, place, len(wanted)),
                )
            )
    return tuple(rows)


def _part(progress: Callable[[int, int], None], place: int, parts: int) -> Callable[[int, int], None]:
    """Return what shows the progress of one of several parts of equal size."""
    return lambda done, total: progress(place * total + done, parts * total)


def _values(options: AuditOptions) -> tuple[int, int]:
    if not options.values:
        return 0, 1
    if len(options.values) != 2:
        raise InputError(f"--values must be two different values such as 0,1, got {listed(map(str, options.values))}")
    return options.values[0], options.values[1]


def _check(options: AuditOptions) -> None:
    """Refuse what is missing or does not go together."""
    from advisor.question.request import check_epsilon
    from simulator.audit import ATTACKS

    if not options.k:
        raise InputError("--k is missing: give the domain size, for example --k 100")
    if max(options.k) > MOST_K:
        raise InputError(f"k must be at most {MOST_K:,}, got {max(options.k):,}")
    if not options.eps and not options.hashing_only:
        raise InputError("--eps is missing: give the privacy budget of one report, for example --eps 1")
    for epsilon in options.eps:
        check_epsilon(epsilon)
    if options.alpha is not None and not 0 < options.alpha < 1:
        raise InputError(f"alpha must be a number between 0 and 1, got {options.alpha:g}")
    allowed = (*ATTACKS, "both") if options.target is not None else ATTACKS
    if options.attack is not None and options.attack not in allowed:
        raise InputError(
            f"--attack must be one of {listed(allowed)}, got {options.attack!r}{near_miss(options.attack, allowed)}"
        )
    of_table = {
        "--protocol": options.protocols,
        "--all": options.every,
        "--rounds": options.rounds,
        "--attributes": options.attributes,
        "--lho": options.hashing_only,
        "--jobs": options.jobs is not None,
    }
    of_target = {
        "--reports": options.reports,
        "--support": options.support,
        "--hash": options.hash,
        "--symbols": options.symbols,
    }
    for name, given in (of_target if options.target is None else of_table).items():
        if given:
            raise InputError(f"{name} does not go with --target" if options.target else f"{name} goes with --target")
    if options.solutions and not options.attributes:
        raise InputError("--solution goes with --attributes")
    if options.rounds and options.attributes:
        raise InputError("give either --rounds or --attributes: the attacks on both together are not known")
    for name, given in (
        ("--rounds", options.rounds),
        ("--attributes", options.attributes),
        ("--lho", options.hashing_only),
    ):
        if given and options.attack == "pair":
            raise InputError(f"--attack pair is for one report: leave out {name}")
    if options.every and options.protocols:
        raise InputError("give either --all or --protocol")


def _subjects(options: AuditOptions) -> list[Subject]:
    from advisor.names import resolve, resolve_all
    from simulator import PROTOCOLS
    from simulator.audit import SOLUTIONS, attribute_subjects, hashing_subject, protocol_subject, rounds_subject
    from simulator.audit.attributes import FAKES

    values, attack = _values(options), options.attack or "guess"
    subjects = [hashing_subject(k, g, values) for g in options.hashing_only for k in options.k]
    if options.hashing_only and not (options.protocols or options.every):
        return subjects
    if not (options.protocols or options.every):
        raise InputError(
            "nothing to audit: give --protocol NAME, --all for every protocol, or --target MODULE:FUNCTION for a client"
        )
    if not options.eps:
        raise InputError("--eps is missing: give the privacy budget of one report, for example --eps 1")
    names = resolve_all("protocol", ()) if options.every else [resolve("protocol", name) for name in options.protocols]
    solutions = options.solutions or SOLUTIONS
    for one in solutions:
        if one not in SOLUTIONS:
            raise InputError(f"--solution must be one of {listed(SOLUTIONS)}, got {one!r}{near_miss(one, SOLUTIONS)}")

    def of(name: str, epsilon: float, k: int) -> list[Subject]:
        oracle = PROTOCOLS[name]
        if options.attributes:
            return [
                subject
                for d in options.attributes
                for one in solutions
                if one != "rsfd" or name in FAKES
                for subject in attribute_subjects(oracle, k, epsilon, d, one, values)
            ]
        if options.rounds:
            return [rounds_subject(oracle(k, epsilon), rounds, values) for rounds in options.rounds]
        return [protocol_subject(oracle(k, epsilon), attack, values)]

    subjects += [
        subject
        for name in dict.fromkeys(names)
        for k in options.k
        for epsilon in options.eps
        for subject in of(name, epsilon, k)
    ]
    if not subjects:
        raise InputError(f"solution rsfd has fake data for {listed(FAKES)} only, got {listed(names)}")
    return subjects


def _audits_of_target(options: AuditOptions, alpha: float, *, quiet: bool) -> tuple[Audit, ...]:
    from advisor.audits.client import load_function, output_to_stderr
    from advisor.names import resolve
    from simulator.audit import REPORTS, audit_client
    from simulator.audit.client import CLIENT_TRIALS

    name = options.target or ""
    if (options.reports is None) == (options.support is None):
        raise InputError("--target needs either --reports PROTOCOL, or --support MODULE:FUNCTION, to read its reports")
    kind = None
    if options.reports is not None:
        kind = resolve("protocol", options.reports)
        if kind not in REPORTS:
            raise InputError(f"--reports must be one of {listed(REPORTS)}, got {options.reports!r}")
    hashes = kind is not None and REPORTS[kind] == "hash"
    if not hashes and (options.hash or options.symbols):
        raise InputError(f"{'--hash' if options.hash else '--symbols'} goes with --reports blh or olh")
    cells = [(epsilon, k) for k in options.k for epsilon in options.eps]
    rows = []
    with output_to_stderr(), DelayedProgress(f"calling {name}", enabled=not quiet) as progress:
        client = load_function("--target", name)
        support = None if options.support is None else load_function("--support", options.support)
        for place, (epsilon, k) in enumerate(cells):
            rows.append(
                audit_client(
                    client,
                    k,
                    epsilon,
                    kind,
                    support=support,
                    trials=options.trials or CLIENT_TRIALS,
                    alpha=alpha,
                    attack=options.attack or "both",
                    values=_values(options),
                    hash=options.hash or "xxh32",
                    symbols=options.symbols,
                    seed=options.seed,
                    name=name,
                    progress=_part(progress, place, len(cells)),
                )
            )
    return tuple(rows)
