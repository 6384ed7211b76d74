import re
from functools import partial
from itertools import product
from pathlib import Path

import compare_places
import consistency
import judge_samples
import judge_tallies
import numpy as np
import ordered_choices
import ordered_domains
import outside_figures
import pytest
from common import experiment
from families import Truth
from fit_plausibility import Example, fit

from advisor.question.question import Question
from advisor.question.settings import Menu
from simulator.benchmark import simulate
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

DOCS = Path(__file__).parents[2] / "docs"
ROW = re.compile(r"^\| ([IV]+-[A-F]) \| (.*?) \| (.*?) \| (yes|\*\*no\*\*) \|$", flags=re.MULTILINE)


def test_the_comparison_of_mechanisms_prints_a_table(tmp_path, capsys):
    pytest.importorskip("ot")
    town = tmp_path / "town.csv"
    counts = np.random.default_rng(0).integers(1, 400, size=(5, 6))
    lines = [f"{row},{column},{counts[row, column]}" for row in range(5) for column in range(6)]
    town.write_text("row,col,count\n" + "\n".join(lines) + "\n", encoding="utf-8")
    compare_places.main(str(town), grid="5x6", zoom=["2x2"], repetitions=2, n=500)
    table = capsys.readouterr().out
    assert "| 5x6 | 500 | planar_geometric | ibu |" in table
    assert "| block 2x2" in table


def test_pairs_for_ordered_domains_are_compared_with_categorical_and_published_ones():
    truth = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    found = list(ordered_domains.ratios(truth, 1.0, 1000, 4))
    assert {against for _, _, against, _ in found} == {"categorical", "published"}
    own = {(pair, metric): value for pair, metric, against, value in found if against == "categorical"}
    assert own["ss + wavelet_eb", "emd"] == 1
    assert {pair for pair, _ in own} > {"chosen", "tree + tree_eb", "sw + em"}


def test_the_pair_that_is_listed_first_is_judged_by_other_repetitions():
    truth, pair = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), ("tree", "tree_eb")
    assert ordered_choices.first_listed(truth, 1.0, 1000, "emd") in ordered_choices.PAIRS
    assert ordered_choices.ratio(truth, 1.0, 1000, "emd", ordered_domains.CATEGORICAL, 4) == (1.0, 0.0)
    value, error = ordered_choices.ratio(truth, 1.0, 1000, "emd", pair, 100)
    pairs = (pair, ordered_domains.CATEGORICAL)
    counts = apportion(truth, 1000)
    runs = simulate(experiment(counts, 1.0, pairs, ["emd"], ordered=True, seed=1), 0, 100).of("emd")
    assert value == pytest.approx(runs[pair].mean() / runs[ordered_domains.CATEGORICAL].mean())
    parts = [runs[pair][i::20].mean() / runs[ordered_domains.CATEGORICAL][i::20].mean() for i in range(20)]
    assert error == pytest.approx(np.std(parts, ddof=1) / np.sqrt(20), rel=0.6)  # 19 degrees of freedom: sd of 16 %


def test_errors_of_all_methods_are_measured_in_all_tasks():
    errors = consistency.mean_errors(apportion(frequencies("zipf", 64, 1.5), 10_000), 1.0, 10)
    assert set(consistency.ADVICE) <= set(errors)
    for by_method in errors.values():
        assert set(by_method) == set(consistency.METHODS)
    assert errors["mse"]["post_pos"] == errors["mse"]["base_pos"]
    assert errors["set 0.5"]["post_pos"] != errors["set 0.5"]["base_pos"]
    # Sets of a single value are values: 1 % of 64 is one of them.
    assert np.isclose(errors["set 0.01"]["norm_sub"], errors["mse"]["norm_sub"])


@pytest.mark.slow
def test_the_page_has_the_verdicts_of_the_script(monkeypatch, capsys):
    monkeypatch.setattr(consistency, "OTHERS", consistency.OTHERS[-1:])  # the shapes of the second table take as long
    consistency.check()
    printed = capsys.readouterr().out
    page = (DOCS / "evidence_consistency.md").read_text(encoding="utf-8")
    shown, now = (ROW.findall(text) for text in (page, printed))
    assert len(now) == len(consistency.FINDINGS)
    assert [(sentence, holds) for _, sentence, _, holds in now] == [(row[1], row[3]) for row in shown]
    own = [line for line in printed.splitlines() if line.startswith("| their Zipf data |")]
    assert len(own) == 3
    for line in own:
        assert line.rsplit("|", 3)[0] in page  # all but the two figures that are not whole


def test_the_faulty_subsets_have_the_error_of_simulated_ones():
    k, n, epsilon, repetitions = 12, 200, 1.0, 400
    size, odds = 4, np.exp(epsilon)  # ceil(12 / (e + 1)) = 4
    p = size * odds / (size * odds + k - size)
    q = (p * (size - 1) + (1 - p) * size) / (k - 1)
    rng, truth = np.random.default_rng(5), np.eye(k)[0] * n
    errors = []
    for _ in range(repetitions):
        order = rng.random((n, k))
        order[:, 0] = np.where(rng.random(n) <= p, -1.0, order[:, 0])  # put in first, or as likely as any other
        chosen = np.argsort(order, axis=1)[:, :size]
        estimate = (np.bincount(chosen.ravel(), minlength=k) - n * q) / (p - q)
        errors.append(((estimate - truth) ** 2).mean())
    expected = outside_figures.squared_error_of_their_subsets(k, n, epsilon)
    chance = np.std(errors) / repetitions**0.5
    assert abs(np.mean(errors) - expected) < 4 * chance  # false alarms: 1 in 16,000
    honest = outside_figures.squared_error("ss", k, n, epsilon)
    assert expected > honest + 8 * chance  # and the fault would be seen


@pytest.mark.slow
def test_the_page_shows_the_rows_that_the_script_prints(capsys):
    outside_figures.compare()
    *lines, last = [line for line in capsys.readouterr().out.splitlines() if line]
    page = " ".join((DOCS / "evidence_outside.md").read_text(encoding="utf-8").split())  # lines may be broken there
    assert len(lines) > 30
    assert [line for line in lines if " ".join(line.split()) not in page] == []
    assert last.startswith("ldp-advise ")


@pytest.mark.slow
def test_the_ratio_of_two_normal_densities_is_found():
    """Its logarithm is a parabola: that of N(1/2, 1/2) over N(0, 1)."""
    rng = rng_for(0, "two normal densities")
    counts = np.array([1.0, 0.5, 0.5])
    made = [Example(rng.normal([[0.5], [0], [0]], [[0.5], [1], [1]]), counts) for _ in range(40_000)]
    places = np.array([-0.5, 0.0, 0.5, 1.0])
    found = fit(made).logs(places[:, None])
    exact = places**2 / 2 - (places - 0.5) ** 2 / (2 * 0.5**2)
    # Within a tenth of each place are some 2,000 rows of either kind, and the penalty takes a few hundredths.
    np.testing.assert_allclose(found - found[1], exact - exact[1], atol=0.1)


@pytest.mark.slow
def test_a_choice_from_a_small_sample_is_compared_with_the_best_pair_where_all_is_known(monkeypatch):
    few = partial(Question, menu=Menu(protocol=("sw", "oue", "tree")))  # of whom the first is best
    monkeypatch.setattr(judge_samples, "Question", few)
    found = list(judge_samples.choices(Truth("geometric k=64", True, frequencies("geometric", 64))))
    assert [(*one.row, one.metric) for one in found] == [
        (p, m) for p in judge_samples.POSTERIORS for m in judge_samples.METRIC_NAMES
    ]
    assert min(one.ratio for one in found) >= 1
    curve, no_order = (
        next(one for one in found if (*one.row, one.metric) == (p, "l1")) for p in judge_samples.POSTERIORS
    )
    assert curve.ratio < no_order.ratio  # 1.0 and 2.0


@pytest.mark.slow
def test_a_choice_from_a_tally_is_compared_with_the_best_method():
    truth = Truth("bimodal k=64", True, frequencies("bimodal", 64))
    found = list(judge_tallies.choices(truth, 1.0, 100_000))
    rows = [(one.row, one.metric) for one in found]
    assert rows == list(product(judge_tallies.POPULATIONS, judge_tallies.METRIC_NAMES))
    assert min(one.ratio for one in found) >= 1
