"""Protocols that are two functions: users are simulated one by one, and the noise is measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.foreign import ForeignError, warn
from simulator.protocols.oracle import MeanOracle, Noise, Support, bits_for, check_users
from simulator.protocols.protocol import Protocol
from simulator.seeding import rng_for

BATCHES, BLOCK = 4000, 100  # groups of users that hold one value, from which the noise is measured; groups at once
USERS, CELLS = 50, 40_000_000  # in a group, and users x categories in all of them together
SLOW = 20_000_000  # users x categories of a repetition that takes seconds
QUICKER = "a Channel, or a FrequencyOracle with a law (examples/sampled_bit.py), is quick for any n"
ROUNDING = 1e-9  # of a sum of estimates
SURE, UNEVEN = 5.0, 1.2  # standard errors, and the ratio of two variances from which values differ in noise


@dataclass(frozen=True)
class UserProtocol(MeanOracle):
    """A protocol of two functions, as `user_protocol` makes it.

    There is no law of the aggregate: every user is simulated, in blocks, up to `most_users`. The noise (variance of the
    estimate of a value that nobody, and that everybody holds) is measured once for each k and epsilon, from 4,000
    groups of up to 50 users in a named random stream, to about 3 %. `report_bits` is what the reports of these take,
    `attack_success` and `informed_guess` are the bounds of any protocol with this epsilon: no attack on it is known.
    """

    assumed = "its noise is measured on simulated reports, to about 3 %, and its attack is the most that ε allows"
    slow = True
    functions: ClassVar[tuple[Callable[..., Reports], Callable[..., FloatArray]]]

    @property
    def report_bits(self) -> int:
        return _measured(self)[1]

    @property
    def attack_success(self) -> float:
        return 1 / (1 + (self.k - 1) * math.exp(-self.epsilon))

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return self.functions[0](values, self.k, self.epsilon, rng)

    def support(self, reports: Reports) -> FloatArray:
        estimate = np.asarray(self.functions[1](reports, self.k, self.epsilon), dtype=np.float64)
        if estimate.shape != (self.k,):
            raise ValueError(f"{self.key}: estimate must return k = {self.k} numbers, got shape {estimate.shape}")
        return estimate * len(reports)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> Support:
        return self.replay_support(counts, rng)

    def noise(self, n: int) -> Noise:
        check_users(n)
        return _measured(self)[0].of_users(n)

    def informed_guess(self, frequencies: FloatArray) -> float:
        top = float(frequencies.max())
        return top / (top + (1 - top) * math.exp(-self.epsilon))

    def chances(self, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
        hint = "audit its client, --target FILE.py:FUNCTION"
        raise ValueError(f"attack {attack} is not known on reports of {self.key}: {hint}")


def user_protocol(
    perturb: Callable[..., Reports],
    estimate: Callable[..., FloatArray],
    key: str,
    most_users: int = UserProtocol.most_users,
    **texts: str,
) -> type[UserProtocol]:
    """Return the protocol of two functions, for `simulator.register` or a question.

    Parameters
    ----------
    perturb
        ``perturb(values, k, epsilon, rng)``: n reports of values ``(n,)`` in 0..k-1, in any array.
    estimate
        ``estimate(reports, k, epsilon)``: unbiased frequencies ``(k,)`` that are a mean over the reports, without
        clipping or scaling, which is left to post-processing.
    key
        Its name in the table.
    most_users
        Users that can be simulated one by one; more are refused.
    texts
        ``title`` and ``reference``, if they are not the key.

    Notes
    -----
    No check can see whether `perturb` is private: derive the largest ratio of its probabilities.
    """
    more = {"title": key, "reference": key, **texts, "key": key, "most_users": most_users}
    return type(key, (UserProtocol,), {**more, "functions": (perturb, estimate), "__module__": perturb.__module__})


@lru_cache(maxsize=64)
def _measured(protocol: UserProtocol) -> tuple[Noise, int]:
    """Return the noise of the estimate of one user, and the bits of a report; warn where values differ in noise."""
    k, rng = protocol.k, rng_for(0, "noise of", protocol.key, protocol.k, repr(protocol.epsilon))
    users = min(USERS, max(1, CELLS // (BATCHES * k)))
    own = off = 0.0
    number, *moments = np.zeros((4, k))  # groups that hold another value; sums of their errors, squared, to the fourth
    for _ in range(BATCHES // BLOCK):
        values = rng.integers(0, k, size=BLOCK)
        reports = protocol.perturb(np.repeat(values, users), rng)
        groups = (reports[at : at + users] for at in range(0, BLOCK * users, users))
        errors = np.stack([protocol.support(group) / users for group in groups])
        errors[np.arange(BLOCK), values] -= 1
        off = max(off, float(np.abs(errors.sum(axis=1)).max()))
        own += float((errors[np.arange(BLOCK), values] ** 2).sum())
        errors[np.arange(BLOCK), values] = 0.0
        number += BLOCK - np.bincount(values, minlength=k)
        moments = [sums + (errors**power).sum(axis=0) for sums, power in zip(moments, (1, 2, 4), strict=True)]
    cells = np.asarray(reports[:1]).size
    whole = np.asarray(reports).dtype.kind in "biu"
    bits = cells * (bits_for(int(np.max(reports)) - int(np.min(reports)) + 1) if whole else 64)
    means, squares, fourth = (sums / number for sums in moments)
    variances = squares - means**2
    reach = SURE * np.sqrt(np.maximum(fourth - variances**2, 0.0) / number)
    if (variances - reach).max() > UNEVEN * (variances + reach).min():
        _warn_once(
            f"{protocol.key}: some values have more noise than others, and the mean is taken for all: intervals are "
            "too narrow for some of them, and what can be seen is not right for each; a Channel has the noise of each "
            "value"
        )
    at_zero, at_one = users / BATCHES * float(moments[1].sum()) / (k - 1), users / BATCHES * own
    return Noise(1, None, None, at_zero, at_one - at_zero, off < ROUNDING), bits


def check_most(protocol: Protocol, users: int) -> None:
    """Raise ForeignError for more users than a slow protocol can replay; warn once of many."""
    if protocol.slow and users > protocol.most_users:
        most = f"{protocol.most_users:,} at most, got {users:,}"
        raise ForeignError(f"{protocol.key}: users are simulated one by one, {most}; {QUICKER}")
    if protocol.slow and users * protocol.k > SLOW:
        _warn_once(f"{protocol.key} is slow: each of {users:,} users is simulated, in each repetition; {QUICKER}")


_warn_once = lru_cache(maxsize=64)(warn)
