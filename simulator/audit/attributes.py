"""Algorithm 3: several attributes of one user, collected by splitting, sampling, or sampling plus fake data.

Fakes of realistic values are drawn from a prior: in audits, value number v has a frequency proportional to 1/(v + 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.attributes import SOLUTIONS, one_attribute_loss
from simulator.audit.run import ALPHA, TRIALS, Subject, protocol_subject
from simulator.populations import frequencies
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.protocol import Probabilities
from simulator.seeding import rng_for

HIDDEN = ("rsfd", "rsrfd")  # solutions with fake data for attributes that were not sampled
FAKES = {key: protocol.fakes for key, protocol in PROTOCOLS.items() if protocol.fakes}
PILOT, PILOT_CELLS = 20_000, 20_000_000  # users to estimate a threshold from, and the maximum size of their reports
SAME = 1e-9  # likelihood ratios that differ by rounding only


def attribute_subjects(
    protocol: type[FrequencyOracle],
    k: int,
    epsilon: float,
    attributes: int,
    solution: str,
    values: tuple[int, int] = (0, 1),
    *,
    trials: int = TRIALS,
    alpha: float = ALPHA,
) -> tuple[Subject, ...]:
    """Return the subjects of an audit of users with several attributes of k values each; a subject per fake method.

    The guarantee is epsilon for all attributes together. The two users of the attack hold v1, and v2, in all
    attributes. The second guarantee is for users who differ in a single attribute.

    solution: ``"spl"``: each attribute at ``epsilon / attributes``; the attack is on a single attribute. ``"smp"``: one
        attribute at epsilon, drawn at random and named in the report. ``"rsfd"``: one attribute at epsilon and fake
        data for the others, without naming it; the attacker answers v1 if the likelihood ratio of all reports of a user
        is high enough. The source uses `published_budget` for the attribute, which guarantees epsilon only if users
        differ in no other attribute. For `grr` fakes are uniform values; for unary encodings the protocol's report of a
        zero vector (``"z"``) or of a random one-hot vector (``"r"``). ``"rsrfd"``: the same with fake values drawn from
        `prior_of`.
    trials, alpha: of the audit; they determine the threshold of the likelihood ratio.

    Raises ValueError if there are fewer than 2 attributes, the solution is unknown, or has no fake data for the
    protocol.
    """
    if attributes < 2:
        raise ValueError(f"attributes must be at least 2, got {attributes}")
    if solution not in SOLUTIONS:
        raise ValueError(f"solution must be one of {', '.join(SOLUTIONS)}, got {solution!r}")
    part = epsilon / attributes if solution == "spl" else epsilon
    oracle = protocol(k, part)
    subject = replace(
        protocol_subject(oracle, values=values),
        epsilon=epsilon,
        epsilon_guaranteed=epsilon,
        epsilon_one_attribute=part,
        attributes=attributes,
        solution=solution,
    )
    if solution not in HIDDEN:
        return (subject,)
    if not protocol.fakes:
        raise ValueError(f"solution {solution} has fake data for {', '.join(FAKES)}, got {protocol.key}")
    prior = prior_of(k) if solution == "rsrfd" else None
    ways = [fake for fake in protocol.fakes if prior is None or fake != "z"]  # a report of no value is not realistic
    return tuple(_Faked(oracle, attributes, values, fake, prior).subject(subject, trials, alpha) for fake in ways)


def prior_of(k: int) -> FloatArray:
    """Return the frequencies ``(k,)`` from which audits draw realistic fakes: as 1/rank."""
    return frequencies("zipf", k)


@dataclass(frozen=True, eq=False)
class _Faked:
    """Reports of users who report an attribute drawn at random, and fake the others."""

    oracle: FrequencyOracle
    attributes: int
    values: tuple[int, int]  # v1 and v2
    way: str | None  # how fake reports are generated for attributes that were not sampled, from the protocol's `fakes`
    prior: FloatArray | None  # of fake values; None for uniform values

    def subject(self, plain: Subject, trials: int, alpha: float) -> Subject:
        """Return the attack on all reports of a user; plain: the attack on a single report."""
        threshold, probabilities = self.threshold(trials, alpha)

        def sample(value: int, users: int, rng: np.random.Generator) -> FloatArray:
            return (self.losses(self.reports(value, users, rng)) >= threshold - SAME).astype(np.float64)

        k, epsilon = self.oracle.k, self.oracle.epsilon
        return replace(
            plain,
            attack="likelihood",
            sampler=sample,
            probabilities=probabilities,
            cells=self.attributes * k,
            fake=self.way,
            epsilon_one_attribute=one_attribute_loss(k, epsilon, self.attributes, self.way, self.prior),
        )

    def reports(self, value: int, users: int, rng: np.random.Generator) -> IntArray:
        """Return all reports of users who hold the same value in all attributes: ``(users * attributes, ...)``."""
        oracle, number = self.oracle, users * self.attributes
        if self.prior is None:
            reports = oracle.fake_reports(self.way, number, rng)
        else:
            reports = rng.choice(oracle.k, size=number, p=self.prior)
            reports = reports if self.way is None else oracle.perturb(reports, rng)
        sampled = np.arange(users) * self.attributes + rng.integers(0, self.attributes, size=users)
        reports[sampled] = oracle.perturb(np.full(users, value), rng)
        return reports

    def losses(self, reports: IntArray) -> FloatArray:
        """Return ``(users,)`` log-ratios of the likelihood of all reports of a user under v1 and under v2."""
        supports, more = self.oracle.supports(reports, self.values), math.expm1(self.oracle.epsilon)
        weights = self.weights(reports, supports.size)
        first, second = (
            (weights * (1 + more * supported)).reshape(-1, self.attributes).sum(axis=1)
            for supported in (supports.first, supports.second)
        )
        return np.log(first / second)

    def weights(self, reports: IntArray, size: IntArray) -> FloatArray:
        """Return 1 / probability of each report as a fake, up to a common factor."""
        more = math.expm1(self.oracle.epsilon)
        if self.prior is None:
            return 1 / (self.oracle.k + size * more) if self.way == "r" else np.ones(len(size))
        return 1 / (self.prior[reports] if self.way is None else 1 + more * (reports @ self.prior))

    def threshold(self, trials: int, alpha: float) -> tuple[float, Probabilities | None]:
        """Return the log-ratio from which the answer is v1, and the probabilities of this if they have a closed form.

        A higher threshold brings the ratio of the two probabilities nearer to the privacy loss, but fewer trials reach
        it. The choice maximises the bound for the number of trials. Where the ratio depends on all k bits, or on a
        prior, its distribution is estimated from users of a separate random stream.
        """
        oracle, attributes = self.oracle, self.attributes
        if self.way == "r" or self.prior is not None:
            users = max(2, min(PILOT, PILOT_CELLS // (attributes * oracle.k)))
            rng = rng_for(0, "audit", "pilot", oracle.key, repr(oracle.epsilon), oracle.k, attributes, *self.values)
            losses = self.losses(self.reports(self.values[0], users, rng))
            return highest_bound(losses, np.full(users, 1 / users), trials, alpha)[0], None
        from scipy.stats import binom

        # Numbers of d fakes that support v1, and v2: a uniform value out of k each, or independent bits.
        first, second = np.indices((attributes + 1, attributes + 1))
        share = 1 / oracle.k if self.way is None else oracle.q or 0.0
        left, again = (attributes - first, share / (1 - share)) if self.way is None else (attributes, share)
        fakes = binom.pmf(first, attributes, share) * binom.pmf(second, left, again)
        odds = math.exp(oracle.epsilon)
        rests = (first * odds + attributes - first, second * odds + attributes - second)
        scale = share * odds + 1 - share  # a mean of 1 over the fakes
        chances = fakes * rests[0] / (attributes * scale)
        possible = chances > 0
        return highest_bound(np.log(rests[0] / rests[1])[possible], chances[possible], trials, alpha)


def highest_bound(
    losses: FloatArray, chances: FloatArray, trials: int, alpha: float
) -> tuple[float, tuple[float, float]]:
    """Return the threshold log-ratio with the highest bound, and the probabilities that v1 and v2 reach it.

    chances: probabilities of the log-ratios if the user holds v1; if v2, each is divided by the ratio.
    """
    order = np.argsort(-losses, kind="stable")
    hits, confusions = (np.cumsum(values[order]) for values in (chances, chances * np.exp(-losses)))
    z = NormalDist().inv_cdf(1 - alpha / 4)
    low = hits - z * np.sqrt(hits / trials)
    high = confusions + z * np.sqrt(confusions / trials) + z * z / trials
    best = int(np.argmax(np.maximum(low, 1e-300) / high))
    threshold = float(losses[order[best]])
    reached = losses >= threshold - SAME
    return threshold, (float(chances[reached].sum()), float((chances * np.exp(-losses))[reached].sum()))
