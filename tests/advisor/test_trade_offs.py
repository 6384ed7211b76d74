import json
from types import SimpleNamespace

import numpy as np
import pytest

from advisor import Simulation, advise, pareto
from advisor.answers.rank.trade_offs import best_for_single_categories, compromise, predicted_for_single_categories
from simulator import PROTOCOLS
from simulator.confidence import ratio_over_truths
from simulator.ranking import paired_ratio, preference
from tests.advisor.cli_answers import QUICK, answered, csv_rows
from tests.cells import over

MENU = ("-p", "tree,tree_half,pgr", "--method", "tree_eb,eb_ns,norm_sub")
REPEATED = ("--reps", "12", "--max-reps", "12")
SEVERAL = ("--reps", "4", "--max-reps", "4", "--quiet", "-m", "l1,topk,set")
WEIGHTS = 1 / np.arange(1, 65) ** 1.2


# An ordered domain without a shape: trees are good at ranges, and others at its categories.
SPIKES = np.floor(100_000 * np.random.default_rng(1).permutation(WEIGHTS / WEIGHTS.sum())).astype(int)


def answer(run, folder, metrics, *more):
    path = folder / "spikes.csv"
    path.write_text("value,count\n" + "".join(f"{value},{count}\n" for value, count in enumerate(SPIKES)))
    return answered(run, str(path), "--eps", "2", *MENU, *(more or REPEATED), "--metric", metrics)


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
    everywhere = answer(run, tmp_path, "l1,mae", *QUICK)["compromise"]
    assert (everywhere["first"], everywhere["in_first_tier"]) == (True, True)
    assert answer(run, tmp_path, "emd", *QUICK)["compromise"] is None
    # Better at each than what is best for the other alone.
    assert both["ratios"]["l1"] < next(row["ratio_to_best"] for row in tables[1] if row["protocol"] == "tree")
    assert both["ratios"]["emd"] < next(
        row["ratio_to_best"] for row in tables[0] if (row["protocol"], row["method"]) == ("pgr", "eb_ns")
    )


def test_an_answer_for_the_whole_distribution_names_the_pair_for_single_categories():
    menu = {"protocol": ["tree", "pgr"], "method": ["tree_eb", "eb_ns"]}
    menu["simulation"] = Simulation(repetitions=12, max_repetitions=12)
    advice = advise(2.0, metric="emd", sample_counts=SPIKES, ordered=True, **menu)
    single, best = advice.single_categories, min(advice.recommendations, key=lambda row: row.mean_absolute_error or 9)
    assert advice.best.protocol == "tree"
    assert (single.protocol, single.method) == best.pair == ("pgr", "eb_ns")
    assert single.ratio == pytest.approx((advice.best.mean_absolute_error or 0) / (best.mean_absolute_error or 9))
    of_single = advise(2.0, metric="l1", sample_counts=SPIKES, ordered=True, **menu)
    assert of_single.single_categories is None


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


def test_the_compromise_is_first_in_all_or_in_all_first_tiers_or_nearest_to_them():
    emd = ranking("emd", a=(1, 1.0), b=(2, 1.12), c=(3, 3.0))
    for second, protocol, worst, of_first_tiers in (
        ({"a": (1, 1.0), "b": (2, 1.1)}, "a", 1.0, True),
        ({"c": (1, 1.0), "a": (1, 1.3), "b": (2, 1.1)}, "a", 1.3, True),  # though b is nearer
        ({"c": (1, 1.0), "b": (2, 1.1)}, "b", 1.12, False),
        ({"c": (1, 1.0), "b": (2, 1.4), "a": (3, 1.6)}, "b", 1.4, False),
        ({"c": (1, 1.0), "b": (2, None)}, "c", 3.0, False),
    ):
        found = compromise([emd, ranking("l1", **second)])
        assert (found.protocol, found.worst[1], found.in_first_tier) == (protocol, worst, of_first_tiers)
        assert found.first == (worst == 1)
    assert compromise([emd]) is None
    assert compromise([emd, ranking("l1", d=(1, 1.0))]) is None


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
    rows = csv_rows(run(*words, "--matrix", "--format", "csv")[1])
    table = {(row["protocol"], row["method"]): row for row in rows}
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
    assert table["oue", "post_pos"]["l1"] == ""  # which it does not change
    assert table["oue", "post_pos"]["set"] != ""


def test_of_one_metric_the_table_has_protocols_by_methods(run, states):
    words = ("--eps", "1", states, "-p", "grr,oue,sw", "--ordered", *SEVERAL[:-3], "-m", "emd")
    words = (*words, "--method", "none,norm,norm_sub,base_pos,em")
    table = {row["protocol"]: row for row in csv_rows(run(*words, "--matrix", "--format", "csv")[1])}
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
    values = run(*words, "--matrix", "--format", "value")[1].splitlines()
    best = {row["protocol"]: row["lowest"][0].replace("without_pp", "none") for row in data["by_protocol"]}
    assert values == [f"{protocol} {method}" for protocol, method in best.items()]
    assert table["sw"]["without_pp"] == table["sw"]["norm_sub"] == table["oue"]["em"] == ""


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
    rows = csv_rows(run(*asked, "--format", "csv")[1])
    assert [(row["protocol"], row["method"]) for row in rows] == pairs
    assert run(*asked, "--format", "value")[1].splitlines() == [" ".join(pair) for pair in pairs]
    assert {tuple(row["dominated_by"].values()) for row in data["dominated"]} <= set(pairs)
