import warnings
from itertools import product
from pathlib import Path

import pytest

from tests.advisor.cli_answers import answer, refused
from tests.cells import failures, over

MISSING = "/nowhere/at all.csv"
EMPTY = "the file name is empty: name a file, or - for standard input"
# What options alone forbid is refused before the file is read.
BAD_OPTIONS = [
    (["-e", "0"], "eps must be a number above 0, got '0'"),
    (["-e", "-1"], "above 0, got '-1'"),
    (["-e", "nan"], "eps must be a number, got 'nan'"),
    (["-e", "inf"], "eps must be a number, got 'inf'"),
    (["-e", "33"], "between 1e-06 and 32, got 33"),
    (["-e", "1,two"], "eps must be a number, got 'two'"),
    (["-e", "1,"], "eps must be values with commas between them"),
    (["-e", "0,5"], "got '0' (decimals have a point, and a comma separates several)"),
    (["-e", "0.5-2"], "eps takes no range, got '0.5-2': give the budgets to compare, such as 0.5,1"),
    (["-o", " "], "output must be the name of a file, got ' '"),
    (["-e", "1", "-e", "2"], "--eps is given 2 times: give it once, as --eps ε,…"),
    (["-e", "1", "--eps=2"], "--eps is given 2 times: give it once, as --eps ε,…"),
    (["-e", "1,2", "--runs", "x.csv"], "--runs goes with one ε: give one --eps"),
    (["-e"], "-e needs a value"),
    (["--k", "5", "--k", "6"], "--k is given 2 times: give it once"),
    (["--k", "1"], "at least 2"),
    (["--k", "2.5"], "k must be a whole number"),
    (["--ordered", "--unordered"], "--ordered and --unordered are both given"),
    (["--n", "0"], "n must be a whole number of at least 1"),
    (["--n", "many"], "such as 100000, 1e5 or 100k, got 'many'"),
    (["-m", "emdd"], "did you mean 'emd'?"),
    (["-m", "mean-squared-error"], "did you mean 'mse'?"),
    (["-m", "emd", "--unordered"], "metric emd needs an ordered domain"),
    (["-p", "ohl"], "did you mean 'olh'?"),
    (["-p", "oue,"], "protocol is empty"),
    (["-p", "hadamard"], "did you mean 'hr'?"),
    (["--method", "Norm-Subb"], "did you mean 'norm_sub'?"),
    (["--reps", "1"], "reps must be a whole number of at least 2"),
    (["--reps", "50", "--max-reps", "20"], "max-reps must be at least reps"),
    (["--instant", "--reps", "5"], "--reps is for a simulation"),
    (["--jobs", "0"], "jobs must be a whole number of at least 1 and at most 1,024, got 0"),
    (["--jobs", "99999999999"], "at most 1,024, got 99,999,999,999"),
    (["--top", "0"], "top must be a whole number of at least 1"),
    (["-m", "l2:2"], "metric l2 has no setting, got l2:2: topk, hotspots, set, kl, js, sets have one, as in topk:10"),
    (["--k", "4", "-m", "topk:9"], "topk and hotspots must look at no more than k=4 values, got 9"),
    (["-m", "kl:0.1,js:0.2"], "metric js:0.2 comes after the setting 0.1: give one of the two"),
    (["-m", "topk:x"], "topk must be a whole number of at least 1"),
    (["-m", "set:1"], "above 0 and below 1"),
    (["--skew", "1"], "--skew is for a question without a sample"),
    (["--why"], "--why explains a predicted answer"),
    (["--other"], "--keep-top"),
    (["--drop-missing", "--transactions"], "--drop-missing does not go with --transactions"),
    (["--keep", "common"], "--keep is for rows of several items: give --transactions --keep common"),
    (["--transactions", "--keep", "most"], "keep must be one of own, common, got 'most'"),
    (["--format", "jsn"], "did you mean 'json'?"),
    (["--runs", "x.xls"], ".csv, .parquet"),
    (["--nosuch"], "there is no option --nosuch"),
    (["--skwe", "1"], "did you mean --skew?"),
    (["another"], "unexpected extra argument"),
    (["columns", "--n", "5", "--attributes", "10"], "attributes must be at most the number of users"),
    (["columns", "--solution", "spl"], "solution goes with attributes"),
]
BAD_FOR_THIS_FILE = [
    (["--k", "3"], "4 categories"),
    (["-m", "emd"], "needs an ordered domain"),
    (["-m", "range"], "give --ordered"),
    (["--column", "fruits"], "did you mean 'fruit'?"),
    (["--counts", "cuont"], "did you mean 'count'?"),
    (["-m", "topk:9"], "no more than k=4"),
    (["--keep-top", "1"], "--keep-top 1 leaves 1 of 4 labels; keep 2, or add --other"),
]


def test_bad_usage_gets_one_clear_line_and_exit_code_2(run, states, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(cell):
        (words, message), path = cell
        command = words[:1] if words[0] in ("columns", "fakes") else []
        arguments = [*command, path, *words[len(command) :], *([] if "-e" in words else ["-e", "1"])]
        assert message in refused(run, *arguments)
        assert list(tmp_path.iterdir()) == [Path(states)]
        if "--format" not in words and words != ["-e"]:
            code, out, _ = run(*command, "--format", "json", *arguments[len(command) :])
            assert code == 2
            assert message in answer(out)["error"]["message"]

    assert failures([*product(BAD_OPTIONS, [MISSING]), *product(BAD_FOR_THIS_FILE, [states])], check) == {}


OTHERS = [
    *((words, EMPTY) for words in ([""], ["--eps", "1", " "], ["places", ""])),
    (["knowledge", "inf"], "knowledge has no command 'inf'; did you mean 'info'?"),
    (["knowledge", "xyz"], "there are info, rules, cells, build"),
    (["--k", "32", "--shape", "sparse:1e160", "--eps", "1"], "sparse"),
    (["places", "--cell-km", "1e300", "--columns", "x,y", "map.csv", "--eps", "1"], "cell-km must be a number above 0"),
    (["--show-completion"], "completion knows bash, zsh, fish and PowerShell"),
]


@over(OTHERS)
def test_other_words_are_refused_in_one_line_too(words, message, *, run, monkeypatch):
    with monkeypatch.context() as patch:
        if "--show-completion" in words:  # as Typer does in a shell that it does not know
            patch.setattr("advisor.cli.dispatch.app_for", lambda words: lambda *args, **options: 1)
        code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("ldp-advise: error: ")
    assert message in err


def test_an_error_is_json_where_the_output_would_have_been(run, states, tmp_path):
    code, out, _ = run("-e", "bad", "-o", str(tmp_path / "x.json"), states)
    assert code == 2
    assert "eps must be a number" in answer(out)["error"]["message"]


@pytest.mark.parametrize("words", [["swep"], ["estimat", "x.csv", "--eps", "1"], ["report", "--bogus"]])
def test_a_mistyped_command_is_named_whatever_else_is_wrong(run, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"ldp-advise: error: {words[0]}: neither a file nor a command; did you mean ")
    Path(words[0]).write_text("a\nb\n", encoding="utf-8")  # now it is a sample
    assert "nor a command" not in run(*words)[2]


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 3 TiB"), RecursionError("maximum depth")])
def test_exhaustion_is_one_line(run, monkeypatch, error):
    def exhausted(*_):
        raise error

    monkeypatch.setattr("advisor.cli.catalog.run", exhausted)
    err = refused(run, "epsilon", "--eps", "1")
    assert "Unable to allocate 3 TiB" in err or "nested too deeply" in err


def test_warnings_to_programmers_are_not_for_users(run, monkeypatch):
    def warned(*_):
        warnings.warn("overflow encountered in exp", RuntimeWarning, stacklevel=1)
        warnings.warn("a plug-in says \x1b[31mboo", UserWarning, stacklevel=1)

    monkeypatch.setattr("advisor.cli.catalog.run", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("epsilon", "--eps", "1") == (0, "", "warning: a plug-in says \\x1b[31mboo\n")
