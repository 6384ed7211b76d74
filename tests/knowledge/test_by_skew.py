"""The surface for assumed skews, against the slower way: describing the four histograms that a skew stands for."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from knowledge.assumed import HISTOGRAMS, AssumedSkew, assumed_profiles
from knowledge.by_skew import INPUTS, LEAST, STEEPEST, describe_skew
from knowledge.features import describe
from knowledge.grid import Grid, load, look_up, noises_of, predict, predict_several
from knowledge.menu import DOMAIN, MEASURED, METHODS, METRICS, ORDERED_METRICS, USERS
from knowledge.noise_columns import cancelling
from knowledge.profile import profile_of
from knowledge.teach_skews import TAUGHT_STEEPEST, Answers, answers, missed_by, question
from simulator import PROTOCOLS, Noise
from simulator.metrics import TOP_SHARE
from simulator.populations import frequencies


@cache  # what a grid has said is remembered with it
def described(grid: Grid) -> Grid:
    """Return the grid without what it learned of skews, so that their histograms are described."""
    return replace(grid, skews=None)


@pytest.mark.parametrize("k", [2, 7, 300, 5000])
def test_of_equal_frequencies_the_reference_errors_are_those_of_the_histogram(k: int) -> None:
    noises = list(noises_of(k, 1.0, 10**6).values())
    learned = describe_skew(AssumedSkew(k, 0.0), noises)
    slower = describe([profile_of(np.ones(k))], noises)
    # The distance along the order is an integral here, and there a sum over at most 256 stretches; where part of the
    # noise cancels, it lies between those of none and all, here on a straight line.
    along = [1.5 / min(k, 256) if cancelling(noise) in (0.0, 1.0) else 1.5 / min(k, 256) + 0.06 for noise in noises]
    for metric in MEASURED:
        off = np.abs(learned.raw[metric] / slower.raw[metric] - 1)[0]
        assert (off < (along if metric in ORDERED_METRICS else 2e-5)).all(), metric
        caps = [np.broadcast_to(of.cap[metric], (1, 1)) for of in (learned, slower)]
        np.testing.assert_allclose(*caps, rtol=2e-5)


@pytest.mark.parametrize("skew", [0.3, 1.0, 2.9])
@pytest.mark.parametrize("k", [2, 31, 1024, 60_000])
def test_the_inputs_are_figures_of_a_zipf_distribution(k: int, skew: float) -> None:
    noise = Noise(n=5_000, p=0.6, q=0.2, variance_at_zero=3e-5, variance_slope=2e-5, sums_to_one=False, cancels=0.25)
    f = frequencies("zipf", k, skew)
    top = f[: max(1, round(TOP_SHARE * k))]
    variance = 3e-5 + 2e-5 * f
    wanted = {
        "log_k": np.log(k),
        "log_users": np.log(5_000 / k),
        "skew": skew,
        "log_skew": np.log(skew + 0.01),
        "log_noise": np.log(k * np.sqrt(3e-5)),
        "log_slope": np.log1p(2 / 3 / k),
        "log_slope_top": np.log1p(2 / 3 * f.max()),
        "sums_to_one": 0.25,
        "log_shift": np.log(k * 0.5 + 1e-8),
        "log_concentration": np.log(k * (f**2).sum()),
        "log_excess": np.log(k * (f**2).sum() - 1 + 1e-5),
        "log_top": np.log(k * f.max()),
        "log_raw_squares": np.log(variance.sum() / (f**2).sum()),
        "log_raw_top": np.log(variance.mean() / (top**2).mean()),
        "log_held": np.log(np.clip((10_000 * f[0]) ** (1 / skew), 1, k)),
        "log_above": np.log(np.clip((f[0] / np.sqrt(3e-5)) ** (1 / skew), 1, k)),
    }
    (found,) = describe_skew(AssumedSkew(k, skew), [noise]).features[0]
    by_name = dict(zip(INPUTS, found.tolist(), strict=True))
    assert {name: by_name[name] for name in wanted} == pytest.approx(wanted, abs=1e-5)
    assert [name for name in INPUTS if name.startswith("k_is") and by_name[name]] == [f"k_is_{k}"] * (k <= 32)


def test_on_questions_it_never_saw_it_is_as_near_as_its_provenance_says() -> None:
    """The provenance is of every twentieth question of the build; these come after all of those."""
    grid = load()
    stored = grid.provenance["skews"]
    first = stored["questions"]
    every = answers(range(first, first + 60), grid.provenance["seed"], described(grid))
    served = (every.of("skew") >= LEAST) & (every.of("skew") <= STEEPEST)
    seen = Answers(*(column[served] for column in every))
    assert grid.skews is not None
    _, _, found = missed_by(grid.skews.network, seen)
    for name in ("median", "95 %", "regret"):  # of 40 questions, each varies by a seventh (standard deviation)
        assert 0 < found[name] < 1.5 * stored["off_by"][name], name


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("skew", [0.05, 0.4, 1.0, 1.5, 2.0])
def test_the_answers_are_those_of_the_histograms(skew: float, metric: str) -> None:
    """What is put first is, by the slower way, hardly worse than what that puts first; and its interval holds it."""
    grid = load()
    for k, epsilon, n in ((5, 0.5, 20_000), (40, 1.0, 100_000), (1024, 3.0, 10**6), (256, 1.0, 10**5)):
        noises = noises_of(k, epsilon, n)
        assert grid.skews is not None
        assert grid.skews.log_errors(AssumedSkew(k, skew), list(noises.values())) is not None
        quick = look_up(AssumedSkew(k, skew), epsilon, n, metric)
        slower = look_up(AssumedSkew(k, skew), epsilon, n, metric, grid=described(grid))
        by_pair = {(row.protocol, row.method): row for row in slower.rows}
        assert set(by_pair) == {(row.protocol, row.method) for row in quick.rows}
        chosen = by_pair[quick.best.protocol, quick.best.method]
        assert chosen.ratio < 1.1
        assert quick.best.low < chosen.error < quick.best.high
        assert quick.best.source == chosen.source == "interpolated"


def test_intervals_hold_what_was_not_learned(tiny: Path) -> None:
    """Of the same errors, those that were learned have the wider intervals: by what the learning misses."""
    grid = load(tiny)
    assert grid.skews is not None
    exact = replace(grid, skews=grid.skews._replace(spread=0 * grid.skews.spread, own_spread=0 * grid.skews.own_spread))
    wide, narrow = (look_up(AssumedSkew(100), 1.0, 10_000, "l1", grid=of) for of in (grid, exact))
    for one, other in zip(wide.rows, narrow.rows, strict=True):
        assert one.error == other.error
        assert one.low < other.low
        assert one.high > other.high
    assert wide.rows[-1].ratio_high > narrow.rows[-1].ratio_high


@pytest.mark.parametrize(
    ("skew", "n", "epsilon"),
    [(0.04, 10_000, 1.0), (STEEPEST + 0.01, 10_000, 1.0), (1.0, USERS[0] - 1, 1.0), (1.0, 10_000, 1e-4)],
)
def test_what_was_not_learned_is_described(skew: float, n: int, epsilon: float, tiny: Path) -> None:
    grid, k = load(tiny), 100
    assert grid.skews is not None
    assert grid.skews.log_errors(AssumedSkew(k, 1.0), list(noises_of(k, 1.0, 10_000).values())) is not None
    noises = noises_of(k, epsilon, n)
    assert grid.skews.log_errors(AssumedSkew(k, skew), list(noises.values())) is None
    found = predict(AssumedSkew(k, skew), noises, grid=grid)
    wanted = predict(assumed_profiles(k, n, skew=skew), noises, grid=grid)
    np.testing.assert_array_equal(found.logs, wanted.logs)
    np.testing.assert_array_equal(found.outside, wanted.outside)
    np.testing.assert_array_equal(found.spread, grid.spread)


def test_small_domains_that_were_not_seen_are_described(tiny: Path) -> None:
    """Each size up to 32 has an input of its own; the tiny build saw few of them."""
    skews = load(tiny).skews
    assert skews is not None
    seen = [k for k in range(2, 33) if skews.high[INPUTS.index(f"k_is_{k}")] > 0.5]
    noises = {k: list(noises_of(k, 1.0, 10_000, ["oue"]).values()) for k in range(2, 33)}
    served = [k for k in noises if skews.log_errors(AssumedSkew(k), noises[k]) is not None]
    assert served
    assert set(served) <= set(seen) < set(noises)


def test_noise_that_is_no_number_is_not_learned(tiny: Path) -> None:
    skews = load(tiny).skews
    assert skews is not None
    noise = PROTOCOLS["oue"](100, 1.0).noise(10_000)
    assert skews.log_errors(AssumedSkew(100), [noise]) is not None
    assert skews.log_errors(AssumedSkew(100), [noise, replace(noise, cancels=math.nan)]) is None


def test_domains_past_the_range_are_described() -> None:
    noises = list(noises_of(DOMAIN[1] + 1, 1.0, 10**6, ["oue"]).values())
    skews = load().skews
    assert skews is not None
    assert skews.log_errors(AssumedSkew(DOMAIN[1] + 1), noises) is None
    assert skews.log_errors(AssumedSkew(DOMAIN[1]), noises) is not None


@pytest.mark.parametrize("learned", [True, False])
def test_each_number_of_users_gets_the_answer_of_asking_for_it(learned: bool, tiny: Path) -> None:
    """Whatever is asked with it: the last of these was never learned."""
    grid = load(tiny) if learned else described(load(tiny))
    asked = [(1.0, 10_000, None), (1.0, 2_000, ["grr"]), (1.0, 10_000, ["ss"]), (1e-4, 10_000, ["oue"])]
    sets = [noises_of(100, epsilon, n, protocols) for epsilon, n, protocols in asked]
    for noises, found in zip(sets, predict_several(AssumedSkew(100), sets, grid=grid), strict=True):
        alone = predict(AssumedSkew(100), noises, grid=replace(grid))  # the same, but nothing is remembered of it
        assert found.logs.shape == (HISTOGRAMS, len(noises), len(METHODS), len(MEASURED))
        np.testing.assert_array_equal(found.logs, alone.logs)
        np.testing.assert_array_equal(found.outside, alone.outside)
        np.testing.assert_array_equal(found.spread, alone.spread)


def test_protocols_asked_about_together_get_the_figures_of_each(tiny: Path) -> None:
    noises = noises_of(100, 1.0, 10_000)
    together = predict(AssumedSkew(100), noises, grid=load(tiny))
    for place, (name, noise) in enumerate(noises.items()):
        alone = predict(AssumedSkew(100), {name: noise}, grid=load(tiny))
        np.testing.assert_allclose(alone.logs[:, 0], together.logs[:, place], atol=1e-5)  # in single precision


def test_what_is_remembered_cannot_be_written_to(tiny: Path) -> None:
    for of in (AssumedSkew(100), AssumedSkew(100, 0.01), assumed_profiles(100, 10_000)):
        found = predict(of, noises_of(100, 1.0, 10_000), grid=load(tiny))
        for array in (found.logs, found.outside, found.spread, found.own_spread):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0


def test_noise_of_no_protocol_of_the_table_is_served() -> None:
    """One between others: its errors are, too."""
    low, high = (PROTOCOLS["oue"](50, epsilon).noise(100_000) for epsilon in (1.2, 1.0))
    between = replace(low, p=0.6, q=0.3, variance_at_zero=(low.variance_at_zero * high.variance_at_zero) ** 0.5)
    first, middle, last = (
        predict(AssumedSkew(50), {"it": noise}).logs.mean(axis=0)[0, METHODS.index("norm_sub")]
        for noise in (low, between, high)
    )
    assert load().skews.log_errors(AssumedSkew(50), [between]) is not None  # type: ignore[union-attr]
    for column, metric in enumerate(MEASURED):
        assert first[column] - 0.01 < middle[column] < last[column] + 0.01, metric


def test_questions_are_drawn_by_their_number() -> None:
    one, again = question(17, seed=4), question(17, seed=4)
    assert one == again
    assert one != question(18, seed=4)
    drawn = [question(number, seed=4) for number in range(200)]
    assert {len({noise.n for noise in of.noises}) for of in drawn} == {1}
    assert min(of.of.k for of in drawn) < 10
    assert max(of.of.k for of in drawn) > 10_000
    assert sum(of.of.skew == 1.0 for of in drawn) > 10
    assert sum(of.of.skew < LEAST for of in drawn) > 10
    assert STEEPEST < max(of.of.skew for of in drawn) <= TAUGHT_STEEPEST


def test_a_look_up_of_a_skew_describes_nothing() -> None:
    code = (
        "import sys, advisor; advisor.advise(1, k=256, metric='emd')\n"
        "print([name for name in ('knowledge.features', 'knowledge.by_value', 'knowledge.by_order') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
