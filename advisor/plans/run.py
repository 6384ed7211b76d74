"""One run of ``ldp-advise plan``: check, read, answer, write."""

from __future__ import annotations

import sys
from typing import Any

from advisor.cli.outputs import check_writable, write_text
from advisor.cli.progress import DelayedWords
from advisor.errors import InputError
from advisor.plans.answer import build_question, make_plan, shape_for
from advisor.plans.question import Plan, check_question
from advisor.question.frequencies import Known, from_file


def plan_file(
    sample: str | None,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
    skew: float | None,
    shape: str | None,
    ordered: bool | None,
    instant: bool,
    jobs: int,
    top: int | None,
    output_format: str,
    output: str | None,
    plot: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Answer; everything that can be refused is refused before the simulation.

    Raises
    ------
    InputError
        If an option, the sample or an output file is wrong.
    """
    checked = check_question(**settings)
    target = None if output is None else check_writable("--output", output, force=force, sample=sample)
    picture = None
    if plot is not None:
        from advisor.pictures import check_picture

        picture = check_picture("--plot", plot, force=force, sample=sample, others=[target])
    known = known_frequencies(sample, checked, reading, skew=skew, shape=shape, ordered=ordered, quiet=quiet)
    question = build_question(checked, known)
    with DelayedWords(enabled=not quiet) as progress:
        plan = make_plan(question, instant=instant, jobs=jobs, progress=progress)
    if not quiet:
        for warning in plan.warnings:
            print(f"warning: {warning}", file=sys.stderr)  # noqa: T201 - the only package that prints
    if picture is not None:
        from advisor.pictures import save
        from advisor.pictures.plan import plan_figure

        save(plan_figure(plan), picture)
    _write(plan, output_format, target, top=top, quiet=quiet)


def known_frequencies(
    sample: str | None,
    checked: dict[str, Any],
    reading: dict[str, Any],
    *,
    skew: float | None,
    shape: str | None,
    ordered: bool | None,
    quiet: bool,
) -> Known:
    """Return the frequencies of the sample file, or of a shape where there is none.

    Raises
    ------
    InputError
        If options about the one are given with the other.
    """
    if sample is None:
        for name, given in reading.items():
            if given is not None:
                raise InputError(f"--{name.replace('_', '-')} needs a file, and none is given")
        return shape_for(checked, skew=skew, shape=shape, ordered=ordered)
    for option, value in (("--skew", skew), ("--shape", shape)):
        if value is not None:
            raise InputError(f"{option} is for a question without a file: the frequencies are those of {sample}")
    if not quiet:
        from advisor.cli.options import PRIVACY_NOTICE

        print(PRIVACY_NOTICE, file=sys.stderr)  # noqa: T201
    return from_file(sample, k=checked["k"], ordered=ordered, **reading)


def _write(plan: Plan, output_format: str, target: Any, *, top: int | None, quiet: bool) -> None:
    from advisor.plans import document as plan_words

    if output_format == "table" and target is None:
        from advisor.render import console_for
        from advisor.render_plan import print_plan

        print_plan(plan, console_for(), top=top, quiet=quiet)
        return
    text = {
        "table": lambda: plan_words.to_text(plan, top),
        "plain": lambda: plan_words.to_text(plan, top),
        "markdown": lambda: plan_words.to_markdown(plan, top),
        "json": lambda: plan_words.to_json(plan) + "\n",
        "csv": lambda: plan_words.to_csv(plan),
        "value": lambda: plan_words.to_value(plan),
    }[output_format]()
    if target is None:
        sys.stdout.write(text)
    else:
        write_text(target, text)
