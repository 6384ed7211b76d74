"""The checks shipped for authors: all members pass, and a protocol that breaks any of its promises is caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.conformance import ConformanceError, check_metric, check_postprocessor, check_protocol
from simulator.methods import POSTPROCESSORS
from simulator.metrics import METRICS
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import binomial_support
from simulator.protocols.protocol import Protocol
from simulator.protocols.summation import SHE
from simulator.protocols.tree import Tree
from simulator.protocols.unary import OUE
from tests.cells import failures

DEAR = ("eb_ns", "power", "power_ns")  # take a second
QUICK = [name for name, one in POSTPROCESSORS.items() if "suspects" not in one.needs and name not in DEAR]


@pytest.mark.slow
@pytest.mark.parametrize("key", PROTOCOLS)
def test_every_protocol_conforms(key):
    assert check_protocol(PROTOCOLS[key]) is None


@pytest.mark.parametrize("names", [QUICK, pytest.param(DEAR, marks=pytest.mark.slow)], ids=["quick", "dear"])
def test_every_method_conforms(names):
    assert failures(names, lambda name: check_postprocessor(POSTPROCESSORS[name])) == {}


def test_every_metric_conforms():
    assert failures(METRICS, lambda name: check_metric(METRICS[name])) == {}


def test_right_protocols_pass_with_another_seed():
    check_protocol(OUE, seed=1)
    check_protocol(GRR, seed=2)


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


def is_caught(cell):
    broken, sentence = cell
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_protocol(broken)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_users_one_by_one_are_caught():
    is_caught((UserByUser, "must not depend on n"))


def test_a_broken_protocol_is_caught():
    cells = [
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
        (NotSoManyUsers, "1,000,000,000 users must be within their noise"),
        (CannotDraw, "must not fail, but raised KeyError"),
    ]
    assert failures(cells, is_caught) == {}
