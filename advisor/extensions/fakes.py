"""``ldp-advise fakes``: the ranking where some users are fake."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.cli.options import Only, Sample
from advisor.cli.ranking import RANKED, SimulatedOutput, rank
from advisor.question.option import require
from advisor.question.question import Question
from advisor.question.rules import BUDGET

SIMULATED = tuple(name for name in RANKED if name not in ("shape", "instant:instant"))


def fakes_command(
    *, sample: Sample = None, question: Annotated[Question, Only(*SIMULATED, "threat")], shown: SimulatedOutput
) -> None:
    """Rank by the error when a share of the users is fake.

    The answer says what that costs where nobody is. Remedies for fake users compete too; --targets says which
    categories they are known to promote.

    Example: ldp-advise fakes --eps 1 --threat 0.05 sample.csv
    """
    require(
        ("SAMPLE", sample, "a file with public, synthetic or pilot data, or - for standard input"),
        ("--eps", question.grid.epsilons, BUDGET),
        ("--threat", question.threat.threat, "the share of users who may be fake, for example --threat 0.05"),
    )
    rank(replace(question, sample=sample), shown)
