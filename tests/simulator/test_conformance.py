"""The checks shipped for authors: all members pass, and for every promise one that breaks it is caught."""

# ruff: noqa: ARG002, ARG005 - broken members take what the interface hands them, and mostly ignore it

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from simulator.conformance import ConformanceError, check_metric, check_postprocessor, check_protocol
from simulator.methods import POSTPROCESSORS, PostProcessor
from simulator.metrics import METRICS, Metric, emd, mse
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import binomial_support
from simulator.protocols.protocol import Protocol
from simulator.protocols.summation import SHE
from simulator.protocols.tree import Tree
from simulator.protocols.unary import OUE


@pytest.mark.slow
@pytest.mark.parametrize("key", PROTOCOLS)
def test_every_protocol_conforms(key):
    assert check_protocol(PROTOCOLS[key]) is None


@pytest.mark.parametrize("name", [name for name, one in POSTPROCESSORS.items() if "suspects" not in one.needs])
def test_every_method_conforms(name):
    assert check_postprocessor(POSTPROCESSORS[name]) is None


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_conforms(name):
    assert check_metric(METRICS[name]) is None


def test_a_right_protocol_passes_with_other_seeds():
    for seed in range(1, 6):
        check_protocol(OUE, seed=seed)
        check_protocol(GRR, seed=seed)


# ---------------------------------------------------------------------------------------------------------- protocols


class AnyDomain(GRR):
    def __post_init__(self):
        object.__setattr__(self, "k", max(self.k, 2))
        super().__post_init__()


class AnyBudget(GRR):
    def __post_init__(self):
        if not self.epsilon > 0:
            return
        super().__post_init__()


class NotANumberPasses(GRR):
    def __post_init__(self):
        if not np.isnan(self.epsilon):
            super().__post_init__()


class Swapped(OUE):
    p = property(lambda self: OUE.q.fget(self))
    q = property(lambda self: OUE.p.fget(self))


class HalfOfThem(SHE):
    p = property(lambda self: 0.5)


class NoBits(OUE):
    report_bits = property(lambda self: 0)


class HalfABit(OUE):
    report_bits = property(lambda self: self.k / 2)


class NothingGivenAway(OUE):
    attack_success = property(lambda self: 0.0)


class LessThanBlind(OUE):
    attack_success = property(lambda self: 0.5 / self.k)


class MoreThanAllowed(OUE):
    attack_success = property(lambda self: 1.0)


class NoiseOfOthers(OUE):
    def noise(self, n):
        return super().noise(n + 1)


class NoNoise(OUE):
    def noise(self, n):
        return replace(super().noise(n), variance_at_zero=0.0)


class NoUsersAreFine(OUE):
    def noise(self, n):
        return super().noise(max(n, 1))


class ClaimsTheSum(OUE):
    sums_to_one = True


class DeniesTheSum(GRR):
    sums_to_one = False


class TwoOpinionsOnTheSum(GRR):
    def noise(self, n):
        return replace(super().noise(n), sums_to_one=False)


class CountsThatAreReal(OUE):
    support_dtype = np.float64


class OneShort(OUE):
    def perturb(self, values, rng):
        return super().perturb(values[1:], rng)


class ItsOwnClient(OUE):
    def perturb(self, values, rng):
        return super().perturb(values, np.random.default_rng())


class ItsOwnSampler(OUE):
    def sample_support(self, counts, rng):
        return super().sample_support(counts, np.random.default_rng())


class ScalarSupport(OUE):
    def support(self, reports):
        return super().support(reports).sum()


class RealSupport(OUE):
    def support(self, reports):
        return super().support(reports).astype(float)


class OneRowOnly(OUE):
    def sample_support(self, counts, rng):
        return super().sample_support(counts.reshape(-1, self.k)[:1].reshape(self.k), rng)


class RealSample(OUE):
    def sample_support(self, counts, rng):
        return super().sample_support(counts, rng).astype(float)


class WritesIntoCounts(OUE):
    def sample_support(self, counts, rng):
        counts += 1
        return super().sample_support(counts, rng)


class Clipped(OUE):
    def estimate(self, support, n):
        return np.maximum(super().estimate(support, n), 0.0)


class SinglePrecision(OUE):
    def estimate(self, support, n):
        return super().estimate(support, n).astype(np.float32)


class SamplerOff(OUE):
    def sample_support(self, counts, rng):
        return binomial_support(counts, self.p, 1.05 * self.q, rng)


class ClientOff(OUE):
    def perturb(self, values, rng):
        bits = super().perturb(values, rng)
        return bits | (rng.random(bits.shape) < 0.02).astype(np.uint8)


class SamplerTooQuiet(OUE):
    def sample_support(self, counts, rng):
        mean = counts * self.p + (counts.sum(axis=-1, keepdims=True) - counts) * self.q
        drawn = super().sample_support(counts, rng)
        return np.floor(mean + 0.8 * (drawn - mean) + rng.random(counts.shape)).astype(np.int64)


class WithoutCorrelation(GRR):
    """Right in every value by itself; only the sum shows that reports of one value exclude the others."""

    sums_to_one = False

    def sample_support(self, counts, rng):
        return binomial_support(counts, self.p, self.q, rng)

    def replay_support(self, counts, rng):
        drawn = super().replay_support(counts, rng)
        return drawn + (rng.random(counts.shape) < 0.5) - (rng.random(counts.shape) < 0.5)


class StatesTooMuch(OUE):
    def noise(self, n):
        return replace(super().noise(n), variance_at_zero=1.3 * super().noise(n).variance_at_zero)


class WithoutTheFrequencyTerm(GRR):
    def noise(self, n):
        return replace(super().noise(n), variance_slope=0.0)


class UserByUser(OUE):
    def sample_support(self, counts, rng):
        return self.replay_support(counts, rng)


class NotSoManyUsers(OUE):
    def sample_support(self, counts, rng):
        return super().sample_support(np.minimum(counts, 10**8), rng)


class CannotDraw(OUE):
    def sample_support(self, counts, rng):
        raise KeyError(counts.shape, rng)


class Unnamed(OUE):
    title = " "


class AnyTree(Tree):
    def __post_init__(self):
        object.__setattr__(self, "k", max(self.k, 2))
        super().__post_init__()


class ShiftedTree(Tree):
    def sample_tally(self, counts, rng):
        return super().sample_tally(np.roll(counts, 1, axis=-1), rng)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (FrequencyOracle, "defines all it leaves open"),
        (GRR(4, 1.0), "a protocol is a subclass"),
        (Protocol, "a protocol is a subclass"),
        (AnyTree, "must refuse k=1"),
        (ShiftedTree, "must have the means and variances"),
        (Unnamed, "title must be a text"),
        (AnyDomain, "must refuse k=1"),
        (AnyBudget, "must refuse k=8, epsilon=0"),
        (NotANumberPasses, "must refuse k=8, epsilon=nan"),
        (Swapped, "0 <= q < p <= 1"),
        (HalfOfThem, "both be numbers or both None"),
        (NoBits, "report_bits must be a whole number"),
        (HalfABit, "report_bits must be a whole number"),
        (NothingGivenAway, "attack_success must be a probability"),
        (LessThanBlind, "attack_success must lie between"),
        (MoreThanAllowed, "attack_success must lie between"),
        (NoiseOfOthers, r"noise\(1000\) must hold n, p and q"),
        (NoNoise, "must be positive and finite"),
        (NoUsersAreFine, "n=0.* must be refused"),
        (ClaimsTheSum, "sums_to_one is True, but the raw estimates do not"),
        (DeniesTheSum, "sums_to_one is False, but the raw estimates always"),
        (TwoOpinionsOnTheSum, "must say the same"),
        (CountsThatAreReal, "support_dtype must be int64"),
        (OneShort, "one report a user, got 299 for 300"),
        (ItsOwnClient, "perturb must draw from the generator"),
        (ItsOwnSampler, "sample_support must draw from the generator"),
        (ScalarSupport, r"support must give shape \(2,\)"),
        (RealSupport, "support must give int64, got float64"),
        (OneRowOnly, "sample_support must keep the shape"),
        (RealSample, "sample_support must give int64, got float64"),
        (WritesIntoCounts, "drawing must not fail, but raised ValueError.*read-only"),
        (Clipped, "estimates from replay_support must be unbiased"),
        (SinglePrecision, "estimate must give finite float64"),
        (SamplerOff, "estimates from sample_support must be unbiased"),
        (ClientOff, "estimates from replay_support must be unbiased"),
        (SamplerTooQuiet, "must have the same variance"),
        (WithoutCorrelation, "same variance, but that of the (alternating )?sum"),
        (StatesTooMuch, "must be as stated"),
        (WithoutTheFrequencyTerm, "must be as stated"),
        (UserByUser, "must not depend on n"),
        (NotSoManyUsers, "1,000,000,000 users must be within their noise"),
        (CannotDraw, "must not fail, but raised KeyError"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_protocol_is_caught(broken, sentence):
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_protocol(broken)
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------------ methods


def method_of(function, *, nonnegative=False, sums_to_one=False, **claims):
    return PostProcessor("broken", "Broken", function, nonnegative, sums_to_one, **{"reference": "none", **claims})


def writes(estimate, noise):
    estimate[...] = noise.sd
    return estimate.copy()


def fails(estimate, noise):
    raise ZeroDivisionError(f"{estimate}\n{noise}")


def neighbours(estimate, noise):
    return (estimate + np.roll(estimate, 1, axis=-1)) / 2 + 0 * noise.sd


def of_tallies(function):
    needs = frozenset({"local_likelihood", "order"})
    return method_of(function, nonnegative=True, sums_to_one=True, keeps_order=False, needs=needs)


def counts_alone(observed):
    """Of the square wave: its outputs in the middle, as if each were the value behind it."""
    k = observed.likelihood.shape[0]
    margin = (observed.tally.counts.shape[-1] - k) // 2
    inside = observed.tally.counts[..., margin : margin + k] + 1.0
    return inside / inside.sum(axis=-1, keepdims=True)


def averaged_rows(observed):
    each = counts_alone(observed)
    return (each + each.reshape(-1, each.shape[-1]).mean(axis=0)) / 2


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda o: o.tally.counts / o.tally.n, "tallies of sw .* the shape .* must be kept"),
        (lambda o: counts_alone(o).astype(np.float32), "tallies of sw .* must be float64"),
        (lambda o: counts_alone(o) / 2, "tallies of sw .* claims sums_to_one"),
        (averaged_rows, "tallies of sw .* exactly what its rows give"),
        (lambda o: o.estimate * 1.0, "tallies of sw .* must not fail, but raised TypeError"),
    ],
)
def test_a_broken_method_of_tallies_is_caught(function, sentence):
    with pytest.raises(ConformanceError, match=sentence):
        check_postprocessor(of_tallies(function))
    check_postprocessor(of_tallies(counts_alone))


def breaks_ties(estimate, noise):
    return estimate + noise.sd * np.arange(estimate.shape[-1])


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (lambda e, noise: e, "a method is a PostProcessor"),
        (method_of(lambda e, noise: e.copy(), reference=""), "reference must be a text"),
        (method_of(lambda e, noise: e.sum(axis=-1)), "shape .* must be kept"),
        (method_of(lambda e, noise: e.astype(np.float32)), "must be float64"),
        (method_of(lambda e, noise: e), "share memory"),
        (method_of(writes), "must not fail, but raised ValueError.*read-only"),
        (method_of(fails), "must not fail, but raised ZeroDivisionError"),
        (method_of(lambda e, noise: np.log(np.maximum(e, 0), out=np.full_like(e, -np.inf), where=e > 0)), "finite"),
        (method_of(lambda e, noise: e.copy(), nonnegative=True), "claims nonnegative"),
        (method_of(lambda e, noise: np.maximum(e, 0), sums_to_one=True), "claims sums_to_one"),
        (method_of(lambda e, noise: e / max(1.0, np.abs(e).max())), "exactly what its rows give"),
        (method_of(lambda e, noise: -e), "claims keeps_order"),
        (method_of(breaks_ties), "claims keeps_order"),
        (method_of(neighbours, keeps_order=False), "does not claim ordered_only"),
        (method_of(lambda e, noise: e / 2, queries_only=True), "claims queries_only"),
        (method_of(lambda e, noise: e.copy(), fits=lambda noise, k: False), "at least one built-in protocol"),
        (method_of(lambda e, noise: e.copy(), fits=lambda noise, k: noise.p > 0), "fits must not fail"),
        (method_of(lambda e, noise: e * noise.p), "noise of she .* must not fail, but raised TypeError"),
    ],
)
def test_a_broken_method_is_caught(broken, sentence):
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_postprocessor(broken)
    assert "\n" not in str(caught.value)


def test_a_method_that_says_what_it_is_for_passes():
    check_postprocessor(method_of(neighbours, keeps_order=False, ordered_only=True))
    check_postprocessor(method_of(lambda e, noise: e * noise.p, fits=lambda noise, k: noise.p is not None))


# ------------------------------------------------------------------------------------------------------------ metrics


def metric_of(function, **claims):
    return Metric("broken", "Broken", function, **{"unit": "frequency", **claims})


@dataclass(eq=False)
class Counter:
    calls: int = 0

    def __call__(self, estimate, truth):
        self.calls += 1
        return mse(estimate, truth) + self.calls


def writes_truth(estimate, truth):
    truth[0] = 0.5
    return mse(estimate, truth)


def relative(estimate, truth):
    with np.errstate(all="ignore"):
        return mse(estimate, truth) / np.abs(estimate).sum(axis=-1)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (mse, "a metric is a Metric"),
        (metric_of(mse, unit=""), "unit must be a text"),
        (metric_of(lambda e, t: np.abs(e - t)), "must give errors of shape"),
        (metric_of(lambda e, t: np.float64(((e - t) ** 2).sum())), "must give errors of shape"),
        (metric_of(lambda e, t: mse(e, t) / max(1e-9, np.max(mse(e, t), initial=0.0))), "exactly the errors"),
        (metric_of(Counter()), "exactly the errors"),
        (metric_of(lambda e, t: (e - t).mean(axis=-1)), "finite and at least 0"),
        (metric_of(relative), "all zero: an error is finite"),
        (metric_of(lambda e, t: mse(e, t) + 1.0), "nearly 0"),
        (metric_of(lambda e, t: 0.0 * mse(e, t)), "worse estimates must have larger errors"),
        (metric_of(lambda e, t: 1 / (1 + mse(e, t))), "worse estimates must have larger errors"),
        (metric_of(emd), "does not claim ordered_only"),
        (metric_of(writes_truth), "must not fail, but raised ValueError.*read-only"),
        (metric_of(lambda e, t, weight: weight * mse(e, t)), "must not fail, but raised TypeError.*weight"),
        (metric_of(mse, clipped=lambda e, t: 2 * mse(e, t)), "where no query answer is negative"),
        (metric_of(mse, clipped=lambda e, t: -mse(e, t)), "clipped, .*finite and at least 0"),
    ],
)
def test_a_broken_metric_is_caught(broken, sentence):
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_metric(broken)
    assert "\n" not in str(caught.value)


def test_a_metric_with_a_setting_of_its_own_passes():
    check_metric(metric_of(lambda e, t, exponent=2: (np.abs(e - t) ** exponent).sum(axis=-1), options={"exponent": 3}))
