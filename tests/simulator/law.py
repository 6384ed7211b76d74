"""The exact law of the aggregate, written independently of the samplers, and the checks that compare draws with it.

Every check returns p-values; `accept` turns them into a verdict. The false-alarm rate is stated, not tuned: 1e-6 for a
whole test file, divided (Bonferroni) over at most 3,000 verdicts a file and over the p-values inside one verdict. Draws
come from fixed streams, so a verdict does not change from run to run.
"""

import itertools
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import integrate, linalg, stats

from simulator import Noise, frequency_oracles
from simulator.hashing import HASHES
from simulator.protocols import FrequencyOracle
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.unary import SHE
from simulator.seeding import rng_for

PROTOCOLS = frequency_oracles()

FALSE_ALARM = 1e-6
VERDICTS_PER_FILE = 3000
# The normal and chi-square approximations are used at p-values near 1e-10; bins of at least 50 keep them honest there.
BIN = 50


def even_noise(sd):
    """The same Gaussian noise on every estimate."""
    return Noise(10**6, 0.5, 0.25, sd**2, 0.0, False)


def log_density(x, mean=0.0, sd=1.0):
    """Of a normal variable: scipy's takes a tenth of a millisecond for a single number too."""
    return -(((x - mean) / sd) ** 2) / 2 - np.log(sd * np.sqrt(2 * np.pi))


def accept(p_values):
    """Whether none of the p-values is small enough to reject at the stated rate."""
    p_values = np.asarray(p_values, dtype=float).ravel()
    assert p_values.size, "a check without comparisons checks nothing"
    assert np.isfinite(p_values).all()
    return bool(p_values.min() * p_values.size >= FALSE_ALARM / VERDICTS_PER_FILE)


def stream(*names):
    return rng_for(20_250_101, "tests", *names)


def two_sided(z):
    return 2 * stats.norm.sf(np.abs(z))


def chi_square_p(observed, expected, lost=1):
    """Upper-tail p-value of Pearson's statistic; arguments are counts."""
    assert np.isclose(observed.sum(), expected.sum(), rtol=1e-9), "chi-square is for counts with equal totals"
    statistic = ((observed - expected) ** 2 / expected).sum()
    return stats.chi2.sf(statistic, len(expected) - lost)


def variance_p(variances, exact, df):
    """Two-sided p-value of sample variances (known mean, df squares) of nearly Gaussian draws."""
    lower = stats.chi2.cdf(df * variances / exact, df)
    return 2 * np.minimum(lower, 1 - lower)


def moments_p(draws, mean, covariance, where=...):
    """p-values of the means, and of the covariances that are to be looked at, by errors that the draws tell."""
    centred = draws - mean
    products = centred[:, :, None] * centred[:, None, :]
    spread = products.std(axis=0) / np.sqrt(len(draws))
    # Sums of supports of randomised response do not vary: the error of their covariance is rounding alone.
    means = centred.mean(axis=0) / np.sqrt(np.diag(covariance) / len(draws))
    z = (products.mean(axis=0) - covariance)[where] / np.maximum(spread, 1e-9)[where]
    return two_sided(means), two_sided(z)


def merge_bins(expected, at_least=BIN):
    """Number of the bin of each cell, neighbours merged until each bin expects `at_least`."""
    bins, total, bin_number = np.zeros(len(expected), dtype=int), 0.0, 0
    for cell, value in enumerate(expected):
        bins[cell] = bin_number
        total += value
        if total >= at_least:
            bin_number, total = bin_number + 1, 0.0
    if bin_number:  # what is left at the end, empty cells included, joins the last full bin
        bins[bins == bin_number] = bin_number - 1
    return bins


@dataclass(frozen=True)
class Law:
    """Exact mean, variance, covariance, fourth moments and marginals of the support counts."""

    oracle: FrequencyOracle
    counts: tuple[int, ...]

    lowest = 0  # smallest support count there is

    @cached_property
    def n_v(self):
        return np.array(self.counts)

    @cached_property
    def n(self):
        return int(self.n_v.sum())

    @cached_property
    def mean(self):
        return self.n_v * self.oracle.p + (self.n - self.n_v) * self.oracle.q

    @cached_property
    def variance(self):
        p, q = self.oracle.p, self.oracle.q
        return self.n_v * p * (1 - p) + (self.n - self.n_v) * q * (1 - q)

    @cached_property
    def _pair_probabilities(self):
        """Probability that one report supports both of two other values; and both the own and another value."""
        o, k = self.oracle, self.oracle.k
        if o.key == "grr":
            return 0.0, 0.0
        if o.key == "ss":
            w = o.omega
            others = (o.p * (w - 1) * (w - 2) + (1 - o.p) * w * (w - 1)) / ((k - 1) * max(k - 2, 1))
            return others, o.p * (w - 1) / (k - 1)
        return o.q * o.q, o.p * o.q

    @cached_property
    def _second(self):
        """Covariance of the counts, and the variance of one product of two centred counts."""
        p, q = self.oracle.p, self.oracle.q
        others, with_own = self._pair_probabilities
        holders = self.n_v[:, None] + self.n_v[None, :]
        covariance = (self.n - holders) * (others - q * q) + holders * (with_own - p * q)
        kappa = (self.n - holders) * _kappa(q, q, others) + holders * _kappa(p, q, with_own)
        np.fill_diagonal(covariance, self.variance)
        np.fill_diagonal(kappa, self.n_v * _kappa(p, p, p) + (self.n - self.n_v) * _kappa(q, q, q))
        # E[(x - Ex)^2 (y - Ey)^2] of a sum of independent users: joint cumulants add, products of variances join them
        product_variance = kappa + np.outer(self.variance, self.variance) + covariance**2
        return covariance, product_variance

    @property
    def covariance(self):
        return self._second[0]

    @property
    def product_variance(self):
        return self._second[1]

    def marginal(self, value):
        """Probabilities of the support counts 0..n of one value: a convolution of two binomials."""
        own, others = self.counts[value], self.n - self.counts[value]
        first = stats.binom.pmf(np.arange(own + 1), own, self.oracle.p)
        second = stats.binom.pmf(np.arange(others + 1), others, self.oracle.q)
        return np.convolve(first, second)

    def cells(self, draws, _value):
        """Number of the cell of `marginal` that each draw of one value is in."""
        return draws - self.lowest

    @property
    def fourth_of_sum(self):
        """Fourth cumulant of the sum of the supports, for independent bits: those of the bits add up."""
        p, q = self.oracle.p, self.oracle.q
        bits = ((self.n, p), (self.n * (self.oracle.k - 1), q))
        return sum(m * x * (1 - x) * (1 - 6 * x * (1 - x)) for m, x in bits)


@dataclass(frozen=True)
class ChannelLaw(Law):
    """The same from the probabilities of every single report and what it adds to each value: nothing is assumed."""

    @property
    def lowest(self):
        return self.n * int(self.channel[1].min())

    @cached_property
    def channel(self):
        """Probability of each report under each value ``(k, K)``, and what it adds to the support ``(K, k)``."""
        return channel_of(self.oracle)

    @cached_property
    def mean(self):
        chance, score = self.channel
        return self.n_v @ (chance @ score)

    @cached_property
    def variance(self):
        return self.covariance.diagonal()

    @cached_property
    def _second(self):
        chance, score = self.channel
        covariance = np.zeros((self.oracle.k, self.oracle.k))
        kappa = np.zeros_like(covariance)
        for users, row in zip(self.n_v, chance, strict=True):
            centred = score - row @ score
            own = (centred * row[:, None]).T @ centred
            squares = centred**2
            fourth = (squares * row[:, None]).T @ squares
            covariance += users * own
            kappa += users * (fourth - np.outer(own.diagonal(), own.diagonal()) - 2 * own**2)
        variance = covariance.diagonal()
        return covariance, kappa + np.outer(variance, variance) + covariance**2

    def marginal(self, value):
        """Convolution of the laws of n users, by the discrete Fourier transform: exact to its rounding."""
        chance, score = self.channel
        span = int(score.max() - score.min())
        size = self.n * span + 1
        result = np.ones(size // 2 + 1, dtype=complex)
        for users, row in zip(self.n_v, chance, strict=True):
            one = np.bincount((score[:, value] - score.min()).astype(int), weights=row, minlength=span + 1)
            result *= np.fft.rfft(one, size) ** users
        law = np.maximum(np.fft.irfft(result, size), 0.0)
        assert abs(law.sum() - 1) < 1e-11  # rounding of a transform of probabilities
        return law / law.sum()

    @property
    def fourth_of_sum(self):
        chance, score = self.channel
        sums = score.sum(axis=1)
        centred = sums - (chance @ sums)[:, None]
        return float(self.n_v @ ((chance * centred**4).sum(axis=1) - 3 * (chance * centred**2).sum(axis=1) ** 2))


@dataclass(frozen=True)
class SumLaw(Law):
    """The sum of n users' one-hot vectors with Laplace noise of scale 2/epsilon on every cell."""

    @property
    def _scale(self):
        return 2 / self.oracle.epsilon

    @cached_property
    def mean(self):
        return self.n_v.astype(float)

    @cached_property
    def variance(self):
        return np.full(self.oracle.k, self.n * 2 * self._scale**2)

    @cached_property
    def _second(self):
        # The fourth cumulant of a Laplace variable of scale b is 12 b^4.
        covariance = np.diag(self.variance)
        kappa = self.n * 12 * self._scale**4 * np.eye(self.oracle.k)
        return covariance, kappa + np.outer(self.variance, self.variance) + covariance**2

    @property
    def fourth_of_sum(self):
        return self.oracle.k * self.n * 12 * self._scale**4

    @cached_property
    def _edges(self):
        return np.sqrt(self.variance[0]) * np.linspace(-3, 3, 31)

    @cached_property
    def _noise(self):
        """Probabilities of the cells between the edges: the characteristic function is (1 + b^2 t^2)^-n."""

        def below(edge):
            def integrand(t):
                return np.sinc(t * edge / np.pi) * edge * np.exp(-self.n * np.log1p((self._scale * t) ** 2))

            reach = 60 / np.sqrt(self.variance[0])  # beyond, the integrand is below 1e-15 for 25 users and more
            return 0.5 + integrate.quad(integrand, 0, reach, limit=500, epsabs=1e-12)[0] / np.pi

        return np.diff([0.0, *map(below, self._edges), 1.0])

    def marginal(self, _value):
        return self._noise

    def cells(self, draws, value):
        return np.searchsorted(self._edges, draws - self.n_v[value])


@cache
def channel_of(oracle):
    """Every report's probability under every value and what it adds to the support, from the papers' definitions."""
    e, k = np.exp(oracle.epsilon), oracle.k
    if oracle.key in ("blh", "olh"):  # every hash function, and the symbol that is reported with it
        functions = np.array(list(itertools.product(range(oracle.g), repeat=k)))
        score = np.concatenate([functions == symbol for symbol in range(oracle.g)]) * 1.0
    elif oracle.key in ("rappor", "oue", "the"):
        score, p, q = np.array(list(itertools.product((0.0, 1.0), repeat=k))), oracle.p, oracle.q
        none = np.where(score == 1, q, 1 - q).prod(axis=1)
        return none * np.where(score.T == 1, p / q, (1 - p) / (1 - q)), score
    elif oracle.key in ("grr", "ss"):
        size = oracle.omega if oracle.key == "ss" else 1
        score = np.array([np.isin(range(k), some) for some in itertools.combinations(range(k), size)]) * 1.0
    elif isinstance(oracle, HadamardResponse):
        blocks, size = oracle.blocks, oracle.block_size
        matrix = linalg.hadamard(size)
        score = np.zeros((blocks * size, k))
        for value in range(k):
            block, row = value % blocks, 1 + value // blocks
            score[block * size : (block + 1) * size, value] = matrix[row]
    else:
        canonical = all_points(oracle.dimension, oracle.order)
        stride = next(m for m in range(round(k * 2 / (1 + 5**0.5)), 2 * k) if np.gcd(m, k) == 1)
        own = canonical[[value * stride % k for value in range(k)]]
        score = (inner_products(canonical, own, oracle.order) == 0).astype(float)
    chance = np.where(score.T == 1, e, 1.0)
    return chance / chance.sum(axis=1, keepdims=True), score


def scores_of(oracle, reports):
    """What reports of any kind add to each value, ``(n, k)``, from the papers' definitions."""
    if oracle.key == "grr":
        return reports[:, None] == np.arange(oracle.k)
    if oracle.key == "ss":
        return (reports[:, :, None] == np.arange(oracle.k)).any(axis=1)
    if oracle.key in {"blh", "olh"}:
        return HASHES[oracle.hash](np.arange(oracle.k), reports[:, :1], oracle.g) == reports[:, 1:]
    return channel_of(oracle)[1][reports] if oracle.key in {"hr", "pgr"} else reports


def law_for(oracle, counts):
    kinds = {HadamardResponse: ChannelLaw, ProjectiveGeometry: ChannelLaw, SHE: SumLaw}
    return kinds.get(type(oracle), Law)(oracle, tuple(int(count) for count in counts))


def _kappa(u, v, both):
    """Joint cumulant (2, 2) of two bits with probabilities u and v of being 1, and `both` of both being 1."""
    cov = both - u * v
    fourth = (
        both * (1 - u) ** 2 * (1 - v) ** 2
        + (u - both) * (1 - u) ** 2 * v**2
        + (v - both) * u**2 * (1 - v) ** 2
        + (1 - u - v + both) * u**2 * v**2
    )
    return fourth - u * (1 - u) * v * (1 - v) - 2 * cov**2


def check_mean(draws, law):
    return two_sided((draws.mean(axis=0) - law.mean) / np.sqrt(law.variance / len(draws)))


def check_covariance(draws, law):
    """Every variance and covariance, against its exact standard error from exact fourth moments."""
    centred = draws - law.mean
    sample = centred.T @ centred / len(draws)
    se = np.sqrt(law.product_variance / len(draws))
    upper = np.triu_indices(law.oracle.k)
    return two_sided(((sample - law.covariance) / se)[upper])


def check_marginals(draws, law, at_least=BIN):
    """Chi-square of the draws of each value against its exact law."""
    result = []
    for value in range(law.oracle.k):
        expected = law.marginal(value) * len(draws)
        bins = merge_bins(expected, at_least)
        if bins[-1] == 0:
            continue  # one bin holds everything: there is nothing to compare
        observed = np.bincount(law.cells(draws[:, value], value), minlength=len(expected)).astype(float)
        assert len(observed) == len(expected), "support counts outside 0..n"
        result.append(chi_square_p(np.bincount(bins, observed), np.bincount(bins, expected)))
    return np.array(result)


def check_row_sums(draws, law):
    """Fixed-size reports: the sum of the supports never varies. Others: its mean and variance, exact fourth moment."""
    sums = draws.sum(axis=1)
    if law.oracle.noise(law.n).sums_to_one:
        size = round(law.mean.sum() / law.n)
        return np.array([1.0 if (sums == size * law.n).all() else 0.0])
    variance = law.covariance.sum()
    z_mean = (sums.mean() - law.mean.sum()) / np.sqrt(variance / len(draws))
    se = np.sqrt((law.fourth_of_sum + 2 * variance**2) / len(draws))
    z_variance = (((sums - law.mean.sum()) ** 2).mean() - variance) / se
    return two_sided(np.array([z_mean, z_variance]))


CHECKS = {"mean": check_mean, "covariance": check_covariance, "marginals": check_marginals, "row_sums": check_row_sums}


def compare_means(a, b, law):
    return two_sided((a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(law.variance * (1 / len(a) + 1 / len(b))))


def compare_covariances(a, b, law):
    """Difference of two sample covariances (common known mean), standardised by the exact fourth moments."""
    (ca, cb) = (x - law.mean for x in (a, b))
    difference = ca.T @ ca / len(a) - cb.T @ cb / len(b)
    se = np.sqrt(law.product_variance * (1 / len(a) + 1 / len(b)))
    upper = np.triu_indices(law.oracle.k)
    return two_sided((difference / se)[upper])


def compare_marginals(a, b, law):
    """Two-sample chi-square of each value, on counts; bins are set by the pooled sample."""
    result = []
    for value in range(law.oracle.k):
        size = len(law.marginal(value))
        tables = np.stack([np.bincount(law.cells(x[:, value], value), minlength=size) for x in (a, b)]).astype(float)
        pooled = tables.sum(axis=0)
        bins = merge_bins(pooled * min(len(a), len(b)) / (len(a) + len(b)))
        if bins[-1] == 0:
            continue
        observed = np.stack([np.bincount(bins, row) for row in tables])
        expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
        result.append(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), observed.shape[1] - 1))
    return np.array(result)


COMPARISONS = {"mean": compare_means, "covariance": compare_covariances, "marginals": compare_marginals}


def oracle_of(key, k, epsilon):
    return PROTOCOLS[key](k, epsilon)


def skewed(k, n):
    """Return counts ``(k,)`` of n users that fall as 1/rank, every fifth from k // 3 on 0, the rest at the first."""
    counts = np.floor(n / 2 / np.arange(1, k + 1) / (1 + np.log(k))).astype(np.int64)
    counts[k // 3 :: 5] = 0
    counts[0] += n - counts.sum()
    return counts


def polynomial(number, p):
    """Coefficients, the constant first, of the polynomial that a number spells in base p."""
    digits = []
    while number:
        number, digit = divmod(number, p)
        digits.append(digit)
    return digits


def remainder(dividend, divisor, p):
    """What a division by a monic polynomial leaves."""
    rest = list(dividend)
    for shift in range(len(rest) - len(divisor), -1, -1):
        factor = rest[shift + len(divisor) - 1]
        for place, coefficient in enumerate(divisor):
            rest[shift + place] = (rest[shift + place] - factor * coefficient) % p
    return rest[: len(divisor) - 1]


def product(a, b, modulus, p):
    left, right = polynomial(a, p), polynomial(b, p)
    whole = [0] * (len(left) + len(right))
    for i, j in itertools.product(range(len(left)), range(len(right))):
        whole[i + j] = (whole[i + j] + left[i] * right[j]) % p
    return sum(digit * p**place for place, digit in enumerate(remainder(whole, modulus, p)))


def order_of_x(modulus, p, q):
    """How many steps of multiplying by x lead from 1 to 1, or q where none up to q do."""
    power = 1
    for step in range(1, q):
        power = product(power, p, modulus, p)
        if power == 1:
            return step
    return q


@cache
def slow_field(q):
    """Tables of sums and products, ``(q, q)`` each."""
    p = next(m for m in range(2, q + 1) if q % m == 0)
    if p == q:
        elements = np.arange(q)
        return (elements[:, None] + elements) % q, elements[:, None] * elements % q
    m = next(m for m in range(2, q) if p**m == q)
    for low in range(1, q):
        digits = polynomial(low, p)
        modulus = [(-digit) % p for digit in digits + [0] * (m - len(digits))] + [1]
        if order_of_x(modulus, p, q) == q - 1:
            break
    sums, products = np.empty((q, q), dtype=int), np.empty((q, q), dtype=int)
    for a, b in itertools.product(range(q), repeat=2):
        pairs = itertools.zip_longest(polynomial(a, p), polynomial(b, p), fillvalue=0)
        sums[a, b] = sum((x + y) % p * p**place for place, (x, y) in enumerate(pairs))
        products[a, b] = product(a, b, modulus, p)
    return sums, products


def all_points(t, q):
    """Vectors whose first coordinate other than 0 is 1, in the order of the numbers they spell."""
    space = itertools.product(range(q), repeat=t)
    return np.array([point for point in space if any(point) and next(filter(None, point)) == 1])


def inner_products(rows, columns, q):
    """Inner products ``(m, l)`` of vectors ``(m, t)`` and ``(l, t)``, coordinate by coordinate."""
    sums, products = slow_field(q)
    result = np.zeros((len(rows), len(columns)), dtype=int)
    for place in range(rows.shape[1]):
        result = sums[result, products[rows[:, place][:, None], columns[:, place]]]
    return result
