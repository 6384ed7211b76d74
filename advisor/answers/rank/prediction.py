"""What is asked of the model behind predictions, and which of its answers is taken."""

from __future__ import annotations

from advisor.question.request import Request
from knowledge import predict, ranking
from knowledge.changes import PairChoice
from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import profile_of
from simulator.ranking import PRACTICAL_RATIO


def frequencies_of(request: Request) -> predict.Frequencies:
    """Return the histogram that a request asks about, or the skew where no more is assumed."""
    if request.skew is not None:
        return AssumedSkew(request.k, request.skew, request.ordered)
    return profile_of(request.counts, request.n)


def stays(pair: tuple[str, str]) -> PairChoice:
    """Return a choice that stays with a pair as long as no other is predicted to be more than 5 % better.

    What it chooses else, is what a look-up there lists first.
    """

    def choose(answer: ranking.LookUp) -> tuple[str, str]:
        if any(row.pair == pair and row.ratio <= PRACTICAL_RATIO for row in answer.rows):
            return pair
        return ranking.first_pair(answer)

    return choose
