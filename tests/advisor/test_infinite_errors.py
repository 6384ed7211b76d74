import json
import re
from itertools import product

import numpy as np
import pytest

from simulator import METRICS
from simulator.ranking import rank
from tests.advisor.cli_answers import csv_rows
from tests.advisor.schemas import schema
from tests.cells import over

SWEPT = ("--reps", "4", "--quiet", "-m", "kl:0")
FEW = ("--max-reps", "4", *SWEPT)
MENU = ("--eps", "1", "-p", "oue,grr", "--method", "none,norm_sub,power,eb_ns")
ALL = ("--eps", "0.3", "-p", "oue", "--method", "none,norm_sub", "--n", "200")  # infinite with every pair
QUESTIONS = {
    "some": MENU,
    "all": ALL,
    "matrix": (*MENU, "--matrix"),
    "several": (*MENU, "--matrix", "-m", "l1"),
    "budgets": ("--eps", "0.3,9", *ALL[2:]),
    "attacked": ("fakes", *MENU, "--threat", "0.05"),
    "pareto": ("pareto", *MENU),
    "swept": ("sweep", "--eps", "0.3,8", "--n", "200", "-p", "oue,grr", "--method", "none,norm_sub,power"),
}


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "rare.csv"
    path.write_text("value,count\n" + "".join(f"v{place},{2**place}\n" for place in range(12)), encoding="utf-8")
    return str(path)


QUICK = [("some", "json"), ("all", "csv"), ("matrix", "plain"), ("swept", "json"), ("budgets", "plain")]


@over(QUICK, slow=sorted({*product(QUESTIONS, ("plain", "csv", "json", "html"))} - {*QUICK}))
def test_infinite_errors_are_words_in_tables_null_in_json_and_never_nan(name, form, *, run, sample):
    code, out, _ = run(*QUESTIONS[name], sample, *(FEW if name != "swept" else SWEPT), "--format", form)
    assert code == 0, out
    assert not re.search(r"(?<![a-z])nan(?![a-z])", out, re.IGNORECASE)
    if form == "json":
        data = json.loads(out, parse_constant=pytest.fail)
        if name not in ("pareto", "swept"):
            schema("advice").validate(data)
    elif name not in ("pareto", "swept"):  # which show the best pairs
        assert ("inf" if form == "csv" else "infinite") in out


def test_rows_with_infinite_errors_come_last_and_the_finite_ones_are_as_without_them(run, sample):
    rows = json.loads(run(*MENU, sample, *FEW, "--format", "json")[1])["recommendations"]
    finite = [row["error"] is not None for row in rows]
    assert finite == sorted(finite, reverse=True)
    assert set(finite) == {True, False}
    assert all(row["ratio_to_best"] is None and not row["tied"] for row in rows if row["error"] is None)
    runs = csv_rows(run(*MENU, sample, *FEW, "--format", "csv")[1])
    assert [row["error"] == "inf" for row in runs] == [not whether for whether in finite]
    # The slow way: the metric by a loop, and the mean of the repetitions.
    truth, estimates = np.array([0.5, 0.3, 0.2]), np.array([[0.5, 0.5, 0.0], [0.5, 0.3, 0.2]])
    errors = METRICS["kl"].with_options(mix=0.0)(estimates, truth)
    assert errors.tolist() == [np.inf, 0.0]
    named = {("p", "zero"): errors, ("p", "good"): np.array([0.1, 0.2]), ("p", "bad"): np.array([np.inf, np.inf])}
    standings = rank(named, {"p": ()})
    assert [row.pair[1] for row in standings] == ["good", "zero", "bad"]
    assert [row.rank for row in standings] == [1, 2, 2]


def test_an_estimate_that_all_methods_set_to_0_says_no_more_than_no_data(run, tmp_path):
    path = tmp_path / "raw.csv"
    path.write_text("value,estimate\n" + "".join(f"{place},{0.2 - place / 20}\n" for place in range(9)), "utf-8")
    words = ("estimate", str(path), "--protocol", "oue", "--eps", "1", "--n", "900", *SWEPT)
    code, out, _ = run(*words, "--method", "norm_sub,base_pos", "--fail-if-useless", "--format", "plain")
    assert code == 3
    assert out.startswith("Do not use: ")
    assert "kl error infinite" in out
