"""Methods with parameters: by their names, against loops and quadrature, and refused where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods.processor import parameters_of, with_parameters
from tests.cells import failures, over

from .law import stream
from .test_method_contract import NOISES, check_contract

NOISE = PROTOCOLS["oue"](30, 1.0).noise(20_000)
ESTIMATES = stream("parameters").normal(stream("truth").dirichlet(np.full(30, 0.3)), NOISE.sd, size=(5, 30))
VARIANTS = ("base_cut:alpha=0.05", "base_cut:keep=7", "power:prior=gaussian", "power_ns:prior=gaussian")


@over([0.05, 0.5, 2.0, 20.0, 40.0])
def test_base_cut_cuts_below_the_threshold_of_any_alpha(alpha):
    """Wang et al., equation (9); above k/2 the threshold would fall below 0, where values are cut anyway."""
    threshold = max(norm.ppf(1 - alpha / 30), 0.0) * NOISE.sd if alpha < 30 else 0.0
    expected = [[value if value >= threshold and value > 0 else 0.0 for value in row] for row in ESTIMATES]
    name = "base_cut" if alpha == 2 else f"base_cut:alpha={alpha:g}"
    assert POSTPROCESSORS[name](ESTIMATES, NOISE).tolist() == expected


@over([1, 2, 7, 29, 30, 99])
def test_base_cut_keeps_the_largest(keep):
    for row, result in zip(ESTIMATES, POSTPROCESSORS[f"base_cut:keep={keep}"](ESTIMATES, NOISE), strict=True):
        largest = sorted(row)[::-1][:keep]
        assert result.tolist() == [max(value, 0.0) if value in largest else 0.0 for value in row]


def test_a_gaussian_prior_gives_the_posterior_mean_by_quadrature():
    """Wang et al., equation (13), on a grid: the trapezoidal rule is exact to 1e-8 for bells of a hundred steps."""
    x = np.linspace(0, 1, 100_001)
    for row in ESTIMATES:
        prior = norm.pdf(x, row.mean(), np.sqrt(row.var() - NOISE.sd**2))
        expected = []
        for value in row:
            weight = prior * norm.pdf(value, x, NOISE.sd)
            expected.append(np.trapezoid(weight * x) / np.trapezoid(weight))
        np.testing.assert_allclose(POSTPROCESSORS["power:prior=gaussian"](row, NOISE), expected, rtol=1e-6)


def test_a_gaussian_prior_without_variance_gives_its_mean():
    flat = np.array([0.24, 0.26, 0.25, 0.25])
    assert POSTPROCESSORS["power:prior=gaussian"](flat, NOISE) == pytest.approx(0.25)


@over(VARIANTS)
def test_variants_keep_the_contract_of_their_method(name):
    rng = stream("variants", name)
    for noise in NOISES:
        for scale in (0.0, 1.0, 30.0):
            check_contract(POSTPROCESSORS[name], 1 / 12 + scale * noise.sd * rng.normal(size=(4, 12)), noise)


def test_a_name_says_what_is_not_usual():
    base_cut = POSTPROCESSORS["base_cut"]
    assert parameters_of(base_cut) == {"alpha": 2.0, "keep": 0}
    assert with_parameters(base_cut, "keep=20:alpha=.050").name == "base_cut:alpha=0.05:keep=20"
    assert with_parameters(base_cut, "alpha=2") is base_cut
    assert POSTPROCESSORS["power_ns:prior=gaussian"].is_proper
    with pytest.raises(KeyError):
        POSTPROCESSORS["unheard_of:alpha=1"]


def test_parameters_that_are_not_there_are_refused():
    cells = [
        ("base_cut", "beta=1", "method base_cut has alpha=…, keep=…, got 'beta=1'"),
        ("base_cut", "alpha=1:alpha=2", "got 'alpha=2'"),
        ("norm", "alpha=1", "method norm has no parameters, got 'alpha=1'"),
        ("power", "prior=zipf", "prior of power must be one of power_law, gaussian, got 'zipf'"),
        *(("base_cut", f"alpha={text}", r"a number above 0 \(float\)") for text in ("", "x", "0", "-1", "nan", "inf")),
        *(("base_cut", f"keep={text}", r"a number above 0 \(int\)") for text in ("", "0", "2.5", "-3")),
    ]

    def check(cell):
        name, settings, words = cell
        with pytest.raises(ValueError, match=words):
            with_parameters(POSTPROCESSORS[name], settings)

    assert failures(cells, check) == {}
