import math

import judge_predictions
import numpy as np
import pytest
from judging import METHOD, PAIR, Histogram, JudgedSetting, Judging, PairErrors, evaluate, holdout, settings

from advisor import advise
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for


def setting(number, measured, predicted):
    return JudgedSetting(
        histogram=f"h{number}",
        n=10_000,
        epsilon=1.0,
        errors={"l1": [exactly(pair, math.log(error), math.log(predicted[pair])) for pair, error in measured.items()]},
        tree={"l1": ("oue", "norm_sub")},
        smallest="grr",
        choice={"l1": {"": first(predicted), **{name: first(predicted, name) for name in ("oue", "grr")}}},
    )


def exactly(pair, measured, predicted):
    return PairErrors(pair, measured, (measured, measured), predicted)


def first(predicted, *protocols):
    return min((pair for pair in predicted if not protocols or pair[0] in protocols), key=lambda pair: predicted[pair])


ONE = setting(
    1,
    {("oue", "norm"): 2.0, ("oue", "norm_sub"): 1.0, ("grr", "norm"): 4.0, ("grr", "norm_sub"): 3.0},
    {("oue", "norm"): 2.0, ("oue", "norm_sub"): 1.5, ("grr", "norm"): 3.0, ("grr", "norm_sub"): 4.0},
)
OTHER = setting(
    2,
    {("oue", "norm"): 1.0, ("oue", "norm_sub"): 1.2, ("grr", "norm"): 2.0, ("grr", "norm_sub"): 2.0},
    {("oue", "norm"): 1.0, ("oue", "norm_sub"): 0.9, ("grr", "norm"): 2.0, ("grr", "norm_sub"): 3.0},
)


def test_scores_by_hand():
    scores = {(score.task, score.chooser): score for score in evaluate([ONE, OTHER])}
    model = scores[PAIR, "model"]  # picks oue + norm_sub twice: right, then 1.2 over 1.0
    assert model.settings == 2
    assert model.regret == pytest.approx(math.sqrt(1.2) - 1)
    assert model.regret_worst == pytest.approx(0.2)
    assert model.single_best == "oue + norm_sub"
    assert model.closed_gap == pytest.approx(0)
    assert model.worse_than_single == 0
    assert (model.top_1, model.top_3) == (0.5, 1.0)
    assert model.prediction_error == pytest.approx(math.exp((math.log(1.5) + math.log(1.2 / 0.9)) / 2) - 1)
    assert scores[PAIR, "single best"].regret == model.regret
    assert scores[PAIR, "variance rule + norm_sub"].regret == pytest.approx(math.sqrt(3 * 2) - 1)
    assert scores[PAIR, "oue + norm_sub"].regret == model.regret
    method = scores[METHOD, "model"]  # four questions; regrets: 1, 4/3, 1.2, 1
    assert method.settings == 4
    assert method.regret == pytest.approx((4 / 3 * 1.2) ** 0.25 - 1)
    assert method.worse_than_single == 0.25  # norm_sub is the single best, and better for grr in the first
    assert math.isnan(scores[PAIR, "tree"].prediction_error)


def test_what_is_judged_is_what_a_look_up_lists_first():
    histogram = Histogram("a", apportion(frequencies("zipf", 12, 1.0), 100_000), ordered=True)
    (done,) = settings([histogram], Judging(users=[100_000], epsilons=[1.0], repetitions=4, metrics=["l1", "emd"]))
    for metric in ("l1", "emd"):
        asked = {"sample_counts": histogram.counts, "ordered": True, "instant": True, "metric": metric}
        assert done.choice[metric][""] == advise(1.0, **asked).best.pair
        assert done.choice[metric]["hr"] == advise(1.0, protocol="hr", **asked).best.pair
        score = next(score for score in evaluate([done]) if (score.metric, score.task) == (metric, PAIR))
        measured = {one.pair: one.measured for one in done.errors[metric]}
        assert (score.top_1 == 1) == (measured[done.choice[metric][""]] == min(measured.values()))


def test_luck_is_no_regret():
    rng = rng_for(0, "tests", "luck")
    regrets = []
    for number in range(80):
        halves = [tuple(rng.normal(size=2) * 0.1) for _ in range(60)]
        done = JudgedSetting(
            histogram=f"h{number}",
            n=1000,
            epsilon=1.0,
            errors={
                "l1": [
                    PairErrors(("oue", f"m{place}"), sum(two) / 2, two, float(place))
                    for place, two in enumerate(halves)
                ]
            },
            tree={"l1": ("oue", "m0")},
            smallest="oue",
            choice={"l1": {"": ("oue", "m0"), "oue": ("oue", "m0")}},
        )
        score = next(score for score in evaluate([done]) if (score.task, score.chooser) == (PAIR, "model"))
        regrets.append(math.log1p(score.regret))
    # Chosen and best each have two halves of sd 0.1: their difference has sd 0.1.
    assert abs(np.mean(regrets)) < 4 * 0.1 / math.sqrt(len(regrets))


def test_an_evaluation_of_a_small_histogram():
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=True), Histogram("b", np.arange(5), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0, 2.0], "protocols": ["oue", "grr"], "repetitions": 8}
    done = settings(histograms, Judging(**asked))
    assert len(done) == 4
    scores = evaluate(done)
    assert {score.metric for score in scores} == {"l1", "l2", "kl", "emd", "range", "topk"}
    by_metric = {(score.metric, score.task): score.settings for score in scores}
    assert by_metric["l1", PAIR] == 4
    assert by_metric["l1", METHOD] == 8
    assert by_metric["emd", PAIR] == 2
    for score in scores:
        assert -0.5 < score.regret <= score.regret_worst
        assert 0 <= score.top_1 <= score.top_3 <= 1
        if score.chooser == "single best":
            assert math.isnan(score.closed_gap) or score.closed_gap == pytest.approx(0)
            assert score.worse_than_single == 0
    rows = [line.strip("| ").split(" | ") for line in judge_predictions.table(scores)]
    assert len(rows) == 2 + len([score for score in scores if score.chooser == "model"])
    for score in scores:  # the regrets of the other choosers stand beside the model's
        row = next(row for row in rows if tuple(row[:2]) == (score.metric, score.task))
        place = rows[0].index("regret (95 %, worst)" if score.chooser == "model" else score.chooser)
        assert row[place].startswith(f"{100 * score.regret:.1f} %")


@pytest.mark.slow
def test_an_evaluation_does_not_depend_on_its_workers():
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=True), Histogram("b", np.arange(5), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0], "protocols": ["oue"], "metrics": ["l1"], "repetitions": 6}
    one, two = (settings(histograms, Judging(jobs=jobs, **asked)) for jobs in (1, 2))
    assert one == two


def test_unseen_shapes_are_no_family_of_the_cells():
    from knowledge.making.populations import ORDERED_FAMILIES

    histograms = holdout()
    assert len({histogram.name for histogram in histograms}) == len(histograms)
    assert not {histogram.name.split()[0] for histogram in histograms} & set(ORDERED_FAMILIES)
    for one, other in zip(histograms, holdout(), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
