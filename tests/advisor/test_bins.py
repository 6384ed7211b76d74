import numpy as np

import advisor
from advisor import Cleaning
from tests.advisor.cli_answers import answered, csv_rows

ASK = ("-q", "--eps", "1", "--metric", "emd", "--instant", "-p", "oue,tree")
YEARS = ("--bin-width", "5", "--edges", "0,120", "--unit", "years")


def test_an_error_in_bins_is_said_in_the_unit_of_the_data(run, ages):
    data = answered(run, *ASK, *YEARS, ages)
    asked = data["request"]
    assert (asked["ordered"], asked["k"]) == (True, 24)
    assert asked["bins"] == {"k": 24, "low": 0, "high": 120, "width": 5, "edges": None, "name": "years"}
    assert all(row["data_error"] == 5 * row["error"] for row in data["recommendations"])
    (first, *_) = csv_rows(run(*ASK, *YEARS, "--format", "csv", ages)[1])
    assert float(first["data_error"]) == 5 * float(first["error"])


def test_python_cuts_arrays_series_and_counts():
    numbers = np.random.default_rng(1).normal(40, 12, 5000).clip(0, 100)
    expected = np.histogram(numbers, 20, (0, 100))[0].tolist()
    asked = {"metric": "emd", "instant": True, "protocol": "oue"}
    advice = advisor.advise(1.0, sample=numbers, **asked, cleaning=Cleaning(bins=20, edges=(0, 100), unit="years"))
    assert advice.request.counts.tolist() == expected
    assert advice.request.labels[:2] == ("0–5", "5–10")
    assert advice.to_frame()["data_error"].iloc[0] == 5 * advice.best.error
    given = advisor.advise(1.0, sample=numbers, **asked, cleaning=Cleaning(edges=np.linspace(0, 100, 21)))
    assert given.request.counts.tolist() == expected
    counted = advisor.advise(
        1.0, sample_counts={17: 500, 18: 700, 64: 100, 90: 20}, **asked, cleaning=Cleaning(edges=(0, 18, 65, 120))
    )
    assert counted.request.counts.tolist() == [500, 800, 20]
    planned = advisor.plan(target=1, eps=1, sample=numbers, **asked, cleaning=Cleaning(bins=20, edges=(0, 100)))
    assert planned.question.frequencies.weights.tolist() == expected
