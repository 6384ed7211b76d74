from functools import cache

import numpy as np
import pytest

from knowledge.making import ordered_cells
from knowledge.making.cells import POPULATIONS, SimulatedCell
from knowledge.making.fitting import profiles_in
from knowledge.making.ordered_cells import UNMARKED, OrderedCell, assemble_ordered, ordered_cell, simulate_ordered
from knowledge.making.populations import COLUMN, MARKS, OUTLYING, draw
from knowledge.making.populations import CURVES as SMOOTH_FAMILIES
from knowledge.making.workers import Workers
from knowledge.menu import ALIASES, COVERED, CURVE_PROTOCOLS, CURVES, LEAVES, MEASURED, METHODS, ORDERED_DOMAIN
from knowledge.predict import curve_inputs
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, frequency_oracles, rng_for
from simulator.domain import ORDERED
from simulator.methods import observe, possible
from simulator.populations import SHAPES, apportion

ONE = OrderedCell(7, 12, "oue", 1.0, 5_000, ("zipf", "gaussian"))


@cache
def simulated():
    return simulate_ordered(ONE)


def test_every_pair_of_an_ordered_domain_is_simulated():
    """But for the IBU on a square wave: it is EM without an end, and never better."""
    of_order = {key for key, method in POSTPROCESSORS.items() if "order" in method.needs}
    for name, kind in PROTOCOLS.items():
        fitting = {key for key, method in POSTPROCESSORS.items() if possible(method, kind(16, 1.0), ORDERED, 1000)}
        if name in CURVE_PROTOCOLS:
            assert fitting - {method for protocol, method in CURVES.pairs if protocol == name} <= {"ibu"}
        elif name in frequency_oracles():
            assert fitting - of_order <= {*METHODS, *ALIASES}  # which have cells of their own
            assert fitting & of_order <= {method for _, method in LEAVES.pairs}
    assert set(POSTPROCESSORS) >= COVERED


@pytest.mark.parametrize(
    ("first", "smooth", "column", "columns"),
    [
        (ordered_cells.OF_ALL_KINDS, 2, COLUMN, 0),
        (UNMARKED, 1, COLUMN, POPULATIONS // 2),
        (ordered_cells.INLYING, 1, OUTLYING, POPULATIONS // 2),
    ],
)
def test_later_cells_are_mostly_smooth_and_half_of_the_last_ones_are_columns(first, smooth, column, columns):
    for index in range(first, first + 100):
        drawn = ordered_cell(index)
        assert len(drawn.families) == POPULATIONS
        assert [drawn.families.count(name) for name in (*SMOOTH_FAMILIES, column)] == [smooth, smooth, columns]
        assert sum(name in SHAPES and SHAPES[name].ordered for name in drawn.families) == 2
        assert 2 <= drawn.k <= ORDERED_DOMAIN


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_changes_what_it_says(mark):
    changed = 0
    for number in range(20):
        before = 1 + rng_for(0, "smooth", number).random(60)
        after = before.copy()
        MARKS[mark](after, rng_for(0, "mark", number))
        moved = np.flatnonzero(after != before)
        changed += len(moved) > 0
        ratios = (after / before)[moved]
        if mark == "coarse":
            assert ratios == pytest.approx(np.round(ratios), abs=1e-9)  # so many values of the lattice lie in the bin
        elif mark == "heaps":
            assert len(set(np.diff(moved))) <= 1
            assert ratios == pytest.approx(np.full(len(moved), ratios[0]))
            assert (ratios > 1).all()
        elif mark == "bursts":
            assert (ratios > 1).all()
            assert len(moved) < 20
        elif mark == "gaps":
            assert (ratios == 0).all()
        else:
            assert moved.tolist() in ([0], [59])
            assert (ratios > 1).all()
    assert changed > 5


def test_columns_are_rougher_the_larger_their_parameter_and_mostly_empty_where_a_value_lies_far():
    drawn = [draw(COLUMN, 200, rng_for(0, "column", number)) for number in range(200)]
    few, many = (
        [float(np.abs(np.diff(one.frequencies)).sum()) for one in drawn if (one.parameter > 0.5) == large]
        for large in (False, True)
    )
    assert np.mean(many) > 1.3 * np.mean(few)
    empty, far = [], 0
    for number in range(200):
        frequencies = draw(OUTLYING, 200, rng_for(0, "outlying", number)).frequencies
        empty.append(np.mean(frequencies == 0))
        used = np.flatnonzero(frequencies)
        far += int(np.diff(used).max(initial=0) > 20)
    assert np.median(empty) > 0.5
    assert far > 100


def test_their_streams_are_not_those_of_other_cells():
    same = SimulatedCell(7, 12, "oue", 1.0, 5_000, ("zipf", "gaussian"))
    assert [one.parameter for one in same.populations()] != [one.parameter for one in ONE.populations()]


@pytest.mark.parametrize("pair", [("tree", "tree_eb"), ("sw", "em_stopped"), ("oue", "tree_eb"), ("sw", "em")])
def test_simulated_errors_are_those_of_the_pairs(pair):
    measured = simulated()
    counts = [apportion(population.frequencies, ONE.n) for population in ONE.populations()]
    protocol = PROTOCOLS[pair[0]](ONE.k, ONE.epsilon)
    rows = np.repeat(np.stack(counts), ONE.repetitions, axis=0)
    tally = protocol.sample_tally(rows, rng_for(0, "ordered", "collect", 7, pair[0]))
    answers = POSTPROCESSORS[pair[1]].compute(observe(protocol, tally, ORDERED)).reshape(2, -1, ONE.k)
    if pair == ("sw", "em"):
        answers = answers[:, : ordered_cells.SLOW_REPETITIONS]
    pairs = [*((ONE.protocol, method) for _, method in LEAVES.pairs), *CURVES.pairs]
    for own, count, errors in zip(answers, counts, measured.error, strict=True):
        expected = METRICS["emd"](own, count / ONE.n).mean()
        assert errors[pairs.index(pair), MEASURED.index("emd")] == pytest.approx(expected)


def test_rows_are_what_was_measured_over_what_was_to_be_expected():
    measured = simulated()
    leaves, curves = assemble_ordered([measured], Workers())
    own = len(LEAVES.pairs)
    for data, errors, variance in (
        (leaves, measured.error[:, :own], measured.relative_variance[:, :own]),
        (curves, measured.error[:, own:], measured.relative_variance[:, own:]),
    ):
        logs = np.log(errors) + np.minimum(variance, 1.0) / 2
        np.testing.assert_allclose(data.log_reference + data.log_ratios, logs, atol=1e-9)
        assert data.others.shape[:2] == (2, 4)
    features, reference = curve_inputs(profiles_in(ONE), ONE.epsilon, ONE.n)
    np.testing.assert_allclose(curves.features, features)
    np.testing.assert_allclose(curves.log_reference, reference)
