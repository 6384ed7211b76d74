"""Iterative Bayesian update (IBU) for any likelihood: the frequencies under which the reports are likeliest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.observed import Observed
from simulator.methods.simplex import shares
from simulator.protocols.likelihood import FlatLikelihood
from simulator.protocols.oracle import Noise
from simulator.protocols.protocol import Counts, Likelihood

TOLERANCE = 1e-4  # nats a report
MOST_UPDATES = 300
MEMORY = 10  # updates that an extrapolation looks back on
RIDGE = 1e-10  # relative: keeps the small least-squares problem solvable when updates repeat themselves
SUM_SLACK = 1e-6  # how far the sum of frequencies to start from may be from 1
FARTHEST = 20.0  # largest change of a logarithm in one extrapolation
REMEMBERED = 1024  # fits of a few thousand frequencies each
LANES = 16  # fits that take their steps together: from there on a product with a matrix is hardly cheaper for each
OFTEN = 0.25  # share of the outputs that occur, from which on products of many fits with all outputs are cheaper

Evaluation: TypeAlias = tuple[FloatArray, float, float]  # next frequencies, log-likelihood, distance from the highest
Fit: TypeAlias = "Generator[FloatArray, Evaluation, Update]"  # yields requests for evaluations, and returns its result


@dataclass(frozen=True)
class Update:
    """Result of IBU."""

    frequencies: FloatArray  # ``(k,)`` frequencies, at least 0 with sum 1
    log_likelihood: float  # mean log-likelihood of a report under them, in nats; times n it is that of all reports
    gap: float  # how far, at most, the highest possible log-likelihood of a report lies above it, in nats
    updates: int  # Bayesian updates that were made, refused extrapolations included; 0 for a closed form
    converged: bool  # whether the gap is within the tolerance


def ibu(observed: Observed) -> FloatArray:
    """Return the frequencies ``(..., k)`` under which each tally is likeliest.

    Where p and q determine the likelihood of the supports, in closed form; else by `maximum`.

    Raises ValueError if nothing was observed.
    """
    likelihood, tally = observed.likelihood, observed.tally
    if likelihood is None or tally is None:
        return closed_form(observed.raw, observed.noise)
    if isinstance(likelihood, FlatLikelihood):
        return _solved(tally.counts, tally.n, *likelihood.flat)
    rows = tally.counts.reshape(-1, tally.counts.shape[-1])
    result = np.stack([fit.frequencies for fit in remembered_maxima(likelihood, rows)])
    return result.reshape(*tally.counts.shape[:-1], -1)


def remembered_maxima(likelihood: Likelihood, observed: Counts) -> list[Update]:
    """Return `maxima` of rows ``(rows, outputs)``; results are cached."""
    keys = [(likelihood, row.astype(np.int64).tobytes()) for row in observed]
    new = [place for place, key in enumerate(keys) if key not in _REMEMBERED]
    fits = dict(zip(new, maxima(likelihood, observed[new]), strict=True))
    result = [fits[place] if place in fits else _REMEMBERED[key] for place, key in enumerate(keys)]
    _REMEMBERED.update(zip(keys, result, strict=True))
    while len(_REMEMBERED) > REMEMBERED:
        _REMEMBERED.popitem(last=False)
    return result


_REMEMBERED: OrderedDict[tuple[Likelihood, bytes], Update] = OrderedDict()


def maxima(likelihood: Likelihood, observed: Counts) -> list[Update]:
    """Return `maximum` of each row ``(rows, outputs)`` with its usual settings, many of them in step.

    `LANES` fits share each product with the matrix. Their number never changes, a lane without a fit idles, so no fit
    depends on those beside it.

    Raises ValueError as `maximum`.
    """
    together = (observed > 0).mean(axis=1) >= OFTEN if likelihood.flat is None else np.zeros(len(observed), dtype=bool)
    waiting = [(place, observed[place]) for place in np.flatnonzero(together)[::-1].tolist()]
    result: dict[int, Update] = {
        place: maximum(likelihood, observed[place]) for place in np.flatnonzero(~together).tolist()
    }
    values, outputs = likelihood.shape
    guesses, shares = np.zeros((LANES, values)), np.zeros((LANES, outputs))
    running: dict[int, tuple[int, Fit]] = {}
    while running or waiting:
        for lane in range(LANES):
            if lane not in running and waiting:
                place, counts = waiting.pop()
                shares[lane] = counts / int(counts.sum())
                running[lane] = place, _fit(np.full(values, 1 / values), TOLERANCE, MOST_UPDATES)
                guesses[lane] = next(running[lane][1])
        evaluations = _evaluated(likelihood, shares, guesses)
        for lane, (place, fit) in list(running.items()):
            try:
                guesses[lane] = fit.send(evaluations[lane])
            except StopIteration as ended:
                result[place] = ended.value
                del running[lane]
    return [result[place] for place in range(len(observed))]


def maximum(
    likelihood: Likelihood,
    observed: IntArray,
    *,
    accelerate: bool = True,
    tolerance: float = TOLERANCE,
    most_updates: int = MOST_UPDATES,
    closed: bool = True,
    start: FloatArray | None = None,
) -> Update:
    """Maximise the likelihood of the outputs over the simplex.

    One update is ``f_x <- sum_y o_y f_x C_xy / sum_z f_z C_zy`` (Agrawal, Aggarwal, PODS 2001; ElSalamouny,
    Palamidessi, EuroS&P 2020). The factor of f_x in it is the slope of the log-likelihood, which is concave, so the
    largest factor minus 1 bounds the distance to the maximum. That is the stopping rule: within `tolerance`, or after
    `most_updates`.

    The accelerated iteration is Anderson's (Walker, Ni, "Anderson acceleration for fixed-point iterations", SIAM J.
    Numer. Anal. 2011) on the logarithms, each weighted by its frequency, with a monotone safeguard: a step that would
    lower the likelihood is rejected, its history is cleared, and the plain update is used.

    likelihood, observed: of the outputs, and how often each occurred ``(outputs,)``.
    accelerate: whether to extrapolate; the plain iteration needs about seven times the updates.
    tolerance: nats a report.
    most_updates: at least 1.
    closed: whether randomised response is solved in closed form (Pinzón et al., AAAI 2026) instead of iterated;
        where a start is given, it never is.
    start: frequencies ``(k,)`` to iterate from, None for equal ones. Where they are 0 they stay 0.

    Raises ValueError if nothing was observed, `most_updates` is below 1, or what was observed is impossible at the
    start.
    """
    n = int(observed.sum())
    if n < 1 or most_updates < 1:
        raise ValueError(f"ibu needs at least 1 report and 1 update, got {n} and {most_updates}")
    first = np.full(likelihood.shape[0], 1 / likelihood.shape[0])
    if start is not None:
        if np.shape(start) != first.shape or not (start.min() >= 0 and abs(start.sum() - 1) < SUM_SLACK):
            raise ValueError(f"start must hold {len(first)} frequencies of at least 0 that sum to 1")
        first = start / start.sum()
        if not (likelihood.forward(first)[observed > 0] > 0).all():
            raise ValueError("under the start some of the reports are impossible")
    occurs = observed > 0
    seen, (forward, backward) = observed[occurs] / n, likelihood.restricted(occurs)

    def step(frequencies: FloatArray) -> Evaluation:
        likely = forward(frequencies)
        factors = backward(seen / likely)
        return frequencies * factors, float(seen @ np.log(likely)), max(float(factors.max()) - 1, 0.0)

    flat = likelihood.flat if closed and start is None else None
    if flat is not None:
        frequencies = _solved(observed, n, *flat)
        _, reached, gap = step(frequencies)
        return Update(frequencies, reached, gap, 0, True)
    fit = _fit(first, tolerance, most_updates, accelerate=accelerate)
    guess = next(fit)
    while True:
        try:
            guess = fit.send(step(guess))
        except StopIteration as ended:
            return ended.value


def _evaluated(likelihood: Likelihood, shares: FloatArray, frequencies: FloatArray) -> list[Evaluation]:
    """Return a Bayesian update of each row, of shares ``(rows, outputs)`` that may be 0."""
    occurs = shares > 0
    likely = np.where(occurs, likelihood.forward_in_step(frequencies), 1.0)
    factors = likelihood.backward_in_step(shares / likely)
    logs = (shares * np.log(likely)).sum(axis=1)
    gaps = np.maximum(factors.max(axis=1) - 1, 0.0)
    return list(zip(frequencies * factors, logs.tolist(), gaps.tolist(), strict=True))


def _fit(current: FloatArray, tolerance: float, most_updates: int, *, accelerate: bool = True) -> Fit:
    """Iterate from frequencies."""
    following, reached, gap = yield current
    done = 0
    images: list[FloatArray] = []
    steps: list[FloatArray] = []
    while gap > tolerance and done < most_updates:
        guess = _extrapolated(current, following, images, steps) if accelerate else None
        if guess is not None:
            after, likely, left = yield guess
            done += 1
            if likely >= reached:
                current, following, reached, gap = guess, after, likely, left
                continue
            images.clear()
            steps.clear()
            if done == most_updates:
                break
        current = following
        following, reached, gap = yield current
        done += 1
    return Update(current / current.sum(), reached, gap, done, gap <= tolerance)


def _extrapolated(
    current: FloatArray, following: FloatArray, images: list[FloatArray], steps: list[FloatArray]
) -> FloatArray | None:
    """Remember an update, and return where the remembered ones would not move any more, or None after the first."""
    least = np.finfo(np.float64).tiny
    image = np.log(np.maximum(following, least))
    images.append(image)
    steps.append(image - np.log(np.maximum(current, least)))
    if len(images) > MEMORY + 1:
        del images[0], steps[0]
    if len(images) < 2:
        return None
    weights = np.sqrt(following)
    turns = (steps[-1] - np.array(steps[:-1])) * weights
    normal = turns @ turns.T
    normal[np.diag_indices(len(normal))] += RIDGE * np.trace(normal) + np.finfo(np.float64).tiny
    amounts = np.linalg.solve(normal, turns @ (steps[-1] * weights))
    change = -amounts @ (image - np.array(images[:-1]))
    guess = following * np.exp(np.clip(change, -FARTHEST, FARTHEST))
    return guess / guess.sum()


def _solved(counts: Counts, n: int, p: float, q: float) -> FloatArray:
    return closed_form((counts / n - q) / (p - q), Noise.of_supports(n, p, q, sums_to_one=True))


def closed_form(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the maximum-likelihood frequencies for support counts, if a report supports a single value.

    The channel sends x to y with probability ``q + (p - q) [x = y]``, and the update
    ``f <- sum_y o_y f_x A_xy / sum_z f_z A_zy`` converges to the maximum of ``sum_y o_y ln(q + (p - q) f_y)``. Its
    Karush-Kuhn-Tucker conditions give ``f_y = max(o_y / level - r, 0)`` with ``r = q / (p - q)``: a sort instead of
    thousands of iterations, so acceleration and a stopping rule are not needed. o are the shares of the supports,
    clipped at 0. Exact for randomised response (Pinzon et al., AAAI 2026); for protocols whose reports support several
    values the same formula maximises a pseudo-likelihood, and goes by the name `ibu_pseudo`.

    Raises ValueError if the noise has no p and q.
    """
    if noise.p is None or noise.q is None:
        raise ValueError("ibu needs a protocol with support probabilities p and q")
    gain = noise.p - noise.q
    observed = shares(np.maximum(estimate * gain + noise.q, 0.0))
    r = noise.q / gain
    falling = -np.sort(-observed, axis=-1)
    members = np.arange(1, estimate.shape[-1] + 1)
    # On the m largest the shares must sum to level * (1 + m r); as in the projection, those that hold are a prefix.
    levels = np.cumsum(falling, axis=-1) / (1 + members * r)
    last = np.maximum((falling > levels * r).sum(axis=-1, keepdims=True), 1) - 1
    level = np.take_along_axis(levels, last, axis=-1)
    return np.maximum(observed / level - r, 0.0)
