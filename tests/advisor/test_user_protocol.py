import math
import warnings
from itertools import product
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from advisor import Simulation, advise
from simulator import PROTOCOLS, rng_for, user_protocol
from simulator.conformance import ConformanceError, check_protocol
from simulator.conformance.protocols import z_of_two_variances
from simulator.foreign import PluginWarning
from simulator.protocols import functions
from tests.cells import over

EXAMPLE = "examples/two_functions.py:Flip"
USERS = 100_000

pytestmark = pytest.mark.usefixtures("own_members")


Flip = run_path(str(Path(__file__).parents[2] / "examples" / "two_functions.py"))["Flip"]


class Bits:
    def perturb(self, values, k, epsilon, rng):
        own = np.arange(k) == values[:, None]
        return rng.random((len(values), k)) < np.where(own, 0.5, 1 / (math.exp(epsilon) + 1))

    def estimate(self, reports, k, epsilon):
        q = 1 / (math.exp(epsilon) + 1)
        return (reports.mean(axis=0) - q) / (0.5 - q)


class Cells:
    def perturb(self, values, k, epsilon, rng):
        return rng.laplace(scale=2 / epsilon, size=(len(values), k)) + (np.arange(k) == values[:, None])

    def estimate(self, reports, k, epsilon):
        return reports.mean(axis=0)


class Uneven:
    """One category, drawn with chances that rise, and randomised response on whether it is the value."""

    def perturb(self, values, k, epsilon, rng):
        places = rng.choice(k, size=len(values), p=self.chances(k))
        flipped = rng.random(len(values)) * (math.exp(epsilon) + 1) < 1
        return np.stack([places, (places == values) ^ flipped], axis=1)

    def estimate(self, reports, k, epsilon):
        q = 1 / (math.exp(epsilon) + 1)
        sums = np.bincount(reports[:, 0], weights=(reports[:, 1] - q) / (1 - 2 * q), minlength=k)
        return sums / self.chances(k) / len(reports)

    def chances(self, k):
        return np.arange(1, k + 1) / np.arange(1, k + 1).sum()


SAME = {"grr": Flip, "oue": Bits, "she": Cells}


def made(kind, key="own"):
    return user_protocol(kind().perturb, kind().estimate, key)


@over([("grr", (5, 1.0))], slow=[*product(SAME, [(5, 0.5), (30, 2.0)])])
def test_the_measured_noise_and_size_are_those_of_the_protocol_with_a_law(name, setting):
    k, _ = setting
    exact, own = PROTOCOLS[name](*setting), made(SAME[name])(*setting)
    noise, measured = exact.noise(USERS), own.noise(USERS)
    assert (measured.sums_to_one, own.report_bits) == (exact.sums_to_one, exact.report_bits)
    for frequency, p in ((0.0, exact.q), (1.0, exact.p)):
        # Of a variance measured in groups of 50 users; the excess kurtosis of one user's 0 or 1, or of Laplace noise.
        excess = 3 if p is None else (1 - 6 * p * (1 - p)) / (p * (1 - p))
        standard_error = ((2 + excess / functions.USERS) / functions.BATCHES) ** 0.5
        ratio = float(measured.entry(np.array(frequency)) / noise.entry(np.array(frequency)))
        assert abs(ratio - 1) < 5 * standard_error < 0.25
    assert exact.attack_success <= own.attack_success + 1e-12
    for shares in (np.full(k, 1 / k), np.arange(1, k + 1) / np.arange(1, k + 1).sum()):
        assert exact.informed_guess(shares) <= own.informed_guess(shares) + 1e-12


def test_two_functions_rank_like_the_member_that_they_are():
    counts = np.array([50, 20, 10, 8, 5, 4, 2, 1]) * 100
    menu = {"protocol": [EXAMPLE, "grr"], "method": ["none", "norm_sub", "eb_ns"]}
    advice = advise(1.0, sample_counts=counts, **menu, simulation=Simulation(repetitions=30, max_repetitions=30))
    rows = {row.pair: row for row in advice.recommendations}
    assert len(rows) == 6
    for method in menu["method"]:
        own, exact = rows["flip", method], rows["grr", method]
        assert abs(own.error - exact.error) < 4.5 * math.hypot(own.standard_error, exact.standard_error)
    assert any("flip: its noise is measured on simulated reports" in text for text in advice.request.assumptions)


class Scaled(Flip):
    def estimate(self, reports, k, epsilon):
        return 1.02 * super().estimate(reports, k, epsilon)


class Shifted(Flip):
    def estimate(self, reports, k, epsilon):
        return super().estimate(reports, k, epsilon) + 0.02 * (np.arange(k) == 0) - 0.02 * (np.arange(k) == k - 1)


class Clipped(Flip):
    def estimate(self, reports, k, epsilon):
        return np.maximum(super().estimate(reports, k, epsilon), 0)


class Unseeded(Flip):
    def perturb(self, values, k, epsilon, rng):
        return super().perturb(values, k, epsilon, np.random.default_rng())


class Longer(Flip):
    def estimate(self, reports, k, epsilon):
        return super().estimate(reports, k + 1, epsilon)


WRONG = {
    Scaled: "must be unbiased",
    Shifted: "must be unbiased",
    Clipped: "estimate must be a mean over the reports",
    Unseeded: "must draw from the generator it is given",
    Longer: "estimate must return k = 2 numbers, got shape (3,)",
}


@over([Shifted, Clipped], slow=[Scaled, Unseeded, Longer])
def test_the_checks_find_what_is_wrong(kind):
    with pytest.raises(ConformanceError) as refusal:
        check_protocol(made(kind))
    assert WRONG[kind] in str(refusal.value)


class Rounded:
    """Randomised response in another form, whose estimates add up to 1 but for rounding."""

    def perturb(self, values, k, epsilon, rng):
        other = rng.integers(0, k - 1, size=len(values))
        kept = rng.random(len(values)) < math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        return np.where(kept, values, other + (other >= values))

    def estimate(self, reports, k, epsilon):
        p, q = math.exp(epsilon) / (math.exp(epsilon) + k - 1), 1 / (math.exp(epsilon) + k - 1)
        return (np.bincount(reports, minlength=k) / len(reports) - q) / (p - q)


def test_rounding_is_no_difference_of_variances_and_a_difference_is():
    rng = rng_for(0, "tests", "rounding")
    fast, slow = (200 + scale * rng.normal(size=(2000, 1)) for scale in (1e-14, 1e-13))
    assert abs(z_of_two_variances(fast, slow)).max() == 0
    assert abs(z_of_two_variances(fast, 200 + 1e-3 * rng.normal(size=(2000, 1)))).max() > 8


@pytest.mark.slow
@over([*SAME.values(), Rounded])
def test_the_checks_pass_what_is_right(kind):
    for seed in range(3):
        check_protocol(made(kind), seed=seed)


def test_users_are_simulated_in_blocks_up_to_a_limit(monkeypatch):
    class Few(Flip):
        most_users = 400

    few = {"protocol": Few, "method": "none", "simulation": Simulation(repetitions=2, max_repetitions=2)}
    assert advise(1.0, sample_counts=[200, 100, 100], **few).best.protocol == "few"
    with pytest.raises(ValueError, match="few: users are simulated one by one, 400 at most, got 401; a Channel, or a "):
        advise(1.0, sample_counts=[200, 100, 101], **few)
    monkeypatch.setattr(functions, "SLOW", 59)
    own = made(Flip, "slow_one")(6, 1.0)
    with pytest.warns(PluginWarning, match="slow_one is slow: each of 10 users is simulated"):
        functions.check_most(own, 10)
    functions.check_most(own, 10)  # warned of once


class Replayed(PROTOCOLS["grr"]):
    """Randomised response without a law of the counts."""

    key = "replayed"

    def sample_support(self, counts, rng):
        return self.replay_support(counts, rng)


def test_a_replayed_client_is_accepted_if_it_says_so():
    with pytest.raises(ConformanceError, match="if it goes user by user, say slow = True and most_users"):
        check_protocol(Replayed)
    check_protocol(type("Replayed", (Replayed,), {"slow": True}))


@pytest.mark.parametrize("kind", [Uneven, *SAME.values()])
def test_a_warning_says_where_values_differ_in_noise(kind):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for k, epsilon in ((3, 1.0), (40, 6.0)):
            made(kind, f"own_{kind.__name__.lower()}")(k, epsilon).noise(10)
    texts = [str(one.message) for one in given]
    assert len(texts) == (kind is Uneven), texts
    assert all("some values have more noise than others" in text for text in texts)
