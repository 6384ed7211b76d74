"""The frequencies of a collection: true, raw estimate, and post-processed by the recommended or another method."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.answers.rank.result import Ranking
from advisor.errors import InputError
from advisor.figures import csv_of
from advisor.members.names import resolve
from advisor.question.request import Collected
from simulator import POSTPROCESSORS, Noise, Observed
from simulator._types import FloatArray
from simulator.methods import observe
from simulator.poisoning import NOBODY, Attack
from simulator.protocols.protocol import Covariance
from simulator.seeding import rng_for

COLUMNS = ("value", "raw", "post_processed", "low", "high")
LEVEL = 0.95


def post_process(advice: Ranking, estimate: ArrayLike, method: str | None = None) -> FloatArray:
    """Return raw frequencies ``(..., k)`` post-processed by the advised or another method (see `Advice.apply`)."""
    return _processed(
        observed_as(advice, estimate), advice.best.method if method is None else resolve("method", method)
    )


def observed_as(advice: Ranking, estimate: ArrayLike) -> Observed:
    """Return raw frequencies ``(..., k)`` as what a method sees of a collection with the advised protocol.

    Of the estimate that the advice is about, where it was clipped, this is what may have been there before.

    Raises InputError if they are not of k categories, do not sum to about 1, or the protocol has none.
    """
    request, used = advice.request, advice.best.protocol
    raw = np.asarray(estimate, dtype=np.float64)
    if raw.ndim == 0 or raw.shape[-1] != request.k:
        raise InputError(f"an estimate must have k = {request.k} categories on its last axis, got shape {raw.shape}")
    given = None if request.collected is None else request.collected.given
    if given is not None and np.array_equal(raw, given):
        return replace(_collected(advice).observed, domain=request.domain)
    protocol = request.oracle(used)
    if protocol.linear is None:
        raise InputError(f"{used} has no raw estimate that a method could be applied to: ask for its reports")
    covariance = protocol.linear.covariance(request.n)
    reach = 2 + 10 * float(covariance.entry(np.full(request.k, 1 / request.k)).sum()) ** 0.5
    most = float(np.abs(raw.sum(axis=-1)).max()) if np.isfinite(raw).all() else 0.0
    if reach < most <= reach * request.n and request.collected is not None:
        raw = raw / request.n  # an estimate in users, as it may be given
    elif most > reach:
        raise InputError(
            "an estimate must hold frequencies that sum to about 1, got a sum of "
            f"{float(raw.sum(axis=-1).max()):,.4g}: divide counts by n"
        )
    return Observed(raw, covariance, domain=request.domain)


def _collected(advice: Ranking) -> Collected:
    collected = advice.request.collected
    if collected is None:
        raise InputError("there is no estimate to apply a method to: give one (in Python: estimate(...))")
    return collected


def _processed(observed: Observed, method: str) -> FloatArray:
    processor = POSTPROCESSORS[method]
    if processor.queries_only:
        raise InputError(f"method {method} changes only the answers of queries, not the estimate: name another")
    try:
        return processor.apply(observed)
    except ValueError as error:
        raise InputError(str(error)) from None


def frequency_interval(estimate: FloatArray, covariance: Covariance) -> tuple[FloatArray, FloatArray]:
    """Return for each raw estimate the 95 % interval of the true frequency, within 0 and 1.

    All frequencies f whose own noise puts the estimate no further off than 1.96 sd: ``(estimate - f)^2 <= z^2 (a + b
    f)``, a and b being those of `Noise.line`, solved for f (the score interval of Wilson, 1927, for randomised
    response). It holds for one category at a time, whatever the method that is used beside it, and rests on nothing but
    the raw estimate. One below 0 counts as 0: an interval of nothing but 0 would sound like certainty.

    Where the noise of a value depends on what all others hold, as in a tree: 1.96 sd on either side, with the sd that
    the estimates have under these frequencies, clipped at 0 and divided by their sum.
    """
    z, nearest = NormalDist().inv_cdf((1 + LEVEL) / 2), np.clip(estimate, 0.0, 1.0)
    if isinstance(covariance, Noise):
        at_zero, slope = covariance.line(estimate)
        middle = nearest + z**2 * slope / 2
        reach = np.sqrt(np.maximum(middle**2 - nearest**2 + z**2 * at_zero, 0.0))
    else:
        shares, middle = np.clip(estimate, 0.0, None), nearest
        reach = z * np.sqrt(covariance.entry(shares / shares.sum(axis=-1, keepdims=True)))
    return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)


def applied_columns(advice: Ranking, observed: Observed | None = None) -> dict[str, FloatArray]:
    """Return what was collected: raw, post-processed, and the interval of the true frequency, ``(k,)`` each.

    observed: a collection with the advised protocol; None for the collection that the advice is about.

    Raw estimate and interval are NaN where the protocol has no raw estimate.

    Raises InputError if there is none.
    """
    given = _collected(advice).given if observed is None else None
    observed = _collected(advice).observed if observed is None else observed
    observed = replace(observed, domain=advice.request.domain)
    processed = _processed(observed, advice.best.method)
    raw = low = high = np.full(advice.request.k, np.nan)
    if observed.estimate is not None and observed.covariance is not None:
        raw, (low, high) = observed.estimate, frequency_interval(observed.estimate, observed.covariance)
        if given is not None:
            raw = given
    return dict(zip(COLUMNS[1:], (raw, processed, low, high), strict=True))


def applied_csv(advice: Ranking, *, safe_cells: bool = False) -> str:
    """Return what was collected as CSV: value, raw, post-processed, and the interval of the true frequency.

    Raw estimate and interval are empty where the protocol has no raw estimate.

    Raises InputError if the advice is not about what was collected.
    """
    rows = zip(advice.request.labels, *map(_cells, applied_columns(advice).values()), strict=True)
    return csv_of([COLUMNS, *rows], safe_cells=safe_cells)


def _cells(numbers: FloatArray) -> list[str]:
    return ["" if number != number else repr(number) for number in numbers.tolist()]


class OneCollection(NamedTuple):
    """Frequencies ``(k,)``."""

    truth: FloatArray  # true, or the mean of the populations that stand for the truth
    answer: FloatArray  # post-processed as advised
    # raw, low, high: raw estimate, and the 95 % interval of the true frequency that follows from it; None without one
    raw: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None

    def at(self, places: NDArray[np.intp]) -> OneCollection:
        """Return the frequencies of some categories."""
        known = (None if column is None else column[places] for column in (self.raw, self.low, self.high))
        return OneCollection(self.truth[places], self.answer[places], *known)


def one_collection(advice: Ranking, repetition: int = 0) -> OneCollection:
    """Return what was collected; or of a sample, one repetition of the simulation with the best pair, without fakes."""
    request, method = advice.request, POSTPROCESSORS[advice.best.method]
    truth = request.counts / request.counts.sum()
    if request.collected is not None:
        observed, given = replace(request.collected.observed, domain=request.domain), request.collected.given
        raw = observed.estimate if given is None else given
        answer = raw if method.queries_only and raw is not None else _processed(observed, advice.best.method)
    else:
        protocol = request.oracle(advice.best.protocol)
        rng = rng_for(request.seed, "collect", advice.best.protocol, repetition)
        attack = None if request.threat is None else Attack(NOBODY, request.threat, request.promoted)
        calm = None if attack is None else attack.collect(protocol, request.counts, rng, rng)
        tally = protocol.sample_tally(request.counts, rng) if calm is None else calm.tally
        observed = observe(protocol, tally, request.domain, suspects=None if calm is None else calm.suspects)
        raw, answer = observed.estimate, method.apply(observed)
    if observed.estimate is None or observed.covariance is None:
        return OneCollection(truth, answer, raw, None, None)
    return OneCollection(truth, answer, raw, *frequency_interval(observed.estimate, observed.covariance))
