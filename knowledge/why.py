"""The reasons of the decision tree beside the figures of the model, and whether the two agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import Profile
from knowledge.ranking import LookUp
from knowledge.tree import DATA, Explanation, explain
from simulator import Noise

SAME_ERROR = 1.001  # a method whose error differs by less is the same for anyone who reads figures


@dataclass(frozen=True)
class Why:
    """Why a method."""

    explanation: Explanation  # the way down the tree
    agrees: bool  # whether the tree ends at the method of the answer, or at one that is no different to the eye
    ratio: float  # predicted error of the tree's method over that of the answer's, for the same protocol


def disagreement(method: str, ratio: float) -> str:
    """Return the sentence that goes with an answer whose method is not the tree's.

    method: the tree's.
    ratio: its predicted error over that of the answer.
    """
    if ratio >= 1:
        return (
            f"The answer follows the model, which sees the whole shape and predicts {100 * (ratio - 1):.1f} % more "
            f"error with {method} here."
        )
    return (
        f"The answer follows the model: it predicts {100 * (1 - ratio):.1f} % less error with {method} here, but not "
        "surely enough to prefer it."
    )


def why(
    answer: LookUp,
    frequencies: Profile | AssumedSkew,
    noises: Mapping[str, Noise],
    *,
    pair: tuple[str, str] | None = None,
    folder: Path = DATA,
) -> Why:
    """Explain the pair that a look-up answers with by the tree of its metric.

    answer, frequencies, noises: the look-up, and what it was made from; see `knowledge.model.noises_of`.
    pair: protocol and method of the answer; by default those of the lowest predicted error.
    folder: where the trees are.
    """
    protocol, method = (answer.best.protocol, answer.best.method) if pair is None else pair
    own = {row.method: row for row in answer.rows if row.protocol == protocol}
    explanation = explain(
        answer.metric,
        noise_to_uniform=frequencies.k * noises[protocol].sd,
        k=frequencies.k,
        skew=frequencies.skew,
        ordered=answer.ordered,
        methods=own,
        folder=folder,
    )
    ratio = own[explanation.method].error / own[method].error
    return Why(explanation, 1 / SAME_ERROR < ratio < SAME_ERROR, ratio)
