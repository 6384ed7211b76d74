"""Tree of levels: each user reports the node of the true value, at a random height of a binary tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports
from simulator.draws import multinomial
from simulator.protocols.dyadic import differences, doubled, halves, merged, node_counts, parts, rebuilt, sums_at
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import bits_for
from simulator.protocols.protocol import Covariance, Linear, Probabilities, StandardProtocol, Tally, users_of
from simulator.protocols.unary import OUE

Inner: TypeAlias = GRR | OUE


@dataclass(frozen=True)
class Tree(StandardProtocol):
    """Draw a height, whatever the value, and report the node there: by randomised response, or by unary encoding.

    Cormode, Kulkarni, Srivastava, "Answering range queries under local differential privacy", VLDB 2019; each Haar
    difference is the mean of the estimates from all heights, weighted by precision. This is the constrained inference
    of Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private histograms through consistency",
    VLDB 2010.

    A report is ``(1 + k,)``: the height, then a bit for each node of it, then zeros. The tally counts the bits of all
    heights, the leaves first, and then the reports of each height.

    The law is `sample_tally`, the variance that of `linear.covariance(n)`, see `TreeCovariance`.

    Parameters and errors as for `StandardProtocol`.
    """

    key: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree of levels"
    reference: ClassVar[str] = "Cormode, Kulkarni, Srivastava, VLDB 2019; Hay et al., VLDB 2010"
    report_kind: ClassVar[str] = "node"
    ordered_only: ClassVar[bool] = True
    sums_to_one: ClassVar[bool] = True
    leaf_share: ClassVar[float] = 0.0
    """Share of the users who are sent to the leaves beforehand; the others are spread evenly over all heights."""

    @cached_property
    def chances_of_heights(self) -> FloatArray:
        """Probability of each height, the leaves first."""
        heights = len(self.inner)
        chances = np.full(heights, (1 - self.leaf_share) / heights)
        chances[0] += self.leaf_share
        return chances

    @cached_property
    def inner(self) -> tuple[Inner, ...]:
        """The oracle of each height: randomised response on few nodes, else unary encoding with less noise."""
        few = 3 * math.exp(self.epsilon) + 2
        return tuple((GRR if size < few else OUE)(size, self.epsilon) for size in node_counts(self.k))

    @property
    def report_bits(self) -> int:
        return bits_for(len(self.inner)) + max(oracle.report_bits for oracle in self.inner)

    @property
    def attack_success(self) -> float:
        each = [oracle.k / self.k * oracle.attack_success for oracle in self.inner]
        return float(self.chances_of_heights @ each)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        heights = rng.choice(len(self.inner), size=len(values), p=self.chances_of_heights)
        reports = np.zeros((len(values), 1 + self.k), dtype=np.uint8)
        reports[:, 0] = heights
        for height, oracle in enumerate(self.inner):
            users = np.flatnonzero(heights == height)
            if isinstance(oracle, OUE):
                reports[users, 1 : 1 + oracle.k] = oracle.perturb(values[users] >> height, rng)
            else:
                reports[users, 1 + oracle.perturb(values[users] >> height, rng)] = 1
        return reports

    def tally(self, reports: Reports) -> Tally:
        of_height = [reports[reports[:, 0] == height] for height in range(len(self.inner))]
        bits = [
            rows[:, 1 : 1 + oracle.k].sum(axis=0, dtype=np.int64)
            for rows, oracle in zip(of_height, self.inner, strict=True)
        ]
        return Tally(np.concatenate([*bits, [len(rows) for rows in of_height]]), len(reports))

    def proper(self, reports: Reports) -> NDArray[np.bool_]:
        """Return which rows ``(n, 1 + k)`` of nonnegative integers are valid reports of `perturb`."""
        sizes = np.array([oracle.k for oracle in self.inner])
        is_grr = np.array([isinstance(oracle, GRR) for oracle in self.inner])
        heights, bits = np.minimum(reports[:, 0], len(sizes) - 1), reports[:, 1:]
        beyond = np.arange(self.k) >= sizes[heights, None]
        number = (bits == 1).sum(axis=1)
        fits = (heights == reports[:, 0]) & (~is_grr[heights] | (number == 1))
        return fits & ~(bits > 1).any(axis=1) & ~(beyond & (bits > 0)).any(axis=1)

    def sample_tally(self, counts: IntArray, rng: np.random.Generator) -> Tally:
        split = multinomial(counts, self.chances_of_heights, rng)
        parts = [
            oracle.sample_support(sums_at(split[..., height], height), rng) for height, oracle in enumerate(self.inner)
        ]
        return Tally(np.concatenate([*parts, split.sum(axis=-2)], axis=-1), users_of(counts))

    def levels(self, tally: Tally) -> tuple[list[FloatArray], FloatArray]:
        """Return unbiased estimates ``(..., nodes)`` of the nodes of each height, and its users ``(..., heights)``.

        Where nobody reported at a height, its estimates are 0.
        """
        ends = np.cumsum([oracle.k for oracle in self.inner])
        *parts, users = np.split(np.asarray(tally.counts, dtype=np.float64), ends, axis=-1)
        result = []
        for height, (oracle, part) in enumerate(zip(self.inner, parts, strict=True)):
            p, q = oracle.p, oracle.q
            reporters = users[..., height, None]
            result.append(np.where(reporters > 0, (part / np.maximum(reporters, 1.0) - q) / (p - q), 0.0))
        return result, users

    @cached_property
    def precision(self) -> list[list[FloatArray]]:
        """Precision of a report at each height for the Haar differences above: 1 / variance at equal frequencies.

        Indexed by the height of the differences, from 1, then by the lower height of the report.
        """
        result = []
        for height in range(1, len(self.inner) + 1):
            spread, both = self.spread(height)
            noises = (self._perturbation_variance(height, lower) for lower in range(height))
            result.append([np.where(both, 1 / (spread + noise), 0.0) for noise in noises])
        return result

    def spread(self, height: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return how much equal frequencies vary in the differences of a height, and which nodes have two halves."""
        left, right = halves(sums_at(np.full(self.k, 1 / self.k), height - 1))
        return left + right - (left - right) ** 2, right > 0

    def _perturbation_variance(self, height: int, lower: int) -> FloatArray:
        """Return the variance that perturbing a report at a lower height adds to each difference of a height."""
        mass = sums_at(np.full(self.k, 1 / self.k), lower)
        # The weights of the nodes are +1 on the left and -1 on the right.
        (left, right), (left_mass, right_mass) = (
            halves(sums_at(each, height - 1 - lower)) for each in (np.ones_like(mass), mass)
        )
        plain, mean = left - right, left_mass - right_mass
        return perturbing(self.inner[lower], left + right, left_mass + right_mass, plain**2, plain * mean)

    def information(self, height: int) -> FloatArray:
        """Return the precision that a user adds to each difference of a height."""
        return np.tensordot(self.chances_of_heights[:height], self.precision[height - 1], axes=1)

    def share(self, height: int, lower: int) -> FloatArray:
        """Return the weight of the estimate from a lower height in each difference of a height."""
        total, own = self.information(height), self.chances_of_heights[lower] * self.precision[height - 1][lower]
        return np.divide(own, total, out=np.zeros_like(total), where=total > 0)

    def estimate(self, tally: Tally) -> FloatArray:
        """Return the unbiased estimate ``(..., k)``."""
        levels, users = self.levels(tally)
        own = [differences(nodes) for nodes in levels]  # those of the nodes of a height begin at the height above
        details = []
        for height, precision in enumerate(self.precision):
            weights = [users[..., lower, None] * each for lower, each in enumerate(precision)]
            total = sum(weight * own[lower][height - lower] for lower, weight in enumerate(weights))
            weight = sum(weights)
            details.append(np.divide(total, weight, out=np.zeros_like(total), where=weight > 0))
        return rebuilt(details, self.k)

    @property
    def linear(self) -> Linear:
        return Linear(self.estimate, lambda n: TreeCovariance(self, n))

    def server_operations(self, n: int) -> int:
        sizes = [oracle.server_operations(1) for oracle in self.inner]
        return round(n * float(self.chances_of_heights @ sizes))

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        """Return which of two values each report supports, and how many leaves lie below the nodes it supports."""
        heights = reports[:, 0].astype(np.int64)
        users = np.arange(len(reports))
        first, second = (reports[users, 1 + (value >> heights)] > 0 for value in values)
        size = np.zeros(len(reports), dtype=np.int64)
        for height, oracle in enumerate(self.inner):
            chosen = heights == height
            size[chosen] = reports[chosen, 1 : 1 + oracle.k] @ sums_at(np.ones(self.k, dtype=np.int64), height)
        return Supports(first, second, size, self.k)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        named = self._pair_probability if attack == "pair" else self._guess_probability
        each = [
            [named(height, values[0] >> height, value >> height, values[1] >> height) for value in values]
            for height in range(len(self.inner))
        ]
        held, other = self.chances_of_heights @ np.array(each)
        return float(held), float(other)

    def informed_guess(self, frequencies: FloatArray) -> float:
        starts = (np.arange(0, self.k, 1 << height) for height in range(len(self.inner)))
        each = [
            oracle.informed_guess(np.maximum.reduceat(frequencies, edges)) or 0.0
            for oracle, edges in zip(self.inner, starts, strict=True)
        ]
        return float(self.chances_of_heights @ each)

    def _pair_probability(self, height: int, first: int, held: int, second: int) -> float:
        """Return the probability that a report of a node supports the first node, and not the second."""
        oracle = self.inner[height]
        if first == second:
            return 0.0
        supported, other = (oracle.p if node == held else oracle.q for node in (first, second))
        return supported * (1 - other) if isinstance(oracle, OUE) else supported

    def _guess_probability(self, height: int, first: int, held: int, second: int) -> float:
        """Return the probability that a given value below the first node is guessed, from a report of a node."""
        from scipy.stats import binom  # slow import, needed only by audits

        oracle = self.inner[height]
        sizes = sums_at(np.ones(self.k), height)
        chance_of_first = oracle.p if first == held else oracle.q
        if isinstance(oracle, GRR):
            return chance_of_first / float(sizes[first])
        # The guess is uniform over the leaves of all supported nodes: full-size nodes, the last node, and the user's
        # node.
        special = {first, held} | ({oracle.k - 1} if sizes[-1] < sizes[0] else set())
        others = np.arange(oracle.k - len(special) + 1)
        leaves, chances = sizes[first] + others * sizes[0], binom.pmf(others, len(others) - 1, oracle.q)
        for node in special - {first}:
            chance = oracle.p if node == held else oracle.q
            leaves = np.concatenate([leaves, leaves + sizes[node]])
            chances = np.concatenate([(1 - chance) * chances, chance * chances])
        nothing = (1 - oracle.p) * (1 - oracle.q) ** (oracle.k - 1) / self.k
        return chance_of_first * float((chances / leaves).sum()) + nothing

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        users = multinomial(fakes, self.chances_of_heights, rng)
        parts = [oracle.random_fakes(int(number), rng) for oracle, number in zip(self.inner, users, strict=True)]
        return Tally(np.concatenate([*(part.counts for part in parts if part is not None), users]), fakes)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        """Return reports spread over the heights as honest ones are, each for the nodes above the targets."""
        users = multinomial(fakes, self.chances_of_heights, rng)
        parts = [
            oracle.crafted(np.unique(targets >> height), int(number), rng)
            for height, (oracle, number) in enumerate(zip(self.inner, users, strict=True))
        ]
        return Tally(np.concatenate([*(part.counts for part in parts if part is not None), users]), fakes)


def perturbing(
    oracle: Inner, squares: FloatArray, mean_squares: FloatArray, plain: FloatArray, mixed: FloatArray
) -> FloatArray:
    """Return the variance that perturbing a report of a given value adds to the estimate of ``sum b_i f_i``.

    squares, mean_squares: sums over the nodes of a height of b b, and of f b b.
    plain, mixed: (sum of b) squared, and (sum of b) (sum of f b).
    """
    p, q = oracle.p, oracle.q
    gain = p - q
    if isinstance(oracle, OUE):
        at_p, other = p * (1 - p), q * (1 - q)
        return (other * squares + (at_p - other) * mean_squares) / gain**2
    expected = q**2 * plain + 2 * q * gain * mixed + gain**2 * mean_squares
    return (q * squares + gain * mean_squares - expected) / gain**2


class TreeCovariance(Covariance):
    """Covariance of the estimate of n users, as if each height had its expected number of them.

    The values of the n users are given, so it excludes the variance of sampling them. The users of a height are drawn
    from all users without replacement.
    """

    def __init__(self, tree: Tree, n: int) -> None:
        self._tree, self._n = tree, n

    def haar(self, k: int) -> tuple[FloatArray, ...]:
        result = []
        for height in range(1, len(self._tree.inner) + 1):
            spread, both = self._tree.spread(height)
            noise = np.divide(1.0, self._tree.information(height), out=spread.copy(), where=both)
            result.append((noise - spread) / self._n)
        return tuple(result)

    def entry(self, frequency: FloatArray) -> FloatArray:
        frequency = np.asarray(frequency, dtype=np.float64)
        result = -frequency * (1 - frequency)
        for lower, chance in enumerate(self._tree.chances_of_heights):
            result += self._variance_of(lower, frequency) / chance
        return result / self._n

    def _variance_of(self, lower: int, frequency: FloatArray) -> FloatArray:
        """Return the variance that a report at a height adds to the estimate of each value, ``(..., k)``.

        The recursion goes from the root down. It keeps, for the estimate of each node, the report's weight b for that
        node, and sums over all other nodes. The estimate of a child is half of its parent's, plus or minus half of
        their difference.
        """
        tree, top = self._tree, len(self._tree.inner)
        masses = [sums_at(frequency, lower)]
        counts = [np.ones(masses[0].shape[-1])]
        for _ in range(lower, top):
            masses.append(merged(masses[-1]))
            counts.append(merged(counts[-1]))
        weight, sums = np.zeros(1), [np.zeros((*frequency.shape[:-1], 1)) for _ in range(4)]
        for height in range(top, lower, -1):
            share, part = tree.share(height, lower), parts(tree.k, height)
            below = len(part)
            sibling = part * doubled(weight - share, below)
            weight = part * doubled(weight + share, below)
            count, mass = (_siblings(each[height - 1 - lower]) for each in (counts, masses))
            added = (sibling * count, sibling**2 * count, sibling * mass, sibling**2 * mass)
            sums = [
                part**power * doubled(each, below) + more
                for power, each, more in zip((1, 2, 1, 2), sums, added, strict=True)
            ]
        plain, squares = sums[0] + weight, sums[1] + weight**2
        mean, mean_squares = sums[2] + weight * masses[0], sums[3] + weight**2 * masses[0]
        noise = perturbing(tree.inner[lower], squares, mean_squares, plain**2, plain * mean)
        result = noise + mean_squares - mean**2
        for height in range(lower, 0, -1):
            part = parts(tree.k, height)
            result = part**2 * doubled(result, len(part))
        return result


def _siblings(nodes: FloatArray) -> FloatArray:
    """Return for each node the entry of its sibling, 0 without a sibling."""
    left, right = halves(nodes)
    return np.stack([right, left], axis=-1).reshape(*nodes.shape[:-1], -1)[..., : nodes.shape[-1]]


class HalfTree(Tree):
    """`Tree` with half of the users at the leaves: nearly as good for single categories as an oracle for that half."""

    key = "tree_half"
    title = "Tree of levels, half of the users at the leaves"
    leaf_share = 0.5
