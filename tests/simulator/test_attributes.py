"""Ways to collect several attributes: what they promise, how exact they are, and how they stand an attack.

All against the probabilities of all reports of all tuples.
"""

import itertools
import math
from functools import cache, reduce

import numpy as np
import pytest

from simulator import PROTOCOLS, attributes
from simulator.attributes import PARTS, fake_support, loss_of_one, published_budget, sampling_errors, split_budgets
from simulator.audit import attribute_subjects, run_audit
from simulator.audit.run import log_ratio
from simulator.audit.several import _Faked, prior_of
from tests.cells import over

from .law import accept, channel_of, stream, two_sided

VARIANTS = [("grr", None), ("rappor", "z"), ("rappor", "r"), ("oue", "z"), ("oue", "r")]
FAKED = [(*one, realistic) for one in VARIANTS for realistic in (False, True) if one[1] != "z" or not realistic]
SMALL = [(2, 2), (3, 2), (2, 3), (3, 3)]  # k and attributes
RARE = 1e-6


@cache
def sent(key, fake, sizes, epsilon, *, realistic=False):
    """Return the probabilities of all tuples of reports, for every tuple of values of these domains."""
    own, faked = [], []
    for k in sizes:
        oracle = PROTOCOLS[key](k, epsilon)
        channel, supports = channel_of(oracle)
        zero = np.where(supports == 1, oracle.q, 1 - oracle.q).prod(axis=1)  # the report of no value
        shares = prior_of(k) if realistic else np.full(k, 1 / k)
        own.append(channel)
        faked.append(shares if fake is None else zero if fake == "z" else shares @ channel)
    rows, places = [], range(len(sizes))
    for values in itertools.product(*map(range, sizes)):
        parts = [[own[at][values[at]] if at == drawn else faked[at] for at in places] for drawn in places]
        rows.append(sum(reduce(np.multiply.outer, each) for each in parts).ravel() / len(sizes))
    table = np.array(rows)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    return table


def largest_losses(table, *sizes):
    """Return the largest log-ratio between any two tuples, and between tuples that differ in one attribute."""
    tuples, logs = list(itertools.product(*map(range, sizes))), np.log(table)
    worst = {True: 0.0, False: 0.0}
    for a, b in itertools.permutations(range(len(tuples)), 2):
        one = sum(x != y for x, y in zip(tuples[a], tuples[b], strict=True)) == 1
        worst[one] = max(worst[one], float((logs[a] - logs[b]).max()))
    return max(worst.values()), worst[True]


def subject_of(key, fake, realistic, k, d, *, epsilon, trials):
    solution = "rsrfd" if realistic else "rsfd"
    made = attribute_subjects(PROTOCOLS[key], k, epsilon, d, solution, trials=trials, alpha=RARE)
    return next(one for one in made if one.fake == fake)


@over(itertools.product(FAKED, SMALL))
def test_estimates_are_unbiased_and_have_their_variance(setting, case):
    key, fake, realistic = setting
    k, d = case
    epsilon, prior = 1.3, prior_of(k) if realistic else None
    oracle = PROTOCOLS[key](k, epsilon)
    supports = channel_of(oracle)[1]
    table = sent(key, fake, (k,) * d, epsilon, realistic=realistic)
    first = table.reshape(len(table), len(supports), -1).sum(axis=2) @ supports
    tuples = list(itertools.product(range(k), repeat=d))
    users = [0, 1, len(tuples) - 1, len(tuples) // 2, 1]
    n, chances = len(users), first[users]
    frequency = np.bincount([tuples[user][0] for user in users], minlength=k) / n
    fakes = fake_support(oracle, fake, prior)
    estimate = (d * chances.sum(axis=0) / n - oracle.q - (d - 1) * fakes) / (oracle.p - oracle.q)
    assert estimate == pytest.approx(frequency, abs=1e-12)
    scale = d / (n * (oracle.p - oracle.q))
    variance = (chances * (1 - chances)).sum(axis=0) * scale**2
    assert attributes.hidden_variance(oracle, frequency, n, d, fakes) == pytest.approx(variance, rel=1e-12)


@over(itertools.product(FAKED, SMALL))
def test_what_is_promised_is_the_largest_loss_of_all_tuples(setting, case):
    key, fake, realistic = setting
    k, d = case
    whole, one = largest_losses(sent(key, fake, (k,) * d, 1.0, realistic=realistic), *(k,) * d)
    subject = subject_of(key, fake, realistic, k, d, epsilon=1.0, trials=100)
    assert subject.epsilon_guaranteed == pytest.approx(whole, rel=1e-12) == 1.0
    assert subject.epsilon_one_attribute == pytest.approx(one, rel=1e-12)
    even = loss_of_one({k: d}, 1.0, fake, {})
    assert loss_of_one({k: d}, 1.0, fake, {k: np.full(k, 1 / k)}) == pytest.approx(even)
    promised = attributes.losses("rsrfd" if realistic else "rsfd", k, 1.0, d, fake)
    if realistic:  # depends on the prior: never above what is said, and above that of even fakes
        assert even < one < promised[1] == promised[0] == 1.0
        return
    assert promised == pytest.approx((whole, one), rel=1e-9)
    budget = published_budget(1.0, d)
    whole, one = largest_losses(sent(key, fake, (k,) * d, budget), *(k,) * d)
    assert (whole, one) == pytest.approx((budget, loss_of_one({k: d}, budget, fake, {})), rel=1e-12)
    assert one > 1.1 if fake == "r" and k > 2 else one == pytest.approx(1.0, rel=1e-12)


def test_figures_that_were_published_or_worked_out():
    # Published for users who differ in one attribute, which the fakes of random values exceed.
    assert published_budget(1.0, 2) == pytest.approx(1.490, abs=5e-4)
    for k, epsilon, loss in ((3, 1.0, 1.125), (4, 1.0, 1.182), (3, 2.0, 2.223)):
        assert loss_of_one({k: 2}, published_budget(epsilon, 2), "r", {}) == pytest.approx(loss, abs=5e-4)
    k, d, zero = 10, 10, np.zeros(10)
    hidden = PROTOCOLS["grr"](k, published_budget(1.0, d))
    fakes = fake_support(hidden, None)
    rsfd = attributes.hidden_variance(hidden, zero, 1, d, fakes)[0]
    every = PROTOCOLS["grr"](k, 1.0).variance(0.0, 1)
    sampled = d * hidden.variance(0.0, 1)
    assert [rsfd, every, sampled] == pytest.approx([21.25, 3.63, 0.887], rel=1e-3)


@over(itertools.product([None, "z", "r"], ["tuple", "attribute"], ["smp", "spl", "rsfd", "rsrfd"]))
def test_the_budget_of_a_report_is_what_the_promise_leaves(fake, promise, solution):
    k, d, epsilon = 5, 4, 0.8
    budget = attributes.report_budget(solution, k, epsilon, d, fake, promise)
    lost = dict(zip(("tuple", "attribute"), attributes.losses(solution, k, budget, d, fake), strict=True))[promise]
    assert lost == pytest.approx(epsilon, rel=1e-9)
    if solution == "rsfd" and promise == "attribute" and fake != "r":
        assert budget == pytest.approx(math.log(d * math.expm1(epsilon) + 1), rel=1e-9)


@over(itertools.product(FAKED, SMALL[:3]))
def test_the_whole_tuple_is_attacked_by_the_likelihood_ratio(setting, case):
    key, fake, realistic = setting
    k, d = case
    subject = subject_of(key, fake, realistic, k, d, epsilon=1.0, trials=2000)
    table, tuples = sent(key, fake, (k,) * d, 1.0, realistic=realistic), list(itertools.product(range(k), repeat=d))
    first, second = (table[tuples.index((value,) * d)] for value in (0, 1))
    ratios, trials = np.log(first / second), 10_000
    named = ratios >= np.unique(ratios.round(9))[:, None] - 2e-9  # of each threshold, which reports are above it
    cuts = np.stack([named @ first, named @ second], axis=1)
    if subject.probabilities is not None:
        assert np.isclose(cuts, subject.probabilities, rtol=1e-9, atol=0).all(axis=1).any()
    assert subject.sampler is not None
    rngs = (stream("tuples", key, fake or "", k, value) for value in (0, 1))
    hits = [subject.sampler(value, trials, rng).sum() for value, rng in enumerate(rngs)]
    scores = two_sided((hits - trials * cuts) / np.sqrt(np.maximum(trials * cuts * (1 - cuts), 0) + 1e-9))
    assert any(accept(score) for score in scores)


@over(itertools.product(VARIANTS, [(3, 2), (20, 4)]))
def test_audits_of_fake_data_keep_the_promise_and_agree_with_the_closed_form(setting, case):
    key, fake = setting
    k, d = case
    trials = 10_000
    subject = subject_of(key, fake, False, k, d, epsilon=2.0, trials=trials)
    found = run_audit(subject, trials=trials, alpha=RARE, seed=0)
    assert found.attack == "likelihood"
    assert found.agrees is (None if fake == "r" else True)
    assert not found.leaks
    assert found.epsilon_one_attribute is not None
    assert found.epsilon_lower_bound > found.epsilon_one_attribute / 2


def test_the_published_budget_is_shown_to_leak():
    """What RS+FD was published with: reports at a higher budget, which the attack on whole tuples takes."""
    trials = 200_000
    subject = subject_of("grr", None, False, 3, 2, epsilon=published_budget(1.0, 2), trials=trials)
    assert 1.3 < run_audit(subject, trials=trials, alpha=RARE, seed=0).epsilon_lower_bound <= 1.49


def test_fake_vectors_are_what_they_are_called():
    oracle, rng, trials = PROTOCOLS["rappor"](5, 1.0), stream("fakes"), 20_000
    p, q = oracle.p, oracle.q
    for fake, rate in (("z", q), ("r", p / 5 + 4 * q / 5)):
        ones = oracle.fake_reports(fake, trials, rng).sum()
        n = 5 * trials  # bits of a one-hot report are negatively dependent: the binomial error is an upper bound
        assert accept(two_sided((ones - n * rate) / np.sqrt(n * rate * (1 - rate))))


SIZES = [(2, 2), (3, 3), (2, 3), (3, 2, 2)]


@over([(one, sizes, place % 2 == 0) for one in FAKED for place, sizes in enumerate(SIZES)])
def test_algorithm_3_is_its_sum_over_all_reports_and_all_guesses(setting, sizes, amplified):
    """The attacker draws an attribute, then a value of its support set, or any value if that is empty."""
    key, fake, realistic = setting
    d, k, trials = len(sizes), max(sizes), 5_000
    budget = math.log(d * math.expm1(1.3) + 1) if amplified else 1.3
    table = sent(key, fake, sizes, budget, realistic=realistic)
    named = np.zeros(table.shape[1])
    supports = [channel_of(PROTOCOLS[key](size, budget))[1] == 1 for size in sizes]
    for at, sets in enumerate(itertools.product(*supports)):  # the support sets of all attributes
        named[at] = sum((one[0] / one.sum() if one.any() else 1 / len(one)) / d for one in sets)
    tuples = list(itertools.product(*map(range, sizes)))
    expected = [float(table[tuples.index((value,) * d)] @ named) for value in (0, 1)]
    made = attribute_subjects(
        PROTOCOLS[key],
        k,
        1.3,
        d,
        "rsrfd" if realistic else "rsfd",
        sizes=sizes if len(set(sizes)) > 1 else (),
        attack="guess",
        amplified=amplified,
    )
    subject = next(one for one in made if one.fake == fake)
    assert subject.probabilities == pytest.approx(expected, rel=1e-12)
    assert (subject.epsilon, subject.epsilon_guaranteed) == (1.3, pytest.approx(budget))
    assert subject.sampler is not None
    for value, chance in zip((0, 1), expected, strict=True):
        chances = subject.sampler(value, trials, stream("algorithm 3", key, fake or "", *sizes, value))
        error = (chances.mean() - chance) / (chances.std() / math.sqrt(trials))
        assert accept(two_sided(error))


@over(itertools.product(FAKED, SIZES[2:]))
def test_attributes_of_several_sizes_are_attacked_by_the_ratio_of_all_reports_and_promise_what_all_tuples_lose(
    setting, sizes
):
    key, fake, realistic = setting
    table, tuples = sent(key, fake, sizes, 1.0, realistic=realistic), list(itertools.product(*map(range, sizes)))
    solution, d = ("rsrfd" if realistic else "rsfd"), len(sizes)
    made = attribute_subjects(PROTOCOLS[key], max(sizes), 1.0, d, solution, sizes=sizes, trials=2000, alpha=RARE)
    subject = next(one for one in made if one.fake == fake)
    found = (subject.epsilon_guaranteed, subject.epsilon_one_attribute)
    assert found == pytest.approx(largest_losses(table, *sizes), rel=1e-12)
    groups = [(PROTOCOLS[key](size, 1.0), sizes.count(size)) for size in dict.fromkeys(sizes)]
    priors = {oracle.k: prior_of(oracle.k) for oracle, _ in groups} if realistic else {}
    faked = _Faked(tuple(groups), (0, 1), fake, priors)
    sets = [channel_of(PROTOCOLS[key](size, 1.0))[1].astype(np.uint8) for size in sizes]
    every = list(itertools.product(*([one.argmax(axis=1), one][key != "grr"] for one in sets)))
    reports, first = [], 0
    for _, number in groups:  # those of a user after those of another
        reports.append(np.array([one for each in every for one in each[first : first + number]]))
        first += number
    one, other = (table[tuples.index((value,) * d)] for value in (0, 1))
    assert faked.losses(reports) == pytest.approx(np.log(one / other), abs=1e-12)
    users, again = 5000, faked.reports(1, 5000, stream("sizes", key, fake or "", *sizes))
    for (oracle, number), reported in zip(groups, again, strict=True):  # each attribute is reported by one user of d
        share = fake_support(oracle, fake, priors.get(oracle.k))[1]
        chance = (oracle.probabilities[0] + (d - 1) * share) / d
        for hits in oracle.supports(reported, (0, 1)).second.reshape(users, number).sum(axis=0):
            assert accept(two_sided((hits - users * chance) / math.sqrt(users * chance * (1 - chance))))


def test_plateaus_and_reversals_of_algorithm_3_are_those_published():
    """Section 4.5: at the published budget, k = 2 and 100, d = 2 and 10."""

    def loss(key, fake, k, d, epsilon):
        made = attribute_subjects(PROTOCOLS[key], k, epsilon, d, "rsfd", attack="guess", amplified=True)
        return next(log_ratio(one.probabilities) or 0.0 for one in made if one.fake == fake)

    for k, d in itertools.product((2, 100), (2, 10)):
        plateau = math.log(1 + k / (d - 1))  # where every true report is guessed right
        assert all(0.95 * plateau < loss("grr", None, k, d, epsilon) < plateau for epsilon in (6, 8, 10))
        for epsilon in (1, 2, 4, 6, 10):
            others = {key: loss(key, "z", k, d, epsilon) for key in ("rappor", "oue")}
            assert loss("grr", None, k, d, epsilon) >= max(others.values())
            if k == 2 or epsilon <= 4:  # symmetric flips lose more in a binary domain, and less in a large one
                assert (others["rappor"] > others["oue"]) == (k == 2)
            assert loss("oue", "r", k, d, epsilon) == pytest.approx(others["oue"], rel=1e-9)  # fakes do not matter
    assert loss("grr", None, 2, 2, 4) < loss("grr", None, 100, 2, 4)  # a binary domain loses less


def test_splitting_and_sampling_are_one_report():
    for solution, epsilon in (("spl", 0.25), ("smp", 1.0)):
        (subject,) = attribute_subjects(PROTOCOLS["oue"], 10, 1.0, 4, solution)
        assert subject.probabilities == PROTOCOLS["oue"](10, epsilon).attack_probabilities("guess", (0, 1))
        assert (subject.epsilon, subject.epsilon_guaranteed) == (1.0, 1.0)
        assert subject.epsilon_one_attribute == epsilon
        assert run_audit(subject, trials=20_000, alpha=RARE, seed=0).agrees


def test_no_other_shares_have_a_lower_mean_error():
    rng, n = np.random.default_rng(0), 1000
    for _ in range(20):
        single, spread = rng.exponential(size=4), rng.random(4) / 4
        best = sampling_errors(single, spread, attributes.sampling_shares(single, spread), n).mean()
        others = rng.dirichlet(np.ones(4), size=200)
        assert best <= min(sampling_errors(single, spread, other, n).mean() for other in others)


def test_the_error_of_a_sample_is_what_enumeration_says():
    """Four users who hold 0, 0, 0, 1; two of them, drawn at random, report without noise."""
    values = np.array([0, 0, 0, 1])
    frequency = 0.25
    drawn = [values[list(pair)].mean() for pair in itertools.combinations(range(4), 2)]
    variance = float(np.mean((np.array(drawn) - frequency) ** 2))
    spread = np.array([frequency * (1 - frequency)])
    # Without replacement the factor is (n - m) / (n - 1) / m; the sum here has n for n - 1.
    assert sampling_errors(np.zeros(1), spread, np.array([0.5]), 4)[0] == pytest.approx(variance * 3 / 4)


@pytest.mark.parametrize("sizes", [(4, 64), (2, 16, 16), (3, 300)])
@pytest.mark.parametrize("key", ["grr", "oue"])
def test_no_other_split_in_parts_has_a_lower_error(sizes, key):
    epsilon = 2.0

    def error(k, budget):
        return float(PROTOCOLS[key](k, budget).linear.covariance(1).entry(np.full(k, 1 / k)).mean())

    tables = [[error(k, part * epsilon / PARTS) for part in range(1, PARTS)] for k in sizes]
    lowest = min(
        sum(table[part - 1] for table, part in zip(tables, (*parts, PARTS - sum(parts)), strict=True))
        for parts in itertools.product(range(1, PARTS), repeat=len(sizes) - 1)
        if sum(parts) < PARTS
    )
    budgets = split_budgets([lambda budget, k=k: error(k, budget) for k in sizes], epsilon)
    assert budgets.sum() == pytest.approx(epsilon)
    assert sum(error(k, budget) for k, budget in zip(sizes, budgets, strict=True)) == pytest.approx(lowest, rel=1e-9)


def test_columns_that_are_alike_share_alike_and_more_than_parts_are_refused():
    assert attributes.sampling_shares(np.ones(5), np.zeros(5)) == pytest.approx(np.full(5, 0.2))
    assert split_budgets([lambda budget: 1 / budget**2] * 4, 1.0) == pytest.approx(np.full(4, 0.25))
    with pytest.raises(ValueError, match="64 parts, got 65 columns"):
        split_budgets([lambda budget: 1 / budget] * (PARTS + 1), 1.0)
