import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from advisor.extensions.code.parameters import WORD, exact, exp_below, log_above, parameters, ratio, threshold
from simulator import PROTOCOLS
from tests.cells import failures, over

EPSILONS = (1e-6, 0.1, 0.5, 1.0, math.log(3), 4.0, 10.0, 32.0)
SETTINGS = [(2, 1.0), (3, 0.1), (16, 0.5), (40, 4.0), (300, 1.0), (1000, 1e-6), (100, 32.0)]


def power_of_e(x):
    with localcontext(prec=120):
        near = (Decimal(x.numerator) / Decimal(x.denominator)).exp()
        unit = near * Decimal(10) ** -100
        return Fraction(near - unit), Fraction(near + unit)


@over(EPSILONS)
def test_the_bound_of_a_power_of_e_lies_below_it_and_near(epsilon):
    low, high = power_of_e(exact(epsilon))
    bound = exp_below(exact(epsilon))
    assert bound <= high
    assert low - bound < low / 2**200


def test_a_budget_is_taken_as_it_is_written():
    assert exact(0.1) == Fraction(1, 10) != Fraction(0.1)


@over(itertools.product(EPSILONS, [(1, 1), (1, 255), (7, 30), (128, 900)]))
def test_thresholds_are_the_largest_that_keep_the_promise(epsilon, setting):
    own, other = setting
    chance = threshold(epsilon, own, other)
    low, high = power_of_e(exact(epsilon))
    assert ratio(chance, own, other) <= low
    assert ratio(chance + 1, own, other) > high


@pytest.mark.parametrize("number", [Fraction(3, 2), Fraction(2), Fraction(10**30 + 1, 10**30), Fraction(10**13)])
def test_logarithms_are_rounded_up(number):
    shown = Fraction(log_above(number))
    assert power_of_e(shown)[1] >= number
    assert power_of_e(shown * (1 - Fraction(1, 10**20)))[1] < number


@pytest.mark.parametrize("key", PROTOCOLS)
@over(SETTINGS)
def test_every_client_keeps_the_promise_and_spends_nearly_all_of_it(k, epsilon, *, key):
    made = parameters(key, k, epsilon)
    assert made.kept
    assert Fraction(made.exact_epsilon) <= exact(epsilon)
    # Out of 2^64 and 2^40: what rounding costs is less than 1e-4 of the budget; bits of THE spend less by
    # themselves.
    assert key == "the" or float(made.exact_epsilon) > (1 - 1e-4) * epsilon


def chances_of_bits(made, k):
    own, other = (Fraction(each.value, WORD) for each in made.constants if isinstance(each.value, int))
    result = []
    for value in range(k):
        one = [own if v == value else other for v in range(k)]
        sets = [set(some) for size in range(k + 1) for some in combinations(range(k), size)]
        result.append([math.prod(p if v in some else 1 - p for v, p in enumerate(one)) for some in sets])
    return result


@over(itertools.product([0.1, 1.0, 4.0], ["rappor", "oue", "the"]))
def test_the_largest_ratio_of_all_strings_of_bits_is_the_one_that_is_stated(epsilon, key):
    made = parameters(key, 3, epsilon)
    rows = chances_of_bits(made, 3)
    assert max(a / b for one in rows for two in rows for a, b in zip(one, two, strict=True)) == made.ratio


def test_the_page_of_the_documentation_states_these_figures():
    page = (Path(__file__).parents[2] / "docs" / "code.md").read_text(encoding="utf-8")
    spent = {key: parameters(key, 256, 1.0).exact_epsilon for key in PROTOCOLS}
    the = spent.pop("the")
    least, *_, most = sorted(spent, key=lambda key: Fraction(spent[key]))
    stated = f"at least {spent[least]} (`{least}`) and at most {spent[most]} (`{most}`), but of `the` {the}"
    assert stated in " ".join(page.split())


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 32.0])
def test_steps_of_noise_are_small(epsilon):
    grid, rate, unit = (parameters("she", 4, epsilon).whole(name) for name in ("GRID", "RATE", "UNIT"))
    assert rate * 1024 <= unit  # a step is a part of the scale, which is unit / rate steps
    np.testing.assert_allclose(2 * grid * rate / unit, epsilon, rtol=1e-5)


def test_clients_and_servers_take_the_same_probabilities_but_for_rounding():
    def check(cell):
        (k, epsilon), key = cell
        made = parameters(key, k, epsilon)
        protocol = made.protocol
        words = {each.name: each.value for each in made.constants if each.word}
        np.testing.assert_allclose(words["OWN"] / WORD, protocol.p * getattr(protocol, "width", 1), rtol=1e-12)
        assert "OTHER" not in words or abs(words["OTHER"] / WORD - protocol.q) < 1e-15

    keys = ["grr", "rappor", "oue", "the", "olh", "ss", "hr", "pgr", "sw"]
    assert failures(itertools.product([(16, 0.5), (37, 1.5), (300, 1.0), (100, 12.0)], keys), check) == {}
