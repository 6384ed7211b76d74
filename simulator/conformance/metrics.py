"""Checks of error metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from simulator._types import FloatArray
from simulator.conformance.forms import ROUNDING, answer_of, as_member, require, require_texts
from simulator.seeding import rng_for

MOST_CELLS = 1_000_000  # of the estimates that are tried together


def check_metric(metric: Any, k: int = 24, *, own: bool = False) -> None:
    """Check that an error metric keeps its promises.

    Shapes, and finite errors of at least 0: nearly 0 for a perfect estimate, larger for worse estimates on average. A
    batch gives exactly its rows, arguments stay unchanged, and the options of `Metric.with_options` work. Unless the
    metric is `ordered_only`, it does not depend on the order of the categories. For query metrics the clipped error as
    well.

    metric: a `Metric` or a function, as `simulator.register` takes them.
    k: categories of the estimates that it is called with.
    own: whether it is a caller's, which may depend on the order of the categories, and round otherwise in a batch.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    metric = answer_of("the metric", as_member, metric, "metric")
    require_texts(metric, "Metric", "name", "title", "unit")
    shared: dict[str, float] = {"mix": 1e-3, "top_values": 2, "set_share": 0.2, "seed": 1}
    with_shared = answer_of(f"{metric.name}: with_options", lambda: metric.with_options(**shared, unheard_of=0))
    require("unheard_of" not in with_shared.options, f"{metric.name}: with_options must drop what is not known")
    for label, variant in ((metric.name, metric), (f"{metric.name} with options", with_shared)):
        _check_errors(label, variant, k, symmetric=not (metric.ordered_only or own), exact=not own)
        if metric.clipped is not None:
            clipped = f"{label}, clipped"
            _check_errors(clipped, variant.clipped_error, k, symmetric=False, exact=not own)
    if metric.clipped is not None:
        unchanged = replace(metric, options={})
        truth = _truth(k)
        sure = np.abs(truth + rng_for(0, "conformance", "sure").normal(scale=0.01, size=(20, len(truth))))
        require(
            np.allclose(unchanged.clipped_error(sure, truth), unchanged(sure, truth), rtol=1e-9, atol=0),
            f"{metric.name}: where no query answer is negative, the clipped error must be the plain one",
        )


def _truth(k: int) -> FloatArray:
    weights = 1.0 / np.arange(1, k + 1)
    weights[k - k // 8 :] = 0
    return weights[rng_for(0, "conformance", "truth").permutation(k)] / weights.sum()


def _check_errors(
    who: str, error: Callable[[FloatArray, FloatArray], Any], k: int, *, symmetric: bool, exact: bool
) -> None:
    truth = _truth(k)
    rng = rng_for(0, "conformance", "errors")
    noise = rng.normal(size=(min(200, max(2, MOST_CELLS // k)), k))
    frozen = truth.copy()
    frozen.flags.writeable = False
    for shape in ((), (5,), (2, 3), (0,)):
        estimate = frozen + 0.05 * rng.normal(size=(*shape, len(truth)))
        estimate.flags.writeable = False
        errors = answer_of(f"{who}, estimates of shape {estimate.shape}", error, estimate, frozen)
        require(
            np.shape(errors) == shape,
            f"{who}: estimates of shape {estimate.shape} must give errors of shape {shape}, got {np.shape(errors)}",
        )
        require(bool(np.isfinite(errors).all()), f"{who}: an error is finite and at least 0, got {np.ravel(errors)}")
        rows = estimate.reshape(-1, len(truth))
        alone = [answer_of(who, error, row, frozen) for row in rows]
        require(
            np.allclose(np.ravel(errors), np.ravel(alone), rtol=0 if exact else ROUNDING, atol=0),
            f"{who}: a batch must give exactly the errors that its rows give one by one, every time",
        )
        turned = answer_of(who, error, estimate[..., ::-1], frozen[::-1])
        require(
            not symmetric or np.allclose(turned, errors, rtol=1e-9, atol=1e-300),
            f"{who}: does not claim ordered_only, but the error depends on the order of the categories",
        )
    extremes = {
        "all negative": -frozen - 1,
        "all zero": np.zeros(len(truth)),
        "one-hot": np.eye(len(truth))[0],
        "values around a million": 1e6 * noise[0],
        "a perfect estimate": frozen.copy(),
    }
    for what, estimate in extremes.items():
        value = answer_of(f"{who}, {what}", error, estimate, frozen)
        require(
            bool(np.isfinite(value)) and value >= 0, f"{who}, {what}: an error is finite and at least 0, got {value}"
        )
    perfect = float(error(truth, frozen))
    previous = perfect
    for scale in (0.005, 0.02, 0.08):
        mean = float(np.mean(answer_of(who, error, truth + scale * noise, frozen)))
        require(
            mean > previous or (mean == perfect and scale < 0.08),  # a metric of ranks does not see little noise
            f"{who}: worse estimates must have larger errors, but noise of sd {scale:g} gives {mean:g} and less noise "
            f"{previous:g}",
        )
        previous = mean
    require(
        perfect <= 0.01 * previous,
        f"{who}: a perfect estimate must have an error of nearly 0, got {perfect:g} (a bad one has {previous:g})",
    )
