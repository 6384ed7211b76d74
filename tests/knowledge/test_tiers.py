from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from knowledge.describe.profile import profile_of
from knowledge.menu import MEASURED, METHODS, applies
from knowledge.model import noises_of
from knowledge.ranking import Row, look_up
from knowledge.tiers import STEADY, tiers
from simulator import PROTOCOLS, Noise
from simulator.populations import frequencies

NOISE = Noise(n=1000, p=None, q=None, variance_at_zero=1e-6, variance_slope=0.0, sums_to_one=False)
LOUDER = replace(NOISE, variance_at_zero=1.03e-6)


@pytest.mark.parametrize("metric", ["l1", "emd", "topk"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("k", [4, 64, 1000])
def test_tiers_hold_every_row_once_and_what_leads_is_in_the_first(k: int, epsilon: float, metric: str) -> None:
    found = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, 100_000, metric)
    bits = {name: PROTOCOLS[name](k, epsilon).report_bits for name in PROTOCOLS}
    split = tiers(found.rows, bits, noises_of(k, epsilon, 100_000), metric)
    assert sorted(row for tier in split for row in tier) == sorted(found.rows)
    assert all(row.ratio < 1.05 or row.ratio_low <= 1 for row in split[0])
    for tier in split[1:]:
        assert [row.error for row in tier] == sorted(row.error for row in tier)


def row(protocol: str, method: str, ratio: float, low: float = 0.9) -> Row:
    return Row(protocol, method, ratio, ratio, ratio, ratio, min(low, ratio), 2.0, 1.0, 0.1, "interpolated")


def leader(rows: list[Row], metric: str = "l1", **noises: Any) -> tuple[str, str]:
    bits = {"long": 64, "short": 3}
    every = {"long": NOISE, "short": NOISE} | noises
    first = tiers(sorted(rows, key=lambda one: one.ratio), bits, every, metric)[0][0]
    return first.protocol, first.method


def test_of_errors_that_are_as_good_as_equal_the_shorter_report_is_first() -> None:
    assert leader([row("long", "norm", 1.0), row("short", "norm", 1.009)]) == ("short", "norm")
    assert leader([row("long", "norm", 1.0), row("short", "norm", 1.011)]) == ("long", "norm")


def test_the_steady_method_is_first_where_no_other_is_clearly_better() -> None:
    best = row("long", "norm", 1.0)
    assert leader([best, row("long", "eb_ns", 1.049, 1.04)]) == ("long", "eb_ns")
    assert leader([best, row("long", "eb_ns", 1.051, 1.04)]) == ("long", "norm")
    # 10 % more, but with a standard deviation of 52 % or 16 %: half of that is 26 % or 8 %.
    assert leader([best, row("long", "eb_ns", 1.1, 0.4)]) == ("long", "eb_ns")
    assert leader([best, row("long", "eb_ns", 1.1, 0.8)]) == ("long", "norm")


def test_of_the_steady_method_the_quietest_protocols_lead_whatever_is_predicted() -> None:
    rows = [row("short", "eb_ns", 1.0), row("long", "eb_ns", 1.02)]
    assert leader(rows) == ("short", "eb_ns")
    assert leader(rows, short=LOUDER) == ("long", "eb_ns")
    assert leader(rows, short=replace(NOISE, variance_slope=1e-6)) == ("long", "eb_ns")
    assert leader([row("long", "eb_ns", 1.0), row("short", "eb_ns", 1.02)]) == ("short", "eb_ns")


def test_a_quieter_protocol_leads_though_it_is_predicted_to_be_worse_and_is_listed_once() -> None:
    rows = [row("long", "norm", 1.0), row("short", "eb_ns", 1.03), row("long", "eb_ns", 1.2, 1.04)]
    bits, noises = {"long": 64, "short": 3}, {"long": NOISE, "short": LOUDER}
    split = tiers(rows, bits, noises, "l1")
    assert [[(one.protocol, one.method) for one in tier] for tier in split] == [
        [("long", "eb_ns"), ("long", "norm"), ("short", "eb_ns")]
    ]
    same = [row("short", "eb_ns", 1.0), row("long", "eb_ns", 1.2, 1.04), row("long", "norm", 1.4, 1.2)]
    first, second = tiers(same, bits, noises, "l1")
    assert [one.protocol for one in first] == ["long", "short"]
    assert [one.method for one in second] == ["norm"]


def test_what_is_predicted_for_sure_to_be_five_percent_worse_is_not_in_the_first_tier() -> None:
    rows = [row("short", "eb_ns", 1.0), row("long", "eb_ns", 1.2, 1.06), row("short", "norm", 1.3, 0.9)]
    first, second = tiers(rows, {"long": 64, "short": 3}, {"long": NOISE, "short": LOUDER}, "l1")
    assert [(one.protocol, one.method) for one in first] == [("short", "eb_ns"), ("short", "norm")]
    assert [(one.protocol, one.method) for one in second] == [("long", "eb_ns")]


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "metric", "skew"),
    [(639, 0.38, 9758, "kl", 1.0), (2, 0.39, 10889, "emd", 1.0), (242, 5.25, 3575, "topk", 1.0)],
)
def test_no_row_of_the_first_tier_is_predicted_to_be_worse_for_sure(
    k: int, epsilon: float, n: int, metric: str, skew: float
) -> None:
    for exponent in (skew / 2, skew, 2 * skew):
        found = look_up(profile_of(frequencies("zipf", k, exponent)), epsilon, n, metric)
        bits = {name: PROTOCOLS[name](k, epsilon).report_bits for name in PROTOCOLS}
        assert all(row.ratio_low <= 1.05 for row in tiers(found.rows, bits, noises_of(k, epsilon, n), metric)[0])


def test_what_is_predicted_to_be_a_quarter_worse_is_never_first() -> None:
    assert leader([row("long", "norm", 1.0), row("long", "eb_ns", 1.26, 1e-6)]) == ("long", "norm")
    assert leader([row("short", "eb_ns", 1.0), row("long", "eb_ns", 1.26)], short=LOUDER) == ("short", "eb_ns")


def test_for_sums_of_estimates_noise_that_cancels_is_worth_a_longer_report() -> None:
    tied = replace(NOISE, sums_to_one=True)
    rows = [row("short", "wavelet_eb", 1.0), row("long", "wavelet_eb", 1.02)]
    assert leader(rows, "emd", long=tied) == ("long", "wavelet_eb")
    assert leader(rows, "emd", long=tied, short=replace(NOISE, cancels=0.995)) == ("short", "wavelet_eb")
    rows = [row("short", "eb_ns", 1.0), row("long", "eb_ns", 1.02)]
    assert leader(rows, "l1", long=tied) == ("short", "eb_ns")


def test_every_metric_has_a_steady_method_that_goes_with_it() -> None:
    assert set(STEADY) == {*MEASURED, "mae"}
    for metric, method in STEADY.items():
        assert method in METHODS
        assert applies(method, metric, ordered=True)
