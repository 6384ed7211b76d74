"""Where a falling error crosses a target: bracketing, then regula falsi, on simulated means with common random numbers.

The error is a mean over repetitions. Repetition r uses the same random streams at all places. So neighbouring places do
not differ by chance, and the mean of a fixed set of repetitions is a curve that can be bisected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray
from simulator.ranking import t_quantile

FIRST, MOST = 32, 2000  # repetitions to look around with, and at most
STEPS = 60  # of bracketing, and of narrowing: far more than are ever needed
USUAL_SLOPE = -0.5  # of the log error of an estimate over log n
SLOPE_PART = 2  # half of the repetitions are enough for the slope, which only the interval needs
FLATTEST = -0.05  # slope: a flatter curve leaves x open, but not without bound
STEP = 0.25  # logarithmic distance of the two places that give the slope
PART = 0.1  # of the precision: how near to the target the measured mean has to come
NARROW = 1e-4  # logarithmic width of a bracket inside which the error jumps over the target
SMALL = 1e-6  # of the target: a mean below it counts as this, since 0 has no logarithm

Measure = Callable[[float, int, int], FloatArray]


@dataclass(frozen=True)
class Crossing:
    """Where the error is down to the target."""

    x: float  # the place; the end of the range where the target is not crossed inside
    # low, high: its 95 % interval: that of the mean error, carried over by the slope of the curve there
    low: float
    high: float
    # error, error_low, error_high: mean error measured at `x` and its 95 % interval
    error: float
    error_low: float
    error_high: float
    repetitions: int  # behind that mean
    reached: bool  # whether the error gets down to the target anywhere; if not, `error` is the floor at the upper end
    # Whether the crossing lies inside the range; if not though reached, the target is met at the lower end already
    inside: bool


class _Curve:
    """Measured places, each with the repetitions it has so far."""

    def __init__(self, measure: Measure, target: float, *, whole: bool) -> None:
        self._measure, self.target, self._whole = measure, target, whole
        self.places: dict[float, FloatArray] = {}

    def at(self, t: float, repetitions: int) -> tuple[float, float]:
        """Return the place that log x = t stands for, and by how much log error is above log target there."""
        x = _place(t, self._whole)
        values = self.places.get(x, np.empty(0))
        if len(values) < repetitions:
            values = np.concatenate([values, self._measure(x, len(values), repetitions - len(values))])
            self.places[x] = values
        return math.log(x), self.above(values[:repetitions])

    def above(self, errors: FloatArray) -> float:
        return math.log(max(float(errors.mean()), SMALL * self.target) / self.target)

    def slope(self, t: float, ends: tuple[float, float], repetitions: int) -> float:
        """Return the slope of the log error at t: from a step to either side, with the same repetitions."""
        left, right = self.at(max(t - STEP, ends[0]), repetitions), self.at(min(t + STEP, ends[1]), repetitions)
        return (right[1] - left[1]) / (right[0] - left[0]) if right[0] > left[0] else USUAL_SLOPE


def crossing(
    measure: Measure,
    target: float,
    *,
    start: float,
    low: float,
    high: float,
    whole: bool = False,
    precision: float = 0.0075,
    most: int = MOST,
) -> Crossing:
    """Find where a mean error that falls with x comes down to a target.

    measure: ``measure(x, first, repetitions)``: errors of repetitions ``first .. first + repetitions - 1`` at x, each
        from separate streams that do not depend on x.
    target: error above 0.
    start: first guess of x.
    low, high: range of x, both above 0.
    whole: whether x is a whole number.
    precision: relative standard error of the mean at the answer; repetitions are added until it is reached, or `most`.
    most: repetitions at most.
    """
    curve = _Curve(measure, target, whole=whole)
    ends = math.log(low), math.log(high)
    t = min(max(math.log(start), ends[0]), ends[1])
    rough = _narrow(curve, t, ends, FIRST, precision)
    near = curve.places[_place(rough, whole)]
    spread = float(near.std(ddof=1)) / float(near.mean()) if near.any() else 0.0
    repetitions = min(max(FIRST, math.ceil((spread / precision) ** 2)), most)
    final = _narrow(curve, rough, ends, repetitions, precision) if repetitions > FIRST else rough
    x = _place(final, whole)
    errors = curve.places[x][:repetitions]
    mean, reach = float(errors.mean()), t_quantile(len(errors)) * float(errors.std(ddof=1)) / math.sqrt(len(errors))
    at_end = math.isclose(final, ends[1]) or math.isclose(final, ends[0])
    met = curve.above(errors) <= PART * precision
    inside = not at_end or abs(curve.above(errors)) <= PART * precision
    slope = min(curve.slope(final, ends, max(FIRST, len(errors) // SLOPE_PART)), FLATTEST) if inside else -math.inf
    wide = reach / max(mean, SMALL * target) / -slope
    return Crossing(
        x=x,
        low=max(low, x * math.exp(-wide)),
        high=min(high, x * math.exp(wide)),
        error=mean,
        error_low=max(0.0, mean - reach),
        error_high=mean + reach,
        repetitions=len(errors),
        reached=met or inside,
        inside=inside,
    )


def _place(t: float, whole: bool) -> float:
    return float(round(math.exp(t))) if whole else math.exp(t)


def _narrow(curve: _Curve, t: float, ends: tuple[float, float], repetitions: int, precision: float) -> float:
    """Return log x where the mean of the repetitions crosses the target, or the end of the range it never crosses in.

    Where the curve jumps over the target (protocols have whole-number parameters), the place just after the jump.
    """
    enough = PART * precision
    t, above = curve.at(t, repetitions)
    inner, outer = (t, above), (t, above)  # inner: where we are; outer: on the other side of the target
    step = abs(above) / -USUAL_SLOPE + 0.01
    for _ in range(STEPS):
        if abs(inner[1]) <= enough:
            return inner[0]
        forward = 1 if inner[1] > 0 else -1
        end = ends[1] if forward > 0 else ends[0]
        if inner[0] * forward >= end * forward - 1e-12:
            return inner[0]
        outer = curve.at(min(inner[0] + step, end) if forward > 0 else max(inner[0] - step, end), repetitions)
        if outer[0] == inner[0]:  # the same whole number: move by 1
            step = step * 2 + 1.0 / math.exp(inner[0])
            continue
        if (outer[1] > 0) != (inner[1] > 0):
            break
        inner, step = outer, step * 2
    else:
        return inner[0]
    high_side, low_side = sorted([inner, outer])  # by place: the error is above the target at the first
    weights = [high_side[1], low_side[1]]
    for turn in range(STEPS):
        if abs(low_side[1]) <= enough:
            return low_side[0]
        if abs(high_side[1]) <= enough:
            return high_side[0]
        if low_side[0] - high_side[0] <= NARROW:
            break
        share = weights[0] / (weights[0] - weights[1])
        share = 0.5 if turn % 4 == 3 else min(max(share, 0.02), 0.98)
        middle, above = curve.at(high_side[0] + share * (low_side[0] - high_side[0]), repetitions)
        if middle in (high_side[0], low_side[0]):  # neighbouring whole numbers
            break
        # Illinois: halve the stored value at the end that stays, so that both ends move.
        if above > 0:
            high_side, weights = (middle, above), [above, weights[1] / 2]
        else:
            low_side, weights = (middle, above), [weights[0] / 2, above]
    return low_side[0]
