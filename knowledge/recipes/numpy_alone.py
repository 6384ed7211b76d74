"""Recipes with numpy alone, for the simple members."""

from __future__ import annotations

_GRR_NUMPY = '''\
import numpy as np


def grr_client(values, k, epsilon, rng):
    """Randomise values (n,) in 0..k-1; on a device, an array of one."""
    keep = rng.random(len(values)) < 1 / (1 + (k - 1) * np.exp(-epsilon))
    others = (values + rng.integers(1, k, size=len(values))) % k  # any other value, evenly
    return np.where(keep, values, others)


def grr_server(reports, k, epsilon):
    """Estimate the frequencies (k,) from the reports (n,): unbiased, some are negative."""
    p = 1 / (1 + (k - 1) * np.exp(-epsilon))
    q = p * np.exp(-epsilon)
    return (np.bincount(reports, minlength=k) / len(reports) - q) / (p - q)


rng = np.random.default_rng()  # for real secrets use a secure generator instead
reports = grr_client(np.array([0, 2, 1, 0, 0, 3]), k=4, epsilon=1.0, rng=rng)
estimate = grr_server(reports, k=4, epsilon=1.0)
'''

_OUE_NUMPY = '''\
import numpy as np


def oue_client(values, k, epsilon, rng):
    """Randomise values (n,) in 0..k-1 to bits (n, k); on a device, an array of one."""
    draws = rng.random((len(values), k))
    bits = draws < 1 / (np.exp(epsilon) + 1)
    users = np.arange(len(values))
    bits[users, values] = draws[users, values] < 0.5
    return bits


def oue_server(reports, epsilon):
    """Estimate the frequencies (k,) from the bits (n, k): unbiased, some are negative."""
    p, q = 0.5, 1 / (np.exp(epsilon) + 1)
    return (reports.mean(axis=0) - q) / (p - q)


rng = np.random.default_rng()  # for real secrets use a secure generator instead
reports = oue_client(np.array([0, 2, 1, 0, 0, 3]), k=4, epsilon=1.0, rng=rng)
estimate = oue_server(reports, epsilon=1.0)
'''

_SW_NUMPY = '''\
import numpy as np


def square_wave(k, epsilon):
    """Return how far places near a value reach on either side, and the probability of each."""
    e = np.exp(epsilon)  # of at least 0.001 or so: below, rounding is all that is left of b
    b = int(k * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon)))
    return b, e / ((2 * b + 1) * e + k - 1)


def sw_client(values, k, epsilon, rng):
    """Randomise values (n,) in 0..k-1 to places in 0..k+2b-1; on a device, an array of one."""
    b, p = square_wave(k, epsilon)
    width = 2 * b + 1
    near = rng.random(len(values)) < width * p
    inside, outside = rng.integers(0, width, len(values)), rng.integers(0, k - 1, len(values))
    outside = np.where(outside < values, outside, outside + width)
    return np.where(near, values + inside, outside)


def sw_server(reports, k, epsilon):
    """Estimate the frequencies (k,) by EM, stopped as published: going on would fit the noise."""
    b, p = square_wave(k, epsilon)
    offset = np.arange(k + 2 * b) - np.arange(k)[:, None]
    matrix = np.where((offset >= 0) & (offset <= 2 * b), p, p * np.exp(-epsilon))  # value, place
    counts = np.bincount(reports, minlength=k + 2 * b)
    frequencies, before = np.full(k, 1 / k), -np.inf
    for _ in range(10_000):
        likely = frequencies @ matrix
        log_likelihood = counts @ np.log(likely)
        if log_likelihood - before < 1e-3 * np.exp(epsilon):
            break
        before = log_likelihood
        frequencies = frequencies * (matrix @ (counts / likely)) / len(reports)
    return frequencies


rng = np.random.default_rng()  # for real secrets use a secure generator instead
values = rng.binomial(15, 0.4, size=2_000)
reports = sw_client(values, k=16, epsilon=1.0, rng=rng)
estimate = sw_server(reports, k=16, epsilon=1.0)
'''

_ESTIMATE = "estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.01, -0.02])\n"


def _method(function: str, call: str, *, head: str = "") -> str:
    return f"{head}import numpy as np\n\n\n{function}\n\n{_ESTIMATE}{call}\n"


_BASE_POS_NUMPY = _method(
    '''\
def base_pos(estimate):
    """Set the negative ones of the estimates (k,) to 0."""
    return np.maximum(estimate, 0.0)
''',
    "improved = base_pos(estimate)",
)

_BASE_CUT_NUMPY = _method(
    '''\
def base_cut(estimate, sd):
    """Set to 0 what a value of frequency 0 may reach; sd: noise sd at frequency 0."""
    k = len(estimate)
    threshold = NormalDist().inv_cdf(1 - 2 / k) * sd if k > 4 else 0.0
    return np.where(estimate >= threshold, np.maximum(estimate, 0.0), 0.0)
''',
    """\
n, p, q = 10_000, 0.5, 1 / (np.exp(1.0) + 1)  # OUE at epsilon = 1
improved = base_cut(estimate, sd=np.sqrt(q * (1 - q) / n) / (p - q))""",
    head="from statistics import NormalDist\n\n",
)

_NORM_NUMPY = _method(
    '''\
def norm(estimate):
    """Add the same amount to all estimates (k,) so that they sum to 1."""
    return estimate + (1 - estimate.sum()) / len(estimate)
''',
    "improved = norm(estimate)",
)

_NORM_MUL_NUMPY = _method(
    '''\
def norm_mul(estimate):
    """Set negative estimates to 0, scale the rest to sum to 1; uniform if nothing is left."""
    positive = np.maximum(estimate, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(estimate), 1 / len(estimate))
''',
    "improved = norm_mul(estimate)",
)

_NORM_SUB_NUMPY = _method(
    '''\
def norm_sub(estimate):
    """Return the nearest point of the simplex: max(estimate + delta, 0) that sums to 1."""
    shifted = estimate - estimate.max()  # a common shift changes nothing, and this one keeps digits
    falling = np.sort(shifted)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    level = levels[np.count_nonzero(falling > levels) - 1]
    return np.maximum(shifted - level, 0.0)
''',
    "improved = norm_sub(estimate)",
)

_NORM_CUT_NUMPY = _method(
    '''\
def norm_cut(estimate):
    """Keep the largest positive estimates as far as they sum to at most 1; 0 for the rest."""
    positive = np.maximum(estimate, 0.0)
    falling = np.sort(positive)[::-1]
    fits = np.cumsum(falling) <= 1 + 1e-12  # what rounding may add to a sum of 1
    if fits.all():
        return positive
    first_cut = falling[np.count_nonzero(fits)]
    return np.where(positive > first_cut, positive, 0.0)
''',
    "improved = norm_cut(estimate)",
)

_MLE_APX_NUMPY = _method(
    '''\
def mle_apx(estimate, p, q):
    """Minimise sum (f - estimate)^2 / Var(f) on the simplex, Var(f) ~ f p(1-p) + (1-f) q(1-q)."""
    ratio = p * (1 - p) / (q * (1 - q)) - 1
    if estimate.max() * -ratio >= 1:
        ratio = 0.0  # no solution: project with equal variances
    falling = np.sort(estimate)[::-1]
    levels = (np.cumsum(falling) - 1) / (np.arange(1, len(falling) + 1) + ratio)
    level = levels[max(np.count_nonzero(falling > levels), 1) - 1]
    return np.maximum(estimate - level, 0.0) / (1 + ratio * level)
''',
    """\
p = 1 / (1 + 7 * np.exp(-1.0))  # GRR, k = 8, epsilon = 1
improved = mle_apx(estimate, p, q=p * np.exp(-1.0))""",
)

_IBU_NUMPY = '''\
import numpy as np


def ibu_grr(reported, epsilon):
    """Return the likeliest frequencies (k,) given how often randomised response reported each."""
    share = reported / reported.sum()
    r = 1 / np.expm1(epsilon)  # q / (p - q)
    falling = np.sort(share)[::-1]
    levels = np.cumsum(falling) / (1 + np.arange(1, len(share) + 1) * r)
    level = levels[np.count_nonzero(falling > levels * r) - 1]
    return np.maximum(share / level - r, 0.0)


reported = np.array([2_100, 1_700, 1_400, 1_200, 1_000, 950, 900, 750])  # reports of each value
improved = ibu_grr(reported, epsilon=1.0)
'''


_ISO_CDF_NUMPY = _method(
    '''\
def iso_cdf(estimate):
    """Return the steps of the nearest running sums of the estimates (k,) that rise from 0 to 1."""
    moved = estimate + (1 - estimate.sum()) / len(estimate)
    means, sizes = [], []
    for value in np.cumsum(moved)[:-1]:  # the last one is 1
        means.append(value)
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:  # pool those that fall
            mean, size = means.pop(), sizes.pop()
            means[-1] = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            sizes[-1] += size
    rising = np.clip(np.repeat(means, sizes), 0, 1)
    return np.diff(np.concatenate([[0.0], rising, [1.0]]))
''',
    "improved = iso_cdf(estimate)",
)


def _metric(key: str, line: str, unit: str) -> str:
    return f'''\
import numpy as np


def {key}(estimate, truth):
    """Return the error of the estimate (k,) in {unit}."""
    return {line}


truth = np.array([0.40, 0.25, 0.15, 0.10, 0.05, 0.03, 0.02, 0.00])
estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.00, 0.00])
error = {key}(estimate, truth)
'''


NUMPY: dict[str, str] = {
    "grr": _GRR_NUMPY,
    "oue": _OUE_NUMPY,
    "sw": _SW_NUMPY,
    "base_pos": _BASE_POS_NUMPY,
    "base_cut": _BASE_CUT_NUMPY,
    "norm": _NORM_NUMPY,
    "norm_mul": _NORM_MUL_NUMPY,
    "norm_sub": _NORM_SUB_NUMPY,
    "norm_cut": _NORM_CUT_NUMPY,
    "mle_apx": _MLE_APX_NUMPY,
    "ibu": _IBU_NUMPY,
    "iso_cdf": _ISO_CDF_NUMPY,
    "l1": _metric("l1", "np.abs(estimate - truth).sum()", "frequency"),
    "mae": _metric("mae", "np.abs(estimate - truth).mean()", "frequency per category"),
    "mse": _metric("mse", "((estimate - truth) ** 2).mean()", "frequency squared"),
    "l2": _metric("l2", "np.sqrt(((estimate - truth) ** 2).sum())", "frequency"),
    "emd": _metric("emd", "np.abs(np.cumsum(estimate - truth)).sum()", "bins of an ordered domain"),
    "mean": _metric("mean", "np.abs(((estimate - truth) * np.arange(len(truth))).sum())", "bins of an ordered domain"),
    "ks": _metric("ks", "np.abs(np.cumsum(estimate - truth)).max()", "frequency, of an ordered domain"),
}


def numpy_recipe(key: str) -> str | None:
    """Return Python that does what one member does with numpy alone; None where that is not short."""
    return NUMPY.get(key)
