"""``ldp-advise shuffler``: the ranking where a shuffler cuts the ties between reports and users."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.cli.options import Only, Sample
from advisor.cli.ranking import RANKED, SimulatedOutput, rank
from advisor.question.option import require
from advisor.question.question import Question
from advisor.question.rules import DATA

SHUFFLED = tuple(name for name in RANKED if name != "grid:epsilons")


def shuffler_command(
    *, sample: Sample = None, question: Annotated[Question, Only(*SHUFFLED, "promise")], shown: SimulatedOutput
) -> None:
    """Rank where a shuffler cuts the ties between reports and users.

    Each protocol gets the budget that keeps the promise. The promise, --central-eps and --delta, is that of all reports
    together, once they are shuffled.

    Example: ldp-advise shuffler --central-eps 0.5 --delta 1e-8 --n 100k sample.csv
    """
    require(
        (
            "--central-eps",
            question.promise.central_epsilon,
            "what all reports together promise, for example --central-eps 1 --delta 1e-8",
        ),
        ("SAMPLE", sample or question.domain.k, DATA),
    )
    rank(replace(question, sample=sample), shown)
