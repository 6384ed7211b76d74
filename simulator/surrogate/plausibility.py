"""Weights of populations of ordered domains: how much more often truths look like them than draws do.

The models' priors are wider than the world: given an estimate, their draws are flatter, and use the order less, than
most truths. The ratio of two densities is the ratio of the odds of a logistic regression that separates their samples:
Qin, "Inferences for case-control and semiparametric two-sample density ratio models", Biometrika 1998. Here the samples
are truths and draws, separated by a few traits of a population and an estimate; draws weighed by the ratio stand for
truths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.protocols.oracle import Noise
from simulator.surrogate.posterior import even_sd

LEAST = 0.1  # of the noise: populations no further from even are as good as even


class PlausibilityRatio(NamedTuple):
    """The logarithm of a ratio of densities, a quadratic form of traits; it is known up to a constant.

    Traits are brought between `lowest` and `highest`, which contain 99 % of the training data: beyond them nothing is
    known.
    """

    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    linear: tuple[float, ...]
    products: tuple[tuple[float, ...], ...]  # of each trait with itself and those that follow

    def logs(self, traits: FloatArray) -> FloatArray:
        """Return the logarithms ``(rows,)`` for traits ``(rows, traits)``."""
        within = standing(traits, self.lowest, self.highest)
        return within @ np.array(self.linear) + products(within) @ np.concatenate(self.products)


def standing(traits: FloatArray, lowest: tuple[float, ...], highest: tuple[float, ...]) -> FloatArray:
    """Return where traits are from the lowest (-1) to the highest (1), and no further."""
    low, high = np.array(lowest), np.array(highest)
    return np.clip(2 * (traits - low) / (high - low) - 1, -1.0, 1.0)


def products(traits: FloatArray) -> FloatArray:
    """Return the products of each trait with itself and those that follow, ``(rows, traits (traits + 1) / 2)``."""
    first, second = np.triu_indices(traits.shape[1])
    return traits[:, first] * traits[:, second]


def by_plausibility(logs: FloatArray, populations: FloatArray, estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the logarithms of the weights of populations, ``(draws,)``, given their previous weights.

    Even populations keep their total weight: no collection of histograms shows how often truths are even.

    populations, estimate, noise: as for `traits_of`.
    """
    uneven = _spread(populations, _relative_sd(noise, populations.shape[1])) >= LEAST
    if not uneven.any():
        return logs
    before = logs[uneven]
    after = before + RATIO.logs(traits_of(populations[uneven], estimate, noise))
    result = logs.copy()
    result[uneven] = after + np.logaddexp.reduce(before) - np.logaddexp.reduce(after)
    return result


def traits_of(populations: FloatArray, estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the traits that distinguish truths from draws, ``(draws, 6)``.

    The noise of an estimate, in equal frequencies; how far a population is from even, over the noise; how far its
    running sums are from those of even frequencies, over the effect of noise on these; how alike its neighbours are;
    and how far the estimate is from it, in all and in running sums.

    populations: ``(draws, k)`` frequencies that sum to 1.
    estimate: ``(k,)`` raw frequency estimates.
    noise: the noise in them.
    """
    draws, k = populations.shape
    sd = _relative_sd(noise, k)
    departures = populations * k - 1
    reach = np.abs(np.cumsum(departures, axis=1)).mean(axis=1) / (sd * k**0.5)
    alike = (departures[:, 1:] * departures[:, :-1]).mean(axis=1)
    neighbours = alike / ((departures**2).mean(axis=1) + (LEAST * sd) ** 2)
    left = ((estimate - estimate.mean()) * k - departures) / sd
    misfit = ((left**2).mean(axis=1) - 1) * (k / 2) ** 0.5
    drift = np.abs(np.cumsum(left, axis=1)).max(axis=1) / k**0.5
    return np.stack(
        [
            np.full(draws, np.log(sd)),
            np.log(_spread(populations, sd) + LEAST),
            np.log(reach + LEAST),
            neighbours,
            np.arcsinh(misfit),  # nearly its logarithm where it is large
            np.log(drift + LEAST),
        ],
        axis=1,
    )


def _relative_sd(noise: Noise, k: int) -> float:
    """Return the standard deviation of an estimate of equal frequencies, in equal frequencies."""
    return even_sd(noise, k) * k


def _spread(populations: FloatArray, sd: float) -> FloatArray:
    return populations.std(axis=1) * populations.shape[1] / sd


# Printed by ``python studies/fit_plausibility.py``
RATIO = PlausibilityRatio(
    lowest=(-3.76, -1.54, -1.98, -0.519, -1.49, -0.753),
    highest=(2.46, 4.45, 4.23, 0.997, 6.16, 1.72),
    linear=(0.161, -0.562, 0.258, -0.0107, -2.01, -1.55),
    products=(
        (0.743, -0.473, 1.6, -0.176, 0.0109, -0.706),
        (1.01, 0.112, 0.972, 0.0864, 0.22),
        (-0.795, -0.78, -1.12, -0.827),
        (0.46, 0.377, 0.32),
        (-0.612, 0.858),
        (-0.888,),
    ),
)
