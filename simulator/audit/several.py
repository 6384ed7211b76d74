"""All reports of a user attacked together: of several attributes (Algorithm 3), and of devices that remember.

Several attributes are collected by splitting, sampling, or sampling plus fake data. Fakes of realistic values are drawn
from a prior: in audits, value number v has a frequency proportional to 1/(v + 1). Of devices that remember the same
value is collected again and again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.attributes import loss_of_one, published_budget
from simulator.audit.run import ALPHA, LIKELIHOOD, TRIALS, Subject, protocol_subject
from simulator.draws import binomial
from simulator.hashing import HASHES
from simulator.memoisation import LOLOHA, NONE, DBitFlipPM, TwoSteps
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
    sizes: Sequence[int] = (),
    attack: str = LIKELIHOOD,
    amplified: bool = False,
    trials: int = TRIALS,
    alpha: float = ALPHA,
) -> tuple[Subject, ...]:
    """Return the subjects of an audit of users with several attributes of k values each; a subject per fake method.

    The guarantee is for all attributes together. The two users of the attack hold v1, and v2, in all attributes. The
    second guarantee is for users who differ in a single attribute.

    solution: ``"spl"``: each attribute at ``epsilon / attributes``; the attack is on a single attribute. ``"smp"``: one
        attribute at epsilon, drawn at random and named in the report. ``"rsfd"``: one attribute at epsilon and fake
        data for the others, without naming it. For `grr` fakes are uniform values; for unary encodings the protocol's
        report of a zero vector (``"z"``) or of a random one-hot vector (``"r"``). ``"rsrfd"``: the same with fake
        values drawn from `prior_of`.
    sizes: of attributes with different numbers of values, only where data is fake; `k` is then the largest.
    attack: where data is fake. ``"likelihood"``: the attacker answers v1 if the likelihood ratio of all reports of a
        user is high enough. ``"guess"``: draws an attribute at random, and names a value of its support set, as
        published (Arcolezi and Gambs, Algorithm 3).
    amplified: report the attribute at `published_budget`, as RS+FD was published: that is what users who differ in all
        attributes lose, and about epsilon what users lose who differ in one.
    trials, alpha: of the audit; they determine the threshold of the likelihood ratio.
    """
    part = epsilon / attributes if solution == "spl" else epsilon
    budget = published_budget(epsilon, attributes) if amplified and solution in HIDDEN else epsilon
    subject = replace(
        protocol_subject(protocol(k, part), values=values),
        epsilon=epsilon,
        epsilon_guaranteed=budget,
        epsilon_one_attribute=part,
        attributes=attributes,
        solution=solution,
        sizes=tuple(sizes) or None,
    )
    if solution not in HIDDEN:
        return (subject,)
    realistic = solution == "rsrfd"
    ways = [fake for fake in protocol.fakes if not realistic or fake != "z"]  # a report of no value is not realistic
    groups = tuple((protocol(size, budget), number) for size, number in Counter(sizes or {k: attributes}).items())
    priors = {oracle.k: prior_of(oracle.k) for oracle, _ in groups} if realistic else {}
    return tuple(_Faked(groups, values, fake, priors).subject(subject, attack, trials, alpha) for fake in ways)


def prior_of(k: int) -> FloatArray:
    """Return the frequencies ``(k,)`` from which audits draw realistic fakes: as 1/rank."""
    return frequencies("zipf", k)


@dataclass(frozen=True, eq=False)
class _Faked:
    """Reports of users who report an attribute drawn at random, and fake the others."""

    groups: tuple[tuple[FrequencyOracle, int], ...]  # protocol of the attributes of each size, and their number
    values: tuple[int, int]  # v1 and v2
    way: str | None  # how fake reports are generated for attributes that were not sampled, from the protocol's `fakes`
    priors: Mapping[int, FloatArray]  # of fake values, by size; empty for uniform values

    @property
    def attributes(self) -> int:
        return sum(number for _, number in self.groups)

    def subject(self, plain: Subject, attack: str, trials: int, alpha: float) -> Subject:
        """Return the attack on all reports of a user; plain: the attack on a single report."""
        if attack == LIKELIHOOD:
            threshold, probabilities = self.threshold(trials, alpha)
        else:
            threshold, probabilities = 0.0, self.guess_probabilities()

        def sample(value: int, users: int, rng: np.random.Generator) -> FloatArray:
            reports = self.reports(value, users, rng)
            if attack == LIKELIHOOD:
                return (self.losses(reports) >= threshold - SAME).astype(np.float64)
            return self.guesses(reports)

        sizes = {oracle.k: number for oracle, number in self.groups}
        return replace(
            plain,
            attack=attack,
            sampler=sample,
            probabilities=probabilities,
            cells=sum(oracle.k * number for oracle, number in self.groups),
            fake=self.way,
            epsilon_one_attribute=loss_of_one(sizes, self.groups[0][0].epsilon, self.way, self.priors),
        )

    def reports(self, value: int, users: int, rng: np.random.Generator) -> list[IntArray]:
        """Return all reports of users who hold the same value in all attributes, by group, a user after the other."""
        reports = [self.fakes(oracle, users * number, rng) for oracle, number in self.groups]
        sampled, first = rng.integers(0, self.attributes, size=users), 0
        for (oracle, number), sent in zip(self.groups, reports, strict=True):
            holders = np.flatnonzero((sampled >= first) & (sampled < first + number))
            places = holders * number + sampled[holders] - first
            sent[places] = oracle.perturb(np.full(len(holders), value), rng)
            first += number
        return reports

    def fakes(self, oracle: FrequencyOracle, number: int, rng: np.random.Generator) -> IntArray:
        if not self.priors:
            return oracle.fake_reports(self.way, number, rng)
        values = rng.choice(oracle.k, size=number, p=self.priors[oracle.k])
        return values if self.way is None else oracle.perturb(values, rng)

    def guesses(self, reports: list[IntArray]) -> FloatArray:
        """Return ``(users,)`` chances that v1 is named from the report of an attribute drawn at random."""
        chances = [
            oracle.chances(sent, self.values, "guess").reshape(-1, number)
            for (oracle, number), sent in zip(self.groups, reports, strict=True)
        ]
        return np.concatenate(chances, axis=1).mean(axis=1)

    def guess_probabilities(self) -> Probabilities:
        """Return how often v1 is named from the report of an attribute drawn at random.

        The report is that of the true value with probability 1/d, else a fake, which does not depend on it.
        """
        named, hidden = np.zeros(2), self.attributes - 1
        for oracle, number in self.groups:
            own = np.array(oracle.attack_probabilities("guess", self.values))
            share = self.priors[oracle.k][self.values[0]] if self.priors else 1 / oracle.k
            fake = share * own[0] + (1 - share) * own[1] if self.way == "r" else share
            named += number * (own + hidden * fake) / self.attributes**2
        return float(named[0]), float(named[1])

    def losses(self, reports: list[IntArray]) -> FloatArray:
        """Return ``(users,)`` log-ratios of the likelihood of all reports of a user under v1 and under v2."""
        likelihoods = np.zeros((2, 1))
        for (oracle, number), sent in zip(self.groups, reports, strict=True):
            supports, more = oracle.supports(sent, self.values), math.expm1(oracle.epsilon)
            odds = 1 + more * np.stack([supports.first, supports.second])
            weighted = self.weights(oracle, sent, supports.size) * odds
            likelihoods = likelihoods + weighted.reshape(2, -1, number).sum(axis=2)
        return np.log(likelihoods[0] / likelihoods[1])

    def weights(self, oracle: FrequencyOracle, reports: IntArray, size: IntArray) -> FloatArray:
        """Return the likelihood of each report under a value it does not support, over that of a fake.

        Up to a factor that all attributes have in common.
        """
        k, more = oracle.k, math.expm1(oracle.epsilon)
        if not self.priors:
            return np.ones(len(size)) if self.way == "z" else k / (k + size * more)
        prior = self.priors[k]
        return 1 / (prior[reports] * (k + more)) if self.way is None else 1 / (1 + more * (reports @ prior))

    def threshold(self, trials: int, alpha: float) -> tuple[float, Probabilities | None]:
        """Return the log-ratio from which the answer is v1, and the probabilities of this if they have a closed form.

        A higher threshold brings the ratio of the two probabilities nearer to the privacy loss, but fewer trials reach
        it. The choice maximises the bound for the number of trials. Where the ratio depends on all k bits, on a prior,
        or on which values have which size, its distribution is estimated from users of a separate random stream.
        """
        oracle, attributes = self.groups[0][0], self.attributes
        if self.way == "r" or self.priors or (self.way is None and len(self.groups) > 1):
            users = max(2, min(PILOT, PILOT_CELLS // sum(one.k * number for one, number in self.groups)))
            shape = [part for one, number in self.groups for part in (one.k, number)]
            rng = rng_for(0, "audit", "pilot", oracle.key, repr(oracle.epsilon), *shape, *self.values)
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
    bits = member.once.report_kind == "bits"

    def counts(value: int, users: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        memos = member.permanent.perturb(np.full(users, value), rng)
        seen = member.permanent.supports(memos, values)
        first, second = (np.where(supported, *member.second) for supported in (seen.first, seen.second))
        first, second = _draw(rounds, first, second, bits, rng)
        if isinstance(member, LOLOHA):  # where the hash maps both to one symbol, a report supports both or neither
            symbols = HASHES[member.once.hash](np.array(values), memos[:, :1], member.g)
            second = np.where(symbols[:, 0] == symbols[:, 1], first, second)
        return first, second

    size, same = (member.g, 1 / member.g) if isinstance(member, LOLOHA) else (None if bits else member.k, 0.0)
    law = _law(member.first, member.second, rounds, size, same)
    subject = _subject(member.once, rounds, values, law, counts, trials, alpha)
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
    own, other = oracle.probabilities

    def counts(value: int, users: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        first, second = (np.full(users, own if value == held else other) for held in values)
        return _draw(rounds, first, second, oracle.independent_supports, rng)

    law = _law((1.0, 0.0), (own, other), rounds, None if oracle.independent_supports else oracle.k)
    return _subject(oracle, rounds, values, law, counts, trials, alpha)


def bit_flips_subject(
    member: DBitFlipPM, rounds: int, values: tuple[int, int] = (0, 1), *, trials: int = TRIALS, alpha: float = ALPHA
) -> Subject:
    """Return `rounds` collections of the same value from devices that repeat their first report, dBitFlipPM.

    The attacker sees whether the bits of v1 and of v2 are among those of the device, and what they are; further rounds
    add nothing. Parameters as for `memoised_subject`, but any number of rounds.
    """
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


def _draw(
    rounds: int, first: FloatArray, second: FloatArray, independent: bool, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw for each user in how many rounds the report supports v1, and v2, from the chances that it does."""
    count = binomial(rounds, first, rng)
    if independent:
        return count, binomial(rounds, second, rng)
    return count, binomial(rounds - count, np.minimum(second / (1 - first), 1), rng)


def _law(first: Probabilities, second: Probabilities, rounds: int, size: int | None, same: float = 0.0) -> FloatArray:
    """Return the probabilities of both counts if the user holds v1: ``(rounds + 1, rounds + 1)``, v1 by rows.

    first, second: p and q of what is kept for ever, and of each round. size: symbols of randomised response; None for
    independent supports. same: how likely v1 and v2 have the same symbol.
    """
    from scipy.stats import binom

    if not 1 <= rounds <= ROUNDS_MAX:
        raise ValueError(
            f"rounds of an audit with memoisation must be between 1 and {ROUNDS_MAX:,}, got {rounds:,}: the loss has "
            "reached the permanent budget long before"
        )
    (p1, q1), (p2, q2), z = first, second, np.arange(rounds + 1)
    kept, other = binom.pmf(z, rounds, p2), binom.pmf(z, rounds, q2)
    own, strange = p1 * kept + (1 - p1) * other, q1 * kept + (1 - q1) * other
    if size is None:
        return np.outer(own, strange)
    q1 = (1 - p1) / (size - 1)
    none = _trinomial(rounds, q2, q2) if size > 2 else np.zeros((rounds + 1, rounds + 1))
    only = _trinomial(rounds, p2, q2)
    apart = p1 * only + q1 * only.T + (1 - p1 - q1) * none
    return (1 - same) * apart + same * np.diag(own)


def _trinomial(rounds: int, first: float, second: float) -> FloatArray:
    """Return the probabilities of two counts: each of `rounds` draws adds to the first, the second, or neither."""
    from scipy.stats import binom

    z = np.arange(rounds + 1)
    rest = np.minimum(second / (1 - first), 1)
    conditional = binom.pmf(z[None, :], rounds - z[:, None], rest)
    return binom.pmf(z, rounds, first)[:, None] * conditional
