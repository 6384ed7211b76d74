from functools import partial

import pytest

from knowledge.changes import nearest_changes
from knowledge.describe.profile import profile_of
from knowledge.ranking import look_up
from simulator.populations import frequencies


def best_pair(answer):
    return answer.best.protocol, answer.best.method


def l1(of, epsilon, n):
    return look_up(of, epsilon, n, "l1")


def zipf(skew):
    return profile_of(frequencies("zipf", 32, skew))


def test_a_change_changes_the_answer_and_nothing_nearer_tried_does():
    n, epsilon = 20_000, 1.0
    now = best_pair(look_up(zipf(1.0), epsilon, n, "l1"))
    changes = nearest_changes(zipf(1.0), epsilon, n, l1, choose=best_pair, of_skew=zipf)
    assert [change.what for change in changes] == sorted(
        {change.what for change in changes}, key=["epsilon", "n", "skew"].index
    )
    assert changes
    for change in changes:
        asked = {"epsilon": epsilon, "n": float(n), "skew": 1.0} | {change.what: change.value}
        there = look_up(zipf(asked["skew"]), asked["epsilon"], round(asked["n"]), "l1")
        assert best_pair(there) != now
        assert best_pair(there) == (change.protocol, change.method)
        start = {"epsilon": epsilon, "n": float(n), "skew": 1.0}[change.what]
        part = 0.05  # the ladder's first step is further: nothing before it was passed over
        asked[change.what] = start + part * (change.value - start)
        near = look_up(zipf(asked["skew"]), asked["epsilon"], round(asked["n"]), "l1")
        assert best_pair(near) == now


def test_no_change_where_the_menu_has_one_pair():
    menu = partial(look_up, metric="l1", protocols=["oue"], methods=["norm"])
    assert nearest_changes(zipf(1.0), 1.0, 5_000, menu, choose=best_pair) == ()


@pytest.mark.slow
def test_without_a_shape_the_skew_is_left_alone():
    changes = nearest_changes(zipf(1.0), 1.0, 20_000, l1, choose=best_pair)
    assert "skew" not in {change.what for change in changes}
