"""Noise of a tree of levels: precision of the reports at each height for all Haar differences above."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray
from simulator.protocols.dyadic import (
    doubled,
    halves,
    merged,
    nodes_at,
    parts,
    spread_of,
    sums_at,
    weights_of_differences,
)
from simulator.protocols.grr import GRR
from simulator.protocols.protocol import Covariance
from simulator.protocols.unary import OUE

Inner: TypeAlias = GRR | OUE


@dataclass(frozen=True)
class Products:
    """Sums over the nodes of a height that a variance needs, for weights b_i and frequencies f_i.

    With two rows of weights, b and c, the sums of their covariance.
    """

    squares: FloatArray  # sum of b c
    mean_squares: FloatArray  # sum of f b c
    plain: FloatArray  # (sum of b) (sum of c)
    mixed: FloatArray  # mean of (sum of b) (sum of f c) and (sum of c) (sum of f b)


def perturbing(oracle: Inner, of: Products) -> FloatArray:
    """Return the variance that perturbing a report of a given value adds to the estimate of ``sum b_i f_i``."""
    p, q = oracle.p, oracle.q
    gain = p - q
    if isinstance(oracle, OUE):
        at_p, other = p * (1 - p), q * (1 - q)
        return (other * of.squares + (at_p - other) * of.mean_squares) / gain**2
    expected = q**2 * of.plain + 2 * q * gain * of.mixed + gain**2 * of.mean_squares
    return (q * of.squares + gain * of.mean_squares - expected) / gain**2


class HeightNoise:
    """How precise reports at each height are for the Haar differences above it."""

    def __init__(self, k: int, inner: tuple[Inner, ...], chances: FloatArray) -> None:
        self.k, self.inner, self.chances = k, inner, chances

    @property
    def top(self) -> int:
        """Height of the root."""
        return len(self.inner)

    @cached_property
    def precision(self) -> list[list[FloatArray]]:
        """Precision of a report at each height for the Haar differences above: 1 / variance at equal frequencies.

        Indexed by the height of the differences, from 1, then by the lower height of the report.
        """
        result = []
        for height in range(1, self.top + 1):
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
        return perturbing(self.inner[lower], Products(left + right, left_mass + right_mass, plain**2, plain * mean))

    def information(self, height: int) -> FloatArray:
        """Return the precision that a user adds to each difference of a height."""
        return np.tensordot(self.chances[:height], self.precision[height - 1], axes=1)

    def share(self, height: int, lower: int) -> FloatArray:
        """Return the weight of the estimate from a lower height in each difference of a height."""
        total, information_at = self.information(height), self.chances[lower] * self.precision[height - 1][lower]
        return np.divide(information_at, total, out=np.zeros_like(total), where=total > 0)


class TreeCovariance(Covariance):
    """Covariance of the estimate of n users, as if each height had its expected number of them.

    The values of the n users are given, so it excludes the variance of sampling them. The users of a height are drawn
    from all users without replacement.
    """

    def __init__(self, noise: HeightNoise, n: int) -> None:
        self._noise, self._n = noise, n

    def haar(self, k: int) -> tuple[FloatArray, ...]:
        result = []
        for height in range(1, self._noise.top + 1):
            spread, both = self._noise.spread(height)
            noise = np.divide(1.0, self._noise.information(height), out=spread.copy(), where=both)
            result.append((noise - spread) / self._n)
        return tuple(result)

    def entry(self, frequency: FloatArray) -> FloatArray:
        frequency = np.asarray(frequency, dtype=np.float64)
        result = -frequency * (1 - frequency)
        for lower, chance in enumerate(self._noise.chances):
            result += self._variance_of(lower, frequency) / chance
        return result / self._n

    def _variance_of(self, lower: int, frequency: FloatArray) -> FloatArray:
        """Return the variance that a report at a height adds to the estimate of each value, ``(..., k)``.

        The recursion goes from the root down. It keeps, for the estimate of each node, the report's weight b for that
        node, and sums over all other nodes. The estimate of a child is half of its parent's, plus or minus half of
        their difference.
        """
        tree, top = self._noise, self._noise.top
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
        noise = perturbing(tree.inner[lower], Products(squares, mean_squares, plain**2, plain * mean))
        result = noise + mean_squares - mean**2
        for height in range(lower, 0, -1):
            part = parts(tree.k, height)
            result = part**2 * doubled(result, len(part))
        return result

    def of(self, rows: FloatArray) -> FloatArray:
        tree = self._noise
        details = weights_of_differences(rows)
        result = -spread_of(rows, np.full(tree.k, 1 / tree.k))
        for lower, (oracle, chance) in enumerate(zip(tree.inner, tree.chances, strict=True)):
            weights = np.zeros((len(rows), 1))
            for height in range(tree.top, lower, -1):
                below = nodes_at(tree.k, height - 1)
                signs = np.where(np.arange(below) % 2, -1.0, 1.0)
                weights = doubled(weights, below) + signs * doubled(
                    details[height - 1] * tree.share(height, lower), below
                )
            mass = sums_at(np.full(tree.k, 1 / tree.k), lower)
            plain, mean = weights.sum(axis=1), weights @ mass
            mixed = (np.outer(plain, mean) + np.outer(mean, plain)) / 2
            products = Products(weights @ weights.T, (weights * mass) @ weights.T, np.outer(plain, plain), mixed)
            result += (perturbing(oracle, products) + spread_of(weights, mass)) / chance
        return result / self._n


def _siblings(nodes: FloatArray) -> FloatArray:
    """Return for each node the entry of its sibling, 0 without a sibling."""
    left, right = halves(nodes)
    return np.stack([right, left], axis=-1).reshape(*nodes.shape[:-1], -1)[..., : nodes.shape[-1]]
