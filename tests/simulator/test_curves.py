import math
import statistics

import numpy as np
import pytest
from scipy import stats

from simulator import Noise
from simulator.populations import frequencies
from simulator.surrogate import curves, particles
from simulator.surrogate.curves import curve_posterior, rough_curve_posterior
from simulator.surrogate.families import family_posterior
from simulator.surrogate.levels import level_posterior
from simulator.surrogate.mixture import mixture_posterior
from simulator.surrogate.wavelet import wavelet_posterior

from .law import even_noise, stream


def even(normal):
    return statistics.NormalDist().cdf(normal)


def slow_candidate(normals, places, sizes, narrowest):
    """One candidate, number by number."""
    parts, ground = normals[:-1], normals[-1]
    chances = zip(parts, (1, 0.6, 0.4), strict=True)
    shares = [math.exp(1.5 * part[0]) if even(part[1]) < often else 0.0 for part, often in chances]
    rest = math.exp(1.5 * ground[0]) if even(ground[1]) < 0.7 else 0.0
    if even(ground[2]) < 0.02:
        return [size / sum(sizes) for size in sizes]
    total = sum(shares) + rest
    result = [rest / total * size / sum(sizes) for size in sizes]
    for share, (_, _, where, wide, leaning, tails, top) in zip(shares, parts, strict=True):
        peak = min(max((even(where) - 0.15) / 0.7, 0), 1)
        width = narrowest ** even(wide)
        lean = math.copysign(max(abs(leaning) - 0.67, 0), leaning)
        power, roundness = 0.5 * 200 ** even(tails), 0.5 * 8 ** even(top)
        heights = []
        for place, size in zip(places, sizes, strict=True):
            side = width * math.exp(-lean if place < peak else lean)
            heights.append(size * (1 + (abs(place - peak) / side) ** roundness / power) ** -power)
        result = [old + share / total * height / sum(heights) for old, height in zip(result, heights, strict=True)]
    return result


def slow_roughness(normals):
    """Share by which categories depart from the curve of a candidate, by scalar arithmetic; flat ones have none."""
    flat, far = (stats.norm.cdf(normals[curves.PARTS, number]) for number in (2, 3))
    return 0.0 if flat < 0.02 else 0.02 * 50.0**far


def test_candidates_far_beyond_the_prior_are_curves_still():
    normals = 50 * stream("far curves").standard_normal((1000, curves.PARTS + 1, curves.PARAMETERS))
    made = curves._curves(normals, (np.arange(512) + 0.5) / 512, np.ones(512), narrowest=0.5 / 512)
    assert np.isfinite(made).all()
    assert made.min() >= 0
    np.testing.assert_allclose(made.sum(axis=1), 1, rtol=1e-12)


AT_ZERO, SLOPE = 1e-2, 2e-2


@pytest.mark.parametrize(("k", "blocks", "rough"), [(10, 4, True), (6, 512, False)])
def test_evidence_of_curves_is_the_mean_likelihood_of_the_candidates(monkeypatch, k, blocks, rough):
    monkeypatch.setattr(curves, "BLOCKS", blocks)
    monkeypatch.setattr(particles, "CANDIDATES", 400)
    noise = Noise(10**4, 0.5, 0.25, AT_ZERO, SLOPE, False)  # so much that a single step leads to the posterior
    estimate = frequencies("geometric", k) + stream("evidence of curves", k).normal(0, 0.1, k)
    found = (rough_curve_posterior if rough else curve_posterior)(estimate, noise, 5, stream("candidates")).evidence
    parts = [list(part) for part in np.split(np.arange(k), [2, 5, 8])] if blocks < k else [[at] for at in range(k)]
    sizes = [float(len(part)) for part in parts]
    places = [(part[0] + part[-1] + 1) / (2 * k) for part in parts]
    seen = np.array([estimate[part].sum() for part in parts])

    def likelihood(frequencies, own=0.0):
        sd = (np.array(sizes) * AT_ZERO + SLOPE * frequencies + (own * frequencies) ** 2 / np.array(sizes)) ** 0.5
        return stats.norm.pdf(seen, frequencies, sd).prod(axis=-1)

    normals = stream("candidates").standard_normal((particles.CANDIDATES, curves.PARTS + 1, curves.PARAMETERS))
    candidates = np.array([slow_candidate(one, places, sizes, 0.5 / len(parts)) for one in normals])
    own = np.array([[slow_roughness(one) * rough] for one in normals])
    expected = math.log(likelihood(candidates, own).mean() / likelihood(np.array(sizes) / k))
    assert found == pytest.approx(expected, abs=1e-6)  # frequencies are right to 1e-7, where the noise is 0.1


@pytest.mark.parametrize("name", ["gaussian", pytest.param("geometric", marks=pytest.mark.slow)])
def test_a_curve_under_little_noise_is_seen_as_a_curve(name):
    k, sd = 64, 0.05 / 64
    truth = frequencies(name, k)
    estimate = truth + stream("little noise", name).normal(0, sd, k)
    found = curve_posterior(estimate, even_noise(sd), 40, stream("a curve", name))
    others = [wavelet_posterior, level_posterior, mixture_posterior, family_posterior]
    assert found.evidence > max(other(estimate, even_noise(sd), 8, stream("others")).evidence for other in others)
    distances = ((found.populations - truth) ** 2).sum(axis=1) ** 0.5
    assert np.median(distances) < 0.6 * sd * k**0.5


def random_curve(rng, k):
    """Frequencies split again and again, finer splits more evenly: what the wavelet model expects, up to its peaks."""
    values = np.ones(1)
    while len(values) < k:
        change = values * np.tanh(rng.normal(0, 0.3 * len(values) ** -0.5, len(values)))
        values = np.stack([values + change, values - change], axis=1).ravel() / 2
    return values


def rough_curve(rng, k):
    """Frequencies of a curve with peaks, and with departures of their own: what the rough curves expect."""
    normals = rng.standard_normal((1, curves.PARTS + 1, curves.PARAMETERS))
    normals[0, curves.PARTS, 2] = 1.0  # not flat
    curve = curves._curves(normals, (np.arange(k) + 0.5) / k, np.ones(k), narrowest=0.5 / k)[0]
    values = np.maximum(curve * (1 + slow_roughness(normals[0]) * rng.standard_normal(k)), 0.0)
    return values / values.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("posterior", "draw", "sd", "truths"),
    [
        (mixture_posterior, lambda rng: rng.dirichlet(np.full(256, 0.2)), 1 / 256, 40),
        (family_posterior, lambda rng: rng.dirichlet(np.full(256, 0.5)), 1 / 256, 40),
        (wavelet_posterior, lambda rng: random_curve(rng, 128), 0.3 / 128, 40),
        (rough_curve_posterior, lambda rng: rough_curve(rng, 64), 0.3 / 64, 150),
    ],
)
def test_nine_of_ten_frequencies_are_inside_the_ranges_of_the_draws(posterior, draw, sd, truths):
    """Fitted priors cost some cover, the atoms' steps and zeros at the edge of a range give some: 5 points for both."""
    shares = []
    for at in range(truths):
        rng = stream("coverage", at)
        truth = draw(rng)
        drawn = posterior(truth + rng.normal(0, sd, len(truth)), even_noise(sd), 100, rng).populations
        low, high = np.quantile(drawn, (0.05, 0.95), axis=0)
        shares.append(((low <= truth) & (truth <= high)).mean())
    error = np.std(shares, ddof=1) / truths**0.5
    assert abs(np.mean(shares) - 0.9) < 0.05 + 4 * error
    assert error < 0.015  # or the bound would mean nothing
