"""``ldp-advise [SAMPLE]``: the ranking of protocols and methods, simulated for a sample or predicted without one."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from advisor.cli.arguments import Sample
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import (
    PREDICTED,
    RankFiles,
    check_options,
    rank_files,
    rank_page,
    rank_sections,
    read_request,
    simulation_answer,
)
from advisor.cli.run import Job, Output, run
from advisor.errors import InputError
from advisor.question.option import refuse
from advisor.question.request import RankSettings, Request
from advisor.question.settings import (
    Categories,
    Cleaning,
    Columns,
    Instant,
    Limits,
    Menu,
    MetricSettings,
    Picture,
    Plurality,
    Question,
    Reasons,
    Shape,
    Simulation,
    Threat,
)
from advisor.rank.result import Answer
from simulator._version import __version__


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ldp-advise {__version__}")
        raise typer.Exit


def rank_command(
    *,
    sample: Sample = None,
    question: Question,
    domain: Categories,
    columns: Columns,
    cleaning: Cleaning,
    menu: Menu,
    limits: Limits,
    shape: Shape,
    instant: Instant,
    reasons: Reasons,
    plurality: Plurality,
    threat: Threat,
    metric_settings: MetricSettings,
    simulation: Simulation,
    picture: Picture,
    files: RankFiles,
    output: Output,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing method to use, and how large the error will be.

    Simulates the whole collection for data like SAMPLE, or predicts the answer from --k alone.

    Examples: ldp-advise --eps 1 --metric emd sample.csv
              ldp-advise --eps 1 --k 256 --n 2M
    """
    settings = RankSettings(question, metric_settings, menu, limits, plurality, threat, simulation)
    predicted = sample is None or instant.instant
    check_options(settings, sample, domain, (columns, cleaning), shape, predicted=predicted)
    if predicted:
        refuse(files.given("runs"), PREDICTED)
    elif reasons.why:
        raise InputError("--why explains a predicted answer: leave the file out, or add --instant")
    run(
        Job(
            read=partial(read_request, sample, settings, domain, columns, cleaning, shape, predicted=predicted),
            warnings=lambda request: request.warnings,
            answer=partial(_predict, why=reasons.why) if predicted else simulation_answer(simulation.jobs),
            document=rank_page,
            sections=rank_sections,
            inputs=[name for name in (sample, cleaning.domain) if name is not None],
            files=rank_files(files, picture),
            progress=partial(DelayedProgress, "simulating"),
            unprotected=sample is not None,
        ),
        output,
    )


def _predict(request: Request, progress: DelayedProgress, *, why: bool) -> Answer:
    del progress  # it takes no time
    from advisor.rank.look_up import look_up  # samples have no need of the model
    from advisor.rank.why import explained

    advices = look_up(request)
    return Answer(explained(advices) if why else advices)
