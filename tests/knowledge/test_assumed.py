from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from knowledge.assumed import assumed_profile, assumed_profiles, parse_shape
from knowledge.grid import load, look_up, noises_of
from knowledge.why import why
from simulator.populations import SHAPES, frequencies


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_the_simulator_can_be_assumed(name: str) -> None:
    parameter = SHAPES[name].parameter
    for text in (name, name.upper().replace("_", "-"), f"{name}:{parameter!r}"):
        profile = assumed_profile(50, 10_000_000, shape=text)
        np.testing.assert_allclose(np.sort(profile.points), np.sort(frequencies(name, 50, parameter)))


def test_without_a_word_the_skew_is_1() -> None:
    assert assumed_profile(300, 10**8).skew == pytest.approx(1, abs=1e-3)
    assert assumed_profile(300, 10**8, skew=0).entropy_gap == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("text", ["", "cauchy", "gaussian:", "gaussian:wide", "gaussian:inf", ":1"])
def test_wrong_shapes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="shape"):
        parse_shape(text)


@pytest.mark.parametrize("given", [{"skew": -0.1}, {"skew": math.nan}, {"skew": 9}, {"skew": 1, "shape": "zipf"}])
def test_wrong_skews_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="skew"):
        assumed_profile(10, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("k", [2, 30, 500])
def test_an_unknown_shape_is_averaged_over(k: int, skew: float, tiny: Path) -> None:
    profiles = assumed_profiles(k, 10**8, skew=skew)
    assert len(profiles) == 4
    assert profiles[0].skew == pytest.approx(skew, abs=1e-3)
    grid = load(tiny)
    together = look_up(profiles, 1.0, 100_000, "l2", grid=grid)
    alone = [look_up(profile, 1.0, 100_000, "l2", grid=grid) for profile in profiles]
    row = together.rows[3]
    each = [next(r for r in one.rows if (r.protocol, r.method) == (row.protocol, row.method)).error for one in alone]
    assert row.error == pytest.approx(float(np.exp(np.mean(np.log(each)))))
    assert row.low < row.error < row.high


def test_tree_and_grid_are_compared(tiny: Path) -> None:
    profile = assumed_profile(40)
    noises = noises_of(40, 1.0, 100_000)
    found = look_up(profile, 1.0, 100_000, "l1", grid=load(tiny))
    reasons = why(found, profile, noises, folder=tiny)
    assert reasons.protocol == found.best.protocol
    assert reasons.agrees == (reasons.explanation.method == found.best.method)
    assert reasons.ratio >= 1
    assert ("disagree" in reasons.note) != reasons.agrees
