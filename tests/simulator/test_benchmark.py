from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator import METRICS, POSTPROCESSORS, benchmark, frequency_oracles
from simulator.benchmark import Experiment, Runs, simulate
from simulator.metrics import Metric
from simulator.populations import apportion, frequencies
from simulator.race import race
from simulator.ranking import Pair, contenders, leading
from simulator.seeding import rng_for

PROTOCOLS = frequency_oracles()


def experiment(k: int = 16, n: int = 5000, seed: int = 0, protocols: tuple[str, ...] = tuple(PROTOCOLS)) -> Experiment:
    counts = apportion(frequencies("zipf", k, 1.1), n)
    oracles = {name: PROTOCOLS[name](k, 1.0) for name in protocols}
    pairs = tuple(
        (protocol, name)
        for protocol, oracle in oracles.items()
        for name, method in POSTPROCESSORS.items()
        if not method.is_remedy and method.accepts(oracle.noise(n), k)
    )
    return Experiment(counts, oracles, POSTPROCESSORS, METRICS, pairs, seed)


def assert_same(one: Runs, two: Runs) -> None:
    assert one.errors.keys() == two.errors.keys()
    for pair, block in one.errors.items():
        np.testing.assert_array_equal(block, two.errors[pair], err_msg=str(pair))


def test_numbers_do_not_depend_on_jobs_blocks_or_the_order_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    task = experiment(protocols=("grr", "oue", "olh", "ss", "she", "pgr"))  # of every way to draw
    quick = (pair for pair in task.pairs if pair[1] in ("none", "norm_sub", "power"))
    task = replace(task, pairs=(*quick, ("oue", "eb_ns")))
    task = replace(task, metrics={name: METRICS[name] for name in ("l1", "kl", "topk", "set", "range")})
    whole = simulate(task, 0, 5)
    assert_same(whole, simulate(task, 0, 5, jobs=2))
    assert_same(whole, simulate(task, 0, 1) + simulate(task, 1, 3, jobs=2) + simulate(task, 4, 1))
    assert_same(whole, simulate(replace(task, pairs=task.pairs[::-1]), 0, 5))
    monkeypatch.setattr(benchmark, "CHUNK_CELLS", 3 * 16)
    assert_same(whole, simulate(task, 0, 5))


def test_numbers_depend_on_the_seed() -> None:
    one, two = (simulate(experiment(seed=seed, protocols=("oue",)), 0, 2) for seed in (0, 1))
    assert not np.array_equal(one.errors["oue", "none"], two.errors["oue", "none"])


def test_all_methods_see_the_same_noisy_estimates() -> None:
    task = experiment(protocols=("oue",))
    runs = simulate(task, 0, 3)
    oracle = task.oracles["oue"]
    estimate = np.stack(
        [
            oracle.estimate(oracle.sample_support(task.counts, rng_for(0, "collect", "oue", repetition)), task.n)
            for repetition in range(3)
        ]
    )
    for name, method in POSTPROCESSORS.items():
        if not method.queries_only and ("oue", name) in task.pairs:
            expected = METRICS["l2"](method(estimate, oracle.noise(task.n)), task.truth)
            np.testing.assert_array_equal(runs.of("l2")["oue", name], expected)


def test_post_pos_is_measured_on_queries_only() -> None:
    runs = simulate(experiment(protocols=("grr",)), 0, 4)
    with_post_pos = {name for name in METRICS if ("grr", "post_pos") in runs.of(name)}
    assert with_post_pos == {"set", "range"}
    assert (runs.of("range")["grr", "post_pos"] <= runs.of("range")["grr", "none"]).all()


def test_what_is_no_number_is_an_infinite_error_and_not_a_metric_that_does_not_apply() -> None:
    odd = Metric("odd", "no number", lambda estimate, _: np.full(estimate.shape[:-1], np.nan), unit="")
    task = replace(experiment(protocols=("oue",)), metrics={"l1": METRICS["l1"], "odd": odd})
    runs = simulate(task, 0, 2)
    assert set(runs.of("odd")) == set(runs.of("l1"))
    assert all(np.isinf(errors).all() for errors in runs.of("odd").values())


def test_blocks_of_different_experiments_do_not_add_up() -> None:
    task = experiment(protocols=("oue",))
    one, other = simulate(task, 0, 2), simulate(experiment(seed=1, protocols=("oue",)), 2, 2)
    with pytest.raises(ValueError, match="one experiment"):
        one + other
    with pytest.raises(ValueError, match="end before 2, not 3"):
        one + simulate(task, 3, 2)


def test_identity_covers_everything_that_decides_the_numbers() -> None:
    base = experiment()
    assert base.id == experiment().id
    other_metric = dict(METRICS) | {"topk": METRICS["topk"].with_options(top_values=3)}
    variants = [
        experiment(seed=1),
        experiment(n=5001),
        experiment(k=17),
        replace(base, metrics=other_metric),
        replace(base, oracles={name: PROTOCOLS[name](16, 1.5) for name in PROTOCOLS}),
    ]
    assert len({base.id, *(variant.id for variant in variants)}) == 1 + len(variants)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": np.zeros(16, dtype=np.int64)}, "at least 1 user"),
        ({"pairs": ()}, "at least one"),
        ({"counts": np.ones(3, dtype=np.int64)}, "k=16, the counts have k=3"),
    ],
)
def test_impossible_experiments_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(experiment(), **change)  # type: ignore[arg-type]


def test_progress_counts_up_to_the_whole() -> None:
    seen: list[tuple[int, int]] = []
    simulate(experiment(protocols=("grr", "oue")), 0, 5, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (10, 10)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_race_adds_repetitions_only_where_it_matters() -> None:
    task = experiment(k=32, n=20_000, protocols=("grr", "oue", "olh"))
    runs = race(task, ["l1"], repetitions=10, max_repetitions=80)
    lengths = {pair: len(block) for pair, block in runs.errors.items()}
    assert set(lengths.values()) <= {10, 20, 40, 80}
    assert lengths["grr", "norm"] == 10  # far behind from the start; raw estimates go on with any method of theirs
    verdict = contenders(runs.of("l1"))
    assert not verdict.open or max(lengths.values()) == 80
    leader = leading(runs.of("l1"))
    assert lengths[leader] == max(lengths.values())
    assert_same(Runs(runs.experiment_id, runs.metrics, 0, {leader: runs.errors[leader]}), only(task, leader, runs))


def only(task: Experiment, pair: Pair, runs: Runs) -> Runs:
    """What simulating one pair at once, without a race, gives."""
    return simulate(task, 0, len(runs.errors[pair]), pairs=[pair])


def test_race_stops_at_once_when_all_is_clear() -> None:
    task = replace(experiment(protocols=("oue",)), pairs=(("oue", "none"), ("oue", "norm_sub")))
    assert race(task, ["l2"], repetitions=20, max_repetitions=400).repetitions == 20


def test_race_lets_a_dropped_pair_make_up_what_it_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    task = experiment(protocols=("oue",))
    real, calls = contenders, []

    def first_drops_norm_sub(errors: dict[Pair, np.ndarray]) -> object:
        verdict = real(errors)
        calls.append(1)
        racing = frozenset(task.pairs) - ({("oue", "norm_sub")} if len(calls) == 1 else set())
        return verdict._replace(racing=racing, open=racing)

    monkeypatch.setattr("simulator.race.contenders", first_drops_norm_sub)
    runs = race(task, ["l1"], repetitions=5, max_repetitions=20)
    assert {len(block) for block in runs.errors.values()} == {20}
    assert_same(runs, simulate(task, 0, 20))


@pytest.mark.parametrize(("first", "most"), [(1, 10), (0, 10), (20, 10)])
def test_race_refuses_repetitions_without_an_interval(first: int, most: int) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        race(experiment(), ["l1"], repetitions=first, max_repetitions=most)
