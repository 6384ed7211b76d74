from __future__ import annotations

from knowledge.describe.profile import profile_of
from knowledge.ranking import MOST, LookUp, LookUpRow, costs_of, first_pair, look_up, placed
from simulator.populations import frequencies
from simulator.ranking import PRACTICAL_RATIO
from tests.cells import failures

COSTS = {"long": (64, 0.1), "short": (3, 0.2)}


def row(protocol: str, method: str, ratio: float, low: float = 0.9) -> LookUpRow:
    return LookUpRow(
        protocol, method, ratio, ratio, ratio, ratio, min(low, ratio), 2.0, 1.0, 0.1, (ratio,), "interpolated"
    )


def answer_of(*rows: LookUpRow) -> LookUp:
    return LookUp("l1", 8, 1.0, 1000, False, tuple(sorted(rows, key=lambda one: one.ratio)), (), ())


def first(*rows: LookUpRow) -> tuple[str, str]:
    answer = answer_of(*rows)
    best = answer.rows[placed(answer, COSTS)[0].at]
    return best.protocol, best.method


def test_the_first_has_the_cheapest_report_of_the_ties_and_the_others_rise() -> None:
    def check(cell: tuple[str, float, int]) -> None:
        metric, epsilon, k = cell
        answer = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, 100_000, metric)
        costs = costs_of((one.protocol for one in answer.rows), k, epsilon)
        places = placed(answer, costs)
        best, *others = rows = [answer.rows[place.at] for place in places]
        assert sorted(rows) == sorted(answer.rows)
        assert first_pair(answer) == best[:2]
        assert best.ratio <= PRACTICAL_RATIO
        assert all(costs[one.protocol] >= costs[best.protocol] for one in rows if one.ratio <= PRACTICAL_RATIO)
        beyond = [round(one.ratio, 6) for one in others]
        assert beyond == sorted(beyond)  # behind six digits errors differ by rounding alone
        tied = [one for place, one in zip(places, rows, strict=True) if place.rank == 1]
        assert max(one.ratio for one in tied) <= MOST
        assert {one[:2] for one in rows if one.ratio < PRACTICAL_RATIO} <= {one[:2] for one in tied}

    settings = [(0.5, 64), (2.0, 1000), (4.0, 4), (0.5, 1000)]
    cells = [(metric, *setting) for metric in ("l1", "emd", "topk") for setting in settings]
    assert failures(cells, check) == {}


def test_of_errors_within_five_percent_the_shorter_report_is_first() -> None:
    assert first(row("long", "norm", 1.0), row("short", "norm", 1.049)) == ("short", "norm")
    assert first(row("long", "norm", 1.0), row("short", "norm", 1.051)) == ("long", "norm")


def test_of_equal_reports_the_lower_error_is_first() -> None:
    assert first(row("short", "norm", 1.0), row("short", "eb_ns", 1.005)) == ("short", "norm")


def test_what_may_be_the_best_is_a_tie_up_to_a_quarter_more() -> None:
    near = row("long", "a", 1.0), row("long", "b", 1.049, 1.02), row("long", "c", 1.2, 0.99)
    answer = answer_of(*near, row("short", "e", 1.21, 1.01), row("long", "d", 1.26))
    assert [(answer.rows[place.at].method, place.rank) for place in placed(answer, COSTS)] == [
        ("a", 1),
        ("b", 1),
        ("c", 1),
        ("e", 4),
        ("d", 5),
    ]
