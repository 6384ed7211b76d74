import io

import numpy as np
import pytest

import advisor
from advisor import Limits, Simulation
from advisor.answers.rank.apply import frequency_interval
from advisor.inputs.reports.settings import PARAMETERS as FLAGS
from simulator import PROTOCOLS
from simulator.seeding import rng_for
from tests.advisor.cli_answers import answer, csv_rows
from tests.advisor.collected_files import COUNTS, EPSILON, QUICK, K, N, estimate_text, raw, report_lines, reports


def table(path):
    return csv_rows(path.read_text(encoding="utf-8"))


def on_stdin(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


def test_the_command_gives_what_the_function_gives_also_on_standard_input(run, estimate, monkeypatch):
    words = ("estimate", *QUICK, "-p", "oue", "--n", str(N), "--max-bits", "4", "--format", "json")
    code, out, err = run(*words, estimate)
    assert (code, err) == (0, "")  # no privacy notice: an estimate is protected already
    asked = {"method": ["none", "norm_sub"], "ordered": True, "simulation": Simulation(repetitions=4)}
    given = advisor.estimate(raw(), "oue", eps=1.0, n=N, limits=Limits(max_bits=4), **asked)
    assert given.next_round is not None
    on_stdin(monkeypatch, estimate_text(raw()))
    expected, piped = answer(given.to_json()), answer(run(*words, "-")[1])
    for data in (answer(out), piped):
        for key in ("recommendations", "next_round", "baselines", "experiment_id", "summary", "surrogate"):
            assert data[key] == expected[key]
    assert piped["request"]["sample"] == "standard input"


def test_a_refusal_of_counts_that_can_be_read_in_two_ways_names_an_option_that_there_is(run, tmp_path):
    (tmp_path / "counts.csv").write_text("value;estimate\na;12.345\nb;2.655\nc;5.000\n", encoding="utf-8")
    words = ("estimate", *QUICK, "-p", "grr", "--n", "20000", str(tmp_path / "counts.csv"))
    code, _, err = run(*words)
    assert (code, "--decimal , or --decimal ." in err) == (2, True)
    assert run(*words, "--decimal", ",")[0] == 0


PARAMETERS = {
    "ss": {"subset_size": 3},
    "olh": {"hash_range": 7},
    "hr": {"block_count": 1},
    "rappor": {"own_rate": 0.6, "other_rate": 0.3557},  # their budget is just below 1
    "oue": {"own_rate": 0.3, "other_rate": 0.1363},
}


@pytest.mark.parametrize("protocol", PARAMETERS)
def test_parameters_of_other_packages_are_those_of_reports_estimate_noise_and_simulation(run, tmp_path, protocol):
    parameters = PARAMETERS[protocol]
    words = [word for name, value in parameters.items() for word in (FLAGS[name], str(value))]
    oracle = PROTOCOLS[protocol](K, EPSILON, **parameters)
    assert oracle.noise(N) != PROTOCOLS[protocol](K, EPSILON).noise(N)
    users = np.repeat(np.arange(K), COUNTS)
    made = oracle.perturb(users, rng_for(0, "tests", "parameters", protocol))
    rows = made.reshape(N, -1).tolist()
    path, target = tmp_path / "reports.csv", tmp_path / "out.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    one = ("--surrogate", "norm_sub", "--next-protocol", protocol)
    base = (*QUICK, *one, "-p", protocol, *words, "--apply", str(target), "--force", "--format", "json")
    read = answer(run("reports", *base, "--k", str(K), str(path))[1])
    expected = oracle.estimate(oracle.support(made), N)
    applied = table(target)
    np.testing.assert_array_equal([float(row["raw"]) for row in applied], expected)
    low, high = frequency_interval(expected, oracle.noise(N))
    np.testing.assert_array_equal([float(row["low"]) for row in applied], low)
    np.testing.assert_array_equal([float(row["high"]) for row in applied], high)
    assert {row["report_bits"] for row in read["recommendations"]} == {oracle.report_bits}
    # The estimate alone is answered alike.
    path.write_text(estimate_text(expected), encoding="utf-8")
    again = answer(run("estimate", *base, "--unordered", "--n", str(N), str(path))[1])
    assert again["recommendations"] == read["recommendations"]
    other = answer(run("estimate", *QUICK, *one, "-p", protocol, "--n", str(N), "--format", "json", str(path))[1])
    assert other["recommendations"] != read["recommendations"]


def test_categories_that_are_only_numbers_have_no_order_unless_it_is_given(run, tmp_path):
    bits, values = tmp_path / "reports.csv", tmp_path / "estimate.csv"
    bits.write_text(report_lines("oue", reports("oue")), encoding="utf-8")
    values.write_text("".join(f"{value!r}\n" for value in raw().tolist()), encoding="utf-8")
    base = (*QUICK, "--surrogate", "norm_sub", "--next-protocol", "grr", "-p", "oue", "--format", "json")
    for command in (("reports", *base, str(bits)), ("estimate", *base, "--n", str(N), str(values))):
        unasked, ordered = answer(run(*command)[1]), answer(run(*command, "--ordered")[1])
        assert unasked["request"]["ordered"] is False
        assert ordered["request"]["ordered"] is True


def test_the_repetitions_of_an_estimate_can_be_written(run, estimate, tmp_path):
    target = tmp_path / "runs.csv"
    base = ("estimate", *QUICK, "-p", "oue", "--n", str(N), "--format", "json", estimate)
    data = answer(run(*base, "--runs", str(target))[1])
    rows = [row for row in table(target) if row["metric"] == "l1"]
    # The pairs that draws judge are simulated for the next round as well.
    for place, judged in ((data["recommendations"][0], "True"), (data["next_round"]["recommendations"][0], "False")):
        pair = (place["protocol"], place["method"], judged)
        errors = [float(row["error"]) for row in rows if (row["protocol"], row["method"], row["judged"]) == pair]
        assert len(errors) == place["repetitions"]
        assert np.mean(errors) == pytest.approx(place["error"], rel=1e-9)
