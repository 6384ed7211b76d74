"""What the commands for estimates and reports refuse, in one line, and before the file is read where options say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator import POSTPROCESSORS, PROTOCOLS
from tests.advisor.cli_answers import answer
from tests.advisor.collected_files import EPSILON, QUICK, K, N, estimate_text, raw, report_lines, reports
from tests.advisor.conftest import Run
from tests.cells import failures

BOTH = ("estimate", "-p", "oue", "--n", str(N))
USERS = ("reports", "-p", "oue")
MISSING = "/nowhere/at all.csv"  # what is refused for its options is refused before the file is looked at


def test_wrong_options_are_refused_in_one_line_before_the_file_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [
        (("--estimate", "oue", "--n", "99"), "no option --estimate: it is a command, ldp-advise estimate"),
        (("--reports", "oue"), "no option --reports: it is a command, ldp-advise reports"),  # audit has that option
        (("plan", "--reports", "oue"), "--reports is no option of ldp-advise plan, but of ldp-advise audit"),
        (("--estimates", "x"), "--estimates is no option of ldp-advise, but of ldp-advise estimate"),
        (("--hash", "mix64"), "--hash is no option of ldp-advise, but of ldp-advise reports"),
        (("--surrogate", "norm_sub"), "but of ldp-advise estimate, ldp-advise reports"),
        (("--apply", "x.csv"), "but of ldp-advise estimate, ldp-advise reports"),
        ((*USERS, "--estimates", "x"), "--estimates is no option of ldp-advise reports"),
        ((*BOTH, "--hash", "mix64"), "--hash is no option of ldp-advise estimate"),
        (("estimate", "-p", "oue"), "--n is missing: give the number of users"),
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
    ]

    def check(cell: tuple[tuple[str, ...], str]) -> None:
        arguments, said = cell
        monkeypatch.chdir(tmp_path)
        code, out, err = run(*arguments, *QUICK, MISSING)
        assert (code, out) == (2, "")
        assert said in err
        assert err.startswith("ldp-advise: error: ")
        assert err.count("\n") == 1
        assert list(tmp_path.iterdir()) == []

    assert failures(cells, check) == {}


def test_what_the_file_contradicts_is_refused_and_nothing_is_written(run: Run, estimate: str, tmp_path: Path) -> None:
    cells = [
        ((*BOTH, "--k", "9"), "k = 9 was given"),
        ((*BOTH, "--estimates", "share"), "share"),
        (("estimate", "-p", "oue", "--n", "300000"), "check n, eps and the protocol"),
    ]

    def check(cell: tuple[tuple[str, ...], str]) -> None:
        arguments, said = cell
        target = tmp_path / "applied.csv"
        code, out, err = run(*arguments, *QUICK, "--apply", str(target), estimate)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1
        assert not target.exists()

    assert failures(cells, check) == {}


def test_the_number_of_reports_is_that_of_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reports.txt"
    path.write_text(report_lines("oue", reports("oue")), encoding="utf-8")
    code, _, err = run(*USERS, *QUICK, "--n", "99", str(path))
    assert code == 2
    assert "the file holds 3,000 reports, --n 99 was given: leave --n out" in err
    assert run(*USERS, *QUICK, "--n", str(N), str(path))[0] == 0


def test_bad_lines_are_told_by_number(run: Run, tmp_path: Path) -> None:
    cells = [
        (BOTH, "value,estimate\n0,0.5\n1,x\n", "line 3"),
        (BOTH, "value,estimate\n0,0.5\n1,\n", "line 3"),
        (BOTH, "value,estimate\n0,0.5\n0,0.5\n", "line 3"),
        (BOTH, "", "empty"),
        (USERS, "0101\n01x1\n", "line 2"),
        (USERS, "0101\n011\n", "line 2"),
        (("reports", "-p", "grr", "--k", "2"), "0\n1\n5\n", "line 3"),
        (("reports", "-p", "olh", "--k", "4"), "1,0\n2,99\n", "line 2"),
    ]

    def check(cell: tuple[tuple[str, ...], str, str]) -> None:
        options, text, said = cell
        path, target = tmp_path / "bad.csv", tmp_path / "applied.csv"
        path.write_text(text, encoding="utf-8")
        code, out, err = run(*options, *QUICK, "--apply", target, str(path))
        assert (code, out) == (2, "")
        assert said in err
        assert not target.exists()

    assert failures(cells, check) == {}


def test_a_missing_file_is_told_for_what_it_is(run: Run) -> None:
    assert "SAMPLE is missing: give the file with the estimate, or - for standard input" in run(*BOTH, *QUICK)[2]
    assert run(*BOTH, *QUICK, MISSING)[2] == f"ldp-advise: error: {MISSING}: no such file\n"


def test_errors_are_json_where_json_was_asked_for(run: Run, estimate: str) -> None:
    for arguments in (("estimate", "-p", "oue"), ("--estimate", "oue"), ("--hash", "mix64"), (*BOTH, "--k", "9")):
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
