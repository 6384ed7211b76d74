"""What a posterior gives, and what its models share."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.protocols import Noise


class Posterior(NamedTuple):
    """Draws from what the truth may be under one model.

    Attributes
    ----------
    populations
        ``(draws, k)`` frequencies, not normalised yet and some slightly negative.
    evidence
        Log marginal likelihood of the estimate under the model, over that of equal frequencies.
    """

    populations: FloatArray
    evidence: float


def gaussian_draws(estimate: FloatArray, noise: Noise, rng: np.random.Generator) -> FloatArray:
    """Draw true frequencies under a flat prior: the estimate and noise of the size that its frequency has."""
    variance = noise.variance_at_zero + noise.variance_slope * np.clip(estimate, 0.0, 1.0)
    return estimate + rng.standard_normal(estimate.shape) * np.sqrt(variance)


def log_flat_prior(k: int, sd: float) -> float:
    """Return the log of what one estimate that stands out costs: one of k places, and any frequency up to 1."""
    return math.log(sd * math.sqrt(2 * math.pi)) - math.log(k)
