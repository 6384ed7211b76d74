import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import simpson
from scipy.stats import norm

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.domain import Attackers, Domain
from simulator.methods.processor import parameters_of, with_parameters
from tests.cells import over

from .law import oracle_of, stream

# The others are for tallies of a protocol of their own, or look at reports: test_method_ordered.py, test_recovery.py.
OF_ESTIMATES = [name for name, method in POSTPROCESSORS.items() if not method.needs & {"local_likelihood", "suspects"}]
FEARED = Domain(attackers=Attackers(0.1, (0,)))  # what remedies for poisoning are told; others do not look
DEAR = ("iso_cdf", "tree_eb")  # of very many values
OF_REPORTS = {"pq", "likelihood", "local_likelihood", "pseudo_likelihood"}
NOISES = [
    oracle_of(key, k, epsilon).noise(n)
    for key, k, epsilon, n in [
        ("oue", 8, 1.0, 1000),
        ("grr", 8, 4.0, 50),
        ("blh", 8, 0.5, 100),
        ("blh", 8, 4.0, 10_000),
        ("rappor", 8, 1.0, 10**6),
        ("oue", 8, 8.0, 10_000),
        ("olh", 8, 0.01, 10),
    ]
]
VALUES = st.one_of(
    st.floats(-2, 2), st.floats(-1e6, 1e6), st.sampled_from([0.0, 0.25, -0.25, 0.5, 1.0, 1e-300, -1e-300])
)
ESTIMATES = hnp.arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(2, 8)), elements=VALUES)
FEW = settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def fitting(method, noise, k):
    """The noise itself, or one of its size that the method is for."""
    if method.accepts(noise, k):
        return noise
    key = "grr" if method.accepts(oracle_of("grr", k, 1.0).noise(noise.n), k) else "oue"
    return oracle_of(key, k, 1.0).noise(noise.n)


def check_contract(method, estimate, noise):
    noise = fitting(method, noise, estimate.shape[-1])
    before = estimate.copy()
    result = method(estimate, noise, FEARED)
    np.testing.assert_array_equal(estimate, before)
    assert not np.shares_memory(result, estimate)
    assert result.shape == estimate.shape
    assert result.dtype == np.float64
    assert np.isfinite(result).all()
    if method.nonnegative:
        assert result.min() >= 0
    scale = max(1.0, float(np.abs(estimate).max()))
    if method.sums_to_one:
        # 1e-9; norm keeps estimates of any size and can only sum to 1 up to the rounding of its k results
        rounding = 0 if method.nonnegative else 2e-16 * (10 + estimate.shape[-1]) * scale
        assert np.abs(result.sum(axis=-1) - 1).max() <= max(1e-9, rounding)
    for x, f in zip(estimate.reshape(-1, estimate.shape[-1]), result.reshape(-1, estimate.shape[-1]), strict=True):
        np.testing.assert_array_equal(method(x, noise, FEARED), f, err_msg="a batch is its rows")
        if not method.keeps_order:
            continue
        order = np.argsort(x, kind="stable")
        steps = np.diff(f[order])
        assert steps.min() >= -1e-12 * scale, "order"
        assert (steps[np.diff(x[order]) == 0] == 0).all(), "ties"


@pytest.mark.parametrize("name", OF_ESTIMATES)
@given(noise=st.sampled_from(NOISES), estimate=ESTIMATES)
@FEW
def test_contract(name, noise, estimate):
    check_contract(POSTPROCESSORS[name], estimate, noise)


@over(
    # Isotonic sums and trees are no table: slow only.
    ((name, NOISES[:1]) for name in OF_ESTIMATES if name not in DEAR),
    slow=((name, NOISES if name in DEAR else NOISES[1:]) for name in OF_ESTIMATES),
)
def test_contract_on_fine_and_wide_ladders(name, noises):
    for noise in noises:
        # Neighbours a hundredth of a noise sd apart, over the whole range of values: where a table would show its
        # seams.
        ladder = np.arange(-60, 60, 0.01) * noise.sd
        check_contract(POSTPROCESSORS[name], ladder, noise)
        top = 1 + np.arange(-30, 30, 0.01) * noise.sd
        check_contract(POSTPROCESSORS[name], top, noise)


@over([n for n, m in POSTPROCESSORS.items() if m.needs & OF_REPORTS and not m.is_remedy])
def test_a_method_refuses_noise_it_is_not_for(name):
    estimate = np.full(8, 1 / 8)
    refused = [noise for noise in NOISES if not POSTPROCESSORS[name].accepts(noise, 8)]
    assert refused
    for noise in refused:
        with pytest.raises(ValueError, match="is not for the noise of this protocol"):
            POSTPROCESSORS[name](estimate, noise)


def test_what_the_table_promises():
    others = "base_cut wavelet_eb iso_cdf tree_eb em ems em_stopped recover recover_known subtract_fakes drop_fakes"
    assert [name for name, method in POSTPROCESSORS.items() if not method.keeps_order] == others.split()
    assert all(method.name == key for key, method in POSTPROCESSORS.items())
    assert POSTPROCESSORS["norm_sub"]([0.5, 0.6], NOISES[0]).shape == (2,)
    claims = {key: (m.nonnegative, m.sums_to_one) for key, m in POSTPROCESSORS.items()}
    assert claims["norm"] == (False, True)
    assert claims["norm_cut"] == (True, False)
    assert claims["power_ns"] == claims["norm_sub"] == claims["mle_apx"] == claims["norm_mul"] == (True, True)
    for name in (key for key, (nonnegative, _) in claims.items() if not nonnegative):
        assert POSTPROCESSORS[name](np.array([0.8, 0.5, -0.3]), NOISES[0]).min() < 0


REFUSED = [(((0.5, 0.5), (each, 0.1)), "must be finite") for each in (np.nan, np.inf, -np.inf)]
REFUSED += [(each, "at least 2 categories, got shape") for each in (0.0, (), (0.0,), ((0.0,),) * 3)]


@over(itertools.product(OF_ESTIMATES, REFUSED))
def test_what_is_not_finite_or_has_fewer_than_two_categories_is_refused(name, refused):
    estimate, said = refused
    with pytest.raises(ValueError, match=said):
        POSTPROCESSORS[name](estimate, NOISES[0])


OF_OUE = PROTOCOLS["oue"](30, 1.0).noise(20_000)
ROWS = stream("parameters").normal(stream("truth").dirichlet(np.full(30, 0.3)), OF_OUE.sd, size=(5, 30))
VARIANTS = ("base_cut:alpha=0.05", "base_cut:keep=7", "power:prior=gaussian", "power_ns:prior=gaussian")


@over([0.05, 0.5, 2.0, 10.0, 14.5, 20.0, 40.0])
def test_base_cut_cuts_below_the_threshold_of_any_alpha(alpha):
    """Wang et al., equation (9); above k/2 the threshold would fall below 0, where values are cut anyway."""
    threshold = max(norm.ppf(1 - alpha / 30), 0.0) * OF_OUE.sd if alpha < 30 else 0.0
    expected = [[value if value >= threshold and value > 0 else 0.0 for value in row] for row in ROWS]
    name = "base_cut" if alpha == 2 else f"base_cut:alpha={alpha:g}"
    assert POSTPROCESSORS[name](ROWS, OF_OUE).tolist() == expected


@over([1, 2, 7, 29, 30, 99])
def test_base_cut_keeps_the_largest(keep):
    for row, result in zip(ROWS, POSTPROCESSORS[f"base_cut:keep={keep}"](ROWS, OF_OUE), strict=True):
        largest = sorted(row)[::-1][:keep]
        assert result.tolist() == [max(value, 0.0) if value in largest else 0.0 for value in row]


def test_a_gaussian_prior_gives_the_posterior_mean_by_quadrature():
    """Wang et al., equation (13), by Simpson's rule, which is exact to 1e-8 for bells of fifty steps."""
    x = np.linspace(0, 1, 4_001)
    for row in ROWS:
        prior = norm.pdf(x, row.mean(), np.sqrt(row.var() - OF_OUE.sd**2))
        expected = []
        for value in row:
            weight = prior * norm.pdf(value, x, OF_OUE.sd)
            expected.append(simpson(weight * x) / simpson(weight))
        np.testing.assert_allclose(POSTPROCESSORS["power:prior=gaussian"](row, OF_OUE), expected, rtol=1e-6)
    flat = np.array([0.24, 0.26, 0.25, 0.25])
    assert POSTPROCESSORS["power:prior=gaussian"](flat, OF_OUE) == pytest.approx(0.25)


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


@over(
    [
        ("base_cut", "beta=1", "method base_cut has alpha=…, keep=…, got 'beta=1'"),
        ("base_cut", "alpha=1:alpha=2", "got 'alpha=2'"),
        ("norm", "alpha=1", "method norm has no parameters, got 'alpha=1'"),
        ("power", "prior=zipf", "prior of power must be one of power_law, gaussian, got 'zipf'"),
        *(("base_cut", f"alpha={text}", r"a number above 0 \(float\)") for text in ("", "x", "0", "-1", "nan", "inf")),
        *(("base_cut", f"keep={text}", r"a number above 0 \(int\)") for text in ("", "0", "2.5", "-3")),
    ]
)
def test_parameters_that_are_not_there_are_refused(name, settings, words):
    with pytest.raises(ValueError, match=words):
        with_parameters(POSTPROCESSORS[name], settings)
