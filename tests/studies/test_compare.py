"""The studies that compare: their tables on a small town and on a few shapes."""

from __future__ import annotations

from pathlib import Path

import compare_methods
import compare_places
import numpy as np
import ordered_choices
import ordered_domains
import pytest

from advisor.errors import InputError
from simulator.benchmark import simulate
from simulator.places import Places


def test_the_comparison_of_mechanisms_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ot")
    town = tmp_path / "town.csv"
    counts = np.random.default_rng(0).integers(1, 400, size=(5, 6))
    lines = [f"{row},{column},{counts[row, column]}" for row in range(5) for column in range(6)]
    town.write_text("row,col,count\n" + "\n".join(lines) + "\n", encoding="utf-8")
    arguments = [str(town), "--grid", "5x6", "--zoom", "2x2", "--reps", "2", "--n", "500"]
    compare_places.app(arguments, standalone_mode=False)
    table = capsys.readouterr().out
    assert "| 5x6 | 500 | planar_geometric | ibu |" in table
    assert "| block 2x2" in table


@pytest.mark.slow
def test_the_adaptive_methods_are_compared_with_the_best_in_hindsight() -> None:
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    found = list(compare_methods.ratios(truth, ordered=False, repetitions=2))
    assert {challenger for challenger, _, _ in found} == {"eb_ns"}
    assert all(ratio > 0 for _, _, ratio in found)


def test_the_busiest_block_is_found() -> None:
    table = np.zeros((4, 5), dtype=np.int64)
    table[2, 3] = 5
    table[3, 4] = 4
    assert compare_places.busiest_block(table.ravel(), Places(4, 5), 2, 2) == (2, 3)
    with pytest.raises(InputError, match="must fit"):
        compare_places.busiest_block(table.ravel(), Places(4, 5), 5, 2)


def test_pairs_for_ordered_domains_are_compared_with_categorical_and_published_ones() -> None:
    truth = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    found = list(ordered_domains.ratios(truth, 1.0, 1000, 4))
    assert {against for _, _, against, _ in found} == {"categorical", "published"}
    own = {(pair, metric): value for pair, metric, against, value in found if against == "categorical"}
    assert own["ss + wavelet_eb", "emd"] == 1
    assert {pair for pair, _ in own} > {"chosen", "tree + tree_eb", "sw + em"}
    published = {pair: value for pair, metric, against, value in found if (metric, against) == ("emd", "published")}
    assert min(published[" + ".join(pair)] for pair in ordered_domains.PUBLISHED) == 1


def test_the_pair_that_is_listed_first_is_judged_by_other_repetitions() -> None:
    """By hand: the quotient of mean errors with another seed, and its standard error over parts of many."""
    truth, pair = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), ("tree", "tree_eb")
    assert ordered_choices.first_listed(truth, 1.0, 1000, "emd") in ordered_choices.PAIRS
    assert ordered_choices.ratio(truth, 1.0, 1000, "emd", ordered_domains.CATEGORICAL, 4) == (1.0, 0.0)
    value, error = ordered_choices.ratio(truth, 1.0, 1000, "emd", pair, 200)
    pairs = (pair, ordered_domains.CATEGORICAL)
    runs = simulate(ordered_choices.experiment_of(truth, 1.0, 1000, "emd", 1, pairs), 0, 200).of("emd")
    assert value == pytest.approx(runs[pair].mean() / runs[ordered_domains.CATEGORICAL].mean())
    parts = [runs[pair][i::20].mean() / runs[ordered_domains.CATEGORICAL][i::20].mean() for i in range(20)]
    assert error == pytest.approx(np.std(parts, ddof=1) / np.sqrt(20), rel=0.6)  # 19 degrees of freedom: sd of 16 %
