"""True frequency shapes by name, and integer populations with those frequencies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.draws import multinomial
from simulator.seeding import rng_for

Stream: TypeAlias = "Callable[[], np.random.Generator]"


@dataclass(frozen=True)
class ShapeFamily:
    """A family of frequency shapes: ``weights(k, parameter, stream)`` and what its parameter means.

    `stream` makes the random generator: most shapes need none, and a look-up then does without numpy.random.
    """

    weights: Callable[[int, float, Stream], FloatArray]
    _: KW_ONLY
    parameter: float
    meaning: str
    ordered: bool = True


def _places(k: int) -> FloatArray:
    """Centres of k bins on (0, 1)."""
    return (np.arange(k) + 0.5) / k


def _bell(k: int, centre: float, width: float) -> FloatArray:
    return np.exp(-(((_places(k) - centre) / width) ** 2) / 2)


def _zipf(k: int, s: float, stream: Stream) -> FloatArray:
    return np.arange(1, k + 1, dtype=np.float64) ** -s


def _zipf_shuffled(k: int, s: float, stream: Stream) -> FloatArray:
    return stream().permutation(_zipf(k, s, stream))


def _uniform(k: int, parameter: float, stream: Stream) -> FloatArray:
    if parameter:
        raise ValueError
    return np.ones(k)


def _gaussian(k: int, width: float, stream: Stream) -> FloatArray:
    return _bell(k, 0.5, width)


def _bimodal(k: int, width: float, stream: Stream) -> FloatArray:
    return _bell(k, 0.3, width) + 0.5 * _bell(k, 0.75, width)


def _geometric(k: int, ratio: float, stream: Stream) -> FloatArray:
    return ratio ** _places(k)


def _lognormal(k: int, sigma: float, stream: Stream) -> FloatArray:
    x = _places(k) * 4
    return np.exp(-((np.log(x) / sigma) ** 2) / 2) / x


def _dirichlet(k: int, concentration: float, stream: Stream) -> FloatArray:
    rng, tiny = stream(), np.finfo(float).tiny
    weights = rng.standard_gamma(concentration, size=k)
    if weights.max() < tiny / np.finfo(float).eps:
        # All are too small for a float. Near 0 their logarithms are those of uniform draws over the concentration.
        logs = np.log(rng.random(k)) / concentration
        weights = np.exp(logs - logs.max())
    return weights + tiny


def _sparse(k: int, share: float, stream: Stream) -> FloatArray:
    if not 0 < share <= 1:
        raise ValueError
    rng, weights = stream(), np.zeros(k)
    filled = rng.choice(k, max(1, round(share * k)), replace=False)
    weights[filled] = rng.standard_exponential(len(filled))
    return weights


def _spike(k: int, share: float, stream: Stream) -> FloatArray:
    weights = np.full(k, (1 - share) / (k - 1))
    weights[0] = share
    return weights


def _steps(k: int, levels: float, stream: Stream) -> FloatArray:
    if levels < 1:
        raise ValueError
    return 2.0 ** -np.floor(_places(k) * levels)


SHAPES: dict[str, ShapeFamily] = {
    "uniform": ShapeFamily(_uniform, parameter=0.0, meaning="no parameter"),
    "zipf": ShapeFamily(_zipf, parameter=1.0, meaning="exponent, sorted"),
    "zipf_shuffled": ShapeFamily(_zipf_shuffled, parameter=1.0, meaning="exponent, in random order", ordered=False),
    "gaussian": ShapeFamily(_gaussian, parameter=0.15, meaning="width as a share of the domain"),
    "bimodal": ShapeFamily(_bimodal, parameter=0.08, meaning="width of each mode as a share of the domain"),
    "geometric": ShapeFamily(_geometric, parameter=0.01, meaning="ratio of the last category to the first"),
    "lognormal": ShapeFamily(_lognormal, parameter=0.7, meaning="standard deviation of the logarithm"),
    "dirichlet": ShapeFamily(_dirichlet, parameter=0.5, meaning="concentration of each category", ordered=False),
    "sparse": ShapeFamily(_sparse, parameter=0.1, meaning="share of categories that occur", ordered=False),
    "spike": ShapeFamily(_spike, parameter=0.5, meaning="frequency of the first category; the rest is flat"),
    "steps": ShapeFamily(_steps, parameter=4.0, meaning="number of plateaus, each half as high as the one before"),
}


def frequencies(name: str, k: int, parameter: float | None = None, *, seed: int = 0) -> FloatArray:
    """Return the true frequencies ``(k,)`` of a named shape; they sum to 1.

    name: a member of `SHAPES`.
    k: domain size, at least 2.
    parameter: the parameter of the shape; None for its default.
    seed: seed of the shapes that are drawn at random.

    Raises ValueError if the name is unknown, `k` is below 2, or the parameter leaves no valid frequencies.

    >>> frequencies("zipf", 3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    if name not in SHAPES:
        raise ValueError(f"shape must be one of {', '.join(SHAPES)}, got {name!r}")
    if k < 2:
        raise ValueError(f"k must be at least 2, got k={k}")
    shape = SHAPES[name]
    value = shape.parameter if parameter is None else parameter
    refusal = ValueError(f"shape {name} has no valid frequencies at {value:g} ({shape.meaning})")
    if value < 0:
        raise refusal
    with np.errstate(all="ignore"):  # an absurd parameter is reported below, in words
        try:
            weights = shape.weights(k, value, partial(rng_for, seed, "shape", name, k, repr(value)))
        except ValueError:  # a share of more than all categories, or of none
            raise refusal from None
        total = weights.sum()
    if not (np.isfinite(total) and total > 0 and weights.min() >= 0):
        raise refusal
    return weights / total


def normal(k: int, mean: float, spread: float) -> FloatArray:
    """Return the frequencies ``(k,)`` of the values 0 to k - 1 among rounded numbers of a normal distribution.

    mean, spread: of the numbers; those that are rounded to other values are drawn again.

    Raises ValueError if that would practically never end.

    >>> normal(5, 2.0, 1.0).round(3).tolist()
    [0.061, 0.245, 0.388, 0.245, 0.061]
    """
    from scipy.special import ndtr  # heavy

    distance = np.abs(np.arange(k) - mean)  # both edges in one tail, where no probability is lost beside 1
    with np.errstate(over="ignore"):  # a tiny spread puts all users on one value
        weights = ndtr((0.5 - distance) / spread) - ndtr((-0.5 - distance) / spread)
    total = weights.sum()
    if not total > 0:
        raise ValueError(f"normal numbers of mean {mean:g} and spread {spread:g} are never between 0 and {k - 1}")
    return np.asarray(weights / total)


def apportion(weights: FloatArray | IntArray, n: int) -> IntArray:
    """Return whole counts ``(k,)`` that sum to `n` and are nearest to ``n * weights / sum(weights)``.

    Largest remainders; ties go to the earlier category. Weights that sum to `n` already come back unchanged.

    Raises ValueError if a weight is negative or none is positive.

    >>> apportion(np.array([1, 1, 1]), 100).tolist()
    [34, 33, 33]
    """
    if np.issubdtype(weights.dtype, np.integer) and int(weights.sum()) == n:
        return weights.astype(np.int64)
    total = weights.sum()
    if not (np.isfinite(total) and total > 0 and weights.min() >= 0):
        raise ValueError(f"weights must be at least 0 with a positive sum, got a sum of {total:g}")
    exact = weights / total * n
    counts = np.floor(exact).astype(np.int64)
    missing = n - int(counts.sum())
    if missing:
        remainders = exact - counts
        above = remainders[remainders > 0]  # of a large domain most can be 0, and many that are equal are slow to part
        among = above if 0 < missing <= len(above) else remainders
        least = np.partition(among, -missing)[-missing]
        larger = remainders > least
        counts += larger
        counts[np.flatnonzero(remainders == least)[: missing - np.count_nonzero(larger)]] += 1
    return counts


def drawn(weights: FloatArray, n: int, *, seed: int = 0) -> IntArray:
    """Return the users ``(k,)`` with each value among `n` users who are drawn with these frequencies.

    >>> drawn(frequencies("zipf", 3), 100).tolist()
    [62, 25, 13]
    """
    return multinomial(n, weights, rng_for(seed, "population", "users"))


def one_per_user(counts: IntArray, *, seed: int = 0) -> IntArray:
    """Return the value of each user ``(n,)``, in random order, from the users with each value.

    >>> one_per_user(np.array([2, 0, 1])).tolist()
    [2, 0, 0]
    """
    return rng_for(seed, "population", "order").permutation(np.repeat(np.arange(len(counts)), counts))
