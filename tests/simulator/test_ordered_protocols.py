import itertools
from decimal import Decimal, getcontext
from functools import cache, cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from simulator import METRICS, PROTOCOLS
from simulator.benchmark import Experiment, simulate
from simulator.conformance import check_collection
from simulator.domain import ORDERED
from simulator.methods import POSTPROCESSORS
from simulator.populations import apportion, frequencies
from simulator.protocols.grr import GRR
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import HalfTree, Tree
from simulator.seeding import rng_for
from tests.cells import over

from .law import ChannelLaw, accept, check_covariance, check_mean, two_sided

MEMBERS = (Tree, HalfTree, SquareWave, HaarHadamard)
SIZES = (3, 5, 6, 8)
DRAWS = 2500


def tree_reports(protocol):
    """Heights with their shares; unary encoding of the nodes, or randomised response where they are few."""
    e, k = np.exp(protocol.epsilon), protocol.k
    heights = int(np.ceil(np.log2(k)))
    reports, chance = [], []
    for height in range(heights):
        share = (1 - protocol.leaf_share) / heights + (protocol.leaf_share if height == 0 else 0)
        node = np.arange(k) // 2**height
        m = node[-1] + 1
        unary = e + m - 2 >= 4 * e
        for bits in itertools.product((0, 1), repeat=m):
            if unary:
                other = [(1 if bit else e) / (e + 1) for bit in bits]
                flips = [[0.5 if j == own else other[j] for j in range(m)] for own in node]
                chance.append(share * np.prod(flips, axis=1))
            elif sum(bits) == 1:
                chance.append(share * np.where(node == bits.index(1), e, 1) / (e + m - 1))
            else:
                continue
            reports.append([height, *bits, *[0] * (k - m)])
    return np.array(reports, dtype=np.uint8), np.array(chance).T


def wave_reports(protocol):
    """The discrete square wave, with its published width."""
    e, k, epsilon = np.exp(protocol.epsilon), protocol.k, protocol.epsilon
    b = int(np.floor(k * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))))
    places = np.arange(k + 2 * b)
    near = np.abs(places - (np.arange(k)[:, None] + b)) <= b
    return places, np.where(near, e, 1) / ((2 * b + 1) * e + k - 1)


def haar_reports(protocol):
    """All rows of the Hadamard matrices of all heights, and both bits."""
    e, k = np.exp(protocol.epsilon), protocol.k
    heights = int(np.ceil(np.log2(k)))
    chance = []
    for height in range(1, heights + 1):
        order = 2 ** int(np.ceil(np.log2(np.ceil(k / 2**height))))
        for row, bit in itertools.product(range(order), (-1, 1)):
            sign = [
                (-1) ** (bin(row & (v >> height)).count("1")) * (1 if v % 2**height < 2 ** (height - 1) else -1)
                for v in range(k)
            ]
            chance.append(np.where(np.array(sign) == bit, e, 1) / (e + 1) / heights / order)
    return np.arange(len(chance)), np.array(chance).T


@cache
def reports_of(protocol):
    kinds = {SquareWave: wave_reports, HaarHadamard: haar_reports}
    return kinds.get(type(protocol), tree_reports)(protocol)


class EnumeratedLaw(ChannelLaw):
    """The law of the tally, from the probability of every report and the tally of it alone."""

    @classmethod
    def of(cls, protocol, counts):
        reports, chance = reports_of(protocol)
        cells = np.stack([protocol.tally(reports[row : row + 1]).counts for row in range(len(reports))])
        return cls(SimpleNamespace(k=cells.shape[1], channel=(chance, cells)), tuple(int(count) for count in counts))

    @cached_property
    def channel(self):
        return self.oracle.channel


def population(k):
    return apportion(np.arange(1, k + 1) ** -0.7, 150)


def drawn(protocol, times, name):
    rng = rng_for(0, "ordered", name, protocol.key, protocol.k)
    return protocol.sample_tally(np.broadcast_to(population(protocol.k), (times, protocol.k)), rng).counts


SETTINGS = [member(k, epsilon) for member in MEMBERS for k in SIZES for epsilon in (0.4, 2.0)]
# Unary encoding at two heights, the last node of the second smaller than the others.
SETTINGS += [member(11, 0.1) for member in (Tree, HalfTree)]
FEW = [protocol for protocol in SETTINGS if (protocol.k, protocol.epsilon) in ((8, 2.0), (11, 0.1))]
# Half of the users on single values is another share of the same tree.
FEWEST = [member(8, 0.4) for member in MEMBERS if member is not HalfTree]


@over(SETTINGS)
def test_the_largest_ratio_of_probabilities_is_that_of_epsilon_and_the_best_guess_is_right_as_often_as_stated(protocol):
    _, chance = reports_of(protocol)
    np.testing.assert_allclose(chance.sum(axis=1), 1, rtol=1e-12)
    ratio = float((chance.max(axis=0) / chance.min(axis=0)).max())
    assert ratio == pytest.approx(np.exp(protocol.epsilon), rel=1e-12)
    assert protocol.attack_success == pytest.approx(chance.max(axis=0).sum() / protocol.k, rel=1e-12)


@over(FEW, slow=[protocol for protocol in SETTINGS if protocol not in FEW])
def test_reports_and_tallies_come_with_these_probabilities(protocol):
    reports, chance = reports_of(protocol)
    places = {report.tobytes(): place for place, report in enumerate(reports.astype(np.int64))}
    z = []
    for value in (0, protocol.k - 1):
        made = protocol.perturb(np.full(10_000, value), rng_for(0, "ordered", "perturb", protocol.key, value))
        seen = np.bincount([places[report.tobytes()] for report in made.astype(np.int64)], minlength=len(reports))
        common = chance[value] * len(made) > 25
        expected = chance[value][common] * len(made)
        z.append((seen[common] - expected) / np.sqrt(expected * (1 - chance[value][common])))
    assert accept(two_sided(np.concatenate(z)))
    law, draws = EnumeratedLaw.of(protocol, population(protocol.k)), drawn(protocol, DRAWS, "law")
    assert accept(check_mean(draws, law))
    assert accept(check_covariance(draws, law))


@over(itertools.product(["guess", "pair"], SETTINGS))
def test_attacks_name_a_value_as_often_as_stated(attack, protocol):
    reports, chance = reports_of(protocol)
    values = (1, protocol.k - 1)
    named = protocol.chances(reports, values, attack)
    if attack == "guess":
        best = chance >= chance.max(axis=0) * (1 - 1e-12)
        np.testing.assert_allclose(named, best[values[0]] / best.sum(axis=0), rtol=1e-12)
    for pair in (values, values[::-1], (0, 1)):
        named = protocol.chances(reports, pair, attack)
        stated = protocol.attack_probabilities(attack, pair)
        np.testing.assert_allclose(stated, [chance[value] @ named for value in pair], rtol=1e-12)
    if attack == "pair":  # the attack that comes up to the promise
        assert stated[0] / stated[1] == pytest.approx(np.exp(protocol.epsilon), rel=1e-12)


@over([*SETTINGS, *(member(k, 1.3) for member in (SquareWave, HaarHadamard) for k in (64, 100))])
def test_the_likelihood_is_that_of_the_reports(protocol):
    if protocol.likelihood is None:
        assert not isinstance(protocol, SquareWave)
        return
    _, chance = reports_of(protocol)
    rng = rng_for(0, "ordered", "likelihood")
    frequency, weights = rng.dirichlet(np.ones(protocol.k), size=2), rng.random((3, chance.shape[1]))
    np.testing.assert_allclose(protocol.likelihood.forward(frequency), frequency @ chance, rtol=1e-12)
    np.testing.assert_allclose(protocol.likelihood.backward(weights), weights @ chance.T, rtol=1e-12)


# Other sizes and budgets are those of `check_protocol`, in test_conformance.
@over(FEWEST, slow=[SquareWave(3, 2.0), *SETTINGS[-2:]])
def test_promises_of_the_interface_are_kept(protocol):
    check_collection(protocol)


LINEAR = (Tree, HalfTree, HaarHadamard)


@over(itertools.product(LINEAR, [(6, "zipf", 0.7), (13, "spike", 3.0), (16, "bimodal", 0.7)]))
def test_the_estimate_is_unbiased_and_as_variable_as_stated(member, setting):
    k, shape, epsilon = setting
    protocol, n = member(k, epsilon), 200_000
    counts = apportion(frequencies(shape, k), n)
    tally = protocol.sample_tally(np.broadcast_to(counts, (DRAWS, k)), rng_for(0, "ordered", "estimate", k))
    errors = protocol.linear.estimate(tally) - counts / n
    stated = protocol.linear.covariance(n).entry(counts / n)
    squares = errors**2 - stated
    assert accept(two_sided(errors.mean(axis=0) / np.sqrt(stated / DRAWS)))
    assert accept(two_sided(squares.mean(axis=0) / squares.std(axis=0) * np.sqrt(DRAWS)))


def test_equal_frequencies_have_the_published_variances():
    """Unit precisions of a full tree: those of all heights below, with the users' own frequencies in them."""
    k, n, epsilon = 64, 10_000, 1.0
    protocol = Tree(k, epsilon)
    e = np.exp(epsilon)
    variances = protocol.linear.covariance(n).haar(k)
    for t in range(1, 7):
        information = 0.0
        for lower in range(t):
            m = k >> lower
            if e + m - 2 < 4 * e:
                v = 1 / (m * ((e - 1) / (e + m - 1)) ** 2)
            else:
                p, q = 0.5, 1 / (e + 1)
                mean = p / m + (1 - 1 / m) * q
                v = (mean * (1 - mean) + (p - q) ** 2 / m**2) / (p - q) ** 2
            information += n / 6 * 2**lower / (2**t * v)
        # That takes users as drawn at random; what n users hold is fixed, which takes off the share of the node.
        np.testing.assert_allclose(variances[t - 1], 1 / information - 2**t / k / n, rtol=1e-12)
    haar = HaarHadamard(k, epsilon).linear.covariance(n).haar(k)
    np.testing.assert_allclose(haar[2], ((e + 1) / (e - 1)) ** 2 / (n / 6) - 8 / k / n, rtol=1e-12)


@over([1e-6, 1e-3, 0.01, 1.0, 8.0, 32.0])
def test_a_wave_is_as_wide_as_published(epsilon):
    getcontext().prec = 60
    x, k = Decimal(repr(epsilon)), 100_000
    e = x.exp()
    assert SquareWave(k, epsilon).reach == int(k * (x * e - e + 1) / (2 * e * (e - 1 - x)))


def test_two_values_are_one_randomised_bit():
    for epsilon in (0.5, 3.0):
        flat = GRR(2, epsilon)
        for member in (Tree, HalfTree, HaarHadamard):
            assert member(2, epsilon).attack_success == pytest.approx(flat.attack_success)
            own = member(2, epsilon).linear.covariance(1000).entry(np.array([0.3, 0.7]))
            np.testing.assert_allclose(own, flat.noise(1000).entry(np.array([0.3, 0.7])), rtol=1e-9)


@pytest.mark.parametrize("member", MEMBERS)
def test_nobody_reporting_is_no_error(member):
    protocol = member(9, 1.0)
    one = protocol.sample_tally(np.eye(9, dtype=np.int64)[3], rng_for(0, "one"))
    assert one.n == 1
    if protocol.linear is not None:
        estimate = protocol.linear.estimate(one)
        assert np.isfinite(estimate).all()
        assert estimate.sum() == pytest.approx(1)


def test_they_run_through_an_experiment_whose_numbers_do_not_depend_on_blocks():
    pairs = (("tree", "tree_eb"), ("tree_half", "iso_cdf"), ("sw", "em_stopped"), ("haar_hrr", "tree_eb"))
    counts, members = (
        apportion(frequencies("gaussian", 64), 20_000),
        {key: PROTOCOLS[key](64, 1.0) for key, _ in pairs},
    )
    task = Experiment(counts, members, POSTPROCESSORS, {"emd": METRICS["emd"]}, pairs, domain=ORDERED)
    one, two = simulate(task, 0, 3), simulate(task, 0, 1) + simulate(task, 1, 2, jobs=2)
    for pair in pairs:
        np.testing.assert_array_equal(one.errors[pair], two.errors[pair])


class LateWave(SquareWave):
    def perturb(self, values, rng):
        return (super().perturb(values, rng) + 1) % self.symbols


class DeafHaar(HaarHadamard):
    @property
    def kept(self):
        return 1 - 1 / (1 + np.exp(self.epsilon)) * 1.3


@pytest.mark.parametrize("wrong", [LateWave, DeafHaar])
def test_wrong_probabilities_are_found(wrong):
    protocol = wrong(8, 1.5)
    reports, chance = (wave_reports if wrong is LateWave else haar_reports)(protocol)
    made = protocol.perturb(np.full(20_000, 3), rng_for(0, "ordered", "wrong"))
    expected = chance[3] * len(made)
    z = (np.bincount(made, minlength=len(reports)) - expected) / np.sqrt(expected * (1 - chance[3]))
    assert not accept(two_sided(z))


def test_a_wrong_law_is_found():
    law = EnumeratedLaw.of(Tree(6, 0.7), population(6))
    assert not accept(check_mean(drawn(HalfTree(6, 0.7), DRAWS, "wrong"), law))
    scattered = drawn(Tree(6, 0.7), DRAWS, "wrong").astype(float)
    scattered = law.mean + 1.1 * (scattered - law.mean)
    assert not accept(check_covariance(scattered, law))
