"""The reasons of the decision tree beside the figures of the model, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from knowledge.menu import Labels
from knowledge.policy import DATA, Case, Interval, Leaf, leaf_of, tree_for
from knowledge.ranking import LookUp
from simulator.ranking import PRACTICAL_RATIO


@dataclass(frozen=True)
class Why:
    """What the tree says of a look-up."""

    leaf: Leaf
    conditions: tuple[Interval, ...]  # where the figures of the question lie on the way to the leaf
    # Predicted error of the leaf's pair over that of the answer's; None where it does not compete
    ratio: float | None

    @property
    def agrees(self) -> bool:
        """Whether the tree's pair is that of the answer, or within 5 % of it."""
        return self.ratio is not None and self.ratio <= PRACTICAL_RATIO


def why(answer: LookUp, skew: float, pair: Labels, *, folder: Path = DATA) -> Why:
    """Hold the pair that a look-up answers with against the tree of its metric, which sees ε, k, n and skew alone.

    skew: Zipf-equivalent exponent of the frequencies.

    Raises ValueError if the metric has no tree.
    """
    tree = tree_for(answer.metric, ordered=answer.ordered, folder=folder)
    leaf, conditions = leaf_of(tree, Case(answer.epsilon, answer.k, answer.n, skew))
    errors = {(row.protocol, row.method): row.error for row in answer.rows}
    ratio = errors[leaf.pair] / errors[pair] if leaf.pair in errors else None
    return Why(leaf, conditions, ratio)
