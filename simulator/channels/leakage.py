"""Leakage of a channel about places: the log-ratio of its rows, by distance."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from simulator._types import FloatArray
from simulator.channels.channel import FixedChannel
from simulator.places import Places, checked_metric

MOST_MEASURED = 1500  # cells up to which the leakage by distance takes seconds, not minutes


def epsilon_within(channel: FixedChannel, places: Places, radius: float) -> float:
    """Return the largest log-ratio of the rows of two places at most `radius` apart (infinite if only one has a 0).

    Raises ValueError if the channel is not for these places.
    """
    logs = _logs(channel, places)
    if radius >= places.diameter:
        return channel.epsilon
    near = places.offsets(radius * (1 + 1e-12))  # multiples of a decimal radius, despite rounding
    return max((_largest(logs, down, across) for down, across, _ in near), default=0.0)


def epsilon_per_unit(channel: FixedChannel, places: Places | FloatArray) -> float:
    """Return the smallest e for which the channel is d-private: any log-ratio is at most e times the distance.

    Chatzikokolakis, Andrés, Bordenabe, Palamidessi, "Broadening the scope of differential privacy using metrics", PETS
    2013. Where the way between two cells leads straight over others, the ratio is the product of those of its parts, so
    only ways without cells between are evaluated; for the Manhattan distance these are single steps.

    places: a grid, or the distances ``(k, k)`` of any metric.

    Raises ValueError if the channel is not for these places, or the distances are not those of a metric.
    """
    if not isinstance(places, Places):
        distances = checked_metric(places, channel.k)
        return max(channel.privacy_loss((x, y)) / distances[x, y] for x, y in combinations(range(channel.k), 2))
    logs = _logs(channel, places)
    leak = 0.0
    for down, across, distance in places.offsets():
        if channel.epsilon / distance <= leak:  # farther ones cannot exceed it any more
            break
        step = math.gcd(down, abs(across)) == 1 and (places.ground == "euclidean" or down + abs(across) == 1)
        if step:
            leak = max(leak, _largest(logs, down, across) / distance)
    return leak


def finite_precision(epsilon: float, reach: float, precision: float, step: float = 1.0) -> float:
    """Return what planar Laplace noise spends per unit of distance if its polar coordinates have finite precision.

    That of places at least a step apart, in what is reported on a grid of this step and within this reach. So far away
    a cell has `points` different angles from side to side, of which two may be missing or too many, and within a cell
    densities differ by e^(epsilon step). Andrés, Bordenabe, Chatzikokolakis, Palamidessi, CCS 2013.

    epsilon: of the noise as it is drawn.
    precision: relative precision of the angle and the distance, such as 2^-53.

    >>> finite_precision(1.0, 100.0, 2.0**-53) - 1 < 1e-12 < finite_precision(1.0, 100.0, 2.0**-24) - 1
    True
    """
    points, spread = step / (reach * precision), 2 * math.exp(epsilon * step)
    return epsilon + math.log1p(2 * spread / (points - spread)) / step if points > spread else math.inf


def _logs(channel: FixedChannel, places: Places) -> FloatArray:
    """Return the logarithms as ``(rows, columns, outputs)``, without outputs that never occur."""
    if channel.k != places.k:
        raise ValueError(f"the channel has {channel.k} inputs, the places are {places.k}")
    with np.errstate(divide="ignore"):
        logs = np.log(channel.matrix[:, channel.matrix.max(axis=0) > 0])
    return logs.reshape(places.rows, places.columns, -1)


def _largest(logs: FloatArray, down: int, across: int) -> float:
    """Return the largest log-ratio of two cells at a given offset; row by row, to stay in the cache."""
    rows, columns, outputs = logs.shape
    left, right = max(0, -across), max(0, across)
    gap = np.empty((columns - left - right, outputs))
    leak = 0.0
    for row in range(rows - down):
        with np.errstate(invalid="ignore"):
            np.subtract(logs[row, left : columns - right], logs[row + down, right : columns - left], out=gap)
        if math.isnan(gap.max()):  # impossible under both values: inf - inf, no leakage
            gap[np.isnan(gap)] = 0.0
        leak = max(leak, float(gap.max()), -float(gap.min()))
    return leak
