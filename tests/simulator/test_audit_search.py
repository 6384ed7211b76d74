"""Which two values an audit of a client tells apart: a leak of one among many is found, and costs no false alarm."""

from __future__ import annotations

import itertools
import random
from functools import partial

import numpy as np
from scipy import stats

from simulator.audit import REPORTS, audit_client
from simulator.audit.client import CLIENT_TRIALS
from simulator.audit.client_reports import reader_by_type
from simulator.audit.search import most_suspicious
from simulator.hashing import DEFAULT_HASH
from simulator.protocols import PROTOCOLS
from tests.cells import failures
from tests.simulator.test_audit_client import grr, optimised, unary_client


def leaking(value, k, epsilon, *, of, sent, share):
    """Send what a right client does, but for one value another report with some probability."""
    return sent if value == of and random.random() < share else grr(value, k, epsilon)  # noqa: S311


def test_a_leak_of_one_value_among_fifty_is_found_whatever_shows_it():
    """Of 120 runs with such clients none missed one."""

    def check(cell):
        sent, share, seed = cell
        client = partial(leaking, of=7, sent=sent, share=share)
        found = audit_client(client, 50, 1.0, "grr", seed=seed, alpha=1e-4)
        assert found.leaks
        assert (found.values[0], found.tried, found.trials) == (7, 50, CLIENT_TRIALS // 2)
        assert (found.looked_for or found.values)[0] == sent

    assert failures(itertools.product((7, 3), (1.0, 0.2), (0, 1)), check) == {}
    ours = partial(leaking, of=7, sent=7, share=1.0)
    assert not audit_client(ours, 50, 1.0, "grr", values=(0, 1)).leaks  # which is all that used to be tried


def test_of_many_values_some_are_tried():
    found = audit_client(lambda value, *_: value, 5_000, 1.0, "grr", trials=2_000)
    assert (found.tried, found.leaks) == (200, True)
    assert audit_client(grr, 5, 1.0, "grr", trials=200, values=(3, 1)).tried == 2


def test_supports_are_counted_as_they_are_read():
    """What the search counts of each value is what the attacks see, for every kind of report."""

    def check(key):
        k = 12
        member = PROTOCOLS[key](k, 1.0)
        reports = member.perturb(np.arange(k).repeat(3), np.random.default_rng(0))
        pairs = np.array(reports)[:, ::-1] if REPORTS[key] == "hash" else reports  # a client gives symbol and seed
        reading = reader_by_type(key, "client", k, 1.0, DEFAULT_HASH, None)([*pairs], 0)
        each = [np.count_nonzero(reading.supports((value, 0)).first) for value in range(k)]
        assert reading.totals(np.arange(k)).tolist() == each

    assert failures(REPORTS, check) == {}


def test_looking_at_all_values_raises_no_false_alarms():
    """The pair attack is tight here: 60 seeds, limit exceeded once in a million."""
    client, alpha, seeds = unary_client(optimised, faulty=False), 0.1, 60
    alarms = sum(
        audit_client(client, 10, 0.5, "oue", trials=600, alpha=alpha, seed=seed).leaks for seed in range(seeds)
    )
    assert alarms <= stats.binom.isf(1e-6, seeds, alpha)


def test_a_value_that_lacks_what_all_others_have_is_found():
    counts = np.full((4, 3), 50)
    counts[2, 1], counts[0, 1] = 5, 60
    found = most_suspicious(counts, 100)
    assert (found.values, found.sign) == ((0, 2), 1)
    counts[2, 0] = 90  # seen where nobody says which column belongs to which value
    assert most_suspicious(counts, 100).other == 0
    assert most_suspicious(counts, 100, own=(0, 1, 2, 2)).other == 2
