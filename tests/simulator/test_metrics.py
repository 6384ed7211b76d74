import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from simulator.metrics import CLIPPED_RANGES, CLIPPED_SETS, EMD_SLACK, KL_MIX, METRICS, emd
from simulator.places import Places
from simulator.seeding import rng_for
from simulator.transport import GAP, _network, differences, emd_exact, transports
from tests.cells import over

from .law import stream

TRUTH = np.array([0.4, 0.0, 0.25, 0.05, 0.1, 0.0, 0.15, 0.05])
RNG_ESTIMATES = stream("metrics").normal(TRUTH, 0.15, size=(3, 4, 8))
ROUNDING = {"rel": 1e-12, "abs": 1e-14}  # the same sums of a few dozen numbers below 2 in another order
TIE = 1e-10  # above the rounding of the same sums, below the share of one user in a billion
ORDERED = {"emd", "range", "mean", "quantiles", "ks"}
DEEP = settings(max_examples=30, deadline=None, derandomize=True)


def repaired(estimate, mix=KL_MIX):
    positive = [max(x, 0.0) for x in estimate]
    total = sum(positive)
    k = len(positive)
    return [(1 - mix) * (x / total if total else 1 / k) + mix / k for x in positive]


def divergence(a, b):
    return sum(x * math.log(x / y) for x, y in zip(a, b, strict=True) if x > 0)


def naive_emd(e, f):
    return sum(abs(sum(e[: j + 1]) - sum(f[: j + 1])) for j in range(len(f)))


def naive_topk(e, f):
    order = sorted(range(len(f)), key=lambda v: (-f[v], v))[: max(1, round(0.05 * len(f)))]
    return sum((e[v] - f[v]) ** 2 for v in order) / len(order)


def naive_hotspots(e, f):
    size = max(1, round(0.05 * len(f)))
    # Ties are broken in each order, which are equally likely.
    orders = itertools.permutations(range(len(f))) if len(set(e)) < len(e) else [range(len(f))]
    found = [sorted(order, key=lambda v: -e[v])[:size] for order in orders]
    return sum(f[v] < sorted(f)[-size] for largest in found for v in largest) / size / len(found)


def naive_set(e, f, size=1, clip=False):
    answers = []
    for chosen in itertools.combinations(range(len(f)), size):
        answer, target = sum(e[v] for v in chosen), sum(f[v] for v in chosen)
        answers.append(((max(answer, 0.0) if clip else answer) - target) ** 2)
    return sum(answers) / len(answers)


def naive_range(e, f, clip=False):
    errors = []
    for first in range(len(f)):
        for last in range(first, len(f)):
            answer, target = sum(e[first : last + 1]), sum(f[first : last + 1])
            errors.append(abs((max(answer, 0.0) if clip else answer) - target))
    assert len(errors) == len(f) * (len(f) + 1) // 2
    return sum(errors) / len(errors)


def naive_deciles(e, f):
    """A level that the true running sum meets, up to rounding, has all categories up to the next sum as quantiles."""
    errors = []
    for level in (Fraction(tenth, 10) for tenth in range(1, 10)):
        true = [v for v in range(len(f)) if sum(f[:v]) <= level + TIE and sum(f[: v + 1]) >= level - TIE]
        reached = [v for v in range(len(e)) if sum(e[: v + 1]) >= level - TIE]
        guess = reached[0] if reached else len(e) - 1
        errors.append(min(abs(guess - v) for v in true))
    return sum(errors) / 9


def naive_js(e, f):
    r = repaired(e)
    middle = [(x + y) / 2 for x, y in zip(r, f, strict=True)]
    return (divergence(f, middle) + divergence(r, middle)) / 2


NAIVE = {
    "l1": lambda e, f: sum(abs(x - y) for x, y in zip(e, f, strict=True)),
    "mae": lambda e, f: sum(abs(x - y) for x, y in zip(e, f, strict=True)) / len(f),
    "tv": lambda e, f: sum(abs(x - y) for x, y in zip(e, f, strict=True)) / 2,
    "mse": lambda e, f: sum((x - y) ** 2 for x, y in zip(e, f, strict=True)) / len(f),
    "l2": lambda e, f: math.sqrt(sum((x - y) ** 2 for x, y in zip(e, f, strict=True))),
    "kl": lambda e, f: divergence(f, repaired(e)),
    "js": naive_js,
    "emd": naive_emd,
    "topk": naive_topk,
    "hotspots": naive_hotspots,
    "set": lambda e, f: naive_set(e, f, max(1, round(0.1 * len(f)))),
    "sets": lambda e, f: sum((x - y) ** 2 for x, y in zip(e, f, strict=True)) / len(f),  # each category alone
    "range": naive_range,
    "mean": lambda e, f: abs(sum(v * x for v, x in enumerate(e)) - sum(v * x for v, x in enumerate(f))),
    "quantiles": naive_deciles,
    "ks": lambda e, f: max(abs(sum(e[: v + 1]) - sum(f[: v + 1])) for v in range(len(f))),
}


def test_there_is_a_naive_version_of_each_metric():
    assert list(NAIVE) == list(METRICS)
    assert all(metric.name == key for key, metric in METRICS.items())
    assert {key for key, metric in METRICS.items() if metric.ordered_only} == ORDERED


@pytest.mark.parametrize("name", METRICS)
@over([2, 3, 8, 21, 60])
def test_metric_is_the_naive_loop(k, *, name):
    rng = stream("metric sizes", name, k)
    truth, estimate = rng.dirichlet(np.full(k, 0.5)), rng.normal(1 / k, 0.5 / k, size=k)
    if k == 8:
        truth = TRUTH  # some are held by nobody
    if name == "set" and k == 60:
        # 50 million subsets of 6: the mean square of a sum over pairs, each pair in the share of sets that holds it
        error, size = estimate - truth, 6
        single, both = size / k, size * (size - 1) / (k * (k - 1))
        expected = sum(
            error[u] * error[v] * (single if u == v else both) for u, v in itertools.product(range(k), repeat=2)
        )
    else:
        expected = NAIVE[name](estimate.tolist(), truth.tolist())
    assert METRICS[name](estimate, truth) == pytest.approx(expected, **ROUNDING)


@over([(1, 6), (2, 2), (3, 4), (4, 3), (6, 1)])
def test_ranges_of_places_are_all_rectangles_of_their_grid(rows, columns):
    ground, rng = Places(rows, columns), stream("rectangles", rows, columns)
    truth, estimates = rng.dirichlet(np.ones(rows * columns)), rng.normal(0.1, 0.1, size=(2, 3, rows * columns))
    metric = METRICS["range"].with_options(ground=ground)
    bounds = [itertools.combinations(range(size + 1), 2) for size in (rows, columns)]
    boxes = [np.s_[a:b, c:d] for (a, b), (c, d) in itertools.product(*bounds)]
    for place in np.ndindex(2, 3):
        error = (estimates[place] - truth).reshape(rows, columns)
        expected = np.mean([abs(error[box].sum()) for box in boxes])
        assert metric(estimates, truth)[place] == pytest.approx(expected, **ROUNDING)
        assert metric(estimates[place], truth) == metric(estimates, truth)[place]
    if min(rows, columns) > 1:
        with pytest.raises(ValueError, match="not clipped"):
            metric.clipped_error(estimates, truth)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_set_is_the_mean_over_all_subsets(size):
    metric = METRICS["set"].with_options(set_share=size / 8)
    for estimate in RNG_ESTIMATES.reshape(-1, 8):
        expected = naive_set(estimate.tolist(), TRUTH.tolist(), size)
        assert metric(estimate, TRUTH) == pytest.approx(expected, **ROUNDING)


@pytest.mark.parametrize(("name", "size"), [("set", 1), ("set", 2), ("set", 3), ("range", 0)])
def test_clipped_errors_are_the_means_over_all_queries_up_to_their_samples(name, size):
    estimate, squared = RNG_ESTIMATES[0, 0] - 0.1, name == "set"
    queries = [*itertools.combinations(range(8), size)]
    if name == "range":
        queries = [range(first, last) for first, last in itertools.combinations(range(9), 2)]
    changes = []
    for query in queries:
        answer, target = estimate[list(query)].sum(), TRUTH[list(query)].sum()
        plain, clipped = answer - target, max(answer, 0.0) - target
        changes.append(clipped**2 - plain**2 if squared else abs(clipped) - abs(plain))
    assert min(changes) < 0, "clipping must change something here"
    e, f = estimate.tolist(), TRUTH.tolist()
    exact = naive_set(e, f, size, clip=True) if squared else naive_range(e, f, clip=True)
    # mean of 25 measurements, each the mean of its samples: z of at most 5.3 is a false alarm of 1e-7
    metrics = [METRICS[name].with_options(set_share=size / 8, seed=seed) for seed in range(25)]
    sampled = [float(metric.clipped_error(estimate, TRUTH)) for metric in metrics]
    samples = CLIPPED_SETS if squared else CLIPPED_RANGES
    assert abs(np.mean(sampled) - exact) < 5.3 * np.std(changes) / np.sqrt(samples * 25)
    assert np.std(sampled) < 2 * np.std(changes) / np.sqrt(samples)  # 25 values: twice is 7 standard errors off
    assert abs(metrics[0](estimate, TRUTH) - exact) > 1e-3


@over([name for name, metric in METRICS.items() if metric.clipped is None])
def test_metrics_without_queries_refuse_to_clip(name):
    with pytest.raises(ValueError, match=f"metric {name} has no query answers"):
        METRICS[name].clipped_error(TRUTH, TRUTH)


@over([*itertools.product([2, 3, 10], [0.0, 0.1, 3.0]), (120, 1e-3)])
def test_metrics_of_numbers_are_the_naive_loops_for_raw_estimates_and_ties(k, spread):
    rng = stream("numbers", k, spread)
    for truth in (np.full(k, 1 / k), rng.multinomial(20, np.full(k, 1 / k)) / 20, np.eye(k)[k // 2]):
        estimate = rng.normal(truth, spread / k, size=(6, k))
        estimate[0] -= estimate[0].min()  # a total far from 1, and none below 0
        for name in ("mean", "quantiles", "ks"):
            expected = [NAIVE[name](row, truth.tolist()) for row in estimate.tolist()]
            # of 120 terms up to 119, rounded at 1e-16 of their sum
            np.testing.assert_allclose(METRICS[name](estimate, truth), expected, rtol=1e-10, atol=1e-10)


EVEN = (0.25, 0.25, 0.25, 0.25)
BY_HAND = [
    # running sums of the truth 0.15, 0.55, 0.85, 1: deciles 0 1 1 1 1 2 2 2 3; of the estimate 0.05, 0.35, 0.65, 1
    *(
        (name, (0.05, 0.3, 0.3, 0.35), (0.15, 0.4, 0.3, 0.15), expected)
        for name, expected in (("mean", 1.95 - 1.45), ("quantiles", 5 / 9), ("ks", 0.2))
    ),
    # An estimate that does not sum to 1 is taken as it stands.
    ("mean", (0.3, 0.3, 0.3, 0.3), EVEN, 0.2 * 1.5),
    ("ks", (0.3, 0.3, 0.3, 0.3), EVEN, 0.2),
    # running sums 0.225 to 0.9: only the decile 0.7 is one late, and 0.9 is reached
    ("quantiles", (0.225, 0.225, 0.225, 0.225), EVEN, 1 / 9),
    # running sums 0.125 to 0.5: deciles 0 1 2 3 3, and the last category four times; the true ones 0 0 1 1 1-2 2 2 3 3
    ("quantiles", (0.125, 0.125, 0.125, 0.125), EVEN, (0 + 1 + 1 + 2 + 1 + 1 + 1 + 0 + 0) / 9),
    # A quantile is the first category whose running sum reaches the level, also where the sum falls again.
    ("quantiles", (0.95, -0.9, 0.0, 0.95), (0.05, 0.05, 0.05, 0.85), (1 + 8 * 3) / 9),
    # Never reached: the last category. The first decile of the truth is one of 1 and 2, the others are 3.
    ("quantiles", (-0.05, -0.05, -0.05, -0.85), (0.05, 0.05, 0.05, 0.85), 1 / 9),
    ("topk", (0.35, 0.0, 0.0, 0.0), EVEN, 0.01),  # ties go to the earlier category
    ("hotspots", (0.0, 0.0, 0.0, 0.35), EVEN, 0),  # of true ties any counts
    ("hotspots", (0.5, 0.5), (0.4, 0.6), 0.5),  # equal estimates find either
    ("hotspots", (0.5, 0.5), (0.6, 0.4), 0.5),
    # Without a mixture of the uniform distribution:
    ("js", (1.0, 0.0), (0.0, 1.0), math.log(2)),
    ("kl", (0.7, 0.3), (0.6, 0.4), 0.6 * math.log(6 / 7) + 0.4 * math.log(4 / 3)),
    ("kl", (1.0, 0.0, 0.0), (0.6, 0.4, 0.0), math.inf),  # a missed value
    ("kl", (0.6, 0.3, 0.1), (0.6, 0.4, 0.0), 0.4 * math.log(0.4 / 0.3)),
]


@over(BY_HAND)
def test_metrics_worked_out_by_hand(name, estimate, truth, expected):
    metric = METRICS[name].with_options(mix=0.0)
    assert metric(np.array(estimate), np.array(truth)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [10, 20, 100, 1000])
def test_rounding_does_not_move_a_decile(k):
    truth = np.full(k, 1 / k)  # ten of 0.1 add up to 0.9999999999999999, eight to 0.7999999999999999
    noise = stream("rounding", k).normal(0, 1e-14, size=(50, k))
    assert (METRICS["quantiles"](truth + noise, truth) == 0).all()


@given(
    estimate=hnp.arrays(np.float64, 6, elements=st.floats(-10, 10)),
    weights=hnp.arrays(np.float64, 6, elements=st.one_of(st.just(0.0), st.floats(1e-6, 1))),
)
@DEEP
def test_divergences_are_finite_and_in_their_range(estimate, weights):
    truth = weights / weights.sum() if weights.sum() else np.full(6, 1 / 6)
    kl, js = METRICS["kl"](estimate, truth), METRICS["js"](estimate, truth)
    # the repaired estimate is at least mix / k everywhere, so no ratio exceeds k / mix
    assert 0 <= kl <= math.log(6 / KL_MIX)
    assert 0 <= js <= math.log(2)
    for name, metric in METRICS.items():
        error = metric(estimate, truth)
        assert np.isfinite(error), name
        assert error >= -1e-14, name  # closed forms of set and range round


def test_options_reach_the_metrics_that_know_them_and_no_others():
    options = {"mix": 0.01, "top_values": 3, "set_share": 0.5, "seed": 9}
    known = {name: set(metric.with_options(**options).options) for name, metric in METRICS.items()}
    expected = {key: set() for key in METRICS}
    expected |= {"kl": {"mix"}, "js": {"mix"}, "topk": {"top_values"}, "set": {"set_share", "seed"}, "range": {"seed"}}
    expected |= {"hotspots": {"top_values"}}
    assert known == expected
    e = RNG_ESTIMATES[0, 0]
    assert METRICS["kl"].with_options(mix=0.01)(e, TRUTH) == pytest.approx(
        divergence(TRUTH, repaired(e, 0.01)), **ROUNDING
    )
    top = np.argsort(-TRUTH, kind="stable")[:3]
    assert METRICS["topk"].with_options(top_values=3)(e, TRUTH) == pytest.approx(
        ((e - TRUTH)[top] ** 2).mean(), **ROUNDING
    )
    assert METRICS["kl"].options == {}  # the table's own metric is not changed


@pytest.mark.parametrize("size", [0, -1, 4])
def test_metrics_of_the_top_refuse_sizes_outside_the_domain(size):
    truth = np.array([0.5, 0.3, 0.2])
    for name in ("topk", "hotspots"):
        with pytest.raises(ValueError, match="top_values must be between 1 and k=3"):
            METRICS[name].with_options(top_values=size)(truth, truth)


@over(itertools.product([name for name in METRICS if name not in {"quantiles", "hotspots"}], range(3)))
def test_degree_says_how_the_error_grows_with_the_distance(name, seed):
    rng = stream("degree", name, seed)
    truth = rng.dirichlet(np.full(12, 5.0))
    change = rng.normal(size=12)
    change -= change.mean()
    change *= truth.min() / np.abs(change).max()
    metric = METRICS[name].with_options(mix=0.0, top_values=4)
    # A divergence is t^2 (1 + c t) with |c| of at most max |change / truth| <= 1; t = 1e-4 leaves 3 c t, and
    # rounding: sums of terms t that cancel to t^2 lose 1e-16 / t^2 = 1e-8.
    near, exact = 1e-4 * change, 0.5 * change
    step, tolerance = (near, 1e-3) if name in {"kl", "js"} else (exact, 1e-9)
    growth = metric(truth + 2 * step, truth) / metric(truth + step, truth)
    assert growth == pytest.approx(2**metric.degree, rel=tolerance)


@over(METRICS)
def test_a_truth_for_each_row_changes_no_digit_where_a_metric_takes_rows(name):
    metric, rng = METRICS[name], stream("rows", name)
    truths = rng.dirichlet(np.full(300, 0.3), size=7)
    estimates = truths + rng.normal(0, 0.01, size=truths.shape)
    one_by_one = [float(metric(row[None, :], truth)[0]) for row, truth in zip(estimates, truths, strict=True)]
    assert metric.by_rows == (name not in {"topk", "quantiles", "hotspots"})
    if metric.by_rows:
        assert metric(estimates, truths).tolist() == one_by_one


GRIDS = [Places(4, 5, "manhattan"), Places(4, 5), Places(3, 6, "euclidean", 1.0, 2.5), Places(2, 2)]


def by_linear_program(a, b, places):
    k = places.k
    sums = np.concatenate([np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))])
    plan = optimize.linprog(places.distances().ravel(), A_eq=sums, b_eq=np.concatenate([a, b]), method="highs")
    return float(plan.fun)


def two_histograms(places, name):
    rng = rng_for(0, name, places.k)
    return rng.dirichlet(np.full(places.k, 0.3)), rng.dirichlet(np.full(places.k, 0.5))


@pytest.mark.parametrize("places", GRIDS, ids=str)
def test_exact_is_the_linear_program(places):
    pytest.importorskip("ot")
    a, b = two_histograms(places, "exact")
    assert emd_exact(a, b, places) == pytest.approx(by_linear_program(a, b, places), rel=1e-7)


@over(itertools.product([*GRIDS, Places(20, 20), Places(12, 30, "manhattan")], ["one", "two"]))
def test_fast_lies_within_its_stated_bounds(places, name):
    pytest.importorskip("ot")
    a, b = two_histograms(places, name)
    exact = float(emd_exact(a, b, places))
    value, low, high = transports(differences(a, b), places)[:, 0]
    rounding = 1e-7 * exact
    assert low - rounding <= exact <= high + rounding
    assert high <= low * (1 + GAP) * _network(places).detour * (1 + 1e-9)
    stated = float(EMD_SLACK.with_options(ground=places)(a, b))
    assert abs(value / exact - 1) - 1e-7 <= stated <= np.sqrt((1 + GAP) * _network(places).detour) - 1 + 1e-7


@pytest.mark.parametrize("places", [Places(12, 16), Places(9, 5, "manhattan"), Places(30, 2)], ids=str)
def test_rows_do_not_see_each_other(places, monkeypatch):
    rng = rng_for(0, "rows", places.k)
    rows = differences(rng.dirichlet(np.full(places.k, 0.2), size=7), rng.dirichlet(np.ones(places.k)))
    rows[3] = 0.0
    rows[5] *= 1e-9
    together = transports(rows, places)
    for block in (places.k, 4 * places.k):
        monkeypatch.setattr("simulator.transport.BLOCK_CELLS", block)
        np.testing.assert_array_equal(transports(rows, places), together)
    assert tuple(together[:, 3]) == (0.0, 0.0, 0.0)
    assert together[0, 5] == pytest.approx(1e-9 * transports(rows[5:6] * 1e9, places)[0, 0], rel=1e-6)


def test_one_moved_user_and_a_line_have_the_distance_in_closed_form():
    places = Places(1, 40)
    a, b = two_histograms(places, "line")
    assert emd(a, b, places) == pytest.approx(float(emd(a, b)), rel=1e-12)
    assert emd(a, b, Places(40, 1, "euclidean", 2.0)) == pytest.approx(2 * float(emd(a, b)), rel=1e-12)
    places = Places(6, 7)
    start, end = np.eye(42)[0], np.eye(42)[3 * 7 + 4]
    _, low, high = transports((start - end)[None], places)[:, 0]
    assert low <= 5 <= high
    assert _network(Places(5, 5)).detour == pytest.approx(1 / np.cos(np.arctan(0.5) / 2))
    assert _network(Places(5, 5, "manhattan")).detour == 1


def test_rows_of_a_batch_and_signed_estimates():
    pytest.importorskip("ot")
    places = Places(4, 5)
    truth = two_histograms(places, "batch")[0]
    raw = truth + rng_for(1, "noise").normal(0, 0.05, (3, 20))
    fast = emd(raw, truth, places)
    assert fast.shape == (3,)
    assert fast[1] == emd(raw[1], truth, places)
    assert np.allclose(emd_exact(raw, truth, places), emd_exact(raw + 0.01, truth, places), rtol=1e-9)
    assert emd(truth, truth, places) == 0
    assert emd_exact(truth, truth, places) == 0
