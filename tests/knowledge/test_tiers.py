from __future__ import annotations

from knowledge.describe.profile import profile_of
from knowledge.ranking import Row, look_up
from knowledge.tiers import MOST, costs_of, first_pair, tiers
from simulator.populations import frequencies
from simulator.ranking import AS_GOOD
from tests.cells import failures

COSTS = {"long": (64, 0.1), "short": (3, 0.2)}


def row(protocol: str, method: str, ratio: float, low: float = 0.9) -> Row:
    return Row(protocol, method, ratio, ratio, ratio, ratio, min(low, ratio), 2.0, 1.0, 0.1, "interpolated")


def first(rows: list[Row]) -> tuple[str, str]:
    best = tiers(sorted(rows, key=lambda one: one.ratio), COSTS)[0][0]
    return best.protocol, best.method


def test_tiers_hold_every_row_once_and_no_tie_is_a_quarter_worse() -> None:
    def check(cell: tuple[str, float, int]) -> None:
        metric, epsilon, k = cell
        found = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, 100_000, metric)
        costs = costs_of((one.protocol for one in found.rows), k, epsilon)
        split = tiers(found.rows, costs)
        assert sorted(one for tier in split for one in tier) == sorted(found.rows)
        lowest = 0.0
        for tier in split:
            errors = [one.ratio for one in tier]
            assert max(errors) <= MOST * min(errors)
            assert min(errors) > lowest  # the next tier begins above the lowest of this one
            lowest = min(errors)
            near = [error / min(errors) <= AS_GOOD for error in errors]
            assert near == sorted(near, reverse=True)
            beyond = [round(error / min(errors), 6) for error in errors[sum(near) :]]
            assert beyond == sorted(beyond)  # behind six digits errors differ by rounding alone
        assert first_pair(found) == split[0][0][:2]
        assert split[0][0].ratio <= AS_GOOD
        assert all(costs[one.protocol] >= costs[split[0][0].protocol] for one in found.rows if one.ratio <= AS_GOOD)

    settings = [(0.5, 64), (2.0, 1000), (4.0, 4), (0.5, 1000)]
    cells = [(metric, *setting) for metric in ("l1", "emd", "topk") for setting in settings]
    assert failures(cells, check) == {}


def test_of_errors_that_are_as_good_as_equal_the_shorter_report_is_first() -> None:
    assert first([row("long", "norm", 1.0), row("short", "norm", 1.009)]) == ("short", "norm")
    assert first([row("long", "norm", 1.0), row("short", "norm", 1.011)]) == ("long", "norm")


def test_of_equal_reports_the_lower_error_is_first() -> None:
    assert first([row("short", "norm", 1.0), row("short", "eb_ns", 1.005)]) == ("short", "norm")


def test_what_may_be_the_best_is_a_tie_up_to_a_quarter_more() -> None:
    rows = [row("long", "a", 1.0), row("long", "b", 1.049, 1.02), row("long", "c", 1.2, 0.99), row("long", "d", 1.26)]
    near, far = tiers([*rows[:3], row("short", "e", 1.21, 1.01), rows[3]], COSTS)
    assert [one.method for one in near] == ["a", "b", "c"]
    assert [one.method for one in far] == ["e", "d"]
