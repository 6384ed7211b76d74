import json
import re
from itertools import product

import jsonschema
import numpy as np
import pytest

from advisor import Plurality, Simulation, advise
from advisor.errors import InputError
from advisor.inputs.histogram import read_columns, read_histogram
from advisor.question.plurality import make_plan
from advisor.question.question import Question
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Columns
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.estimates import grouped
from tests.advisor.inputs.reading import put
from tests.advisor.schemas import schema
from tests.cells import failures


@pytest.fixture
def people(tmp_path):
    """Three columns of different sizes, one of which has a comma in its name."""
    rng = np.random.default_rng(3)
    path = tmp_path / "people.csv"
    rows = zip(rng.integers(0, 40, 3000), rng.choice(["red", "blue"], 3000), rng.geometric(0.2, 3000), strict=True)
    lines = "\n".join(f"{age},{colour},{town}" for age, colour, town in rows)
    path.write_text(f'age,"colour, main",town\n{lines}\n', encoding="utf-8")
    return str(path)


THREE = ["--column", "age", "--column", "colour, main", "--column", "town"]
FEW = ["--reps", "4", "--max-reps", "4", "--protocol", "grr,oue", "--method", "none,norm_sub"]


def test_columns_are_read_in_one_pass_as_one_by_one(people):
    together = read_columns(people, ["age", "colour, main", "town"])
    for name, one in zip(("age", "colour, main", "town"), together, strict=True):
        alone = read_histogram(people, column=name)
        assert dict(zip(one.labels, one.counts.tolist(), strict=True)) == dict(
            zip(alone.labels, alone.counts.tolist(), strict=True)
        )


def test_a_large_budget_is_split_and_a_column_gets_what_it_needs(run, people):
    plan = json.loads(run("columns", "--eps", "16", people, *THREE, *FEW, "--format", "json")[1])
    assert plan["solution"] == "spl"
    budgets = {row["column"]: row["epsilon"] for row in plan["columns"]}
    assert sum(budgets.values()) == pytest.approx(16)
    assert budgets["age"] != budgets["colour, main"]
    assert all(row["reports"] == 3000 for row in plan["columns"])


def test_the_error_of_a_column_is_that_of_its_reports(run, people):
    question = ["--metric", "mse", "--protocol", "grr", "--method", "none", "--reps", "200", "--max-reps", "200"]
    plan = json.loads(run("columns", "--eps", "1", people, *THREE, *question, "--format", "json")[1])
    assert sum(row["reports"] for row in plan["columns"]) == pytest.approx(3000, abs=1)  # each user has one
    for row in plan["columns"]:
        noise = PROTOCOLS["grr"](row["k"], row["epsilon"]).noise(row["reports"])
        expected = noise.variance_at_zero + noise.variance_slope / row["k"]
        # 95 % intervals of three columns, widened to five standard errors: false alarms below 1 in 100,000.
        assert abs(row["error"] - expected) < 5 / 1.96 * (row["error_high"] - row["error"]) + 1e-12


def test_json_keeps_to_its_schema(run, people):
    joint = schema("columns")

    def check(words):
        data = json.loads(run("columns", people, *THREE, *words.split(), "--format", "json")[1])
        joint.validate(data)
        assert ("error" in data and "message" in str(data["error"])) == ("--n 2" in words)
        with pytest.raises(jsonschema.ValidationError):
            joint.validate({**data, "schema_version": 0})

    quick = "--instant -p grr --eps"
    assert failures([f"{quick} 1", f"{quick} 8", "--eps 1 --instant --max-bits 1 -p oue", "--eps 1 --n 2"], check) == {}


def test_a_file_of_values_that_nearly_all_differ_is_doubted(run, tmp_path):
    lines = [f"sentence{place}" for place in range(127)]
    twice = {"seldom": [*lines, *lines[:18]], "often": [*lines, *lines]}
    texts = twice | {"counts": ["name,count", *(f"{line},1" for line in lines)]}
    texts["names"] = ["name,kind", *(f"{line},{len(line)}" for line in lines)]

    def said(name, *words):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(texts[name]) + "\n", encoding="utf-8")
        return run(*words, "--eps", "1", str(path), "--instant", "-p", "grr", "--method", "norm_sub")[2]

    doubt = "127 different values in 145 rows: is this the right file, and the right column?"
    assert said("seldom").count(doubt) == 1
    assert "right column" not in said("often") + said("counts")
    several = said("names", "columns", "--column", "name", "--column", "kind")
    assert several.count("column name: 127 different values in 127 rows: ") == 1


ZIPF = frequencies("zipf", 20)
COUNTS = apportion(ZIPF, 20_000)


def plan(epsilon, d, *, solution=None, protocols=("oue",)):
    made = make_plan(Plurality(attributes=d, solution=solution, rounds=1), epsilon, protocols, ZIPF, 20_000)
    assert made is not None
    return made


def advantage_of(made):
    assert made.advantage is not None
    return made.advantage


def test_errors_behind_the_choice_are_those_of_a_collection():
    """Both ways played out: draw who reports, let them report, compare with all users; 6 standard errors."""
    d, n, repetitions = 4, 20_000, 2000

    def check(cell):
        solution, epsilon = cell
        rng, squares = rng_for(0, "budget", solution, repr(epsilon)), {}
        for way in ("smp", "spl"):
            oracle = PROTOCOLS["oue"](20, epsilon if way == "smp" else epsilon / d)
            reporting = np.broadcast_to(COUNTS, (repetitions, 20))
            if way == "smp":
                reporting = rng.multivariate_hypergeometric(COUNTS, n // d, size=repetitions)
            estimate = oracle.estimate(oracle.sample_support(reporting, rng), int(reporting[0].sum()))
            squares[way] = ((estimate - COUNTS / n) ** 2).mean(axis=1)
        other = "spl" if solution == "smp" else "smp"
        ratio = squares[other].mean() / squares[solution].mean()
        error = ratio * sum(squares[way].var() / repetitions / squares[way].mean() ** 2 for way in squares) ** 0.5
        assert abs(ratio - advantage_of(plan(epsilon, d, solution=solution)) ** 2) < 6 * error

    assert failures(product(["smp", "spl"], [1.0, 6.0]), check) == {}


def test_sampling_wins_at_small_budgets_and_splitting_where_noise_is_nothing():
    small, large = plan(1.0, 4), plan(32.0, 2, protocols=("grr",))
    assert (small.solution, small.epsilon_report, small.reports) == ("smp", 1.0, 5000)
    assert (large.solution, large.epsilon_report, large.reports) == ("spl", 16.0, 20_000)
    assert min(advantage_of(small), advantage_of(large)) > 1


def test_rounds_add_up_and_change_no_report():
    asked = {"sample_counts": COUNTS, "protocol": "oue", "simulation": Simulation(max_repetitions=20)}
    advice, alone = advise(0.5, **asked, plurality=Plurality(rounds=12)), advise(0.5, **asked)
    made = advice.request.plan
    assert (made.epsilon_round, made.epsilon_total, made.solution) == (0.5, 6.0, None)
    assert [row.error for row in advice.recommendations] == [row.error for row in alone.recommendations]


def test_users_off_and_the_verdict_hold_that_those_who_report_are_a_sample():
    """GRR of one attribute in three, a third of the users each, against the frequencies of all users."""
    counts, epsilon, rng = np.array([145, 140, 110, 105]), 5.0, np.random.default_rng(1)
    advice = advise(
        epsilon, sample_counts=counts, protocol="grr", method="none", **grouped(attributes=3, solution="smp")
    )
    oracle, asked = PROTOCOLS["grr"](4, epsilon), rng.multivariate_hypergeometric(counts, 500 // 3, size=2000)
    estimates = oracle.estimate(oracle.sample_support(asked, rng), 500 // 3)
    errors = np.abs(estimates - counts / 500).mean(axis=1)
    mean, error = np.mean(errors), np.std(errors) / len(errors) ** 0.5
    stated = float(re.search(r"\(([\d.]+) percentage points\)", str(advice))[1]) / 100
    assert abs(stated - mean) < 4 * error + 0.0005 + 0.04 * mean  # rounded; its own 20 or more repetitions
    assert advice.verdict == "marginal"  # those who report are known well enough, and the others are not


def test_limits_hold_for_who_reports_what_and_a_column_with_nothing_left_is_named(run, people):
    asked = ("--instant", "--protocol", "grr,oue", "--format", "json")
    plan = json.loads(run("columns", "--eps", "4", people, *THREE, "--max-bits", "1", *asked)[1])
    assert plan["headline"]["badge"] == "Almost"
    assert plan["headline"]["text"].startswith("for age nothing is left: --max-bits 1 excludes")
    for limit, protocols in ((("--max-bits", "6"), {"grr"}), (("--deployable",), {"grr", "rappor"})):
        words = ("--eps", "1", "--k", "64", "--n", "1e5", "--attributes", "3", *limit, "--format", "json")
        ways = json.loads(run("columns", *words)[1])["request"]["plan"]["solutions"]
        assert ways
        assert {way["protocol"] for way in ways} <= protocols


def test_ways_to_collect_attributes_are_told_for_each_budget(run):
    text = " ".join(run("columns", "--eps", "1,6", "--k", "2", "--n", "1e5", "--attributes", "4", "-q")[1].split())
    assert "At ε = 1: 4 attributes: each user reports one of them" in text
    assert "At ε = 6: 4 attributes: each user reports all of them, each at ε = 1.5 (SPL): 100,000 reports" in text


def test_the_answer_is_that_of_the_reports_that_are_sent():
    def errors(epsilon, **more):
        few = Simulation(repetitions=4, max_repetitions=4)
        asked = advise(epsilon, sample_counts=COUNTS, protocol="oue", simulation=few, **grouped(**more))
        return [row.error for row in asked.recommendations]

    assert errors(1.0, attributes=4, solution="smp") == errors(1.0, n=5000)
    assert errors(1.0, attributes=4, solution="spl") == errors(0.25)


BITS = "01101001\n11100001\n00000001\n"
REPORTS = [  # files and what is said of them, if anything
    ("bits.txt", BITS, "strings of bits, which look like reports (if they are values, say --column 1): for example"),
    ("bits.csv", f"report\n{BITS}", "ldp-advise reports bits.csv --protocol oue --eps 1"),
    ("short.txt", "0110100\n1110000\n", ""),
    ("uneven.txt", f"{BITS}0110100\n", ""),
    ("digits.txt", BITS.replace("111", "121"), ""),
    ("counts.csv", "answer,count\n01101001,4\n11100001,9\n", ""),
    ("olh.csv", "seed,symbol\n93812,3\n18287,0\n", "ldp-advise reports olh.csv --protocol olh --eps 1"),
    ("cohorts.csv", "user,cohort,bits\na,3,01101001\nb,0,11100001\n", "strings of bits look like reports: for example"),
    ("hashes.csv", "user,hash,value\na,93812,3\nb,18287,0\n", "ldp-advise reports hashes.csv --protocol olh --eps 1"),
]


def test_a_sample_that_holds_reports_leads_to_their_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(cell):
        name, text, words = cell
        put(tmp_path, name, text)
        if words:
            with pytest.raises(InputError) as refusal:
                simulated_frequencies(Question(sample=name))
            assert words in str(refusal.value)
        columns = Columns(column=("1",)) if words else Columns()
        assert simulated_frequencies(Question(sample=name, columns=columns)).k in (2, 3, 4)

    assert failures(REPORTS, check) == {}


def test_columns_have_their_names_and_an_option_that_does_not_fit_one_names_it(run, people):
    out = run("columns", "--eps", "4", people, "--column", "1", "--column", "3", "--instant", "--format", "json")[1]
    assert [row["column"] for row in json.loads(out)["columns"]] == ["age", "town"]
    code, _, err = run("columns", "--eps", "4", people, *THREE, "--metric", "emd")
    assert code == 2
    assert re.match(r"ldp-advise: error: column colour, main: metric emd needs an ordered domain", err)
