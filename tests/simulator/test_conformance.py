import itertools
from dataclasses import replace

import numpy as np
import pytest

from simulator.conformance import ConformanceError, check_metric, check_postprocessor, check_protocol
from simulator.methods import POSTPROCESSORS, PostProcessor
from simulator.metrics import METRICS, Metric, emd, mse
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.grr import GRR
from simulator.protocols.oracle import binomial_support
from simulator.protocols.protocol import Protocol
from simulator.protocols.tree import Tree
from simulator.protocols.unary import OUE, SHE
from tests.cells import failures

DEAR = ("eb_ns", "power", "power_ns")  # take a second
QUICK = [name for name, one in POSTPROCESSORS.items() if "suspects" not in one.needs and name not in DEAR]


def caught_by(check):
    """Return what tries a cell of a broken member and the sentence that it must be refused with, in one line."""

    def is_caught(cell):
        broken, sentence = cell
        with pytest.raises(ConformanceError, match=sentence) as caught:
            check(broken)
        assert "\n" not in str(caught.value)

    return is_caught


@pytest.mark.slow
@pytest.mark.parametrize("key", PROTOCOLS)
def test_every_protocol_conforms(key):
    assert check_protocol(PROTOCOLS[key]) is None


@pytest.mark.parametrize("names", [QUICK, pytest.param(DEAR, marks=pytest.mark.slow)], ids=["quick", "dear"])
def test_every_method_conforms(names):
    assert failures(names, lambda name: check_postprocessor(POSTPROCESSORS[name])) == {}


def test_every_metric_conforms():
    assert failures(METRICS, lambda name: check_metric(METRICS[name])) == {}


def test_right_members_pass():
    check_protocol(OUE, seed=1)
    check_protocol(GRR, seed=2)
    check_postprocessor(method_of(neighbours, keeps_order=False, ordered_only=True))
    check_postprocessor(of_tallies(counts_alone))
    check_postprocessor(method_of(lambda e, noise: e * noise.p, fits=lambda noise, k: noise.p is not None))
    check_metric(metric_of(lambda e, t, exponent=2: (np.abs(e - t) ** exponent).sum(axis=-1), options={"exponent": 3}))


def broken(base, **parts):
    return type("Broken", (base,), {"__module__": __name__, **parts})


def valued(base, **values):
    """A protocol with these properties instead of its own."""
    return broken(base, **{name: property(lambda _, value=value: value) for name, value in values.items()})


def any_domain(base):
    def begin(self):
        object.__setattr__(self, "k", max(self.k, 2))
        base.__post_init__(self)

    return broken(base, __post_init__=begin)


def budgets(taken):
    """Randomised response that looks at a budget only where it is not taken as it is."""
    return broken(GRR, __post_init__=lambda self: None if taken(self.epsilon) else GRR.__post_init__(self))


def noise(base, change):
    """A protocol whose noise is said to be other than it is."""
    return broken(base, noise=lambda self, n: change(base.noise(self, n)))


def estimated(change):
    return broken(OUE, estimate=lambda self, support, n: change(OUE.estimate(self, support, n)))


def sampled(draw):
    return broken(OUE, sample_support=draw)


def of_other_q(self, counts, rng):
    return binomial_support(counts, self.p, 1.05 * self.q, rng)


def not_so_many(self, counts, rng):
    return OUE.sample_support(self, np.minimum(counts, 10**8), rng)


def writes_into_counts(self, counts, rng):
    counts += 1
    return OUE.sample_support(self, counts, rng)


def one_row_only(self, counts, rng):
    return OUE.sample_support(self, counts.reshape(-1, self.k)[:1].reshape(self.k), rng)


def too_quiet(self, counts, rng):
    mean = counts * self.p + (counts.sum(axis=-1, keepdims=True) - counts) * self.q
    drawn = OUE.sample_support(self, counts, rng)
    return np.floor(mean + 0.8 * (drawn - mean) + rng.random(counts.shape)).astype(np.int64)


def cannot_draw(self, counts, rng):
    raise KeyError(counts.shape, rng)


def one_in_fifty_flipped_on(self, values, rng):
    bits = OUE.perturb(self, values, rng)
    return bits | (rng.random(bits.shape) < 0.02).astype(np.uint8)


def jittered_replay(self, counts, rng):
    """Only the sum shows that reports of one value exclude the others."""
    drawn = GRR.replay_support(self, counts, rng)
    return drawn + (rng.random(counts.shape) < 0.5) - (rng.random(counts.shape) < 0.5)


@pytest.mark.slow
def test_users_one_by_one_are_caught():
    one_by_one = sampled(lambda self, counts, rng: self.replay_support(counts, rng))
    caught_by(check_protocol)((one_by_one, "must not depend on n"))


def test_a_broken_protocol_is_caught():
    without_correlation = broken(
        GRR,
        sums_to_one=False,
        sample_support=lambda self, counts, rng: binomial_support(counts, self.p, self.q, rng),
        replay_support=jittered_replay,
    )
    rolled = broken(Tree, sample_tally=lambda self, counts, rng: Tree.sample_tally(self, np.roll(counts, 1, -1), rng))
    swapped = broken(OUE, p=property(lambda self: OUE.q.fget(self)), q=property(lambda self: OUE.p.fget(self)))
    own = np.random.default_rng
    cells = [
        (FrequencyOracle, "it lacks the text key"),
        (GRR(4, 1.0), "this is a GRR, a protocol is a Channel or a function"),
        (Protocol, "a class of two methods, perturb"),
        (any_domain(Tree), "must refuse k=1"),
        (rolled, "must have the means and variances"),
        (broken(OUE, title=" "), "it lacks the text title"),
        (any_domain(GRR), "must refuse k=1"),
        (budgets(lambda epsilon: not epsilon > 0), "must refuse k=8, epsilon=0"),
        (budgets(np.isnan), "must refuse k=8, epsilon=nan"),
        (swapped, "0 <= q < p <= 1"),
        (valued(SHE, p=0.5), "both be numbers or both None"),
        (valued(OUE, report_bits=0), "report_bits must be a whole number"),
        (valued(OUE, report_bits=4.5), "report_bits must be a whole number"),
        (valued(OUE, attack_success=0.0), "attack_success must be a probability"),
        (broken(OUE, attack_success=property(lambda self: 0.5 / self.k)), "attack_success must lie between"),
        (valued(OUE, attack_success=1.0), "attack_success must lie between"),
        (broken(OUE, noise=lambda self, n: OUE.noise(self, n + 1)), r"noise\(1000\) must hold n, p and q"),
        (noise(OUE, lambda own: replace(own, variance_at_zero=0.0)), "must be positive and finite"),
        (broken(OUE, noise=lambda self, n: OUE.noise(self, max(n, 1))), "n=0.* must be refused"),
        (broken(OUE, sums_to_one=True), "sums_to_one is True, but the raw estimates do not"),
        (broken(GRR, sums_to_one=False), "sums_to_one is False, but the raw estimates always"),
        (noise(GRR, lambda own: replace(own, sums_to_one=False)), "must say the same"),
        (broken(OUE, support_dtype=np.float64), "support_dtype must be int64"),
        (broken(OUE, perturb=lambda self, v, rng: OUE.perturb(self, v[1:], rng)), "report a user, got 299 for 300"),
        (broken(OUE, perturb=lambda self, v, _: OUE.perturb(self, v, own())), "perturb must draw from the generator"),
        (sampled(lambda self, c, _: OUE.sample_support(self, c, own())), "sample_support must draw from the generator"),
        (broken(OUE, support=lambda self, y: OUE.support(self, y).sum()), r"support must give shape \(2,\)"),
        (broken(OUE, support=lambda self, y: OUE.support(self, y) * 1.0), "support must give int64, got float64"),
        (sampled(one_row_only), "sample_support must keep the shape"),
        (sampled(lambda self, c, rng: OUE.sample_support(self, c, rng) * 1.0), "must give int64, got float64"),
        (sampled(writes_into_counts), "drawing must not fail, but raised ValueError.*read-only"),
        (estimated(lambda own: np.maximum(own, 0.0)), "estimates from replay_support must be unbiased"),
        (estimated(lambda own: own.astype(np.float32)), "estimate must give finite float64"),
        (sampled(of_other_q), "estimates from sample_support must be unbiased"),
        (broken(OUE, perturb=one_in_fifty_flipped_on), "estimates from replay_support must be unbiased"),
        (sampled(too_quiet), "must have the same variance"),
        (without_correlation, "same variance, but that of the (alternating )?sum"),
        (noise(OUE, lambda own: replace(own, variance_at_zero=1.3 * own.variance_at_zero)), "must be as stated"),
        (noise(GRR, lambda own: replace(own, variance_slope=0.0)), "must be as stated"),
        (sampled(not_so_many), "1,000,000,000 users must be within their noise"),
        (sampled(cannot_draw), "must not fail, but raised KeyError"),
    ]
    assert failures(cells, caught_by(check_protocol)) == {}


def method_of(function, **claims):
    claims = {"nonnegative": False, "sums_to_one": False, "reference": "none", **claims}
    return PostProcessor("broken", "Broken", function, **claims)


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


def breaks_ties(estimate, noise):
    return estimate + noise.sd * np.arange(estimate.shape[-1])


def test_a_broken_method_is_caught():
    cells = [
        (mse.__class__, "a method is a function or a PostProcessor"),
        (method_of(lambda e, noise: e.copy(), reference=""), "reference must be a text"),
        (method_of(lambda e, noise: e.sum(axis=-1)), "shape .* must be kept"),
        (method_of(lambda e, noise: e.astype(np.float32)), "must be float64"),
        (method_of(lambda e, noise: e), "share memory"),
        (method_of(writes), "must not fail, but raised ValueError.*read-only"),
        (method_of(fails), "must not fail, but raised ZeroDivisionError"),
        (method_of(lambda e, noise: np.log(np.maximum(e, 0), out=np.full_like(e, -np.inf), where=e > 0)), "finite"),
        (method_of(lambda e, noise: e.copy(), nonnegative=True), "claims nonnegative"),
        (method_of(lambda e, noise: np.maximum(e, 0), sums_to_one=True), "claims sums_to_one"),
        (method_of(lambda e, noise: e / max(1.0, np.abs(e).max())), "what its rows give"),
        (method_of(lambda e, noise: np.atleast_2d(e.copy())), "what its rows give"),
        (method_of(lambda e, noise: -e), "claims keeps_order"),
        (method_of(breaks_ties), "claims keeps_order"),
        (method_of(neighbours, keeps_order=False), "does not claim ordered_only"),
        (method_of(lambda e, noise: e / 2, queries_only=True), "claims queries_only"),
        (method_of(lambda e, noise: e.copy(), fits=lambda noise, k: False), "at least one built-in protocol"),
        (method_of(lambda e, noise: e.copy(), fits=lambda noise, k: noise.p > 0), "fits must not fail"),
        (method_of(lambda e, noise: e * noise.p), "noise of she .* must not fail, but raised TypeError"),
        (of_tallies(lambda o: o.tally.counts / o.tally.n), "tallies of sw .* the shape .* must be kept"),
        (of_tallies(lambda o: counts_alone(o).astype(np.float32)), "tallies of sw .* must be float64"),
        (of_tallies(lambda o: counts_alone(o) / 2), "tallies of sw .* claims sums_to_one"),
        (of_tallies(averaged_rows), "tallies of sw .* what its rows give"),
        (of_tallies(lambda o: o.estimate * 1.0), "tallies of sw .* must not fail, but raised TypeError"),
    ]
    assert failures(cells, caught_by(check_postprocessor)) == {}


def metric_of(function, **claims):
    return Metric("broken", "Broken", function, **{"unit": "frequency", **claims})


def counted():
    calls = itertools.count()
    return lambda estimate, truth: mse(estimate, truth) + next(calls)


def writes_truth(estimate, truth):
    truth[0] = 0.5
    return mse(estimate, truth)


def relative(estimate, truth):
    with np.errstate(all="ignore"):
        return mse(estimate, truth) / np.abs(estimate).sum(axis=-1)


def test_a_broken_metric_is_caught():
    cells = [
        (3, "a metric is a function or a Metric"),
        (metric_of(mse, unit=""), "unit must be a text"),
        (metric_of(lambda e, t: np.abs(e - t)), "must give errors of shape"),
        (metric_of(lambda e, t: np.float64(((e - t) ** 2).sum())), "must give errors of shape"),
        (metric_of(lambda e, t: mse(e, t) / max(1e-9, np.max(mse(e, t), initial=0.0))), "exactly the errors"),
        (metric_of(counted()), "exactly the errors"),
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
    ]
    assert failures(cells, caught_by(check_metric)) == {}
