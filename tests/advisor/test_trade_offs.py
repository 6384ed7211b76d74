import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

from advisor import Simulation, advise, pareto
from advisor.answers.rank.trade_offs import best_for_single_categories, predicted_for_single_categories
from advisor.show.rank.answer import compromise_sentences, summary
from simulator import PROTOCOLS
from simulator.confidence import ratio_over_truths
from simulator.ranking import paired_ratio, preference
from tests.advisor.cli_answers import answered
from tests.cells import failures, over

MENU = ("-p", "tree,tree_half,pgr", "--method", "tree_eb,eb_ns,norm_sub", "--reps", "12", "--max-reps", "12")
SEVERAL = ("--reps", "4", "--max-reps", "4", "--quiet", "-m", "l1,topk,set")
WEIGHTS = 1 / np.arange(1, 65) ** 1.2
WHOLE = "For single categories, not the whole distribution:"


# An ordered domain without a shape: trees are good at ranges, and others at its categories.
SPIKES = np.floor(100_000 * np.random.default_rng(1).permutation(WEIGHTS / WEIGHTS.sum())).astype(int)


def answer(run, folder, metrics):
    path = folder / "spikes.csv"
    path.write_text("value,count\n" + "".join(f"{value},{count}\n" for value, count in enumerate(SPIKES)))
    return answered(run, str(path), "--eps", "2", *MENU, "--metric", metrics)


def worst_ratio(tables, pair):
    rows = [row for table in tables for row in table if (row["protocol"], row["method"]) == pair]
    assert len(rows) == len(tables)
    return float(max(row["ratio_to_best"] for row in rows))


def test_the_pair_that_is_good_at_both_has_the_smallest_of_the_larger_ratios(run, tmp_path):
    data = answer(run, tmp_path, "emd,l1")
    tables = [data["recommendations"], data["further_metrics"][0]["recommendations"]]
    pairs = [(row["protocol"], row["method"]) for row in tables[0]]
    best = min(pairs, key=lambda pair: worst_ratio(tables, pair))
    both = data["compromise"]
    assert (both["protocol"], both["method"]) == best == ("tree_half", "tree_eb")
    assert (both["first"], both["in_first_tier"]) == (False, False)
    assert max(both["ratios"].values()) == worst_ratio(tables, best)
    assert list(both["ratios"]) == ["emd", "l1"]
    everywhere = answer(run, tmp_path, "l1,mae")["compromise"]
    assert (everywhere["first"], everywhere["in_first_tier"]) == (True, True)
    assert answer(run, tmp_path, "emd")["compromise"] is None
    # Better at each than what is best for the other alone.
    assert both["ratios"]["l1"] < next(row["ratio_to_best"] for row in tables[1] if row["protocol"] == "tree")
    assert both["ratios"]["emd"] < next(
        row["ratio_to_best"] for row in tables[0] if (row["protocol"], row["method"]) == ("pgr", "eb_ns")
    )


def test_an_answer_for_the_whole_distribution_names_the_pair_for_single_categories():
    menu = {
        "protocol": ["tree", "pgr"],
        "method": ["tree_eb", "eb_ns"],
        "simulation": Simulation(repetitions=12, max_repetitions=12),
    }
    advice = advise(2.0, metric="emd", sample_counts=SPIKES, ordered=True, **menu)
    single, best = advice.single_categories, min(advice.recommendations, key=lambda row: row.mean_absolute_error or 9)
    assert advice.best.protocol == "tree"
    assert (single.protocol, single.method) == best.pair == ("pgr", "eb_ns")
    assert single.ratio == pytest.approx((advice.best.mean_absolute_error or 0) / (best.mean_absolute_error or 9))
    assert f"{WHOLE} PGR with Empirical Bayes" in summary(advice)
    of_single = advise(2.0, metric="l1", sample_counts=SPIKES, ordered=True, **menu)
    assert of_single.single_categories is None
    assert WHOLE not in summary(of_single)


def test_only_what_is_proven_and_clear_is_given_up():
    rng = np.random.default_rng(0)
    low = 1 + 0.1 * rng.random(20)
    first, other = ("tree", "tree_eb"), ("pgr", "eb_ns")

    def given_up(own, metric="emd", ratio=paired_ratio):
        return best_for_single_categories(metric, first, {first: own, other: low}, ratio)

    assert given_up(1.5 * low) == ("pgr", "eb_ns", pytest.approx(1.5), pytest.approx(1.5), pytest.approx(1.5))
    assert given_up(1.04 * low) is None  # too little to matter
    assert given_up(low + np.where(np.arange(20) == 3, 6.0, 0.0)) is None  # one unlucky collection proves nothing
    half = np.where(np.arange(20) % 2, 1.0, 4.0) * low
    assert given_up(half).ratio == pytest.approx(2.5, rel=0.05)  # the mean over 20 collections is sure
    assert given_up(half, ratio=ratio_over_truths) is None  # of 20 truths, half have nothing to give up
    assert given_up(0.9 * low) is None
    assert given_up(1.5 * low, metric="l1") is None


def test_pairs_are_compared_on_the_repetitions_that_all_have():
    # Dropped early, in collections that were easy for all: its mean is the lower, and it is not the better pair.
    easy, hard = np.full(20, 1.0), np.full(80, 3.0)
    first, good, dropped = ("tree", "tree_eb"), ("pgr", "eb_ns"), ("oue", "norm_sub")
    errors = {first: 2 * np.concatenate([easy, hard]), good: np.concatenate([easy, hard]), dropped: 1.2 * easy}
    single = best_for_single_categories("emd", first, errors, paired_ratio)
    assert (single.protocol, single.method, single.ratio) == (*good, 2.0)


def ranking(metric, **rows):
    made = tuple(
        SimpleNamespace(pair=(name, "none"), tier=tier, ratio_to_best=ratio) for name, (tier, ratio) in rows.items()
    )
    return SimpleNamespace(metric=metric, recommendations=made, best=made[0])


def test_the_sentence_goes_no_further_than_the_ratios():
    raw, of_each = "with no post-processing", "times the lowest error of each (that much for"
    cells = [
        ({"a": (1, 1.0), "b": (2, 1.1), "c": (2, 1.2)}, f"a {raw} is the first choice for both."),
        ({"c": (1, 1.0), "a": (1, 1.3)}, f"In the first tier for both: a {raw}, at most 1.30 {of_each} l1)."),
        ({"c": (1, 1.0), "b": (2, 1.1)}, f"Good for both: b {raw}, at most 1.12 {of_each} emd)."),
        (
            {"c": (1, 1.0), "b": (2, 1.4), "a": (3, 1.6)},
            f"Nearest to good for both: b {raw}, at most 1.40 {of_each} l1).",
        ),
        ({"c": (1, 1.0), "b": (2, None), "d": (2, 1.0)}, f"3.00 {of_each} emd"),
    ]
    emd = ranking("emd", a=(1, 1.0), b=(2, 1.12), c=(3, 3.0))

    def check(cell):
        second, sentence = cell
        (verdict,) = compromise_sentences([emd, ranking("l1", **second)])
        assert sentence in verdict.text

    assert failures(cells, check) == {}
    many = [emd, *(ranking(name, c=(1, 1.0), b=(2, ratio)) for name, ratio in (("l1", 1.4), ("l2", 1.5), ("kl", 1.3)))]
    (verdict,) = compromise_sentences(many)
    assert "Nearest to good for all 4 metrics: b with" in verdict.text
    assert "at most 1.50 times the lowest error of each (that much for l2)." in verdict.text
    # Nothing is said where no pair has an error in all metrics, nor of one metric.
    assert not compromise_sentences([ranking("emd", a=(1, 1.0)), ranking("l1", b=(1, 1.0))])
    assert not compromise_sentences([emd])


def test_predicted_errors_per_category_are_compared_likewise():
    def row(name, error):
        return SimpleNamespace(pair=(name, "none"), mean_absolute_error=error)

    rows = [row("a", 3.0), row("b", 2.0), row("c", None)]
    assert predicted_for_single_categories("emd", rows) == ("b", "none", 1.5, 1.5, 1.5)
    assert predicted_for_single_categories("l1", rows) is None
    assert predicted_for_single_categories("emd", [row("a", 2.05), row("b", 2.0)]) is None
    assert predicted_for_single_categories("emd", [row("a", None), row("b", 2.0)]) is None


def test_cells_are_the_errors_of_the_rankings(run, states):
    words = ("--eps", "1", states, "--method", "none,norm_sub,eb_ns,post_pos", "--protocol", "oue,grr", *SEVERAL)
    runs = io.StringIO(run(*words, "--matrix", "--format", "csv")[1])
    table = {(row["protocol"], row["method"]): row for row in csv.DictReader(runs)}
    data = answered(run, *words, "--matrix")
    plain = json.loads(run(*words, "--format", "json")[1])
    assert data == {**plain, "matrix": data["matrix"]}
    for metric in ("l1", "topk", "set"):
        cells = {pair: float(row[metric]) for pair, row in table.items() if row[metric]}
        lowest = [pair for pair, error in cells.items() if error == min(cells.values())]
        marked = [(row["protocol"], row["method"]) for row in data["matrix"] if metric in row["lowest"]]
        assert marked == lowest
        tied = {(row["protocol"], row["method"]) for row in data["matrix"] if metric in (*row["tied"], *row["lowest"])}
        assert tied == {pair for pair, row in table.items() if row[f"{metric}_tier"] == "1"}
        assert all(row["errors"].get(metric) == cells.get((row["protocol"], row["method"])) for row in data["matrix"])
    spread = float(table["oue", "none"]["l1_standard_error"])
    assert spread in [row["standard_error"] for row in plain["recommendations"]]
    assert f" ({spread:.4f})" in run(*words, "--matrix", "--all", "--format", "latex")[1]
    assert table["oue", "post_pos"]["l1"] == ""  # which it does not change
    assert table["oue", "post_pos"]["set"] != ""


def test_of_one_metric_the_table_has_protocols_by_methods(run, states):
    words = ("--eps", "1", states, "-p", "grr,oue,sw", "--ordered", *SEVERAL[:-3], "-m", "emd")
    words = (*words, "--method", "none,norm,norm_sub,base_pos,em")
    table = {row["protocol"]: row for row in csv.DictReader(io.StringIO(run(*words, "--matrix", "--format", "csv")[1]))}
    data = answered(run, *words, "--matrix")
    plain = json.loads(run(*words, "--format", "json")[1])
    assert data == {**plain, "by_protocol": data["by_protocol"]}
    errors = {(row["protocol"], row["method"]): row["error"] for row in plain["recommendations"]}
    assert set(table) == {protocol for protocol, _ in errors}
    for row in data["by_protocol"]:
        own = {method: error for (protocol, method), error in errors.items() if protocol == row["protocol"]}
        raw, cells = own.pop("none", None), table[row["protocol"]]
        lowest = min(error for error in (raw, *own.values()) if error is not None)
        means = {"without_pp": raw, "average_pp": np.mean(list(own.values()))}
        assert {name: error for name, error in {**means, **own}.items() if error} == pytest.approx(row["errors"])
        assert {name: float(cell) for name, cell in cells.items() if cell and name != "protocol"} == row["errors"]
        own |= {} if raw is None else {"without_pp": raw}
        assert set(row["lowest"]) == {name for name, error in own.items() if error == lowest}
        assert set(row["tied"]) == {name for name, error in own.items() if lowest < error <= 1.05 * lowest}
    spread = next(row["standard_error"] for row in plain["recommendations"] if row["method"] == "none")
    assert f" ({spread:.4f})" in run(*words, "--matrix", "--verbose")[1]
    values = run(*words, "--matrix", "--format", "value")[1].splitlines()
    best = {row["protocol"]: row["lowest"][0].replace("without_pp", "none") for row in data["by_protocol"]}
    assert values == [f"{protocol} {method}" for protocol, method in best.items()]
    assert table["sw"]["without_pp"] == table["sw"]["norm_sub"] == table["oue"]["em"] == ""


@pytest.mark.usefixtures("own_members")
def test_the_lowest_of_a_column_and_what_one_compares_with_are_shown_however_few_rows_are(run, states, tmp_path):
    out = run("--eps", "1", states, *SEVERAL, "-p", "grr,oue,ss", "--matrix", "--top", "1", "--format", "plain")[1]
    assert sum(line.count("*") for line in out.splitlines() if not line.startswith("*:")) >= 3, out
    mine = tmp_path / "far_off.py"
    mine.write_text("def far_off(estimate, noise):\n    return estimate + 5.0\n", encoding="utf-8")
    words = ("--eps", "1", states, "-p", "grr", *SEVERAL[:-3], "-m", "l1,topk")
    out = run(*words, "--matrix", "--top", "1", "--method", f"all,{mine}:far_off", "--format", "plain")[1]
    assert all(text in out for text in ("far_off", "◂ raw estimate", "◂ uniform guess", "◂ usual default"))
    assert "--matrix shows all metrics in one table." in run(*words)[1]


def test_an_estimate_has_it(run, tmp_path):
    raw = tmp_path / "raw.csv"
    raw.write_text("value,estimate\na,0.6\nb,0.3\nc,0.12\nd,-0.02\n", encoding="utf-8")
    words = "--protocol grr --eps 1 --n 5000 --reps 4 --method none,norm_sub --next-protocol grr -m l1,topk --matrix"
    data = answered(run, "estimate", str(raw), *words.split())
    assert {row["protocol"] for row in data["matrix"]} == {"grr"}


@over(
    [
        (4, 0.5, "l2"),
        (4, 4.0, "l1"),
        (64, 0.5, "l1"),
        (64, 1.0, "l2"),
        (64, 4.0, "l2"),
        (300, 1.0, "l1"),
        (300, 4.0, "l1"),
    ]
)
def test_frontier_is_what_comparing_all_with_all_gives(k, epsilon, metric):
    advice = advise(epsilon, k=k, metric=metric)
    found = pareto(advice)
    # Errors within 5 % of the lowest are as good as it; of pairs that are alike in all, the first by the rule is.
    costs = {
        row: (max(row.ratio_to_best or 1.0, 1.05), row.report_bits, round(row.attack_success, 9))
        for row in advice.recommendations
    }
    report = {row: PROTOCOLS[row.protocol](k, epsilon).cost for row in costs}
    order = sorted(costs, key=lambda row: (row != advice.best, *preference(row.ratio_to_best or 1.0, report[row])))
    place = {row: at for at, row in enumerate(order)}

    def beats(one, other):
        as_good = all(a <= b for a, b in zip(costs[one], costs[other], strict=True))
        return as_good and other != advice.best and (costs[one] != costs[other] or place[one] < place[other])

    assert list(found.rows) == [row for row in order if not any(beats(other, row) for other in order)]
    assert {row for row, _ in found.dominated} == set(order) - set(found.rows)
    assert all(beats(better, row) for row, better in found.dominated)
    assert found.rows[0] == advice.best


def test_every_format_holds_the_same_frontier(run, tmp_path):
    asked = ("pareto", "--eps", "2", "--k", "100")
    data = json.loads(run(*asked, "--format", "json")[1])
    assert data["source"] == "grid"
    pairs = [(row["protocol"], row["method"]) for row in data["frontier"]]
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    assert [(row["protocol"], row["method"]) for row in rows] == pairs
    target = tmp_path / "frontier.md"
    assert run(*asked, "-o", target)[:2] == (0, "")
    text = target.read_text(encoding="utf-8")
    assert all(f"| {protocol} | {method} |" in text for protocol, method in pairs)
    assert run(*asked, "--format", "value")[1].splitlines() == [" ".join(pair) for pair in pairs]
    plain = [line.split()[:2] for line in run(*asked, "--format", "plain", "-q")[1].splitlines()]
    assert [list(pair) for pair in pairs] == [words for words in plain if tuple(words) in pairs]
    assert {tuple(row["dominated_by"].values()) for row in data["dominated"]} <= set(pairs)
