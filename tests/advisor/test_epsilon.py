from __future__ import annotations

import json
import math

import pytest

from advisor.epsilon.conversion import convert
from advisor.epsilon.meaning import meaning, meaning_sentences
from advisor.errors import InputError
from knowledge.deployments import DEPLOYMENTS, nearest
from simulator import PROTOCOLS
from tests.advisor.conftest import Run

GRID = [(2, 0.3), (2, 4.4), (17, 1.0), (469, 9.1), (2925, 14.0)]


@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_conversions_invert_the_protocols_own_probabilities(k: int, epsilon: float) -> None:
    grr, rappor, oue = (PROTOCOLS[name](k, epsilon) for name in ("grr", "rappor", "oue"))
    assert convert(flip_prob=1 - grr.p, protocol="grr", k=k).epsilon == pytest.approx(epsilon, rel=1e-6)
    assert convert(random_prob=k * grr.q, k=k).epsilon == pytest.approx(epsilon, rel=1e-9)
    assert convert(flip_prob=rappor.q, protocol="SUE").epsilon == pytest.approx(epsilon)
    assert convert(flip_prob=oue.q, protocol="oue").epsilon == pytest.approx(epsilon)
    assert convert(p=rappor.p, q=rappor.q).epsilon == pytest.approx(epsilon)
    assert convert(odds=math.exp(epsilon)).epsilon == pytest.approx(epsilon)


def largest_ratio(one: dict[object, float], other: dict[object, float]) -> float:
    return max(abs(math.log(one[report] / other[report])) for report in one)


def bit_reports(p: float, q: float, ones: int, k: int) -> dict[object, float]:
    """Probability of every report of k independent bits, for a vector whose first `ones` bits are 1."""
    chances = [p if bit < ones else q for bit in range(k)]
    return {
        report: math.prod(c if report >> bit & 1 else 1 - c for bit, c in enumerate(chances)) for report in range(2**k)
    }


def test_replacement_and_removal_are_the_largest_ratios_over_all_reports() -> None:
    for p, q in [(0.75, 0.25), (0.5, 0.2), (0.9, 0.3)]:
        own, none = bit_reports(p, q, 1, 4), bit_reports(p, q, 0, 4)
        # another value: the 1 stands in the second bit
        other = {report: own[(report & 0b1100) | (report & 1) << 1 | (report >> 1) & 1] for report in own}
        found = convert(p=p, q=q)
        assert found.epsilon == pytest.approx(largest_ratio(own, other))
        assert found.removal == pytest.approx(largest_ratio(own, none))
    for k, x in [(5, 0.3), (3, 0.6)]:
        own = {v: 1 - x if v == 0 else x / (k - 1) for v in range(k)}
        other = {v: 1 - x if v == 1 else x / (k - 1) for v in range(k)}
        found = convert(flip_prob=x, protocol="grr", k=k)
        assert found.epsilon == pytest.approx(largest_ratio(own, other))
        assert found.removal == pytest.approx(largest_ratio(own, dict.fromkeys(range(k), 1 / k)))


def test_published_noise_of_deployments_gives_their_epsilon() -> None:
    # Attribution reporting states the share of random answers: 0.24 % of 2,925 outputs, 0.00025 % of 3, for ε = 14
    assert convert(random_prob=0.0024, k=2925).epsilon == pytest.approx(14, abs=0.02)
    assert convert(random_prob=0.0000025, k=3).epsilon == pytest.approx(14, abs=0.02)
    assert convert(random_prob=0.05, k=469).epsilon == pytest.approx(9.1, abs=0.02)  # Topics: 5 % random topics


def test_words_bound_every_protocol() -> None:
    for k, epsilon in GRID[:3]:
        for name in PROTOCOLS:
            words = meaning(epsilon, k, name)
            assert words.prior - 1e-9 <= (words.protocol_guess or 0) <= words.best_guess + 1e-12
    assert meaning(1.0, 2, "grr").protocol_guess == pytest.approx(meaning(1.0, 2).best_guess)


def test_nearest_deployments_are_the_nearest_by_ratio() -> None:
    for epsilon in (0.1, 1.0, 3.0, 9.15, 20.0):
        found = nearest(epsilon)
        worst = max(max(one.epsilon / epsilon, epsilon / one.epsilon) for one in found)
        others = [one for one in DEPLOYMENTS if one not in found]
        assert all(max(one.epsilon / epsilon, epsilon / one.epsilon) >= worst for one in others)
        assert all(one.unit for one in found)
        assert any(found[0].unit in line for line in meaning_sentences(meaning(epsilon)))


def test_command(run: Run) -> None:
    code, out, _ = run("epsilon", "--flip-prob", "0.25", "--protocol", "rappor")
    assert code == 0
    assert "ε = 2.197 by replacement" in out
    assert "ε = 1.099 by removal" in out
    assert run("epsilon", "--flip-prob", "0.25", "--protocol", "rappor", "--format", "value")[1] == "2.19722\n"
    data = json.loads(run("epsilon", "--eps", "1", "--k", "10", "--protocol", "grr", "--format", "json")[1])
    assert data["in_words"]["protocol_guess"] == pytest.approx(PROTOCOLS["grr"](10, 1.0).p)
    assert len(data["in_words"]["deployments"]) == 2


def test_verbose_advice_says_what_epsilon_means(run: Run, states: str) -> None:
    words = ("--eps", "2", "--max-reps", "20", "-p", "grr", states)
    out = run("--verbose", *words)[1]
    for sentence in meaning_sentences(meaning(2.0, 4, "grr")):
        assert sentence in out
    assert "Apple Health types (ε = 2 per event)" in out
    assert "Nearest known deployments" not in run(*words)[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give one of"),
        (("--eps", "1", "--odds", "3"), "give one of"),
        (("--eps", "0"), "above 0"),
        (("--flip-prob", "0.25"), "needs the protocol"),
        (("--flip-prob", "0.25", "--protocol", "olh"), "one of grr, rappor, oue"),
        (("--flip-prob", "0.6", "--protocol", "rappor"), "below 0.5"),
        (("--flip-prob", "0.25", "--protocol", "grr"), "needs --k"),
        (("--random-prob", "0.1", "--protocol", "oue", "--k", "4"), "is for grr"),
        (("--p", "0.2", "--q", "0.3"), "p must be above q"),
        (("--p", "0.2"), "go together"),
        (("--odds", "1"), "above 1"),
        (("--eps", "x"), "must be a number"),
    ],
)
def test_bad_input_gets_one_line(run: Run, arguments: tuple[str, ...], says: str) -> None:
    code, _, err = run("epsilon", *arguments)
    assert code == 2
    assert says in err
    assert err.count("\n") == 1


def test_python_raises_the_same() -> None:
    with pytest.raises(InputError, match="above 0"):
        meaning(-1)
