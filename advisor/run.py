"""One run of the main command: check, read, simulate, write."""

from __future__ import annotations

import sys
from typing import Any

from advisor import files, formats
from advisor.answer import advice_from, simulate_request
from advisor.apply import applied_csv
from advisor.errors import InputError
from advisor.inputs.domain import build_domain, read_domain
from advisor.inputs.reading import read_histogram
from advisor.progress import DelayedProgress, delayed_status
from advisor.request import Request, build_request, check_settings
from advisor.run_collected import (
    CollectedOptions,
    apply_file,
    check_collected_options,
    collected_request,
)
from advisor.table import TOP

__all__ = ["TOP", "advise_file"]


def advise_file(
    sample: str | None,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    domain: str | None,
    about: CollectedOptions | None,
    keep_top: int | None,
    other: bool,
    jobs: int | None,
    top: int | None,
    output_format: str,
    output: str | None,
    runs: str | None,
    force: bool,
    quiet: bool,
    verbose: bool,
    notice: str,
) -> None:
    """Answer for a sample file; everything that can be refused is refused before the simulation.

    Raises
    ------
    InputError
        If an option, the sample or an output file is wrong.
    """
    if settings["epsilon"] is None:
        raise InputError(
            "--eps is missing: give the privacy budget of one report, for example --eps 1; ldp-advise --help tells more"
        )
    checked = check_settings(**settings)
    if sample is None:
        if about is not None:
            raise InputError("no file given: name the file with what was collected, or - for standard input")
        raise InputError(
            "no sample given: name a file with public, synthetic or pilot data of the kind to be collected, or - for "
            "standard input"
        )
    target = None if output is None else files.check_writable("--output", output, force=force, sample=sample)
    runs_target = None
    if runs is not None:
        files.check_runs_suffix(runs)
        runs_target = files.check_writable("--runs", runs, force=force, sample=sample)
        if target is not None and target.resolve() == runs_target.resolve():
            raise InputError(f"--output and --runs name the same file, {runs}")
    apply_target = None
    if about is not None:
        check_collected_options(about, checked, reading, keep_top=keep_top, other=other)
        apply_target = apply_file(
            about,
            sample,
            [target, runs_target],
            several_metrics=(checked["every_metric"] or len(checked["metrics"]) > 1) and len(checked["methods"]) != 1,
            force=force,
        )
    with delayed_status("reading the sample" if about is None else "reading what was collected", enabled=not quiet):
        request = (
            _request(sample, checked, reading, ordered, domain, keep_top, other)
            if about is None
            else collected_request(sample, about, checked, reading, ordered, domain)
        )
    if not quiet:
        if about is None:
            print(notice, file=sys.stderr)  # noqa: T201 - the only package that prints
        for warning in request.warnings:
            print(f"warning: {warning}", file=sys.stderr)  # noqa: T201
    with DelayedProgress("simulating", enabled=not quiet) as progress:
        experiment, simulated = simulate_request(request, jobs=jobs, progress=progress)
    advices = advice_from(request, experiment, simulated)
    if apply_target is not None:
        files.write_text(apply_target, applied_csv(advices[0]))
    if runs_target is not None:
        files.write_runs(runs_target, simulated, request.metrics)
    _write(advices, output_format, target, top=top, quiet=quiet, verbose=verbose)


def _request(
    sample: str,
    checked: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    domain: str | None,
    keep_top: int | None,
    other: bool,
) -> Request:
    known = None if domain is None else read_domain(domain)
    read = read_histogram(sample, keep_top=keep_top, **reading)
    built = build_domain(
        read.labels,
        read.counts,
        from_histogram=read.from_histogram,
        k=checked["k"],
        domain=known,
        keep_top=keep_top,
        other=other,
        ordered=ordered,
        transactions=reading["transactions"],
    )
    return build_request(
        checked,
        labels=built.labels,
        counts=built.counts,
        ordered=built.ordered,
        sample="standard input" if sample == "-" else sample,
        assumptions=[*read.assumptions, *built.assumptions],
        warnings=[*read.warnings, *built.warnings],
    )


def _write(
    advices: tuple[Any, ...], output_format: str, target: Any, *, top: int | None, quiet: bool, verbose: bool
) -> None:
    if output_format == "table" and target is None:
        from advisor.render import console_for, print_advice

        print_advice(advices, console_for(), top=top, quiet=quiet, verbose=verbose)
        return
    text = {
        "table": lambda: formats.to_text(advices, top),
        "plain": lambda: formats.to_text(advices, top),
        "markdown": lambda: formats.to_markdown(advices, top),
        "json": lambda: formats.to_json(advices) + "\n",
        "csv": lambda: formats.to_csv(advices),
        "value": lambda: formats.to_value(advices),
    }[output_format]()
    if target is None:
        sys.stdout.write(text)
    else:
        files.write_text(target, text)
