"""``ldp-advise [SAMPLE]``: the ranking of protocols and methods, simulated for a sample or predicted without one."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from advisor.cli.arguments import Sample
from advisor.cli.budgets import budgets_job
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
from advisor.question.settings import Picture, Plurality, Reasons, Threat
from advisor.question.usefulness import Usefulness
from simulator._version import __version__


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ldp-advise {__version__}")
        raise typer.Exit


def rank_command(
    *,
    sample: Sample = None,
    options: RankOptions,
    reasons: Reasons,
    plurality: Plurality,
    memoisation: Memoisation,
    threat: Threat,
    promise: CentralPromise,
    picture: Picture,
    files: RankFiles,
    usefulness: Usefulness,
    layout: Layout,
    output: Output,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing method to use, and how large the error will be.

    Simulates the collection for data like SAMPLE, or predicts from --k alone.

    Examples: ldp-advise --eps 1 --metric emd sample.csv
              ldp-advise --eps 0.5,1,2 --k 256 --n 2M
    """
    if memoisation.memoize:
        from advisor.cli.memoisation import run_memoised  # a question of its own

        others = [
            *reasons.given(), *threat.given(), *promise.given(), *picture.given(), *files.given(), *layout.given(),
            *usefulness.given(),
        ]  # fmt: skip
        question, *more = options.questions
        if more:
            raise InputError("--memoize compares at one ε: give one --eps")
        run_memoised(sample, question, options, plurality, memoisation, others, output)
        return
    refuse(memoisation.given(), "needs --memoize, which says that devices remember their values")
    every = tuple(
        RankSettings(
            question,
            options.metric_settings,
            options.menu,
            options.limits,
            plurality,
            threat,
            options.simulation,
            promise,
        )
        for question in options.questions
    )
    if reasons.why and promise.central_epsilon is not None:
        raise InputError("--why explains an answer at one --eps: leave --central-eps or --why out")
    predicted = options.is_predicted(sample)
    options.check(sample, *every)
    if len(options.columns.column) > 1:
        if len(every) > 1:
            raise InputError("several --column are planned at one ε: give one --eps")
        _run_columns(sample or "", options, every[0], reasons, picture, files, output)
        return
    if predicted:
        refuse(files.given("runs"), PREDICTED)
    elif reasons.why:
        raise InputError("--why explains a predicted answer: leave the file out, or add --instant")
    page = layout.page(options.asked)
    answer = ranking_answer(options.simulation, predicted=predicted, why=reasons.why)
    inputs = [sample, options.cleaning.domain]
    if len(every) > 1:
        refuse([*files.given(), *reasons.given(), *layout.given()], "goes with one ε: give one --eps")
        read = partial(options.read, sample, *every)
        run(budgets_job(options.grid.epsilons, read, answer, inputs, picture), output, top=None)
        return
    run(
        Job(
            read=lambda: options.read(sample, *every)[0],
            warnings=lambda request: request.warnings,
            answer=answer,
            document=page,
            sections=rank_sections,
            fails=useless if usefulness.fail_if_useless else None,
            inputs=inputs,
            files=rank_files(files, picture),
            progress=partial(DelayedProgress, "simulating"),
            unprotected=sample is not None,
        ),
        output,
    )


def _run_columns(
    sample: str,
    options: RankOptions,
    settings: RankSettings,
    reasons: Reasons,
    picture: Picture,
    files: RankFiles,
    output: Output,
) -> None:
    """Answer for several columns with one plan.

    Raises InputError for what is about one column.
    """
    from advisor.attributes.answer import joint_plan  # a single column has no need of them
    from advisor.attributes.document import joint_document
    from advisor.attributes.question import check_columns, columns_question

    instant = options.instant.instant
    refuse((*reasons.given(), *picture.given(), *files.given()), "is about one column: ask for one --column")
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
