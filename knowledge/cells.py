"""The simulated cells behind the model: their measurements, and the nearest cells to a question.

A cell is a noise setting with several populations. Errors are stored as a code of a byte: to half a percent where a
method is near the best, and to a fifth of its distance where it is out of the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.describe.features import NAMES, describe
from knowledge.describe.profile import Profile
from knowledge.menu import ALIASES, METHODS
from knowledge.model import DATA, load
from simulator import Noise
from simulator._types import FloatArray, IntArray

FILE, SAMPLE = "cells.npz", "ordered_cells.npz"
STEP, GROWTH = 0.01, 3.0  # of the code: its first step in log error, and how many steps it takes to grow e-fold
BEST_STEP = 0.01  # log error
LEVELS = 255  # of a feature between the ends of its range
FEATURES = (
    "log_k",
    "log_noise",
    "log_slope_top",
    "sums_to_one",
    "log_noise_users",
    "entropy_gap",
    "log_concentration",
    "zeros",
    "log_top",
    "mass_above_2",
    "log_ideal_l1",
    "log_bayes_l1",
    "neighbours",
    "log_displacement",
    "log_ideal_haar",
    "log_smooth_l1",
)
PLACES = [NAMES.index(name) for name in FEATURES]


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class CellArchive:
    """Simulated cells."""

    index: IntArray  # number of each cell, ``(C,)``: with the seed it draws the cell
    # k, n, epsilon, protocol: domain size, users, budget and protocol ``(C,)``
    k: IntArray
    n: IntArray
    epsilon: FloatArray
    protocol: NDArray[np.str_]
    # family, parameter: shape of each population ``(C, P)``
    family: NDArray[np.str_]
    parameter: FloatArray
    features: FloatArray  # `FEATURES` of each population ``(C, P, F)``
    log_errors: FloatArray  # logarithms of the mean errors ``(C, P, methods, metrics)``


@dataclass(frozen=True, eq=False)  # holds an array
class Neighbour:
    """A simulated population near a question."""

    index: int  # number of its cell
    # family, parameter: its shape
    family: str
    parameter: float
    # k, n, epsilon, protocol: its noise setting
    k: int
    n: int
    epsilon: float
    protocol: str
    noise_to_uniform: float  # k times the noise sd at frequency 0
    # Root mean square difference of the features, each in standard deviations over the simulated populations
    distance: float
    metrics: tuple[str, ...]  # measurements of its cell
    errors: FloatArray  # mean errors ``(methods, metrics)``, in the unit of each metric

    @property
    def shape(self) -> str:
        """Family and parameter."""
        return f"{self.family}:{self.parameter:.3g}"

    def best(self, metric: str, methods: Iterable[str], count: int = 3) -> tuple[tuple[str, float], ...]:
        """Return the methods with the lowest errors in a metric, and these errors; methods not simulated are omitted.

        Raises ValueError if the metric was not simulated.
        """
        if metric not in (*self.metrics, "mae"):
            raise ValueError(f"metric must be one of {', '.join(self.metrics)} or mae, got {metric!r}")
        own, unit = ("l1", self.k) if metric == "mae" else (metric, 1)
        errors = self.errors[:, self.metrics.index(own)] / unit
        names = dict.fromkeys(ALIASES.get(name, name) for name in methods)
        places = sorted((METHODS.index(name) for name in names if name in METHODS), key=lambda place: errors[place])
        return tuple((METHODS[place], float(errors[place])) for place in places[:count])


def nearest(profiles: Sequence[Profile], noise: Noise, count: int = 5) -> tuple[Neighbour, ...]:
    """Return the simulated populations that are nearest to a histogram under a noise; nearest first.

    profiles: the histogram, or several with the same k: then the distance of a population is that to the nearest of
        them.
    noise: of the protocol asked about.
    count: how many.
    """
    archive, predictor = (load_cells(), load())  # from the same build: the model has the features' sd
    scale = predictor.network.scale.astype(np.float64)[PLACES]
    features = describe(profiles, [noise]).features[:, 0, PLACES]
    differences = (archive.features - features[:, None, None]) / scale
    distances = np.sqrt((differences**2).mean(axis=-1)).min(axis=0)
    order = np.argsort(distances, axis=None, kind="stable")[:count]
    return tuple(
        Neighbour(
            index=int(archive.index[cell]),
            family=str(archive.family[cell, population]),
            parameter=float(archive.parameter[cell, population]),
            k=int(archive.k[cell]),
            n=int(archive.n[cell]),
            epsilon=float(archive.epsilon[cell]),
            protocol=str(archive.protocol[cell]),
            noise_to_uniform=float(np.exp(archive.features[cell, population, FEATURES.index("log_noise")])),
            distance=float(distances[cell, population]),
            metrics=predictor.provenance.metrics,
            errors=np.exp(archive.log_errors[cell, population]),
        )
        for cell, population in zip(*np.unravel_index(order, distances.shape), strict=True)
    )


@cache
def load_cells(folder: Path = DATA) -> CellArchive:
    """Load the cells of a folder, the shipped ones by default; each folder is read once.

    Raises FileNotFoundError if the folder holds no cells.
    """
    with np.load(folder / FILE, allow_pickle=False) as stored:
        low, high = stored["feature_low"], stored["feature_high"]
        return CellArchive(
            index=stored["index"].astype(np.int64),
            k=stored["k"].astype(np.int64),
            n=stored["n"].astype(np.int64),
            epsilon=stored["epsilon"].astype(np.float64),
            protocol=stored["protocol"],
            family=stored["family"],
            parameter=stored["parameter"].astype(np.float64),
            features=low + (high - low) * (np.moveaxis(stored["features"], 0, -1) / LEVELS),
            log_errors=_decoded(stored["best"], stored["regret"]),
        )


def save(cells: CellArchive, folder: Path) -> None:
    """Write cells where `load_cells` finds them."""
    low, high = cells.features.min(axis=(0, 1)), cells.features.max(axis=(0, 1))
    best, regret = _encoded(cells.log_errors)
    levels = np.rint((cells.features - low) / np.maximum(high - low, 1e-12) * LEVELS)
    np.savez_compressed(
        folder / FILE,
        allow_pickle=False,
        index=cells.index.astype(np.uint32),
        k=cells.k.astype(np.uint32),
        n=cells.n.astype(np.uint32),
        epsilon=cells.epsilon.astype(np.float32),
        protocol=cells.protocol,
        family=cells.family,
        parameter=cells.parameter.astype(np.float32),
        feature_low=low,
        feature_high=high,
        features=np.moveaxis(levels.astype(np.uint8), -1, 0),
        best=best,
        regret=regret,
    )


# Axes stand in the order that compresses best: numbers that are alike side by side, and their high bytes apart.


def _encoded(log_errors: FloatArray) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the bytes of the lowest log error of each metric in steps, and codes of how far methods are above it."""
    best = np.rint(log_errors.min(axis=-2) / BEST_STEP).astype("<i2")
    regret = np.maximum(log_errors - BEST_STEP * best[..., None, :], 0.0)
    codes = np.rint(GROWTH * np.log1p(regret / (GROWTH * STEP)))
    low_high = best[..., None].view(np.uint8)
    return np.moveaxis(low_high, (-1, -2), (0, 1)), np.swapaxes(np.minimum(codes, 255).astype(np.uint8), 1, 2)


def _decoded(low_high: NDArray[np.uint8], codes: NDArray[np.uint8]) -> FloatArray:
    best = np.ascontiguousarray(np.moveaxis(low_high, (0, 1), (-1, -2))).view("<i2")[..., 0]
    regret: FloatArray = GROWTH * STEP * np.expm1(np.swapaxes(codes, 1, 2).astype(np.float64) / GROWTH)
    return regret + BEST_STEP * best[..., None, :]


def load_ordered_sample(folder: Path = DATA) -> tuple[IntArray, FloatArray]:
    """Return the measurements of a few small cells of ordered domains, for comparison with a new simulation.

    Numbers of the cells ``(C,)``, and log errors ``(C, P, pairs, metrics)``: first of the pairs of
    `knowledge.menu.LEAVES`, then of `CURVES`.

    Raises FileNotFoundError if the folder holds no sample.
    """
    with np.load(folder / SAMPLE, allow_pickle=False) as stored:
        return stored["index"].astype(np.int64), stored["log_errors"].astype(np.float64)


def save_ordered_sample(index: IntArray, log_errors: FloatArray, folder: Path) -> None:
    """Write a sample where `load_ordered_sample` finds it."""
    halves = log_errors.astype(np.float16)
    np.savez_compressed(folder / SAMPLE, allow_pickle=False, index=index.astype(np.uint32), log_errors=halves)
