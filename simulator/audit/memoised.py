"""The same value collected again and again by devices that remember: the likelihood ratio of all reports together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.audit.attributes import SAME, highest_bound
from simulator.audit.run import ALPHA, LIKELIHOOD, TRIALS, Subject
from simulator.draws import binomial
from simulator.hashing import HASHES
from simulator.memoisation import LOLOHA, NONE, DBitFlipPM, TwoSteps
from simulator.protocols.oracle import FrequencyOracle

ROUNDS_MAX = 2000  # maximum size of the table of rounds that support two values


def memoised_subject(
    member: TwoSteps, rounds: int, values: tuple[int, int] = (0, 1), *, trials: int = TRIALS, alpha: float = ALPHA
) -> Subject:
    """Return `rounds` collections of the same value from devices that remember, attacked together.

    The attacker counts the rounds whose reports support v1, and v2, and answers v1 if the likelihood ratio of the two
    counts is high enough. Other values give no more information in unary encodings, and little in the others. The
    guarantee is the permanent budget, whatever the number of rounds; of a single one its own.

    Parameters
    ----------
    member
        At its k and both budgets.
    rounds
        Collections of the same value.
    values
        v1 and v2.
    trials, alpha
        Of the audit; they determine the threshold of the ratio.

    Raises
    ------
    ValueError
        If `rounds` is below 1 or above 2,000.
    """
    _check(rounds)

    def counts(value: int, users: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        memos = member.permanent.perturb(np.full(users, value), rng)
        seen, (p2, q2) = member.permanent.supports(memos, values), member.second
        chances = [np.where(supported, p2, q2) for supported in (seen.first, seen.second)]
        first = binomial(rounds, chances[0], rng)
        if _by_bits(member):
            return first, binomial(rounds, chances[1], rng)
        second = binomial(rounds - first, np.minimum(chances[1] / (1 - chances[0]), 1), rng)
        if isinstance(member, LOLOHA):  # where the hash maps both to one symbol, a report supports both or neither
            symbols = HASHES[member.once.hash](np.array(values), memos[:, :1], member.g)
            second = np.where(symbols[:, 0] == symbols[:, 1], first, second)
        return first, second

    subject = _subject(member.once, rounds, values, _law(member, rounds), counts, trials, alpha)
    promise = member.epsilon if rounds == 1 else member.epsilon_forever
    return replace(subject, epsilon_forever=member.epsilon_forever, epsilon_guaranteed=promise)


def fresh_subject(
    oracle: FrequencyOracle,
    rounds: int,
    values: tuple[int, int] = (0, 1),
    *,
    trials: int = TRIALS,
    alpha: float = ALPHA,
) -> Subject:
    """Return the same for fresh noise in each round, whose guarantee grows with the rounds: for comparison.

    Parameters and errors as for `memoised_subject`; the oracle is randomised response, or has reports that support
    values independently.
    """
    _check(rounds)
    p, q = oracle.probabilities

    def counts(value: int, users: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        own, other = (p, q) if value == values[0] else (q, p)
        first = binomial(np.full(users, rounds), own, rng)
        if oracle.independent_supports:
            return first, binomial(np.full(users, rounds), other, rng)
        return first, binomial(rounds - first, min(other / (1 - own), 1), rng)

    return _subject(oracle, rounds, values, _fresh_law(oracle, rounds), counts, trials, alpha)


def bit_flips_subject(
    member: DBitFlipPM, rounds: int, values: tuple[int, int] = (0, 1), *, trials: int = TRIALS, alpha: float = ALPHA
) -> Subject:
    """Return `rounds` collections of the same value from devices that repeat their first report, dBitFlipPM.

    The attacker sees whether the bits of v1 and of v2 are among those of the device, and what they are; further rounds
    add nothing. Parameters and errors as for `memoised_subject`.
    """
    _check(rounds)
    (p, q), k, bits = member.flips, member.k, member.bits
    both, one, none = bits * (bits - 1), bits * (k - bits), (k - bits) * (k - bits - 1)  # v1 and v2 among the bits
    own, other = np.array([1 - p, p]), np.array([1 - q, q])
    law = np.zeros((3, 3))  # of the bits of v1 and v2: not reported, 0, 1
    law[0, 0], law[1:, 0], law[0, 1:], law[1:, 1:] = none, one * own, one * other, both * np.outer(own, other)

    def states(value: int, users: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        reports = member.devices(users, rng)(np.full(users, value), rng)
        return reports[:, values[0]] - NONE, reports[:, values[1]] - NONE

    subject = _subject(member, rounds, values, law / (k * (k - 1)), states, trials, alpha)
    return replace(subject, epsilon_forever=member.epsilon_forever, epsilon_guaranteed=member.epsilon_forever)


def _check(rounds: int) -> None:
    if not 1 <= rounds <= ROUNDS_MAX:
        raise ValueError(
            f"rounds of an audit with memoisation must be between 1 and {ROUNDS_MAX:,}, got {rounds:,}: the loss has "
            "reached the permanent budget long before"
        )


def _subject(
    oracle: FrequencyOracle | DBitFlipPM,
    rounds: int,
    values: tuple[int, int],
    law: FloatArray,
    counts: Callable[[int, int, np.random.Generator], tuple[IntArray, IntArray]],
    trials: int,
    alpha: float,
) -> Subject:
    """Return the attack by the likelihood ratio of two counts, of which v2 has the transposed law."""
    possible = law > 0
    losses = np.full(law.shape, -np.inf)
    # If a count is impossible under v2 in floating point, the answer is v1.
    losses[possible] = np.log(law[possible]) - np.log(np.maximum(law.T[possible], np.finfo(float).tiny))
    threshold, probabilities = highest_bound(losses[possible], law[possible], trials, alpha)
    says = losses >= threshold - SAME

    def sample(value: int, users: int, rng: np.random.Generator) -> FloatArray:
        return says[counts(value, users, rng)].astype(np.float64)

    return Subject(
        protocol=oracle.key,
        epsilon=oracle.epsilon,
        k=oracle.k,
        sampler=sample,
        epsilon_guaranteed=rounds * oracle.epsilon,
        probabilities=probabilities,
        attack=LIKELIHOOD,
        values=values,
        cells=oracle.k,
        rounds=rounds,
    )


def _law(member: TwoSteps, rounds: int) -> FloatArray:
    """Return the probabilities of both counts if the user holds v1: ``(rounds + 1, rounds + 1)``, v1 by rows."""
    from scipy.stats import binom

    (p1, q1), (p2, q2) = member.permanent.probabilities, member.second
    z = np.arange(rounds + 1)
    kept, other = binom.pmf(z, rounds, p2), binom.pmf(z, rounds, q2)
    own, strange = p1 * kept + (1 - p1) * other, q1 * kept + (1 - q1) * other
    if _by_bits(member):
        return np.outer(own, strange)
    size, same = (member.g, 1 / member.g) if isinstance(member, LOLOHA) else (member.k, 0.0)  # same: hashes collide
    q1 = (1 - p1) / (size - 1)
    none = _trinomial(rounds, q2, q2) if size > 2 else np.zeros((rounds + 1, rounds + 1))
    first = _trinomial(rounds, p2, q2)
    apart = p1 * first + q1 * first.T + (1 - p1 - q1) * none
    return (1 - same) * apart + same * np.diag(own)


def _fresh_law(oracle: FrequencyOracle, rounds: int) -> FloatArray:
    from scipy.stats import binom

    (p, q), z = oracle.probabilities, np.arange(rounds + 1)
    if not oracle.independent_supports:
        return _trinomial(rounds, p, q)
    return np.outer(binom.pmf(z, rounds, p), binom.pmf(z, rounds, q))


def _by_bits(member: TwoSteps) -> bool:
    return member.once.report_kind == "bits"


def _trinomial(rounds: int, first: float, second: float) -> FloatArray:
    """Return the probabilities of two counts: each of `rounds` draws adds to the first, the second, or neither."""
    from scipy.stats import binom

    z = np.arange(rounds + 1)
    rest = np.minimum(second / (1 - first), 1)
    conditional = binom.pmf(z[None, :], rounds - z[:, None], rest)
    return binom.pmf(z, rounds, first)[:, None] * conditional
