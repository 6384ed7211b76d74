"""``ldp-advise [SAMPLE]``: the ranking of protocols and methods, simulated for a sample or predicted without one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from advisor.cli.options import Only, Sample
from advisor.cli.ranking import RANKED, RankOutput, rank
from advisor.question.question import Question
from simulator._version import __version__


def _version(flag: bool) -> None:
    if flag:
        typer.echo(f"ldp-advise {__version__}")
        raise typer.Exit


def rank_command(
    *,
    sample: Sample = None,
    question: Annotated[Question, Only(*RANKED)],
    shown: RankOutput,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, hidden=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing to use, simulated or predicted.

    Examples: ldp-advise --eps 1 --metric emd sample.csv
              ldp-advise --eps 0.5,1,2 --k 256 --n 2M
    """
    rank(replace(question, sample=sample), shown)
