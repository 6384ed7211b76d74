from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from simulator import METRICS, POSTPROCESSORS, benchmark, frequency_oracles
from simulator.benchmark import Experiment, judged, simulate
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.metrics import Metric
from simulator.populations import apportion, frequencies
from simulator.progress import Steady
from simulator.race import race
from simulator.ranking import contenders, leading, mean_error
from simulator.seeding import rng_for
from simulator.surrogate import particles as few
from simulator.surrogate.particles import few_populations
from tests.cells import failures

from .law import stream

PROTOCOLS = frequency_oracles()
K, N = 24, 4000
FEW = ("l1", "kl", "topk", "set", "range")  # metrics
THREE = np.stack([apportion(frequencies(shape, K), N) for shape in ("zipf", "uniform", "zipf_shuffled")])


def experiment(k=16, n=5000, seed=0, protocols=tuple(PROTOCOLS), metrics=tuple(METRICS)):
    counts = apportion(frequencies("zipf", k, 1.1), n)
    oracles = {name: PROTOCOLS[name](k, 1.0) for name in protocols}
    pairs = tuple(
        (protocol, name)
        for protocol, oracle in oracles.items()
        for name, method in POSTPROCESSORS.items()
        if not method.is_remedy and method.accepts(oracle.noise(n), k)
    )
    return Experiment(counts, oracles, POSTPROCESSORS, {name: METRICS[name] for name in metrics}, pairs, seed)


def of_populations(counts=THREE):
    protocols, methods = ("grr", "oue", "hr"), ("none", "norm_sub", "post_pos", "wavelet_eb")
    return Experiment(
        counts=counts,
        oracles={name: PROTOCOLS[name](K, 1.0) for name in protocols},
        methods={name: POSTPROCESSORS[name] for name in methods},
        # The most frequent values differ between the populations, and so does every target of topk.
        metrics={name: METRICS[name].with_options(top_values=5, seed=0) for name in (*FEW, "emd")},
        pairs=tuple((protocol, method) for protocol in protocols for method in methods),
    )


def assert_same(one, two):
    assert one.errors.keys() == two.errors.keys()
    for pair, block in one.errors.items():
        np.testing.assert_array_equal(block, two.errors[pair], err_msg=str(pair))


def test_numbers_depend_on_the_seed_and_not_on_jobs_blocks_or_the_order_of_pairs(monkeypatch):
    every_way = experiment(protocols=("grr", "oue", "olh", "ss", "she", "pgr"), metrics=FEW)  # to draw
    pairs = (*(pair for pair in every_way.pairs if pair[1] in ("none", "norm_sub")), ("oue", "power"), ("oue", "eb_ns"))
    for task, cells in ((replace(every_way, pairs=pairs), 3 * 16), (of_populations(), 2 * K)):
        monkeypatch.undo()
        whole = simulate(task, 0, 4)
        assert_same(whole, simulate(task, 0, 4, jobs=2))
        assert_same(whole, simulate(task, 0, 1) + simulate(task, 1, 2, jobs=2) + simulate(task, 3, 1))
        assert_same(whole, simulate(replace(task, pairs=task.pairs[::-1]), 0, 4))
        monkeypatch.setattr(benchmark, "CHUNK_CELLS", cells)
        assert_same(whole, simulate(task, 0, 4))
    one, two = (simulate(experiment(seed=seed, protocols=("oue",), metrics=FEW), 0, 2) for seed in (0, 1))
    assert not np.array_equal(one.errors["oue", "none"], two.errors["oue", "none"])


def test_all_methods_see_the_same_noisy_estimates():
    task = experiment(protocols=("oue",), metrics=("l2",))
    runs = simulate(task, 0, 3)
    oracle = task.oracles["oue"]
    streams = (rng_for(0, "collect", "oue", repetition) for repetition in range(3))
    estimate = np.stack([oracle.estimate(oracle.sample_support(task.counts, rng), task.n) for rng in streams])
    for name, method in POSTPROCESSORS.items():
        if not method.queries_only and ("oue", name) in task.pairs:
            expected = METRICS["l2"](method(estimate, oracle.noise(task.n)), task.truth)
            np.testing.assert_array_equal(runs.of("l2")["oue", name], expected)


def test_subsets_of_one_value_have_the_errors_of_randomised_response():
    for k, same in ((3, True), (16, False)):  # at ε = 1 subsets of 16 have four values
        runs = simulate(experiment(k=k, protocols=("grr", "ss"), metrics=("l1",)), 0, 3).of("l1")
        for method in ("none", "norm_sub", "eb_ns"):
            assert np.allclose(runs["grr", method], runs["ss", method]) == same


def test_one_metric_may_apply_to_queries_only_and_no_number_is_an_infinite_error():
    runs = simulate(experiment(protocols=("grr",)), 0, 4)
    assert {name for name in METRICS if ("grr", "post_pos") in runs.of(name)} == {"set", "sets", "range"}
    assert (runs.of("range")["grr", "post_pos"] <= runs.of("range")["grr", "none"]).all()
    odd = Metric("odd", "no number", lambda estimate, _: np.full(estimate.shape[:-1], np.nan), unit="")
    task = replace(experiment(protocols=("oue",)), metrics={"l1": METRICS["l1"], "odd": odd})
    runs = simulate(task, 0, 2)
    assert set(runs.of("odd")) == set(runs.of("l1"))
    assert all(np.isinf(errors).all() for errors in runs.of("odd").values())


def test_repetition_r_is_that_of_population_r_modulo_their_number_alone():
    runs = simulate(of_populations(), 0, 8)
    alone = [simulate(of_populations(row), 0, 8) for row in THREE]
    assert_same(alone[0], simulate(of_populations(THREE[:1]), 0, 8))
    for pair, block in runs.errors.items():
        expected = [alone[repetition % 3].errors[pair][repetition] for repetition in range(8)]
        np.testing.assert_array_equal(block, expected, err_msg=str(pair))
    # A negative control: the populations do not have the same errors.
    for metric in ("topk", "l1", "emd", "kl"):
        assert not np.array_equal(alone[0].of(metric)["oue", "norm_sub"], alone[2].of(metric)["oue", "norm_sub"])


def test_identity_covers_everything_that_decides_the_numbers_and_truth_is_the_mean():
    base = experiment()
    variants = [
        base,
        experiment(seed=1),
        experiment(n=5001),
        experiment(k=17),
        replace(base, metrics=dict(METRICS) | {"topk": METRICS["topk"].with_options(top_values=3)}),
        replace(base, oracles={name: PROTOCOLS[name](16, 1.5) for name in PROTOCOLS}),
        *map(of_populations, (THREE, THREE[::-1], THREE[:2], THREE[0], THREE[:1], np.vstack([THREE, THREE]))),
    ]
    assert len({variant.id for variant in variants}) == len(variants)
    assert base.id == experiment().id
    assert of_populations().id == of_populations(THREE.copy()).id
    assert of_populations().n == N
    np.testing.assert_allclose(of_populations().truth, (THREE / N).mean(axis=0), rtol=1e-14)
    np.testing.assert_array_equal(of_populations(THREE[0]).truth, THREE[0] / N)
    assert of_populations(THREE[0]).populations.shape == (1, K)


def test_impossible_experiments_races_and_sums_are_refused():
    def check(cell):
        field, value, message = cell
        with pytest.raises(ValueError, match=message):
            replace(of_populations(), **{field: value})

    cells = [
        ("counts", np.zeros(K, dtype=np.int64), "at least 1 user"),
        ("pairs", (), "at least one"),
        ("counts", np.ones(3, dtype=np.int64), "k=24, the counts have k=3"),
        ("counts", np.full((3, 23), 2), "k=24, the counts have k=23"),
        ("counts", np.vstack([THREE[0], THREE[1] + 1]), "of equal sums"),
        ("counts", np.vstack([THREE[0], 0 * THREE[0]]), "of equal sums"),
        ("counts", THREE[None, :, :], "of equal sums"),
    ]
    assert failures(cells, check) == {}
    for first, most in ((1, 10), (0, 10), (20, 10)):
        with pytest.raises(ValueError, match="at least 2"):
            race(experiment(), ["l1"], repetitions=first, max_repetitions=most)
    task, another = (experiment(seed=seed, protocols=("oue",), metrics=("l1",)) for seed in (0, 1))
    one, other = simulate(task, 0, 2), simulate(another, 2, 2)
    with pytest.raises(ValueError, match="one experiment"):
        one + other
    with pytest.raises(ValueError, match="end before 2, not 3"):
        one + simulate(task, 3, 2)


def test_progress_counts_up_to_the_whole():
    seen = []
    task = experiment(protocols=("grr", "oue"), metrics=("l1",))
    simulate(task, 0, 5, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5 * len(task.pairs), 5 * len(task.pairs))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_race_adds_repetitions_only_where_it_matters():
    task = experiment(k=32, n=20_000, protocols=("grr", "oue", "olh"), metrics=("l1", "l2"))
    runs = race(task, ["l1"], repetitions=10, max_repetitions=80)
    lengths = {pair: len(block) for pair, block in runs.errors.items()}
    assert set(lengths.values()) <= {10, 20, 40, 80}
    assert lengths["grr", "norm"] == 10  # far behind from the start; raw estimates go on with any method of theirs
    verdict = contenders(runs.of("l1"))
    assert not verdict.open or max(lengths.values()) == 80
    leader = leading(runs.of("l1"))
    assert lengths[leader] == max(lengths.values())
    # What simulating one pair at once, without a race, gives.
    np.testing.assert_array_equal(
        simulate(task, 0, lengths[leader], pairs=[leader]).errors[leader], runs.errors[leader]
    )
    clear = replace(task, pairs=(("oue", "none"), ("oue", "norm_sub")))
    assert race(clear, ["l2"], repetitions=20, max_repetitions=400).repetitions == 20


def test_race_goes_on_until_the_lowest_error_is_precise_or_known_from_enough_repetitions():
    task = experiment(k=4000, n=1_000_000, protocols=("oue",))
    task = replace(task, pairs=(("oue", "none"), ("oue", "norm_sub")))

    def measured(metric, **more):
        runs = race(task, [metric], repetitions=5, max_repetitions=80, **more)
        lowest = mean_error(runs.of(metric)[leading(runs.of(metric))])
        return runs.repetitions, (lowest.high - lowest.low) / 2 / lowest.error < 0.02

    assert measured("l1") == (5, False)  # the order is settled
    assert measured("l1", enough=40) == (10, True)
    assert measured("js", enough=40) == (5, True)
    assert measured("mse", enough=20) == (20, False)
    rare = Metric("l1", "rarely above 0", lambda estimate, _: np.zeros(estimate.shape[:-1]), unit="frequency")
    runs = race(replace(task, metrics={"l1": rare}), ["l1"], repetitions=5, max_repetitions=80, enough=20)
    assert runs.repetitions == 20  # five errors of 0 do not show that there are no others


def test_race_lets_a_dropped_pair_make_up_what_it_missed(monkeypatch):
    task = experiment(protocols=("oue",), metrics=("l1", "range"))
    real, calls = contenders, []

    def first_drops_norm_sub(errors):
        verdict = real(errors)
        calls.append(1)
        racing = frozenset(task.pairs) - ({("oue", "norm_sub")} if len(calls) == 1 else set())
        return verdict._replace(racing=racing, open=racing)

    monkeypatch.setattr("simulator.race.contenders", first_drops_norm_sub)
    shown = []
    progress = Steady(lambda *step: shown.append(step))
    runs = race(task, ["l1"], repetitions=5, max_repetitions=20, progress=progress)
    assert {len(block) for block in runs.errors.values()} == {20}
    stages, shares = zip(*shown, strict=True)
    assert list(dict.fromkeys(stages)) == ["all pairs", *(f"leaders, round {turn} of at most 2" for turn in (1, 2))]
    assert list(shares) == sorted(shares)  # though there is more to do than it seemed
    assert shares[-1] == 1
    assert_same(runs, simulate(task, 0, 20))
    calls.clear()  # at the end too, when no more repetitions follow
    assert_same(race(task, ["l1"], repetitions=5, max_repetitions=10), simulate(task, 0, 10))


def collected(draws, metrics):
    """What one collection of an ordered domain shows, and so many populations that may be behind it."""
    oracle = PROTOCOLS["oue"](K, 1.0)
    counts = np.stack([apportion(row, N) for row in stream("judged").dirichlet(np.ones(K), draws)])
    methods = {"none": POSTPROCESSORS["none"]}
    asked = Experiment(counts, {"oue": oracle}, methods, metrics, (("oue", "none"),), domain=ORDERED)
    return asked, observe(oracle, oracle.sample_tally(THREE[0], stream("collected")), ORDERED)


def test_each_error_is_that_of_the_one_result_on_one_draw():
    metrics = {name: METRICS[name].with_options(top_values=3) for name in ("l1", "l2", "kl", "emd", "topk", "set")}
    asked, observed = collected(12, metrics)
    names = ("none", "norm_sub", "post_pos", "eb_ns", "wavelet_eb")
    runs = judged(asked, "oue", observed, {name: POSTPROCESSORS[name] for name in names})
    assert (runs.experiment_id, runs.metrics, runs.first) == (asked.id, tuple(metrics), 0)
    assert list(runs.errors) == [("oue", name) for name in names]
    for name in names:
        result = POSTPROCESSORS[name].apply(observed)
        expected = np.full((12, len(metrics)), np.nan)
        for row, counts in enumerate(asked.populations):
            for column, (metric_name, metric) in enumerate(metrics.items()):
                if name != "post_pos":
                    expected[row, column] = float(metric(result, counts / N))
                elif metric_name == "set":
                    expected[row, column] = float(metric.clipped_error(result, counts / N))
        np.testing.assert_allclose(runs.errors["oue", name], expected, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("k", "ordered", "cases"),
    [
        (3, False, 40),
        *(pytest.param(k, ordered, 400, marks=pytest.mark.slow) for k, ordered in ((6, False), (3, True))),
    ],
)
def test_the_range_of_an_error_holds_it_in_95_of_100_collections_of_the_prior(k, ordered, cases):
    oracle, n, each = PROTOCOLS["grr"](k, 0.5), 2000, 80
    waves = 5 if ordered else 0
    inside = dict.fromkeys(("none", "norm_sub"), 0)
    methods = {name: POSTPROCESSORS[name] for name in inside}
    for case in range(cases):
        rng = stream("coverage", k, ordered, case)
        truth = few._frequencies(rng.standard_normal((1, 3 + waves + k)), k)[0]
        tally = oracle.sample_tally(rng.multinomial(n, truth), rng)
        observed = observe(oracle, tally)
        drawn = few_populations(observed.estimate, oracle.noise(n), ordered=ordered, draws=each, rng=rng)
        counts = np.floor(drawn * 10**8).astype(np.int64)
        counts[:, 0] += 10**8 - counts.sum(axis=1)
        asked = Experiment(counts, {"grr": oracle}, methods, {"l1": METRICS["l1"]}, (("grr", "none"),))
        for (_, name), errors in judged(asked, "grr", observed, methods).of("l1").items():
            low, high = np.quantile(errors, (0.025, 0.975))
            inside[name] += low <= np.abs(methods[name].apply(observed) - truth).sum() <= high
    # What comes next is as likely between any two of the draws: quantiles that are 0.95 (m - 1) draws apart hold a
    # little less. The false alarm is 1e-6 at each end; ranges that hold 80 of 100 fail 400 cases 9,999 times in 10,000,
    # and those that hold 999 of 1,000 do 99 times in 100.
    share = 0.95 * (each - 1) / (each + 1)
    for times in inside.values():
        assert stats.binom.ppf(1e-6, cases, share) <= times <= stats.binom.isf(1e-6, cases, 0.95)
