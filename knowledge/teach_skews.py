"""Teach a network what the surface says of assumed skews; it is all there is to learn, and needs no simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from knowledge.assumed import HISTOGRAMS, AssumedSkew
from knowledge.by_skew import INPUTS, LEAST, STEEPEST, SkewSurface, describe_skew
from knowledge.cells import ASKED_ABOUT, COMMON, COMMON_SHARE, log_uniform
from knowledge.collect import unordered
from knowledge.dataset import TAUGHT_EVEN, competes, spreads, weights_of
from knowledge.grid import SLACK, Grid
from knowledge.menu import DOMAIN, EPSILON, MEASURED, METHODS, SIMULATED_DOMAIN, USERS
from knowledge.network import Network, fit
from knowledge.stack import SINGLE
from knowledge.yardstick import log_yardstick
from simulator import PROTOCOLS, Noise, rng_for
from simulator._types import FloatArray, IntArray, SingleArray

NOISES = 24  # of a question; its histograms take longer to prepare than to describe
LARGE_SHARE = 0.1  # of domains that are larger than what is simulated
TAUGHT_STEEPEST = 3.6  # so that those asked for have others beyond them
USUAL_SHARE, SMALL_SHARE = 0.15, 0.2  # of skew 1, and of small skews
SMALL = (1e-3, 0.3)
OTHERS_SHARE = 0.25  # of noises that no protocol of the table makes
LEFT_OUT = 20  # one question in so many is not learned but measured on
TOGETHER = 20  # questions that a worker answers at a time
EPOCHS, RATE = 0.4, 3e-3  # passes of the network, in those of the networks of the grid, and first rate of the fit


class Question(NamedTuple):
    """A skew, and noises under which it is asked about."""

    of: AssumedSkew
    noises: tuple[Noise, ...]


def question(index: int, *, seed: int) -> Question:
    """Draw question number `index`."""
    rng = rng_for(seed, "skew", index)
    large = rng.random() < LARGE_SHARE
    ends = (SIMULATED_DOMAIN, DOMAIN[1] + 1.0) if large else (2.0, SIMULATED_DOMAIN + 1.0)
    k = min(DOMAIN[1], int(log_uniform(ends, rng)))
    place, skew = rng.random(), rng.uniform(0.0, TAUGHT_STEEPEST)
    if place < USUAL_SHARE + SMALL_SHARE:
        skew = 1.0 if place < USUAL_SHARE else log_uniform(SMALL, rng)
    n = round(log_uniform(COMMON[1] if rng.random() < COMMON_SHARE else USERS, rng))
    return Question(AssumedSkew(k, skew), tuple(_noise(k, n, rng) for _ in range(NOISES)))


def _noise(k: int, n: int, rng: np.random.Generator) -> Noise:
    """Draw the noise of a protocol, or one that is not quite that of any, as other packages' may be."""
    epsilon = log_uniform(COMMON[0] if rng.random() < COMMON_SHARE else EPSILON, rng)
    noise = PROTOCOLS[str(rng.choice(ASKED_ABOUT))](k, epsilon).noise(n)
    if rng.random() >= OTHERS_SHARE:
        return noise
    shift = log_uniform((1e-4, 10.0), rng)
    return replace(
        noise,
        p=0.75,
        q=0.75 * shift / (1 + shift),
        variance_at_zero=noise.variance_at_zero * math.exp(rng.uniform(-1, 1)),
        variance_slope=noise.variance_slope * rng.uniform(0, 2),
        cancels=rng.random(),
    )


class Answers(NamedTuple):
    """What the surface says of some questions, a row for each noise.

    Attributes
    ----------
    number
        Number of the question ``(rows,)``.
    inputs
        ``(rows, len(INPUTS))``.
    log_ratios
        Log errors in units of the yardstick ``(rows, shapes, methods, metrics)``.
    log_yardstick
        ``(rows, methods, metrics)``.
    outside
        Whether a look-up that describes would not call the row interpolated, for a feature of one of the shapes that
        is out of the range that was simulated ``(rows,)``; False in domains where no row is.
    """

    number: IntArray
    inputs: FloatArray
    log_ratios: SingleArray
    log_yardstick: SingleArray
    outside: NDArray[np.bool_]

    def of(self, name: str) -> FloatArray:
        """Return one of the inputs ``(rows,)``."""
        return self.inputs[:, INPUTS.index(name)]


def answers(numbers: range, seed: int, grid: Grid) -> Answers:
    """Return what the surface says of questions by number; what a worker runs."""
    parts = []
    for number in numbers:
        of, noises = question(number, seed=seed)
        description = describe_skew(of, noises)
        scale = log_yardstick(description)[0]
        said, outside = grid.log_errors(of.profiles(noises[0].n), noises)
        ratios = said.swapaxes(0, 1) - scale[:, None]
        parts.append(
            (
                np.full(len(noises), number),
                description.features[0],
                ratios.astype(SINGLE),
                scale.astype(SINGLE),
                np.logical_and((outside > SLACK).any(axis=1), of.k <= SIMULATED_DOMAIN),
            )
        )
    return Answers(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def teach(
    grid: Grid,
    *,
    seed: int,
    questions: int,
    width: int,
    epochs: int,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> tuple[SkewSurface, dict[str, float]]:
    """Fit the surface for skews to what the grid's own says; return it, and how near it comes on questions left out.

    Parameters
    ----------
    grid
        What teaches; its surface for skews is not asked.
    seed, jobs, backend, scheduler
        As in `knowledge.collect.collect`.
    questions
        How many are drawn, each with 24 noises; one in 20 is left out.
    width, epochs
        Units and passes of the networks of the grid.
    """
    work = [(range(at, min(at + TOGETHER, questions)), seed, grid) for at in range(0, questions, TOGETHER)]
    parts = sorted(unordered(answers, work, jobs=jobs, backend=backend, scheduler=scheduler), key=_first)
    seen = Answers(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return fit_skews(seen, seed=seed, width=width, epochs=epochs)


def fit_skews(seen: Answers, *, seed: int, width: int, epochs: int) -> tuple[SkewSurface, dict[str, float]]:
    """Fit the surface for skews to answers; see `teach`."""
    left_out = seen.number % LEFT_OUT == 0
    learned = Answers(*(column[~left_out] for column in seen))
    rows = len(learned.inputs)
    weights = np.stack(
        [
            weights_of(learned.log_ratios[:, place] + learned.log_yardstick, TAUGHT_EVEN).astype(SINGLE)
            for place in range(HISTOGRAMS)
        ],
        axis=1,
    )
    network = fit(
        learned.inputs,
        learned.log_ratios.reshape(rows, -1),
        weights.reshape(rows, -1),
        [rng_for(seed, "network", "skews")],
        width=width + width // 2,
        epochs=round(EPOCHS * epochs),
        batch=256,
        rate=RATE,
    )
    low, high = learned.inputs.min(axis=0), learned.inputs.max(axis=0)
    slack = SLACK * (high - low)
    skew = seen.of("skew")
    asked = Answers(*(column[left_out & (skew >= LEAST) & (skew <= STEEPEST)] for column in seen))
    spread, own, off_by = missed_by(network, asked)
    return SkewSurface(network, low - slack, high + slack, spread, own), off_by


def missed_by(network: Network, asked: Answers) -> tuple[FloatArray, FloatArray, dict[str, float]]:
    """Return by how much a network misses the mean answer of the four shapes.

    Returns
    -------
    Standard deviations ``(methods, metrics)`` as of a `SkewSurface`; and, near the best method, ``median`` and ``95 %``
    of the log errors' misses, ``regret`` of choosing methods by the network, and the share of rows ``outside``.
    """
    said = asked.log_ratios.mean(axis=1) + asked.log_yardstick
    learned = network(asked.inputs).reshape(asked.log_ratios.shape).mean(axis=1) + asked.log_yardstick
    missed, near = learned - said, weights_of(said, 0.0)
    spread, own = spreads(missed, near, np.zeros_like(missed))
    order = np.argsort(np.abs(missed), axis=None)
    sizes, counted = np.abs(missed).ravel()[order], np.cumsum(near.ravel()[order])
    median, most = (float(sizes[np.searchsorted(counted, share * counted[-1])]) for share in (0.5, 0.95))
    regrets = []
    for column, metric in enumerate(MEASURED):
        places = [place for place, name in enumerate(METHODS) if competes(name, metric)]
        true, by = said[:, places, column], learned[:, places, column]
        regrets.append(np.take_along_axis(true, by.argmin(axis=1)[:, None], axis=1)[:, 0] - true.min(axis=1))
    off_by = {"median": median, "95 %": most, "regret": np.mean(regrets), "outside": asked.outside.mean()}
    return spread, own, {name: round(float(value), 4) for name, value in off_by.items()}


def _first(part: Answers) -> int:
    return int(part.number[0])
