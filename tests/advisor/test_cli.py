from __future__ import annotations

import csv
import io
import json
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from advisor.cli.app import COMMANDS, FORMATS, PRIVACY_NOTICE, main
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, __version__
from tests.advisor.conftest import Run

SCHEMA = json.loads(resources.files("advisor").joinpath("schema/advice.schema.json").read_text(encoding="utf-8"))
QUICK = ("--reps", "8", "--max-reps", "8")


def answer(text: str) -> dict[str, object]:
    """Parse one JSON object, refuse NaN and Infinity, and hold it against the shipped schema."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    data: dict[str, object] = json.loads(text, parse_constant=refuse)
    jsonschema.validate(data, SCHEMA)
    return data


def menu(k: int, epsilon: float) -> set[tuple[str, str]]:
    """The pairs that make sense for an unordered domain and a metric without queries."""
    noises = {name: protocol(k, epsilon).noise(1000) for name, protocol in PROTOCOLS.items()}
    return {
        (protocol, name)
        for protocol, noise in noises.items()
        for name, method in POSTPROCESSORS.items()
        if not (method.queries_only or method.ordered_only) and (method.fits is None or method.fits(noise, k))
    }


def test_schema_is_a_schema_and_refuses_what_is_not_an_answer() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema_version": 1, "tool_version": "0"}, SCHEMA)


def test_table_has_the_answer_the_rows_to_compare_with_and_what_was_assumed(run: Run, states: str) -> None:
    code, out, err = run("--eps", "1", "--n", "900", states)
    assert code == 0
    first, *_ = out.splitlines()
    assert first.startswith("Use ")
    assert "l1 error" in first
    assert "of 900 users" in out
    for mark in ("◂ raw estimate", "◂ uniform guess", "◂ usual default"):
        assert out.count(mark) == 1
    for said in ("seed 0", "20 repetitions", "n = 900", "k = 4 unordered", "tells from 0", "Assumed: "):
        assert said in out
    assert err.strip() == PRIVACY_NOTICE


def test_quiet_says_nothing_but_the_answer_and_the_table(run: Run, states: str) -> None:
    _, out, err = run("-q", "-e", "1", *QUICK, states)
    assert err == ""
    assert out.startswith("Use ")
    assert "Assumed" not in out


def test_verbose_tells_what_the_protocols_do_and_the_columns_mean(run: Run, states: str) -> None:
    _, out, _ = run("-v", "-e", "1", *QUICK, states)
    assert "attack: how often" in out
    assert f"{PROTOCOLS['grr'](4, 1.0).p:.6g}" in out


def test_json_has_all_contract_fields_in_rank_order(run: Run, states: str) -> None:
    code, out, _ = run("--eps", "1", "--format", "json", *QUICK, states)
    data = answer(out)
    assert code == 0
    assert data["source"] == "simulation"
    assert data["tool_version"] == __version__
    rows = data["recommendations"]
    assert isinstance(rows, list)
    assert {(row["protocol"], row["method"]) for row in rows} == menu(4, 1.0)
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    for row in rows:
        assert row["error_low"] <= row["error"] <= row["error_high"]
        assert row["ratio_low"] <= row["ratio_to_best"] <= row["ratio_high"]
        assert row["attack_success"] == PROTOCOLS[row["protocol"]](4, 1.0).attack_success
        if row["method"] == "none":
            assert row["error"] == row["error_without_postprocessing"]
    assert sum(row["win_share"] for row in rows) == pytest.approx(1)


def test_same_seed_same_output_whatever_the_jobs(run: Run, states: str) -> None:
    base = ("-e", "1", "--format", "json", "--reps", "5", "--max-reps", "20", states)
    assert run(*base)[1] == run(*base, "--jobs", "2")[1] == run(*base, "--jobs", "3")[1]
    assert run(*base)[1] != run(*base, "--seed", "1")[1]


def test_equivalent_users_of_the_raw_estimate_are_its_users(run: Run, states: str) -> None:
    _, out, _ = run("-e", "1", "--n", "50000", "--format", "json", *QUICK, states)
    rows = answer(out)["recommendations"]
    assert isinstance(rows, list)
    assert {row["equivalent_users"] for row in rows if row["method"] == "none"} == {50000}


def test_too_noisy_is_said_in_plain_words(run: Run, states: str) -> None:
    code, out, _ = run("-e", "0.01", "--n", "100", states)
    assert code == 0
    assert out.startswith("Nothing is shown to beat an answer without any data")
    assert "worth" not in out
    assert "this setting is too noisy" in out
    assert answer(run("-e", "0.01", "--n", "100", "--format", "json", states)[1])["beats_uniform_guess"] is False


def test_all_metrics_get_a_table_each(run: Run, ages: str) -> None:
    code, out, _ = run("-e", "2", "-m", "all", *QUICK, ages)
    assert code == 0
    for name in METRICS:
        assert f"{name} error" in out
    data = answer(run("-e", "2", "-m", "emd", "-m", "l1", "--format", "json", *QUICK, ages)[1])
    assert data["request"]["metrics"] == ["emd", "l1"]  # type: ignore[index]
    further = data["further_metrics"]
    assert isinstance(further, list)
    assert [entry["metric"] for entry in further] == ["l1"]


def test_all_metrics_of_an_unordered_domain_leave_out_the_ordered_ones_and_say_so(run: Run, states: str) -> None:
    data = answer(run("-e", "2", "-m", "all", "--format", "json", *QUICK, states)[1])
    assert data["request"]["metrics"] == [name for name in METRICS if name not in ("emd", "range")]  # type: ignore[index]
    assert any("emd, range left out" in line for line in data["assumptions"])  # type: ignore[union-attr]
    assert run("-e", "2", "-m", "emd", "--ordered", *QUICK, states)[0] == 0


def test_papers_names_restrict_the_menu(run: Run, ages: str) -> None:
    arguments = ("-p", "SUE", "-p", "k-RR", "--method", "Norm-Sub", "--method", "PowerNS", "--format", "json")
    rows = answer(run("-e", "1", *arguments, *QUICK, ages)[1])["recommendations"]
    assert isinstance(rows, list)
    pairs = {(row["protocol"], row["method"]) for row in rows}
    assert pairs == {(p, m) for p in ("grr", "rappor") for m in ("norm_sub", "power_ns")}


def test_post_pos_is_offered_for_queries(run: Run, ages: str) -> None:
    rows = answer(run("-e", "1", "-m", "range", "--format", "json", *QUICK, ages)[1])["recommendations"]
    assert isinstance(rows, list)
    post_pos = [row for row in rows if row["method"] == "post_pos"]
    assert len(post_pos) == len(PROTOCOLS)
    assert all(row["equivalent_users"] is None for row in post_pos)


def test_metric_options_change_what_they_name(run: Run, ages: str) -> None:
    def best(*extra: str) -> object:
        out = run("-e", "1", "-m", "topk", "--format", "json", *QUICK, *extra, ages)[1]
        return answer(out)["recommendations"][0]["error"]  # type: ignore[index]

    assert best() == best("--top-values", "1")  # 5 % of 9 categories, at least 1
    assert best() != best("--top-values", "5")


def test_value_plain_csv_and_markdown(run: Run, states: str) -> None:
    base = ("-q", "-e", "1", *QUICK, states, "--format")
    rows = answer(run(*base, "json")[1])["recommendations"]
    assert isinstance(rows, list)
    assert run(*base, "value")[1] == f"{rows[0]['protocol']} {rows[0]['method']}\n"
    table = list(csv.DictReader(io.StringIO(run(*base, "csv")[1])))
    assert [float(row["error"]) for row in table] == [row["error"] for row in rows]
    assert {row["metric"] for row in table} == {"l1"}
    markdown = [line for line in run(*base, "markdown")[1].splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in markdown}) == 1
    plain = run(*base, "plain")[1]
    assert "│" not in plain
    assert "\x1b" not in plain


def test_top_and_all(run: Run, states: str) -> None:
    def ranked(*extra: str) -> int:
        lines = run("-q", "-e", "1", *QUICK, *extra, "--format", "plain", states)[1].splitlines()[1:]
        return sum(line.split()[1:2] != [] and line.split()[1] in PROTOCOLS for line in lines)

    assert ranked("--all") == len(menu(4, 1.0))
    assert 3 <= ranked("--top", "3") <= 5  # the marked rows are shown wherever they stand


def test_output_file_takes_its_format_from_the_suffix_and_is_never_overwritten(
    run: Run, states: str, tmp_path: Path
) -> None:
    target = tmp_path / "advice.json"
    assert run("-e", "1", *QUICK, "-o", str(target), states) == (0, "", PRIVACY_NOTICE + "\n")
    before = target.read_bytes()
    answer(before.decode())
    code, _, err = run("-e", "2", *QUICK, "-o", str(target), states)
    assert code == 2
    assert "the file exists" in err
    assert target.read_bytes() == before
    assert run("-e", "2", *QUICK, "-o", str(target), "--force", states)[0] == 0
    assert target.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["advice.json", "fruit.csv"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_runs_hold_every_repetition(run: Run, states: str, tmp_path: Path, suffix: str) -> None:
    import pandas as pd

    target = tmp_path / f"runs.{suffix}"
    arguments = ("-e", "1", "-m", "l1", "-m", "l2", "--reps", "5", "--max-reps", "5", "--format", "json")
    data = answer(run(*arguments, "--runs", str(target), states)[1])
    frame = pd.read_csv(target) if suffix == "csv" else pd.read_parquet(target)
    assert list(frame.columns) == ["protocol", "method", "metric", "repetition", "error"]
    assert set(frame["metric"]) == {"l1", "l2"}
    assert set(frame["repetition"]) == set(range(5))
    for row in data["recommendations"]:  # type: ignore[attr-defined]
        chosen = frame[(frame.protocol == row["protocol"]) & (frame.method == row["method"]) & (frame.metric == "l1")]
        assert chosen["error"].mean() == pytest.approx(row["error"], rel=1e-12)


def test_environment_sets_options_and_arguments_win(run: Run, states: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDP_ADVISE_FORMAT", "value")
    monkeypatch.setenv("LDP_ADVISE_EPS", "1")
    monkeypatch.setenv("LDP_ADVISE_PROTOCOL", "grr")
    monkeypatch.setenv("LDP_ADVISE_MAX_REPS", "20")
    monkeypatch.setenv("LDP_ADVISE_QUIET", "1")
    code, out, err = run(states)
    assert (code, err) == (0, "")
    assert out.split()[0] == "grr"
    assert run("--protocol", "oue", states)[1].split()[0] == "oue"
    assert answer(run("--format", "json", states)[1])["request"]["eps"] == 1  # type: ignore[index]


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"a\nb\na\nc\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    data = answer(run("-e", "3", "--format", "json", *QUICK, "-")[1])
    assert data["request"]["sample"] == "standard input"  # type: ignore[index]
    assert data["request"]["n"] == 4  # type: ignore[index]


def test_help_and_version(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    for option in ("--eps", "--k", "--metric", "--runs", "--install-completion"):
        assert option in out
    assert "LDP_ADVISE_FORMAT" in out
    assert run("--version") == (0, f"ldp-advise {__version__}\n", "")


@pytest.mark.parametrize("command", [*COMMANDS, "knowledge rules"])
def test_every_command_has_the_short_option_for_help(run: Run, command: str) -> None:
    code, out, err = run(*command.split(), "-h")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: ldp-advise {command} ")
    assert "-h, --help" in out


def test_an_error_that_is_not_of_writing_is_not_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "grid.npy")

    monkeypatch.setattr("advisor.catalog.answer.menu_json", fails)
    with pytest.raises(FileNotFoundError):
        main(["list", "--format", "json"])


@pytest.mark.filterwarnings("always")
def test_a_picture_with_characters_without_a_glyph_gets_one_warning(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sample = tmp_path / "towns.csv"
    sample.write_text("town,count\n日本,500\n東京,300\n大阪,200\n京都,120\n", encoding="utf-8")
    asked = ("-q", "-e", "1", "-p", "grr", *QUICK, sample)
    code, _, err = run(*asked, "--plot-frequencies", tmp_path / "x.png")
    assert code == 0
    assert err.startswith("warning: some labels have characters that are not in the fonts of pictures")
    assert len(err.splitlines()) == 1
    code, _, err = run(*asked, "--plot-frequencies", tmp_path / "x.svg")
    assert (code, err) == (0, "")
    assert "東京" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_a_file_called_like_a_command(run: Run, states: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(states).parent
    for name in COMMANDS:
        (folder / name).write_bytes(Path(states).read_bytes())
    monkeypatch.chdir(folder)
    assert run("-q", "-e", "1", *QUICK, "--format", "value", "./list")[0] == 0
    assert run("./list", "-q", "-e", "1", *QUICK, "--format", "value")[0] == 0
    assert "protocols" in run("list")[1]


@pytest.mark.parametrize("name", [*PROTOCOLS, *POSTPROCESSORS, *METRICS, "PowerNS", "CLS", "SUE"])
def test_explain_knows_every_member(run: Run, name: str) -> None:
    code, out, _ = run("explain", name)
    assert code == 0
    assert "Formula: " in out
    assert "Look out: " in out
    known = json.loads(run("explain", name, "--format", "json")[1])
    assert known["formula"] in out


def test_list_shows_the_whole_menu(run: Run) -> None:
    out = run("list")[1]
    data = json.loads(run("list", "--format", "json")[1])
    tables = {"protocols": PROTOCOLS, "methods": POSTPROCESSORS, "metrics": METRICS}
    for kind, table in tables.items():
        assert [member["name"] for member in data[kind]] == list(table)
        assert all(name in out for name in table)


BAD = [
    (["-e", "0"], "above 0, got 0"),
    (["-e", "-1"], "above 0, got -1"),
    (["-e", "nan"], "above 0, got nan"),
    (["-e", "inf"], "above 0, got inf"),
    (["-e", "one"], "eps must be a number, got 'one'"),
    (["-e", "33"], "between 1e-06 and 32, got 33"),
    ([], "--eps is missing"),
    (["-e"], "requires an argument"),
    (["-e", "1", "--k", "1"], "at least 2"),
    (["-e", "1", "--k", "3"], "4 categories"),
    (["-e", "1", "--k", "2.5"], "k must be a whole number"),
    (["-e", "1", "--n", "0"], "n must be a whole number of at least 1"),
    (["-e", "1", "--n", "many"], "n must be a whole number such as 100000 or 1e5, got 'many'"),
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
    (["-e", "1", "--jobs", "0"], "jobs must be at least 1"),
    (["-e", "1", "--jobs", "99999999999"], "jobs must be at most 1,024"),
    (["-e", "1", "--top", "0"], "top must be at least 1"),
    (["-e", "1", "--top-values", "9"], "at most k=4"),
    (["-e", "1", "--set-share", "1"], "between 0 and 1"),
    (["-e", "1", "--kl-mix", "0"], "between 0 and 1"),
    (["-e", "1", "--format", "jsn"], "did you mean 'json'?"),
    (["-e", "1", "--runs", "x.xls"], ".csv, .parquet"),
    (["-e", "1", "--nosuch"], "--nosuch"),
    (["-e", "1", "another"], "unexpected extra argument"),
    (["-e", "1", "--other"], "--keep-top"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_usage_gets_one_clear_line_and_exit_code_2(
    run: Run, states: str, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"fruit,count\n", "only a header"),
        (b"fruit,count\na,1\nb,-2\n", "line 3: the count '-2' is negative"),
        (b"fruit,count\na,1\nb,2.5\n", "line 3: the count '2.5' is not a whole number"),
        (b"fruit,count\na,1\nb,nan\n", "line 3: the count 'nan' is missing"),
        (b"\x00\x01\x02", "not text"),
        (b"caf\xe9\nx\n", "not UTF-8"),
        (b"a\na\n", "at least 2"),
    ],
)
def test_bad_files_get_one_clear_line_and_exit_code_2(run: Run, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "sample.csv"
    path.write_bytes(content)
    code, out, err = run("-e", "1", "-o", str(tmp_path / "out.csv"), str(path))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert [entry.name for entry in tmp_path.iterdir()] == ["sample.csv"]


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


def test_the_sample_is_never_overwritten_even_with_force(run: Run, states: str) -> None:
    before = Path(states).read_bytes()
    code, _, err = run("-e", "1", "--force", "-o", states, states)
    assert code == 2
    assert "never overwritten" in err
    assert Path(states).read_bytes() == before


def test_output_and_runs_must_differ(run: Run, states: str, tmp_path: Path) -> None:
    both = str(tmp_path / "x.csv")
    assert "same file" in run("-e", "1", "-o", both, "--runs", both, states)[2]


def test_every_format_of_the_help_is_one(run: Run, states: str) -> None:
    for name in FORMATS:
        code, out, _ = run("-q", "-e", "1", *QUICK, "--format", name, states)
        assert code == 0
        assert out


def test_answering_nothing_at_all_is_no_success(run: Run, tmp_path: Path) -> None:
    """On skewed data 0 everywhere has a lower l1 error than the uniform guess; that is not learning from reports."""
    path = tmp_path / "skewed.csv"
    path.write_text("value,count\n" + "".join(f"v{i},{10_000 // (i + 1) ** 2}\n" for i in range(128)), encoding="utf-8")
    data = answer(run("-e", "0.01", "--n", "1000", "--method", "norm_cut", "--format", "json", str(path))[1])
    assert data["recommendations"][0]["error"] == pytest.approx(1.0)  # type: ignore[index]
    assert data["baselines"][1]["error"] > 1.2  # type: ignore[index]
    assert data["beats_uniform_guess"] is False


def test_fractional_counts_are_refused_whatever_their_share(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    path.write_text("value,count\na,0.25\nb,0.75\n", encoding="utf-8")
    for extra in ((), ("--column", "value"), ("--counts", "count")):
        code, _, err = run("-e", "1", *extra, str(path))
        assert code == 2
        assert "the count '0.25' is not a whole number" in err


def test_what_the_metrics_were_set_to_is_said(run: Run, ages: str) -> None:
    out = run("-e", "1", "-m", "kl", "-m", "topk", "-m", "set", *QUICK, ages)[1]
    for said in ("at weight 0.0001 (--kl-mix)", "the 1 truly most frequent", "subsets of 10 % of the domain"):
        assert said in out


def test_an_unsettled_top_is_said(run: Run, ages: str) -> None:
    out = run("-e", "1", "-m", "emd", "--reps", "2", "--max-reps", "2", ages)[1]
    assert "Not settled after 2 repetitions" in out
    data = answer(run("-e", "1", "-m", "emd", "--reps", "2", "--max-reps", "2", "--format", "json", ages)[1])
    assert data["resolved"] is False
    clear = ("-p", "oue", "--method", "none", "--method", "norm_sub", "--format", "json")
    assert answer(run("-e", "0.5", *clear, ages)[1])["resolved"] is True


def test_links_are_followed_and_devices_are_written_not_replaced(run: Run, states: str, tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert run("-e", "1", *QUICK, "-o", str(link), states)[0] == 2
    assert run("-e", "1", *QUICK, "-o", str(link), "--force", states)[0] == 0
    assert link.is_symlink()
    answer(target.read_text(encoding="utf-8"))
    assert run("-e", "1", *QUICK, "--format", "json", "-o", "/dev/null", states)[0] == 0
    assert Path("/dev/null").is_char_device()


def test_an_error_is_json_where_the_output_would_have_been(run: Run, states: str, tmp_path: Path) -> None:
    code, out, _ = run("-e", "bad", "-o", str(tmp_path / "x.json"), states)
    assert code == 2
    assert "eps must be a number" in answer(out)["error"]["message"]  # type: ignore[index]


def test_several_values_are_named(run: Run, ages: str) -> None:
    lines = run("-q", "-e", "1", *QUICK, "-m", "l1", "-m", "emd", "--format", "value", ages)[1].splitlines()
    assert [line.split()[0] for line in lines] == ["l1", "emd"]


@pytest.mark.slow
def test_large_n_and_extreme_budgets_give_finite_numbers(run: Run, states: str) -> None:
    for eps, n in (("1e-6", "1e3"), ("0.1", "1e9"), ("16", "1e9"), ("32", "1e3"), ("32", "1e12")):
        metrics = ("-m", "l1", "-m", "kl", "-m", "topk")
        first = answer(
            run("-e", eps, "--n", n, *metrics, "--format", "json", "--reps", "5", "--max-reps", "5", states)[1]
        )
        further = first["further_metrics"]
        assert len(further) == 2  # type: ignore[arg-type]
        for ranking in (first, *further):  # type: ignore[misc]
            assert all(np.isfinite(row["error"]) for row in ranking["recommendations"])
