"""Checks of post-processing methods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray
from simulator.conformance.forms import ROUNDING, ConformanceError, answer_of, as_member, require, require_texts
from simulator.domain import Attackers, Domain
from simulator.methods import PostProcessor, observe, possible
from simulator.populations import apportion
from simulator.protocols import PROTOCOLS, FrequencyOracle, Noise, StandardProtocol
from simulator.protocols.protocol import Tally
from simulator.seeding import rng_for

WITHOUT_FIGURES = ("a protocol that has none", Noise(1000, None, None, math.nan, math.nan, sums_to_one=False))
TALLIES = ((2, 0.1, 50), (9, 1.0, 10_000), (33, 4.0, 1_000_000))  # k, epsilon and users
ATTACKERS = Attackers(0.1, (0,))  # inputs of remedies for poisoning
FEARED, FEARED_LINE = Domain(attackers=ATTACKERS), Domain(ordered=True, attackers=ATTACKERS)
ONE_BY_ONE = "a batch must give what its rows give one by one"
CLOSELY = 2  # noises of each domain size under which the rows of a batch are also tried separately


def check_postprocessor(method: Any) -> None:
    """Check that a post-processing method keeps its promises, on ordinary and extreme estimates and tallies.

    Shape and type, that the input is not changed, that a batch is its rows (a product of matrices rounds in another way
    there), finite results, and what the method claims: `nonnegative`, `sums_to_one`, `keeps_order`, `queries_only`,
    and, unless it is `ordered_only`, that the result does not depend on the order of the categories. Unsuitable inputs
    are skipped: noises of estimates, and protocols whose estimates have other noise, or that have none.

    method: a `PostProcessor` or a function, as `simulator.register` takes them.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    method = answer_of("the method", as_member, method, "method")
    require_texts(method, "PostProcessor", "name", "title", "reference")
    fitted = False
    for labels, estimates in _estimates():
        k, closely = estimates.shape[-1], CLOSELY
        for origin, noise in (*_noises(k), *([] if method.needs & {"iid", "haar"} else [WITHOUT_FIGURES])):
            if not answer_of(f"{method.name}: fits", method.accepts, noise, k):
                continue
            fitted = True
            where = f"{method.name}, noise of {origin}"
            results = _check_results(method, labels, estimates, noise, where)
            if closely:
                _check_batches(method, labels, estimates, noise, where, results)
                closely -= 1
    for key, kind in _OTHERS.items():
        for k, epsilon, n in TALLIES:
            protocol = kind(k, epsilon)
            if answer_of(f"{method.name}: fits", possible, method, protocol, FEARED_LINE, n):
                fitted = True
                _check_tallies(method, protocol, n, f"{method.name}, tallies of {key} (k={k}, epsilon={epsilon:g})")
    require(fitted, f"{method.name}: fits must accept the noise of at least one built-in protocol")


# Listed on import: members of other packages may not have conformed yet.
_BUILT_IN = {key: kind for key, kind in PROTOCOLS.items() if issubclass(kind, FrequencyOracle)}
_OTHERS = {key: kind for key, kind in PROTOCOLS.items() if key not in _BUILT_IN}


@cache
def _noises(k: int) -> tuple[tuple[str, Noise], ...]:
    """Noises of the built-in protocols, from hardly any to far more than the signal."""
    settings = [(1.0, 10_000), (4.0, 1_000_000), (0.1, 50)]
    own = [(key, *setting) for key in _BUILT_IN for setting in settings[: 3 if key in ("grr", "oue") else 1]]
    return tuple((f"{key} (epsilon={e:g}, n={n:,})", _BUILT_IN[key](k, e).noise(n)) for key, e, n in own)


def _estimates() -> Iterator[tuple[list[str], FloatArray]]:
    """Batches of estimates of the same domain size each, and labels of their rows."""
    edges = {
        "all negative": [-0.3, -0.1, -2.0, -0.1],
        "all zero": [0.0, 0.0, 0.0, 0.0],
        "one-hot": [0.0, 1.0, 0.0, 0.0],
        "values around a million": [1e6, -1e6, 3e5, 2e5],
        "values around a millionth of a millionth": [1e-12, -1e-12, 2e-12, 0.0],
        "probabilities": [0.4, 0.3, 0.2, 0.1],
    }
    yield list(edges), np.array(list(edges.values()))
    yield ["two categories", "two categories, negative"], np.array([[0.7, 0.3], [-0.7, -0.3]])
    yield ["a million three times"], np.full((1, 3), 1e6)
    scales = (0.01, 0.05, 0.2, 1e6)
    truth = np.array([0.4, 0.2, 0.15, 0.1, 0.05, 0.05, 0.03, 0.02, 0.0])
    noisy = truth + rng_for(0, "conformance", "estimates").normal(scale=np.reshape(scales, (4, 1)), size=(4, 9))
    ties = [[0.2, 0.2, 0.2, 0.1, 0.1, -0.1, -0.1, 0.0, 0.0], [1 / 9] * 9]
    yield [*(f"noise of sd {scale:g}" for scale in scales), "ties", "all equal"], np.vstack([noisy, ties])


def _check_results(
    method: PostProcessor, labels: list[str], estimates: FloatArray, noise: Noise, where: str
) -> FloatArray:
    """Check a batch, and return its results."""
    frozen = estimates.copy()
    frozen.flags.writeable = False  # a method that writes into its input fails here
    results = answer_of(where, method, frozen, noise, FEARED)
    _check_kept(method, labels, estimates, results, where)
    require(not np.shares_memory(results, frozen), f"{where}: the result must not share memory with the input")
    if method.queries_only:
        unchanged = (results == estimates).all(axis=1)
        _require_rows(unchanged, "claims queries_only, but changes the estimate", labels, where)
    if method.keeps_order:
        order = np.argsort(estimates, axis=1, kind="stable")
        steps, raw = (np.diff(np.take_along_axis(x, order, axis=1)) for x in (results, estimates))
        scale = np.maximum(1.0, np.abs(estimates).max(axis=1, keepdims=True))
        sentence = (
            "claims keeps_order, but a larger estimate becomes smaller than a smaller one, or equal ones come apart"
        )
        _require_rows(((steps >= -1e-12 * scale) & ((raw > 0) | (steps == 0))).all(axis=1), sentence, labels, where)
    return results


def _require_rows(kept: NDArray[np.bool_] | np.bool_, sentence: str, labels: list[str], where: str) -> None:
    if not kept.all():
        raise ConformanceError(f"{where}, {labels[int(kept.argmin())]}: {sentence}")


def _check_kept(
    method: PostProcessor, labels: list[str], estimates: FloatArray, results: FloatArray, where: str
) -> None:
    """Check shape and type of results, and the claims of the method for each result."""
    for_all_rows = partial(_require_rows, labels=labels, where=where)
    require(isinstance(results, np.ndarray), f"{where}: the result must be a numpy array, got {type(results).__name__}")
    require(results.shape == estimates.shape, f"{where}: the shape {estimates.shape} must be kept, got {results.shape}")
    require(results.dtype == np.float64, f"{where}: the result must be float64, got {results.dtype}")
    for_all_rows(np.isfinite(results).all(axis=1), "the result must be finite")
    if method.nonnegative:
        for_all_rows((results >= 0).all(axis=1), f"claims nonnegative, but gives {results.min():g}")
    if method.sums_to_one:
        # Results of any size sum to 1 up to the rounding of their largest.
        limit = ROUNDING + 1e-15 * (10 + results.shape[1]) * np.abs(results).max(axis=1)
        off = np.abs(results.sum(axis=1) - 1)
        for_all_rows(off <= limit, f"claims sums_to_one, but is off by up to {off.max():g}")


def _check_batches(
    method: PostProcessor, labels: list[str], estimates: FloatArray, noise: Noise, where: str, results: FloatArray
) -> None:
    """Check that rows by themselves, in another arrangement, and with their categories reversed give the same."""
    rows = zip(labels, estimates, strict=True)
    alone = [answer_of(f"{where}, {label}", method, row.copy(), noise, FEARED) for label, row in rows]
    _require_rows(np.array(list(map(_is_same, alone, results))), ONE_BY_ONE, labels, where)
    if len(labels) % 2 == 0:
        shape = (2, len(labels) // 2, estimates.shape[1])
        arranged = answer_of(where, method, estimates.reshape(shape), noise, FEARED)
        require(
            _is_same(arranged, results.reshape(shape)),
            f"{where}: a batch of shape {shape} must give what its rows give one by one",
        )
    if not method.uses_order and "targets" not in method.needs:
        turned = answer_of(where, method, estimates[:, ::-1].copy(), noise, FEARED)[:, ::-1]
        scale = np.maximum(1.0, np.abs(estimates).max(axis=1, keepdims=True))
        require(
            bool((np.abs(turned - results) <= ROUNDING * scale).all()),
            f"{where}: does not claim ordered_only, but the result depends on the order of the categories",
        )


def _is_same(results: FloatArray, others: FloatArray) -> bool:
    return results.shape == others.shape and np.allclose(results, others, rtol=ROUNDING, atol=ROUNDING)


def _check_tallies(method: PostProcessor, protocol: StandardProtocol, n: int, where: str) -> None:
    """Check the results of tallies of a few populations, together and separately."""
    k = protocol.k
    labels = ["all users hold the first value", "frequencies fall", "equal frequencies"]
    rows = np.array([np.eye(1, k)[0], 1.0 / np.arange(1, k + 1), np.ones(k)])
    counts = np.stack([apportion(row, n) for row in rows])
    tally = protocol.sample_tally(counts, rng_for(0, "conformance", protocol.key, k))
    tally.counts.flags.writeable = False
    results = answer_of(where, method.apply, observe(protocol, tally, FEARED_LINE))
    _check_kept(method, labels, rows, results, where)
    alone = [
        answer_of(f"{where}, {label}", method.apply, observe(protocol, Tally(row, n), FEARED_LINE))
        for label, row in zip(labels, tally.counts, strict=True)
    ]
    _require_rows(np.array(list(map(_is_same, alone, results))), ONE_BY_ONE, labels, where)
