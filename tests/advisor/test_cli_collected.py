"""The main command on what was collected: estimates, reports, and the file that --apply writes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from advisor import advise
from advisor.cli.run import NOTICE
from advisor.rank.apply import frequency_interval
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema

SCHEMA = schema("advice")
K, N, EPSILON = 8, 3000, 1.0
QUICK = ("--eps", "1", "--reps", "4", "--method", "norm_sub", "--method", "none")
COUNTS = apportion(frequencies("zipf", K), N)


def answer(text: str) -> dict:
    data = json.loads(text)
    SCHEMA.validate(data)
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
    code, out, err = run("estimate", *QUICK, "-p", "OUE", "--n", str(N), estimate)
    assert (code, err) == (0, "")  # no privacy notice: an estimate is protected already
    assert NOTICE not in err
    first, later = out.split("For the next round, with the same ε, k and n: ")
    assert "post-processing on this OUE estimate" in first
    assert "surrogate ensemble" in later
    assert "the values are frequencies" in later
    assert f"Simulated from the estimate in {estimate}" in later


def test_quiet_shows_the_first_table_only(run: Run, estimate: str) -> None:
    _, out, err = run("estimate", "-q", *QUICK, "-p", "oue", "--n", str(N), estimate)
    assert err == ""
    assert "next round" not in out
    assert "post-processing on this OUE estimate" in out
    verbose = run("estimate", "-v", *QUICK, "-p", "oue", "--n", str(N), estimate)[1]
    assert "best: probability that" in verbose


def test_the_command_gives_what_the_function_gives(run: Run, estimate: str) -> None:
    out = run("estimate", *QUICK, "-p", "oue", "--n", str(N), "--format", "json", estimate)[1]
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
    base = ("estimate", *QUICK, "-p", "grr", "--n", str(N), "--column", "name", "--format", "json", str(path))
    data = answer(run(*base, "--estimates", "users")[1])
    assert any("the values are counts" in line for line in data["assumptions"])
    assert data["request"]["ordered"] is False
    code, _, err = run(*base, "--estimates", "share")
    assert code == 2
    assert "percentages: divide them by 100" in err


def test_an_estimate_on_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    on_stdin(monkeypatch, estimate_text(raw()))
    data = answer(run("estimate", *QUICK, "-p", "oue", "--n", str(N), "--format", "json", "-")[1])
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
    arguments = ("-p", protocol, *options, "--apply", str(target), "--format", "json", str(path))
    data = answer(run("reports", *QUICK, *arguments)[1])
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
    arguments = ("-p", "k-RR", "--domain", str(domain), "--ordered", "-m", "emd", "--format", "json", "-")
    data = answer(run("reports", *QUICK, *arguments)[1])
    assert data["request"]["ordered"] is True
    assert data["request"]["metric"] == "emd"


def test_the_hash_of_the_reports_matters(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("seed,symbol\n" + report_lines("olh", reports("olh")), encoding="utf-8")
    base = ("reports", *QUICK, "-p", "olh", "--k", str(K), "--format", "json", str(path))
    right = answer(run(*base, "--hash", "mix64")[1])
    assert right["recommendations"] == answer(run(*base)[1])["recommendations"]
    # Under another hash nobody's report supports the own category more often than any: the estimates sum to about 0.
    code, out, err = run(*base, "--hash", "xxh32")
    assert code == 2
    assert (
        "these are hardly olh reports at eps = 1, k = 8: 2 categories supported on average"
        in answer(out)["error"]["message"]
    )
    assert "hash may be wrong" in err


PARAMETERS = {
    "ss": ("subset_size", "--subset-size", 3),
    "olh": ("hash_range", "--hash-range", 7),
    "hr": ("block_count", "--blocks", 1),
}


@pytest.mark.parametrize("protocol", PARAMETERS)
def test_parameters_of_other_packages_are_those_of_reports_estimate_noise_and_simulation(
    run: Run, tmp_path: Path, protocol: str
) -> None:
    field, flag, value = PARAMETERS[protocol]
    oracle = PROTOCOLS[protocol](K, EPSILON, **{field: value})
    assert oracle.noise(N) != PROTOCOLS[protocol](K, EPSILON).noise(N)
    users = np.repeat(np.arange(K), COUNTS)
    made = oracle.perturb(users, rng_for(0, "tests", "parameters", protocol))
    rows = made.reshape(N, -1).tolist()
    path, target = tmp_path / "reports.csv", tmp_path / "out.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    base = (*QUICK, "-p", protocol, flag, str(value), "--apply", str(target), "--force", "--format", "json")
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
    other = answer(run("estimate", *QUICK, "-p", protocol, "--n", str(N), "--format", "json", str(path))[1])
    assert other["recommendations"] != read["recommendations"]


def test_categories_that_are_only_numbers_have_no_order_unless_it_is_given(run: Run, tmp_path: Path) -> None:
    bits, values = tmp_path / "reports.csv", tmp_path / "estimate.csv"
    bits.write_text(report_lines("oue", reports("oue")), encoding="utf-8")
    values.write_text("".join(f"{value!r}\n" for value in raw().tolist()), encoding="utf-8")
    note = f"categories are numbered 0 to {K - 1}: no order between them (--ordered says otherwise)"
    base = (*QUICK, "-p", "oue", "--format", "json")
    for command in (("reports", *base, str(bits)), ("estimate", *base, "--n", str(N), str(values))):
        unasked, ordered = answer(run(*command)[1]), answer(run(*command, "--ordered")[1])
        assert unasked["request"]["ordered"] is False
        assert note in unasked["assumptions"]
        assert ordered["request"]["ordered"] is True
        assert note not in ordered["assumptions"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-p", "oue", "--subset-size", "3"),
            "--subset-size: oue has no such parameter; leave it out (it belongs to ss)",
        ),
        (
            ("-p", "blh", "--hash-range", "3"),
            "--hash-range: blh has no such parameter; leave it out (it belongs to olh)",
        ),
        (("-p", "hr", "--blocks", "3"), "--blocks: the number of blocks is a power of 2 up to 2k = 16, got 3"),
        (("-p", "ss", "--subset-size", "8"), "--subset-size: the size of subsets of k=8 values is 1 to 7, got 8"),
        (("-p", "hr", "--blocks", "0"), "blocks must be a whole number of at least 1, got 0"),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("1\n2\n", encoding="utf-8")
    code, _, err = run("reports", *QUICK, *arguments, "--k", "8", str(path))
    assert code == 2
    assert message in err


def test_a_surrogate_of_one_population(run: Run, estimate: str) -> None:
    arguments = ("-p", "oue", "--n", str(N), "--surrogate", "Norm-Sub", "--format", "json", estimate)
    data = answer(run("estimate", *QUICK, *arguments)[1])
    assert data["surrogate"] == "norm_sub"
    assert data["request"]["populations"] == 1
    assert {row["probability_best"] for row in data["recommendations"]} == {None}


@pytest.mark.parametrize("output_format", ["table", "plain", "markdown", "csv", "value"])
def test_every_format(run: Run, estimate: str, output_format: str) -> None:
    code, out, _ = run("estimate", *QUICK, "-p", "oue", "--n", str(N), "--format", output_format, estimate)
    assert code == 0
    if output_format == "value":
        assert out.split() == ["oue", "norm_sub"]
    else:
        assert ("next_round" if output_format == "csv" else "For the next round") in out


def test_the_repetitions_of_an_estimate_can_be_written(run: Run, estimate: str, tmp_path: Path) -> None:
    target = tmp_path / "runs.csv"
    base = ("estimate", *QUICK, "-p", "oue", "--n", str(N), "--format", "json", estimate)
    data = answer(run(*base, "--runs", str(target))[1])
    rows = [row for row in table(target) if row["metric"] == "l1"]
    for place in (data["recommendations"][0], data["next_round"]["recommendations"][0]):
        errors = [float(row["error"]) for row in rows if row["protocol"] == place["protocol"]
                  and row["method"] == place["method"]]  # fmt: skip
        # one collection from each population: averaged by their roots
        assert np.mean(np.sqrt(errors[: place["repetitions"]])) ** 2 == pytest.approx(place["error"], rel=1e-9)


@pytest.mark.parametrize("how", ["words", "one word", "environment"])
def test_the_old_flags_are_the_new_commands(
    run: Run, estimate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """`--protocol` beside them restricts the next round, and so does `--next-protocol` today."""
    path = tmp_path / "reports.txt"
    path.write_text(report_lines("oue", reports("oue")), encoding="utf-8")
    for command, file, extra in (("estimate", estimate, ("--n", str(N))), ("reports", str(path), ())):
        common = (*QUICK, *extra, "--surrogate", "eb_ns", "--format", "json", file)
        new = answer(run(command, "-p", "oue", "--next-protocol", "grr", *common)[1])
        flag = f"--{command}"
        if how == "environment":
            monkeypatch.setenv(f"LDP_ADVISE_{command.upper()}", "oue")
        given = {"words": (flag, "oue"), "one word": (f"{flag}=oue",), "environment": ()}[how]
        old = answer(run(*given, "--protocol=grr", *common)[1])
        monkeypatch.delenv(f"LDP_ADVISE_{command.upper()}", raising=False)
        assert old == new
        assert {row["protocol"] for row in new["recommendations"]} == {"oue"}
        assert {row["protocol"] for row in new["next_round"]["recommendations"]} == {"grr"}
        assert new["surrogate"] == "eb_ns"


# --- --apply ---------------------------------------------------------------------------------------------------


def test_apply_writes_the_best_method_and_never_over_a_file(run: Run, estimate: str, tmp_path: Path) -> None:
    target = tmp_path / "applied.csv"
    base = ("estimate", *QUICK, "-p", "oue", "--n", str(N), "--apply", str(target), "--format", "value", estimate)
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
    base = ("estimate", *QUICK, "-p", "oue", "--n", str(N), "--apply")
    for arguments, said in (
        ((target, "--output", target), "writes the same file; give each its own name"),
        ((target, "--runs", target), "writes the same file; give each its own name"),
        ((estimate, "--force"), "read in the same run, so it is never overwritten"),
        ((str(tmp_path),), "this is a directory"),
        ((str(tmp_path / "no" / "file.csv"),), "there is no directory"),
    ):
        code, out, err = run(*base, *arguments, estimate)
        assert (code, out) == (2, "")
        assert said in err
    assert Path(estimate).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["estimate.csv"]


# --- what is refused -------------------------------------------------------------------------------------------

BOTH = ("estimate", "-p", "oue", "--n", str(N))
USERS = ("reports", "-p", "oue")
MISSING = "/nowhere/at all.csv"  # what is refused for its options is refused before the file is looked at


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--estimate", "oue", "--reports", "oue"), "either --estimate or --reports"),
        (("--estimates", "x"), "--estimates is no option of ldp-advise, but of ldp-advise estimate"),
        (("--hash", "mix64"), "--hash is no option of ldp-advise, but of ldp-advise reports"),
        (("--surrogate", "norm_sub"), "but of ldp-advise estimate, ldp-advise reports"),
        (("--apply", "x.csv"), "but of ldp-advise estimate, ldp-advise reports"),
        ((*USERS, "--estimates", "x"), "--estimates is no option of ldp-advise reports"),
        ((*BOTH, "--hash", "mix64"), "--hash is no option of ldp-advise estimate"),
        (("--estimate", "oue"), "--n is missing: give the number of users"),
        (("estimate",), "--protocol and --n are missing: give the protocol that was used, for example --protocol oue"),
        (("estimate", "-p", "ou", "--n", "9"), "unknown protocol 'ou'"),
        ((*BOTH, "-p", "grr"), "takes one --protocol, got oue, grr"),
        ((*BOTH, "--counts", "estimate"), "--counts is no option of ldp-advise estimate"),
        ((*BOTH, "--transactions"), "--transactions is no option of ldp-advise estimate"),
        ((*USERS, "--keep-top", "3"), "--keep-top is no option of ldp-advise reports"),
        ((*USERS, "--drop-missing"), "--drop-missing is no option of ldp-advise reports"),
        ((*BOTH, "--max-reps", "50"), "--max-reps is no option of ldp-advise estimate"),
        ((*BOTH, "--rounds", "2"), "--rounds is no option of ldp-advise estimate"),
        ((*BOTH, "--surrogate", "norm"), "surrogate must be one of"),
        ((*BOTH, "--unordered", "--surrogate", "wavelet_eb"), "surrogate wavelet_eb needs an ordered domain"),
        ((*BOTH, "--unordered", "-m", "emd"), "metric emd needs an ordered domain"),
        ((*BOTH, "--method", "post_pos"), "method post_pos changes only the answers of queries"),
        ((*BOTH, "-m", "l1", "-m", "l2", "--apply", "x.csv"), "--apply writes one estimate"),
        ((*BOTH, "--threat", "0.9999"), "leaves no honest user"),
        ((*BOTH, "--k", "3", "-m", "topk", "--top-values", "4"), "top-values must be at most k=3"),
        (("estimate", "-p", "oue", "--n", "0"), "n must be"),
        (("reports", "-p", "oue", "--steps", "8"), "reports of oue are no real numbers"),
        (("reports", "-p", "olh"), "--k"),
        (("reports", "-p", "grr", "--hash", "mix64"), "grr has no hash function"),
    ],
)
def test_wrong_options_are_refused_in_one_line_before_the_file_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, *QUICK, MISSING)
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("ldp-advise: error: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*BOTH, "--k", "9"), "k = 9 was given"),
        ((*BOTH, "--estimates", "share"), "share"),
        (("estimate", "-p", "oue", "--n", "300000"), "check n, eps and the protocol"),
    ],
)
def test_what_the_file_contradicts_is_refused_and_nothing_is_written(
    run: Run, estimate: str, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    target = tmp_path / "applied.csv"
    code, out, err = run(*arguments, *QUICK, "--apply", str(target), estimate)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not target.exists()


def test_the_number_of_reports_is_that_of_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reports.txt"
    path.write_text(report_lines("oue", reports("oue")), encoding="utf-8")
    code, _, err = run(*USERS, *QUICK, "--n", "99", str(path))
    assert code == 2
    assert "the file holds 3,000 reports, --n 99 was given: leave --n out" in err
    assert run(*USERS, *QUICK, "--n", str(N), str(path))[0] == 0


@pytest.mark.parametrize(
    ("options", "text", "said"),
    [
        (BOTH, "value,estimate\n0,0.5\n1,x\n", "line 3"),
        (BOTH, "value,estimate\n0,0.5\n1,\n", "line 3"),
        (BOTH, "value,estimate\n0,0.5\n0,0.5\n", "line 3"),
        (BOTH, "", "empty"),
        (USERS, "0101\n01x1\n", "line 2"),
        (USERS, "0101\n011\n", "line 2"),
        (("reports", "-p", "grr", "--k", "2"), "0\n1\n5\n", "line 3"),
        (("reports", "-p", "olh", "--k", "4"), "1,0\n2,99\n", "line 2"),
    ],
)
def test_bad_lines_are_told_by_number(run: Run, tmp_path: Path, options: tuple[str, ...], text: str, said: str) -> None:
    path, target = tmp_path / "bad.csv", tmp_path / "applied.csv"
    path.write_text(text, encoding="utf-8")
    code, out, err = run(*options, *QUICK, "--apply", target, str(path))
    assert (code, out) == (2, "")
    assert said in err
    assert not target.exists()


def test_a_missing_file_is_told_for_what_it_is(run: Run) -> None:
    assert "SAMPLE is missing: give the file with the estimate, or - for standard input" in run(*BOTH, *QUICK)[2]
    assert run(*BOTH, *QUICK, MISSING)[2] == f"ldp-advise: error: {MISSING}: no such file\n"


def test_errors_are_json_where_json_was_asked_for(run: Run, estimate: str) -> None:
    for arguments in (("--estimate", "oue"), ("--hash", "mix64"), (*BOTH, "--k", "9")):
        code, out, err = run(*arguments, *QUICK, "--format", "json", estimate)
        assert code == 2
        assert set(answer(out)) == {"schema_version", "tool_version", "error"}
        assert answer(out)["error"]["message"] in err


def test_a_worry_goes_to_standard_error_and_into_the_answer(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    cut = POSTPROCESSORS["norm_sub"](raw(), PROTOCOLS["oue"](K, EPSILON).noise(N))
    cut[-3:] = 0.0  # whatever the noise was, three are cut off
    cut[0] += 1 - cut.sum()
    path.write_text(estimate_text(cut), encoding="utf-8")
    _, out, err = run(*BOTH, *QUICK, "--format", "json", str(path))
    assert "warning: this is not a raw estimate" in err
    assert "not a raw estimate" in answer(out)["warnings"][0]
