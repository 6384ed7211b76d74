import json
import math
from itertools import product

import numpy as np
import pytest

from advisor.answers.rank.apply import frequency_interval
from advisor.errors import InputError
from advisor.inputs.reports.settings import protocol_with
from advisor.question.cleaning import Cleaning
from advisor.question.collected_request import CollectedQuestion, Collection
from advisor.question.settings import Categories, Terms
from simulator import PROTOCOLS, rng_for
from simulator.detection import smallest_detectable, threshold
from tests.advisor.inputs.reading import put
from tests.cells import over


def stated(protocol, p, q, *, k=None, **more):
    collection = Collection(used=(protocol,), own_rate=p, other_rate=q, flip_prob=more.pop("flip", None))
    terms, cleaning = Terms(epsilon=more.pop("epsilon", None)), Cleaning(domain=more.pop("domain", None))
    question = CollectedQuestion(collection=collection, domain=Categories(k=k), terms=terms, cleaning=cleaning)
    return question.with_budget()


def bits_channel(p, q, k):
    """Probabilities of all 2^k reports (columns) of the k values (rows)."""
    rates = np.where(np.eye(k, dtype=bool), p, q)
    return np.array([[np.where(report, row, 1 - row).prod() for report in product((0, 1), repeat=k)] for row in rates])


@over(
    [
        ("rappor", 0.75, 0.25, 3),
        ("oue", 0.6, 0.1, 3),
        ("rappor", 0.9, 0.5, 2),
        ("grr", 0.8, 0.1, 3),
        ("grr", 0.7, 0.3, 2),
    ]
)
def test_the_budget_is_the_largest_log_ratio_of_all_reports(protocol, p, q, k):
    channel = np.where(np.eye(k, dtype=bool), p, q) if protocol == "grr" else bits_channel(p, q, k)
    assert channel.sum(axis=1) == pytest.approx(np.ones(k))
    expected = float(np.log(channel.max(axis=0) / channel.min(axis=0)).max())
    question = stated(protocol, p, q, k=k)
    assert question.epsilon == pytest.approx(expected, rel=1e-12)
    member = PROTOCOLS[protocol](k, question.epsilon, **question.collection.parameters)
    assert (member.p, member.q) == pytest.approx((p, q))
    assert stated(protocol, p, q, k=k, epsilon=round(expected, 2)).epsilon == question.epsilon
    if math.isclose(p + q, 1):
        flipped = stated(protocol, None, None, k=k, flip=q if protocol == "rappor" else 1 - p)
        assert flipped.epsilon == pytest.approx(expected, rel=1e-12)


@over([(0.5, 0.5, 0.75), (0.0, 0.35, 0.65), (0.25, 0.1, 0.9)])
def test_two_steps_of_rappor_are_one_p_and_one_q(f, p, q):
    """As the page of reports says. A bit is fixed to 1 or to 0 (f/2 each); then it is sent as 1 with q, 0 with p."""
    ones = []
    for bit in (1, 0):
        memoised = {1: f / 2 + (1 - f) * bit, 0: f / 2 + (1 - f) * (1 - bit)}
        ones.append(sum(chance * (q if kept else p) for kept, chance in memoised.items()))
    assert ones == pytest.approx([(1 - f / 2) * q + f / 2 * p, (1 - f / 2) * p + f / 2 * q])
    assert stated("rappor", *ones).epsilon == pytest.approx(np.log(ones[0] * (1 - ones[1]) / (ones[1] * (1 - ones[0]))))


@over([("rappor", 0.8, 0.3), ("oue", 0.4, 0.05)])
def test_estimates_vary_as_the_closed_form_says_user_by_user(protocol, p, q):
    counts, repetitions = np.array([120, 60, 20, 0]), 2000
    question = stated(protocol, p, q)
    member = PROTOCOLS[protocol](4, question.epsilon, **question.collection.parameters)
    rng, n = rng_for(0, "tests", "rates", protocol), int(counts.sum())
    runs = np.array([member.estimate(member.replay_support(counts, rng), n) for _ in range(repetitions)])
    variance = (counts * p * (1 - p) + (n - counts) * q * (1 - q)) / (n * (p - q)) ** 2
    assert member.variance(counts / n, n) == pytest.approx(variance)
    # Each of 16 figures is off by more than 5 standard errors with probability 6e-7 (the kurtosis is nearly 3).
    assert np.abs(runs.mean(axis=0) - counts / n).max() < 5 * np.sqrt(variance.max() / repetitions)
    assert np.abs(runs.var(axis=0) / variance - 1).max() < 5 * np.sqrt(2 / repetitions)
    quick = member.sample_support(np.tile(counts, (repetitions, 1)), rng)
    assert np.abs(member.estimate(quick, n).mean(axis=0) - counts / n).max() < 5 * np.sqrt(variance.max() / repetitions)


@over([(11 / 12, 1 / 6), (0.6, 0.01), (0.99, 0.6)])
def test_answers_that_are_forced_unevenly_have_one_noise_and_intervals_that_cover(p, q):
    question = stated("grr", p, q, k=2, domain="answers.txt")
    channel = np.array([[p, 1 - p], [q, 1 - q]])
    assert question.epsilon == pytest.approx(np.log(channel.max(axis=0) / channel.min(axis=0)).max(), rel=1e-12)
    member = protocol_with("grr", 2, question.epsilon, question.collection.parameters)
    counts, n, repetitions, rng = np.array([600, 1400]), 2000, 2000, rng_for(0, "tests", "forced", f"{p}")
    variance = (600 * p * (1 - p) + 1400 * q * (1 - q)) / (n * (p - q)) ** 2
    noise = member.noise(n)
    assert noise.entry(counts / n) == pytest.approx([variance, variance])
    by_user = np.array([member.replay_support(counts, rng) for _ in range(repetitions)])
    for supports in (by_user, member.sample_support(np.tile(counts, (repetitions, 1)), rng)):
        runs = member.estimate(supports, n)
        assert np.abs(runs.mean(axis=0) - counts / n).max() < 5 * np.sqrt(variance / repetitions)
        assert np.abs(runs.var(axis=0) / variance - 1).max() < 5 * np.sqrt(2 / repetitions)
        low, high = frequency_interval(runs, noise)
        covered = ((low <= counts / n) & (counts / n <= high)).mean(axis=0)
        assert np.abs(covered - 0.95).max() < 5 * np.sqrt(0.95 * 0.05 / repetitions)
    least = round(smallest_detectable(member, n) * n)  # of either answer, at least as often as is said
    for at, holders in enumerate(np.array([[least, n - least], [n - least, least]])):
        supports = member.sample_support(np.tile(holders, (repetitions, 1)), rng)
        assert (member.estimate(supports, n)[:, at] > threshold(member, n)).mean() > 0.8 - 5 * 0.4 / repetitions**0.5


def test_answers_that_are_forced_unevenly_need_their_order(run, tmp_path):
    counts = put(tmp_path, "counts.csv", "answer,count\n0,1220\n1,780\n")
    raw = put(tmp_path, "raw.csv", f"value,estimate\n0,{1 - (0.39 - 1 / 6) / 0.75}\n1,{(0.39 - 1 / 6) / 0.75}\n")
    order, rates = put(tmp_path, "order.txt", "1\n0\n"), ("--p", repr(11 / 12), "--q", repr(1 / 6))
    reports = ("reports", counts, "--counts", "count", "--protocol", "grr")
    assert "--domain FILE" in run(*reports, *rates)[2]
    tally, figures = tmp_path / "t.json", []
    assert run(*reports, *rates, "--domain", order, "--tally", str(tally))[0] == 0
    estimate = ("estimate", raw, "--n", "2000", "--protocol", "grr", *rates, "--domain", order)
    for at, words in enumerate(((*reports, *rates, "--domain", order), ("reports", "--merge", str(tally)), estimate)):
        applied = tmp_path / f"{at}.csv"
        few = ("--method", "none", "--reps", "4", "--next-protocol", "grr")
        code, out, _ = run(*words, *few, "--apply", str(applied), "--verbose")
        assert (code, "that guess is right in 87.5 %" in out, "of a report '1'" in out) == (0, True, True)
        figures.append(np.loadtxt(applied, delimiter=",", skiprows=1))
    assert figures[0][:, :2] == pytest.approx(np.array([[1, (0.39 - 1 / 6) / 0.75], [0, 1 - (0.39 - 1 / 6) / 0.75]]))
    assert figures[1] == pytest.approx(figures[0])
    assert figures[2] == pytest.approx(figures[0])


WRONG = [
    (("grr", 0.8, 0.1), {"k": 2}, "p=0.8 and q=0.1 do not sum to 1, .* give --domain FILE"),
    (("grr", None, None), {"flip": 0.1}, "flip-prob for grr needs --k"),
    (("oue", None, None), {"flip": 0.1}, "for oue give --p and --q"),
    (("rappor", 0.75, 0.25), {"flip": 0.25}, "give one of"),
    (("rappor", 1.0, 0.25), {}, "p must be above 0 and below 1"),
    (("rappor", None, None), {"flip": 0.5}, "flip-prob must be above 0 and below 0.5"),
    (("rappor", 0.75, 0.25), {"epsilon": 2.0}, "eps is 2, and 2.197 is what the probabilities say"),
    (("olh", 0.75, 0.25), {}, r"olh has no such parameter; leave it out \(it belongs to grr, rappor, oue\)"),
]


@over(WRONG)
def test_what_is_no_p_and_q_of_a_protocol_is_refused(rates, more, says):
    with pytest.raises(InputError, match=says):
        stated(*rates, **more)


def test_the_commands_take_p_and_q_and_tallies_keep_them(run, tmp_path):
    sums = put(tmp_path, "sums.csv", "total,a,b,c\n10000,5520,4480,4010\n")
    words = ("--reps", "4", "--method", "none", "--next-protocol", "grr", "--format", "json")
    rates = ("--protocol", "rappor", "--p", "0.8", "--q", "0.3")
    first = json.loads(run("reports", sums, "--counts", "total", *rates, *words)[1])
    assert first["request"]["eps"] == pytest.approx(np.log(0.8 * 0.7 / (0.3 * 0.2)))
    tally = tmp_path / "t.json"
    assert run("reports", sums, "--counts", "total", *rates, "--tally", str(tally))[0] == 0
    merged = json.loads(run("reports", "--merge", str(tally), *words)[1])
    assert merged["recommendations"] == first["recommendations"]
    raw = put(tmp_path, "raw.csv", "value,estimate\na,0.504\nb,0.296\nc,0.202\n")  # (share - 0.3) / 0.5
    other = json.loads(run("estimate", raw, *rates, "--n", "10000", *words)[1])
    assert other["request"]["eps"] == first["request"]["eps"]
