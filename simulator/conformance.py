"""Conformance checks for authors of protocols, post-processing methods and metrics; no test framework is needed.

Put one line per member into a test of your own::

    from simulator.conformance import check_metric, check_postprocessor, check_protocol

    def test_conformance():
        check_protocol(MyProtocol)
        check_postprocessor(MY_METHOD)
        check_metric(MY_METRIC)

Each returns None, or raises `ConformanceError` with one sentence about the first promise that is broken. What they
cannot see from outside: whether `perturb` is private, and whether a method or metric is any good.
"""

from __future__ import annotations

import inspect
import math
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator.metrics import Metric
from simulator.postprocess import PostProcessor
from simulator.protocols import EPSILON_MAX, EPSILON_MIN, PROTOCOLS, FrequencyOracle, Noise
from simulator.seeding import rng_for

__all__ = ["ConformanceError", "check_metric", "check_postprocessor", "check_protocol"]

FALSE_ALARM = 1e-6  # probability that `check_protocol` rejects a right protocol, for one seed
POPULATIONS = ((1.0, (110, 50, 25, 10, 5, 0)), (2.5, (120, 60, 20, 0)))  # epsilon and users who hold each value
SAMPLED, REPLAYED = 4000, 1200  # collections of each population
# Comparisons of one population: all linear forms, for the bias of two ways to draw, for their means and variances, and
# for the mean squared errors of the values.
LARGEST_K = max(len(counts) for _, counts in POPULATIONS)
COMPARISONS = len(POPULATIONS) * (4 * (LARGEST_K + 2) + LARGEST_K)
Z_LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * COMPARISONS))
FEW_USERS, MANY_USERS, MOST_USERS = 1_000, 1_000_000, 10**9
SPARE_BYTES = 1_000_000  # what a table or a first import may take; users one by one take eight bytes each and more
CLOSELY = 2  # noises of each domain size under which the rows of a batch are also tried one by one
ROUNDING = 1e-9


class ConformanceError(AssertionError):
    """A member breaks a promise; one sentence says which."""


def _require(kept: bool | np.bool_, sentence: str) -> None:
    if not kept:
        raise ConformanceError(sentence)


def _asked(question: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a call into the member gives; whatever it raises instead is a broken promise."""
    try:
        return call(*arguments)
    except ConformanceError:
        raise
    except Exception as error:  # foreign code may raise anything; it goes on as the cause of ours
        reason = " ".join(str(error).split())
        raise ConformanceError(f"{question} must not fail, but raised {type(error).__name__}: {reason}") from error


# ---------------------------------------------------------------------------------------------------------- protocols


def check_protocol(cls: type[FrequencyOracle], *, seed: int = 0) -> None:
    """Check that a protocol keeps the promises of `FrequencyOracle`.

    Shapes and types, the range of its figures, that the fast sampler and the user-by-user replay have the same mean
    and variance in every value (and in the sum and the alternating sum of the values, where a wrong correlation shows),
    that estimates are unbiased and as variable as `noise` says (averaged over all ways to assign the frequencies to the
    values), that `sums_to_one` is as claimed, that memory does not grow with n, and that bad parameters are refused.

    Parameters
    ----------
    cls
        The class, as it stands in the table.
    seed
        Of the random draws. A protocol that is right is rejected for one seed in a million (all comparisons together,
        by Bonferroni's inequality and normal approximations), and a seed always draws the same.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    _require(
        isinstance(cls, type) and issubclass(cls, FrequencyOracle) and not inspect.isabstract(cls),
        f"a protocol is a subclass of FrequencyOracle that defines all it leaves open, got {cls!r}",
    )
    for field in ("key", "title", "reference"):
        _require(bool(_text(cls, field)), f"{cls.__name__}.{field} must be a text that is not empty")
    _check_refusals(cls)
    for k, epsilon in ((2, 0.1), (6, 1.0), (4, 2.5), (33, 4.0)):
        oracle = _asked(f"{cls.key}(k={k}, epsilon={epsilon})", cls, k, epsilon)
        _check_figures(oracle)
        _asked(f"{_named(oracle)}: drawing", _check_draws, oracle, seed)
    for epsilon, counts in POPULATIONS:
        _asked(f"{cls.key}: drawing", _check_law, cls(len(counts), epsilon), np.array(counts), seed)
    _asked(f"{cls.key}: drawing {MOST_USERS:,} users", _check_cost, cls(6, 1.0), seed)


def _text(member: Any, field: str) -> str:
    value = getattr(member, field, "")
    return value.strip() if isinstance(value, str) else ""


def _named(oracle: FrequencyOracle) -> str:
    return f"{oracle.key} (k={oracle.k}, epsilon={oracle.epsilon:g})"


def _check_refusals(cls: type[FrequencyOracle]) -> None:
    beyond = (0.0, -1.0, EPSILON_MIN / 2, EPSILON_MAX * 2, math.nan, math.inf)
    for k, epsilon in [(1, 1.0), (0, 1.0), *((8, epsilon) for epsilon in beyond)]:
        try:
            cls(k, epsilon)
        except ValueError:
            continue
        raise ConformanceError(f"{cls.key} must refuse k={k}, epsilon={epsilon:g} with a ValueError, but takes it")


def _check_figures(oracle: FrequencyOracle) -> None:
    """Check p, q, what a report costs and gives away, and the noise."""
    who, k = _named(oracle), oracle.k
    p, q, bits, attack = (
        _asked(f"{who}: {field}", getattr, oracle, field) for field in ("p", "q", "report_bits", "attack_success")
    )
    _require((p is None) == (q is None), f"{who}: p and q must both be numbers or both None, got p={p}, q={q}")
    if p is not None:
        _require(0 <= q < p <= 1, f"{who}: 0 <= q < p <= 1 must hold, got p={p}, q={q}")
    _require(
        isinstance(bits, int | np.integer) and not isinstance(bits, bool) and bits >= 1,
        f"{who}: report_bits must be a whole number of at least 1, got {bits!r}",
    )
    _require(0 < attack <= 1, f"{who}: attack_success must be a probability above 0, got {attack!r}")
    most = 1 / (1 + (k - 1) * math.exp(-oracle.epsilon))
    _require(
        1 / k - ROUNDING <= attack <= most + ROUNDING,
        f"{who}: attack_success must lie between that of a blind guess, {1 / k:g}, and what epsilon allows, {most:g}, "
        f"got {attack:g}",
    )
    noise = _asked(f"{who}: noise(1000)", oracle.noise, 1000)
    _require(isinstance(noise, Noise), f"{who}: noise(n) must be a Noise, got {type(noise).__name__}")
    _require(
        (noise.n, noise.p, noise.q) == (1000, p, q),
        f"{who}: noise(1000) must hold n, p and q of the protocol, got {noise}",
    )
    for f in (0.0, 1.0):
        stated = float(_asked(f"{who}: variance({f}, 1000)", oracle.variance, f, 1000))
        _require(
            math.isfinite(stated) and (stated > 0 or (f == 1 and stated > -ROUNDING)),
            f"{who}: variance({f}, 1000) must be positive and finite, got {stated:g}",
        )
    _require(
        noise.sums_to_one or not oracle.sums_to_one,
        f"{who}: the class claims sums_to_one, and noise(n) must say the same",
    )
    for wrong in (0, -5):
        try:
            oracle.noise(wrong)
        except ValueError:
            continue
        raise ConformanceError(f"{who}: noise(n={wrong}) must be refused with a ValueError")


def _check_draws(oracle: FrequencyOracle, seed: int) -> None:
    """Check shapes, types, repeatability and the claim about sums, on few users."""
    who, k, dtype = _named(oracle), oracle.k, np.dtype(oracle.support_dtype)
    _require(
        oracle.p is None or dtype == np.int64,
        f"{who}: supports are counts of reports, so support_dtype must be int64, got {dtype}",
    )
    users = 300
    values = rng_for(seed, "conformance", "values", k).integers(0, k, size=users)
    counts: IntArray = np.bincount(values, minlength=k).astype(np.int64)
    values.flags.writeable = counts.flags.writeable = False

    reports = oracle.perturb(values, rng_for(seed, "conformance", "perturb"))
    _require(len(reports) == users, f"{who}: perturb must give one report a user, got {len(reports)} for {users}")
    support = np.asarray(oracle.support(reports))
    _require(support.shape == (k,), f"{who}: support must give shape ({k},), got {support.shape}")
    _require(
        np.can_cast(support.dtype, dtype, "same_kind"),
        f"{who}: support must give {dtype}, got {support.dtype}",
    )
    again = oracle.support(oracle.perturb(values, rng_for(seed, "conformance", "perturb")))
    _require(
        np.array_equal(support, again),
        f"{who}: perturb must draw from the generator it is given and from nothing else; the same one gave two answers",
    )
    sums = []
    for way in ("sample_support", "replay_support"):
        draw = getattr(oracle, way)
        for shape in ((k,), (3, k), (2, 3, k), (0, k)):
            rows = np.broadcast_to(counts, shape)
            drawn = draw(rows, rng_for(seed, "conformance", way))
            _require(
                isinstance(drawn, np.ndarray) and drawn.shape == shape,
                f"{who}: {way} must keep the shape {shape} of the counts, got {np.shape(drawn)}",
            )
            _require(drawn.dtype == dtype, f"{who}: {way} must give {dtype}, got {drawn.dtype}")
            _require(
                np.array_equal(drawn, draw(rows, rng_for(seed, "conformance", way))),
                f"{who}: {way} must draw from the generator it is given and from nothing else; the same one gave two "
                "answers",
            )
            estimate = oracle.estimate(drawn, users)
            _require(
                estimate.shape == shape and estimate.dtype == np.float64 and bool(np.isfinite(estimate).all()),
                f"{who}: estimate must give finite float64 of shape {shape}, got {estimate.dtype} {estimate.shape}",
            )
            sums.extend(np.atleast_1d(estimate.sum(axis=-1)).ravel().tolist())
    always_one = max(abs(total - 1) for total in sums) < ROUNDING
    claim = oracle.noise(users).sums_to_one
    _require(
        always_one == claim,
        f"{who}: sums_to_one is {claim}, but the raw estimates {'always' if always_one else 'do not'} sum to 1",
    )


def _check_cost(oracle: FrequencyOracle, seed: int) -> None:
    """Check that memory does not grow with n, with few users first: a sampler that goes user by user would never end.

    Memory can be counted exactly, time cannot on a machine that others use.
    """
    k = oracle.k

    def peak(users: int) -> int:
        counts = _spread_evenly(users, k)
        tracemalloc.start()
        try:
            oracle.sample_support(counts, rng_for(seed, "conformance", "cost"))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(FEW_USERS), peak(MANY_USERS)
    _require(
        many <= 2 * few + SPARE_BYTES,
        f"{oracle.key}: the cost of sample_support must not depend on n, but {MANY_USERS:,} users take {many:,} bytes "
        f"and {FEW_USERS:,} take {few:,}",
    )
    counts = _spread_evenly(MOST_USERS, k)
    drawn = oracle.sample_support(counts, rng_for(seed, "conformance", "most"))
    off = np.abs(oracle.estimate(drawn, MOST_USERS) - counts / MOST_USERS)
    limit = 2 * Z_LIMIT * np.sqrt(oracle.variance(counts / MOST_USERS, MOST_USERS))
    _require(
        bool((off <= limit).all()),
        f"{oracle.key}: estimates of {MOST_USERS:,} users must be within their noise of the truth, got {off.max():g}",
    )


def _spread_evenly(users: int, k: int) -> IntArray:
    counts = np.full(k, users // k, dtype=np.int64)
    counts[0] += users - int(counts.sum())
    return counts


def _check_law(oracle: FrequencyOracle, counts: IntArray, seed: int) -> None:
    """Compare the sampler with the replay, and the estimates with the truth and the stated variance."""
    who, k, n = _named(oracle), oracle.k, int(counts.sum())
    forms = np.vstack([np.eye(k), np.ones(k), np.where(np.arange(k) % 2, -1.0, 1.0)])
    names = [*(f"value {value}" for value in range(k)), "the sum of all values", "the alternating sum of the values"]
    fast = oracle.sample_support(np.broadcast_to(counts, (SAMPLED, k)), rng_for(seed, "conformance", "sampled", k))
    slow = oracle.replay_support(np.broadcast_to(counts, (REPLAYED, k)), rng_for(seed, "conformance", "replayed", k))
    for way, drawn in (("replay_support", slow), ("sample_support", fast)):
        estimate = oracle.estimate(drawn, n)
        z = _z_of_means((estimate - counts / n) @ forms.T)
        worst = int(np.abs(z).argmax())
        _require(
            np.abs(z).max() <= Z_LIMIT,
            f"{who}: estimates from {way} must be unbiased, but those of {names[worst]} are off by "
            f"{abs(z[worst]):.3g} standard errors",
        )
    a, b = fast @ forms.T, slow @ forms.T
    for what, z in (("mean", _z_of_two_means(a, b)), ("variance", _z_of_two_variances(a, b))):
        worst = int(np.abs(z).argmax())
        _require(
            np.abs(z).max() <= Z_LIMIT,
            f"{who}: sample_support and replay_support must have the same {what}, but that of {names[worst]} differs "
            f"by {abs(z[worst]):.3g} standard errors",
        )
    # Every collection assigns the frequencies to the values anew: the stated variance is an average over that.
    shuffle = rng_for(seed, "conformance", "assignment", k)
    rows = shuffle.permuted(np.broadcast_to(counts, (SAMPLED, k)), axis=1)
    estimate = oracle.estimate(oracle.sample_support(rows, rng_for(seed, "conformance", "assigned", k)), n)
    squares = (estimate - rows / n) ** 2
    for count in np.unique(counts):
        stated = float(oracle.variance(count / n, n))
        chosen = squares[rows == count]
        off = _z_of_variance(chosen / stated)
        _require(
            abs(off) <= Z_LIMIT,
            f"{who}: the variance of the estimate of frequency {count / n:g} must be as stated, {stated:.4g}, but is "
            f"{chosen.mean():.4g} in {len(chosen):,} draws ({abs(off):.3g} standard errors)",
        )


def _z_of_means(errors: FloatArray) -> FloatArray:
    spread, off = errors.std(axis=0, ddof=1), errors.mean(axis=0)
    # Sums of estimates that never vary are off by rounding only.
    return np.where(np.abs(off) < ROUNDING, 0.0, off / np.maximum(spread / math.sqrt(len(errors)), 1e-300))


def _z_of_two_means(a: FloatArray, b: FloatArray) -> FloatArray:
    off = a.mean(axis=0) - b.mean(axis=0)
    se = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return np.where(np.abs(off) < ROUNDING, 0.0, off / np.maximum(se, 1e-300))


def _z_of_two_variances(a: FloatArray, b: FloatArray) -> FloatArray:
    """Compare cube roots of variances: those are normal to a good approximation (Wilson, Hilferty, 1931)."""
    roots, kurtosis = [], []
    for drawn in (a, b):
        centred = drawn - drawn.mean(axis=0)
        variance = (centred**2).mean(axis=0)
        roots.append(np.cbrt(variance))
        kurtosis.append((centred**4).mean(axis=0) / np.maximum(variance**2, 1e-300))
    pooled = (roots[0] * len(a) + roots[1] * len(b)) / (len(a) + len(b))
    heavier = np.maximum(np.maximum(*kurtosis) - 1, 2)  # 2 for normal draws
    se = pooled * np.sqrt(heavier * (1 / len(a) + 1 / len(b))) / 3
    off = roots[0] - roots[1]
    return np.where(pooled < ROUNDING, 0.0, off / np.maximum(se, 1e-300))


def _z_of_variance(squares: FloatArray) -> float:
    """Compare the mean of squares of nearly normal variables with 1, by the same cube root."""
    size, mean = len(squares), float(squares.mean())
    heavier = max(float((squares**2).mean()) / max(mean**2, 1e-300) - 1, 2.0)
    return (math.cbrt(mean) - (1 - heavier / (9 * size))) / (math.sqrt(heavier / size) / 3)


# ------------------------------------------------------------------------------------------------------------ methods


def check_postprocessor(method: PostProcessor) -> None:
    """Check that a post-processing method keeps its promises, on ordinary and extreme estimates of many noises.

    Shape and type, that the input is left alone, that a batch is exactly its rows, finite results, and what the method
    claims: `nonnegative`, `sums_to_one`, `keeps_order`, `queries_only`, and, unless it is `ordered_only`, that the
    result does not depend on the order of the categories. Noises that it does not fit are passed over.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    _require(isinstance(method, PostProcessor), f"a method is a PostProcessor, got {method!r}")
    for field in ("name", "title", "reference"):
        _require(bool(_text(method, field)), f"PostProcessor.{field} must be a text that is not empty")
    fitted = False
    for labels, estimates in _estimates():
        k, closely = estimates.shape[-1], CLOSELY
        for origin, noise in _noises(k):
            fits = method.fits is None or _asked(f"{method.name}: fits", method.fits, noise, k)
            if not fits:
                continue
            fitted = True
            where = f"{method.name}, noise of {origin}"
            results = _check_results(method, labels, estimates, noise, where)
            if closely:
                _check_batches(method, labels, estimates, noise, where, results)
                closely -= 1
    _require(fitted, f"{method.name}: fits must accept the noise of at least one built-in protocol")


@cache
def _oracle(key: str, k: int, epsilon: float) -> FrequencyOracle:
    return PROTOCOLS[key](k, epsilon)


@cache
def _noises(k: int) -> tuple[tuple[str, Noise], ...]:
    """Noises of the built-in protocols, from hardly any to far more than there is to see."""
    settings = [(1.0, 10_000), (4.0, 1_000_000), (0.1, 50)]
    own = [(key, *setting) for key in _BUILT_IN for setting in settings[: 3 if key in ("grr", "oue") else 1]]
    return tuple((f"{key} (epsilon={e:g}, n={n:,})", _oracle(key, k, e).noise(n)) for key, e, n in own)


_BUILT_IN = tuple(PROTOCOLS)  # taken on import: members of other packages may not have conformed yet


def _estimates() -> Iterator[tuple[list[str], FloatArray]]:
    """Batches of estimates of one domain size each, and what to call their rows."""
    edges = {
        "all negative": [-0.3, -0.1, -2.0, -0.1],
        "all zero": [0.0, 0.0, 0.0, 0.0],
        "one-hot": [0.0, 1.0, 0.0, 0.0],
        "values around a million": [1e6, -1e6, 3e5, 2e5],
        "values around a millionth of a millionth": [1e-12, -1e-12, 2e-12, 0.0],
        "probabilities": [0.4, 0.3, 0.2, 0.1],
    }
    yield list(edges), np.array(list(edges.values()))
    yield ["two categories", "two categories, negative"], np.array([[0.7, 0.3], [-0.7, -0.3]])
    yield ["a million three times"], np.full((1, 3), 1e6)
    scales = (0.01, 0.05, 0.2, 1e6)
    truth = np.array([0.4, 0.2, 0.15, 0.1, 0.05, 0.05, 0.03, 0.02, 0.0])
    noisy = truth + rng_for(0, "conformance", "estimates").normal(scale=np.reshape(scales, (4, 1)), size=(4, 9))
    ties = [[0.2, 0.2, 0.2, 0.1, 0.1, -0.1, -0.1, 0.0, 0.0], [1 / 9] * 9]
    yield [*(f"noise of sd {scale:g}" for scale in scales), "ties", "all equal"], np.vstack([noisy, ties])


def _check_results(
    method: PostProcessor, labels: list[str], estimates: FloatArray, noise: Noise, where: str
) -> FloatArray:
    """Check one batch, and return its results."""

    def for_all_rows(kept: NDArray[np.bool_], sentence: str) -> None:
        if not kept.all():
            raise ConformanceError(f"{where}, {labels[int(kept.argmin())]}: {sentence}")

    frozen = estimates.copy()
    frozen.flags.writeable = False  # a method that writes into its input fails here
    results = _asked(where, method, frozen, noise)
    _require(
        isinstance(results, np.ndarray) and results.shape == estimates.shape,
        f"{where}: the shape {estimates.shape} must be kept, got {np.shape(results)}",
    )
    _require(results.dtype == np.float64, f"{where}: the result must be float64, got {results.dtype}")
    _require(not np.shares_memory(results, frozen), f"{where}: the result must not share memory with the input")
    for_all_rows(np.isfinite(results).all(axis=1), "the result must be finite")
    if method.nonnegative:
        for_all_rows((results >= 0).all(axis=1), f"claims nonnegative, but gives {results.min():g}")
    if method.sums_to_one:
        # Results of any size sum to 1 up to the rounding of their largest.
        limit = ROUNDING + 1e-15 * (10 + results.shape[1]) * np.abs(results).max(axis=1)
        off = np.abs(results.sum(axis=1) - 1)
        for_all_rows(off <= limit, f"claims sums_to_one, but is off by up to {off.max():g}")
    if method.queries_only:
        for_all_rows((results == estimates).all(axis=1), "claims queries_only, but changes the estimate")
    if method.keeps_order:
        order = np.argsort(estimates, axis=1, kind="stable")
        steps, raw = (np.diff(np.take_along_axis(x, order, axis=1)) for x in (results, estimates))
        scale = np.maximum(1.0, np.abs(estimates).max(axis=1, keepdims=True))
        for_all_rows(
            ((steps >= -1e-12 * scale) & ((raw > 0) | (steps == 0))).all(axis=1),
            "claims keeps_order, but a larger estimate becomes smaller than a smaller one, or equal ones come apart",
        )
    return results


def _check_batches(
    method: PostProcessor, labels: list[str], estimates: FloatArray, noise: Noise, where: str, results: FloatArray
) -> None:
    """Check that rows by themselves, in another arrangement, and with their categories reversed give the same."""
    for label, row, of_row in zip(labels, estimates, results, strict=True):
        alone = _asked(f"{where}, {label}", method, row.copy(), noise)
        _require(
            np.array_equal(alone, of_row), f"{where}, {label}: a batch must give exactly what its rows give one by one"
        )
    if len(labels) % 2 == 0:
        shape = (2, len(labels) // 2, estimates.shape[1])
        arranged = _asked(where, method, estimates.reshape(shape), noise)
        _require(
            np.array_equal(arranged, results.reshape(shape)),
            f"{where}: a batch of shape {shape} must give exactly what its rows give one by one",
        )
    if not method.ordered_only:
        turned = _asked(where, method, estimates[:, ::-1].copy(), noise)[:, ::-1]
        scale = np.maximum(1.0, np.abs(estimates).max(axis=1, keepdims=True))
        _require(
            bool((np.abs(turned - results) <= ROUNDING * scale).all()),
            f"{where}: does not claim ordered_only, but the result depends on the order of the categories",
        )


# ------------------------------------------------------------------------------------------------------------ metrics


def check_metric(metric: Metric) -> None:
    """Check that an error metric keeps its promises.

    Shapes, finite errors of at least 0, nearly 0 for a perfect estimate, larger for worse ones on average, a batch that
    is exactly its rows, arguments left alone, the options of `Metric.with_options`, and, unless it is `ordered_only`,
    no dependence on the order of the categories. For query metrics the clipped error as well.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    _require(isinstance(metric, Metric), f"a metric is a Metric, got {metric!r}")
    for field in ("name", "title", "unit"):
        _require(bool(_text(metric, field)), f"Metric.{field} must be a text that is not empty")
    shared: dict[str, Any] = {"mix": 1e-3, "top_values": 2, "set_share": 0.2, "seed": 1}
    with_shared = _asked(f"{metric.name}: with_options", lambda: metric.with_options(**shared, unheard_of=0))
    _require("unheard_of" not in with_shared.options, f"{metric.name}: with_options must drop what is not known")
    for label, variant in ((metric.name, metric), (f"{metric.name} with options", with_shared)):
        _check_errors(label, variant, symmetric=not metric.ordered_only)
        if metric.clipped is not None:
            clipped = f"{label}, clipped"
            _check_errors(clipped, variant.clipped_error, symmetric=False)
    if metric.clipped is not None:
        unchanged = replace(metric, options={})
        truth = _truth()
        sure = np.abs(truth + rng_for(0, "conformance", "sure").normal(scale=0.01, size=(20, len(truth))))
        _require(
            np.allclose(unchanged.clipped_error(sure, truth), unchanged(sure, truth), rtol=1e-9, atol=0),
            f"{metric.name}: where no query answer is negative, the clipped error must be the plain one",
        )


def _truth() -> FloatArray:
    weights = np.r_[1.0 / np.arange(1, 22), np.zeros(3)]
    return weights[rng_for(0, "conformance", "truth").permutation(24)] / weights.sum()


def _check_errors(who: str, error: Callable[[FloatArray, FloatArray], Any], *, symmetric: bool) -> None:
    truth = _truth()
    rng = rng_for(0, "conformance", "errors")
    noise = rng.normal(size=(200, len(truth)))
    frozen = truth.copy()
    frozen.flags.writeable = False
    for shape in ((), (5,), (2, 3), (0,)):
        estimate = frozen + 0.05 * rng.normal(size=(*shape, len(truth)))
        estimate.flags.writeable = False
        errors = _asked(f"{who}, estimates of shape {estimate.shape}", error, estimate, frozen)
        _require(
            np.shape(errors) == shape,
            f"{who}: estimates of shape {estimate.shape} must give errors of shape {shape}, got {np.shape(errors)}",
        )
        rows = estimate.reshape(-1, len(truth))
        alone = [_asked(who, error, row, frozen) for row in rows]
        _require(
            np.array_equal(np.ravel(errors), np.array(alone, dtype=np.float64).ravel()),
            f"{who}: a batch must give exactly the errors that its rows give one by one, every time",
        )
        turned = _asked(who, error, estimate[..., ::-1], frozen[::-1])
        _require(
            not symmetric or np.allclose(turned, errors, rtol=1e-9, atol=1e-300),
            f"{who}: does not claim ordered_only, but the error depends on the order of the categories",
        )
    extremes = {
        "all negative": -frozen - 1,
        "all zero": np.zeros(len(truth)),
        "one-hot": np.eye(len(truth))[0],
        "values around a million": 1e6 * noise[0],
        "a perfect estimate": frozen.copy(),
    }
    for what, estimate in extremes.items():
        value = _asked(f"{who}, {what}", error, estimate, frozen)
        _require(
            bool(np.isfinite(value)) and value >= 0, f"{who}, {what}: an error is finite and at least 0, got {value}"
        )
    perfect = float(error(truth, frozen))
    previous = perfect
    for scale in (0.005, 0.02, 0.08):
        mean = float(np.mean(_asked(who, error, truth + scale * noise, frozen)))
        _require(
            mean > previous,
            f"{who}: worse estimates must have larger errors, but noise of sd {scale:g} gives {mean:g} and less noise "
            f"{previous:g}",
        )
        previous = mean
    _require(
        perfect <= 0.01 * previous,
        f"{who}: a perfect estimate must have an error of nearly 0, got {perfect:g} (a bad one has {previous:g})",
    )
