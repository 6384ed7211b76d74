"""One run of the main command: check, read, simulate, write."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from advisor.cli.progress import DelayedProgress, delayed_status
from advisor.errors import InputError
from advisor.question.request import Request, build_request, check_settings
from advisor.rank.table import TOP
from advisor.run_instant import InstantOptions, check_instant_options
from advisor.run_shown import ShownOptions, check_shown, write_shown

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.run_collected import CollectedOptions

__all__ = ["TOP", "advise_file"]


def advise_file(
    sample: str | None,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    domain: str | None,
    about: CollectedOptions | None,
    instantly: InstantOptions,
    keep_top: int | None,
    other: bool,
    jobs: int | None,
    top: int | None,
    output_format: str,
    output: str | None,
    runs: str | None,
    shown: ShownOptions,
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
    if sample is None and about is not None:
        raise InputError("no file given: name the file with what was collected, or - for standard input")
    looks_up = check_instant_options(
        instantly,
        checked,
        reading,
        sample=sample,
        collected=about is not None,
        others={"--runs": runs, "--domain": domain, "--keep-top": keep_top, "--other": other},
    )
    if sample is None:
        from advisor.question.shape_request import shape_request

        target = None if output is None else _checked_output(output, force=force, sample=None)
        pages = check_shown(shown, force=force, sample=None, others=[target])
        request = shape_request(checked, skew=instantly.skew, shape=instantly.shape, ordered=ordered)
        _write_looked_up(request, instantly, output_format, target, pages, top=top, quiet=quiet, verbose=verbose)
        return
    from advisor.cli import outputs as files

    target = None if output is None else _checked_output(output, force=force, sample=sample)
    runs_target = None
    if runs is not None:
        files.check_runs_suffix(runs)
        runs_target = files.check_writable("--runs", runs, force=force, sample=sample)
        if target is not None and target.resolve() == runs_target.resolve():
            raise InputError(f"--output and --runs name the same file, {runs}")
    apply_target = None
    if about is not None:
        from advisor.run_collected import apply_file, check_collected_options, collected_request

        check_collected_options(about, checked, reading, keep_top=keep_top, other=other)
        apply_target = apply_file(
            about,
            sample,
            [target, runs_target],
            several_metrics=(checked["every_metric"] or len(checked["metrics"]) > 1) and len(checked["methods"]) != 1,
            force=force,
        )
    pages = check_shown(shown, force=force, sample=sample, others=[target, runs_target, apply_target])
    with delayed_status("reading the sample" if about is None else "reading what was collected", enabled=not quiet):
        request = (
            sample_request(sample, checked, reading, ordered, domain, keep_top, other, instant=looks_up)
            if about is None
            else collected_request(sample, about, checked, reading, ordered, domain)
        )
    if not quiet:
        if about is None:
            print(notice, file=sys.stderr)  # noqa: T201 - the only package that prints
        for warning in request.warnings:
            print(f"warning: {warning}", file=sys.stderr)  # noqa: T201
    if looks_up:
        _write_looked_up(request, instantly, output_format, target, pages, top=top, quiet=quiet, verbose=verbose)
        return
    from advisor.question.constraints import nothing_left
    from advisor.rank.advice import empty_advices
    from advisor.rank.simulate import advice_from, simulate_request  # a look-up needs none of it

    if nothing_left(request):
        _write(empty_advices(request), output_format, target, top=top, quiet=quiet, verbose=verbose)
        return
    with DelayedProgress("simulating", enabled=not quiet) as progress:
        experiment, simulated = simulate_request(request, jobs=jobs, progress=progress)
    advices = advice_from(request, experiment, simulated)
    if apply_target is not None:
        from advisor.rank.apply import applied_csv

        files.write_text(apply_target, applied_csv(advices[0]))
    if runs_target is not None:
        files.write_runs(runs_target, simulated, request.metrics)
    write_shown(pages, advices)
    _write(advices, output_format, target, top=top, quiet=quiet, verbose=verbose)


def sample_request(
    sample: str,
    checked: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    domain: str | None,
    keep_top: int | None,
    other: bool,
    *,
    instant: bool,
) -> Request:
    """Read a sample and build the request that it is for.

    Raises
    ------
    InputError
        If the file, or what is asked of it, is wrong.
    """
    from advisor.inputs.domain import build_domain, read_domain
    from advisor.inputs.reading import read_histogram

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
        instant=instant,
    )


def _checked_output(output: str, *, force: bool, sample: str | None) -> Path:
    from advisor.cli import outputs as files

    return files.check_writable("--output", output, force=force, sample=sample)


def _write_looked_up(
    request: Request,
    instantly: InstantOptions,
    output_format: str,
    target: Any,
    pages: dict[str, Path],
    *,
    top: int | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Look up, explain if that was asked for, and write."""
    from advisor.rank.look_up import look_up

    advices = look_up(request)
    if instantly.why and advices[0].recommendations:
        from advisor.rank.why import explain

        advices = tuple(replace(advice, why=explain(advice)) for advice in advices)
    if not quiet:
        for warning in advices[0].warnings:
            print(f"warning: {warning}", file=sys.stderr)  # noqa: T201
    write_shown(pages, advices)
    _write(advices, output_format, target, top=top, quiet=quiet, verbose=verbose)


def _write(
    advices: tuple[Any, ...], output_format: str, target: Any, *, top: int | None, quiet: bool, verbose: bool
) -> None:
    if output_format == "table" and target is None:
        from advisor.piped import is_pipe, piped_lines

        if is_pipe(sys.stdout) and not verbose:
            sys.stdout.writelines(piped_lines(advices, top=top, quiet=quiet))
            return
        from advisor.render import console_for, print_advice

        print_advice(advices, console_for(), top=top, quiet=quiet, verbose=verbose)
        return
    from advisor import formats
    from advisor.cli import outputs as files

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
