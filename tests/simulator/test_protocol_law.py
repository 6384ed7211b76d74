from functools import cache

import numpy as np
import pytest

from simulator import frequency_oracles
from simulator.protocols.oracle import binomial_support
from simulator.protocols.subset import SubsetSelection
from tests.cells import over

from .law import CHECKS, COMPARISONS, accept, law_for, oracle_of, skewed, stream

PROTOCOLS = frequency_oracles()

SAMPLED, REPLAYED = 3000, 500  # repetitions of the fast tests
# The exact chain of subset selection takes a millisecond each, points of a geometry are found user by user, and every
# value is hashed.
SLOWER = {("ss", "sample"): 400, ("pgr", "replay"): 200, ("blh", "replay"): 250, ("olh", "replay"): 250}

# (epsilon, true counts): a dominating value, values nobody holds, few users and more.
SETTINGS = {
    "k3": (3.0, (3, 0, 40)),
    "k3_low": (0.5, (20, 0, 5)),
    "k5": (1.0, (5, 0, 40, 1, 0)),
    "k12_large": (1.0, (300, 0, 0, 50, 20, 10, 5, 0, 0, 10, 5, 0)),
    "k12_low": (0.5, (0, 2, 0, 0, 20, 1, 0, 5, 0, 0, 0, 2)),
}
FAST = ("k3", "k12_large")  # two values, and other sizes and budgets: with the slow ones
# More users of these are in test_more_protocols.
FEW_USERS = dict.fromkeys(("hr", "pgr", "she"), ("k3", "k12_low"))


def off_by_5_percent(oracle):
    """Return the same protocol with q 5 % too large; where reports have a fixed size, p + (k-1) q = size sets p."""
    base, wrong_q = type(oracle), 1.05 * oracle.q
    overrides = {"q": wrong_q}
    if oracle.sums_to_one:
        size = oracle.omega if isinstance(oracle, SubsetSelection) else 1
        overrides["p"] = size - (oracle.k - 1) * wrong_q
        if isinstance(oracle, SubsetSelection):
            overrides["omega"] = size
    return type("Off", (base,), overrides)(oracle.k, oracle.epsilon)


@cache
def law_of(key, setting):
    epsilon, counts = SETTINGS[setting]
    return law_for(oracle_of(key, len(counts), epsilon), counts)


@cache
def draws_of(key, setting, way):
    law = law_of(key, setting)
    rng = stream("law", key, setting, way)
    return getattr(law.oracle, f"{way}_support")(rows_of(key, law, way), rng)


def rows_of(key, law, way, more=1):
    repetitions = more * SLOWER.get((key, way), REPLAYED if way == "replay" else SAMPLED)
    return np.broadcast_to(law.n_v, (repetitions, law.oracle.k))


def check_draws(both, law):
    """Check the draws of the sampler and of the replay, each against the law, and with each other."""
    for draws in both:
        assert [name for name, check in CHECKS.items() if not accept(check(draws, law))] == []
    assert [name for name, compare in COMPARISONS.items() if not accept(compare(*both, law))] == []


@over((key, setting) for key in PROTOCOLS for setting in FEW_USERS.get(key, FAST))
def test_draws_follow_the_exact_law_and_those_of_the_sampler_agree_with_the_replay(key, setting):
    law, both = law_of(key, setting), [draws_of(key, setting, way) for way in ("sample", "replay")]
    for draws in both:
        assert draws.dtype == law.oracle.support_dtype
        if key != "she":  # sums of reports, not counts
            assert draws.min() >= law.lowest
            assert draws.max() <= law.n
    check_draws(both, law)


# Each size at two budgets or more, with few and with more users, together with the fast ones.
GRID = [(2, 0.5, 400), (2, 3.0, 25), (3, 1.0, 400), (5, 0.5, 400), (5, 3.0, 25), (12, 0.5, 25), (12, 3.0, 400)]


@pytest.mark.slow
@pytest.mark.parametrize("key", PROTOCOLS)
@pytest.mark.parametrize(("k", "epsilon", "n"), GRID)
def test_every_size_and_budget_follows_the_exact_law(key, epsilon, k, n):
    counts = skewed(k, n)
    law = law_for(oracle_of(key, k, epsilon), counts)
    rng = stream("slow law", key, repr(epsilon), k, n)
    both = [getattr(law.oracle, f"{way}_support")(rows_of(key, law, way, 2), rng) for way in ("sample", "replay")]
    check_draws(both, law)


# The others draw without p and q: their own constants are put wrong in test_more_protocols.
# Rappor, blh and the only have another p and q.
@over(
    [("grr", "sample"), ("oue", "sample"), ("ss", "replay")],
    slow=[("olh", "sample"), ("ss", "sample"), ("grr", "replay"), ("olh", "replay")],
)
def test_negative_control_q_off_by_5_percent_is_noticed(key, way):
    law = law_of(key, "k12_large")
    wrong = off_by_5_percent(law.oracle)
    draws = getattr(wrong, f"{way}_support")(rows_of(key, law, way), stream("off", key, way))
    if key == "olh" and way == "replay":
        # Its client never uses q: a wrong q cannot reach its reports, and the checks must not cry wolf.
        assert all(accept(check(draws, law)) for check in CHECKS.values())
        return
    assert not accept(CHECKS["mean"](draws, law))
    assert not accept(CHECKS["marginals"](draws, law))
    if way == "sample":
        assert not accept(COMPARISONS["mean"](draws, draws_of(key, "k12_large", "replay"), law))
        assert not accept(COMPARISONS["marginals"](draws, draws_of(key, "k12_large", "replay"), law))


@pytest.mark.parametrize("key", ["ss", "grr"])
@pytest.mark.parametrize("setting", ["k5", "k12_large"])
def test_negative_control_independent_binomials_have_the_wrong_dependence(key, setting):
    law = law_of(key, setting)
    rows = np.broadcast_to(law.n_v, (SAMPLED, law.oracle.k))
    draws = binomial_support(rows, law.oracle.p, law.oracle.q, stream("independent", key))
    # Means and marginals are right, so only the dependence can give them away, and it must.
    assert accept(CHECKS["mean"](draws, law))
    assert accept(CHECKS["marginals"](draws, law))
    assert not accept(CHECKS["covariance"](draws, law))
    assert not accept(CHECKS["row_sums"](draws, law))
    if law.oracle.k == 5:  # correlations of -1/4: the two-sample comparison of 500 replays sees them
        assert not accept(COMPARISONS["covariance"](draws, draws_of(key, setting, "replay"), law))


def test_negative_control_dependent_bits_are_noticed_in_an_independent_protocol():
    # Subset selection's own draws with OUE's check: sums that never vary are as wrong there.
    law = law_of("oue", "k12_large")
    draws = np.repeat(
        law.oracle.sample_support(np.broadcast_to(law.n_v, (SAMPLED, 12)), stream("tied"))[:, :6], 2, axis=1
    )
    assert not accept(CHECKS["covariance"](draws, law))
    assert not accept(CHECKS["row_sums"](draws, law))


@over(("ss", "olh", "she", "pgr"))
def test_replay_does_not_depend_on_how_users_are_cut_into_pieces_in_law(key, *, monkeypatch):
    monkeypatch.setattr("simulator.protocols.oracle.REPLAY_CELLS", 60)
    monkeypatch.setattr("simulator.hashing.BLOCK", 32)
    law = law_of(key, "k3_low")
    draws = law.oracle.replay_support(np.broadcast_to(law.n_v, (200, 3)), stream("pieces", key))
    for name in ("mean", "covariance", "row_sums"):
        assert accept(CHECKS[name](draws, law)), name


@over(PROTOCOLS)
def test_the_same_stream_gives_the_same_draws_and_nobody_no_support(key):
    oracle, counts = oracle_of(key, 12, 1.0), np.array([[300, 0, 1, 5, 9, 0, 0, 20, 3, 2, 0, 7]] * 3)
    nobody = np.zeros(12, dtype=np.int64)
    for way in (oracle.sample_support, oracle.replay_support):
        first, again, other = (way(counts, stream("same", seed)) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
        assert not np.array_equal(first[0], first[1])  # rows of a batch are separate draws
        assert not way(nobody, stream("nobody")).any()
        assert way(np.zeros((0, 12), dtype=np.int64), stream("nobody")).shape == (0, 12)
    assert oracle.support(oracle.perturb(nobody[:0], stream("nobody"))).tolist() == [0] * 12
