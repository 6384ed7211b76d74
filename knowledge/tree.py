"""The shipped decision trees: they explain a choice in a few readable questions, where the grid puts figures to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.menu import ALIASES, METHODS, METRICS, ORDERED_METRICS

DATA = Path(__file__).parent / "data"
QUESTIONS = ("noise_to_uniform", "k", "skew")
WORDS: Mapping[str, str] = {
    "noise_to_uniform": "noise-to-uniform ratio (k x noise sd)",
    "k": "domain size k",
    "skew": "skew (Zipf-equivalent exponent)",
}


@dataclass(frozen=True)
class Step:
    """One question on the way down.

    Attributes
    ----------
    feature
        One of `QUESTIONS`.
    value, threshold
        What was compared.
    below
        Whether the value is at most the threshold.
    """

    feature: str
    value: float
    threshold: float
    below: bool

    def __str__(self) -> str:
        sign = "<=" if self.below else ">"
        return f"{WORDS[self.feature]} is {self.value:.3g}, {sign} {self.threshold:g}"


@dataclass(frozen=True)
class Explanation:
    """Where a question ends in the tree.

    Attributes
    ----------
    method
        The method that the tree ranks first, among those asked for.
    steps
        The path that led there.
    ranking
        Methods with their mean extra error over the best one in this leaf, as a share (0.1: 10 %).
    populations
        Share of the simulated populations that end in this leaf.
    """

    method: str
    steps: tuple[Step, ...]
    ranking: tuple[tuple[str, float], ...]
    populations: float


@dataclass(frozen=True)
class Tree:
    """One tree as arrays; children of -1 mark a leaf.

    Attributes
    ----------
    feature, threshold, left, right
        For each node: index in `QUESTIONS`, what it is compared with, and where to go.
    regret
        For each node the mean log error of every method over the best.
    share
        For each node the share of the simulated populations that come by.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    regret: tuple[tuple[float, ...], ...]
    share: tuple[float, ...]

    def path(self, values: Sequence[float]) -> list[int]:
        """Return the nodes from the root to the leaf; values are compared in single precision, as in training."""
        nodes = [0]
        while self.left[nodes[-1]] >= 0:
            node = nodes[-1]
            below = np.float32(values[self.feature[node]]) <= np.float32(self.threshold[node])
            nodes.append(self.left[node] if below else self.right[node])
        return nodes

    def without_empty(self) -> Tree:
        """Return the tree without questions that all populations answer alike: rounding a threshold can make some."""

        def asks(node: int) -> int:
            left, right = self.left[node], self.right[node]
            if left < 0 or 0 not in (self.share[left], self.share[right]):
                return node
            return asks(left if self.share[right] == 0 else right)

        children: dict[int, tuple[int, int]] = {}
        waiting = [asks(0)]
        while waiting:
            node = waiting.pop()
            children[node] = (-1, -1) if self.left[node] < 0 else (asks(self.left[node]), asks(self.right[node]))
            waiting += [child for child in children[node] if child >= 0]
        kept = sorted(children)
        place = {node: number for number, node in enumerate(kept)} | {-1: -1}
        return Tree(
            tuple(self.feature[node] for node in kept),
            tuple(self.threshold[node] for node in kept),
            tuple(place[children[node][0]] for node in kept),
            tuple(place[children[node][1]] for node in kept),
            tuple(self.regret[node] for node in kept),
            tuple(self.share[node] for node in kept),
        )


def load(folder: Path = DATA) -> Mapping[str, Tree]:
    """Load the trees of a folder, by metric and ``metric/unordered``; each folder is read once.

    Raises
    ------
    FileNotFoundError
        If the folder holds no trees.
    """
    return _load(folder)


@lru_cache(maxsize=4)
def _load(folder: Path) -> Mapping[str, Tree]:
    stored = json.loads((folder / "tree.json").read_text(encoding="utf-8"))
    return {name: from_json(tree) for name, tree in stored["trees"].items()}


def from_json(tree: Mapping[str, Any]) -> Tree:
    """Return the tree that `to_json` wrote."""
    return Tree(
        tuple(tree["feature"]),
        tuple(tree["threshold"]),
        tuple(tree["left"]),
        tuple(tree["right"]),
        tuple(tuple(row) for row in tree["regret"]),
        tuple(tree["share"]),
    )


def to_json(tree: Tree) -> dict[str, Any]:
    """Return a tree as JSON types."""
    return {
        "feature": list(tree.feature),
        "threshold": list(tree.threshold),
        "left": list(tree.left),
        "right": list(tree.right),
        "regret": [list(row) for row in tree.regret],
        "share": list(tree.share),
    }


def tree_for(metric: str, *, ordered: bool, folder: Path = DATA) -> Tree:
    """Return the tree of a metric, for domains with or without an order.

    Raises
    ------
    ValueError
        If the metric is unknown, or needs an order that the domain has not.
    """
    if metric not in METRICS:
        raise ValueError(f"the trees know the metrics {', '.join(METRICS)}, got {metric!r}")
    if metric in ORDERED_METRICS and not ordered:
        raise ValueError(f"metric {metric} needs an ordered domain")
    name = "l1" if metric == "mae" else metric
    return load(folder)[name if ordered else f"{name}/unordered"]


def explain(
    metric: str,
    *,
    noise_to_uniform: float,
    k: int,
    skew: float,
    ordered: bool = True,
    methods: Iterable[str] | None = None,
    folder: Path = DATA,
) -> Explanation:
    """Walk down the tree of a metric.

    Parameters
    ----------
    metric, ordered
        Which tree.
    noise_to_uniform
        k times the noise sd of an estimate at frequency 0.
    k, skew
        Domain size, and Zipf-equivalent exponent of the frequencies.
    methods
        Restrict the ranking.
    folder
        Where the trees are.

    Raises
    ------
    ValueError
        If the metric has no tree, or the tree knows none of the methods.
    """
    tree = tree_for(metric, ordered=ordered, folder=folder)
    values = (noise_to_uniform, float(k), skew)
    nodes = tree.path(values)
    steps = []
    for node, chosen in pairwise(nodes):
        place = tree.feature[node]
        steps.append(Step(QUESTIONS[place], values[place], tree.threshold[node], chosen == tree.left[node]))
    wanted = METHODS if methods is None else tuple(dict.fromkeys(methods))
    places = {name: METHODS.index(ALIASES.get(name, name)) for name in wanted if ALIASES.get(name, name) in METHODS}
    regret = tree.regret[nodes[-1]]
    ranked = sorted((regret[place], name) for name, place in places.items() if regret[place] >= 0)
    if not ranked:
        raise ValueError(f"the tree of {metric} knows none of the methods {', '.join(wanted)}")
    ranking = tuple((name, float(np.expm1(value))) for value, name in ranked)
    return Explanation(ranking[0][0], tuple(steps), ranking, tree.share[nodes[-1]])


def rules(metric: str, *, ordered: bool = True, folder: Path = DATA) -> str:
    """Return the tree of a metric as readable rules, one line each.

    Raises
    ------
    ValueError
        If the metric has no tree.
    """
    tree = tree_for(metric, ordered=ordered, folder=folder)
    return "\n".join(_lines(tree, 0, 0))


def _lines(tree: Tree, node: int, depth: int) -> list[str]:
    indent = "  " * depth
    if tree.left[node] < 0:
        ranked = sorted((value, METHODS[place]) for place, value in enumerate(tree.regret[node]) if value >= 0)
        (first, best), (second, next_best) = ranked[:2]
        return [
            f"{indent}use {best}: {np.expm1(first):.0%} above the best on average, then {next_best} "
            f"({np.expm1(second):.0%}); {tree.share[node]:.0%} of the cases"
        ]
    name, threshold = WORDS[QUESTIONS[tree.feature[node]]], tree.threshold[node]
    return [
        f"{indent}if {name} <= {threshold:g}:",
        *_lines(tree, tree.left[node], depth + 1),
        f"{indent}else:",
        *_lines(tree, tree.right[node], depth + 1),
    ]
