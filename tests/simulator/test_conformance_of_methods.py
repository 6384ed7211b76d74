"""The checks shipped for authors: a method or a metric that breaks any of its promises is caught."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from simulator.conformance import ConformanceError, check_metric, check_postprocessor
from simulator.methods import PostProcessor
from simulator.metrics import Metric, emd, mse
from tests.cells import failures


def method_of(function, *, nonnegative=False, sums_to_one=False, **claims):
    return PostProcessor(
        "broken",
        "Broken",
        function,
        nonnegative=nonnegative,
        sums_to_one=sums_to_one,
        **{"reference": "none", **claims},
    )


def writes(estimate, noise):
    estimate[...] = noise.sd
    return estimate.copy()


def fails(estimate, noise):
    raise ZeroDivisionError(f"{estimate}\n{noise}")


def neighbours(estimate, noise):
    return (estimate + np.roll(estimate, 1, axis=-1)) / 2 + 0 * noise.sd


def of_tallies(function):
    needs = frozenset({"local_likelihood", "order"})
    return method_of(function, nonnegative=True, sums_to_one=True, keeps_order=False, needs=needs)


def counts_alone(observed):
    """Of the square wave: its outputs in the middle, as if each were the value behind it."""
    k = observed.likelihood.shape[0]
    margin = (observed.tally.counts.shape[-1] - k) // 2
    inside = observed.tally.counts[..., margin : margin + k] + 1.0
    return inside / inside.sum(axis=-1, keepdims=True)


def averaged_rows(observed):
    each = counts_alone(observed)
    return (each + each.reshape(-1, each.shape[-1]).mean(axis=0)) / 2


def test_a_broken_method_of_tallies_is_caught():
    def check(cell):
        function, sentence = cell
        with pytest.raises(ConformanceError, match=sentence):
            check_postprocessor(of_tallies(function))
        check_postprocessor(of_tallies(counts_alone))

    cells = [
        (lambda o: o.tally.counts / o.tally.n, "tallies of sw .* the shape .* must be kept"),
        (lambda o: counts_alone(o).astype(np.float32), "tallies of sw .* must be float64"),
        (lambda o: counts_alone(o) / 2, "tallies of sw .* claims sums_to_one"),
        (averaged_rows, "tallies of sw .* exactly what its rows give"),
        (lambda o: o.estimate * 1.0, "tallies of sw .* must not fail, but raised TypeError"),
    ]
    assert failures(cells, check) == {}


def breaks_ties(estimate, noise):
    return estimate + noise.sd * np.arange(estimate.shape[-1])


def test_a_broken_method_is_caught():
    def check(cell):
        broken, sentence = cell
        with pytest.raises(ConformanceError, match=sentence) as caught:
            check_postprocessor(broken)
        assert "\n" not in str(caught.value)

    cells = [
        (lambda e, noise: e, "a method is a PostProcessor"),
        (method_of(lambda e, noise: e.copy(), reference=""), "reference must be a text"),
        (method_of(lambda e, noise: e.sum(axis=-1)), "shape .* must be kept"),
        (method_of(lambda e, noise: e.astype(np.float32)), "must be float64"),
        (method_of(lambda e, noise: e), "share memory"),
        (method_of(writes), "must not fail, but raised ValueError.*read-only"),
        (method_of(fails), "must not fail, but raised ZeroDivisionError"),
        (method_of(lambda e, noise: np.log(np.maximum(e, 0), out=np.full_like(e, -np.inf), where=e > 0)), "finite"),
        (method_of(lambda e, noise: e.copy(), nonnegative=True), "claims nonnegative"),
        (method_of(lambda e, noise: np.maximum(e, 0), sums_to_one=True), "claims sums_to_one"),
        (method_of(lambda e, noise: e / max(1.0, np.abs(e).max())), "exactly what its rows give"),
        (method_of(lambda e, noise: -e), "claims keeps_order"),
        (method_of(breaks_ties), "claims keeps_order"),
        (method_of(neighbours, keeps_order=False), "does not claim ordered_only"),
        (method_of(lambda e, noise: e / 2, queries_only=True), "claims queries_only"),
        (method_of(lambda e, noise: e.copy(), fits=lambda noise, k: False), "at least one built-in protocol"),
        (method_of(lambda e, noise: e.copy(), fits=lambda noise, k: noise.p > 0), "fits must not fail"),
        (method_of(lambda e, noise: e * noise.p), "noise of she .* must not fail, but raised TypeError"),
    ]
    assert failures(cells, check) == {}


def test_a_method_that_says_what_it_is_for_passes():
    check_postprocessor(method_of(neighbours, keeps_order=False, ordered_only=True))
    check_postprocessor(method_of(lambda e, noise: e * noise.p, fits=lambda noise, k: noise.p is not None))


# ------------------------------------------------------------------------------------------------------------ metrics


def metric_of(function, **claims):
    return Metric("broken", "Broken", function, **{"unit": "frequency", **claims})


@dataclass(eq=False)
class Counter:
    calls: int = 0

    def __call__(self, estimate, truth):
        self.calls += 1
        return mse(estimate, truth) + self.calls


def writes_truth(estimate, truth):
    truth[0] = 0.5
    return mse(estimate, truth)


def relative(estimate, truth):
    with np.errstate(all="ignore"):
        return mse(estimate, truth) / np.abs(estimate).sum(axis=-1)


def test_a_broken_metric_is_caught():
    def check(cell):
        broken, sentence = cell
        with pytest.raises(ConformanceError, match=sentence) as caught:
            check_metric(broken)
        assert "\n" not in str(caught.value)

    cells = [
        (mse, "a metric is a Metric"),
        (metric_of(mse, unit=""), "unit must be a text"),
        (metric_of(lambda e, t: np.abs(e - t)), "must give errors of shape"),
        (metric_of(lambda e, t: np.float64(((e - t) ** 2).sum())), "must give errors of shape"),
        (metric_of(lambda e, t: mse(e, t) / max(1e-9, np.max(mse(e, t), initial=0.0))), "exactly the errors"),
        (metric_of(Counter()), "exactly the errors"),
        (metric_of(lambda e, t: (e - t).mean(axis=-1)), "finite and at least 0"),
        (metric_of(relative), "all zero: an error is finite"),
        (metric_of(lambda e, t: mse(e, t) + 1.0), "nearly 0"),
        (metric_of(lambda e, t: 0.0 * mse(e, t)), "worse estimates must have larger errors"),
        (metric_of(lambda e, t: 1 / (1 + mse(e, t))), "worse estimates must have larger errors"),
        (metric_of(emd), "does not claim ordered_only"),
        (metric_of(writes_truth), "must not fail, but raised ValueError.*read-only"),
        (metric_of(lambda e, t, weight: weight * mse(e, t)), "must not fail, but raised TypeError.*weight"),
        (metric_of(mse, clipped=lambda e, t: 2 * mse(e, t)), "where no query answer is negative"),
        (metric_of(mse, clipped=lambda e, t: -mse(e, t)), "clipped, .*finite and at least 0"),
    ]
    assert failures(cells, check) == {}


def test_a_metric_with_a_setting_of_its_own_passes():
    check_metric(metric_of(lambda e, t, exponent=2: (np.abs(e - t) ** exponent).sum(axis=-1), options={"exponent": 3}))
