"""Algorithm 1: users hold v1 and v2, an attack guesses from each report, and the counts bound the privacy loss.

And Algorithm 2, the same value collected again and again; and local hashing without perturbation. With the closed forms
of attacks, for infinitely many trials, and Clopper-Pearson intervals for few.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from simulator._types import FloatArray
from simulator.attacks import evenly_confused, expected_inverse, of_hashes, of_largest
from simulator.hashing import HASHES, SEED_BITS
from simulator.progress import Steps, in_threads
from simulator.protocols import FrequencyOracle
from simulator.protocols.protocol import Probabilities, Protocol
from simulator.seeding import rng_for

BLOCK_CELLS = 500_000  # trials x categories drawn from a stream: bounds memory; results do not depend on jobs
ATTACKS = ("guess", "pair")  # the protocol evaluates them on a report, `Protocol.chances`
LIKELIHOOD = "likelihood"  # of all reports of a user together
TRIALS, ALPHA = 1_000_000, 0.01

Sampler = Callable[[int, int, np.random.Generator], FloatArray]
"""``(value, trials, rng)``: let users who hold a value report, and return ``(trials,)`` chances that v1 is named."""


@dataclass(frozen=True, kw_only=True)
class AuditSetting:
    """Setting of an audit.

    Attributes
    ----------
    protocol
        Key in the table, or the name of the client that was audited.
    epsilon, k
        Budget per report, or of all attributes together (None: the reports are not perturbed at all), and domain size.
    attack
        ``"guess"``, ``"pair"``, ``"likelihood"``: the answer is v1 if all reports of a user are likely enough under v1,
        or ``"line"``: if a report is a certain line.
    values, files
        The two values of the attack; for reports in files, the indices of two files and their names.
    looked_for
        The values that indicate v1 and v2 in a report, or the line that indicates v1; None if these are v1 and v2.
    tried
        Number of values from which the two with the highest loss were chosen, 2 if given; None if the choice does not
        matter.
    rounds, attributes, solution, fake, symbols
        Collections of the same value; attributes of a user, how they are collected (``"spl"``, ``"smp"``, ``"rsfd"``,
        ``"rsrfd"``) and how fake data is made (``"z"``, ``"r"``); symbols that a value is hashed to, if hashing is the
        only protection.
    epsilon_guaranteed
        The guaranteed privacy loss of all reports of a user: epsilon, or its composition; None without a guarantee.
    epsilon_one_attribute
        The guaranteed privacy loss of users who differ in a single attribute of several; None with a single attribute.
    epsilon_forever
        The permanent budget of devices that remember; None where noise is fresh in each round.
    sizes
        The domain sizes of the attributes, where they differ; `k` is then the largest. None otherwise.
    """

    protocol: str
    epsilon: float | None
    k: int
    attack: str = "guess"
    values: tuple[int, int] = (0, 1)
    files: tuple[str, str] | None = None
    looked_for: tuple[int | str, ...] | None = None
    tried: int | None = None
    rounds: int = 1
    attributes: int = 1
    solution: str | None = None
    fake: str | None = None
    symbols: int | None = None
    epsilon_guaranteed: float | None = None
    epsilon_one_attribute: float | None = None
    epsilon_forever: float | None = None
    sizes: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Audit(AuditSetting):
    """Result of an audit.

    Attributes
    ----------
    trials, alpha
        Reports of each of the two values, and the probability that the bounds miss.
    hits, confusions
        How often the attacker answered v1 for users of v1, and for users of v2.
    epsilon_lower_bound, epsilon_upper_bound
        Bounds of the privacy loss that this attack shows, ``ln`` of the ratio of its two probabilities; the upper bound
        is for this attack only, and None if v2 was never taken for v1. Both hold with confidence 1 - alpha.
    epsilon_analytic
        The privacy loss with infinitely many trials; None where no closed form is known.
    epsilon_ceiling
        The highest lower bound that this number of trials allows.
    epsilon_slack
        How far the lower bound falls below the analytic value at most, with confidence 1 - alpha for all audits of a
        table together.
    agrees
        Whether the analytic value is within the bounds, those that hold with confidence 1 - alpha for all audits of a
        table together; None where there is none.
    leaks
        Whether the lower bound is above the guarantee.
    runs, epsilon_lower_bound_mean, epsilon_lower_bound_sd
        Runs with seeds of their own, of which all other figures are those of the first; mean and standard deviation of
        their lower bounds, None for a single run.
    """

    trials: int
    alpha: float
    hits: int
    confusions: int
    epsilon_lower_bound: float
    epsilon_upper_bound: float | None
    epsilon_analytic: float | None
    epsilon_ceiling: float
    epsilon_slack: float | None
    agrees: bool | None
    leaks: bool
    runs: int = 1
    epsilon_lower_bound_mean: float | None = None
    epsilon_lower_bound_sd: float | None = None


@dataclass(frozen=True, kw_only=True)
class Subject(AuditSetting):
    """Subject of an audit: its guarantee, the attack on its reports, and known probabilities."""

    sampler: Sampler | None = None  # gives the chances that v1 is named; None where reports were attacked already
    probabilities: Probabilities | None = None  # the two of the attack, in closed form
    cells: int = 0  # numbers per report, to draw and to attack it

    @property
    def address(self) -> tuple[str | int, ...]:
        """Name of the random stream."""
        single = ("audit", self.protocol, repr(self.epsilon), self.k, self.attack, *self.values)
        several = (self.solution or "", self.fake or "", self.rounds, self.attributes, self.symbols or 0)
        forever = () if self.epsilon_forever is None else (repr(self.epsilon_forever),)
        return (*single, *several, *forever, *(self.sizes or ()))


def protocol_subject(protocol: Protocol, attack: str = "guess", values: tuple[int, int] = (0, 1)) -> Subject:
    """Return a collection with a protocol as the subject of an audit, with the protocol's client.

    Arcolezi, Gambs, "Revealing the true cost of locally differentially private protocols: an auditing perspective",
    2024, Algorithm 1.

    attack: ``"guess"``, the best single guess of the value, as in the source, or ``"pair"``: whether the report
        supports v1 and not v2, the best test between the two whatever the other values are.
    """

    def sample(value: int, trials: int, rng: np.random.Generator) -> FloatArray:
        return protocol.chances(protocol.perturb(np.full(trials, value), rng), values, attack)

    return Subject(
        protocol=protocol.key,
        epsilon=protocol.epsilon,
        k=protocol.k,
        sampler=sample,
        epsilon_guaranteed=protocol.privacy_loss(values),
        probabilities=protocol.attack_probabilities(attack, values),
        attack=attack,
        values=values,
        cells=protocol.k,
    )


def rounds_subject(oracle: FrequencyOracle, rounds: int, values: tuple[int, int] = (0, 1)) -> Subject:
    """Return `rounds` collections of the same value, attacked together: the value with the most support is named.

    Arcolezi and Gambs, Algorithm 2; between values of equal support the attacker chooses evenly (the source takes the
    first), so that a single round is the attack of Algorithm 1. For protocols without support sets the reports are
    added up. The promise is that of sequential composition, ``rounds * epsilon``.

    The reports of a user in all rounds are drawn together, from the law of the aggregate of `rounds` users with the
    same value. For local hashing the hash is assumed fully random.
    """

    def sample(value: int, trials: int, rng: np.random.Generator) -> FloatArray:
        support = oracle.sample_rounds(value, rounds, trials, rng)
        return of_largest(support.astype(np.float64), oracle.k, values).chances("guess")

    return replace(
        protocol_subject(oracle, values=values),
        sampler=sample,
        epsilon_guaranteed=rounds * oracle.epsilon,
        probabilities=most_supported(oracle, rounds),
        cells=oracle.rounds_cells(rounds),
        rounds=rounds,
    )


def hashing_subject(k: int, symbols: int, values: tuple[int, int] = (0, 1)) -> Subject:
    """Return the report of a hash seed and the symbol it gives, as it is; nothing is promised.

    Arcolezi and Gambs, Section 4.3.
    """

    def sample(value: int, trials: int, rng: np.random.Generator) -> FloatArray:
        seeds = rng.integers(0, 2**SEED_BITS, size=trials)
        sent = HASHES["mix64"](np.full(trials, value), seeds, symbols)
        return of_hashes(seeds, sent, k, values, g=symbols).chances("guess")

    return Subject(
        protocol="lho",
        epsilon=None,
        k=k,
        sampler=sample,
        probabilities=hashing_only(k, symbols),
        values=values,
        cells=k,
        symbols=symbols,
    )


def run_audit(
    subject: Subject,
    *,
    trials: int,
    alpha: float,
    seed: int,
    jobs: int = 1,
    comparisons: int = 1,
    progress: Steps | None = None,
) -> Audit:
    """Count how often the attack answers v1 for users who hold v1, and for users who hold v2, and bound the ratio.

    comparisons: audits that are compared with their analytic values together.
    progress: called with (trials done, trials in all), those of both values.
    """
    block, done = max(1, BLOCK_CELLS // max(subject.cells, 1)), 0
    sizes = [min(block, trials - start) for start in range(0, trials, block)]
    tasks = [(value, place, size) for value in subject.values for place, size in enumerate(sizes)]

    sampler = subject.sampler
    assert sampler is not None  # noqa: S101 - reports that were attacked already are not audited again

    def named(value: int, place: int, size: int) -> int:
        rng = rng_for(seed, *subject.address, value, place)
        chances = sampler(value, size, rng)
        return int(np.count_nonzero(rng.random(size) < chances))

    counted = dict.fromkeys(subject.values, 0)
    for (value, _, size), count in zip(tasks, in_threads(named, tasks, jobs), strict=True):
        counted[value] += count
        done += size
        if progress is not None:
            progress(done, 2 * trials)
    hits, confusions = counted.values()
    return conclude(subject, hits, confusions, trials=trials, alpha=alpha, comparisons=comparisons)


def conclude(subject: Subject, hits: int, confusions: int, *, trials: int, alpha: float, comparisons: int = 1) -> Audit:
    """Return the audit that two counts make."""
    low, high = ratio_bounds(hits, confusions, trials, alpha)
    low_of_all, high_of_all = ratio_bounds(hits, confusions, trials, alpha / comparisons)
    analytic, slack, promise = None, None, subject.epsilon_guaranteed
    if subject.probabilities is not None:
        analytic = log_ratio(subject.probabilities)
        slack = analytic - lowest_likely(*subject.probabilities, trials, alpha, comparisons)
    return Audit(
        **{field.name: getattr(subject, field.name) for field in fields(AuditSetting)},
        trials=trials,
        alpha=alpha,
        hits=hits,
        confusions=confusions,
        epsilon_lower_bound=low,
        epsilon_upper_bound=high if math.isfinite(high) else None,
        epsilon_analytic=analytic,
        epsilon_ceiling=ceiling(trials, alpha),
        epsilon_slack=slack,
        agrees=None if analytic is None else low_of_all <= analytic <= high_of_all,
        leaks=promise is not None and low > promise,
    )


SURE = 1e-9  # a success nearer to 1 loses too many digits
NODES = 32  # of the Gauss-Legendre rule, which is exact up to k = 64


def hashing_only(k: int, g: int) -> Probabilities:
    """Return both probabilities of the guess from a hash to g symbols that is not perturbed (LHO)."""
    return evenly_confused(expected_inverse(k - 1, 1 / g), k)


def most_supported(oracle: FrequencyOracle, rounds: int) -> Probabilities | None:
    """Return both probabilities of the averaging attack in closed form, where reports support values independently.

    With Z ~ Bin(rounds, p) the true value's count and F the distribution function, f the mass of the others'
    Bin(rounds, q), the true value is named with probability ``E[(F(Z)^k - F(Z-1)^k) / (k f(Z))]``, ties broken evenly:
    the integral of ``u^(k-1)`` from F(Z-1) to F(Z), over f(Z).
    """
    p, q = oracle.p, oracle.q
    if not oracle.independent_supports or p is None or q is None:
        return None
    from scipy.stats import binom

    z = np.arange(rounds + 1)
    below, upto = binom.cdf(z - 1, rounds, q), binom.cdf(z, rounds, q)
    step = upto - below
    # Where f is lost in rounding the mean of u^(k-1) over no stretch at all is the integrand itself.
    mean = np.where(
        step > 1e-9, (upto**oracle.k - below**oracle.k) / (oracle.k * np.maximum(step, 1e-300)), upto ** (oracle.k - 1)
    )
    own = binom.pmf(z, rounds, p)
    success = float(own @ mean)
    if success < 1 - SURE:
        return evenly_confused(success, oracle.k)
    # The difference to 1 is the integral of 1 - u^(k-1), by the tails 1 - u.
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    low, high = binom.sf(z, rounds, q), binom.sf(z - 1, rounds, q)
    missed = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        tail = np.minimum(low + (high - low) * (1 + node) / 2, 1 - 1e-16)
        missed -= weight / 2 * float(own @ np.expm1((oracle.k - 1) * np.log1p(-tail)))
    return min(success, 1.0), missed / (oracle.k - 1)


def log_ratio(both: Probabilities) -> float:
    """Return the privacy loss ``ln(p0 / p1)`` that the probabilities of an attack show."""
    return math.log(both[0] / both[1]) if both[1] else math.inf


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Return the exact two-sided interval of confidence ``1 - alpha`` of a probability.

    Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", 1934.

    successes, trials: counts, ``0 <= successes <= trials``.
    alpha: probability that the interval misses, half of it on each side.

    >>> low, high = clopper_pearson(0, 100, 0.05)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv  # a tenth of the load time of scipy.stats

    low = float(betaincinv(successes, trials - successes + 1, alpha / 2)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - alpha / 2)) if successes < trials else 1.0
    return low, high


def ratio_bounds(hits: int, confusions: int, trials: int, alpha: float) -> tuple[float, float]:
    """Return bounds of ``ln(p0 / p1)`` that hold together with confidence ``1 - alpha``, infinite where p1 may be 0.

    Each probability gets the two-sided interval of confidence ``1 - alpha / 2``, as in the experiments of Arcolezi and
    Gambs (this reproduces their ceilings 7.42 and 12.025). A lower bound alone could be a little tighter. A negative
    lower bound has no meaning and is returned as 0.

    hits, confusions: how often the attack answered v1 for users of v1, and for users of v2.
    trials: of each of the two.
    """
    p0_low, p0_high = clopper_pearson(hits, trials, alpha / 2)
    p1_low, p1_high = clopper_pearson(confusions, trials, alpha / 2)
    low = math.log(p0_low / p1_high) if p0_low else 0.0
    return max(0.0, low), (math.log(p0_high / p1_low) if p1_low else math.inf)


def ceiling(trials: int, alpha: float) -> float:
    """Return the highest bound that the number of trials allows: all guesses right, no confusion.

    >>> round(ceiling(10**4, 0.01), 2), round(ceiling(10**6, 0.01), 3)
    (7.42, 12.025)
    """
    return ratio_bounds(trials, 0, trials, alpha)[0]


def lowest_likely(p0: float, p1: float, trials: int, alpha: float, comparisons: int = 1) -> float:
    """Return a value that the lower bound rarely falls below, if the probabilities are these.

    alpha: of the bound; and the probability that any of the `comparisons` falls below the result.
    """
    from scipy.stats import binom

    rare = alpha / comparisons / 2
    return ratio_bounds(int(binom.ppf(rare, trials, p0)), int(binom.isf(rare, trials, p1)), trials, alpha)[0]
