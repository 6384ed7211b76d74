"""The tree's reasons beside the grid's figures, and whether the two agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from knowledge.assumed import AssumedSkew
from knowledge.grid import LookUp
from knowledge.profile import Profile
from knowledge.tree import DATA, Explanation, explain
from simulator import Noise

SAME_ERROR = 1.001  # a method that is worse by less is the same for anyone who reads figures


@dataclass(frozen=True)
class Why:
    """Why a method.

    Attributes
    ----------
    protocol
        The protocol that the grid ranks first.
    noise_to_uniform
        k times the noise sd of that protocol.
    explanation
        The way down the tree.
    agrees
        Whether the tree ends at the method that the grid ranks first, or one that is no different to the eye.
    ratio
        By the grid: error of the tree's method over that of the grid's, for the same protocol.
    """

    protocol: str
    noise_to_uniform: float
    explanation: Explanation
    agrees: bool
    ratio: float

    @property
    def note(self) -> str:
        """One sentence on how grid and tree compare."""
        if self.agrees:
            return f"tree and grid agree on {self.explanation.method}"
        return (
            f"tree and grid disagree: the tree ends at {self.explanation.method}, which the grid expects to be "
            f"{self.ratio - 1:.1%} worse here; the grid decides"
        )


def why(found: LookUp, profile: Profile | AssumedSkew, noises: Mapping[str, Noise], *, folder: Path = DATA) -> Why:
    """Explain the best pair of a look-up by the tree of its metric.

    Parameters
    ----------
    found, profile, noises
        The look-up, and what it was made from; see `knowledge.grid.noises_of`.
    folder
        Where the trees are.
    """
    best = found.best
    own = {row.method: row for row in found.rows if row.protocol == best.protocol}
    ratio = profile.k * noises[best.protocol].sd
    explanation = explain(
        found.metric,
        noise_to_uniform=ratio,
        k=profile.k,
        skew=profile.skew,
        ordered=found.ordered,
        methods=own,
        folder=folder,
    )
    return Why(
        protocol=best.protocol,
        noise_to_uniform=ratio,
        explanation=explanation,
        agrees=own[explanation.method].error < SAME_ERROR * best.error,
        ratio=own[explanation.method].error / best.error,
    )
