"""The reasons of the decision tree beside the figures of the model, and whether the two agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import Profile
from knowledge.menu import Labels
from knowledge.model import REFERENCE, noises_of
from knowledge.ranking import LookUp
from knowledge.tree import DATA, PAIR_TREES, Explanation, explain, load, pair_name
from simulator import Noise

SAME_ERROR = 1.001  # a method whose error differs by less is the same for anyone who reads figures


@dataclass(frozen=True)
class Why:
    """Why a method."""

    explanation: Explanation  # the way down the tree
    agrees: bool  # whether the tree ends at the method of the answer, or at one that is no different to the eye
    # Predicted error of the tree's method over that of the answer's, for the same protocol; or of its pair
    ratio: float


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
        f"The answer follows the model: it predicts only {100 * (1 - ratio):.1f} % less error with {method} here, and "
        "within 1 % the shorter report wins."
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
    if protocol not in noises or answer.metric not in (*load(folder), "mae"):
        return _why_pair(answer, frequencies, (protocol, method), folder)
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
    return _compared(explanation, own[explanation.method].error / own[method].error)


def _why_pair(answer: LookUp, frequencies: Profile | AssumedSkew, pair: Labels, folder: Path) -> Why:
    """Explain a pair by the tree of pairs, if it has any of those that were asked about."""
    own = {pair_name((row.protocol, row.method)): row for row in answer.rows}
    (noise,) = noises_of(answer.k, answer.epsilon, answer.n, (REFERENCE,)).values()
    try:
        explanation = explain(
            answer.metric,
            noise_to_uniform=answer.k * noise.sd,
            k=answer.k,
            skew=frequencies.skew,
            methods=own,
            folder=folder,
            kind=PAIR_TREES,
        )
    except ValueError:  # none of its pairs was asked about
        name = pair_name(pair)
        return Why(Explanation(name, (), ((name, 0.0),)), agrees=True, ratio=1.0)
    return _compared(explanation, own[explanation.method].error / own[pair_name(pair)].error)


def _compared(explanation: Explanation, ratio: float) -> Why:
    return Why(explanation, 1 / SAME_ERROR < ratio < SAME_ERROR, ratio)
