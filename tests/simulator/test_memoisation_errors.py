"""Memoised protocols: errors of a round and of averages, and what users spend, against all histories of small cases.

False-alarm rates as in `law`: 1e-6 for the file.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from simulator.memoisation import MEMOISED, Changes
from tests.cells import failures

from .law import accept, stream, two_sided
from .memoised_law import EVERY, contributions, member_of, sequences

F = np.array([0.6, 0.3, 0.1])


def chances_of_histories(rounds, share):
    changes = Changes(F, rounds, share)
    result = {}
    for history in itertools.product(range(3), repeat=rounds):
        chance = F[history[0]]
        for before, now in itertools.pairwise(history):
            chance *= changes.redraw * F[now] + (1 - changes.redraw) * (before == now)
        result[history] = chance
    return result


@pytest.mark.parametrize("share", [0.0, 0.1, 0.54])
def test_so_many_change_and_frequencies_stay(share):
    changes = Changes(F, 4, share)
    values = changes.draw(200_000, stream("changes", repr(share)))
    moved = (values[:, 1:] != values[:, :-1]).mean()
    error = np.sqrt(max(share * (1 - share), 1e-12) / 200_000)  # of one pair of rounds: the widest it can be
    assert accept(two_sided((moved - share) / error))
    for column in values.T:
        assert accept(stats.chisquare(np.bincount(column, minlength=3), 200_000 * F).pvalue)
    table = chances_of_histories(4, share)
    assert sum(c * np.mean([a != b for a, b in itertools.pairwise(h)]) for h, c in table.items()) == pytest.approx(
        share, abs=1e-12
    )


def test_errors_of_a_round_and_of_the_average_are_those_of_all_sequences():
    def check(key):
        member, rounds, n = (
            member_of(key),
            3 if key in ("grr", "dbitflip1") else 2,
            100,
        )  # of which some have very many
        once, average = {}, {}
        for history in itertools.product(range(3), repeat=rounds):
            table = sequences(member, history)
            chances = np.array(list(table.values()))
            rows = np.array([contributions(member, sent) for sent in table])
            truth = np.eye(3)[list(history)]
            assert np.tensordot(chances, rows, 1) == pytest.approx(truth, abs=1e-9)
            once[history] = chances @ (rows - truth)[:, 0] ** 2
            average[history] = chances @ (rows - truth).mean(axis=1) ** 2
        for share in (0.0, 0.1, 0.54):
            changes, weights = Changes(F, rounds, share), chances_of_histories(rounds, share)
            for variance, squares in ((changes.round_variance, once), (changes.average_variance, average)):
                expected = sum(weight * squares[history] for history, weight in weights.items())
                assert variance(member.moments, n) == pytest.approx(expected / n, rel=1e-9), share

    assert failures(EVERY, check) == {}


def test_averaging_a_value_that_stays_leaves_the_noise_of_the_permanent_step():
    def check(cell):
        key, rounds = cell
        member, changes = member_of(key, 3), Changes(F, rounds)
        forever, once = (oracle.variance(F, 50) for oracle in (member.permanent, member.once))
        assert changes.average_variance(member.moments, 50) == pytest.approx(
            forever + (once - forever) / rounds, rel=1e-9
        )

    assert failures(itertools.product(MEMOISED, [1, 7, 1000]), check) == {}


def test_values_held_and_memos_kept_are_those_of_all_histories():
    def check(cell):
        rounds, share = cell
        changes, table = Changes(F, rounds, share), chances_of_histories(rounds, share)
        assert changes.values_held == pytest.approx(sum(c * len(set(h)) for h, c in table.items()), rel=1e-12)
        for key in MEMOISED:
            member = member_of(key)
            functions = [tuple(range(3))]
            if key in ("blh", "olh"):
                functions = list(itertools.product(range(member.g), repeat=3))
            exact = np.mean([sum(c * len({f[v] for v in h}) for h, c in table.items()) for f in functions])
            assert member.mean_memos(changes) == pytest.approx(exact, rel=1e-5)  # of the grid of masses
        for bits in (1, 2, 3):
            member = member_of(f"dbitflip{bits}")
            mine = list(itertools.combinations(range(3), bits))
            exact = np.mean([sum(c * len({v if v in m else -1 for v in h}) for h, c in table.items()) for m in mine])
            # With two bits the mean of what lies between 0 and 1 over 20,000 devices: 6 standard errors at most.
            error = 6 * 0.5 / math.sqrt(20_000) if bits == 2 else 1e-9
            assert abs(member.mean_memos(changes) - exact) <= error

    assert failures(itertools.product([1, 2, 5], [0.0, 0.54]), check) == {}


def test_memos_of_hashing_are_those_of_devices_in_a_large_domain():
    """Symbols of 10,000 users in 40 rounds, counted; rare categories are taken at their mean."""
    for k in (50, 30_000):
        shares = 1 / np.arange(1, k + 1)
        changes, member = Changes(shares / shares.sum(), 40, 0.1), member_of("olh", k)
        rng = stream("symbols", k)
        values = changes.draw(10_000, rng)
        symbols = rng.integers(0, member.g, size=(200, k))  # of so many hash functions
        held = np.array([len(np.unique(symbols[user % 200][row])) for user, row in enumerate(values)])
        by_function = held.reshape(-1, 200).mean(axis=0)  # users of one function are not independent of each other
        error = by_function.std() / math.sqrt(200)
        assert accept(two_sided((held.mean() - member.mean_memos(changes)) / error))
