"""``ldp-advise [SAMPLE]``: the ranking of protocols and methods, simulated for a sample or predicted without one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from advisor.cli.arguments import Sample
from advisor.cli.budgets import budgets_job
from advisor.cli.options import Bundle
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import (
    PREDICTED,
    Layout,
    RankFiles,
    RankOptions,
    rank_files,
    rank_sections,
    ranking_answer,
    useless,
)
from advisor.cli.run import Job, Output, run
from advisor.errors import InputError
from advisor.question.central import CentralPromise
from advisor.question.memoisation import Memoisation
from advisor.question.option import refuse
from advisor.question.request import RankSettings
from advisor.question.settings import Picture, Plurality, Reasons, Threat, Usefulness
from simulator._version import __version__


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ldp-advise {__version__}")
        raise typer.Exit


@dataclass(frozen=True, kw_only=True)
class MainOptions(Bundle):
    """The groups of options of the main command, beside those of what ranks pairs."""

    reasons: Reasons
    plurality: Plurality
    memoisation: Memoisation
    threat: Threat
    promise: CentralPromise
    picture: Picture
    files: RankFiles
    usefulness: Usefulness
    layout: Layout

    def settings(self, options: RankOptions) -> tuple[RankSettings, ...]:
        """Return what is asked at each budget."""
        groups = (
            options.metric_settings, options.menu, options.limits, self.plurality, self.threat, options.simulation,
            self.promise,
        )  # fmt: skip
        return tuple(RankSettings(question, *groups) for question in options.questions)


def rank_command(
    *,
    sample: Sample = None,
    options: RankOptions,
    more: MainOptions,
    output: Output,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing to use, and the error: simulated for SAMPLE, or predicted from --k.

    Examples: ldp-advise --eps 1 --metric emd sample.csv
              ldp-advise --eps 0.5,1,2 --k 256 --n 2M
    """
    if more.memoisation.memoize:
        _run_memoised(sample, options, more, output)
        return
    refuse(more.memoisation.given(), "needs --memoize, which says that devices remember their values")
    every = more.settings(options)
    if more.reasons.why and more.promise.central_epsilon is not None:
        raise InputError("--why explains an answer at one --eps: leave --central-eps or --why out")
    options.check(sample, *every)
    if len(options.columns.column) > 1:
        if len(every) > 1:
            raise InputError("several --column are planned at one ε: give one --eps")
        _run_columns(sample or "", options, every[0], more, output)
        return
    if options.is_predicted(sample):
        refuse(more.files.given("runs"), PREDICTED)
    elif more.reasons.why:
        raise InputError("--why explains a predicted answer: leave the file out, or add --instant")
    if len(every) > 1:
        _run_budgets(sample, options, every, more, output)
        return
    _run_one(sample, options, every[0], more, output)


def _run_one(
    sample: str | None, options: RankOptions, settings: RankSettings, more: MainOptions, output: Output
) -> None:
    """Rank at one budget."""
    predicted = options.is_predicted(sample)
    run(
        Job(
            read=lambda: options.read(sample, settings)[0],
            warnings=lambda request: request.warnings,
            answer=ranking_answer(options.simulation, predicted=predicted, why=more.reasons.why),
            document=more.layout.page(options.asked),
            sections=rank_sections,
            fails=useless if more.usefulness.fail_if_useless else None,
            inputs=[sample, options.cleaning.domain],
            files=rank_files(more.files, more.picture),
            progress=partial(DelayedProgress, "simulating"),
            unprotected=sample is not None,
        ),
        output,
    )


def _run_budgets(
    sample: str | None, options: RankOptions, every: tuple[RankSettings, ...], more: MainOptions, output: Output
) -> None:
    """Rank at several budgets, and show them side by side.

    Raises InputError for what is about one ε.
    """
    refuse([*more.files.given(), *more.reasons.given(), *more.layout.given()], "goes with one ε: give one --eps")
    answer = ranking_answer(options.simulation, predicted=options.is_predicted(sample))
    read = partial(options.read, sample, *every)
    inputs = [sample, options.cleaning.domain]
    fails = more.usefulness.fail_if_useless
    run(budgets_job(options.grid.epsilons, read, answer, inputs, more.picture, fails=fails), output, top=None)


def _run_memoised(sample: str | None, options: RankOptions, more: MainOptions, output: Output) -> None:
    """Compare devices that remember with those that do not.

    Raises InputError for what is no option of that question.
    """
    from advisor.extensions.rounds.command import run_memoised  # a question of its own

    question, *further = options.questions
    if further:
        raise InputError("--memoize compares at one ε: give one --eps")
    groups = (more.reasons, more.threat, more.promise, more.picture, more.files, more.layout, more.usefulness)
    others = [flag for group in groups for flag in group.given()]
    run_memoised(sample, question, options, more.plurality, more.memoisation, others, output)


def _run_columns(sample: str, options: RankOptions, settings: RankSettings, more: MainOptions, output: Output) -> None:
    """Answer for several columns with one plan.

    Raises InputError for what is about one column.
    """
    from advisor.extensions.columns.answer import joint_plan  # a single column has no need of them
    from advisor.extensions.columns.document import joint_document
    from advisor.extensions.columns.question import check_columns, columns_question

    instant = options.instant.instant
    alone = (*more.reasons.given(), *more.picture.given(), *more.files.given(), *more.usefulness.given())
    refuse(alone, "is about one column: ask for one --column")
    check_columns(settings, options.domain, options.columns, options.cleaning)
    run(
        Job(
            read=partial(
                columns_question,
                sample,
                settings,
                options.domain,
                options.columns,
                options.cleaning,
                instant=instant,
            ),
            warnings=lambda question: question.warnings,
            answer=joint_plan,
            document=joint_document,
            inputs=[sample],
            progress=partial(DelayedProgress, "simulating"),
            unprotected=True,
        ),
        output,
    )
