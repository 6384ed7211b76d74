"""An estimate against the protocol, budget and users it is said to come from: alarms that are due, and none else."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.question.collected import CHANCE, collect, tally_in_memory
from advisor.question.request import Collected
from simulator import POSTPROCESSORS, PROTOCOLS, Tally, frequency_oracles
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.cells import failures

EPSILON, N, K = 1.0, 100_000, 256


def raw(protocol: str, k: int, n: int, shape: str = "zipf", epsilon: float = EPSILON, seed: int = 0) -> np.ndarray:
    oracle = PROTOCOLS[protocol](k, epsilon)
    rng = rng_for(seed, "tests", "collected", protocol, k, n, shape)
    return oracle.estimate(oracle.sample_support(apportion(frequencies(shape, k), n), rng), n)


def checked(values: np.ndarray, protocol: str = "oue", **options: object) -> Collected:
    asked = {"epsilon": EPSILON, "n": N} | options
    labels = asked.pop("labels", [str(place) for place in range(len(values))])
    return collect(labels, np.asarray(values), protocol=protocol, **asked)  # type: ignore[arg-type]


# --- no false alarm --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "collections"),
    [
        ((3, 256), ((2_000, 2.0), (10**6, 0.5))),
        pytest.param((2, 16), ((2_000, 2.0), (10**6, 0.5)), marks=pytest.mark.slow),
        pytest.param((2, 3, 16, 256), ((2_000, 0.5), (10**6, 2.0)), marks=pytest.mark.slow),
    ],
    ids=["default", "other sizes", "other budgets"],
)
def test_the_honest_raw_estimate_is_accepted_without_a_warning(
    sizes: tuple[int, ...], collections: tuple[tuple[int, float], ...]
) -> None:
    """For each protocol up to 40 estimates with four checks each, wrong once in 10^6: 0.002 false alarms in all."""

    def check(protocol: str) -> None:
        assert CHANCE == 1e-6
        for k in sizes:
            for shape in ("uniform", "zipf", "sparse", "spike", "gaussian"):
                for n, epsilon in collections:
                    values = raw(protocol, k, n, shape, epsilon)
                    found = checked(values, protocol, epsilon=epsilon, n=n)
                    assert found.warnings == (), (k, shape, n, epsilon)
                    np.testing.assert_array_equal(found.observed.estimate, values)
                    again = checked(values * n, protocol, epsilon=epsilon, n=n)
                    np.testing.assert_allclose(again.observed.estimate, values, rtol=1e-12, atol=1e-15)

    assert failures(frequency_oracles(), check) == {}


def test_rounded_estimates_are_accepted() -> None:
    def check(digits: int) -> None:
        for protocol in ("grr", "oue"):
            found = checked(np.round(raw(protocol, K, N), digits), protocol)
            assert found.warnings == ()
        whole = np.round(raw("oue", K, N) * N)
        assert "counts" in checked(whole).assumptions[-1]

    assert failures([4, 6], check) == {}


# --- the unit --------------------------------------------------------------------------------------------------


def test_frequencies_and_counts_are_told_apart_and_said() -> None:
    values = raw("oue", K, N)
    found = checked(values, assumptions=["first"])
    assert found.assumptions[0] == "first"
    assert found.assumptions[1].startswith("the values are frequencies (they sum to ")
    counts = checked(values * N)
    assert counts.assumptions[0].startswith("the values are counts (they sum to ")
    assert counts.assumptions[0].endswith("of n = 100,000 users)")


def test_where_the_sum_fits_both_the_spread_decides() -> None:
    values = raw("oue", 64, 400, epsilon=0.5)
    reach = 64**0.5 * PROTOCOLS["oue"](64, 0.5).noise(400).sd
    assert 6 * reach > 1  # the sum says nothing: 0 to 2 is near 1, and near n in shares of n
    assert "frequencies" in checked(values, epsilon=0.5, n=400).assumptions[0]
    assert "counts" in checked(values * 400, epsilon=0.5, n=400).assumptions[0]


def test_percentages_are_recognised() -> None:
    with pytest.raises(InputError, match=r"neither about 1 .* nor about n = 100,000.*percentages: divide them by 100"):
        checked(100 * raw("grr", K, N), "grr")


def test_other_sums_are_refused() -> None:
    def check(factor: float) -> None:
        with pytest.raises(InputError, match="neither about 1") as caught:
            checked(factor * raw("grr", K, N), "grr")
        assert "percentages" not in str(caught.value)

    assert failures([0.5, 2.0, 7.0], check) == {}


def test_the_wrong_number_of_users_of_counts_is_noticed() -> None:
    with pytest.raises(InputError, match="check n, eps and the protocol"):
        checked(raw("grr", K, N) * N, "grr", n=4 * N)


# --- labels ----------------------------------------------------------------------------------------------------


def test_a_missing_category_is_noticed() -> None:
    with pytest.raises(InputError, match="has 16 categories, k = 20 was given"):
        checked(raw("grr", 16, N), "grr", k=20)
    assert len(checked(raw("grr", 16, N), "grr", k=16).labels) == 16


def test_the_domain_orders_the_categories() -> None:
    values, names = raw("grr", 3, N), ["b", "c", "a"]
    assert not checked(values, "grr", labels=names).ordered
    found = checked(values, "grr", labels=names, domain=["a", "b", "c"])
    assert found.labels == ("a", "b", "c")
    np.testing.assert_array_equal(found.observed.estimate, values[[2, 0, 1]])
    assert checked(values, "grr", labels=names, ordered=True).ordered


def test_numbers_are_ordered_by_value_whatever_their_spelling() -> None:
    values = raw("grr", 3, N)
    found = checked(values, "grr", labels=["10", "9", "1.5"])
    assert found.labels == ("1.5", "9", "10")
    assert found.ordered
    assert not checked(values, "grr", labels=["10", "9", "1.5"], ordered=False).ordered
    respelled = checked(values, "grr", labels=["10", "9", "1.5"], domain=["9.0", "10", "1.50"])
    np.testing.assert_array_equal(respelled.observed.estimate, values[[1, 0, 2]])


def test_a_domain_that_does_not_fit_is_refused() -> None:
    cells = [
        (["a", "b", "d"], "the estimate has no value for 'd' of the domain; both must name the same"),
        (["a", "b", "c", "d"], "the estimate has no value for 'd' of the domain; both must name the same"),
        (["a", "b"], "the estimate has a value for 'c', which is not in the domain; both must name the same"),
    ]

    def check(cell: tuple[list[str], str]) -> None:
        domain, message = cell
        with pytest.raises(InputError) as caught:
            checked(raw("grr", 3, N), "grr", labels=["a", "b", "c"], domain=domain)
        assert str(caught.value) == message

    assert failures(cells, check) == {}


# --- what was done to it before --------------------------------------------------------------------------------


def test_an_estimate_rounded_beyond_its_noise_is_called_rounded_not_clipped() -> None:
    def check(cell: tuple[int, int]) -> None:
        n, digits = cell
        rounded = raw("oue", 16, n, "sparse").round(digits)
        for values in (rounded, np.where(rounded == 0, 0.0, rounded)):  # a spreadsheet writes 0.00 for -0.00
            (warning,) = checked(values, n=n).warnings
            assert "clipped" not in warning
            assert f"rounded to {digits} decimals" in warning
        assert (rounded == 0).sum() > 1

    assert failures([(10**6, 2), (10**7, 2), (10**8, 3)], check) == {}


def test_the_estimate_that_reports_give_is_neither_rounded_nor_repaired() -> None:
    """Where hardly any report is another value, the estimate has few digits, and its least values are alike."""
    for epsilon, counts in ((30.0, [500, 300, 200, 0]), (8.0, [997, 1, 1, 1])):
        tally = Tally(np.array(counts), 1000)
        assert tally_in_memory(tally, "grr", 4, epsilon).warnings == ()


def test_minus_zero_among_rounded_values_is_no_sign_of_clipping() -> None:
    values = np.array([0.42, 0.31, 0.27, 0.0, -0.0, -0.0])
    assert checked(values, n=20_000, epsilon=2.0).warnings == ()


def test_a_raw_estimate_with_a_zero_is_no_clipped_one() -> None:
    values = raw("grr", 16, N)
    values[3] = 0.0
    values += (1 - values.sum()) / 15 * (values != 0)
    assert checked(values, "grr").warnings == ()


def test_noise_larger_than_said_is_noticed() -> None:
    """With 4 times the users, or a budget with noise half as large, the lower half of the noise is far too wide.

    Most of 256 true frequencies of a zipf are below one sd of the noise said, so the 128 squares below 0 of the half
    that is negative have mean 4 and not 1: 3 times 128 above what is expected, 17 sd of the noise said are refused.
    """

    def check(cell: tuple[int, str]) -> None:
        seed, protocol = cell
        values = raw(protocol, K, N // 10, seed=seed)
        noise = PROTOCOLS[protocol](K, EPSILON).noise(N // 10)
        assert checked(values, protocol, n=N // 10).warnings == ()
        with pytest.raises(InputError, match="spreads more than the noise") as caught:
            checked(values, protocol, n=4 * N // 10)
        found = re.search(r"([\d.]+) sd of the noise .* and ([\d.]+) can happen", str(caught.value))
        assert found is not None
        assert float(found[1]) >= float(found[2])  # to one digit: what is named is what is out of the question
        assert noise.sd > 2 * PROTOCOLS[protocol](K, 4 * EPSILON).noise(N // 10).sd
        # Where the estimates do not sum to 1 exactly, their sum may be too far off before anything else is looked at.
        with pytest.raises(InputError, match=r"(spreads more than the noise|sums to .* check n, eps and the protocol)"):
            checked(values, protocol, n=N // 10, epsilon=4 * EPSILON)

    assert failures(product(range(5), ["oue", "rappor", "olh", "grr"]), check) == {}


def test_noise_smaller_than_said_is_noticed_where_little_else_spreads() -> None:
    """Even frequencies: the squares have a quarter of the mean said, 256 of them known to 9 %."""

    def check(cell: tuple[int, str]) -> None:
        seed, protocol = cell
        values = raw(protocol, K, N, "uniform", seed=seed)
        assert checked(values, protocol).warnings == ()
        with pytest.raises(InputError, match="spreads less than noise alone"):
            checked(values, protocol, n=N // 4)
        with pytest.raises(InputError, match="smoothed or post-processed before, or eps or n is larger"):
            checked(np.convolve(np.pad(values, 4, mode="wrap"), np.full(9, 1 / 9), mode="valid"), protocol)

    assert failures(product(range(5), ["oue", "olh", "grr"]), check) == {}


def test_a_smoothed_estimate_without_zeros_is_refused() -> None:
    values = raw("oue", K, N, "steps", epsilon=0.5)
    smooth = POSTPROCESSORS["wavelet_eb"](values, PROTOCOLS["oue"](K, 0.5).noise(N))
    assert smooth.min() > 0
    with pytest.raises(InputError, match="spreads less than noise alone"):
        checked(smooth, epsilon=0.5)


def test_few_categories_may_be_equal_by_chance() -> None:
    assert checked(np.full(4, 0.25), n=100).warnings == ()
    with pytest.raises(InputError, match="spreads less"):
        checked(np.full(16, 1 / 16), n=100)


def test_an_estimate_without_noise_is_accepted() -> None:
    assert checked(np.array([0.5, 0.3, 0.2]), "grr", epsilon=32.0, n=10).warnings == ()


def _drawn(k: int = 256, n: int = 100_000) -> np.ndarray:
    oracle = PROTOCOLS["olh"](k, 1.0)
    counts = apportion(frequencies("zipf", k), n)
    return oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "repaired")), n)


def test_repairs_that_leave_no_zeros_are_recognised() -> None:
    cells = [
        (lambda f: f + (1 - f.sum()) / len(f), "sums to 1 exactly"),
        (lambda f: np.maximum(f, 1e-6) / np.maximum(f, 1e-6).sum(), "values are exactly"),
        (lambda f: np.abs(f) / np.abs(f).sum(), "is negative"),
    ]

    def check(cell: tuple[Callable[[np.ndarray], np.ndarray], str]) -> None:
        repair, words = cell
        raw = _drawn()
        labels = [f"v{place}" for place in range(len(raw))]
        known = {"protocol": "olh", "epsilon": 1.0, "n": 100_000}
        assert not collect(labels, raw, **known).warnings
        assert any(words in warning for warning in collect(labels, repair(raw), **known).warnings)

    assert failures(cells, check) == {}


def test_nothing_at_all_is_no_estimate() -> None:
    with pytest.raises(InputError, match="0 for every category"):
        collect([f"v{place}" for place in range(10)], np.zeros(10), protocol="oue", epsilon=1.0, n=1000)
