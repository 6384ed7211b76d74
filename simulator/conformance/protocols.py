"""Checks of protocols: those common to all families, and those of the family with support counts."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.channels.channel import ChannelProtocol
from simulator.conformance.forms import ROUNDING, answer_of, as_member, require, require_refusal, require_texts
from simulator.populations import apportion
from simulator.protocols import EPSILON_MAX, EPSILON_MIN, FrequencyOracle, Noise, StandardProtocol
from simulator.protocols.functions import UserProtocol
from simulator.protocols.protocol import Protocol, Tally
from simulator.seeding import rng_for

FALSE_ALARM = 1e-6  # probability that a check rejects a correct protocol, for a given seed
SAMPLED_TALLIES, REPLAYED_TALLIES, ATTACKED = 3000, 800, 20_000
USERS = 240
FAKES = 30


def check_collection(protocol: Protocol, *, seed: int = 0) -> None:
    """Check that a protocol of any family keeps the promises of `Protocol`.

    A report per user; tallies that add up; a sampler with the means and variances of the tallies of real reports; an
    unbiased `linear` estimate with the covariance it states; the correct `likelihood` of the tally, and whose two
    products are transposes of each other; closed forms that agree with attacks; fakes that are tallies.

    Parameters
    ----------
    protocol
        At a k of at most 20 or so, and its epsilon.
    seed
        Of the random draws. A correct protocol is rejected for 1 seed in a million (by Bonferroni's inequality and
        normal approximations), and a seed always draws the same.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    require(isinstance(protocol, Protocol), f"a protocol extends Protocol, got {protocol!r}")
    require_texts(protocol, type(protocol).__name__, "key", "title", "report_kind")
    who = protocol.key
    require(protocol.report_bits >= 1, f"{who}: report_bits must be at least 1, got {protocol.report_bits}")
    require(0 < protocol.attack_success <= 1, f"{who}: attack_success must be a probability above 0")
    counts = apportion(1.0 / np.arange(1, protocol.k + 1), USERS)
    for check in (_check_tallies, _check_law, _check_linear, _check_likelihood, _check_attacks, _check_fakes):
        answer_of(f"{who}: collecting", check, protocol, counts, seed)


def _require_near(z: FloatArray, sentence: str) -> None:
    worst = float(np.abs(z).max())
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 5 / (2 * np.size(z)))  # five checks make comparisons
    require(worst <= limit, f"{sentence}, but it is off by {worst:.3g} standard errors")


def _reports(who: str, protocol: Protocol, values: IntArray, seed: int, counted: Callable[[Any], Any]) -> Any:
    """Return a report per user; the generator alone decides what is counted of them."""
    reports, again = (protocol.perturb(values, rng_for(seed, "conformance", "perturb")) for _ in range(2))
    users = len(values)
    require(len(reports) == users, f"{who}: perturb must give one report a user, got {len(reports)} for {users}")
    require(
        np.array_equal(counted(reports), counted(again)),
        f"{who}: perturb must draw from the generator it is given and from nothing else; the same one gave two answers",
    )
    return reports


def _check_tallies(protocol: Protocol, counts: IntArray, seed: int) -> None:
    who, values = protocol.key, np.repeat(np.arange(protocol.k), counts)
    reports = _reports(who, protocol, values, seed, lambda reports: protocol.tally(reports).counts)
    whole, cut = protocol.tally(reports), len(reports) // 3
    parts = protocol.tally(reports[:cut]) + protocol.tally(reports[cut:])
    require(whole.n == len(values), f"{who}: a tally must hold the number of its users, got {whole.n}")
    require(whole.counts.ndim == 1, f"{who}: the tally of reports must be one row, got shape {whole.counts.shape}")
    require(
        parts.n == whole.n and np.allclose(parts.counts, whole.counts, rtol=ROUNDING),
        f"{who}: tallies of parts of the reports must add up to that of all",
    )
    for shape in ((), (3,), (2, 3)):
        rows = np.broadcast_to(counts, (*shape, protocol.k))
        drawn = protocol.sample_tally(rows, rng_for(seed, "conformance", "shape"))
        expected_shape = (*shape, *whole.counts.shape)
        require(
            drawn.counts.shape == expected_shape and drawn.n == whole.n,
            f"{who}: sample_tally of counts {rows.shape} must give a tally of {whole.n} users and shape "
            f"{expected_shape}, got {drawn.n} and {drawn.counts.shape}",
        )


def _check_law(protocol: Protocol, counts: IntArray, seed: int) -> None:
    values = np.repeat(np.arange(protocol.k), counts)
    streams = (rng_for(seed, "conformance", "replay", run) for run in range(REPLAYED_TALLIES))
    slow = Tally.stack([protocol.tally(protocol.perturb(values, rng)) for rng in streams])
    fast = protocol.sample_tally(
        np.broadcast_to(counts, (SAMPLED_TALLIES, protocol.k)), rng_for(seed, "conformance", "sample")
    )
    a, b = (tally.counts.astype(np.float64) for tally in (fast, slow))
    z = np.concatenate([z_of_two_means(a, b), z_of_two_variances(a, b)])
    _require_near(z, f"{protocol.key}: sample_tally must have the means and variances of the tallies of reports")


def _check_linear(protocol: Protocol, counts: IntArray, seed: int) -> None:
    linear, who = protocol.linear, protocol.key
    require((linear is not None) == protocol.offers("estimate"), f"{who}: offers must tell whether there is a linear")
    if linear is None:
        return
    rows = rng_for(seed, "conformance", "assigned").permuted(
        np.broadcast_to(counts, (SAMPLED_TALLIES, protocol.k)), axis=1
    )
    tally = protocol.sample_tally(rows, rng_for(seed, "conformance", "linear"))
    errors, covariance = linear.estimate(tally) - rows / tally.n, linear.covariance(tally.n)
    require(errors.shape == rows.shape, f"{who}: an estimate must have the shape of the counts, got {errors.shape}")
    # The stated variance may be a mean over all ways to assign frequencies to values.
    surplus = (errors**2).sum(axis=1) - covariance.entry(rows / tally.n).sum(axis=-1)
    z = np.concatenate([z_of_means(errors), z_of_means(surplus[:, None])])
    _require_near(z, f"{who}: the linear estimate must be unbiased, and as variable as it states")
    if protocol.offers("iid"):
        return
    equal = np.full((SAMPLED_TALLIES, protocol.k), USERS)
    many = protocol.sample_tally(equal, rng_for(seed, "conformance", "haar"))
    off = linear.estimate(many) - 1 / protocol.k
    scores, values = [], np.arange(protocol.k)
    for height, stated in enumerate(linear.covariance(many.n).haar(protocol.k), start=1):
        signs = np.where((values >> (height - 1)) & 1, -1.0, 1.0)
        differences = np.stack([(off * signs)[:, values >> height == node].sum(axis=1) for node in range(len(stated))])
        squares = (differences**2).T - stated
        scores.append(z_of_means(squares[:, stated > 0]))
    _require_near(np.concatenate(scores), f"{who}: Haar differences must be as variable as the covariance states")


def _check_likelihood(protocol: Protocol, counts: IntArray, seed: int) -> None:
    likelihood, who = protocol.likelihood, protocol.key
    require(
        (likelihood is not None) == protocol.offers("likelihood"),
        f"{who}: offers must tell whether there is a likelihood",
    )
    if likelihood is None:
        return
    rng = rng_for(seed, "conformance", "likelihood")
    k, outputs = likelihood.shape
    frequencies, weights = rng.dirichlet(np.ones(k)), rng.random(outputs)
    forward, backward = likelihood.forward(frequencies), likelihood.backward(weights)
    require(
        forward.shape == (outputs,) and backward.shape == (k,) and abs(float(forward.sum()) - 1) < ROUNDING,
        f"{who}: forward must give probabilities of {outputs} outputs, and backward means for {k} values",
    )
    require(
        abs(float(forward @ weights - frequencies @ backward)) < ROUNDING,
        f"{who}: forward and backward of a likelihood must be transposed to each other",
    )
    drawn = protocol.sample_tally(np.broadcast_to(counts, (SAMPLED_TALLIES, k)), rng).counts
    expected = USERS * likelihood.forward(counts / USERS)
    _require_near(z_of_means(drawn - expected), f"{who}: the likelihood must be that of the tally")


def _check_attacks(protocol: Protocol, counts: IntArray, seed: int) -> None:
    scores = []
    for attack in ("guess", "pair"):
        both = protocol.attack_probabilities(attack, (0, 1))
        for value, stated in enumerate(both or ()):
            reports = protocol.perturb(np.full(ATTACKED, value), rng_for(seed, "conformance", attack, value))
            scores.append(z_of_means((protocol.chances(reports, (0, 1), attack) - stated)[:, None]))
    if scores:
        _require_near(np.concatenate(scores), f"{protocol.key}: the closed forms of its attacks must come true")


def _check_fakes(protocol: Protocol, counts: IntArray, seed: int) -> None:
    shape = protocol.sample_tally(counts, rng_for(seed, "conformance", "fakes")).counts.shape
    for fakes_made in (
        protocol.random_fakes(FAKES, rng_for(seed, "conformance", "random")),
        protocol.crafted(np.array([0]), FAKES, rng_for(seed, "conformance", "crafted")),
    ):
        require(
            fakes_made is None or (fakes_made.n == FAKES and fakes_made.counts.shape == shape),
            f"{protocol.key}: fakes must be the tally of as many reports as there are fake users",
        )


def z_of_means(errors: FloatArray) -> FloatArray:
    """Compare the means of the columns with 0."""
    spread, off = errors.std(axis=0, ddof=1), errors.mean(axis=0)
    # Sums of estimates that never vary are off by rounding only.
    return np.where(np.abs(off) < ROUNDING, 0.0, off / np.maximum(spread / math.sqrt(len(errors)), 1e-300))


def z_of_two_means(a: FloatArray, b: FloatArray) -> FloatArray:
    """Compare the means of the columns of two samples."""
    off = a.mean(axis=0) - b.mean(axis=0)
    se = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return np.where(np.abs(off) < ROUNDING, 0.0, off / np.maximum(se, 1e-300))


def z_of_two_variances(a: FloatArray, b: FloatArray) -> FloatArray:
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
    scale = np.maximum(np.abs(a).max(axis=0), 1.0)
    # Sums that never vary differ by rounding only; the root of the pooled root's cube is a standard deviation.
    return np.where(pooled**1.5 < ROUNDING * scale, 0.0, off / np.maximum(se, 1e-300))


def z_of_variance(squares: FloatArray) -> float:
    """Compare the mean of squares of nearly normal variables with 1, by the same cube root."""
    size, mean = len(squares), float(squares.mean())
    heavier = max(float((squares**2).mean()) / max(mean**2, 1e-300) - 1, 2.0)
    return (math.cbrt(mean) - (1 - heavier / (9 * size))) / (math.sqrt(heavier / size) / 3)


SETTINGS = ((2, 0.1), (6, 1.0), (4, 2.5), (33, 4.0))  # k and epsilon
POPULATIONS = ((1.0, (110, 50, 25, 10, 5, 0)), (2.5, (120, 60, 20, 0)))  # epsilon and users who hold each value
SAMPLED, REPLAYED = 4000, 1200  # collections of each population
# Comparisons per population: all linear forms, for the bias of two ways to draw, for their means and variances, and for
# the mean squared errors of the values.
LARGEST_K = max(len(counts) for _, counts in POPULATIONS)
COMPARISONS = len(POPULATIONS) * (4 * (LARGEST_K + 2) + LARGEST_K)
Z_LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * COMPARISONS))
FEW_USERS, MANY_USERS, MOST_USERS = 1_000, 1_000_000, 10**9
SPARE_BYTES = 1_000_000  # limit for a table or a first import; single users take eight bytes each and more


def check_protocol(cls: Any, *, seed: int = 0) -> None:
    """Check that a protocol keeps the promises of `FrequencyOracle`, or else those of `StandardProtocol`.

    Shapes and types, and the range of its figures. The fast sampler and the user-by-user replay have the same mean and
    variance in each value. The same holds for the sum and the alternating sum of the values, where a wrong correlation
    shows. Estimates are unbiased, with the variance that `noise` states (averaged over all ways to assign the
    frequencies to the values). `sums_to_one` is as claimed, memory does not grow with n (unless the class is `slow`),
    and bad parameters are refused.
    For other families: bad parameters, and the checks of `check_collection`; of a `Channel` at k = 4 and 6 alone.

    Parameters
    ----------
    cls
        What `simulator.register` takes.
    seed
        Of the random draws. A correct protocol is rejected for 1 seed in a million (all comparisons together, by
        Bonferroni's inequality and normal approximations), four in a million outside of `FrequencyOracle`; a seed
        always draws the same.

    Raises
    ------
    ConformanceError
        On the first promise that is broken.
    """
    cls = answer_of("the protocol", as_member, cls, "protocol")
    _check_refusals(cls)
    if not issubclass(cls, FrequencyOracle):
        for k, epsilon in SETTINGS[1:3] if issubclass(cls, ChannelProtocol) else SETTINGS:
            check_collection(answer_of(f"{cls.key}(k={k}, epsilon={epsilon})", cls, k, epsilon), seed=seed)
        return
    for k, epsilon in SETTINGS:
        oracle = answer_of(f"{cls.key}(k={k}, epsilon={epsilon})", cls, k, epsilon)
        if issubclass(cls, UserProtocol):
            answer_of(f"{_named(oracle)}: estimate", _check_parts, oracle, seed)
        _check_figures(oracle)
        answer_of(f"{_named(oracle)}: drawing", _check_draws, oracle, seed)
    for epsilon, counts in POPULATIONS:
        answer_of(f"{cls.key}: drawing", _check_supports, cls(len(counts), epsilon), np.array(counts), seed)
    if not cls.slow:
        answer_of(f"{cls.key}: drawing {MOST_USERS:,} users", _check_cost, cls(6, 1.0), seed)


def _named(oracle: FrequencyOracle) -> str:
    return f"{oracle.key} (k={oracle.k}, epsilon={oracle.epsilon:g})"


def _check_refusals(cls: type[StandardProtocol]) -> None:
    beyond = (0.0, -1.0, EPSILON_MIN / 2, EPSILON_MAX * 2, math.nan, math.inf)
    for k, epsilon in [(1, 1.0), (0, 1.0), *((8, epsilon) for epsilon in beyond)]:
        sentence = f"{cls.key} must refuse k={k}, epsilon={epsilon:g} with a ValueError, but takes it"
        require_refusal(partial(cls, k, epsilon), sentence)


def _check_figures(oracle: FrequencyOracle) -> None:
    """Check p, q, the cost and leakage of a report, and the noise."""
    who, k = _named(oracle), oracle.k
    p, q, bits, attack = (
        answer_of(f"{who}: {field}", getattr, oracle, field) for field in ("p", "q", "report_bits", "attack_success")
    )
    require((p is None) == (q is None), f"{who}: p and q must both be numbers or both None, got p={p}, q={q}")
    if p is not None:
        require(0 <= q < p <= 1, f"{who}: 0 <= q < p <= 1 must hold, got p={p}, q={q}")
    require(
        isinstance(bits, int | np.integer) and not isinstance(bits, bool) and bits >= 1,
        f"{who}: report_bits must be a whole number of at least 1, got {bits!r}",
    )
    require(0 < attack <= 1, f"{who}: attack_success must be a probability above 0, got {attack!r}")
    most = 1 / (1 + (k - 1) * math.exp(-oracle.epsilon))
    require(
        1 / k - ROUNDING <= attack <= most + ROUNDING,
        f"{who}: attack_success must lie between that of a blind guess, {1 / k:g}, and what epsilon allows, {most:g}, "
        f"got {attack:g}",
    )
    noise = answer_of(f"{who}: noise(1000)", oracle.noise, 1000)
    require(isinstance(noise, Noise), f"{who}: noise(n) must be a Noise, got {type(noise).__name__}")
    require(
        (noise.n, noise.p, noise.q) == (1000, p, q),
        f"{who}: noise(1000) must hold n, p and q of the protocol, got {noise}",
    )
    for f in (0.0, 1.0):
        stated = float(answer_of(f"{who}: variance({f}, 1000)", oracle.variance, f, 1000))
        require(
            math.isfinite(stated) and (stated > 0 or (f == 1 and stated > -ROUNDING)),
            f"{who}: variance({f}, 1000) must be positive and finite, got {stated:g}",
        )
    require(
        noise.sums_to_one or not oracle.sums_to_one,
        f"{who}: the class claims sums_to_one, and noise(n) must say the same",
    )
    for wrong in (0, -5):
        require_refusal(partial(oracle.noise, wrong), f"{who}: noise(n={wrong}) must be refused with a ValueError")


def _check_draws(oracle: FrequencyOracle, seed: int) -> None:
    """Check shapes, types, repeatability and the claim about sums, on few users."""
    who, k, dtype = _named(oracle), oracle.k, np.dtype(oracle.support_dtype)
    require(
        oracle.p is None or dtype == np.int64,
        f"{who}: supports are counts of reports, so support_dtype must be int64, got {dtype}",
    )
    users = 300
    values = rng_for(seed, "conformance", "values", k).integers(0, k, size=users)
    counts: IntArray = np.bincount(values, minlength=k).astype(np.int64)
    values.flags.writeable = counts.flags.writeable = False

    support = np.asarray(oracle.support(_reports(who, oracle, values, seed, oracle.support)))
    require(support.shape == (k,), f"{who}: support must give shape ({k},), got {support.shape}")
    require(np.can_cast(support.dtype, dtype, "same_kind"), f"{who}: support must give {dtype}, got {support.dtype}")
    sums = []
    for way in ("sample_support", "replay_support"):
        draw = getattr(oracle, way)
        for shape in ((k,), (3, k), (2, 3, k), (0, k)):
            rows = np.broadcast_to(counts, shape)
            drawn = draw(rows, rng_for(seed, "conformance", way))
            require(
                isinstance(drawn, np.ndarray) and drawn.shape == shape,
                f"{who}: {way} must keep the shape {shape} of the counts, got {np.shape(drawn)}",
            )
            require(drawn.dtype == dtype, f"{who}: {way} must give {dtype}, got {drawn.dtype}")
            require(
                np.array_equal(drawn, draw(rows, rng_for(seed, "conformance", way))),
                f"{who}: {way} must draw from the generator it is given and from nothing else; the same one gave two "
                "answers",
            )
            estimate = oracle.estimate(drawn, users)
            require(
                estimate.shape == shape and estimate.dtype == np.float64 and bool(np.isfinite(estimate).all()),
                f"{who}: estimate must give finite float64 of shape {shape}, got {estimate.dtype} {estimate.shape}",
            )
            sums.extend(np.atleast_1d(estimate.sum(axis=-1)).ravel().tolist())
    always_one = max(abs(total - 1) for total in sums) < ROUNDING
    claim = oracle.noise(users).sums_to_one
    require(
        always_one == claim,
        f"{who}: sums_to_one is {claim}, but the raw estimates {'always' if always_one else 'do not'} sum to 1",
    )


def _check_parts(oracle: FrequencyOracle, seed: int) -> None:
    reports = oracle.perturb(np.zeros(FEW_USERS, dtype=np.int64), rng_for(seed, "conformance", "parts"))
    cut = FEW_USERS // 3
    parts = oracle.support(reports[:cut]) + oracle.support(reports[cut:])
    require(
        np.allclose(parts, oracle.support(reports), rtol=ROUNDING, atol=ROUNDING * FEW_USERS),
        f"{_named(oracle)}: estimate must be a mean over the reports, but that of all is not that of its parts: "
        "leave clipping and scaling to post-processing",
    )


def _check_cost(oracle: FrequencyOracle, seed: int) -> None:
    """Check that memory does not grow with n, with few users first: a sampler that goes user by user would never end.

    Memory can be counted exactly, time cannot on a machine that others use.
    """
    k = oracle.k

    def peak(users: int) -> int:
        counts = apportion(np.ones(k), users)
        tracemalloc.start()
        try:
            oracle.sample_support(counts, rng_for(seed, "conformance", "cost"))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(FEW_USERS), peak(MANY_USERS)
    require(
        many <= 2 * few + SPARE_BYTES,
        f"{oracle.key}: the cost of sample_support must not depend on n, but {MANY_USERS:,} users take {many:,} bytes "
        f"and {FEW_USERS:,} take {few:,}: if it goes user by user, say slow = True and most_users",
    )
    counts = apportion(np.ones(k), MOST_USERS)
    drawn = oracle.sample_support(counts, rng_for(seed, "conformance", "most"))
    off = np.abs(oracle.estimate(drawn, MOST_USERS) - counts / MOST_USERS)
    limit = 2 * Z_LIMIT * np.sqrt(oracle.variance(counts / MOST_USERS, MOST_USERS))
    require(
        bool((off <= limit).all()),
        f"{oracle.key}: estimates of {MOST_USERS:,} users must be within their noise of the truth, got {off.max():g}",
    )


def _check_supports(oracle: FrequencyOracle, counts: IntArray, seed: int) -> None:
    """Compare the sampler with the replay, and the estimates with the truth and the stated variance."""
    who, k, n = _named(oracle), oracle.k, int(counts.sum())
    forms = np.vstack([np.eye(k), np.ones(k), np.where(np.arange(k) % 2, -1.0, 1.0)])
    names = [*(f"value {value}" for value in range(k)), "the sum of all values", "the alternating sum of the values"]
    sampled = REPLAYED if oracle.slow else SAMPLED
    slow = oracle.replay_support(np.broadcast_to(counts, (REPLAYED, k)), rng_for(seed, "conformance", "replayed", k))
    stream = rng_for(seed, "conformance", "sampled", k)
    fast = slow if oracle.slow else oracle.sample_support(np.broadcast_to(counts, (sampled, k)), stream)
    for way, drawn in (("replay_support", slow), ("sample_support", fast)):
        estimate = oracle.estimate(drawn, n)
        z = np.abs(z_of_means((estimate - counts / n) @ forms.T))
        sentence = f"{who}: estimates from {way} must be unbiased, but those of {names[z.argmax()]} are off by"
        require(z.max() <= Z_LIMIT, f"{sentence} {z.max():.3g} standard errors")
    a, b = fast @ forms.T, slow @ forms.T
    for what, z in (("mean", z_of_two_means(a, b)), ("variance", z_of_two_variances(a, b))):
        sentence = f"{who}: sample_support and replay_support must have the same {what}, but that of"
        off = float(np.abs(z).max())
        require(off <= Z_LIMIT, f"{sentence} {names[np.abs(z).argmax()]} differs by {off:.3g} standard errors")
    # Each collection assigns the frequencies to the values anew: the stated variance is an average over that.
    shuffle = rng_for(seed, "conformance", "assignment", k)
    rows = shuffle.permuted(np.broadcast_to(counts, (sampled, k)), axis=1)
    estimate = oracle.estimate(oracle.sample_support(rows, rng_for(seed, "conformance", "assigned", k)), n)
    squares = (estimate - rows / n) ** 2
    for count in np.unique(counts):
        stated = float(oracle.variance(count / n, n))
        chosen = squares[rows == count]
        off = z_of_variance(chosen / stated)
        require(
            abs(off) <= Z_LIMIT,
            f"{who}: the variance of the estimate of frequency {count / n:g} must be as stated, {stated:.4g}, but is "
            f"{chosen.mean():.4g} in {len(chosen):,} draws ({abs(off):.3g} standard errors)",
        )
