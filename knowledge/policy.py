"""The decision tree: which pair to use, by ε, k, n and skew only, grown to lower the mean regret of the pair.

A look-up without data names the pair of its leaf. The model predicts all pairs, and names another pair only if it does
not tie this pair with the lowest error: see `knowledge.ranking.placed`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from knowledge.menu import ORDERED_METRICS, Labels

DATA = Path(__file__).parent / "data"
FILE = "policies.json"
QUESTIONS: Mapping[str, str] = {"epsilon": "ε", "k": "k", "n": "n", "skew": "skew"}  # questions of a tree, and in words


class PolicyCase(NamedTuple):
    """Case of a tree: budget, categories, users, and Zipf-equivalent exponent of the frequencies."""

    epsilon: float
    k: int
    n: int
    skew: float


@dataclass(frozen=True)
class Leaf:
    """The pair to use where all conditions hold."""

    protocol: str
    method: str
    regret: float  # its error over the lowest, less 1: geometric mean over the cases that the tree was grown on
    share: float  # of these cases

    @property
    def pair(self) -> Labels:
        """Protocol and method."""
        return self.protocol, self.method


@dataclass(frozen=True)
class Split:
    """A question: whether a figure of the case is at most a threshold."""

    question: str  # a member of `QUESTIONS`
    at_most: float
    below: Node
    above: Node


Node: TypeAlias = Leaf | Split


class Interval(NamedTuple):
    """Interval of a figure of the case: above the first number, at most the second; None if that side is open."""

    question: str
    above: float | None = None
    at_most: float | None = None

    @property
    def ends(self) -> str:
        """The ends in words."""
        ends = (("above", self.above), ("at most", self.at_most))
        return ", ".join(f"{words} {end:,.10g}" for words, end in ends if end is not None)

    def __str__(self) -> str:
        """Return the interval in words.

        >>> str(Interval("k", 16, 64)), str(Interval("epsilon", above=0.5)), str(Interval("n", at_most=2e6))
        ('k above 16, at most 64', 'ε above 0.5', 'n at most 2,000,000')
        """
        return f"{QUESTIONS[self.question]} {self.ends}"


Conditions: TypeAlias = tuple[Interval, ...]


def narrowed(path: Conditions, split: Split, *, below: bool) -> Conditions:
    """Return the intervals of a path after another question; a single interval per question."""
    intervals = {interval.question: interval for interval in path}
    interval = intervals.get(split.question, Interval(split.question))
    intervals[split.question] = (
        interval._replace(at_most=split.at_most) if below else interval._replace(above=split.at_most)
    )
    return tuple(intervals[question] for question in QUESTIONS if question in intervals)


def leaf_of(node: Node, case: PolicyCase) -> tuple[Leaf, Conditions]:
    """Walk down a tree; return the leaf, and where the figures of the case lie on the way."""
    path: Conditions = ()
    while isinstance(node, Split):
        below = getattr(case, node.question) <= node.at_most
        path = narrowed(path, node, below=below)
        node = node.below if below else node.above
    return node, path


def leaves(node: Node, path: Conditions = ()) -> Iterator[tuple[Conditions, Leaf]]:
    """Yield the conditions and the leaf of each rule, from left to right."""
    if isinstance(node, Leaf):
        yield path, node
        return
    for child, below in ((node.below, True), (node.above, False)):
        yield from leaves(child, narrowed(path, node, below=below))


@cache
def load(folder: Path = DATA) -> Mapping[str, Node]:
    """Load the trees of a folder, by metric and ``metric/unordered``; each folder is read once.

    Raises FileNotFoundError if the folder holds none.
    """
    stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return {name: _node(text) for name, text in stored.items()}


def save(trees: Mapping[str, Node], folder: Path) -> None:
    """Write trees where `load` finds them."""
    text = json.dumps({name: asdict(tree) for name, tree in trees.items()}, separators=(",", ":"))
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def _node(stored: Mapping[str, Any]) -> Node:
    if "protocol" in stored:
        return Leaf(**stored)
    return Split(stored["question"], stored["at_most"], _node(stored["below"]), _node(stored["above"]))


def tree_for(metric: str, *, ordered: bool, folder: Path = DATA) -> Node:
    """Return the tree of a metric, for domains with or without an order.

    Raises ValueError if the metric is unknown, or needs an order that the domain has not.
    """
    trees, own = load(folder), "l1" if metric == "mae" else metric
    if own not in trees:
        allowed = ("mae", *(name for name in trees if "/" not in name))
        raise ValueError(f"metric must be one of {', '.join(allowed)} for a decision tree, got {metric!r}")
    if metric in ORDERED_METRICS and not ordered:
        raise ValueError(f"metric {metric} needs an ordered domain")
    return trees[own if ordered else f"{own}/unordered"]
