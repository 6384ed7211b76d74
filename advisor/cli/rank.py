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
    RankOptions,
    rank_files,
    rank_page,
    rank_sections,
    ranking_answer,
)
from advisor.cli.run import Job, Output, run
from advisor.errors import InputError
from advisor.question.option import refuse
from advisor.question.request import RankSettings
from advisor.question.settings import Picture, Plurality, Reasons, Threat
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
    threat: Threat,
    picture: Picture,
    files: RankFiles,
    output: Output,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing method to use, and how large the error will be.

    Simulates the collection for data like SAMPLE, or predicts from --k alone.

    Examples: ldp-advise --eps 1 --metric emd sample.csv
              ldp-advise --eps 1 --k 256 --n 2M
    """
    settings = RankSettings(
        options.question, options.metric_settings, options.menu, options.limits, plurality, threat, options.simulation
    )
    predicted = options.is_predicted(sample)
    options.check(sample, settings)
    if predicted:
        refuse(files.given("runs"), PREDICTED)
    elif reasons.why:
        raise InputError("--why explains a predicted answer: leave the file out, or add --instant")
    run(
        Job(
            read=partial(options.read, sample, settings),
            warnings=lambda request: request.warnings,
            answer=ranking_answer(options.simulation, predicted=predicted, why=reasons.why),
            document=rank_page,
            sections=rank_sections,
            inputs=[sample, options.cleaning.domain],
            files=rank_files(files, picture),
            progress=partial(DelayedProgress, "simulating"),
            unprotected=sample is not None,
        ),
        output,
    )
