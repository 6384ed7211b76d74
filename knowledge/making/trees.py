"""The trees: grown on the simulated cells, by the three questions that people can answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from knowledge.describe.features import NAMES
from knowledge.making.dataset import Dataset
from knowledge.menu import CURVES, LEAVES, MEASURED, METHODS, ORDERED_METRICS, applies
from knowledge.model import REFERENCE
from knowledge.tree import Tree, pair_name
from simulator._types import FloatArray

MOST_LEAVES = 12  # of a tree: what people still read
LEAST_LEAF = 0.02  # share of the populations
MOST_REGRET = 2.0  # log error beyond which a method is out of the question
FEATURES = ("log_noise", "log_k", "skew")  # what the trees ask, as the features hold it
# What trees of pairs choose from, and oracles that make the noise of OUE.
METHOD_OPTIONS = ("norm_sub", "eb_ns", "tree_eb")
PAIR_OPTIONS = (("tree", "tree_eb"), ("tree_half", "tree_eb"), ("sw", "em_stopped"), ("haar_hrr", "tree_eb"))
ALIKE = ("oue", "olh")


def grow_trees(data: Dataset) -> dict[str, Tree]:
    """Grow a tree for every metric, and for domains without an order one more."""
    questions = data.features[:, [NAMES.index(name) for name in FEATURES]]
    errors = data.log_ratios + data.log_reference
    trees = {}
    for column, metric in enumerate(MEASURED):
        for ordered in (True, False):
            if metric in ORDERED_METRICS and not ordered:
                continue
            menu = [applies(name, metric, ordered=ordered) for name in METHODS]
            trees[metric if ordered else f"{metric}/unordered"] = grow(questions, errors[:, :, column], menu)
    return trees


def grow_pair_trees(leaves: Dataset, curves: Dataset, protocols: Sequence[str]) -> dict[str, Tree]:
    """Grow a tree of pairs for every metric, from the rows of the same cells; `protocols` of the oracles, by row.

    Where the oracle made the noise of OUE, for then all pairs go with what the trees ask.
    """
    alike = np.isin(protocols, ALIKE)
    questions = curves.features[alike][:, [NAMES.index(name) for name in FEATURES]]
    errors = [data.log_ratios[alike] + data.log_reference[alike] for data in (leaves, curves)]
    leaf, curve = (
        [table.pairs.index(pair) for pair in pairs]
        for table, pairs in ((LEAVES, [("", method) for method in METHOD_OPTIONS]), (CURVES, PAIR_OPTIONS))
    )
    options = tuple(map(pair_name, [*((REFERENCE, method) for method in METHOD_OPTIONS), *PAIR_OPTIONS]))
    every = np.concatenate([errors[0][:, leaf], errors[1][:, curve]], axis=1)
    return {
        metric: replace(grow(questions, every[:, :, column], [True] * len(options)), options=options)
        for column, metric in enumerate(MEASURED)
    }


def grow(questions: FloatArray, errors: FloatArray, menu: Sequence[bool]) -> Tree:
    """Grow one tree that predicts the log error of every method over the best.

    questions: ``(rows, 3)``: logarithm of the noise-to-uniform ratio, logarithm of k, skew.
    errors: ``(rows, methods)`` log errors.
    menu: which methods compete; the others get -1.
    """
    from sklearn.tree import DecisionTreeRegressor

    places = np.flatnonzero(menu)
    competing = errors[:, places]
    regret = np.minimum(competing - competing.min(axis=1, keepdims=True), MOST_REGRET)
    fitted = DecisionTreeRegressor(max_leaf_nodes=MOST_LEAVES, min_samples_leaf=LEAST_LEAF, random_state=0)
    fitted.fit(questions, regret)
    nodes = fitted.tree_
    feature = tuple(int(max(place, 0)) for place in nodes.feature)
    threshold = tuple(
        _readable(FEATURES[place], float(value)) if child >= 0 else 0.0
        for place, value, child in zip(feature, nodes.threshold, nodes.children_left, strict=True)
    )
    left, right = (tuple(int(child) for child in side) for side in (nodes.children_left, nodes.children_right))
    bare = Tree(feature, threshold, left, right, (), ())
    # Thresholds are rounded for reading, so rows are sent down again: leaves hold what this very tree sends there.
    values = np.stack([np.exp(questions[:, 0]), np.rint(np.exp(questions[:, 1])), questions[:, 2]], axis=1)
    sums, visits = np.zeros((len(left), len(places))), np.zeros(len(left))
    for row, extra in zip(values.tolist(), regret, strict=True):
        for node in bare.path(row):
            sums[node] += extra
            visits[node] += 1
    means = np.full((len(left), len(menu)), -1.0)
    means[:, places] = sums / np.maximum(visits, 1)[:, None]
    return Tree(
        feature,
        threshold,
        left,
        right,
        tuple(tuple(round(value, 4) for value in row) for row in means.tolist()),
        tuple(round(value, 4) for value in (visits / len(values)).tolist()),
    ).without_empty()


def _readable(name: str, threshold: float) -> float:
    """Return a threshold in the unit people know, with three digits."""
    value = float(np.exp(threshold)) if name.startswith("log") else threshold
    return float(f"{value:.3g}")
