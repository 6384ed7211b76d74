"""The one rule of choice: within 1 % of the lowest error the cheapest report, beyond that the lowest error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.ranking import AS_GOOD, preference, rank

Option = tuple[float, tuple[float, float]]
OPTIONS = st.lists(
    st.tuples(
        st.sampled_from([1.0, 1.005, 1.01, 1.011, 1.02, 1.5]),
        st.tuples(st.sampled_from([1.0, 9.0, 34.0]), st.sampled_from([0.1, 0.2])),
    ),
    min_size=1,
    max_size=8,
)


def by_hand(options: list[Option]) -> Option:
    """What is chosen, step by step."""
    lowest = min(ratio for ratio, _ in options)
    near = [one for one in options if one[0] <= 1.01 * lowest]
    shortest = [one for one in near if one[1][0] == min(cost[0] for _, cost in near)]
    safest = [one for one in shortest if one[1][1] == min(cost[1] for _, cost in shortest)]
    return min(safest, key=lambda one: one[0])


@given(OPTIONS)
def test_the_first_is_what_the_rule_chooses_by_hand_and_nothing_dominates_it(options: list[Option]) -> None:
    options = [(1.0, (34.0, 0.2)), *options]  # ratios are to the lowest error
    first = min(options, key=lambda one: preference(*one))
    assert first == by_hand(options)
    for ratio, cost in options:
        as_good = ratio <= first[0] and all(a <= b for a, b in zip(cost, first[1], strict=True))
        assert not as_good or (ratio, cost) == first


@pytest.mark.parametrize(("ratio", "short"), [(AS_GOOD, True), (AS_GOOD + 1e-6, False)])
def test_simulated_tiers_begin_with_the_short_report_up_to_one_percent(ratio: float, short: bool) -> None:
    noise = np.random.default_rng(0).normal(1, 0.1, 40)
    errors = {("long", "a"): noise, ("short", "a"): noise * ratio, ("short", "b"): noise * 1.04}
    standings = rank(errors, {"long": (64, 0.1), "short": (3, 0.1)})
    assert [one.tier for one in standings] == [1, 1, 1]
    assert standings[0].pair == (("short", "a") if short else ("long", "a"))
    assert standings[-1].pair == ("short", "b")
