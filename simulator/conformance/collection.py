"""Checks common to all families of protocols, and the scores that they compare."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.conformance.requirement import ROUNDING, answer_of, require, require_texts
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally
from simulator.seeding import rng_for

FALSE_ALARM = 1e-6  # probability that `check_collection` rejects a correct protocol, for a given seed
SAMPLED, REPLAYED, ATTACKED = 3000, 800, 20_000
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


def _check_tallies(protocol: Protocol, counts: IntArray, seed: int) -> None:
    who, values = protocol.key, np.repeat(np.arange(protocol.k), counts)
    reports = protocol.perturb(values, rng_for(seed, "conformance", "perturb"))
    again = protocol.perturb(values, rng_for(seed, "conformance", "perturb"))
    require(len(reports) == len(values), f"{who}: perturb must give one report a user, got {len(reports)}")
    whole, cut = protocol.tally(reports), len(reports) // 3
    parts = protocol.tally(reports[:cut]) + protocol.tally(reports[cut:])
    require(whole.n == len(values), f"{who}: a tally must hold the number of its users, got {whole.n}")
    require(whole.counts.ndim == 1, f"{who}: the tally of reports must be one row, got shape {whole.counts.shape}")
    require(
        parts.n == whole.n and np.allclose(parts.counts, whole.counts, rtol=ROUNDING),
        f"{who}: tallies of parts of the reports must add up to that of all",
    )
    require(
        np.array_equal(protocol.tally(again).counts, whole.counts),
        f"{who}: perturb must draw from the generator it is given and from nothing else; the same one gave two answers",
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
    streams = (rng_for(seed, "conformance", "replay", run) for run in range(REPLAYED))
    slow = Tally.stack([protocol.tally(protocol.perturb(values, rng)) for rng in streams])
    fast = protocol.sample_tally(np.broadcast_to(counts, (SAMPLED, protocol.k)), rng_for(seed, "conformance", "sample"))
    a, b = (tally.counts.astype(np.float64) for tally in (fast, slow))
    z = np.concatenate([z_of_two_means(a, b), z_of_two_variances(a, b)])
    _require_near(z, f"{protocol.key}: sample_tally must have the means and variances of the tallies of reports")


def _check_linear(protocol: Protocol, counts: IntArray, seed: int) -> None:
    linear, who = protocol.linear, protocol.key
    require((linear is not None) == protocol.offers("estimate"), f"{who}: offers must tell whether there is a linear")
    if linear is None:
        return
    rows = rng_for(seed, "conformance", "assigned").permuted(np.broadcast_to(counts, (SAMPLED, protocol.k)), axis=1)
    tally = protocol.sample_tally(rows, rng_for(seed, "conformance", "linear"))
    errors, covariance = linear.estimate(tally) - rows / tally.n, linear.covariance(tally.n)
    require(errors.shape == rows.shape, f"{who}: an estimate must have the shape of the counts, got {errors.shape}")
    z = [z_of_means(errors)]
    # The stated variance may be a mean over all ways to assign frequencies to values.
    z.append(z_of_means(((errors**2).sum(axis=1) - covariance.entry(rows / tally.n).sum(axis=-1))[:, None]))
    _require_near(np.concatenate(z), f"{who}: the linear estimate must be unbiased, and as variable as it states")
    if protocol.offers("iid"):
        return
    equal = np.full((SAMPLED, protocol.k), USERS)
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
    drawn = protocol.sample_tally(np.broadcast_to(counts, (SAMPLED, k)), rng).counts
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
