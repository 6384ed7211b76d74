import math
from itertools import pairwise

import pytest

from advisor import Cleaning, Plurality, Simulation, advise
from advisor.answers.rank.outlook import outlook
from advisor.figures import users
from advisor.show.rank.explorer import explorer_of
from knowledge.describe.profile import profile_of
from knowledge.ranking import look_up
from simulator.populations import apportion, frequencies

MENU = {"protocol": ["grr", "oue"], "method": ["none", "norm_sub", "eb_ns"]}
COUNTS = apportion(frequencies("zipf", 12), 30_000)


@pytest.fixture(scope="module")
def advice():
    return advise(1.0, sample_counts=COUNTS, **MENU, simulation=Simulation(repetitions=6, max_repetitions=6))


def shown_outlook(advice, stops=None):
    expected = outlook(advice, stops)
    assert expected is not None
    return explorer_of(expected)


@pytest.fixture(scope="module")
def explorer(advice):
    return shown_outlook(advice)


@pytest.fixture(scope="module")
def predicted():
    return shown_outlook(advise(1.0, k=64, n=100_000, shape="zipf", **MENU))


def test_the_question_itself_has_the_figures_of_the_answer(advice, explorer):
    (first, second), best = (dial.at for dial in explorer.dials), advice.best
    assert explorer.curves[0].values[second][first] == best.error


def test_a_best_guess_is_that_of_who_knows_the_sample_at_every_budget(advice, explorer):
    (first, second), best, prior = (dial.at for dial in explorer.dials), advice.best, COUNTS.max() / COUNTS.sum()
    guesses = [float(row[second][-1].removeprefix("right in ").split(" %")[0]) / 100 for row in explorer.figures]
    assert guesses[first] == pytest.approx(best.attack_success, abs=1e-3)
    assert guesses == sorted(guesses)
    assert min(guesses) >= round(prior, 3)
    assert {row[0][-1].split(" of cases, ")[1] for row in explorer.figures} == {
        f"by who knows the frequencies of the sample; without a report in {100 * prior:.1f} %"
    }


def test_everywhere_else_it_is_the_prediction_times_one_factor(advice, explorer):
    (first, second), pair = (dial.at for dial in explorer.dials), advice.best.pair
    n, profile = 30_000, profile_of(COUNTS, 30_000)
    request = advice.request
    errors = {}
    for epsilon in explorer.dials[0].values:
        there = look_up(
            profile, epsilon, n, "l1", ordered=request.ordered, protocols=request.protocols, methods=request.methods
        )
        errors[epsilon] = {(row.protocol, row.method): row.error for row in there.rows}
    factor = advice.best.error / errors[1.0][pair]
    for place, epsilon in enumerate(explorer.dials[0].values):
        value = explorer.curves[0].values[second][place]
        assert value is not None
        # The pair of the answer, or where another is more than 5 % better, one of the first.
        assert value <= 1.05 * factor * min(errors[epsilon].values()) * (1 + 1e-9) or place == first
        assert any(math.isclose(value, factor * error, rel_tol=1e-6) for error in errors[epsilon].values())


def test_a_look_up_is_not_scaled_and_more_users_err_less(predicted):
    column = [row[predicted.dials[0].at] for row in predicted.curves[0].values]
    assert all(one is not None and other is not None and one > other for one, other in pairwise(column))
    assert len(predicted.dials[1].texts) == len(predicted.curves[0].values) == 7


def test_an_error_in_bins_is_in_the_unit_of_the_data():
    cleaning = Cleaning(bin_width=10, edges=(0, 80), unit="years")
    ages = {"sample": list(range(80)) * 5, "n": 10_000, "cleaning": cleaning}
    advice = advise(1.0, **ages, metric="emd", instant=True, **MENU)
    explorer, best = shown_outlook(advice), advice.best
    first, second = (dial.at for dial in explorer.dials)
    assert explorer.axis == "earth mover's distance (years)"
    assert explorer.curves[0].values[second][first] == 10 * best.error


def test_of_several_attributes_users_are_all_who_take_part_as_in_the_verdict():
    plurality = Plurality(attributes=10, solution="smp")
    advice = advise(1.0, k=16, n=1_000_000, shape="zipf", plurality=plurality, **MENU)
    explorer = shown_outlook(advice)
    first, second = (dial.at for dial in explorer.dials)
    figures = dict(zip(explorer.names, explorer.figures[first][second], strict=True))
    assert explorer.dials[1].values[second] == advice.request.n == 100_000
    off = users(1_000_000 * advice.best.mean_absolute_error)
    assert figures["Each category is off by"].startswith(f"about {off} of 1,000,000 users")
    assert figures["Smallest detectable frequency"].endswith(f"{users(1_000_000 * advice.detectable_frequency)} users")


def test_a_dial_that_is_turned_stays_the_same_dial(predicted):
    advice = advise(1.5, k=64, n=300_000, shape="zipf", **MENU)
    values = tuple(dial.values for dial in predicted.dials)
    turned, anew = shown_outlook(advice, values), shown_outlook(advice)
    assert tuple(dial.values for dial in turned.dials) == values != tuple(dial.values for dial in anew.dials)
    assert [dial.values[dial.at] for dial in turned.dials] == [1.5, 300_000]
    (first, second), (third, fourth) = ([dial.at for dial in one.dials] for one in (turned, anew))
    assert turned.figures[first][second] == anew.figures[third][fourth]


def test_the_budgets_hold_the_one_that_was_asked_about_and_stay_where_predictions_are_made():
    for epsilon in (1.23, 16.0):
        advice = advise(epsilon, k=16, n=10_000, shape="zipf", protocol=["grr", "oue"], method=["none", "norm_sub"])
        (budgets, _) = shown_outlook(advice).dials
        assert budgets.values[budgets.at] == epsilon
        assert list(budgets.values) == sorted(set(budgets.values))
        assert len(budgets.values) == 9
        assert min(budgets.values) >= 0.1
        assert max(budgets.values) <= 16
