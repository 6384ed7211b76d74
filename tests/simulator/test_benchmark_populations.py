"""Several populations in one experiment are those populations one by one, with the same streams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, benchmark
from simulator.benchmark import Experiment, Runs, simulate
from simulator.populations import apportion, frequencies

K, N = 24, 4000
PROTOCOL_NAMES = ("grr", "oue", "hr")
METHOD_NAMES = ("none", "norm_sub", "post_pos", "wavelet_eb")


def populations(*shapes: str) -> np.ndarray:
    return np.stack([apportion(frequencies(shape, K), N) for shape in shapes])


THREE = populations("zipf", "uniform", "zipf_shuffled")


def experiment(counts: np.ndarray = THREE, seed: int = 0) -> Experiment:
    return Experiment(
        counts=counts,
        oracles={name: PROTOCOLS[name](K, 1.0) for name in PROTOCOL_NAMES},
        methods={name: POSTPROCESSORS[name] for name in METHOD_NAMES},
        # The most frequent values differ between the populations, and so does every target of topk.
        metrics={name: metric.with_options(top_values=5, seed=seed) for name, metric in METRICS.items()},
        pairs=tuple((protocol, method) for protocol in PROTOCOL_NAMES for method in METHOD_NAMES),
        seed=seed,
    )


def assert_same(one: Runs, two: Runs) -> None:
    assert one.errors.keys() == two.errors.keys()
    for pair, block in one.errors.items():
        np.testing.assert_array_equal(block, two.errors[pair], err_msg=str(pair))


def test_repetition_r_is_that_of_population_r_modulo_their_number_alone() -> None:
    runs = simulate(experiment(), 0, 8)
    alone = [simulate(experiment(row), 0, 8) for row in THREE]
    for pair, block in runs.errors.items():
        for repetition in range(8):
            expected = alone[repetition % 3].errors[pair][repetition]
            np.testing.assert_array_equal(block[repetition], expected, err_msg=f"{pair} {repetition}")
    # A negative control: the populations do not have the same errors.
    for metric in ("topk", "l1", "emd", "kl"):
        assert not np.array_equal(alone[0].of(metric)["oue", "norm_sub"], alone[2].of(metric)["oue", "norm_sub"])


def test_numbers_do_not_depend_on_jobs_blocks_or_where_a_block_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    task = experiment()
    whole = simulate(task, 0, 8)
    assert_same(whole, simulate(task, 0, 1) + simulate(task, 1, 4, jobs=2) + simulate(task, 5, 3))
    for cells in (1, 2 * K):
        monkeypatch.setattr(benchmark, "CHUNK_CELLS", cells)
        assert_same(whole, simulate(task, 0, 8))


def test_one_population_in_two_dimensions_gives_the_numbers_of_one() -> None:
    one, same = simulate(experiment(THREE[:1]), 0, 4), simulate(experiment(THREE[0]), 0, 4)
    for pair, block in one.errors.items():
        np.testing.assert_array_equal(block, same.errors[pair])


def test_identity_tells_populations_apart() -> None:
    variants = [THREE, THREE[::-1], THREE[:2], THREE[0], THREE[:1], np.vstack([THREE, THREE])]
    assert len({experiment(np.ascontiguousarray(counts)).id for counts in variants}) == len(variants)
    assert experiment().id == experiment(THREE.copy()).id


def test_truth_is_the_mean_and_n_that_of_each() -> None:
    task = experiment()
    assert task.n == N
    np.testing.assert_allclose(task.truth, (THREE / N).mean(axis=0), rtol=1e-14)
    np.testing.assert_array_equal(experiment(THREE[0]).truth, THREE[0] / N)
    assert experiment(THREE[0]).populations.shape == (1, K)


@pytest.mark.parametrize(
    "counts", [np.vstack([THREE[0], THREE[1] + 1]), np.vstack([THREE[0], 0 * THREE[0]]), THREE[None, :, :]]
)
def test_populations_of_unequal_size_are_refused(counts: np.ndarray) -> None:
    with pytest.raises(ValueError, match="of equal sums"):
        replace(experiment(), counts=counts)


def test_populations_must_have_the_domain_of_the_protocols() -> None:
    with pytest.raises(ValueError, match="k=24, the counts have k=23"):
        replace(experiment(), counts=np.full((3, 23), 2))
