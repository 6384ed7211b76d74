"""The one rule of choice: within 5 % of the lowest error the cheapest report, beyond that the lowest error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import PROTOCOLS
from simulator.ranking import PRACTICAL_RATIO, Cost, preference, rank

Option = tuple[float, Cost]
OPTIONS = st.lists(
    st.tuples(
        st.sampled_from([1.0, 1.005, 1.04, 1.05, 1.051, 1.5]),
        st.tuples(
            st.sampled_from([1.0, 9.0, 34.0]),
            st.sampled_from([1e6, 1e9]),
            st.sampled_from([0.1, 0.2]),
            st.sampled_from("ab"),
        ),
    ),
    min_size=1,
    max_size=8,
)


def by_hand(options: list[Option]) -> Option:
    """What is chosen, step by step: by bits, work of the server, attack, name, and then by error."""
    near = [one for one in options if one[0] <= 1.05 * min(ratio for ratio, _ in options)]
    for step in range(4):
        near = [one for one in near if one[1][step] == min(cost[step] for _, cost in near)]
    return min(near, key=lambda one: one[0])


@given(OPTIONS)
def test_the_first_is_what_the_rule_chooses_by_hand_and_nothing_dominates_it(options: list[Option]) -> None:
    options = [(1.0, (34.0, 1e9, 0.2, "b")), *options]  # ratios are to the lowest error
    first = min(options, key=lambda one: preference(*one))
    assert first == by_hand(options)
    for ratio, cost in options:
        as_good = ratio <= first[0] and all(a <= b for a, b in zip(cost, first[1], strict=True))  # type: ignore[operator]
        assert not as_good or (ratio, cost) == first


@pytest.mark.parametrize(("ratio", "short"), [(PRACTICAL_RATIO - 1e-6, True), (PRACTICAL_RATIO + 1e-6, False)])
def test_a_ranking_begins_with_the_short_report_up_to_five_percent(ratio: float, short: bool) -> None:
    noise = np.random.default_rng(0).normal(1, 0.1, 40)
    errors = {("long", "a"): noise, ("short", "a"): noise * ratio, ("long", "b"): noise * 1.04}
    standings = rank(errors, {"long": (64, 0.1), "short": (3, 0.1)})
    assert standings[0].pair == (("short", "a") if short else ("long", "a"))
    assert [one.rank for one in standings] == ([1, 1, 1] if short else [1, 1, 3])


def test_of_protocols_that_are_the_same_one_has_the_lower_cost() -> None:
    costs = [one(64, 1.0).cost for one in PROTOCOLS.values()]
    assert len(set(costs)) == len(costs)
