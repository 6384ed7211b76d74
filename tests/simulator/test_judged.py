"""Errors of what methods make of one collection, over what may be the truth: against plain loops, and how true."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, judged
from simulator.domain import ORDERED
from simulator.methods import Observed, PostProcessor, observe
from simulator.metrics import Metric
from simulator.populations import apportion, frequencies
from simulator.surrogate import few
from simulator.surrogate.few import few_populations

from .law import stream

K, N, DRAWS = 9, 3000, 12
ORACLE = PROTOCOLS["oue"](K, 1.0)


def experiment(metrics: dict[str, Metric]) -> Experiment:
    draws = np.stack([apportion(row, N) for row in stream("judged").dirichlet(np.ones(K), DRAWS)])
    methods = {"none": POSTPROCESSORS["none"]}
    return Experiment(draws, {"oue": ORACLE}, methods, metrics, (("oue", "none"),), domain=ORDERED)


def collected() -> Observed:
    tally = ORACLE.sample_tally(apportion(frequencies("geometric", K), N), stream("collected"))
    return observe(ORACLE, tally, ORDERED)


def test_each_error_is_that_of_the_one_result_on_one_draw() -> None:
    metrics = {name: METRICS[name].with_options(top_values=3) for name in ("l1", "l2", "kl", "emd", "topk", "set")}
    asked, observed = experiment(metrics), collected()
    names = ("none", "norm_sub", "post_pos", "eb_ns", "wavelet_eb")
    runs = judged(asked, "oue", observed, {name: POSTPROCESSORS[name] for name in names})
    assert (runs.experiment_id, runs.metrics, runs.first) == (asked.id, tuple(metrics), 0)
    assert list(runs.errors) == [("oue", name) for name in names]
    for name in names:
        result = POSTPROCESSORS[name].apply(observed)
        expected = np.full((DRAWS, len(metrics)), np.nan)
        for row, counts in enumerate(asked.populations):
            for column, (metric_name, metric) in enumerate(metrics.items()):
                if name != "post_pos":
                    expected[row, column] = float(metric(result, counts / N))
                elif metric_name == "set":
                    expected[row, column] = float(metric.clipped_error(result, counts / N))
        np.testing.assert_allclose(runs.errors["oue", name], expected, rtol=1e-12, err_msg=name)


def test_each_method_is_applied_once() -> None:
    seen: list[Observed] = []

    def count(observed: Observed) -> np.ndarray:
        seen.append(observed)
        return np.full(K, 1 / K)

    method = PostProcessor("count", "Count", count, nonnegative=True, sums_to_one=True, reference="nobody")
    observed = collected()
    judged(experiment({"l1": METRICS["l1"], "kl": METRICS["kl"]}), "oue", observed, {"count": method})
    assert seen == [observed]


@pytest.mark.parametrize(
    ("k", "ordered", "cases"),
    [
        (3, False, 200),
        *(pytest.param(k, ordered, 600, marks=pytest.mark.slow) for k in (3, 6) for ordered in (False, True)),
    ],
)
def test_the_range_of_an_error_holds_it_in_95_of_100_collections_of_the_prior(
    k: int, ordered: bool, cases: int
) -> None:
    """Truths are drawn from the prior, users from the truths: the range over draws is then right by its definition."""
    oracle, n, each = PROTOCOLS["grr"](k, 0.5), 2000, 160
    waves = 5 if ordered else 0
    inside = dict.fromkeys(("none", "norm_sub"), 0)
    methods = {name: POSTPROCESSORS[name] for name in inside}
    for case in range(cases):
        rng = stream("coverage", k, ordered, case)
        truth = few._frequencies(rng.standard_normal((1, 2 + waves + k)), k)[0]
        tally = oracle.sample_tally(rng.multinomial(n, truth), rng)
        observed = observe(oracle, tally)
        drawn = few_populations(observed.estimate, oracle.noise(n), ordered=ordered, draws=each, rng=rng)
        counts = np.floor(drawn * 10**8).astype(np.int64)
        counts[:, 0] += 10**8 - counts.sum(axis=1)
        asked = Experiment(counts, {"grr": oracle}, methods, {"l1": METRICS["l1"]}, (("grr", "none"),))
        for (_, name), errors in judged(asked, "grr", observed, methods).of("l1").items():
            low, high = np.quantile(errors, (0.025, 0.975))
            inside[name] += low <= np.abs(methods[name].apply(observed) - truth).sum() <= high
    # What comes next is as likely between any two of the draws: quantiles that are 0.95 (m - 1) draws apart hold a
    # little less. The false alarm is 1e-6 at each end.
    share = 0.95 * (each - 1) / (each + 1)
    for times in inside.values():
        assert stats.binom.ppf(1e-6, cases, share) <= times <= stats.binom.isf(1e-6, cases, 0.95)
