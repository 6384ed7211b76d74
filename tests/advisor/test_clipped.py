"""Estimates that were clipped at 0 before they are given: what is restored, what competes, and what is written."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from advisor import Advice, advise
from advisor.answers.rank.apply import applied_csv
from advisor.errors import InputError
from advisor.question.collected import POSITIVE_PART, collect
from advisor.question.request import Collected
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods.summaries import SUMMARIES
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.estimates import ALONE
from tests.cells import failures

K, N = 256, 400_000
ORACLE = PROTOCOLS["oue"](K, 1.0)
NOISE = ORACLE.noise(N)
SUM_SD = NOISE.sd * K**0.5  # of the sum of raw estimates: 0.049


def raw(shape: str) -> np.ndarray:
    counts = apportion(frequencies(shape, K), N)
    return ORACLE.estimate(ORACLE.sample_support(counts, rng_for(0, "tests", "clipped", shape)), N)


def repaired(shape: str, method: str) -> np.ndarray:
    return POSTPROCESSORS[method](raw(shape), NOISE)


def checked(values: np.ndarray) -> Collected:
    return collect([str(place) for place in range(K)], values, protocol="oue", epsilon=1.0, n=N)


def answered(values: np.ndarray, **options: object) -> Advice:
    return advise(1.0, estimate=values, protocol="oue", n=N, ordered=False, **(ALONE | options))  # type: ignore[arg-type]


def test_what_was_clipped_is_restored_and_said() -> None:
    """The scale is known as well as the sum of raw estimates, which is 1 on average: a tenth of it is two sd."""

    def check(shape: str) -> None:
        positive = np.maximum(raw(shape), 0.0).sum()
        assert positive > 1 + SUM_SD
        assert 0.1 * positive > 2 * SUM_SD
        for method, scaled in (("base_pos", False), ("norm_mul", True)):
            cut = repaired(shape, method)
            zeros = cut == 0
            found = checked(cut)
            assert found.given is not None
            np.testing.assert_array_equal(found.given, cut)
            estimate = found.observed.estimate
            scale = estimate[~zeros].sum()
            assert scale == pytest.approx(positive, rel=0.1 if scaled else 1e-12)
            np.testing.assert_allclose(estimate[~zeros], scale * cut[~zeros] / cut.sum(), rtol=1e-12)
            # What is drawn below 0 sums to what was cut off, to three sd of the difference of two such sums at most.
            assert (estimate[zeros] <= 0).all()
            assert abs(estimate[zeros].sum() - raw(shape)[zeros].sum()) < 3 * 2**0.5 * NOISE.sd * zeros.sum() ** 0.5
            (warning,) = found.warnings
            assert warning.startswith("this is not a raw estimate: it was clipped at 0")
            assert (f"made to sum to 1, from about {scale:.4g}, which is undone" in warning) == scaled
            assert f"({zeros.sum()} of 256 values are exactly 0, none is negative)" in warning
            again = checked(cut * N)  # as counts
            np.testing.assert_allclose(again.observed.estimate, estimate, rtol=1e-9)

    assert failures(["zipf", "sparse"], check) == {}


def test_only_what_needs_no_negative_values_competes_and_the_raw_row_is_of_what_was_given() -> None:
    for method in ("base_pos", "norm_mul"):
        cut = repaired("sparse", method)
        advice = answered(cut)
        assert {row.method for row in advice.recommendations} <= POSITIVE_PART | {*SUMMARIES}
        assert {*SUMMARIES} < {row.method for row in advice.recommendations}
        assert "only methods that need no negative values compete" in advice.warnings[0]
        assert advice.request.populations is not None
        by_hand = np.abs(cut - advice.request.populations / N).sum(axis=1).mean()
        (own,) = (row for row in advice.baselines if row.kind == "raw")
        assert own.error == pytest.approx(by_hand, rel=1e-12)
        rows = list(csv.DictReader(io.StringIO(applied_csv(advice))))
        np.testing.assert_array_equal([float(row["raw"]) for row in rows], cut)
        assert advice.request.collected is not None
        restored = advice.request.collected.observed
        expected = POSTPROCESSORS[advice.best.method].apply(restored)
        np.testing.assert_allclose([float(row["post_processed"]) for row in rows], expected, atol=1e-15)
        np.testing.assert_array_equal(advice.apply(cut), expected)


def test_methods_that_all_need_negative_values_are_refused() -> None:
    with pytest.raises(InputError, match="was clipped at 0, and method none, eb_ns needs the values that were below"):
        answered(repaired("sparse", "base_pos"), method=["none", "eb_ns"])


def test_methods_that_compete_make_the_same_of_what_is_clipped_and_others_do_not() -> None:
    """Power laws read the rare values from the positive ones, up to a fiftieth of the noise."""

    def moved(name: str) -> float:
        values, method = raw("sparse"), POSTPROCESSORS[name]
        return float(np.abs(method(np.maximum(values, 0.0), NOISE) - method(values, NOISE)).max()) / NOISE.sd

    moves = {name: moved(name) for name in (*POSITIVE_PART, "none", "norm", "eb_ns")}
    assert {name for name, move in moves.items() if move > 0.05} == {"none", "norm", "eb_ns"}
    assert {name for name, move in moves.items() if move > 1e-9} - {"none", "norm", "eb_ns"} == {"power", "power_ns"}


def test_what_has_more_zeros_than_half_was_repaired_in_another_way_and_is_only_warned_of() -> None:
    def check(method: str) -> None:
        cut = repaired("sparse", method)
        assert (cut == 0).mean() > 0.6
        found = checked(cut)
        assert found.given is None
        np.testing.assert_array_equal(found.observed.estimate, cut)
        (warning,) = found.warnings
        assert "it was cut or repaired before" in warning
        assert f"{(cut == 0).sum()} of 256 values are exactly 0" in warning

    assert failures(["norm_sub", "norm_cut", "base_cut"], check) == {}
    advice = answered(repaired("sparse", "norm_sub"))
    assert {row.method for row in advice.recommendations} > POSITIVE_PART | {"none", "eb_ns"}


def test_clipping_by_a_product_leaves_minus_zeros_and_is_seen() -> None:
    values = raw("zipf")
    (warning,) = checked(values * (values > 0)).warnings
    assert "values are exactly 0, none is negative" in warning
