"""Bad usage and bad files of the main command: one line, exit code 2, and nothing is written."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.advisor.cli_answers import answer
from tests.advisor.conftest import Run
from tests.cells import failures

BAD = [
    (["-e", "0"], "eps must be a number above 0, got '0'"),
    (["-e", "-1"], "above 0, got '-1'"),
    (["-e", "nan"], "eps must be a number, got 'nan'"),
    (["-e", "inf"], "eps must be a number, got 'inf'"),
    (["-e", "one"], "eps must be a number, got 'one'"),
    (["-e", "33"], "between 1e-06 and 32, got 33"),
    (["-e", "1", "-e", "2"], "--eps is given 2 times (1, 2): give it once, as --eps 1,2"),
    (["-e", "1", "--eps=2"], "--eps is given 2 times (1, 2): give it once, as --eps 1,2"),
    (["-e", "1", "--k", "5", "--k", "6"], "--k is given 2 times (5, 6): give it once"),
    (["-e", "1", "--ordered", "--unordered"], "--ordered and --unordered are both given"),
    (["-e", "1,2", "--runs", "x.csv"], "--runs goes with one ε: give one --eps"),
    (["-e", "1,two"], "eps must be a number, got 'two'"),
    (["-e", "1,"], "eps must be values with commas between them"),
    (["-e"], "requires an argument"),
    (["-e", "1", "--k", "1"], "at least 2"),
    (["-e", "1", "--k", "3"], "4 categories"),
    (["-e", "1", "--k", "2.5"], "k must be a whole number"),
    (["-e", "1", "--n", "0"], "n must be a whole number of at least 1"),
    (["-e", "1", "--n", "many"], "such as 100000, 1e5 or 100k, got 'many'"),
    (["-e", "1", "-m", "emdd"], "did you mean 'emd'?"),
    (["-e", "1", "-m", "emd"], "needs an ordered domain"),
    (["-e", "1", "-m", "range"], "give --ordered"),
    (["-e", "1", "-p", "ohl"], "did you mean 'olh'?"),
    (["-e", "1", "--method", "Norm-Subb"], "did you mean 'norm_sub'?"),
    (["-e", "1", "--method", "post_pos"], "goes with the metrics set, range"),
    (["-e", "1", "--column", "fruits"], "did you mean 'fruit'?"),
    (["-e", "1", "--counts", "cuont"], "did you mean 'count'?"),
    (["-e", "1", "--reps", "1"], "reps must be a whole number of at least 2"),
    (["-e", "1", "--reps", "50", "--max-reps", "20"], "max-reps must be at least reps"),
    (["-e", "1", "--seed", "-1"], "seed must be"),
    (["-e", "1", "--jobs", "0"], "jobs must be a whole number of at least 1 and at most 1,024, got 0"),
    (["-e", "1", "--jobs", "99999999999"], "at most 1,024, got 99,999,999,999"),
    (["-e", "1", "--top", "0"], "top must be a whole number of at least 1"),
    (["-e", "1", "--top-values", "9", "-m", "topk"], "at most k=4"),
    (["-e", "1", "--top-values", "2"], "--top-values goes with --metric topk: the metric is l1"),
    (["-e", "1", "--set-share", "0.2", "-m", "kl,topk"], "--set-share goes with --metric set: the metric is kl, topk"),
    (["-e", "1", "--kl-mix", "0.1", "-m", "l2"], "--kl-mix goes with --metric kl or --metric js: the metric is l2"),
    (["-e", "1", "-p", "oue,ohl"], "unknown protocol 'ohl'"),
    (["-e", "1", "-p", "oue,"], "protocol is empty"),
    (["-e", "1", "-p", "gr"], "did you mean 'grr'?"),
    (["-e", "1", "-p", "hadamard"], "did you mean 'hr'?"),
    (["-e", "1", "-m", "mean-squared-error"], "did you mean 'mse'?"),
    (["-e", "1", "--keep-top", "1"], "--keep-top 1 leaves 1 of 4 labels; keep 2, or add --other"),
    (["-e", "1", "--drop-missing", "--transactions"], "--drop-missing does not go with --transactions"),
    (["-e", "1", "--set-share", "1"], "above 0 and below 1"),
    (["-e", "1", "--kl-mix", "0"], "above 0 and below 1"),
    (["-e", "1", "--format", "jsn"], "did you mean 'json'?"),
    (["-e", "1", "--runs", "x.xls"], ".csv, .parquet"),
    (["-e", "1", "--nosuch"], "there is no option --nosuch"),
    (["-e", "1", "--skwe", "1"], "did you mean --skew?"),
    (["-e", "1", "--apply", "x.csv"], "--apply is no option of ldp-advise, but of ldp-advise estimate"),
    (["-e", "1", "--solution", "spl"], "--solution is no option of ldp-advise, but of ldp-advise columns"),
    (["-e", "1", "another"], "unexpected extra argument"),
    (["-e", "1", "--other"], "--keep-top"),
]


def test_bad_usage_gets_one_clear_line_and_exit_code_2(
    run: Run, states: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(cell: tuple[list[str], str]) -> None:
        arguments, message = cell
        monkeypatch.chdir(tmp_path)
        arguments = [states, *arguments]
        before = sorted(tmp_path.iterdir())
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert message in err
        assert sorted(tmp_path.iterdir()) == before
        if arguments[-2:] != ["--format", "jsn"] and arguments[-1] != "-e":
            code, out, _ = run("--format", "json", *arguments)
            assert code == 2
            assert message in answer(out)["error"]["message"]  # type: ignore[index]

    assert failures(BAD, refused) == {}


BAD_FILES = [
    (b"", "is empty"),
    (b"fruit,count\n", "only a header"),
    (b"fruit,count\na,1\nb,-2\n", "column 'count' holds '-2' on line 3, which is no count: it is negative"),
    (b"fruit,count\na,1\nb,2.5\n", "column 'count' holds '2.5' on line 3, which is no count: it is not a whole number"),
    (b"fruit,count\na,1\nb,nan\n", "column 'count' holds 'nan' on line 3, which is no count: it is missing"),
    (b"\x00\x01\x02", "not text"),
    (b"caf\xe9\nx\n", "not UTF-8"),
    (b"a\na\n", "at least 2"),
]


def test_bad_files_get_one_clear_line_and_exit_code_2(run: Run, tmp_path: Path) -> None:
    def refused(cell: tuple[bytes, str]) -> None:
        content, message = cell
        path = tmp_path / "sample.csv"
        path.write_bytes(content)
        code, out, err = run("-e", "1", "-o", str(tmp_path / "out.csv"), str(path))
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert message in err
        assert [entry.name for entry in tmp_path.iterdir()] == ["sample.csv"]

    assert failures(BAD_FILES, refused) == {}


def test_fractional_counts_are_refused_whatever_their_share(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    path.write_text("value,count\na,0.25\nb,0.75\n", encoding="utf-8")
    for extra in ((), ("--column", "value"), ("--counts", "count")):
        code, _, err = run("-e", "1", *extra, str(path))
        assert code == 2
        assert "'0.25'" in err
        assert "is not a whole number" in err


def test_an_error_is_json_where_the_output_would_have_been(run: Run, states: str, tmp_path: Path) -> None:
    code, out, _ = run("-e", "bad", "-o", str(tmp_path / "x.json"), states)
    assert code == 2
    assert "eps must be a number" in answer(out)["error"]["message"]  # type: ignore[index]


def test_places_that_cannot_be_written_are_refused_before_the_sample_is_read(run: Run, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing.csv")
    for option in ("--output", "--runs"):
        for place, message in (
            (tmp_path / "folder" / "x.csv", "there is no directory"),
            (tmp_path, "directory" if option == "--output" else "suffix"),
        ):
            code, _, err = run("-e", "1", option, str(place), missing)
            assert code == 2
            assert message in err
    assert "no such file" in run("-e", "1", missing)[2]
    assert "directory" in run("-e", "1", str(tmp_path))[2]


@pytest.mark.parametrize("words", [["swep"], ["estimat", "x.csv", "--eps", "1"], ["report", "--bogus"]])
def test_a_mistyped_command_is_named_whatever_else_is_wrong(
    run: Run, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"ldp-advise: error: {words[0]}: neither a file nor a command; did you mean ")
    Path(words[0]).write_text("a\nb\n", encoding="utf-8")  # now it is a sample
    assert "nor a command" not in run(*words)[2]


@pytest.mark.parametrize("words", [[""], ["--eps", "1", " "], ["estimate", ""], ["plan", ""], ["places", ""]])
def test_an_empty_file_name_is_called_one(run: Run, words: list[str]) -> None:
    code, _, err = run(*words)
    assert code == 2
    assert "the file name is empty: name a file, or - for standard input" in err


def test_a_mistyped_command_about_the_knowledge_is_named(run: Run) -> None:
    assert "knowledge has no command 'inf'; did you mean 'info'?" in run("knowledge", "inf")[2]
    assert "there are info, rules, cells, build" in run("knowledge", "xyz")[2]


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 3 TiB"), RecursionError("maximum depth")])
def test_exhaustion_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def exhausted(*_: object) -> None:
        raise error

    monkeypatch.setattr("advisor.cli.epsilon.run", exhausted)
    code, out, err = run("epsilon", "--eps", "1")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "Unable to allocate 3 TiB" in err or "nested too deeply" in err


def test_warnings_to_programmers_are_not_for_users(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(*_: object) -> None:
        warnings.warn("overflow encountered in exp", RuntimeWarning, stacklevel=1)
        warnings.warn("a plug-in says \x1b[31mboo", UserWarning, stacklevel=1)

    monkeypatch.setattr("advisor.cli.epsilon.run", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("epsilon", "--eps", "1") == (0, "", "warning: a plug-in says \\x1b[31mboo\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--k", "32", "--shape", "sparse:1e160"], "sparse"),
        (["places", "--cell-km", "1e300", "--columns", "x,y", "map.csv"], "cell-km must be a number above 0 and below"),
    ],
)
def test_figures_beyond_all_use_are_refused(arguments: list[str], words: str, run: Run) -> None:
    code, _, err = run(*arguments, "--eps", "1")
    assert code == 2
    assert err.startswith("ldp-advise: error: ")
    assert words in err
