"""The populations of the cells: named shapes with random parameters, and mixtures of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray
from simulator.draws import multinomial
from simulator.populations import SHAPES

SMOOTH = ("gaussian", "bimodal", "lognormal", "geometric", "steps", "uniform")
ROUGH = ("zipf", "zipf_shuffled", "dirichlet", "sparse", "spike")
COMPOSED = ("fractal", "mixture", "rough", "window", "counted", "raster")
LEVELS = "levels"
# CURVES, COLUMN, OUTLYING: of ordered domains only
CURVES, COLUMN, OUTLYING = ("curve", "spliced"), "column", "outlying"
FAMILIES = (*SHAPES, *COMPOSED, LEVELS)
ORDERED_FAMILIES = (*FAMILIES, *CURVES, COLUMN, OUTLYING)
WAVES = 256  # at most, of a curve
PARAMETERS: Mapping[str, tuple[float, float, bool]] = {  # lowest, highest, whether on a log scale
    "uniform": (0.0, 0.0, False),
    "zipf": (0.05, 2.5, False),
    "zipf_shuffled": (0.05, 2.5, False),
    "gaussian": (0.03, 0.6, True),
    "bimodal": (0.02, 0.25, True),
    "geometric": (1e-5, 0.7, True),
    "lognormal": (0.25, 1.5, True),
    "dirichlet": (0.02, 20.0, True),
    "sparse": (0.01, 0.9, True),
    "spike": (0.02, 0.95, False),
    "steps": (2.0, 12.0, False),
}


@dataclass(frozen=True)
class Population:
    """True frequencies ``(k,)`` and where they come from."""

    family: str
    parameter: float
    frequencies: FloatArray


def draw(family: str, k: int, rng: np.random.Generator) -> Population:
    """Draw a population of a family in `ORDERED_FAMILIES`, with a random parameter.

    Raises ValueError if the family is unknown.
    """
    if family not in ORDERED_FAMILIES:
        raise ValueError(f"family must be one of {', '.join(ORDERED_FAMILIES)}, got {family!r}")
    if family in SHAPES:
        parameter = _parameter(family, rng)
        weights = SHAPES[family].weights(k, parameter, lambda: rng)
    else:
        parameter = float(rng.random())
        weights = _COMPOSED[family](k, parameter, rng)
    weights = np.maximum(weights, 0.0)
    return Population(family, parameter, weights / weights.sum())


def _parameter(family: str, rng: np.random.Generator) -> float:
    low, high, logarithmic = PARAMETERS[family]
    place = rng.random()
    if not logarithmic:
        return float(low + (high - low) * place)
    return float(low * (high / low) ** place)


def _fractal(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return the exponential of noise whose spectrum falls as a power of the frequency: from erratic to smooth."""
    spectrum = rng.standard_normal(k // 2 + 1) + 1j * rng.standard_normal(k // 2 + 1)
    spectrum[1:] *= np.arange(1, len(spectrum)) ** (-1.5 * parameter)
    spectrum[0] = 0.0
    walk = np.fft.irfft(spectrum, k)
    return np.exp(rng.uniform(0.2, 3.5) * walk / max(float(walk.std()), 1e-12))


def _one_of(families: tuple[str, ...], k: int, rng: np.random.Generator) -> FloatArray:
    return draw(families[int(rng.integers(len(families)))], k, rng).frequencies


def _mixture(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return a smooth shape plus a rough shape."""
    return parameter * _one_of((*ROUGH, "fractal"), k, rng) + (1 - parameter) * _one_of((*SMOOTH, "fractal"), k, rng)


def _rough(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Multiply a smooth shape by log-normal disturbances."""
    return _one_of((*SMOOTH, "fractal", "zipf"), k, rng) * np.exp(2 * parameter * rng.standard_normal(k))


def _window(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Put any shape on a stretch of the domain, and leave the rest empty."""
    size = max(2, round(k * (0.05 + 0.9 * parameter)))
    start = int(rng.integers(0, max(1, k - size + 1)))
    weights = np.zeros(k)
    weights[start : start + size] = _one_of((*SHAPES, "fractal", "rough"), size, rng)[: k - start]
    return weights


def _counted(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return the histogram of a sample: any shape with the noise and the zeros of sampling."""
    frequencies = _one_of((*SHAPES, "fractal", "mixture"), k, rng)
    return multinomial(round(k * 10 ** (3 * parameter)), frequencies / frequencies.sum(), rng).astype(np.float64)


def _levels(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return two to six heights that many categories share, in stretches or anywhere: from alike to far apart."""
    number = min(k, int(rng.integers(2, 7)))
    sizes = 10 ** rng.uniform(-1.5, 0, number)
    which = rng.choice(number, k, p=sizes / sizes.sum())
    heights = 10 ** rng.uniform(-0.2 - 2.3 * parameter, 0, number)
    if rng.random() < 0.3:
        heights[1:][heights[1:].argmin()] = 0.0
    weights = heights[np.sort(which) if rng.random() < 0.5 else which]
    return weights if weights.any() else np.ones(k)


def _raster(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return a map with a few centres, partly empty, read row by row: neighbours in a column are a row apart."""
    width = max(1, round(k ** rng.uniform(0.3, 0.7)))
    places = np.arange(k)
    row, column = places // width / (1 + (k - 1) // width), places % width / width
    weights = np.full(k, 10 ** rng.uniform(-6, -1))
    for _ in range(int(rng.integers(1, 12))):
        reach = 0.4 * 10 ** -rng.uniform(0, 1.5)
        distance = np.hypot(row - rng.random(), column - rng.random()) / reach
        weights += rng.pareto(1.0) * np.exp(-distance)
    weights *= np.exp(2 * parameter * rng.standard_normal(k))
    empty = rng.random(k) < rng.uniform(-0.5, 0.7)
    empty[int(weights.argmax())] = False
    return np.where(empty, 0.0, weights)


def _curve(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return the exponential of a sum of waves that fall as a power of their number: from jagged to very smooth."""
    waves = np.arange(1, min(k - 1, WAVES) + 1)
    sizes = rng.standard_normal(len(waves)) * waves ** (-1 - 2 * parameter)
    walk = np.cos(np.pi / k * np.outer(np.arange(k) + 0.5, waves)) @ sizes
    return np.exp(rng.uniform(0.2, 3.5) * walk / max(float(walk.std()), 1e-12))


def _spliced(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return smooth shapes side by side, which end where the next begins."""
    inner = rng.choice(np.arange(1, k), min(k - 1, 1 + int(3 * parameter)), replace=False)
    edges = np.concatenate([[0], np.sort(inner), [k]])
    pieces = [
        rng.uniform(0.2, 1.0) * size * (_one_of((*SMOOTH, "curve"), size, rng) if size > 1 else np.ones(1))
        for size in np.diff(edges).tolist()
    ]
    return np.concatenate(pieces)


def _column(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return a smooth shape as columns of numbers have it: with few marks of how they came about, or with many."""
    return _marked(_one_of((*SMOOTH, *CURVES), k, rng), parameter, rng)


def _outlying(k: int, parameter: float, rng: np.random.Generator) -> FloatArray:
    """Return a column with a value far from all others: bins of equal width reach up to it, and most stay empty."""
    size = max(1, round(k * 10 ** rng.uniform(-1.5, -0.2)))
    start = int(rng.integers(k - size + 1))
    weights = np.zeros(k)
    weights[start : start + size] = _one_of((*SMOOTH, *CURVES), size, rng) if size > 1 else 1.0
    weights[0 if 2 * start + size > k else -1] += weights.sum() * 10 ** rng.uniform(-4, -0.4)
    return _marked(weights, parameter, rng)


def _marked(weights: FloatArray, parameter: float, rng: np.random.Generator) -> FloatArray:
    marked = weights.copy()
    for mark in MARKS.values():
        if rng.random() < 0.15 + 0.5 * parameter:
            mark(marked, rng)
    return marked if marked.any() else weights


def _coarse(weights: FloatArray, rng: np.random.Generator) -> None:
    """Keep values on a lattice, such as minutes or whole degrees: some bins have more lattice values than others."""
    edges = (np.arange(len(weights) + 1) + rng.random()) * 10 ** rng.uniform(-0.9, 0.4)
    weights *= np.diff(np.floor(edges))


def _heaps(weights: FloatArray, rng: np.random.Generator) -> None:
    """Raise the frequencies of evenly spaced values, as people round."""
    step = int(rng.integers(2, 31))
    weights[int(rng.integers(step)) :: step] *= 10 ** rng.uniform(0.1, 1.5)


def _bursts(weights: FloatArray, rng: np.random.Generator) -> None:
    """Raise a few values anywhere."""
    few = rng.random(len(weights)) < 10 ** rng.uniform(-2.5, -1)
    weights[few] *= 10 ** rng.uniform(0.3, 1.5, np.count_nonzero(few))


def _gaps(weights: FloatArray, rng: np.random.Generator) -> None:
    """Empty a few stretches."""
    for _ in range(int(rng.integers(1, 4))):
        start, size = int(rng.integers(len(weights))), max(1, round(len(weights) * rng.uniform(0.02, 0.25)))
        weights[start : start + size] = 0.0


def _pile(weights: FloatArray, rng: np.random.Generator) -> None:
    """Give an end of the domain the mass of all values beyond it."""
    weights[rng.choice([0, -1])] += weights.sum() * 10 ** rng.uniform(-2, -0.4)


# ``mark(weights, rng)`` changes the weights ``(k,)``.
MARKS: Mapping[str, Callable[[FloatArray, np.random.Generator], None]] = {
    "coarse": _coarse,
    "heaps": _heaps,
    "bursts": _bursts,
    "gaps": _gaps,
    "pile": _pile,
}
_COMPOSED: Mapping[str, Callable[[int, float, np.random.Generator], FloatArray]] = {
    "fractal": _fractal,
    "mixture": _mixture,
    "rough": _rough,
    "window": _window,
    "counted": _counted,
    "raster": _raster,
    LEVELS: _levels,
    "curve": _curve,
    "spliced": _spliced,
    COLUMN: _column,
    OUTLYING: _outlying,
}
