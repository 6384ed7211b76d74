"""Methods for collections that attackers may have poisoned: what they can undo, and at what cost.

All of them end on the simplex. Each method gets the possible share of attackers; some also get the targets, or the
reports that stand out. No method gets to know whether there was an attack.
"""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray
from simulator.domain import Attackers
from simulator.methods.observed import Observed
from simulator.methods.simplex import norm_sub, shares

FALSE_ALARM = 1e-3  # probability at most that reports are dropped although all users are honest
ROUNDS = 4  # of working out how many honest reports are among those that stand out


def norm_min(observed: Observed) -> FloatArray:
    """Return the estimates less their minimum, divided by their sum.

    The normalisation of Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX
    Security 2021, Section 6.1: it caps what targets can reach, and flattens everything else.
    """
    return shares(observed.raw - observed.raw.min(axis=-1, keepdims=True))


def recover(observed: Observed) -> FloatArray:
    """Subtract the assumed sum of fakes of unknown targets evenly from all positive estimates.

    Sun, Ye, Hu, Duan, Wo, Xu, Yang, "LDPRecover: recovering frequencies from poisoning attacks against local
    differential privacy", ICDE 2024. With m fakes beside n honest users and ``eta = m / n`` the estimate is
    ``(f + eta y) / (1 + eta)``, f that of the honest reports and y that of the fakes. Fakes that each support a single
    value add up to ``sum y = (1 - k q) / (p - q)``, which is spread over the positive estimates.
    """
    raw, (p, q) = observed.raw, _probabilities(observed)
    positive = raw > 0
    added = (1 - raw.shape[-1] * q) / (p - q) / np.maximum(positive.sum(axis=-1, keepdims=True), 1)
    return _without(observed, np.where(positive, added, 0.0))


def recover_known(observed: Observed) -> FloatArray:
    """Subtract the assumed sum of fakes that each support a single known target, and nothing else.

    LDPRecover with partial knowledge, by the same authors: ``y = -q / (p - q)`` for all other values, and the targets
    share the rest of the sum.
    """
    raw, (p, q) = observed.raw, _probabilities(observed)
    targets = list(_attackers(observed).targets)
    added = np.full(raw.shape[-1], -q / (p - q))
    added[targets] += 1 / (p - q) / len(targets)
    return _without(observed, added)


def subtract_fakes(observed: Observed) -> FloatArray:
    """Subtract the maximum that fakes can add to known targets.

    The step of LDPRecover with the reports of the maximal gain attack of Cao, Jia, Gong: each report supports each
    target, or as many as reports of a fixed size hold, and elsewhere the usual number of values. The result is the
    estimate of the honest reports, up to noise, if all assumed fakes exist and act so. With fewer fakes the correction
    is too large.
    """
    raw, (p, q) = observed.raw, _probabilities(observed)
    k, targets = raw.shape[-1], list(_attackers(observed).targets)
    elsewhere, each = q, 1.0
    if observed.noise.sums_to_one:  # each report supports the same number of values
        size = p + (k - 1) * q
        each = min(1.0, size / len(targets))
        elsewhere = (size - each * len(targets)) / max(k - len(targets), 1)
    added = np.full(k, (elsewhere - q) / (p - q))
    added[targets] = (each - q) / (p - q)
    return _without(observed, added)


def drop_fakes(observed: Observed) -> FloatArray:
    """Drop the reports that support all values of a set, if there are too many for honest users.

    The detection of fake users of Cao, Jia, Gong, Section 6.2: fakes that promote r values support all of them, which
    an honest report does with probability ``q^r``, or ``p q^(r-1)`` if its user holds a value of the set. The reports
    are dropped if honest users, whatever their values, give so many for any set of r values only with probability
    `FALSE_ALARM` (Bernstein's inequality, and the union bound over all sets). The expected number of dropped honest
    reports is put back. If no set stands out, nothing is dropped.
    """
    raw, (p, q), suspects, tally = observed.raw, _probabilities(observed), observed.suspects, observed.tally
    assert suspects is not None  # noqa: S101 - guaranteed by the needs of the method
    assert tally is not None  # noqa: S101
    k, n, values = raw.shape[-1], tally.n, suspects.values
    r = len(values)
    own, other = p * q ** (r - 1), q**r  # chance of an honest match: of holders of a value of the set, and of others
    users = suspects.users[..., None].astype(np.float64)
    suspicious = users > most_honest(n, k, r, own)
    share = np.full_like(users, r / k)  # of the honest users who hold a value of the set
    estimate = raw
    for _ in range(ROUNDS if suspicious.any() else 0):
        match = other + share * (own - other)
        fakes = np.clip((users - n * match) / (1 - match), 0.0, n - 1.0)
        stays = (tally.counts - suspects.counts) / np.maximum(n - users, 1.0)  # supports of a remaining report
        honest = tally.counts - suspects.counts + (users - fakes) * stays
        honest[..., values] = tally.counts[..., values] - fakes
        estimate = np.where(suspicious, (honest / (n - fakes) - q) / (p - q), raw)
        share = np.clip(estimate[..., values].sum(axis=-1, keepdims=True), 0.0, 1.0)
    return norm_sub(estimate, observed.noise)


def most_honest(n: int, k: int, r: int, probability: float) -> float:
    """Return how many of n honest reports support all of any r of k values, but with probability `FALSE_ALARM`.

    probability: that an honest report supports a certain set.
    """
    sets = math.lgamma(k + 1) - math.lgamma(r + 1) - math.lgamma(k - r + 1)
    surprise, mean = sets - math.log(FALSE_ALARM), n * probability
    return mean + surprise / 3 + math.sqrt(surprise**2 / 9 + 2 * mean * surprise)


def _without(observed: Observed, added: FloatArray) -> FloatArray:
    """Return the estimate on the simplex after subtracting the given sum from each fake user."""
    share = _attackers(observed).share
    ratio = share / (1 - share)
    return norm_sub((1 + ratio) * observed.raw - ratio * added, observed.noise)


def _attackers(observed: Observed) -> Attackers:
    if observed.domain.attackers is None:
        raise ValueError("this method needs to know which share of the users attackers may be")
    return observed.domain.attackers


def _probabilities(observed: Observed) -> tuple[float, float]:
    p, q = observed.noise.p, observed.noise.q
    if p is None or q is None:
        raise ValueError("this method needs reports with support sets")
    return p, q
