"""Tree of levels: each user reports the node of the true value, at a random height of a binary tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports
from simulator.draws import multinomial
from simulator.protocols.dyadic import halves, height_of, nodes_at, rebuilt, sums_at
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import bits_for
from simulator.protocols.protocol import Linear, Probabilities, StandardProtocol, Tally, users_of
from simulator.protocols.tree_noise import HeightNoise, Inner, TreeCovariance
from simulator.protocols.unary import OUE


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
        heights = height_of(self.k)
        chances = np.full(heights, (1 - self.leaf_share) / heights)
        chances[0] += self.leaf_share
        return chances

    @cached_property
    def inner(self) -> tuple[Inner, ...]:
        """The oracle of each height: randomised response on few nodes, else unary encoding with less noise."""
        sizes = [nodes_at(self.k, height) for height in range(height_of(self.k))]
        few = 3 * math.exp(self.epsilon) + 2
        return tuple(GRR(size, self.epsilon) if size < few else OUE(size, self.epsilon) for size in sizes)

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
    def height_noise(self) -> HeightNoise:
        """Precision of a report for the nodes above its height."""
        return HeightNoise(self.k, self.inner, self.chances_of_heights)

    def estimate(self, tally: Tally) -> FloatArray:
        """Return the unbiased estimate ``(..., k)``."""
        levels, users = self.levels(tally)
        totals: list[FloatArray] = []
        weights: list[FloatArray] = []
        for lower, nodes in enumerate(levels):
            for height in range(lower + 1, len(levels) + 1):
                left, right = halves(nodes)
                weight = users[..., lower, None] * self.height_noise.precision[height - 1][lower]
                if lower == 0:
                    totals.append(weight * (left - right))
                    weights.append(weight)
                else:
                    totals[height - 1] += weight * (left - right)
                    weights[height - 1] += weight
                nodes = left + right
        details = [
            np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
            for total, weight in zip(totals, weights, strict=True)
        ]
        return rebuilt(details, self.k)

    @property
    def linear(self) -> Linear:
        return Linear(self.estimate, lambda n: TreeCovariance(self.height_noise, n))

    def offers(self, need: str) -> bool:
        return need in ("estimate", "haar")

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


class HalfTree(Tree):
    """`Tree` with half of the users at the leaves: nearly as good for single categories as an oracle for that half."""

    key = "tree_half"
    title = "Tree of levels, half of the users at the leaves"
    leaf_share = 0.5
