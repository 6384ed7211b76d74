from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge.describe.profile import profile_of
from knowledge.menu import METRICS, ORDERED_METRICS
from knowledge.model import load, predict
from knowledge.ranking import EXTRAPOLATED, RangeWarning, look_up, rank
from simulator import PROTOCOLS, Noise
from simulator.populations import frequencies

ZIPF = profile_of(frequencies("zipf", 32, 1.0))


@pytest.mark.parametrize(
    ("metric", "ordered"),
    [(metric, ordered) for metric in METRICS for ordered in (True, False) if ordered or metric not in ORDERED_METRICS],
)
def test_a_look_up_ranks_the_whole_menu(tiny: Path, metric: str, ordered: bool) -> None:
    found = look_up(ZIPF, 1.0, 10_000, metric, ordered=ordered, model=load(tiny))
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
    assert found.missing == ()


def test_mae_is_l1_over_k(tiny: Path) -> None:
    one, other = (look_up(ZIPF, 1.0, 10_000, metric, model=load(tiny)) for metric in ("l1", "mae"))
    assert other.best.error == pytest.approx(one.best.error / 32)


def test_the_error_per_category_is_the_same_in_every_metric(tiny: Path) -> None:
    wanted = {(row.protocol, row.method): row.error for row in look_up(ZIPF, 1.0, 10_000, "mae", model=load(tiny)).rows}
    for metric in ("kl", "mae"):
        for row in look_up((ZIPF, ZIPF), 1.0, 10_000, metric, model=load(tiny)).rows:
            assert row.per_category == pytest.approx(wanted[row.protocol, row.method])


def test_the_menu_can_be_restricted(tiny: Path) -> None:
    found = look_up(ZIPF, 1.0, 10_000, "l1", protocols=["oue"], methods=["norm", "norm_sub"], model=load(tiny))
    assert {(row.protocol, row.method) for row in found.rows} == {("oue", "norm"), ("oue", "norm_sub")}
    with pytest.raises(ValueError, match="needs a method that goes with it"):
        look_up(ZIPF, 1.0, 10_000, "l1", protocols=["oue"], methods=["ibu"], model=load(tiny))


def test_other_packages_protocols_are_served_by_their_noise(tiny: Path) -> None:
    noise = Noise(n=10_000, p=0.6, q=0.3, variance_at_zero=2e-4, variance_slope=1e-5, sums_to_one=False)
    found = rank(predict(ZIPF, {"new": noise}, model=load(tiny)), "l2", epsilon=1.0, n=10_000)
    assert {row.protocol for row in found.rows} == {"new"}


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "name"),
    [(32, 0.05, 10_000, "epsilon"), (32, 20.0, 10_000, "epsilon"), (32, 1.0, 500, "n"), (300_000, 1.0, 10_000, "k")],
)
def test_questions_out_of_range_are_warned_about(tiny: Path, k: int, epsilon: float, n: int, name: str) -> None:
    found = look_up(profile_of(frequencies("zipf", k, 1.0)), epsilon, n, "l1", protocols=["oue"], model=load(tiny))
    (warning,) = found.warnings
    assert isinstance(warning, RangeWarning)
    assert f"predictions cover {name} from" in str(warning)
    assert all(row.origin == EXTRAPOLATED for row in found.rows)
    assert all(np.isfinite(row.error) and row.error > 0 for row in found.rows)


def test_a_number_of_a_large_domain_is_asymptotic(tiny: Path) -> None:
    found = look_up(profile_of(frequencies("zipf", 100_000, 1.0)), 1.0, 10**7, "l1", model=load(tiny))
    assert {row.origin for row in found.rows} == {"asymptotic"}


def test_unknown_metrics_and_folders_are_refused(tiny: Path) -> None:
    with pytest.raises(ValueError, match="predictions need one of the metrics"):
        look_up(ZIPF, 1.0, 10_000, "l7", model=load(tiny))
    with pytest.raises(FileNotFoundError):
        load(tiny / "nowhere")


def test_a_look_up_loads_nothing_heavy() -> None:
    code = (
        "import sys, knowledge.ranking, knowledge.why, knowledge.changes\n"
        "print([name for name in ('pandas', 'scipy', 'sklearn', 'joblib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_trees_import_scikit_learn() -> None:
    sources = Path(__file__).parents[2].joinpath("knowledge").rglob("*.py")
    assert [path.name for path in sources if "sklearn" in path.read_text(encoding="utf-8")] == ["trees.py"]
