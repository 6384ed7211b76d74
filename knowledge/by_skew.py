"""What the surface says of an assumed skew, learned: so that the four shapes it stands for need no describing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from knowledge.assumed import HISTOGRAMS, AssumedSkew
from knowledge.menu import DOMAIN, MEASURED, METHODS, USERS
from knowledge.network import Network
from knowledge.noise_columns import LEAST_VARIANCE, MEAN_ABSOLUTE, columns_of
from knowledge.profile import rank_sum
from knowledge.yardstick import Description, log_yardstick, referred
from simulator import Noise
from simulator._types import FloatArray
from simulator.metrics import TOP_SHARE

LEAST, STEEPEST = 0.05, 2.0  # skews that are asked for here: outside, what is learned is twice as far off
SINGLY = np.arange(2, 33)  # domains so small that every size is an input of its own: one category more is much there
INPUTS = (
    "log_k",
    "log_users",
    "skew",
    "log_skew",
    "log_noise",
    "log_slope",
    "log_slope_top",
    "sums_to_one",
    "log_shift",
    "log_concentration",
    "log_excess",
    "log_top",
    "log_raw_squares",
    "log_raw_top",
    "log_held",
    "log_above",
    *(f"k_is_{k}" for k in SINGLY),
)
FLAT = 0.05  # skew up to which all categories are held and stand out alike
WALK, BRIDGE = 2 / 3, math.pi / 8  # means of the square roots of x and of x (1 - x) over 0..1


class SkewSurface(NamedTuple):
    """The surface for assumed skews.

    Nothing is described, so it is not known under which noises a feature of one of the four shapes lies outside of what
    was simulated. Those rows are called interpolated too; the provenance has their share.

    Attributes
    ----------
    network
        `INPUTS` to log errors, of each of the four shapes, in units of their yardstick.
    low, high
        Range of each input that was learned, and a little more, ``(len(INPUTS),)``.
    spread, own_spread
        Standard deviation of what it says from what it was taught, on questions left out, ``(methods, metrics)``, and
        of the part of it that a method does not share with the others.
    """

    network: Network
    low: FloatArray
    high: FloatArray
    spread: FloatArray
    own_spread: FloatArray

    def log_errors(self, of: AssumedSkew, noises: Sequence[Noise]) -> FloatArray | None:
        """Return log errors ``(4, P, methods, metrics)``; None if the skew or one of the noises was not learned."""
        users = all(USERS[0] <= noise.n <= USERS[1] for noise in noises)
        if not (LEAST <= of.skew <= STEEPEST and of.k <= DOMAIN[1] and users):
            return None
        description = describe_skew(of, noises)
        (inputs,) = description.features
        if not ((inputs >= self.low) & (inputs <= self.high)).all():
            return None
        logs = self.network(inputs).reshape(len(noises), HISTOGRAMS, len(METHODS), len(MEASURED))
        logs += log_yardstick(description)[0][:, None]
        return logs.swapaxes(0, 1)


def describe_skew(of: AssumedSkew, noises: Sequence[Noise]) -> Description:
    """Return the inputs ``(1, P, len(INPUTS))``, and reference errors as if categories had equal frequencies."""
    k, columns = of.k, columns_of(noises)
    at_zero, slope, users, fixed, shift = (column[:, 0].astype(np.float64) for column in columns)
    squares, top_square, top = _zipf(of)
    variance = np.maximum(at_zero + slope / k, LEAST_VARIANCE * at_zero)  # at the mean frequency
    sd, total = np.sqrt(variance), k * variance
    inputs = np.empty((len(noises), len(INPUTS)))
    for place, column in enumerate(
        (
            math.log(k),
            np.log(users / k),
            of.skew,
            math.log(of.skew + 0.01),
            np.log(k * np.sqrt(at_zero)),
            np.log1p(columns.growth(1 / k)),
            np.log1p(columns.growth(top)),
            fixed,
            np.log(k * shift + 1e-8),
            math.log(k * squares),
            math.log(max(k * squares - 1, 0.0) + 1e-5),
            math.log(k * top),
            np.log(total / squares),
            np.log(variance / top_square),
            _log_rank(of, 2 * users * top),
            _log_rank(of, top / np.sqrt(at_zero)),
        )
    ):
        inputs[:, place] = column
    inputs[:, -len(SINGLY) :] = k == SINGLY
    return referred(
        inputs[None],
        k,
        total=total[None],
        raw_l1=MEAN_ABSOLUTE * k * sd[None],
        raw_kl=total[None] / (sd + 1 / k) / 2,
        raw_top=variance[None],
        raw_emd=MEAN_ABSOLUTE * math.sqrt(k) * sd[None] * (WALK - (WALK - BRIDGE) * fixed),
        fixed=fixed,
        squares=np.full((1, 1), squares),
        top_square=np.full((1, 1), top_square),
    )


def _log_rank(of: AssumedSkew, times: FloatArray) -> FloatArray:
    """Return the logarithm of the rank ``x`` at which ``x^-skew`` is 1 / `times`, from 0 to that of the last.

    Of as many times as the largest frequency exceeds half a user, or the noise at 0: how many categories users hold, or
    stand out.
    """
    return np.clip(np.log(times) / max(of.skew, FLAT), 0.0, math.log(of.k))


@lru_cache(maxsize=128)
def _zipf(of: AssumedSkew) -> tuple[float, float, float]:
    """Return sum of squared frequencies, mean square of the top ones, and the largest, of a Zipf distribution."""
    size = max(1, round(TOP_SHARE * of.k))
    top = 1 / rank_sum(of.k, of.skew)
    squares, top_squares = (rank_sum(of_size, 2 * of.skew) * top**2 for of_size in (of.k, size))
    return squares, top_squares / size, top
