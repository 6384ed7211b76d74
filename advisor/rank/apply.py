"""Post-process the estimate that was collected, and write it down beside what it was."""

from __future__ import annotations

import csv
import io

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.errors import InputError
from advisor.names import resolve
from advisor.rank.result import Ranking
from simulator import POSTPROCESSORS, Noise
from simulator._normal import normal_quantile

COLUMNS = ("value", "raw", "post_processed", "low", "high")
LEVEL = 0.95


def post_process(advice: Ranking, estimate: ArrayLike, method: str | None = None) -> NDArray[np.float64]:
    """Return raw frequencies ``(..., k)`` post-processed by the advised method or another one (see `Ranking.apply`)."""
    request, best = advice.request, advice.best
    raw = np.asarray(estimate, dtype=np.float64)
    if raw.ndim == 0 or raw.shape[-1] != request.k:
        raise InputError(f"an estimate must have k = {request.k} categories on its last axis, got shape {raw.shape}")
    noise = request.oracle(best.protocol).noise(request.n)
    reach = 2 + 10 * (request.k * noise.variance_at_zero + noise.variance_slope) ** 0.5
    if np.isfinite(raw).all() and (np.abs(raw.sum(axis=-1)) > reach).any():
        raise InputError(
            "an estimate must hold frequencies that sum to about 1, got a sum of "
            f"{float(raw.sum(axis=-1).max()):,.4g}: divide counts by n"
        )
    processor = POSTPROCESSORS[best.method if method is None else resolve("method", method)]
    if processor.queries_only:
        raise InputError(f"method {processor.name} changes only the answers of queries, not the estimate: name another")
    try:
        return processor(raw, noise)
    except ValueError as error:
        raise InputError(str(error)) from None


def frequency_interval(estimate: NDArray[np.float64], noise: Noise) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each raw estimate the 95 % interval of the true frequency, within 0 and 1.

    All frequencies f whose own noise puts the estimate no further off than 1.96 sd: ``(estimate - f)^2 <= z^2 (a + b
    f)``, a and b being those of `Noise.line`, solved for f (the score interval of Wilson, 1927, for randomised
    response). It holds for one category at a time, whatever the method that is used beside it, and rests on nothing but
    the raw estimate. One below 0 counts as 0: an interval of nothing but 0 would sound like certainty.
    """
    z = normal_quantile((1 + LEVEL) / 2)
    at_zero, slope = noise.line(estimate)
    estimate = np.clip(estimate, 0.0, 1.0)
    half_slope = z**2 * slope / 2
    middle = estimate + half_slope
    reach = np.sqrt(np.maximum(middle**2 - estimate**2 + z**2 * at_zero, 0.0))
    return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)


def applied_csv(advice: Ranking) -> str:
    """Return the collected estimate as CSV: value, raw, post-processed, and the interval of the true frequency.

    Raises
    ------
    InputError
        If the advice is not about an estimate.
    """
    collected = advice.request.collected
    if collected is None:
        raise InputError("there is no estimate to apply a method to: give one (in Python: estimate=...)")
    noise = collected.oracle.noise(collected.n)
    low, high = frequency_interval(collected.estimate, noise)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    columns = (collected.estimate, post_process(advice, collected.estimate), low, high)
    for label, *numbers in zip(collected.labels, *(column.tolist() for column in columns), strict=True):
        writer.writerow([label, *(repr(number) for number in numbers)])
    return text.getvalue()
