"""Decision trees: grown on predictions of the models, over budgets, domains, users, skews and some populations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.profile import Profile, profile_of
from knowledge.making.cells import log_uniform
from knowledge.making.populations import FAMILIES, ORDERED_FAMILIES, draw
from knowledge.making.workers import Workers
from knowledge.menu import ORDERED_METRICS, Labels
from knowledge.model import load
from knowledge.policy import Leaf, Node, PolicyCase, Split, leaf_of
from knowledge.predict import predicted, predicted_metrics
from knowledge.ranking import rank
from simulator import PROTOCOLS, rng_for
from simulator._types import FloatArray
from simulator.ranking import PRACTICAL_RATIO

MOST_LEAVES = 32  # of a tree: people still read this many
LEAST_SHARE = 0.008  # of the cases, in a leaf
HELD_OUT = 4  # 1 in this number of cases is not used for growing, and decides how many leaves are kept
MOST_REGRET = 2.0  # log error beyond which a pair is out of the question
RANGES = {"epsilon": (0.2, 10.0), "k": (2.0, 4097.0), "n": (1e3, 1e8), "skew": (0.0, 2.0)}
USUAL_SKEW, USUAL_SHARE = 1.0, 0.3  # default assumption, used in a share of the cases
DRAWN_SHARE = 0.25  # of the cases: a drawn population, so that a pair which suits few shapes alone is not named
THRESHOLDS: Mapping[str, tuple[float, ...]] = {  # those that people can remember
    "epsilon": (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 8),
    "k": (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 128, 200, 256, 400, 512, 1000, 2000),
    "n": tuple(float(f"{m}e{e}") for e in range(3, 8) for m in (1, 2, 5))[1:],
    "skew": (0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 1.75),
}


@dataclass(frozen=True)
class PolicyCases:
    """Predictions for some cases."""

    cases: FloatArray  # ``(cases, 4)``, as `PolicyCase` has them
    pairs: tuple[Labels, ...]
    logs: Mapping[str, FloatArray]  # for each metric ``(cases, pairs)`` log errors; infinite where a pair is not there
    bits: FloatArray  # of a report, ``(cases, pairs)``


def case(index: int, seed: int, *, ordered: bool) -> PolicyCase:
    """Draw case number `index`."""
    rng = rng_for(seed, "policy", int(ordered), index)
    epsilon, k, n = (log_uniform(RANGES[name], rng) for name in ("epsilon", "k", "n"))
    skew = USUAL_SKEW if rng.random() < USUAL_SHARE else float(rng.uniform(*RANGES["skew"]))
    return PolicyCase(epsilon, int(k), round(n), skew)


def grow_policies(folder: Path, cases: int, seed: int, workers: Workers) -> dict[str, Node]:
    """Grow a tree for each metric, with and without an order, from the models of a folder."""
    trees: dict[str, Node] = {}
    for ordered in (True, False):
        metrics = [one for one in predicted_metrics(ordered=ordered, model=load(folder)) if one != "mae"]
        metrics = [one for one in metrics if ordered or one not in ORDERED_METRICS]
        tasks = [(index, seed, ordered, tuple(metrics), folder) for index in range(cases)]
        known = _joined(list(workers.results(predict_case, tasks, ordered=True)), metrics)
        for metric in metrics:
            trees[metric if ordered else f"{metric}/unordered"] = grow(known, metric)
    return trees


Figures = tuple[PolicyCase, dict[str, dict[Labels, float]], dict[str, int]]


def predict_case(index: int, seed: int, ordered: bool, metrics: Sequence[str], folder: Path) -> Figures:
    """Return a case, log errors by metric and pair, and bits by protocol; run by workers."""
    one, rng = case(index, seed, ordered=ordered), rng_for(seed, "policy population", int(ordered), index)
    frequencies: AssumedSkew | Profile = AssumedSkew(one.k, one.skew, ordered)
    if rng.random() < DRAWN_SHARE:
        family = str(rng.choice(ORDERED_FAMILIES if ordered else FAMILIES))
        frequencies = profile_of(draw(family, one.k, rng).frequencies, one.n)
        one = one._replace(skew=frequencies.skew)
    prediction = predicted(frequencies, one.epsilon, one.n, ordered=ordered, model=load(folder))
    logs = {}
    for metric in metrics:
        answer = rank(prediction, metric)
        logs[metric] = {row.pair: float(np.log(row.error)) for row in answer.rows}
    names = {protocol for protocol, _ in next(iter(logs.values()))}
    return one, logs, {name: PROTOCOLS[name](one.k, one.epsilon).report_bits for name in names}


def _joined(parts: Sequence[Figures], metrics: Sequence[str]) -> PolicyCases:
    pairs = tuple(dict.fromkeys(pair for _, logs, _ in parts for one in logs.values() for pair in one))
    return PolicyCases(
        np.array([one for one, _, _ in parts], dtype=np.float64),
        pairs,
        {
            metric: np.array([[logs[metric].get(pair, np.inf) for pair in pairs] for _, logs, _ in parts])
            for metric in metrics
        },
        np.array([[bits.get(protocol, np.inf) for protocol, _ in pairs] for _, _, bits in parts]),
    )


@dataclass
class _Growing:
    """A node of a tree that grows: its cases, and the best question about them."""

    rows: NDArray[np.int64]
    loss: float  # lowest sum of regrets of a pair over the cases
    question: int
    at_most: float
    gain: float
    children: tuple[_Growing, _Growing] | None = None


def grow(cases: PolicyCases, metric: str) -> Node:
    """Grow the tree of a metric, the question that lowers the mean regret most first; return as much of it as pays off.

    The regret of a node is that of its best single pair. Of the cases that had no part in growing, as few questions are
    kept as are within a standard error of the lowest regret.
    """
    logs = cases.logs[metric]
    regrets = np.minimum(logs - logs.min(axis=1, keepdims=True), MOST_REGRET)
    rows = np.arange(len(regrets))
    growing, held_out = rows[rows % HELD_OUT > 0], rows[rows % HELD_OUT == 0]
    ask = partial(_best_question, cases.cases, regrets, max(2, round(LEAST_SHARE * len(growing))))
    root = ask(growing)
    fringe, order = [root], []
    while fringe and len(fringe) < MOST_LEAVES and (best := max(fringe, key=lambda node: node.gain)).gain > 0:
        below = cases.cases[best.rows, best.question] <= best.at_most
        best.children = ask(best.rows[below]), ask(best.rows[~below])
        fringe = [*(node for node in fringe if node is not best), *best.children]
        order.append(id(best))
    trees = [_pruned(root, set(order[:kept]), cases, regrets) for kept in range(len(order) + 1)]
    places = {pair: place for place, pair in enumerate(cases.pairs)}
    losses = np.array(
        [
            [regrets[row, places[leaf_of(tree, PolicyCase(*cases.cases[row]))[0].pair]] for row in held_out]
            for tree in trees
        ]
    )
    more = losses - losses[losses.mean(axis=1).argmin()]
    unsure = more.std(axis=1) / math.sqrt(max(1, len(held_out)))
    return trees[int(np.argmax(more.mean(axis=1) <= unsure))]


def _best_question(cases: FloatArray, regrets: FloatArray, least: int, rows: NDArray[np.int64]) -> _Growing:
    """Return a node with the question that lowers its regret the most."""
    node_regrets = regrets[rows]
    total = node_regrets.sum(axis=0)
    best = _Growing(rows, float(total.min()), 0, 0.0, 0.0)
    for question, name in enumerate(PolicyCase._fields):
        for threshold in THRESHOLDS[name]:
            below = cases[rows, question] <= threshold
            if min(np.count_nonzero(below), np.count_nonzero(~below)) < least:
                continue
            sums = node_regrets[below].sum(axis=0)
            gain = best.loss - float(sums.min() + (total - sums).min())
            if gain > best.gain:
                best.question, best.at_most, best.gain = question, threshold, gain
    return best


def _pruned(node: _Growing, kept: set[int], cases: PolicyCases, regrets: FloatArray) -> Node:
    """Return a tree of the questions that are kept."""
    if node.children is None or id(node) not in kept:
        means = regrets[node.rows].mean(axis=0)
        near = np.flatnonzero(means <= means.min() + np.log(PRACTICAL_RATIO))
        bits = cases.bits[node.rows].mean(axis=0)
        place = min(near.tolist(), key=lambda at: (bits[at], means[at]))
        share = len(node.rows) / int(np.count_nonzero(np.arange(len(regrets)) % HELD_OUT))
        return Leaf(*cases.pairs[place], round(float(np.expm1(means[place])), 4), round(share, 4))
    children = [_pruned(child, kept, cases, regrets) for child in node.children]
    below, above = children
    if isinstance(below, Leaf) and isinstance(above, Leaf) and below.pair == above.pair:
        share = below.share + above.share
        regret = math.expm1(sum(math.log1p(one.regret) * one.share for one in (below, above)) / share)
        return Leaf(*below.pair, round(regret, 4), round(share, 4))
    return Split(PolicyCase._fields[node.question], node.at_most, below, above)
