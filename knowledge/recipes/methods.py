"""Post-processing methods with numpy alone: short ones as they are best read, the others as this package has them."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.recipes.excerpt import excerpt

BASE_POS = '''\
def base_pos(estimate):
    """Set the negative ones of the estimates (k,) to 0."""
    return np.maximum(estimate, 0.0)
'''

BASE_CUT = '''\
def base_cut(estimate, sd):
    """Set to 0 what a value of frequency 0 may reach; sd: noise sd at frequency 0."""
    k = len(estimate)
    threshold = NormalDist().inv_cdf(1 - 2 / k) * sd if k > 4 else 0.0
    return np.where(estimate >= threshold, np.maximum(estimate, 0.0), 0.0)
'''

NORM = '''\
def norm(estimate):
    """Add the same amount to all estimates (k,) so that they sum to 1."""
    return estimate + (1 - estimate.sum()) / len(estimate)
'''

NORM_MUL = '''\
def norm_mul(estimate):
    """Set negative estimates to 0, scale the rest to sum to 1; uniform if nothing is left."""
    positive = np.maximum(estimate, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(estimate), 1 / len(estimate))
'''

NORM_SUB = '''\
def norm_sub(estimate):
    """Return the nearest point of the simplex: max(estimate + delta, 0) that sums to 1."""
    shifted = estimate - estimate.max()  # a common shift changes nothing, and this one keeps digits
    falling = np.sort(shifted)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    level = levels[np.count_nonzero(falling > levels) - 1]
    return np.maximum(shifted - level, 0.0)
'''

NORM_CUT = '''\
def norm_cut(estimate):
    """Keep the largest positive estimates as far as they sum to at most 1; 0 for the rest."""
    positive = np.maximum(estimate, 0.0)
    falling = np.sort(positive)[::-1]
    fits = np.cumsum(falling) <= 1 + 1e-12  # what rounding may add to a sum of 1
    if fits.all():
        return positive
    first_cut = falling[np.count_nonzero(fits)]
    return np.where(positive > first_cut, positive, 0.0)
'''

ISO_CDF = '''\
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
'''

MLE_APX = '''\
def mle_apx(estimate, ratio):
    """Minimise sum (f - estimate)^2 / Var(f) on the simplex, for Var(f) ~ 1 + ratio f."""
    if estimate.max() * -ratio >= 1:
        ratio = 0.0  # no solution: project with equal variances
    falling = np.sort(estimate)[::-1]
    levels = (np.cumsum(falling) - 1) / (np.arange(1, len(falling) + 1) + ratio)
    level = levels[max(np.count_nonzero(falling > levels), 1) - 1]
    return np.maximum(estimate - level, 0.0) / (1 + ratio * level)
'''

IBU = '''\
def ibu(estimate, p, q):
    """Return the likeliest frequencies (k,) if each report supports the own value with p, others with q."""
    share = np.maximum(estimate * (p - q) + q, 0.0)  # of all reports: those that support each value
    total = share.sum()
    share = share / total if total > 0 else np.full(len(estimate), 1 / len(estimate))
    r = q / (p - q)
    falling = np.sort(share)[::-1]
    levels = np.cumsum(falling) / (1 + np.arange(1, len(share) + 1) * r)
    level = levels[max(np.count_nonzero(falling > levels * r), 1) - 1]
    return np.maximum(share / level - r, 0.0)
'''

NORM_MIN = '''\
def norm_min(estimate):
    """Take the minimum off all estimates (k,), scale the rest to sum to 1; uniform if nothing is left."""
    above = estimate - estimate.min()
    total = above.sum()
    return above / total if total > 0 else np.full(len(estimate), 1 / len(estimate))
'''

RECOVER = (
    '''\
def recover(estimate, p, q, share):
    """Take off what a share of fake users adds who promote nobody knows what."""
    k, ratio, positive = len(estimate), share / (1 - share), estimate > 0
    added = (1 - k * q) / (p - q) / max(np.count_nonzero(positive), 1)
    return norm_sub((1 + ratio) * estimate - ratio * np.where(positive, added, 0.0))


'''
    + NORM_SUB
)

RECOVER_KNOWN = (
    '''\
def recover_known(estimate, p, q, share, targets):
    """Take off what a share of fake users adds who each support one of the targets."""
    ratio = share / (1 - share)
    added = np.full(len(estimate), -q / (p - q))
    added[targets] += 1 / (p - q) / len(targets)
    return norm_sub((1 + ratio) * estimate - ratio * added)


'''
    + NORM_SUB
)

SUBTRACT_FAKES = (
    '''\
def subtract_fakes(estimate, p, q, share, targets, size=None):
    """Take off the most that a share of fake users adds to the targets; size: of reports that all have the same."""
    k, ratio, elsewhere, each = len(estimate), share / (1 - share), q, 1.0
    if size is not None:
        each = min(1.0, size / len(targets))
        elsewhere = (size - each * len(targets)) / max(k - len(targets), 1)
    added = np.full(k, (elsewhere - q) / (p - q))
    added[targets] = (each - q) / (p - q)
    return norm_sub((1 + ratio) * estimate - ratio * added)


'''
    + NORM_SUB
)

NOISE = '''
@dataclass(frozen=True)
class Noise:
    """The noise of n reports: an estimate of frequency f has variance `variance_at_zero + variance_slope * f`."""

    n: int
    variance_at_zero: float
    variance_slope: float

    @property
    def sd(self):
        return float(np.sqrt(self.variance_at_zero))

'''
COLLECTION = '''
@dataclass(frozen=True)
class Tally:
    """How often each symbol was reported, and by how many users in all."""

    counts: np.ndarray
    n: int


@dataclass(frozen=True)
class Observed:
    """What was collected, and how likely that is under given frequencies."""

    likelihood: object
    tally: Tally

'''
TREE_EB = '''

def tree_eb(estimate, variances):
    """Return frequencies (k,) made from the root of a tree down, by posterior means of what divides each node.

    variances: of the differences of the two halves of each node of an estimate, by height, the lowest first.
    """
    return _frequencies(estimate[None, :], variances, shifted_variances(len(estimate), variances))[0]
'''
IBU_SQUARE_WAVE = '''

def ibu(likelihood, counts):
    """Return the frequencies (k,) under which the reports are likeliest, to 1e-4 nats a report."""
    return _iterated(_Step(likelihood, counts), likelihood.shape[0], True, TOLERANCE, MOST_UPDATES).frequencies
'''
ESTIMATE = "estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.01, -0.02])\n"
OUE_NOISE = """\
n, p, q = 10_000, 0.5, 1 / (np.exp(1.0) + 1)  # OUE at epsilon = 1
at_zero, at_one = (x * (1 - x) / (n * (p - q) ** 2) for x in (q, p))
"""
SQUARE_WAVE = """\
k, width, epsilon = 8, 5, 1.0
p = 1 / (width + (k - 1) * np.exp(-epsilon))
likelihood = SquareWaveLikelihood(k, width, p, p * np.exp(-epsilon))
counts = np.array([85, 102, 128, 150, 164, 160, 131, 108, 88, 72, 66, 62])  # reports of each place
"""
FROM_NOISE = "Noise(n, *variances(n))"
FROM_COUNTS = "Observed(SquareWaveLikelihood(K, WIDTH, P, Q), Tally(counts, n))"


@dataclass(frozen=True)
class MethodRecipe:
    """A method as code: functions, how a server calls them, and an example."""

    source: str  # imports and functions: a file that needs numpy alone
    names: tuple[str, ...]  # what a server imports from it
    call: str  # what a server computes from `estimate`, `counts`, `n` and its constants
    example: str

    @property
    def needs_estimate(self) -> bool:
        """Whether it is given the unbiased estimate."""
        return "estimate" in self.call


def method_recipe(key: str, protocol: str | None = None) -> MethodRecipe | None:
    """Return a method of this package as code; None for those that leave an estimate as it is, and for strangers.

    protocol: what the reports are of, where that matters.
    """
    if key == "base_cut" and protocol == "hr":
        return _short(BASE_CUT, "base_cut(estimate, np.sqrt(variance_at_zero(estimate, n)))", "")
    if key in _SHORT and (key, protocol) != ("ibu", "sw"):
        return _short(*_SHORT[key])
    made = _LONG.get(key)
    return None if made is None else made(key)


def _short(function: str, call: str, example: str) -> MethodRecipe:
    head = "from statistics import NormalDist\n\n" if "NormalDist" in function else ""
    source = f"{head}import numpy as np\n\n\n{function}"
    name = function.partition("(")[0].removeprefix("def ")
    return MethodRecipe(source, (name,), call, f"{ESTIMATE}{example or f'improved = {call}'}".strip() + "\n")


def _of_noise(key: str) -> MethodRecipe:
    modules = {"eb_ns": "empirical_bayes", "wavelet_eb": "wavelet"}
    module = f"simulator.methods.{modules.get(key, 'power')}"
    source = excerpt((module, key), given=NOISE)
    example = f"{ESTIMATE}{OUE_NOISE}improved = {key}(estimate, Noise(n, at_zero, at_one - at_zero))\n"
    return MethodRecipe(source, (key, "Noise"), f"{key}(estimate, {FROM_NOISE})", example)


def _tree_eb(key: str) -> MethodRecipe:
    source = excerpt(
        *(("simulator.methods.tree", name) for name in ("_frequencies", "shifted_variances")), then=TREE_EB
    )
    call = (
        f"{key}(estimate, [np.append(np.full((K - 1) >> height, each), last) / n\n"
        "                              for height, (each, last) in enumerate(VARIANCES, start=1)])"
    )
    example = (
        f"{ESTIMATE}{OUE_NOISE}each = at_zero + (at_one - at_zero) / 8  # variance of one estimate, on average\n"
        "improved = tree_eb(estimate, [np.full(4, 2 * each), np.full(2, 4 * each), np.full(1, 8 * each)])\n"
    )
    return MethodRecipe(source, (key,), call, example)


_EXPECTATION = "simulator.methods.expectation"
_MODULES = {"em_stopped": "simulator.methods.smooth"}


def _of_square_wave(key: str) -> MethodRecipe:
    likelihood = ("simulator.protocols.square_wave", "SquareWaveLikelihood")
    if key == "ibu":
        names = ("_iterated", "_Step", "TOLERANCE", "MOST_UPDATES")
        steps = (("simulator.methods.maximum_likelihood", name) for name in names)
        source = excerpt(likelihood, *steps, then=IBU_SQUARE_WAVE)
        call = "ibu(SquareWaveLikelihood(K, WIDTH, P, Q), counts)"
        example = f"{SQUARE_WAVE}improved = ibu(likelihood, counts)\n"
        return MethodRecipe(source, (key, "SquareWaveLikelihood"), call, example)
    source = excerpt(likelihood, (_MODULES.get(key, _EXPECTATION), key), given=COLLECTION)
    example = f"{SQUARE_WAVE}improved = {key}(Observed(likelihood, Tally(counts, int(counts.sum()))))\n"
    return MethodRecipe(source, (key, "Observed", "SquareWaveLikelihood", "Tally"), f"{key}({FROM_COUNTS})", example)


_ESTIMATED = {"base_pos": BASE_POS, "norm": NORM, "norm_mul": NORM_MUL, "norm_sub": NORM_SUB, "norm_cut": NORM_CUT}
_FAKES = "p, q = 0.5, 1 / (np.exp(1.0) + 1)  # OUE at epsilon = 1\nimproved = "
_SHORT: dict[str, tuple[str, str, str]] = {  # function, call, and an example where the call is none
    **{key: (function, f"{key}(estimate)", "") for key, function in {**_ESTIMATED, "iso_cdf": ISO_CDF}.items()},
    "norm_min": (NORM_MIN, "norm_min(estimate)", ""),
    "recover": (RECOVER, "recover(estimate, P, Q, SHARE)", f"{_FAKES}recover(estimate, p, q, 0.05)\n"),
    "recover_known": (
        RECOVER_KNOWN, "recover_known(estimate, P, Q, SHARE, TARGETS)",
        f"{_FAKES}recover_known(estimate, p, q, 0.05, [1, 4])\n",
    ),
    "subtract_fakes": (
        SUBTRACT_FAKES, "subtract_fakes(estimate, P, Q, SHARE, TARGETS)",
        f"{_FAKES}subtract_fakes(estimate, p, q, 0.05, [1, 4])\n",
    ),
    "base_cut": (
        BASE_CUT, "base_cut(estimate, np.sqrt(variances(n)[0]))",
        f"{OUE_NOISE}improved = base_cut(estimate, np.sqrt(at_zero))\n",
    ),
    "mle_apx": (
        MLE_APX, "mle_apx(estimate, np.divide(*variances(n)[::-1]))",
        f"{OUE_NOISE}improved = mle_apx(estimate, (at_one - at_zero) / at_zero)\n",
    ),
    **dict.fromkeys(
        ("ibu", "ibu_pseudo"),
        (
            IBU, "ibu(estimate, P, Q)",
            "p = 1 / (1 + 7 * np.exp(-1.0))  # GRR, k = 8\nimproved = ibu(estimate, p, p * np.exp(-1.0))\n",
        ),
    ),
}  # fmt: skip
_LONG = {
    **dict.fromkeys(("eb_ns", "power", "power_ns", "wavelet_eb"), _of_noise),
    **dict.fromkeys(("ibu", "em", "ems", "em_stopped"), _of_square_wave),
    "tree_eb": _tree_eb,
}
