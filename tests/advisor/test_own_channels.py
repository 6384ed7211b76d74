import math
from itertools import combinations
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from advisor import AttackSettings, InputError, Simulation, advise, audit, estimate
from advisor.members import member_of_file
from simulator import PROTOCOLS, Channel, Tally, rng_for
from simulator.channels.channel import channel_protocol
from simulator.conformance import ConformanceError, check_protocol
from simulator.foreign import REGISTERED, ForeignError

pytestmark = pytest.mark.usefixtures("own_members")
EXAMPLES = Path(__file__).parents[2] / "examples"


def flat(k, epsilon):
    return (np.ones((k, k)) + math.expm1(epsilon) * np.eye(k)) / (math.expm1(epsilon) + k)


def subsets(k, epsilon):
    size = PROTOCOLS["ss"](k, epsilon).omega
    weights = [[math.exp(epsilon * (value in some)) for some in combinations(range(k), size)] for value in range(k)]
    return np.array(weights) / np.sum(weights, axis=1, keepdims=True)


def bits(k, epsilon):
    kinds = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
    q = 1 / (math.exp(epsilon) + 1)
    return np.stack([np.where(kinds, np.where(own, 0.5, q), np.where(own, 0.5, 1 - q)).prod(1) for own in np.eye(k)])


def test_a_matrix_has_the_noise_the_leakage_and_the_audit_of_the_member_that_it_is():
    for name, matrix_for, k, epsilon in (("grr", flat, 33, 4.0), ("grr", flat, 6, 0.1), ("ss", subsets, 6, 1.0)):
        exact, own = PROTOCOLS[name](k, epsilon), channel_protocol(Channel("own", matrix_for))(k, epsilon)
        noise, same = exact.noise(1000), own.linear.covariance(1000)
        for one, other in zip(same.haar(k), noise.haar(k), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
        for frequency in (0.0, 1.0):
            assert same.entry(np.array(frequency)) == pytest.approx(noise.entry(np.array(frequency)), rel=1e-9)
        assert own.attack_success == pytest.approx(exact.attack_success, rel=1e-9)
        assert own.provides ^ exact.provides <= {"pq", "likelihood", "pseudo_likelihood"}  # a matrix has the likelihood
    grr, own = audit(1.0, k=10, protocol=["grr", Channel("own", flat)], attack=AttackSettings(trials=20_000)).results
    assert own.epsilon_analytic == pytest.approx(grr.epsilon_analytic)
    assert (own.epsilon_guaranteed, own.agrees, own.leaks) == (1.0, True, False)


def test_an_audit_takes_the_values_given_or_else_those_that_a_matrix_tells_apart_best():
    def last_differs(k, epsilon):
        share = np.where(np.arange(k) < k - 1, 0.5, 0.5 * math.exp(-epsilon))
        return np.stack([share, 1 - share], axis=1)

    for given, used in (("", (0, 3)), ("0,1", (0, 1))):
        attack = AttackSettings(trials=100, values=given) if given else AttackSettings(trials=100)
        (found,) = audit(1.0, k=4, protocol=Channel("own", last_differs), attack=attack).results
        assert found.values == used


def test_an_audit_of_a_matrix_that_tells_nothing_apart_shows_no_loss():
    even = Channel("even", lambda k, _: np.full((k, k), 1 / k))
    (found,) = audit(1.0, k=4, protocol=even, attack=AttackSettings(trials=1000)).results
    assert (found.values, found.leaks) == ((0, 1), False)


def test_of_all_unbiased_estimates_that_of_least_variance_is_taken():
    oue, own = PROTOCOLS["oue"](8, 1.0), channel_protocol(Channel("own", bits))(8, 1.0)
    mean, pinv = own.matrix.mean(axis=0), np.linalg.pinv(own.matrix)
    least = float(own.linear.covariance(1).entry(np.full(8, 1 / 8)).max())
    assert least < float(oue.variance(1 / 8, 1)) < float((mean @ pinv**2).max()) - 1 / 8


def test_a_matrix_ranks_like_the_member_that_it_is():
    menu = {"protocol": [flat, "grr"], "method": ["none", "norm_sub", "eb_ns", "ibu"]}
    counts = np.array([50, 20, 10, 8, 5, 4, 2, 1]) * 100
    advice = advise(1.0, sample_counts=counts, **menu, simulation=Simulation(repetitions=30, max_repetitions=30))
    rows = {row.pair: row for row in advice.recommendations}
    for method in menu["method"]:
        own, exact = rows["flat", method], rows["grr", method]
        assert abs(own.error - exact.error) < 4.5 * math.hypot(own.standard_error, exact.standard_error)


def test_a_tally_of_a_matrix_with_alike_noise_is_answered_as_that_of_the_member():
    n = 5000
    counts = PROTOCOLS["grr"](8, 1.0).sample_support(
        np.array([2000, 1000, 700, 500, 400, 200, 200, 0]), rng_for(0, "t")
    )
    asked = {"eps": 1, "n": n, "k": 8, "method": ["none", "norm_sub"]}
    ours, own = (estimate(Tally(counts, n), name, **asked) for name in ("grr", flat))
    assert own.best.method == ours.best.method
    assert own.best.error == pytest.approx(ours.best.error, rel=0.25)  # of a member the law of its reports is used
    with pytest.raises(InputError, match=r"its tally is needed: estimate\(simulator.Tally"):
        estimate(np.full(8, 1 / 8), flat, eps=1, n=n)


def test_a_matrix_of_one_domain_is_for_that_domain_and_bothers_no_other_question():
    few = {"method": "norm_sub", "simulation": Simulation(repetitions=2, max_repetitions=2)}
    fixed = Channel("fixed", flat(3, 1.0))
    assert advise(1.0, sample_counts=[50, 30, 20], protocol=fixed, **few).best.protocol == "fixed"
    assert "fixed" in REGISTERED
    assert "fixed" not in advise(1.0, sample_counts=[50, 30, 20, 10], **few).request.protocols
    with pytest.raises(ValueError, match=r"fixed at k = 4, epsilon = 1 must have k rows, .* got shape \(3, 3\)"):
        advise(1.0, sample_counts=[50, 30, 20, 10], protocol=fixed, **few)
    with pytest.raises(InputError, match="cannot be predicted, only simulated"):
        advise(1.0, k=3, protocol=fixed)


def test_what_is_no_matrix_or_spends_too_much_is_refused():
    for matrix_for, words in (
        (lambda k, epsilon: flat(k, 1.01 * epsilon), r"spends 1.01, more than epsilon, between rows 0 and 1 in column"),
        (lambda k, epsilon: np.eye(k), "spends inf"),
        (lambda k, epsilon: flat(k, epsilon)[:, :-1], "every row of a channel must sum to 1"),
        (lambda k, epsilon: "one", "could not convert string to float.*it is called as"),
        (lambda k: k, "takes 1 positional argument but 2 were given"),
    ):
        with pytest.raises(ForeignError, match=words):
            channel_protocol(Channel("own", matrix_for))(3, 1.0)
    with pytest.raises(ConformanceError, match=r"own at k = 6, epsilon = 1 spends 2"):
        check_protocol(Channel("own", lambda k, epsilon: flat(k, 2 * epsilon)))


@pytest.mark.slow
def test_the_examples_keep_their_contract():
    example = run_path(str(EXAMPLES / "own_matrix.py"))
    check_protocol(example["pairs"])
    assert member_of_file("protocol", f"{EXAMPLES}/own_matrix.py:TWO") == "two_values"
    drawn = PROTOCOLS["two_values"](5, 1.0).sample_tally(np.array([9, 0, 0, 0, 0]), rng_for(0, "tests", "own"))
    assert (drawn.n, drawn.counts.shape, drawn.counts.sum()) == (9, (10,), 9)
    assert member_of_file("protocol", f"{EXAMPLES}/one_by_one.py:OneByOne") == "one_by_one"
    assert PROTOCOLS["one_by_one"].most_users == 50_000
