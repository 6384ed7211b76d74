from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from advisor import advise
from knowledge.judging import scores as module
from knowledge.judging.questions import Histogram, JudgedSetting, Judging, PairErrors, holdout, settings
from knowledge.judging.scores import ENOUGH, FIRST, LEAST, METHOD, PAIR, PairComparison, evaluate, log_ratios
from knowledge.model import load
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray
from simulator.benchmark import simulate
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

Errors = dict[tuple[str, str], float]


def setting(number: int, measured: Errors, predicted: Errors) -> JudgedSetting:
    return JudgedSetting(
        histogram=f"h{number}",
        n=10_000,
        epsilon=1.0,
        errors={"l1": [exactly(pair, math.log(error), math.log(predicted[pair])) for pair, error in measured.items()]},
        tree={"l1": ("oue", "norm_sub")},
        smallest="grr",
        choice={"l1": {"": first(predicted), **{name: first(predicted, name) for name in ("oue", "grr")}}},
    )


def exactly(pair: tuple[str, str], measured: float, predicted: float) -> PairErrors:
    return PairErrors(pair, measured, (measured, measured), predicted)


def first(predicted: dict[tuple[str, str], float], *protocols: str) -> tuple[str, str]:
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


def test_scores_by_hand() -> None:
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


def test_what_is_judged_is_what_a_look_up_lists_first() -> None:
    histogram = Histogram("a", apportion(frequencies("zipf", 12, 1.0), 100_000), ordered=True)
    (done,) = settings([histogram], Judging(users=[100_000], epsilons=[1.0], repetitions=4, metrics=["l1", "emd"]))
    for metric in ("l1", "emd"):
        asked = {"sample_counts": histogram.counts, "ordered": True, "instant": True, "metric": metric}
        assert done.choice[metric][""] == advise(1.0, **asked).best.pair
        assert done.choice[metric]["hr"] == advise(1.0, protocol="hr", **asked).best.pair
        score = next(score for score in evaluate([done]) if (score.metric, score.task) == (metric, PAIR))
        measured = {one.pair: one.measured for one in done.errors[metric]}
        assert (score.top_1 == 1) == (measured[done.choice[metric][""]] == min(measured.values()))


def test_luck_is_no_regret() -> None:
    """Sixty options with the same expected error: the lowest of the means is no better than the one that is chosen."""
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


def test_an_evaluation_of_a_small_histogram(tiny: Path) -> None:
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=True), Histogram("b", np.arange(5), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0, 2.0], "protocols": ["oue", "grr"], "repetitions": 8}
    done = settings(histograms, Judging(model=load(tiny), **asked))  # type: ignore[arg-type]
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


@pytest.mark.slow
def test_an_evaluation_does_not_depend_on_its_workers(tiny: Path) -> None:
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=True), Histogram("b", np.arange(5), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0], "protocols": ["oue"], "metrics": ["l1"], "repetitions": 6}
    one, two = (settings(histograms, Judging(model=load(tiny), jobs=jobs, **asked)) for jobs in (1, 2))  # type: ignore[arg-type]
    assert one == two


def test_what_is_worse_is_told_by_fresh_repetitions(tiny: Path) -> None:
    """Errors that say the opposite of the truth: only the share of worse choices is measured again."""
    histograms = [Histogram("a", np.array([50, 30, 15, 5]), ordered=False)]
    asked = {"users": [1_000], "epsilons": [1.0], "protocols": ["oue"], "metrics": ["l1"], "repetitions": 6}
    done = settings(histograms, Judging(model=load(tiny), **asked))[0]  # type: ignore[arg-type]
    none, sub = ("oue", "none"), ("oue", "norm_sub")  # far worse than norm_sub at so much noise, whatever is said
    lies = {none: 0.0, sub: math.log(2.0)}
    turned = replace(
        done,
        errors={"l1": [exactly(pair, value, -value) for pair, value in lies.items()]},
        tree={"l1": ("oue", "norm_sub")},
        choice={"l1": {"": sub, "oue": sub}},
    )
    for closer, expected in ((False, 1.0), (True, 0.0)):
        scores = {(score.task, score.chooser): score for score in evaluate([turned], closer=closer)}
        model = scores[PAIR, "model"]
        assert model.single_best == "oue + none"
        assert model.worse_than_single == expected  # norm_sub is chosen: worse by the lies, and not by the truth
        assert model.regret == pytest.approx(1.0)


def test_unknown_metrics_are_refused_and_questions_without_a_population_to_simulate_again() -> None:
    with pytest.raises(ValueError, match="metric must be one of"):
        Judging(metrics=["l7"])
    with pytest.raises(ValueError, match="there is no population of h1"):
        evaluate([ONE, OTHER], closer=True)


def test_unseen_shapes_are_no_family_of_the_cells() -> None:
    from knowledge.making.populations import ORDERED_FAMILIES

    histograms = holdout()
    assert len({histogram.name for histogram in histograms}) == len(histograms)
    assert not {histogram.name.split()[0] for histogram in histograms} & set(ORDERED_FAMILIES)
    for one, other in zip(histograms, holdout(), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)


# Choices that are told apart by fresh repetitions, against errors simulated with nothing but a loop.
COUNTS = apportion(frequencies("zipf", 20), 10_000)
NORM, NONE, GRR = ("oue", "norm"), ("oue", "none"), ("grr", "none")


def slow_mean(metric: str, pair: tuple[str, str], repetitions: int) -> tuple[float, float]:
    """Mean error of a pair and its standard error, one collection after the other."""
    oracle, rng, n = PROTOCOLS[pair[0]](20, 1.0), rng_for(5, "slow", *pair), int(COUNTS.sum())
    errors = []
    for _ in range(repetitions):
        estimate = oracle.estimate(oracle.sample_support(COUNTS, rng), n)
        errors.append(METRICS[metric](POSTPROCESSORS[pair[1]](estimate, oracle.noise(n)), COUNTS / n))
    return float(np.mean(errors)), float(np.std(errors, ddof=1)) / repetitions**0.5


@pytest.mark.parametrize("metric", ["l1", "topk"])
def test_ratios_are_those_of_a_loop(metric: str) -> None:
    wanted = [PairComparison(metric, NONE, GRR), PairComparison(metric, NORM, NONE)]
    found = log_ratios(COUNTS, 1.0, wanted, math.log(1.05))
    for one in wanted:
        (error, own), (other, others) = (slow_mean(metric, pair, 400) for pair in (one.choice, one.other))
        # The ratios ratio has at most the error of 40 repetitions: three times that of the loop's 400.
        bound = 4 * (1 + 3) * math.hypot(own / error, others / other)
        assert abs(found[one] - math.log(error / other)) < bound


def counted(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], int]:
    """Return how many repetitions of each pair are simulated from here on, each once and in a row."""
    taken: dict[tuple[str, str], int] = {}

    def counting(experiment: object, first: int, repetitions: int, **given: object) -> object:
        for pair in given["pairs"]:  # type: ignore[attr-defined]
            assert taken.get(pair, 0) == first
            taken[pair] = first + repetitions
        return simulate(experiment, first, repetitions, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "simulate", counting)
    return taken


def test_clear_ratios_take_few_repetitions_and_close_ones_many(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    monkeypatch.setattr(module, "CATEGORIES", 20 * 2 * LEAST)
    monkeypatch.setattr(module, "ENOUGH", 0.0)
    clear = PairComparison("l2", GRR, ("oue", "norm_sub"))
    ratio = log_ratios(COUNTS, 1.0, [clear], math.log(1.05))[clear]
    assert taken == {GRR: FIRST, ("oue", "norm_sub"): FIRST}
    assert ratio > math.log(1.05)
    taken.clear()
    # Held against the very ratio that all repetitions give, no smaller number of them is clear.
    with monkeypatch.context() as patched:
        patched.setattr(module, "CLEAR", math.inf)
        final = log_ratios(COUNTS, 1.0, [clear], 0.0)[clear]
    taken.clear()
    assert log_ratios(COUNTS, 1.0, [clear], final) == {clear: final}
    assert set(taken.values()) == {2 * LEAST}  # 20 categories


def test_what_is_known_to_a_percent_is_simulated_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, errors = counted(monkeypatch), []

    def known(*blocks: FloatArray) -> tuple[float, float]:
        _, error = ratio_of(*blocks)
        errors.append(error)
        return 0.0, error  # at the very limit, where no number of repetitions would be clear

    ratio_of = module._log_ratio
    monkeypatch.setattr(module, "_log_ratio", known)
    one = PairComparison("l1", GRR, ("oue", "norm_sub"))
    assert log_ratios(COUNTS, 1.0, [one], 0.0) == {one: 0.0}
    assert FIRST < taken[GRR] < module.CATEGORIES // 20
    assert errors[-1] <= ENOUGH < errors[-2]


def test_a_pair_is_as_good_as_itself() -> None:
    same = PairComparison("l1", NORM, NORM)
    assert log_ratios(COUNTS, 1.0, [same], math.log(1.05)) == {same: 0.0}


def test_the_answer_does_not_depend_on_the_workers_but_on_the_seed() -> None:
    one = PairComparison("kl", ("oue", "norm_sub"), ("ss", "norm_sub"))
    alone = log_ratios(COUNTS, 1.0, [one], 1.0, seed=3)
    assert alone == log_ratios(COUNTS, 1.0, [one], 1.0, seed=3, jobs=2)
    assert alone != log_ratios(COUNTS, 1.0, [one], 1.0, seed=4)
