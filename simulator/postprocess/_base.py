"""The wrapper that every post-processing (PP) method comes in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray
from simulator.protocols import Noise


@dataclass(frozen=True)
class PostProcessor:
    """A post-processing method: ``(..., k)`` raw estimates and their noise to ``(..., k)`` better ones.

    Attributes
    ----------
    name, title
        Key in the table, and the name the papers use.
    function
        The method itself. It sees the estimate and its `Noise`, never the truth.
    nonnegative, sums_to_one
        What every result keeps.
    ordered_only
        Whether the method uses the order of the categories.
    queries_only
        Whether the method changes the answers of set and range queries and leaves the estimate as it is.
    reference
        Where the method was published.
    keeps_order
        Whether a larger estimate never becomes smaller than a smaller one.
    unbiased
        Whether estimates that are right on average stay so.
    fits
        Whether the method is for estimates of this noise and domain size; None: for all.
    """

    name: str
    title: str
    function: Callable[[FloatArray, Noise], FloatArray]
    nonnegative: bool
    sums_to_one: bool
    reference: str
    ordered_only: bool = False
    queries_only: bool = False
    keeps_order: bool = True
    fits: Callable[[Noise, int], bool] | None = None
    unbiased: bool = False

    def __call__(self, estimate: FloatArray, noise: Noise) -> FloatArray:
        """Apply the method to raw frequency estimates ``(..., k)``.

        Raises
        ------
        ValueError
            If there are fewer than 2 categories, an estimate is not finite, or the method is not for such noise.
        """
        raw = np.asarray(estimate, dtype=np.float64)
        if raw.ndim == 0 or raw.shape[-1] < 2:
            raise ValueError(f"an estimate needs at least 2 categories, got shape {raw.shape}")
        if not np.isfinite(raw).all():
            raise ValueError("an estimate must be finite, got NaN or infinity")
        if self.fits is not None and not self.fits(noise, raw.shape[-1]):
            raise ValueError(f"method {self.name} is not for the noise of this protocol: {self.title}")
        return self.function(raw, noise)
