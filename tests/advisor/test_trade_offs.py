"""What an answer says it gives up: single categories for the whole distribution, or one metric for another."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from advisor import advise
from advisor.answers.rank.trade_offs import best_for_single_categories, predicted_for_single_categories
from advisor.names import pair_text, protocol_text
from advisor.show.page import fragment_html
from advisor.show.rank.answer import compromise_sentences, summary
from advisor.show.rank.document import rank_document
from simulator.confidence import ratio_over_truths
from simulator.ranking import RatioOf, paired_ratio
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema
from tests.cells import failures

SCHEMA = schema("advice")
MENU = ("-p", "tree,tree_half,pgr", "--method", "tree_eb,eb_ns,norm_sub", "--reps", "12", "--max-reps", "12")
WHOLE = "This is for the distribution as a whole. For single categories use"


@pytest.fixture(scope="module")
def spikes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An ordered domain without a shape: trees are good at ranges, and others at its categories."""
    weights = np.random.default_rng(1).permutation(1 / np.arange(1, 65) ** 1.2)
    counts = np.floor(100_000 * weights / weights.sum()).astype(int)
    path = tmp_path_factory.mktemp("spikes") / "spikes.csv"
    path.write_text("value,count\n" + "".join(f"{value},{count}\n" for value, count in enumerate(counts)))
    return str(path)


ANSWERS: dict[tuple[str, ...], dict[str, Any]] = {}


def answer(run: Run, spikes: str, *metrics: str) -> dict[str, Any]:
    """Return the answer for these metrics, which is simulated once."""
    if metrics not in ANSWERS:
        asked = (*MENU, "--metric", ",".join(metrics), "--format", "json")
        ANSWERS[metrics] = json.loads(run(spikes, "--eps", "2", *asked)[1])
        SCHEMA.validate(ANSWERS[metrics])
    return ANSWERS[metrics]


TEXTS: dict[tuple[str, ...], str] = {}


def text(run: Run, spikes: str, *words: str) -> str:
    """Return the same answer as it is written, simulated once too."""
    if words not in TEXTS:
        code, out, _ = run(spikes, "--eps", "2", *MENU, *words)
        assert code == 0
        TEXTS[words] = " ".join(out.split())
    return TEXTS[words]


def worst_ratio(tables: list[list[dict[str, Any]]], pair: tuple[str, str]) -> float:
    """By a search through all rows of all rankings."""
    rows = [row for table in tables for row in table if (row["protocol"], row["method"]) == pair]
    assert len(rows) == len(tables)
    return float(max(row["ratio_to_best"] for row in rows))


def test_the_pair_that_is_good_at_both_has_the_smallest_of_the_larger_ratios(run: Run, spikes: str) -> None:
    data = answer(run, spikes, "emd", "l1")
    tables = [data["recommendations"], data["further_metrics"][0]["recommendations"]]
    pairs = [(row["protocol"], row["method"]) for row in tables[0]]
    best = min(pairs, key=lambda pair: worst_ratio(tables, pair))
    both = data["compromise"]
    assert (both["protocol"], both["method"]) == best == ("tree_half", "tree_eb")
    assert not both["first"]
    assert not both["in_first_tier"]
    assert max(both["ratios"].values()) == worst_ratio(tables, best)
    assert list(both["ratios"]) == ["emd", "l1"]
    # Better at each than what is best for the other alone.
    assert both["ratios"]["l1"] < next(row["ratio_to_best"] for row in tables[1] if row["protocol"] == "tree")
    assert both["ratios"]["emd"] < next(
        row["ratio_to_best"] for row in tables[0] if (row["protocol"], row["method"]) == ("pgr", "eb_ns")
    )


@pytest.mark.parametrize("words", [("--quiet",), pytest.param(("--format", "markdown"), marks=pytest.mark.slow)])
def test_every_view_names_the_pair_that_is_good_at_both(run: Run, spikes: str, words: tuple[str, ...]) -> None:
    out = text(run, spikes, "--metric", "emd", "--metric", "l1", *words)
    assert "tree_half with Tree empirical Bayes" in out.replace("\\", "")
    assert "times the lowest emd error and" in out


def test_python_and_its_page_say_what_is_given_up() -> None:
    weights = np.random.default_rng(1).permutation(1 / np.arange(1, 65) ** 1.2)
    menu = {"protocol": ["tree", "pgr"], "method": ["tree_eb", "eb_ns"], "repetitions": 12, "max_repetitions": 12}
    advice = advise(2.0, metric="emd", sample_counts=np.floor(100_000 * weights), ordered=True, **menu)
    single = advice.single_categories
    assert single is not None
    assert (single.protocol, single.method) == ("pgr", "eb_ns")
    for text in (summary(advice), fragment_html(rank_document((advice,)))):
        assert f"{WHOLE} PGR with Empirical Bayes: its error per category is" in text


def test_a_pair_that_is_first_everywhere_is_said_to_be_and_nothing_else(run: Run, spikes: str) -> None:
    both = answer(run, spikes, "l1", "mae")["compromise"]
    assert both["first"]
    assert both["in_first_tier"]
    out = text(run, spikes, "--metric", "l1,mae")
    assert f"{pair_text(both['protocol'], both['method'])} is the first choice for both." in out
    assert "times the lowest" not in out


@pytest.mark.slow
def test_many_metrics_are_summed_up_by_the_worst(run: Run, spikes: str) -> None:
    metrics = ("emd", "l1", "l2", "range")
    data = answer(run, spikes, *metrics)
    ratios = data["compromise"]["ratios"]
    worst = max(ratios, key=ratios.__getitem__)
    out = text(run, spikes, "--metric", ",".join(metrics))
    assert f"for all 4 metrics. Nearest to it: {protocol_text(data['compromise']['protocol'])} with" in out
    assert f"times the lowest error of each (that much for {worst})." in out


def test_one_metric_has_no_compromise(run: Run, spikes: str) -> None:
    assert answer(run, spikes, "emd")["compromise"] is None
    assert "times the lowest" not in text(run, spikes, "--metric", "emd")


def test_an_answer_for_the_whole_distribution_names_the_pair_for_single_categories(run: Run, spikes: str) -> None:
    data = answer(run, spikes, "emd")
    single = data["single_categories"]
    assert data["recommendations"][0]["protocol"] in ("tree", "tree_half")
    best = min(data["recommendations"], key=lambda row: row["mean_absolute_error"])
    assert (single["protocol"], single["method"]) == (best["protocol"], best["method"]) == ("pgr", "eb_ns")
    ratio = data["recommendations"][0]["mean_absolute_error"] / best["mean_absolute_error"]
    assert single["ratio"] == pytest.approx(ratio, rel=1e-9)
    assert f"{WHOLE} PGR with Empirical Bayes: its error per category is" in text(run, spikes, "--metric", "emd")
    assert WHOLE in data["summary"]


def test_an_answer_for_single_categories_gives_nothing_up(run: Run, spikes: str) -> None:
    for metric in ("l1", "set"):
        data = answer(run, spikes, metric)
        assert data["single_categories"] is None
        assert WHOLE not in data["summary"]


def test_only_what_is_proven_and_clear_is_given_up() -> None:
    rng = np.random.default_rng(0)
    low = 1 + 0.1 * rng.random(20)
    first, other = ("tree", "tree_eb"), ("pgr", "eb_ns")

    def given_up(own: Any, metric: str = "emd", ratio: RatioOf = paired_ratio) -> Any:
        return best_for_single_categories(metric, first, {first: own, other: low}, ratio)

    assert given_up(1.5 * low) == ("pgr", "eb_ns", pytest.approx(1.5), pytest.approx(1.5), pytest.approx(1.5))
    assert given_up(1.04 * low) is None  # too little to matter
    assert given_up(low + np.where(np.arange(20) == 3, 6.0, 0.0)) is None  # one unlucky collection proves nothing
    half = np.where(np.arange(20) % 2, 1.0, 4.0) * low
    assert given_up(half).ratio == pytest.approx(2.5, rel=0.05)  # the mean over 20 collections is sure
    assert given_up(half, ratio=ratio_over_truths) is None  # of 20 truths, half have nothing to give up
    assert given_up(0.9 * low) is None
    assert given_up(1.5 * low, metric="l1") is None


def test_pairs_are_compared_on_the_repetitions_that_all_have() -> None:
    # Dropped early, in collections that were easy for all: its mean is the lower, and it is not the better pair.
    easy, hard = np.full(20, 1.0), np.full(80, 3.0)
    first, good, dropped = ("tree", "tree_eb"), ("pgr", "eb_ns"), ("oue", "norm_sub")
    errors = {first: 2 * np.concatenate([easy, hard]), good: np.concatenate([easy, hard]), dropped: 1.2 * easy}
    single = best_for_single_categories("emd", first, errors, paired_ratio)
    assert single is not None
    assert (single.protocol, single.method, single.ratio) == (*good, 2.0)


def ranking(metric: str, **rows: tuple[int, float | None]) -> Any:
    """A ranking of pairs by tier and ratio to the lowest error, the first of them first."""
    made = tuple(
        SimpleNamespace(pair=(name, "none"), tier=tier, ratio_to_best=ratio) for name, (tier, ratio) in rows.items()
    )
    return SimpleNamespace(metric=metric, recommendations=made, best=made[0])


def test_the_sentence_goes_no_further_than_the_ratios() -> None:
    cells = [
        ({"a": (1, 1.0), "b": (2, 1.1), "c": (2, 1.2)}, "a with no post-processing is the first choice for both."),
        (
            {"c": (1, 1.0), "a": (1, 1.3), "b": (2, 1.1)},
            "In the first tier for both: a with no post-processing, "
            "1.00 times the lowest emd error and 1.30 times the lowest l1 "
            "error.",
        ),
        (
            {"c": (1, 1.0), "b": (2, 1.1), "a": (3, 1.6)},
            "Good at both: b with no post-processing, 1.12 times the lowest emd error and 1.10 times the lowest l1 "
            "error.",
        ),
        (
            {"c": (1, 1.0), "b": (2, 1.4), "a": (3, 1.6)},
            "No pair is within 25 % of the lowest error for both. Nearest to it: b with no post-processing, "
            "1.12 times the lowest "
            "emd error and 1.40 times the lowest l1 error.",
        ),
        ({"c": (1, 1.0), "b": (2, None), "d": (2, 1.0)}, "3.00 times the lowest emd error"),
    ]

    def check(cell: tuple[dict[str, tuple[int, float]], str]) -> None:
        second, sentence = cell
        first = ranking("emd", a=(1, 1.0), b=(2, 1.12), c=(3, 3.0))
        (verdict,) = compromise_sentences([first, ranking("l1", **second)])
        assert sentence in verdict.text

    assert failures(cells, check) == {}


def test_nothing_is_said_where_no_pair_has_an_error_in_all_metrics() -> None:
    assert not compromise_sentences([ranking("emd", a=(1, 1.0)), ranking("l1", b=(1, 1.0))])
    assert not compromise_sentences([ranking("emd", a=(1, 1.0))])


def test_predicted_errors_per_category_are_compared_likewise() -> None:
    def row(name: str, error: float | None) -> Any:
        return SimpleNamespace(pair=(name, "none"), mean_absolute_error=error)

    rows = [row("a", 3.0), row("b", 2.0), row("c", None)]
    assert predicted_for_single_categories("emd", rows) == ("b", "none", 1.5, 1.5, 1.5)
    assert predicted_for_single_categories("l1", rows) is None
    assert predicted_for_single_categories("emd", [row("a", 2.05), row("b", 2.0)]) is None
    assert predicted_for_single_categories("emd", [row("a", None), row("b", 2.0)]) is None
