from functools import cache
from itertools import product

import numpy as np
import pytest

from advisor import estimate
from advisor.answers.rank.apply import applied_csv
from advisor.errors import InputError
from advisor.inputs.estimates import RawEstimates
from advisor.inputs.reports import RawReports
from advisor.question.collected import CHANCE, POSITIVE_PART, collect, collect_tally, tally_in_memory
from advisor.question.spread import (
    BUDGETS,
    WARNED,
    Origin,
    fitting_budgets,
    in_words,
    missing_budget,
    spread_doubt,
    sum_doubt,
)
from simulator import POSTPROCESSORS, PROTOCOLS, Tally, frequency_oracles
from simulator.confidence import USUAL
from simulator.methods.processor import SUMMARIES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.cli_answers import csv_rows
from tests.advisor.estimates import ALONE
from tests.cells import failures, over

EPSILON, N, K = 1.0, 100_000, 256


def raw(protocol, k, n, shape="zipf", epsilon=EPSILON, seed=0):
    oracle = PROTOCOLS[protocol](k, epsilon)
    rng = rng_for(seed, "tests", "collected", protocol, k, n, shape)
    return oracle.estimate(oracle.sample_support(apportion(frequencies(shape, k), n), rng), n)


def checked(values, protocol="oue", **options):
    asked = {"epsilon": EPSILON, "n": N} | options
    labels = asked.pop("labels", [str(place) for place in range(len(values))])
    origin = Origin(protocol, asked.pop("epsilon"), asked.pop("n"))
    return collect(RawEstimates(tuple(labels), np.asarray(values)), origin, **asked)


@pytest.mark.parametrize(
    ("sizes", "collections"),
    [
        ((3, 64), ((2_000, 2.0), (10**6, 0.5))),
        pytest.param((2, 16, 256), ((2_000, 2.0), (10**6, 0.5)), marks=pytest.mark.slow),
        pytest.param((2, 3, 16, 256), ((2_000, 0.5), (10**6, 2.0)), marks=pytest.mark.slow),
    ],
    ids=["default", "other sizes", "other budgets"],
)
@over(frequency_oracles())
def test_the_honest_raw_estimate_is_accepted_without_a_warning(protocol, *, sizes, collections):
    """For each protocol up to 20 estimates with four checks each, wrong once in 10^6: 0.001 false alarms in all."""
    assert CHANCE == 1e-6
    shapes = ("uniform", "zipf", "sparse", "spike", "gaussian")
    for (row, shape), (column, k) in product(enumerate(shapes), enumerate(sizes)):
        n, epsilon = collections[(row + column) % 2]
        values = raw(protocol, k, n, shape, epsilon)
        found = checked(values, protocol, epsilon=epsilon, n=n)
        assert found.warnings == (), (k, shape, n, epsilon)
        np.testing.assert_array_equal(found.observed.estimate, values)
        again = checked(values * n, protocol, epsilon=epsilon, n=n)
        np.testing.assert_allclose(again.observed.estimate, values, rtol=1e-12, atol=1e-15)


def test_blocks_of_hadamard_response_go_by_the_order_of_the_rows_and_the_answer_says_so():
    told = {
        e: "in blocks by the order" in str(checked(raw("hr", 8, N, epsilon=e), "hr", epsilon=e)) for e in (0.5, 3.0)
    }
    assert told == {0.5: False, 3.0: True}  # there is a single block up to ln 2


@over([("grr", None), ("grr", 4), ("ss", None)])
def test_an_estimate_of_which_one_value_was_clipped_is_taken_for_that(protocol, digits):
    drawn = (raw(protocol, 8, 2000, "zipf", 1.0, seed) for seed in range(100))
    values = next(one for one in drawn if (one < 0).sum() == 1 and one.min() < -0.01)
    clipped = np.maximum(values if digits is None else values.round(digits), 0)
    (warning,) = checked(clipped, protocol, n=2000, epsilon=1.0).warnings
    assert "clipped at 0 (1 of 8 values are exactly 0" in warning


@over([("rappor", 2, 50, 10.0), ("rappor", 2, 1000, 1.0), ("oue", 20, 300, 6.0), ("ss", 20, 300, 6.0)])
def test_raw_estimates_of_few_reports_are_no_more_often_warned_of_than_two_in_a_thousand(protocol, k, n, epsilon):
    drawn = (raw(protocol, k, n, "zipf", epsilon, seed) for seed in range(300))
    warned = sum(bool(checked(values, protocol, n=n, epsilon=epsilon).warnings) for values in drawn)
    assert warned <= 6  # of 300 with a chance of 0.002 each: more in three of a million tests


def test_estimates_with_few_digits_zeros_or_hardly_any_noise_are_accepted():
    zero = raw("grr", 16, N)
    zero[3] = 0.0
    zero += (1 - zero.sum()) / 15 * (zero != 0)
    cells = [
        *(((p, digits), raw(p, K, N).round(digits), p, {}) for p in ("grr", "oue") for digits in (4, 6)),
        ("minus zeros", np.array([0.42, 0.31, 0.27, 0.0, -0.0, -0.0]), "oue", {"n": 20_000, "epsilon": 2.0}),
        ("one zero", zero, "grr", {}),
        ("few categories may be equal by chance", np.full(4, 0.25), "oue", {"n": 100}),
        ("without noise", np.array([0.5, 0.3, 0.2]), "grr", {"n": 10, "epsilon": 32.0}),
    ]
    warned = {name: checked(values, protocol, **options).warnings for name, values, protocol, options in cells}
    assert {name: said for name, said in warned.items() if said} == {}
    # Where hardly any report is another value, the estimate has few digits, and its least values are alike.
    for epsilon, counts in ((30.0, [500, 300, 200, 0]), (8.0, [997, 1, 1, 1])):
        tally = Tally(np.array(counts), 1000)
        assert tally_in_memory(tuple("abcd"), tally, Origin("grr", epsilon, 1000)).warnings == ()


def test_an_estimate_of_reports_is_never_read_as_counts():
    tally = Tally(np.array([3, 120, 140, 160]), 300)  # a column that holds no sums of bits: the estimates sum to -0.41
    with pytest.raises(InputError, match=r"the estimate of the reports sums to -0\.409, not to 1 within"):
        collect_tally(RawReports(tuple("abcd"), tally, (), ()), Origin("rappor", 1.0, 300))


def test_where_the_sum_fits_both_the_spread_decides():
    values = raw("oue", 64, 400, epsilon=0.5)
    reach = 64**0.5 * PROTOCOLS["oue"](64, 0.5).noise(400).sd
    assert 6 * reach > 1  # the sum says nothing: 0 to 2 is near 1, and near n in shares of n
    assert "frequencies" in checked(values, epsilon=0.5, n=400).assumptions[0]
    assert "counts" in checked(values * 400, epsilon=0.5, n=400).assumptions[0]


def test_what_cannot_be_a_raw_estimate_of_this_collection_is_refused():
    grr, three, names = raw("grr", K, N), raw("grr", 3, N), {"labels": ["a", "b", "c"]}
    smooth = POSTPROCESSORS["wavelet_eb"](raw("oue", K, N, "steps", epsilon=0.5), PROTOCOLS["oue"](K, 0.5).noise(N))
    assert smooth.min() > 0
    lacks = "the estimate has no value for 'd' of the domain; both must name the same"
    cells = [
        (100 * grr, "grr", {}, r"neither about 1 .* nor about n = 100,000.*percentages: divide them by 100"),
        *((factor * grr, "grr", {}, r"neither about 1((?!percentages).)*$") for factor in (0.5, 2.0, 7.0)),
        (grr * N, "grr", {"n": 4 * N}, "check n, eps and the protocol"),
        (np.zeros(10), "oue", {"n": 1000}, "0 for every category"),
        (np.full(16, 1 / 16), "oue", {"n": 100}, "spreads less"),
        (smooth, "oue", {"epsilon": 0.5}, "spreads less than the noise"),
        (raw("grr", 16, N), "grr", {"k": 20}, "has 16 categories, k = 20 was given"),
        (three, "grr", names | {"domain": ["a", "b", "d"]}, f"^{lacks}$"),
        (three, "grr", names | {"domain": ["a", "b", "c", "d"]}, f"^{lacks}$"),
        (three, "grr", names | {"domain": ["a", "b"]}, "^the estimate has a value for 'c', which is not in the dom"),
    ]

    def check(place):
        values, protocol, options, message = cells[place]
        with pytest.raises(InputError, match=message):
            checked(values, protocol, **options)

    assert failures(range(len(cells)), check) == {}
    assert len(checked(raw("grr", 16, N), "grr", k=16).labels) == 16


def test_the_domain_orders_the_categories():
    values, names = raw("grr", 3, N), ["b", "c", "a"]
    assert not checked(values, "grr", labels=names).ordered
    found = checked(values, "grr", labels=names, domain=["a", "b", "c"])
    assert found.labels == ("a", "b", "c")
    np.testing.assert_array_equal(found.observed.estimate, values[[2, 0, 1]])
    assert checked(values, "grr", labels=names, ordered=True).ordered


def test_numbers_are_ordered_by_value_whatever_their_spelling():
    values = raw("grr", 3, N)
    found = checked(values, "grr", labels=["10", "9", "1.5"])
    assert found.labels == ("1.5", "9", "10")
    assert found.ordered
    assert not checked(values, "grr", labels=["10", "9", "1.5"], ordered=False).ordered
    respelled = checked(values, "grr", labels=["10", "9", "1.5"], domain=["9.0", "10", "1.50"])
    np.testing.assert_array_equal(respelled.observed.estimate, values[[1, 0, 2]])


def test_numbers_of_a_domain_that_neither_rise_nor_fall_have_no_order():
    """A domain sorted as text, 1, 10, 2, would bring 1 and 10 together."""
    values, names = raw("grr", 4, N), ["1", "10", "2", "3"]
    found = checked(values, "grr", labels=names, domain=names)
    assert (found.labels, found.ordered) == (tuple(names), False)
    assert checked(values, "grr", labels=names, domain=names, ordered=True).ordered
    assert checked(values, "grr", labels=names, domain=["10", "3", "2", "1"]).ordered


@over([(10**6, 2), (10**7, 2), (10**8, 3)])
def test_an_estimate_rounded_beyond_its_noise_is_called_rounded_not_clipped(n, digits):
    rounded = raw("oue", 16, n, "sparse").round(digits)
    for values in (rounded, np.where(rounded == 0, 0.0, rounded)):  # a spreadsheet writes 0.00 for -0.00
        (warning,) = checked(values, n=n).warnings
        assert "clipped" not in warning
        assert f"rounded to {digits} decimals" in warning
    assert (rounded == 0).sum() > 1


@pytest.fixture
def few_budgets(monkeypatch):
    """What else would fit is told, which takes most of the time, and is not what a test looks at."""
    monkeypatch.setattr("advisor.question.spread.BUDGETS", BUDGETS[::32])


@pytest.mark.usefixtures("few_budgets")
@over(product([0], ["oue", "olh", "grr"]), slow=product(range(1, 4), ["oue", "rappor", "olh", "grr"]))
def test_noise_larger_than_said_is_noticed(seed, protocol):
    """With 4 times the users, or a budget with noise half as large, the lower half of the noise is far too wide.

    Most of 256 true frequencies of a zipf are below one sd of the noise said, so the 128 squares below 0 of the half
    that is negative have mean 4 and not 1: 3 times 128 above what is expected, 17 sd of the noise said are refused.
    """
    values = raw(protocol, K, N // 10, seed=seed)
    noise = PROTOCOLS[protocol](K, EPSILON).noise(N // 10)
    assert checked(values, protocol, n=N // 10).warnings == ()
    with pytest.raises(InputError, match=r"spreads more than the noise of .* eps or n is smaller than given"):
        checked(values, protocol, n=4 * N // 10)
    assert noise.sd > 2 * PROTOCOLS[protocol](K, 4 * EPSILON).noise(N // 10).sd
    # Where the estimates do not sum to 1 exactly, their sum may be too far off before anything else is looked at.
    with pytest.raises(InputError, match=r"(spreads more than the noise|sums to .* check n, eps and the protocol)"):
        checked(values, protocol, n=N // 10, epsilon=4 * EPSILON)


@pytest.mark.usefixtures("few_budgets")
@over(product([0], ["oue", "olh", "grr"]), slow=product(range(1, 4), ["oue", "olh", "grr"]))
def test_noise_smaller_than_said_is_noticed_where_little_else_spreads(seed, protocol):
    """Even frequencies: the squares have a quarter of the mean said, 256 of them known to 9 %."""
    values = raw(protocol, K, N, "uniform", seed=seed)
    assert checked(values, protocol).warnings == ()
    with pytest.raises(InputError, match="spreads less than the noise"):
        checked(values, protocol, n=N // 4)
    with pytest.raises(InputError, match="eps or n is larger than given, or it was smoothed"):
        checked(np.convolve(np.pad(values, 4, mode="wrap"), np.full(9, 1 / 9), mode="valid"), protocol)


def test_reports_that_spread_too_much_were_made_with_a_larger_budget(run, tmp_path):
    counted = tmp_path / "counted.csv"
    counts = PROTOCOLS["grr"](5, 3.0).sample_support(np.array([2000, 1500, 800, 500, 200]), rng_for(1, "counted"))
    counted.write_text("answer,count\n" + "".join(f"a{at},{count}\n" for at, count in enumerate(counts)))
    asked = ("reports", counted, "--counts", "count", "--protocol", "grr", "-q")
    code, _, err = run(*asked, "--eps", "1.5")
    assert code == 2
    # An estimate would fit a smaller one; here the estimate is made with the budget that is given.
    assert err.endswith(
        "explains (standard deviation 0.0111): eps is larger than given, or the protocol is another one; check them\n"
    )
    assert run(*asked, "--eps", "3")[0] == 0


def test_repairs_that_leave_no_zeros_are_recognised():
    values = raw("olh", K, N)
    assert checked(values, "olh").warnings == ()
    cut, positive = np.maximum(values, 1e-6), np.abs(values)
    alike = np.where(np.arange(K) < 5, 1e-5, positive + 2e-5)  # a fiftieth of the values
    cells = [
        ("sums to 1 exactly", values + (1 - values.sum()) / K),
        ("values are exactly", cut / cut.sum()),
        ("(5 of 256 values are exactly", alike / alike.sum()),
        ("is negative", positive / positive.sum()),
    ]
    for words, changed in cells:
        assert any(words in warning for warning in checked(changed, "olh").warnings), words


MANY, STREAMS = 200_000, 60
TWO = "two categories"  # that share all users


@cache
def estimates(protocol, shape, times=STREAMS):
    oracle = PROTOCOLS[protocol](64, EPSILON)
    counts = apportion(np.eye(64)[:2].mean(axis=0) if shape == TWO else frequencies(shape, 64), MANY)
    draws = oracle.sample_support(np.broadcast_to(counts, (times, 64)), rng_for(7, "doubts", protocol, shape))
    return oracle, oracle.estimate(draws, MANY)


@over([TWO], slow=["zipf", "uniform"])
def test_the_right_n_is_hardly_ever_doubted(shape):
    """False alarms: at most two in a thousand, so more than 6 of 300 have a probability under 1e-5."""
    doubted = 0
    for protocol in ("grr", "oue", "olh", "hr", "pgr"):
        oracle, every = estimates(protocol, shape)
        origin = Origin(protocol, EPSILON, MANY)
        doubted += sum(spread_doubt(one, oracle.noise(MANY), origin) is not None for one in every)
    assert WARNED == 1e-3
    assert doubted <= 6


@pytest.mark.usefixtures("few_budgets")
def test_an_n_that_is_off_by_a_factor_is_doubted_or_refused():

    def doubt(one, protocol, n):
        try:
            return spread_doubt(one, PROTOCOLS[protocol](64, EPSILON).noise(n), Origin(protocol, EPSILON, n)) or ""
        except InputError as refusal:
            return str(refusal)

    def check(cell):
        (factor, words), protocol = cell
        every = estimates(protocol, TWO)[1][:4]
        assert sum(words in doubt(one, protocol, round(MANY * factor)) for one in every) >= 3

    factors = [(8, "is smaller than given"), (1 / 8, "is larger than given")]
    assert failures(product(factors, ["grr", "oue"]), check) == {}


@over(product(["uniform", TWO], ["grr", "oue"]), slow=product(["uniform", TWO], ["olh", "ss", "hr"]))
def test_the_true_budget_fits_the_spread_of_an_estimate(shape, protocol):
    """At most 5 % are outside: of 6 more than 2 have a probability under 0.3 %."""
    every = [fitting_budgets(one, Origin(protocol, None, MANY)) for one in estimates(protocol, shape)[1][:6]]
    fitting = [one for one in every if one is not None and one[0] <= EPSILON <= one[1]]
    assert len(fitting) >= 4
    if shape == TWO and protocol != "hr":  # where little but noise spreads, half and twice the budget are told from it
        assert all(low > 0.5 and high < 2 for low, high in fitting)


def test_an_estimate_without_its_budget_is_refused_with_what_its_spread_tells():
    values = raw("oue", K, N)
    origin = Origin("oue", None, N)
    fitting = fitting_budgets(values, origin)
    assert fitting is not None
    for given in (values, values * N):
        assert f"fits {in_words(*fitting)} with oue and n = 100,000" in str(missing_budget(given, origin))
    cells = [(np.maximum(values, 0), "no value is below 0"), (100 * values, "no ε fits"), (values[:4], "4 categories")]
    for changed, words in cells:
        with pytest.raises(InputError, match=f"^--eps is missing: give the privacy budget .*{words}"):
            checked(changed, epsilon=None)


def test_an_estimate_of_grr_or_ss_sums_to_1_or_is_doubted():
    for protocol in ("grr", "ss"):
        oracle, every = estimates(protocol, "zipf", 8)
        noise = oracle.noise(MANY)
        for one in every:
            digits = (np.array([float(f"{value:{form}}") for value in one]) for form in (".6e", ".3e", ".3g"))
            for given in (one, one * MANY, one.round(4), (one * MANY).round(), *digits):
                assert sum_doubt(given, noise, protocol) is None
            for changed in (one * 1.002, one[:-1], np.maximum(one, 0), one * MANY * 0.998):
                doubt = sum_doubt(changed, noise, protocol)
                assert (doubt is not None) == (abs(changed.sum() - 1) > 1e-9)
    assert sum_doubt(every[0] * 1.5, PROTOCOLS["oue"](64, EPSILON).noise(MANY), "oue") is None


CLIPPED = 400_000  # users of the estimates that are clipped
NOISE = PROTOCOLS["oue"](K, EPSILON).noise(CLIPPED)
OF_SUM = NOISE.sd * K**0.5  # sd of the sum of raw estimates: 0.049


def to_clip(shape):
    counts, oracle = apportion(frequencies(shape, K), CLIPPED), PROTOCOLS["oue"](K, EPSILON)
    return oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "clipped", shape)), CLIPPED)


def repaired(shape, method):
    return POSTPROCESSORS[method](to_clip(shape), NOISE)


def answered(values, **options):
    return estimate(values, "oue", eps=1.0, n=CLIPPED, ordered=False, **ALONE | options)


@over(["zipf", "sparse"])
def test_what_was_clipped_is_restored_and_said(shape):
    """The scale is known as well as the sum of raw estimates, which is 1 on average: a tenth of it is two sd."""
    positive = np.maximum(to_clip(shape), 0.0).sum()
    assert positive > 1 + OF_SUM
    assert 0.1 * positive > 2 * OF_SUM
    for method, scaled in (("base_pos", False), ("norm_mul", True)):
        cut = repaired(shape, method)
        zeros = cut == 0
        found = checked(cut, n=CLIPPED)
        assert found.given is not None
        np.testing.assert_array_equal(found.given, cut)
        estimate = found.observed.estimate
        scale = estimate[~zeros].sum()
        assert scale == pytest.approx(positive, rel=0.1 if scaled else 1e-12)
        np.testing.assert_allclose(estimate[~zeros], scale * cut[~zeros] / cut.sum(), rtol=1e-12)
        # What is drawn below 0 sums to what was cut off, to three sd of the difference of two such sums at most.
        assert (estimate[zeros] <= 0).all()
        assert abs(estimate[zeros].sum() - to_clip(shape)[zeros].sum()) < 3 * 2**0.5 * NOISE.sd * zeros.sum() ** 0.5
        again = checked(cut * CLIPPED, n=CLIPPED)  # as counts
        np.testing.assert_allclose(again.observed.estimate, estimate, rtol=1e-9)


@over(["zipf"], slow=["sparse", "dirichlet"])
def test_what_was_projected_on_the_simplex_gets_back_what_was_taken_off_each_value(shape):
    """That is known as well as the sum of raw estimates, which is 1 on average; a factor would move frequent ones."""
    raw, cut = to_clip(shape), repaired(shape, "norm_sub")
    zeros = cut == 0
    found = checked(cut, n=CLIPPED)
    estimate = found.observed.estimate
    taken_off = (raw - cut)[~zeros]
    assert K * taken_off.mean() > 3 * OF_SUM  # or nothing would have to be undone
    assert abs(K * (estimate[~zeros] - raw[~zeros])).max() < 3 * OF_SUM
    assert (estimate[zeros] <= estimate[~zeros].min()).all()
    assert abs(estimate.sum() - 1) < 3 * OF_SUM


def test_too_few_rare_values_to_tell_a_division_are_shifted():
    """A factor would move the frequent value by many sd if it was a shift; a shift leaves it nearly as it is."""
    tail = np.geomspace(1, 0.01, 11)
    counts = apportion(np.append(0.97, 0.03 * tail / tail.sum()), 20_000)
    oracle = PROTOCOLS["oue"](12, 1.0)
    support = [oracle.sample_support(counts, rng_for(0, "tests", "few", at)) for at in range(40)]
    raw = oracle.estimate(np.array(support), 20_000)
    restored = [
        checked(cut, n=20_000, k=12).observed.estimate for cut in POSTPROCESSORS["norm_sub"](raw, oracle.noise(20_000))
    ]
    here, before = (((one - counts / 20_000)[:, 0] ** 2).mean() for one in (np.array(restored), raw))
    assert here < 2 * before


def test_clipped_counts_of_many_categories_are_counts():
    """The sum of what is left tells them from frequencies, and it is known for counts as well."""
    k = 10_000
    counts, oracle = apportion(frequencies("zipf", k), CLIPPED), PROTOCOLS["oue"](k, EPSILON)
    noisy = oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "clipped counts")), CLIPPED)
    found = checked(np.maximum(noisy, 0.0) * CLIPPED, n=CLIPPED)
    assert found.given is not None
    np.testing.assert_allclose(found.given, np.maximum(noisy, 0.0))


def test_only_what_needs_no_negative_values_competes_and_the_raw_row_is_of_what_was_given():
    for method in ("base_pos", "norm_mul"):
        cut = repaired("sparse", method)
        advice = answered(cut)
        assert {row.method for row in advice.recommendations} <= POSITIVE_PART | {*SUMMARIES}
        assert {*SUMMARIES} < {row.method for row in advice.recommendations}
        assert advice.request.populations is not None
        by_hand = np.abs(cut - advice.request.populations / CLIPPED).sum(axis=1).mean()
        (own,) = (row for row in advice.baselines if row.kind == "raw")
        assert own.error == pytest.approx(by_hand, rel=1e-12)
        rows = csv_rows(applied_csv(advice))
        np.testing.assert_array_equal([float(row["raw"]) for row in rows], cut)
        restored = advice.request.collected.observed
        expected = POSTPROCESSORS[advice.best.method].apply(restored)
        np.testing.assert_allclose([float(row["post_processed"]) for row in rows], expected, atol=1e-15)
        np.testing.assert_array_equal(advice.apply(cut), expected)
    with pytest.raises(InputError, match="was clipped at 0, and method none, eb_ns needs the values that were below"):
        answered(cut, method=["none", "eb_ns"])


def test_the_range_of_what_was_clipped_is_wider(monkeypatch):
    wide = answered(repaired("zipf", "norm_sub")).best
    monkeypatch.setattr("advisor.answers.rank.assemble.OF_CUT", USUAL)
    narrow = answered(repaired("zipf", "norm_sub")).best
    assert wide.error == narrow.error
    assert wide.error_low < narrow.error_low / 1.04
    assert wide.error_high > 1.04 * narrow.error_high


def test_methods_that_compete_make_the_same_of_what_is_clipped_and_others_do_not():
    """Power laws read the rare values from the positive ones, up to a fiftieth of the noise."""

    def moved(name):
        values, method = to_clip("sparse"), POSTPROCESSORS[name]
        return float(np.abs(method(np.maximum(values, 0.0), NOISE) - method(values, NOISE)).max()) / NOISE.sd

    moves = {name: moved(name) for name in (*POSITIVE_PART, "none", "norm", "eb_ns")}
    assert {name for name, move in moves.items() if move > 0.05} == {"none", "norm", "eb_ns"}
    assert {name for name, move in moves.items() if move > 1e-9} - {"none", "norm", "eb_ns"} == {"power", "power_ns"}


def test_what_has_more_zeros_than_half_was_repaired_in_another_way_and_is_only_warned_of():
    def check(method):
        cut = repaired("sparse", method)
        assert (cut == 0).mean() > 0.6
        found = checked(cut, n=CLIPPED)
        assert found.given is None
        np.testing.assert_array_equal(found.observed.estimate, cut)
        assert len(found.warnings) == 1

    assert failures(["norm_cut", "base_cut"], check) == {}
    advice = answered(repaired("sparse", "norm_cut"))
    assert {row.method for row in advice.recommendations} > POSITIVE_PART | {"none", "eb_ns"}


def test_clipping_by_a_product_leaves_minus_zeros_and_is_seen():
    values = to_clip("zipf")
    (warning,) = checked(values * (values > 0), n=CLIPPED).warnings
    assert "values are exactly 0, none is negative" in warning
