from __future__ import annotations

import pytest

from knowledge.grid import look_up
from knowledge.listing import STEADY, first, tiers
from knowledge.menu import METHODS, METRICS, applies
from knowledge.profile import profile_of
from simulator import PROTOCOLS
from simulator.populations import frequencies


@pytest.mark.parametrize("metric", ["l1", "emd", "topk"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("k", [4, 64, 1000])
def test_tiers_hold_every_row_once_and_begin_with_the_first_of_all(k: int, epsilon: float, metric: str) -> None:
    found = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, 100_000, metric)
    bits = {name: PROTOCOLS[name](k, epsilon).report_bits for name in PROTOCOLS}
    split = tiers(found.rows, bits, metric)
    assert sorted(row for tier in split for row in tier) == sorted(found.rows)
    chosen = first(
        {row: row.error for row in found.rows},
        {row: bits[row.protocol] for row in found.rows},
        [row for row in found.rows if row.method == STEADY[metric]],
    )
    assert chosen == split[0][0]
    assert chosen.error < 1.05 * found.best.error
    for tier in split:
        rest = [row.error for row in tier if row.error >= 1.05 * found.best.error]
        assert rest == sorted(rest)


def test_of_errors_that_are_as_good_as_equal_the_shorter_report_is_first() -> None:
    bits = {"a": 9, "b": 3, "c": 1}
    assert first({"a": 1.0, "b": 1.019, "c": 1.021}, bits, []) == "b"
    assert first({"a": 1.0, "b": 1.021, "c": 1.021}, bits, []) == "a"
    assert first({"a": 1.01, "b": 1.0}, {"a": 3, "b": 3}, []) == "b"


def test_the_steady_method_is_first_where_it_is_within_5_percent() -> None:
    bits = {"a": 1, "b": 9, "c": 3, "d": 1}
    errors = {"a": 1.0, "b": 1.03, "c": 1.045, "d": 1.06}
    assert first(errors, bits, ["b"]) == "b"
    assert first(errors, bits, ["b", "c", "d"]) == "c"  # 1.5 % above b, and shorter; d is not within 5 % of the lowest
    assert first(errors, bits, ["d"]) == "a"


def test_every_metric_has_a_steady_method_that_goes_with_it() -> None:
    assert set(STEADY) == set(METRICS)
    for metric, method in STEADY.items():
        assert method in METHODS
        assert applies(method, metric, ordered=True)
