"""p and q instead of ε: the budget by enumeration, estimates and noise by simulation, and what is refused."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.question.collected_request import CollectedQuestion, Collection
from advisor.question.settings import Categories, Terms
from simulator import PROTOCOLS, rng_for
from tests.advisor.conftest import Run
from tests.advisor.inputs.reading import put
from tests.cells import over


def stated(protocol: str, p: float | None, q: float | None, *, k: int | None = None, **more) -> CollectedQuestion:
    collection = Collection(used=(protocol,), own_rate=p, other_rate=q, flip_prob=more.pop("flip", None))
    terms = Terms(epsilon=more.pop("epsilon", None))
    return CollectedQuestion(collection=collection, domain=Categories(k=k), terms=terms).with_budget()


def bits_channel(p: float, q: float, k: int) -> np.ndarray:
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
def test_the_budget_is_the_largest_log_ratio_of_all_reports(protocol: str, p: float, q: float, k: int) -> None:
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
def test_two_steps_of_rappor_are_one_p_and_one_q(f: float, p: float, q: float) -> None:
    """As the page of reports says. A bit is fixed to 1 or to 0 (f/2 each); then it is sent as 1 with q, 0 with p."""
    ones = []
    for bit in (1, 0):
        memoised = {1: f / 2 + (1 - f) * bit, 0: f / 2 + (1 - f) * (1 - bit)}
        ones.append(sum(chance * (q if kept else p) for kept, chance in memoised.items()))
    assert ones == pytest.approx([(1 - f / 2) * q + f / 2 * p, (1 - f / 2) * p + f / 2 * q])
    assert stated("rappor", *ones).epsilon == pytest.approx(np.log(ones[0] * (1 - ones[1]) / (ones[1] * (1 - ones[0]))))


@over([("rappor", 0.8, 0.3), ("oue", 0.4, 0.05)])
def test_estimates_vary_as_the_closed_form_says_user_by_user(protocol: str, p: float, q: float) -> None:
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


WRONG = [
    (("grr", 0.8, 0.1), {"k": 2}, r"p \+ \(k − 1\) q is 1 in grr; an answer that is forced unevenly .*; got 0.9"),
    (("grr", 0.8, 0.1), {"k": 4}, r"p \+ \(k − 1\) q is 1 in grr; got 1.1"),
    (("grr", 0.5, 0.001), {}, "p and q of grr needs --k"),
    (("grr", None, None), {"flip": 0.1}, "flip-prob for grr needs --k"),
    (("oue", None, None), {"flip": 0.1}, "for oue give --p and --q"),
    (("rappor", 0.75, 0.25), {"flip": 0.25}, "give one of"),
    (("rappor", 0.75, None), {}, "p and q go together"),
    (("rappor", 0.25, 0.75), {}, "p must be above q"),
    (("rappor", 1.0, 0.25), {}, "p must be above 0 and below 1"),
    (("rappor", None, None), {"flip": 0.5}, "flip-prob must be above 0 and below 0.5"),
    (("rappor", 0.75, 0.25), {"epsilon": 2.0}, "eps is 2, and 2.197 is what the probabilities say"),
    (("olh", 0.75, 0.25), {}, r"olh has no such parameter; leave it out \(it belongs to grr, rappor, oue\)"),
]


@over(WRONG)
def test_what_is_no_p_and_q_of_a_protocol_is_refused(rates, more, says: str) -> None:
    with pytest.raises(InputError, match=says):
        stated(*rates, **more)


def test_the_commands_take_p_and_q_and_tallies_keep_them(run: Run, tmp_path: Path) -> None:
    sums = put(tmp_path, "sums.csv", "total,a,b,c\n10000,5520,4480,4010\n")
    words = ("--reps", "4", "--method", "none", "--format", "json")
    rates = ("--protocol", "rappor", "--p", "0.8", "--q", "0.3")
    first = json.loads(run("reports", sums, "--counts", "total", *rates, *words)[1])
    assert first["request"]["eps"] == pytest.approx(np.log(0.8 * 0.7 / (0.3 * 0.2)))
    assert "ε = 2.2336, the largest log-ratio with p = 0.8 and q = 0.3" in first["assumptions"]
    tally = tmp_path / "t.json"
    assert run("reports", sums, "--counts", "total", *rates, "--tally", str(tally))[0] == 0
    merged = json.loads(run("reports", "--merge", str(tally), *words)[1])
    assert merged["recommendations"] == first["recommendations"]
    raw = put(tmp_path, "raw.csv", "value,estimate\na,0.504\nb,0.296\nc,0.202\n")  # (share - 0.3) / 0.5
    other = json.loads(run("estimate", raw, *rates, "--n", "10000", *words)[1])
    assert other["request"]["eps"] == first["request"]["eps"]
    code, _, err = run("reports", "--merge", str(tally), "--p", "0.8")
    assert (code, "--p is for reports: tallies know" in err) == (2, True)
    assert "--eps" not in run("reports", sums, "--p", "0.8", "--q", "0.3")[2]  # the protocol alone is missing
