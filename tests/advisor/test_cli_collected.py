"""The main command on what was collected: estimates, reports, and the file that --apply writes."""

from __future__ import annotations

import csv
import io
import json
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from advisor import advise
from advisor.cli.app import PRIVACY_NOTICE
from advisor.run_collected import CollectedOptions
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.conftest import Run

SCHEMA = json.loads(resources.files("advisor").joinpath("schema/advice.schema.json").read_text(encoding="utf-8"))
K, N, EPSILON = 8, 3000, 1.0
QUICK = ("--eps", "1", "--reps", "4", "--method", "norm_sub", "--method", "none")
COUNTS = apportion(frequencies("zipf", K), N)


def answer(text: str) -> dict:
    data = json.loads(text)
    jsonschema.validate(data, SCHEMA)
    return data


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def raw(protocol: str = "oue") -> np.ndarray:
    oracle = PROTOCOLS[protocol](K, EPSILON)
    return oracle.estimate(oracle.sample_support(COUNTS, rng_for(0, "tests", "cli estimate", protocol)), N)


def estimate_text(values: np.ndarray, header: str = "value,estimate\n") -> str:
    return header + "".join(f"{place},{value!r}\n" for place, value in enumerate(values.tolist()))


@pytest.fixture
def estimate(tmp_path: Path) -> str:
    path = tmp_path / "estimate.csv"
    path.write_text(estimate_text(raw()), encoding="utf-8")
    return str(path)


def reports(protocol: str) -> np.ndarray:
    """Reports as users send them."""
    return PROTOCOLS[protocol](K, EPSILON).perturb(
        np.repeat(np.arange(K), COUNTS), rng_for(0, "tests", "cli reports", protocol)
    )


def report_lines(protocol: str, made: np.ndarray) -> str:
    if protocol == "grr":
        return "".join(f"{value}\n" for value in made.tolist())
    separator = "" if protocol == "oue" else ","
    return "".join(separator.join(str(int(cell)) for cell in row) + "\n" for row in made)


def on_stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


# --- answers ---------------------------------------------------------------------------------------------------


def test_an_estimate_is_answered_with_two_tables(run: Run, estimate: str) -> None:
    code, out, err = run(*QUICK, "--estimate", "OUE", "--n", str(N), estimate)
    assert (code, err) == (0, "")  # no privacy notice: an estimate is protected already
    assert PRIVACY_NOTICE not in err
    first, later = out.split("For the next round, with the same ε, k and n: ")
    assert "on this oue estimate" in first
    assert "surrogate ensemble" in later
    assert "the values are frequencies" in later
    assert f"Simulated from the estimate in {estimate}" in later


def test_quiet_shows_the_first_table_only(run: Run, estimate: str) -> None:
    _, out, err = run("-q", *QUICK, "--estimate", "oue", "--n", str(N), estimate)
    assert err == ""
    assert "next round" not in out
    assert "on this oue estimate" in out
    verbose = run("-v", *QUICK, "--estimate", "oue", "--n", str(N), estimate)[1]
    assert "best: probability that the row has the lowest error" in verbose


def test_the_command_gives_what_the_function_gives(run: Run, estimate: str) -> None:
    out = run(*QUICK, "--estimate", "oue", "--n", str(N), "--format", "json", estimate)[1]
    given = advise(1.0, estimate=raw(), protocol="oue", n=N, method=["none", "norm_sub"], repetitions=4)
    data, expected = answer(out), answer(given.to_json())
    for key in ("recommendations", "next_round", "baselines", "experiment_id", "summary", "surrogate"):
        assert data[key] == expected[key]
    assert data["request"]["collected_with"] == "oue"


def test_counts_percentages_and_named_columns(run: Run, tmp_path: Path) -> None:
    values = raw("grr")
    path = tmp_path / "table.csv"
    rows = [f"{place},x{place},{value * N},{100 * value}" for place, value in enumerate(values)]
    path.write_text("id,name,users,share\n" + "\n".join(rows) + "\n", encoding="utf-8")
    base = (*QUICK, "--estimate", "grr", "--n", str(N), "--column", "name", "--format", "json", str(path))
    data = answer(run(*base, "--estimates", "users")[1])
    assert any("the values are counts" in line for line in data["assumptions"])
    assert data["request"]["ordered"] is False
    code, _, err = run(*base, "--estimates", "share")
    assert code == 2
    assert "percentages: divide them by 100" in err


def test_an_estimate_on_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    on_stdin(monkeypatch, estimate_text(raw()))
    data = answer(run(*QUICK, "--estimate", "oue", "--n", str(N), "--format", "json", "-")[1])
    assert data["request"]["sample"] == "standard input"
    assert data["request"]["n"] == N


@pytest.mark.parametrize(
    ("protocol", "options"), [("grr", ()), ("oue", ()), ("olh", ("--k", str(K))), ("blh", ("--k", str(K)))]
)
def test_reports_are_counted_into_the_estimate_of_the_protocol(
    run: Run, tmp_path: Path, protocol: str, options: tuple[str, ...]
) -> None:
    made = reports(protocol)
    path, target = tmp_path / "reports.txt", tmp_path / "out.csv"
    path.write_text(report_lines(protocol, made), encoding="utf-8")
    arguments = ("--reports", protocol, *options, "--apply", str(target), "--format", "json", str(path))
    data = answer(run(*QUICK, *arguments)[1])
    assert data["request"]["n"] == N
    assert data["request"]["collected_with"] == protocol
    assert f"{N:,} reports read" in data["assumptions"]
    oracle = PROTOCOLS[protocol](K, EPSILON)
    expected = oracle.estimate(oracle.support(made), N)
    rows = table(target)
    np.testing.assert_array_equal([float(row["raw"]) for row in rows], expected)


def test_reports_on_standard_input_with_their_domain(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = tmp_path / "domain.txt"
    domain.write_text("".join(f"city {place}\n" for place in range(K)), encoding="utf-8")
    on_stdin(monkeypatch, "".join(f"city {value}\n" for value in reports("grr").tolist()))
    arguments = ("--reports", "k-RR", "--domain", str(domain), "--ordered", "-m", "emd", "--format", "json", "-")
    data = answer(run(*QUICK, *arguments)[1])
    assert data["request"]["ordered"] is True
    assert data["request"]["metric"] == "emd"


def test_the_hash_of_the_reports_matters(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("seed,symbol\n" + report_lines("olh", reports("olh")), encoding="utf-8")
    base = (*QUICK, "--reports", "olh", "--k", str(K), "--format", "json", str(path))
    right = answer(run(*base, "--hash", "mix64")[1])
    assert right["recommendations"] == answer(run(*base)[1])["recommendations"]
    # Under another hash nobody's report supports the own category more often than any: the estimates sum to about 0.
    code, out, err = run(*base, "--hash", "xxh32")
    assert code == 2
    assert "check n, eps and the protocol" in answer(out)["error"]["message"]
    assert "check n, eps and the protocol" in err


def test_a_surrogate_of_one_population(run: Run, estimate: str) -> None:
    arguments = ("--estimate", "oue", "--n", str(N), "--surrogate", "Norm-Sub", "--format", "json", estimate)
    data = answer(run(*QUICK, *arguments)[1])
    assert data["surrogate"] == "norm_sub"
    assert data["request"]["populations"] == 1
    assert {row["probability_best"] for row in data["recommendations"]} == {None}


@pytest.mark.parametrize("output_format", ["table", "plain", "markdown", "csv", "value"])
def test_every_format(run: Run, estimate: str, output_format: str) -> None:
    code, out, _ = run(*QUICK, "--estimate", "oue", "--n", str(N), "--format", output_format, estimate)
    assert code == 0
    if output_format == "value":
        assert out.split() == ["oue", "norm_sub"]
    else:
        assert ("next_round" if output_format == "csv" else "For the next round") in out


def test_the_repetitions_of_an_estimate_can_be_written(run: Run, estimate: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.csv"
    base = (*QUICK, "--estimate", "oue", "--n", str(N), "--format", "json", estimate)
    data = answer(run(*base, "--runs", str(target))[1])
    rows = [row for row in table(target) if row["metric"] == "l1"]
    for place in (data["recommendations"][0], data["next_round"]["recommendations"][0]):
        errors = [float(row["error"]) for row in rows if row["protocol"] == place["protocol"]
                  and row["method"] == place["method"]]  # fmt: skip
        # one collection from each population: averaged by their roots
        assert np.mean(np.sqrt(errors[: place["repetitions"]])) ** 2 == pytest.approx(place["error"], rel=1e-9)


def test_environment_sets_the_options_too(run: Run, estimate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDP_ADVISE_ESTIMATE", "oue")
    monkeypatch.setenv("LDP_ADVISE_SURROGATE", "eb_ns")
    data = answer(run(*QUICK, "--n", str(N), "--format", "json", estimate)[1])
    assert data["surrogate"] == "eb_ns"


# --- --apply ---------------------------------------------------------------------------------------------------


def test_apply_writes_the_best_method_and_never_over_a_file(run: Run, estimate: str, tmp_path: Path) -> None:
    target = tmp_path / "applied.csv"
    base = (*QUICK, "--estimate", "oue", "--n", str(N), "--apply", str(target), "--format", "value", estimate)
    code, out, _ = run(*base)
    assert code == 0
    method = out.split()[1]
    rows = table(target)
    assert list(rows[0]) == ["value", "raw", "post_processed", "low", "high"]
    assert [row["value"] for row in rows] == [str(place) for place in range(K)]
    np.testing.assert_array_equal([float(row["raw"]) for row in rows], raw())
    expected = POSTPROCESSORS[method](raw(), PROTOCOLS["oue"](K, EPSILON).noise(N))
    np.testing.assert_array_equal([float(row["post_processed"]) for row in rows], expected)
    assert all(0 <= float(row["low"]) <= float(row["high"]) <= 1 for row in rows)
    target.write_text("mine", encoding="utf-8")
    code, _, err = run(*base)
    assert code == 2
    assert "--apply" in err
    assert "the file exists; give --force" in err
    assert target.read_text(encoding="utf-8") == "mine"
    assert run(*base, "--force")[0] == 0
    assert table(target) == rows


def test_apply_goes_to_a_file_of_its_own(run: Run, estimate: str, tmp_path: Path) -> None:
    before = Path(estimate).read_bytes()
    target = str(tmp_path / "both.csv")
    base = (*QUICK, "--estimate", "oue", "--n", str(N), "--apply")
    for arguments, said in (
        ((target, "--output", target), "the same file as another output"),
        ((target, "--runs", target), "the same file as another output"),
        ((estimate, "--force"), "the sample itself, which is never overwritten"),
        ((str(tmp_path),), "this is a directory"),
        ((str(tmp_path / "no" / "file.csv"),), "there is no directory"),
    ):
        code, out, err = run(*base, *arguments, estimate)
        assert (code, out) == (2, "")
        assert said in err
    assert Path(estimate).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["estimate.csv"]


# --- what is refused -------------------------------------------------------------------------------------------

BOTH = ("--estimate", "oue", "--n", str(N))
USERS = ("--reports", "oue")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--estimate", "oue", "--reports", "oue"), "either --estimate or --reports"),
        (("--estimates", "x"), "--estimates goes with --estimate"),
        (("--hash", "mix64"), "--hash goes with --reports"),
        (("--surrogate", "norm_sub"), "--surrogate goes with --estimate"),
        (("--apply", "x.csv"), "--apply goes with --estimate or --reports"),
        ((*USERS, "--estimates", "x"), "--estimates names the column of a file for --estimate"),
        ((*BOTH, "--hash", "mix64"), "--hash goes with --reports"),
        (("--estimate", "oue"), "--n is missing"),
        (("--estimate", "ou", "--n", "9"), "unknown protocol 'ou'"),
        ((*BOTH, "--counts", "estimate"), "--counts is for a sample and does not go with --estimate"),
        ((*BOTH, "--transactions"), "--transactions is for a sample"),
        ((*BOTH, "--drop-missing"), "--drop-missing is for a sample"),
        ((*BOTH, "--keep-top", "3"), "--keep-top is for a sample"),
        ((*BOTH, "--keep-top", "3", "--other"), "is for a sample"),
        ((*USERS, "--counts", "1"), "--counts is for a sample and does not go with --reports"),
        ((*BOTH, "--max-reps", "50"), "max-reps is for a sample"),
        ((*BOTH, "--surrogate", "norm"), "surrogate must be one of"),
        ((*BOTH, "--unordered", "--surrogate", "wavelet_eb"), "surrogate wavelet_eb needs an ordered domain"),
        ((*BOTH, "--unordered", "-m", "emd"), "metric emd needs an ordered domain"),
        ((*BOTH, "--k", "9"), "k = 9 was given"),
        ((*BOTH, "--estimates", "share"), "share"),
        (("--estimate", "oue", "--n", "300000"), "check n, eps and the protocol"),
        (("--estimate", "oue", "--n", "0"), "n must be"),
        (("--reports", "she"), "reports of 'she' cannot be read"),
        (("--reports", "olh"), "--k"),
    ],
)
def test_misuse_is_told_in_one_line_and_nothing_is_written(
    run: Run, estimate: str, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    target = tmp_path / "applied.csv"
    apply = () if "--apply" in arguments or not {"--estimate", "--reports"} & set(arguments) else ("--apply", target)
    code, out, err = run(*QUICK, *arguments, *apply, estimate)
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("ldp-advise: error: ")
    assert err.count("\n") == 1
    assert not target.exists()


def test_the_number_of_reports_is_that_of_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reports.txt"
    path.write_text(report_lines("oue", reports("oue")), encoding="utf-8")
    code, _, err = run(*QUICK, "--reports", "oue", "--n", "99", str(path))
    assert code == 2
    assert "the file holds 3,000 reports, --n 99 was given: leave --n out" in err
    assert run(*QUICK, "--reports", "oue", "--n", str(N), str(path))[0] == 0


@pytest.mark.parametrize(
    ("options", "text", "said"),
    [
        (BOTH, "value,estimate\n0,0.5\n1,x\n", "line 3"),
        (BOTH, "value,estimate\n0,0.5\n1,\n", "line 3"),
        (BOTH, "value,estimate\n0,0.5\n0,0.5\n", "line 3"),
        (BOTH, "", "empty"),
        (USERS, "0101\n01x1\n", "line 2"),
        (USERS, "0101\n011\n", "line 2"),
        (("--reports", "grr", "--k", "2"), "0\n1\n5\n", "line 3"),
        (("--reports", "olh", "--k", "4"), "1,0\n2,99\n", "line 2"),
    ],
)
def test_bad_lines_are_told_by_number(run: Run, tmp_path: Path, options: tuple[str, ...], text: str, said: str) -> None:
    path, target = tmp_path / "bad.csv", tmp_path / "applied.csv"
    path.write_text(text, encoding="utf-8")
    code, out, err = run(*QUICK, *options, "--apply", target, str(path))
    assert (code, out) == (2, "")
    assert said in err
    assert not target.exists()


def test_a_missing_file_is_told_for_what_it_is(run: Run, tmp_path: Path) -> None:
    assert run(*QUICK, *BOTH)[2].startswith("ldp-advise: error: no file given: name the file with what was collected")
    code, _, err = run(*QUICK, *BOTH, str(tmp_path / "nowhere.csv"))
    assert code == 2
    assert "nowhere.csv" in err


def test_errors_are_json_where_json_was_asked_for(run: Run, estimate: str) -> None:
    for arguments in (("--estimate", "oue"), ("--hash", "mix64"), (*BOTH, "--k", "9")):
        code, out, err = run(*QUICK, *arguments, "--format", "json", estimate)
        assert code == 2
        assert set(answer(out)) == {"schema_version", "tool_version", "error"}
        assert answer(out)["error"]["message"] in err


def test_a_worry_goes_to_standard_error_and_into_the_answer(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    cut = POSTPROCESSORS["norm_sub"](raw(), PROTOCOLS["oue"](K, EPSILON).noise(N))
    cut[-3:] = 0.0  # whatever the noise was, three are cut off
    cut[0] += 1 - cut.sum()
    path.write_text(estimate_text(cut), encoding="utf-8")
    _, out, err = run(*QUICK, *BOTH, "--format", "json", str(path))
    assert "warning: this is not a raw estimate" in err
    assert "not a raw estimate" in answer(out)["warnings"][0]


# --- a small sample --------------------------------------------------------------------------------------------


def test_a_small_sample_is_answered_from_its_posterior(run: Run, states: str) -> None:
    base = ("--eps", "1", "-p", "oue", "--method", "norm_sub", "--reps", "4", "--max-reps", "4", "--format", "json")
    code, out, err = run(*base, "--n", "10000", states)
    data = answer(out)
    assert code == 0
    assert (data["source"], data["surrogate"], data["request"]["populations"]) == ("surrogate", "dirichlet", 4)
    assert data["next_round"] is None
    assert "drawn from its Dirichlet posterior" in data["warnings"][0]
    assert "drawn from its Dirichlet posterior" in err
    assert PRIVACY_NOTICE in err
    assert answer(run(*base, "--n", "9999", states)[1])["source"] == "simulation"


def test_options_of_what_was_collected_are_frozen() -> None:
    about = CollectedOptions("oue", False, None, None, None, None)
    with pytest.raises(AttributeError):
        about.protocol = "grr"  # type: ignore[misc]
