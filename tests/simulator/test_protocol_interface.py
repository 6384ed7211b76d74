import math
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.audit import protocol_subject, run_audit
from simulator.benchmark import Experiment
from simulator.channels import krr, planar_geometric
from simulator.channels.channel import InversionCovariance
from simulator.conformance import ConformanceError, check_collection
from simulator.domain import ORDERED, UNORDERED, Domain
from simulator.gains import gains
from simulator.methods import observe, possible
from simulator.methods.wavelet import wavelet_eb
from simulator.places import Places
from simulator.poisoning import MAXIMAL, Attack
from simulator.populations import apportion, frequencies
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.protocols.likelihood import MatrixLikelihood
from simulator.protocols.oracle import Noise
from simulator.protocols.protocol import Linear, Protocol, Tally, users_of
from simulator.protocols.tree import Tree
from tests.cells import over

K, N = 8, 20_000
TREES = ("tree", "tree_half", "haar_hrr")
COUNTS = apportion(frequencies("gaussian", K), N)


@dataclass(frozen=True)
class Wave(Protocol):
    """More outputs than inputs, and no usable linear estimate: a square wave (Li et al., SIGMOD 2020).

    A report is the number of an output, drawn from a row of a matrix.
    """

    k: int
    epsilon: float

    key, title, reference, report_kind, report_bits = "wave", "A toy", "this test", "own", 4
    width = 1

    @cached_property
    def matrix(self):
        near = np.arange(self.k + 2 * self.width) - np.arange(self.k)[:, None]
        weights = np.where((near >= 0) & (near <= 2 * self.width), math.exp(self.epsilon), 1.0)
        return weights / weights.sum(axis=1, keepdims=True)

    @property
    def attack_success(self):
        return float(self.matrix.max(axis=0).sum() / self.k)

    @cached_property
    def likelihood(self):
        return MatrixLikelihood(self.matrix)

    def perturb(self, values, rng):
        running = np.cumsum(self.matrix, axis=1)[values]
        return (rng.random((len(values), 1)) > running).sum(axis=1).clip(max=self.matrix.shape[1] - 1)

    def tally(self, reports):
        return Tally(np.bincount(reports, minlength=self.matrix.shape[1]), len(reports))

    def sample_tally(self, counts, rng):
        rows = counts.reshape(-1, self.k)
        drawn = np.stack([rng.multinomial(row, self.matrix).sum(axis=0) for row in rows])
        return Tally(drawn.reshape(*counts.shape[:-1], -1), users_of(counts))


METHODS = {name: one for name, one in POSTPROCESSORS.items() if not one.is_remedy}
MENU = {"wave": Wave(K, 1.5), "krr": krr(K, 1.5)} | {key: PROTOCOLS[key](K, 1.5) for key in ("grr", "sw", *TREES)}


def test_a_pair_is_possible_where_the_protocol_provides_what_the_method_needs():
    fitting = {
        key: {name for name, method in METHODS.items() if possible(method, one, ORDERED, N)}
        for key, one in MENU.items()
    }
    em, plain = (
        {"em", "ems", "em_stopped"},
        {"none", "base_pos", "post_pos", "norm", "norm_mul", "norm_sub", "norm_cut"},
    )
    assert fitting["wave"] == {"ibu"}  # its likelihood does not say that outputs lie along the order of the values
    assert fitting["sw"] == {"ibu"} | em
    assert fitting["grr"] == fitting["krr"] == set(METHODS) - {"ibu_pseudo"} - em
    for key in TREES:
        assert fitting[key] == plain | {"iso_cdf", "tree_eb"}
        assert MENU[key].provides == {"estimate", "haar"}
    for name, key in (("wavelet_eb", "grr"), ("iso_cdf", "grr"), ("norm_sub", "tree"), ("ibu", "sw")):
        assert possible(METHODS[name], MENU[key], ORDERED, N)
        assert not possible(METHODS[name], MENU[key], UNORDERED, N)
    assert possible(POSTPROCESSORS["wavelet_eb"], MENU["grr"], Domain(ground=Places(2, 4)), N)


def test_places_are_smoothed_on_their_grid_with_the_noise_of_their_channel():
    tally, noise = MENU["krr"].sample_tally(COUNTS, np.random.default_rng(0)), MENU["grr"].noise(N)
    observed = observe(MENU["krr"], tally, Domain(ground=Places(2, 4)))
    assert observed.noise.entry(COUNTS / N) == pytest.approx(noise.entry(COUNTS / N), rel=1e-9)
    found = wavelet_eb(observed.estimate, observed.noise, 2, 4)
    np.testing.assert_array_equal(POSTPROCESSORS["wavelet_eb"].apply(observed), found)


def test_more_outputs_than_values_are_estimated_by_their_likelihood_and_by_nothing_else():
    tally = MENU["wave"].sample_tally(COUNTS, np.random.default_rng(0))
    found = POSTPROCESSORS["ibu"].apply(observe(MENU["wave"], tally))
    assert np.abs(found - COUNTS / N).sum() < np.abs(1 / K - COUNTS / N).sum() / 2
    tally = MENU["wave"].sample_tally(COUNTS, np.random.default_rng(0))
    with pytest.raises(ValueError, match="not for the noise of this protocol"):
        POSTPROCESSORS["norm_sub"].apply(observe(MENU["wave"], tally))
    with pytest.raises(ValueError, match="a method needs some of"):
        replace(POSTPROCESSORS["norm_sub"], needs=frozenset({"truth"}))


# Those for ordered domains are in test_ordered_protocols; of the slow ones most are like others, two take long.
QUICK = ("grr", "olh", "hr")
SLOW = [member(6, 1.0) for key, member in PROTOCOLS.items() if key not in (*ORDERED_PROTOCOLS, *QUICK)]
GRIDS = [planar_geometric(Places(*shape), 0.7) for shape in ((2, 3), (1, 5))]


@over([*(PROTOCOLS[key](6, 1.0) for key in QUICK), MENU["wave"], GRIDS[0]], slow=[*SLOW, MENU["krr"], GRIDS[1]])
def test_every_family_keeps_the_promises_of_the_interface(protocol):
    check_collection(protocol)


class Boastful(Tree):
    @property
    def linear(self):
        exact = super().linear
        return Linear(exact.estimate, lambda n: exact.covariance(2 * n))


class Forgetful(Tree):
    def tally(self, reports):
        return Tally(super().tally(reports).counts, 1)


class Unlikely(Wave):
    @cached_property
    def likelihood(self):
        return MatrixLikelihood(self.matrix[:, ::-1])


# A sampler of another law is in test_conformance.
@over([(Boastful, "variable as it states"), (Forgetful, "number of its users"), (Unlikely, "that of the tally")])
def test_broken_promises_are_found(wrong, words):
    with pytest.raises(ConformanceError, match=words):
        check_collection(wrong(K, 1.5))


@pytest.mark.parametrize("share", [None, 0.0, 0.4, 1.0])
def test_haar_variances_of_even_noise_are_those_of_the_sums(share):
    noise = Noise(100, 0.5, 0.2, 0.02, 0.01, sums_to_one=False, cancels=share)
    for k in (2, 5, 8, 13):
        shared = noise.cancelled / (k - 1)
        matrix = (0.02 + 0.01 / k) * ((1 + shared) * np.eye(k) - shared)
        sums = SimpleNamespace(of=lambda rows, matrix=matrix: rows @ matrix @ rows.T)
        for own, general in zip(noise.haar(k), InversionCovariance.haar(sums, k), strict=True):
            np.testing.assert_allclose(own, general, rtol=1e-12)


def test_channels_are_audited_and_poisoned_like_any_protocol():
    subject = protocol_subject(planar_geometric(Places(1, 8), 0.8), "pair", (3, 4))
    line = run_audit(subject, trials=20_000, alpha=1e-6, seed=0)
    assert line.epsilon_analytic == pytest.approx(0.8, rel=1e-9)  # neighbours, told apart by what is beyond them
    assert line.epsilon_guaranteed == pytest.approx(0.8, rel=1e-9)
    pairs = (("geo", "ibu"), ("geo", "norm_sub"))
    menu = {"geo": planar_geometric(Places(2, 4), 0.8)}
    task = Experiment(COUNTS, menu, POSTPROCESSORS, {}, pairs, attack=Attack(MAXIMAL, 0.1, (0,)))
    made = gains(task, pairs, repetitions=3)
    assert all(gain["maximal_gain"] > gain["random_value"] for gain in made.values())
