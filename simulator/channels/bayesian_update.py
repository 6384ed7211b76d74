"""Iterative Bayesian update (IBU) for any channel: the frequencies under which the reports are likeliest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.channels._base import Channel
from simulator.postprocess.bayesian_update import ibu as closed_form
from simulator.protocols import Noise

TOLERANCE = 1e-4  # nats a report
MOST_UPDATES = 300
MEMORY = 10  # updates that an extrapolation looks back on
RIDGE = 1e-10  # relative: keeps the small least-squares problem solvable when updates repeat themselves
FARTHEST = 20.0  # largest change of a logarithm in one extrapolation


@dataclass(frozen=True)
class Update:
    """What IBU ended with.

    Attributes
    ----------
    frequencies
        ``(k,)`` frequencies, at least 0 with sum 1.
    log_likelihood
        Mean log-likelihood of a report under them, in nats; times n it is that of all reports.
    gap
        How far, at most, the highest possible log-likelihood of a report lies above it, in nats.
    updates
        Bayesian updates that were computed, those of refused extrapolations included; 0 for a closed form.
    converged
        Whether the gap is within the tolerance.
    """

    frequencies: FloatArray
    log_likelihood: float
    gap: float
    updates: int
    converged: bool


def ibu(
    channel: Channel,
    observed: IntArray,
    *,
    accelerate: bool = True,
    tolerance: float = TOLERANCE,
    most_updates: int = MOST_UPDATES,
    closed: bool = True,
) -> Update:
    """Maximise the likelihood of the outputs over the simplex, from equal frequencies.

    One update is ``f_x <- sum_y o_y f_x C_xy / sum_z f_z C_zy`` (Agrawal, Aggarwal, PODS 2001; ElSalamouny,
    Palamidessi, EuroS&P 2020). The factor of f_x in it is the slope of the log-likelihood, which is concave, so the
    largest factor less 1 bounds what is missing to the maximum. That is the stopping rule: within `tolerance`, or after
    `most_updates`.

    The accelerated iteration is Anderson's (Walker, Ni, "Anderson acceleration for fixed-point iterations", SIAM J.
    Numer. Anal. 2011) on the logarithms, each weighted by its frequency, with a monotone safeguard: what would lower
    the likelihood is refused, forgotten, and replaced by the plain update.

    Parameters
    ----------
    channel, observed
        The protocol, and the counts of its outputs ``(outputs,)``.
    accelerate
        Whether to extrapolate; the plain iteration needs about seven times the updates.
    tolerance
        Nats a report.
    most_updates
        At least 1.
    closed
        Whether randomised response is solved in closed form (Pinzón et al., AAAI 2026) instead of iterated.

    Raises
    ------
    ValueError
        If nothing was observed, or `most_updates` is below 1.
    """
    n = int(observed.sum())
    if n < 1 or most_updates < 1:
        raise ValueError(f"ibu needs at least 1 report and 1 update, got {n} and {most_updates}")
    occurs = observed > 0
    shares = observed[occurs] / n
    # Two copies, so that both products of an update run along the memory.
    forward = np.ascontiguousarray(channel.matrix[:, occurs])
    backward = np.ascontiguousarray(forward.T)

    def update(frequencies: FloatArray) -> tuple[FloatArray, float, float]:
        """Return the next frequencies, the log-likelihood of these, and how far at most it is from the highest."""
        likely = backward @ frequencies
        factors = forward @ (shares / likely)
        return frequencies * factors, float(shares @ np.log(likely)), max(float(factors.max()) - 1, 0.0)

    flat = _flat_probabilities(channel) if closed else None
    if flat is not None:
        frequencies = closed_form(_flat_estimate(observed / n, *flat), _flat_noise(n, *flat))
        _, reached, gap = update(frequencies)
        return Update(frequencies, reached, gap, 0, True)
    current = np.full(channel.k, 1 / channel.k)
    following, reached, gap = update(current)
    done = 1
    images: list[FloatArray] = []
    steps: list[FloatArray] = []
    while gap > tolerance and done < most_updates:
        guess = _extrapolated(current, following, images, steps) if accelerate else None
        if guess is not None:
            after, likelihood, left = update(guess)
            done += 1
            if likelihood >= reached:
                current, following, reached, gap = guess, after, likelihood, left
                continue
            images.clear()
            steps.clear()
            if done == most_updates:
                break
        current = following
        following, reached, gap = update(current)
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
    result: FloatArray = guess / guess.sum()
    return result


def _flat_probabilities(channel: Channel) -> tuple[float, float] | None:
    """Return (p, q) if the channel is randomised response: p on the diagonal and a lower q everywhere else."""
    matrix, k = channel.matrix, channel.k
    if channel.outputs != k:
        return None
    p, q = float(matrix[0, 0]), float(matrix[0, 1])
    off = matrix[~np.eye(k, dtype=bool)]
    same = np.ptp(np.diag(matrix)) <= 1e-12 * p and np.ptp(off) <= 1e-12 * q  # rows are divided by their sums
    return (p, q) if same and p > q > 0 else None


def _flat_estimate(shares: FloatArray, p: float, q: float) -> FloatArray:
    result: FloatArray = (shares - q) / (p - q)
    return result


def _flat_noise(n: int, p: float, q: float) -> Noise:
    scale = n * (p - q) ** 2
    at_zero = q * (1 - q) / scale
    return Noise(n, p, q, at_zero, p * (1 - p) / scale - at_zero, sums_to_one=True)
