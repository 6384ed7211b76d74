from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge.grid import (
    EXTRAPOLATED,
    RangeWarning,
    load,
    look_up,
    look_up_noises,
    noises_of,
    predict,
    predict_several,
)
from knowledge.menu import METRICS, ORDERED_METRICS
from knowledge.profile import profile_of, remembered_profile
from simulator import PROTOCOLS, Noise
from simulator.populations import frequencies

ZIPF = profile_of(frequencies("zipf", 32, 1.0))


@pytest.mark.parametrize(
    ("metric", "ordered"),
    [(metric, ordered) for metric in METRICS for ordered in (True, False) if ordered or metric not in ORDERED_METRICS],
)
def test_a_look_up_ranks_the_whole_menu(tiny: Path, metric: str, ordered: bool) -> None:
    found = look_up(ZIPF, 1.0, 10_000, metric, ordered=ordered, grid=load(tiny))
    errors = [row.error for row in found.rows]
    assert errors == sorted(errors)
    assert found.best.ratio == 1.0
    assert {row.protocol for row in found.rows} == set(PROTOCOLS)
    assert len({(row.protocol, row.method) for row in found.rows}) == len(found.rows)
    methods = {row.method for row in found.rows}
    assert ("wavelet_eb" in methods) == ordered
    assert ("post_pos" in methods) == (metric in ("set", "range"))
    assert {row.protocol for row in found.rows if row.method == "ibu"} >= {"grr"}
    for row in found.rows:
        assert row.low < row.error < row.high
        assert row.ratio_low <= row.ratio <= row.ratio_high
        assert row.ratio == pytest.approx(row.error / found.best.error)
        raw = next(r for r in found.rows if (r.protocol, r.method) == (row.protocol, "none"))
        assert row.raw_error == pytest.approx(raw.error)
    assert found.warnings == ()
    assert found.unknown == ()


def test_mae_is_l1_over_k(tiny: Path) -> None:
    one, other = (look_up(ZIPF, 1.0, 10_000, metric, grid=load(tiny)) for metric in ("l1", "mae"))
    assert other.best.error == pytest.approx(one.best.error / 32)


def test_several_questions_get_the_answers_of_one_by_one(tiny: Path) -> None:
    grid, shuffled = load(tiny), profile_of(frequencies("zipf_shuffled", 32, 1.0))
    asked = [noises_of(32, 1.0, n) for n in (10_000, 500_000)] + [noises_of(32, 2.0, 10_000, ["olh"])]
    for noises, found in zip(asked, predict_several((ZIPF, shuffled), asked, grid=grid), strict=True):
        alone = predict((ZIPF, shuffled), noises, grid=grid)
        assert found.logs.shape == alone.logs.shape
        np.testing.assert_allclose(found.logs, alone.logs, atol=1e-4)  # the surface is in single precision
        np.testing.assert_allclose(found.outside, alone.outside, atol=1e-12)  # sums in another order
        assert list(found.noises) == list(noises)


def test_the_error_per_category_is_the_same_in_every_metric(tiny: Path) -> None:
    wanted = {(row.protocol, row.method): row.error for row in look_up(ZIPF, 1.0, 10_000, "mae", grid=load(tiny)).rows}
    for metric in ("kl", "mae"):
        for row in look_up((ZIPF, ZIPF), 1.0, 10_000, metric, grid=load(tiny)).rows:
            assert row.per_category == pytest.approx(wanted[row.protocol, row.method])


def test_a_remembered_profile_is_that_of_its_histogram() -> None:
    counts = np.array([6, 3, 2], dtype=np.int64)
    first = remembered_profile(counts, 11)
    assert remembered_profile(counts.copy(), 11) is first
    assert remembered_profile(counts, 12) is not first
    counts[0] = 60  # what a caller does to an array later changes nothing that was remembered
    assert remembered_profile(np.array([6, 3, 2]), 11) is first
    assert first.top == pytest.approx(6 / 11)
    assert remembered_profile(counts, 11).top == pytest.approx(60 / 65, abs=0.05)


def test_the_menu_can_be_restricted(tiny: Path) -> None:
    found = look_up(ZIPF, 1.0, 10_000, "l1", protocols=["oue"], methods=["norm", "norm_sub"], grid=load(tiny))
    assert {(row.protocol, row.method) for row in found.rows} == {("oue", "norm"), ("oue", "norm_sub")}
    with pytest.raises(ValueError, match="no method asked for"):
        look_up(ZIPF, 1.0, 10_000, "l1", protocols=["oue"], methods=["ibu"], grid=load(tiny))


def test_other_packages_protocols_are_served_by_their_noise(tiny: Path) -> None:
    noise = Noise(n=10_000, p=0.6, q=0.3, variance_at_zero=2e-4, variance_slope=1e-5, sums_to_one=False)
    found = look_up_noises(ZIPF, {"new": noise}, "l2", epsilon=1.0, n=10_000, grid=load(tiny))
    assert {row.protocol for row in found.rows} == {"new"}


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "name"),
    [(32, 0.05, 10_000, "epsilon"), (32, 20.0, 10_000, "epsilon"), (32, 1.0, 500, "n"), (300_000, 1.0, 10_000, "k")],
)
def test_questions_out_of_range_are_warned_about(tiny: Path, k: int, epsilon: float, n: int, name: str) -> None:
    found = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, n, "l1", protocols=["oue"], grid=load(tiny))
    (warning,) = found.warnings
    assert isinstance(warning, RangeWarning)
    assert f"covers {name} from" in str(warning)
    assert all(row.source == EXTRAPOLATED for row in found.rows)
    assert all(np.isfinite(row.error) and row.error > 0 for row in found.rows)


def test_a_number_of_a_large_domain_is_asymptotic(tiny: Path) -> None:
    found = look_up(profile_of(frequencies("zipf", 100_000, 1.0)), 1.0, 10**7, "l1", grid=load(tiny))
    assert {row.source for row in found.rows} == {"asymptotic"}


def test_unknown_metrics_and_folders_are_refused(tiny: Path) -> None:
    with pytest.raises(ValueError, match="the grid knows the metrics"):
        look_up(ZIPF, 1.0, 10_000, "l7", grid=load(tiny))
    with pytest.raises(FileNotFoundError):
        load(tiny / "nowhere")


def test_a_look_up_loads_nothing_heavy() -> None:
    code = (
        "import sys, knowledge.grid, knowledge.tree, knowledge.changes, knowledge.profile\n"
        "print([name for name in ('pandas', 'scipy', 'sklearn', 'joblib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_build_imports_scikit_learn() -> None:
    sources = Path(__file__).parents[2].joinpath("knowledge").glob("*.py")
    assert [path.name for path in sources if "import sklearn" in (t := path.read_text()) or "from sklearn" in t] == [
        "build.py"
    ]
