"""``ldp-advise shuffler`` and ``fakes``: the ranking where a shuffler helps, or where some users are fake."""

from __future__ import annotations

from typing import Annotated

from advisor.cli.options import Only
from advisor.cli.ranking import RANKED, PlainOutput, rank
from advisor.question.option import require
from advisor.question.question import BUDGET, Question
from advisor.question.rules import DATA

SHUFFLED = tuple(name for name in RANKED if name != "grid:epsilons")
SIMULATED = tuple(name for name in RANKED if name not in ("shape", "instant:instant"))


def shuffler_command(*, question: Annotated[Question, Only(*SHUFFLED, "promise")], shown: PlainOutput) -> None:
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
        ("SAMPLE", question.sample or question.domain.k, DATA),
    )
    rank(question, shown)


def fakes_command(*, question: Annotated[Question, Only(*SIMULATED, "threat")], shown: PlainOutput) -> None:
    """Rank by the error when a share of the users is fake.

    The answer says what that costs where nobody is. Remedies for fake users compete too; --targets says which
    categories they are known to promote.

    Example: ldp-advise fakes --eps 1 --threat 0.05 sample.csv
    """
    require(
        ("SAMPLE", question.sample, "a file with public, synthetic or pilot data, or - for standard input"),
        ("--eps", question.grid.epsilons, BUDGET),
        ("--threat", question.threat.threat, "the share of users who may be fake, for example --threat 0.05"),
    )
    rank(question, shown)
