"""The shipped decision trees: they explain a choice in a few readable questions, where the model puts figures to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from knowledge.menu import ALIASES, METHODS, ORDERED_METRICS, Labels

DATA = Path(__file__).parent / "data"
# Trees of methods, for protocols whose noise of one scale is all that matters; and of pairs, on ordered domains, where
# the noise that is asked for is that of OUE.
METHOD_TREES, PAIR_TREES = "tree", "pairs"
QUESTIONS = ("noise_to_uniform", "k", "skew")
WORDS: Mapping[str, str] = {
    "noise_to_uniform": "noise-to-uniform ratio (k x noise sd)",
    "k": "domain size k",
    "skew": "skew (Zipf-equivalent exponent)",
}


def pair_name(pair: Labels) -> str:
    """Return how trees call a pair."""
    return " + ".join(pair)


@dataclass(frozen=True)
class Interval:
    """Where a feature must lie: above one number, at most another; None where that side is open."""

    feature: str
    above: float | None
    at_most: float | None

    @property
    def ends(self) -> str:
        """The interval in words."""
        if self.above is None or self.at_most is None:
            return f"at most {self.at_most:g}" if self.above is None else f"above {self.above:g}"
        return f"above {self.above:g}, at most {self.at_most:g}"

    def __str__(self) -> str:
        return f"{WORDS[self.feature]} {self.ends}"


def intervals(questions: Iterable[tuple[str, bool, float]]) -> tuple[Interval, ...]:
    """Return one interval for each feature, from questions: feature, whether at most the threshold, threshold.

    >>> [str(one) for one in intervals([("k", True, 100.0), ("k", False, 10.0)])]
    ['domain size k above 10, at most 100']
    """
    above: dict[str, float | None] = {}
    at_most: dict[str, float | None] = {}
    for feature, below, threshold in questions:  # from the root down: the last of one side is the narrowest
        own, other = (at_most, above) if below else (above, at_most)
        own[feature] = threshold
        other.setdefault(feature, None)
    return tuple(Interval(feature, above[feature], at_most[feature]) for feature in QUESTIONS if feature in above)


@dataclass(frozen=True)
class Explanation:
    """Where a question ends in the tree."""

    method: str  # the method that the tree ranks first, among those asked for
    reasons: tuple[str, ...]  # the path that led there in words, once for each feature
    # Methods with their mean extra error over the best one in this leaf, as a share (0.1: 10 %)
    ranking: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Rule:
    """A leaf of a tree."""

    conditions: tuple[Interval, ...]  # where the features must lie
    # Methods with their mean extra error over the best one, as a share (0.1: 10 %); best first
    ranking: tuple[tuple[str, float], ...]
    populations: float  # share of the simulated populations that it is about


@dataclass(frozen=True)
class Tree:
    """One tree as arrays; children of -1 mark a leaf."""

    # feature, threshold, left, right: for each node: index in `QUESTIONS`, what it is compared with, and where to go
    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    regret: tuple[tuple[float, ...], ...]  # for each node the mean log error of every method over the best
    share: tuple[float, ...]  # for each node the share of the simulated populations that come by
    options: tuple[str, ...] = METHODS  # what it chooses from

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
        return replace(
            self,
            feature=tuple(self.feature[node] for node in kept),
            threshold=tuple(self.threshold[node] for node in kept),
            regret=tuple(self.regret[node] for node in kept),
            share=tuple(self.share[node] for node in kept),
            left=tuple(place[children[node][0]] for node in kept),
            right=tuple(place[children[node][1]] for node in kept),
        )


@cache
def load(folder: Path = DATA, kind: str = METHOD_TREES) -> Mapping[str, Tree]:
    """Load the trees of a folder, by metric and ``metric/unordered``; each folder is read once.

    Raises FileNotFoundError if the folder holds no trees.
    """
    stored = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
    options = tuple(stored["methods"])
    trees = {}
    for name, arrays in stored["trees"].items():
        regret = tuple(map(tuple, arrays.pop("regret")))
        trees[name] = Tree(**{of: tuple(values) for of, values in arrays.items()}, regret=regret, options=options)
    return trees


def save(trees: Mapping[str, Tree], folder: Path, kind: str = METHOD_TREES) -> None:
    """Write trees where `load` finds them."""
    every = {name: asdict(tree) for name, tree in trees.items()}
    options = [arrays.pop("options") for arrays in every.values()]
    stored = {"methods": options[0], "trees": every}
    (folder / f"{kind}.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")


def tree_for(metric: str, *, ordered: bool, folder: Path = DATA, kind: str = METHOD_TREES) -> Tree:
    """Return the tree of a metric, for domains with or without an order.

    Raises ValueError if the metric is unknown, or needs an order that the domain has not.
    """
    trees, own = load(folder, kind), "l1" if metric == "mae" else metric
    if own not in trees:
        allowed = ("mae", *(name for name in trees if "/" not in name))
        raise ValueError(f"metric must be one of {', '.join(allowed)} for a decision tree, got {metric!r}")
    if metric in ORDERED_METRICS and not ordered:
        raise ValueError(f"metric {metric} needs an ordered domain")
    return trees[own if ordered else f"{own}/unordered"]


def explain(
    metric: str,
    *,
    noise_to_uniform: float,
    k: int,
    skew: float,
    ordered: bool = True,
    methods: Iterable[str] | None = None,
    folder: Path = DATA,
    kind: str = METHOD_TREES,
) -> Explanation:
    """Walk down the tree of a metric.

    metric, ordered: which tree.
    noise_to_uniform: k times the noise sd of an estimate at frequency 0.
    k, skew: domain size, and Zipf-equivalent exponent of the frequencies.
    methods: restrict the ranking; of trees of pairs, pairs.
    folder, kind: where the trees are, and which.

    Raises ValueError if the metric has no tree, or the tree knows none of the methods.
    """
    tree = tree_for(metric, ordered=ordered, folder=folder, kind=kind)
    values = dict(zip(QUESTIONS, (noise_to_uniform, float(k), skew), strict=True))
    nodes = tree.path(tuple(values.values()))
    conditions = intervals(
        (QUESTIONS[tree.feature[node]], chosen == tree.left[node], tree.threshold[node])
        for node, chosen in pairwise(nodes)
    )
    reasons = tuple(f"{WORDS[one.feature]} is {values[one.feature]:.3g} ({one.ends})" for one in conditions)
    menu = tree.options if methods is None else tuple(dict.fromkeys(methods))
    own = {name: ALIASES.get(name, name) for name in menu if ALIASES.get(name, name) in tree.options}
    ranking = _ranking(tree, nodes[-1], own)
    if not ranking:
        raise ValueError(f"the tree of {metric} needs a method that goes with the metric, got {', '.join(menu)}")
    return Explanation(ranking[0][0], reasons, ranking)


def rules(metric: str, *, ordered: bool = True, folder: Path = DATA, kind: str = METHOD_TREES) -> str:
    """Return the tree of a metric as readable rules, one line each.

    Raises ValueError if the metric has no tree.
    """
    tree = tree_for(metric, ordered=ordered, folder=folder, kind=kind)
    return "\n".join(_lines(tree, 0, 0))


def leaves(metric: str, *, ordered: bool = True, folder: Path = DATA, kind: str = METHOD_TREES) -> tuple[Rule, ...]:
    """Return the tree of a metric as one rule for each leaf, from left to right.

    Raises ValueError if the metric has no tree.
    """
    return tuple(_rules_below(tree_for(metric, ordered=ordered, folder=folder, kind=kind), 0, ()))


def _rules_below(tree: Tree, node: int, path: tuple[tuple[str, bool, float], ...]) -> Iterator[Rule]:
    if tree.left[node] < 0:
        yield Rule(intervals(path), _ranking(tree, node, {name: name for name in tree.options}), tree.share[node])
        return
    name, threshold = QUESTIONS[tree.feature[node]], tree.threshold[node]
    for below, child in ((True, tree.left[node]), (False, tree.right[node])):
        yield from _rules_below(tree, child, (*path, (name, below, threshold)))


def _ranking(tree: Tree, node: int, methods: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """Return the methods that compete at a node with their mean extra error; methods by the name they are asked by."""
    regret = tree.regret[node]
    ranked = sorted((regret[tree.options.index(own)], name) for name, own in methods.items())
    return tuple((name, float(np.expm1(value))) for value, name in ranked if value >= 0)


def _lines(tree: Tree, node: int, depth: int) -> list[str]:
    indent = "  " * depth
    if tree.left[node] < 0:
        (best, first), (second_best, second) = _ranking(tree, node, {name: name for name in tree.options})[:2]
        return [
            f"{indent}use {best}: {first:.0%} above the best on average, then {second_best} "
            f"({second:.0%}); {tree.share[node]:.0%} of the cases"
        ]
    name, threshold = WORDS[QUESTIONS[tree.feature[node]]], tree.threshold[node]
    return [
        f"{indent}if {name} <= {threshold:g}:",
        *_lines(tree, tree.left[node], depth + 1),
        f"{indent}else:",
        *_lines(tree, tree.right[node], depth + 1),
    ]
