"""One run of the ``pareto`` command: check, read, simulate or look up, write."""

from __future__ import annotations

import sys
from typing import Any

from advisor.cli import outputs as files
from advisor.cli.options import PRIVACY_NOTICE
from advisor.cli.progress import DelayedProgress, delayed_status
from advisor.errors import InputError, listed
from advisor.pareto_text import print_table, to_csv, to_json, to_markdown, to_plain_text
from advisor.question.request import Request, check_settings
from advisor.rank.advice import Advice
from advisor.rank.pareto import pareto
from advisor.run import sample_request
from advisor.run_instant import InstantOptions, check_instant_options

WRITERS = {"table": to_plain_text, "json": to_json, "csv": to_csv, "markdown": to_markdown}


def run(
    sample: str | None,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    skew: float | None,
    shape: str | None,
    instant: bool,
    jobs: int | None,
    plot: str | None,
    output_format: str,
    output: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Answer a request for one metric and write its frontier.

    Raises
    ------
    InputError
        If an option, the sample or an output file is wrong.
    """
    if settings["epsilon"] is None:
        raise InputError("--eps is missing: give the privacy budget of one report, for example --eps 1")
    checked = check_settings(**settings)
    if checked["every_metric"]:
        raise InputError("--metric must be one metric, got 'all': a frontier has one kind of error")
    if len(checked["metrics"]) > 1:
        raise InputError(f"pareto answers for one metric at a time, got {listed(checked['metrics'])}")
    options = InstantOptions(skew, shape, instant=instant, why=False)
    looks_up = check_instant_options(options, checked, reading, sample=sample, collected=False, others={})
    target = None if output is None else files.check_writable("--output", output, force=force, sample=sample)
    picture = None
    if plot is not None:
        from advisor.pictures.pareto import check_plot

        picture = check_plot(plot, force=force, sample=sample)
        if picture == target:
            raise InputError(f"--output and --plot name the same file, {plot}")
    with delayed_status("reading the sample", enabled=not quiet and sample is not None):
        request = _request(sample, checked, reading, ordered, options, looks_up=looks_up)
    if not quiet:
        if sample is not None:
            print(PRIVACY_NOTICE, file=sys.stderr)  # noqa: T201 - the only package that prints
        for warning in request.warnings:
            print(f"warning: {warning}", file=sys.stderr)  # noqa: T201
    found = pareto(_advice(request, jobs, quiet=quiet, looks_up=looks_up))
    if picture is not None and found.rows:
        from advisor.pictures.pareto import draw

        draw(found, picture)
    if target is not None:
        files.write_text(target, WRITERS[output_format](found))
    elif output_format == "table":
        print_table(found, quiet=quiet)
    else:
        sys.stdout.write(WRITERS[output_format](found))


def _request(
    sample: str | None,
    checked: dict[str, Any],
    reading: dict[str, Any],
    ordered: bool | None,
    options: InstantOptions,
    *,
    looks_up: bool,
) -> Request:
    if sample is None:
        from advisor.question.shape_request import shape_request

        return shape_request(checked, skew=options.skew, shape=options.shape, ordered=ordered)
    return sample_request(sample, checked, reading, ordered, None, None, False, instant=looks_up)


def _advice(request: Request, jobs: int | None, *, quiet: bool, looks_up: bool) -> Advice:
    if looks_up:
        from advisor.rank.look_up import look_up

        return look_up(request)[0]
    from advisor.rank.simulate import answer

    with DelayedProgress("simulating", enabled=not quiet) as progress:
        return answer(request, jobs=jobs, progress=progress)[0]
