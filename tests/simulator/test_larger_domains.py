import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

from simulator.protocols import projective_geometry
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.summation import SHE, THE
from tests.cells import failures, over

from .law import CHECKS, COMPARISONS, PROTOCOLS, accept, check_marginals, law_for, skewed, stream

COUNTS = np.array([300, 0, 0, 50, 20, 10, 5, 0, 0, 10, 5, 0])


@pytest.mark.parametrize("way", ["sample", pytest.param("replay", marks=pytest.mark.slow)])
def test_negative_control_a_constant_that_is_a_little_off_is_noticed(way):
    def check(cell):
        kind, name, factor = cell
        oracle = kind(12, 1.0)
        law, wrong = law_for(oracle, COUNTS), type("Off", (kind,), {name: factor * getattr(oracle, name)})(12, 1.0)
        # The points of a geometry are found user by user, and take longer.
        repetitions = 5000 if way == "sample" else 600 if kind is ProjectiveGeometry else 1000
        rows = np.broadcast_to(COUNTS, (repetitions, 12))
        draws = getattr(wrong, f"{way}_support")(rows, stream("off", name, way))
        if name == "threshold" and way == "sample":
            assert accept(CHECKS["mean"](draws, law))  # the threshold is the client's; the sampler goes by p and q
            return
        # Noise of another scale has the same mean.
        assert accept(CHECKS["mean"](draws, law)) is (name == "scale")
        assert not (name == "scale" and accept(CHECKS["covariance"](draws, law)))
        assert not accept(CHECKS["marginals"](draws, law))

    constants = [(HadamardResponse, "_slope"), (ProjectiveGeometry, "_keep"), (THE, "threshold")]
    assert failures([*((*one, 0.95) for one in constants), (SHE, "scale", 1.25)], check) == {}


def test_negative_control_a_gaussian_of_the_same_variance_is_told_from_the_sum_of_noise():
    # 25 users: an excess kurtosis of 3/25, which 400,000 draws show in the exact cells.
    law, rng = law_for(SHE(2, 1.0), (25, 0)), stream("gaussian")
    draws = rng.standard_normal((400_000, 2)) * np.sqrt(law.variance) + law.mean
    assert accept(CHECKS["mean"](draws, law))
    assert not accept(check_marginals(draws, law))
    right = law.oracle.sample_support(np.broadcast_to(law.n_v, (400_000, 2)), rng)
    assert accept(check_marginals(right, law))


def test_negative_control_supports_are_not_independent():
    # Right means and variances, no dependence: seen by the covariances.
    for oracle in (HadamardResponse(12, 1.0), ProjectiveGeometry(12, 1.0)):
        law, rng = law_for(oracle, np.r_[4000, np.zeros(11)]), stream("independent", oracle.key)
        draws = np.rint(rng.standard_normal((20_000, 12)) * np.sqrt(law.variance) + law.mean)
        assert not accept(CHECKS["covariance"](draws, law))
        rows = np.broadcast_to(law.n_v, (20_000, 12))
        assert accept(CHECKS["covariance"](oracle.sample_support(rows, rng), law))


@pytest.mark.parametrize("kind", [THE, SHE, HadamardResponse, ProjectiveGeometry])
@pytest.mark.parametrize(
    ("k", "epsilon"), [(40, 0.5), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((64, 1.5), (100, 3.0)))]
)
def test_sampler_and_replay_follow_the_law_of_larger_domains(kind, k, epsilon):
    oracle = kind(k, epsilon)
    law = law_for(oracle, skewed(k, 200))
    rng = stream("larger", oracle.key, k, repr(epsilon))
    sampled = oracle.sample_support(np.broadcast_to(law.n_v, (3000, k)), rng)
    replayed = oracle.replay_support(np.broadcast_to(law.n_v, (400, k)), rng)
    for name in ("mean", "covariance", "row_sums"):
        assert accept(CHECKS[name](sampled, law)), name
        assert accept(CHECKS[name](replayed, law)), name
    for name in ("mean", "covariance"):
        assert accept(COMPARISONS[name](sampled, replayed, law)), name
    assert accept(check_marginals(sampled, law))


def test_the_rows_of_a_projective_batch_may_be_drawn_in_pieces(monkeypatch):
    oracle = ProjectiveGeometry(12, 1.0)
    monkeypatch.setattr(projective_geometry, "CHUNK_CELLS", 7 * 13 * 3)
    law = law_for(oracle, COUNTS)
    draws = oracle.sample_support(np.broadcast_to(COUNTS, (1000, 12)), stream("pieces"))
    assert all(accept(check(draws, law)) for check in CHECKS.values())


def test_projective_geometry_tells_how_its_estimates_hang_together():
    def check(cell):
        k, epsilon = cell
        oracle, n, repetitions = ProjectiveGeometry(k, epsilon), 40 * k, 4000
        noise, counts = oracle.noise(n), np.full((repetitions, k), 40)
        estimates = oracle.estimate(oracle.sample_support(counts, stream("cancels", k, str(epsilon))), n)
        cancelled = noise.cancels if noise.cancels is not None else 1.0
        expected = (1 - cancelled) * (k * noise.sd**2 + noise.variance_slope)
        # A variance of so many nearly normal sums has a relative standard deviation of sqrt(2 / repetitions).
        assert abs(estimates.sum(axis=1).var() - expected) <= 5 * np.sqrt(2 / repetitions) * expected + 1e-12

    assert failures([(2, 1.0), (5, 0.5), (12, 1.0), (16, 2.0), (40, 1.0)], check) == {}
    shares = [ProjectiveGeometry(k, 1.0).noise(1000).cancels for k in (2, 3, 100, 1024, 1025, 100_000)]
    assert all(share is None or 0 <= share <= 1 for share in shares)


def test_noise_of_others_cancels_wholly_or_not_at_all():
    assert {key for key, kind in PROTOCOLS.items() if kind(12, 1.0).noise(100).cancels is not None} == {"pgr"}


EPSILONS = [1e-6, 0.01, 0.3, 0.5, math.log(2), 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0]


@over([0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
def test_the_threshold_is_the_best_there_is(epsilon):
    oracle = THE(5, epsilon)

    def parts(threshold):
        p = 1 - math.exp(epsilon * (threshold - 1) / 2) / 2
        return p, math.exp(-epsilon * threshold / 2) / 2

    def variance(threshold):
        p, q = parts(threshold)
        return q * (1 - q) / (p - q) ** 2

    assert 0.5 < oracle.threshold < 1
    assert (oracle.p, oracle.q) == pytest.approx(parts(oracle.threshold), rel=1e-11)
    found = optimize.minimize_scalar(variance, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-10})
    assert variance(oracle.threshold) <= found.fun * (1 + 1e-9)  # rounding of p - q at small epsilon
    assert variance(oracle.threshold * 1.05) > variance(oracle.threshold)


@over(EPSILONS)
def test_thresholded_bits_reveal_less_than_the_budget(epsilon):
    p, q = THE(4, epsilon).p, THE(4, epsilon).q
    spent = math.log(p / q) + math.log1p(-q) - math.log1p(-p)
    assert 0 < spent < epsilon
    if epsilon == 1.0:
        assert spent == pytest.approx(0.896, abs=5e-4)  # the figure of the docstring
    if epsilon >= 16:
        assert spent == pytest.approx(epsilon / 2 + math.log(8 / 3), abs=1e-3)  # its large-budget form, 0.98
    # The noisy cells themselves spend the budget and no more: two of them change by 1.
    assert 2 / SHE(4, epsilon).scale == pytest.approx(epsilon, rel=1e-12)


@over(itertools.product([2, 3, 12, 300, 250_000], [1e-6, 0.3, 1.0, 3.0, 8.0, 32.0]))
def test_the_success_against_noisy_cells_is_the_integral(k, epsilon):
    h = epsilon / 2

    def integrand(s):
        below = math.exp(s) / 2 if s < 0 else 1 - math.exp(-s) / 2
        return math.exp(-abs(s - h)) / 2 * below ** (k - 1)

    edges = [-np.inf, -40, 0, *np.linspace(0, h, 9)[1:], h + 5, h + 20, h + 60]
    pieces = [integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-10)[0] for a, b in itertools.pairwise(edges) if a < b]
    beyond = math.exp(-60) / 2
    assert SHE(k, epsilon).attack_success == pytest.approx(sum(pieces), rel=1e-8, abs=2 * beyond)


def test_sums_of_noisy_cells_have_the_variance_of_the_noise():
    for epsilon in (0.5, 1.0, 3.0):
        oracle, n = SHE(12, epsilon), 10_000
        noise, variance = oracle.noise(n), 8 / (n * epsilon**2)
        assert noise.variance_at_zero == pytest.approx(variance, rel=1e-14)
        assert (noise.n, noise.p, noise.q, noise.variance_slope, noise.sums_to_one) == (n, None, None, 0.0, False)
        np.testing.assert_allclose(oracle.variance(skewed(12, n) / n, n), variance, rtol=1e-14)
