"""Features and reference errors of histograms under protocols for ordered domains: Haar differences against noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from knowledge.describe.arrays import MEAN_ABSOLUTE
from knowledge.describe.features import Description, bounded
from knowledge.describe.profile import DETAILS, Profile
from knowledge.menu import CURVES, ORDERED_METRICS
from simulator import METRICS
from simulator._types import FloatArray, IntArray
from simulator.protocols.dyadic import height_of, nodes_at
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import HalfTree, Tree
from simulator.protocols.unary import OUE

PROTOCOLS = ("tree", "tree_half", "sw", "haar_hrr")
FIGURES = (
    "raw_curve",
    "raw_values",
    "tails",
    *(f"{what}_{of}" for what in ("ideal", "smooth", "even") for of in ("curve", "values", "finest")),
)
NAMES = ("log_epsilon", "log_n", *(f"{figure}_{name}" for name in PROTOCOLS for figure in FIGURES))
LEAST = 1e-4  # of a raw risk: lower bound of ideal risks


@lru_cache(maxsize=256)
def variances(k: int, epsilon: float) -> FloatArray:
    """Return the variance of a report's share in a Haar difference, at equal frequencies: ``(protocols, heights)``.

    Of nodes that are full and not at an end. For the square wave, which has no estimate, that which the information in
    a report allows.
    """
    sizes = 2.0 ** np.arange(1, height_of(k) + 1) / k
    haar = HaarHadamard(k, epsilon)
    rows = [
        *(_of_tree(of(k, epsilon)) for of in (Tree, HalfTree)),
        1 / _information(SquareWave(k, epsilon)),
        len(sizes) / np.full(len(sizes), haar.gain**2),
    ]
    return np.maximum(np.array(rows) - sizes, 1e-6 * sizes)


def _of_tree(tree: Tree | HalfTree) -> FloatArray:
    """Return the variances of differences that all heights below speak of, each weighed by its precision."""
    heights = len(tree.inner)
    height, lower = np.arange(1, heights + 1)[:, None], np.arange(heights)
    mean, squares = 2.0**height / tree.k, 2.0 ** np.maximum(height - lower, 0)
    p, q = (np.array([getattr(oracle, name) for oracle in tree.inner]) for name in "pq")
    binary = np.array([isinstance(oracle, OUE) for oracle in tree.inner])
    gain = p - q
    unary = q * (1 - q) * squares + (p * (1 - p) - q * (1 - q)) * mean
    direct = q * squares + gain * (1 - gain) * mean
    precision = 1 / (mean + np.where(binary, unary, direct) / gain**2)
    result: FloatArray = 1 / (np.where(lower < height, precision, 0.0) @ tree.chances_of_heights)
    return result


def _information(wave: SquareWave) -> FloatArray:
    result = []
    # A difference in the middle of the domain shows at places near half of all values, or as many as a place can be.
    even = wave.q + (wave.p - wave.q) * min(wave.width, wave.k / 2) / wave.k
    for height in range(1, height_of(wave.k) + 1):
        half = 1 << (height - 1)
        step = np.repeat([1.0, -1.0], half) / (2 * half)
        running = np.concatenate([np.zeros(wave.width), np.cumsum(step), np.zeros(wave.width)])
        near = (running[wave.width :] - running[: -wave.width]) * (wave.p - wave.q)
        result.append(float(near @ near) / even)
    return np.array(result)


class TreeFigures(NamedTuple):
    """Figures of S histograms of the same domain size under the noise of these protocols."""

    k: int
    features: FloatArray  # ``(S, F)``, as `NAMES` calls them
    # raw_curve, raw_values: mean square of the noise of running sums, and sum of the variances of values, by protocol
    raw_curve: FloatArray
    raw_values: FloatArray


def tree_figures(profiles: Sequence[Profile], epsilon: float, n: int) -> TreeFigures:
    """Return the figures of histograms of the same domain size for a budget and number of users."""
    k = profiles[0].k
    heights = np.arange(1, height_of(k) + 1)
    scale = 2.0**heights
    noise = variances(k, epsilon) / n / scale  # of orthonormal coefficients
    nodes = np.array([nodes_at(k, height) for height in range(1, len(heights) + 1)])
    raw = nodes * noise
    curve = scale**2 / (12 * k)  # mean square of the running sums of a coefficient
    raw_curve, raw_values = raw @ curve, raw.sum(axis=-1)
    figures = [np.log(raw_curve), np.log(raw_values), np.log(_tails(profiles, raw_curve) + LEAST)]
    for risk in _risks(profiles, noise, np.minimum(nodes, DETAILS), nodes):
        for left, over in ((risk @ curve, raw_curve), (risk.sum(axis=-1), raw_values), (risk[..., 0], raw[:, 0])):
            figures.append(np.log(left / over + LEAST))
    own = np.broadcast_to([math.log(epsilon), math.log(n)], (len(profiles), 2))
    features = np.concatenate(
        [own, np.stack(np.broadcast_arrays(*figures), axis=-1).reshape(len(profiles), -1)], axis=1
    )
    return TreeFigures(k, features, raw_curve, raw_values)


def _tails(profiles: Sequence[Profile], raw_curve: FloatArray) -> FloatArray:
    """Return the remaining share ``(S, protocols)`` of noise if each running sum is kept, or set to 0 or 1.

    A small mass far from the rest leaves running sums near 0 or 1 over a long stretch, where a hump leaves none.
    """
    sums = np.stack([profile.cumulated for profile in profiles])[:, None]
    lengths = np.diff(profiles[0].ends, prepend=0.0) / profiles[0].k
    result: FloatArray = np.minimum(np.minimum(sums, 1 - sums) ** 2 / raw_curve[:, None], 1.0) @ lengths
    return result


def _risks(profiles: Sequence[Profile], noise: FloatArray, groups: IntArray, nodes: IntArray) -> Iterator[FloatArray]:
    """Yield the remaining error ``(S, protocols, heights)`` if each coefficient is kept or set to 0, as is best.

    The same for the coefficients after interpolation; and for these if all of a height are shrunk alike.
    """
    limit, starts = np.repeat(noise, groups, axis=1), np.cumsum(groups) - groups
    for squares in ([profile.details for profile in profiles], [profile.residuals for profile in profiles]):
        values, weights = (np.stack([of[at] for of in squares])[:, None] for at in (0, 1))
        yield np.add.reduceat(np.minimum(values, limit) * weights, starts, axis=-1)
    energy = np.add.reduceat(values * weights, starts, axis=-1) / nodes
    yield nodes * energy * noise / (energy + noise)


def log_curve_reference(description: Description, tree: TreeFigures) -> FloatArray:
    """Return log reference errors ``(S, pairs, metrics)`` of protocols for ordered domains; see `log_reference`.

    Their raw error is that under the description's noise times the ratio of the noises, of running sums or of values.
    """
    places = [PROTOCOLS.index(protocol) for protocol, _ in CURVES.pairs]
    values = tree.raw_values[places] / description.raw["l2"][:, :1] ** 2
    running = (MEAN_ABSOLUTE * tree.k) ** 2 * tree.raw_curve[places] / description.raw["emd"][:, :1] ** 2
    raw, cap = np.empty((2, len(description.features), *CURVES.free.shape))
    for column, metric in enumerate(CURVES.metrics):
        ratio = running if metric in ORDERED_METRICS else values
        raw[..., column] = description.raw[metric][:, :1] * ratio ** (METRICS[metric].degree / 2)
        cap[..., column] = description.cap[metric]
    return bounded(raw, cap, CURVES)
