import numpy as np
import pytest
from scipy import stats

from advisor import InputError, Simulation, advise
from advisor.answers.rank.assemble import contests, ranking_of
from advisor.answers.rank.simulate import simulate_request, simulated_answer
from advisor.api.advice import Advice
from advisor.question.frequencies import Frequencies
from advisor.question.question import Question
from advisor.question.ranking import ranking_request
from advisor.question.settings import Menu, Terms
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, simulate
from simulator.populations import apportion, frequencies
from simulator.ranking import mean_error
from simulator.seeding import rng_for
from tests.advisor.estimates import ALONE, quick

COUNTS = apportion(frequencies("zipf", 8, 1.0), 3000)
EQUALS = {"protocol": ["oue", "olh", "rappor", "the"], "method": ["none", "norm", "norm_sub", "base_pos"]}
SMALL = {"ordered": False, "simulation": Simulation(repetitions=20, max_repetitions=20, jobs=1)} | EQUALS
EXPERIMENTS, LONG_RUN = 200, 2000
FALSE_ALARM = 1e-4  # of each metric: that fewer intervals than the bound hold the truth, if 90 % do


def by_hand(advice, repetitions, seed=0):
    best, counts = advice.best, advice.request.counts
    n, oracle = int(counts.sum()), PROTOCOLS[best.protocol](len(counts), 1.0)
    errors = []
    for repetition in repetitions:
        support = oracle.sample_support(counts, rng_for(seed, "collect", best.protocol, repetition))
        estimate = POSTPROCESSORS[best.method](oracle.estimate(support, n), oracle.noise(n))
        errors.append(float(METRICS[advice.metric](estimate, counts / n)))
    return np.array(errors)


@pytest.mark.slow
def test_the_interval_of_the_named_pair_holds_its_error_in_nine_of_ten_rankings():
    """Of 16 pairs that are nearly alike the cheapest report is named: luck has little to say, but something."""
    names, metrics = (EQUALS["protocol"], EQUALS["method"]), ("l1", "topk")
    experiment = Experiment(
        counts=COUNTS,
        oracles={name: PROTOCOLS[name](8, 1.0) for name in names[0]},
        methods={name: POSTPROCESSORS[name] for name in names[1]},
        metrics={metric: METRICS[metric] for metric in metrics},
        pairs=tuple((protocol, method) for protocol in names[0] for method in names[1]),
        seed=10**9,
    )
    runs, covered = simulate(experiment, 0, LONG_RUN), dict.fromkeys(metrics, 0)
    truth = {metric: {pair: errors.mean() for pair, errors in runs.of(metric).items()} for metric in metrics}
    menu, terms = Menu(protocol=names[0], method=names[1]), Terms(epsilon=1.0, metric=metrics)
    known = Frequencies(COUNTS, tuple("abcdefgh"), False, "few", 3000, (), ())
    for seed in range(EXPERIMENTS):
        # A quarter of the usual repetitions: luck and intervals grow alike, by a factor of two.
        question = Question(terms=terms, menu=menu, simulation=Simulation(seed=seed, max_repetitions=100, jobs=1))
        for ranking in simulated_answer(ranking_request(question, known)).rankings:
            best = ranking.best
            covered[ranking.metric] += best.error_low <= truth[ranking.metric][best.pair] <= best.error_high
    assert min(covered.values()) >= stats.binom.ppf(FALSE_ALARM, EXPERIMENTS, 0.9)


def test_the_figures_of_the_named_pair_are_of_its_own_collections():
    advice = advise(
        1.0, sample_counts=COUNTS, metric="l2", **EQUALS, simulation=Simulation(repetitions=5, max_repetitions=10)
    )
    best, errors = advice.best, by_hand(advice, range(advice.best.repetitions or 0))
    assert advice.repetitions == len(errors) == 10
    assert (best.error, best.error_low, best.error_high) == pytest.approx(mean_error(errors)[:3], rel=1e-9)
    assert best.spread == pytest.approx(errors.std(ddof=1), rel=1e-9)
    assert advice.lowest.ratio_to_best == 1


def test_one_population_behind_an_estimate_is_collected_from_and_several_are_drawn():
    raw = COUNTS / COUNTS.sum()
    collected = {"n": 3000, "ordered": False, "repetitions": 60, "method": EQUALS["method"]}
    one = quick(raw, surrogate="norm_sub", **collected)
    assert one.best.error == pytest.approx(by_hand(one, range(60)).mean(), rel=1e-9)
    assert (one.next_round.best.repetitions, one.next_round.repetitions) == (20, 20)
    several = quick(raw, **collected, **ALONE)
    assert several.over_populations
    assert several.best.error == min(row.error for row in several.recommendations)
    assert quick(raw, **collected).next_round.repetitions == 60


def simulated(metric):
    words = Terms(epsilon=1.0, metric=(metric,))
    settings = Question(terms=words, menu=Menu(protocol=("oue", "olh"), method=("none", "norm_sub")))
    request = ranking_request(settings, Frequencies(COUNTS, tuple("abcdefgh"), False, "few", 3000, (), ()))
    return request, *simulate_request(request, jobs=1)


def test_errors_that_are_rounding_are_none_and_share_the_first_rank():
    for metric, floor in (("l1", 1e-9), ("l2", 1e-9), ("mse", 1e-18)):
        request, experiment, runs = simulated(metric)
        shares = {("oue", "none"): 0.0, ("oue", "norm_sub"): 0.9, ("olh", "none"): 0.99, ("olh", "norm_sub"): 1.01}
        for pair, share in shares.items():
            runs.errors[pair][:] = share * floor
        ranking = ranking_of(contests(metric, request, experiment, runs)[:1])
        *equal, other = ranking.recommendations
        assert [(row.error, row.rank) for row in equal] == [(0.0, 1)] * 3
        assert (other.pair, other.rank) == (("olh", "norm_sub"), 4)
        assert other.error == pytest.approx(1.01 * floor)


def test_a_pair_without_a_finite_error_is_left_out_with_a_word():
    request, experiment, runs = simulated("l1")
    runs.errors["oue", "norm_sub"][3] = np.inf
    ranking = ranking_of(contests("l1", request, experiment, runs)[:1])
    assert {row.pair for row in ranking.recommendations} == {("oue", "none"), ("olh", "none"), ("olh", "norm_sub")}
    assert "norm_sub has no finite l1 error with oue: it is not ranked there" in ranking.warnings
    assert Advice.of(ranking).to_json()
    for errors in runs.errors.values():
        errors[:] = np.inf
    with pytest.raises(InputError, match="no pair has a finite l1 error"):
        contests("l1", request, experiment, runs)
