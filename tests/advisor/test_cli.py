"""The main command: what its tables say, in which formats, and which files it writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from advisor.cli.app import main
from advisor.cli.groups import COMMANDS
from advisor.cli.run import NOTICE
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, __version__, frequency_oracles
from tests.advisor.cli_answers import QUICK, SCHEMA, answer
from tests.advisor.conftest import Run
from tests.cells import failures

FEW = (*QUICK, "-p", "grr,oue", "--method", "none,norm_sub")


def menu(k: int, epsilon: float) -> set[tuple[str, str]]:
    """The pairs that make sense for an unordered domain and a metric without queries."""
    noises = {name: protocol(k, epsilon).noise(1000) for name, protocol in frequency_oracles().items()}
    return {
        (protocol, name)
        for protocol, noise in noises.items()
        for name, method in POSTPROCESSORS.items()
        if not (method.queries_only or method.uses_order or method.is_remedy) and method.accepts(noise, k)
    }


def test_schema_is_a_schema_and_refuses_what_is_not_an_answer() -> None:
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate({"schema_version": 1, "tool_version": "0"})


def test_the_table_marks_what_to_compare_with_and_a_notice_is_given_unless_quiet(run: Run, states: str) -> None:
    words = ("-e", "1", *FEW, states)
    code, out, err = run(*words)
    assert code == 0
    marks = ", ".join(line.split("◂ ")[1] for line in out.splitlines() if "◂" in line)
    assert sorted(marks.split(", ")) == ["raw estimate", "recommended", "uniform guess", "usual default"]
    assert "Assumed: " in out
    assert err.strip() == NOTICE
    _, quiet, err = run("-q", *words)
    assert err == ""
    assert quiet.startswith(out.splitlines()[0])
    assert "Assumed" not in quiet
    assert f"{PROTOCOLS['grr'](4, 1.0).p:.6g}" in run("-v", *words)[1]


def test_json_has_all_contract_fields_in_rank_order(run: Run, states: str) -> None:
    code, out, _ = run("--eps", "1", "--format", "json", *QUICK, states)
    data = answer(out)
    assert code == 0
    assert data["source"] == "simulation"
    assert data["tool_version"] == __version__
    rows = data["recommendations"]
    assert isinstance(rows, list)
    assert {(row["protocol"], row["method"]) for row in rows} == menu(4, 1.0)
    ratios = [round(row["ratio_to_best"], 6) for row in rows]  # behind six digits errors differ by rounding alone
    assert ratios[1:] == sorted(ratios[1:])
    for row, ratio in zip(rows, ratios, strict=True):
        assert row["rank"] == (1 if row["tier"] == 1 else 1 + sum(other < ratio for other in ratios))
    for row in rows:
        assert row["error_low"] <= row["error"] <= row["error_high"]
        assert row["ratio_low"] <= row["ratio_to_best"] <= row["ratio_high"]
        assert row["attack_success"] >= 0.5  # as often the most frequent value is right without a report
        if row["method"] == "none":
            assert row["error"] == row["error_without_postprocessing"]
    assert sum(row["win_share"] for row in rows) == pytest.approx(1)


def test_equivalent_users_of_the_raw_estimate_are_its_users(run: Run, states: str) -> None:
    _, out, _ = run("-e", "1", "--n", "50000", "-p", "grr,oue", "--format", "json", *QUICK, states)
    rows = answer(out)["recommendations"]
    assert isinstance(rows, list)
    assert {row["equivalent_users"] for row in rows if row["method"] == "none"} == {50000}


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "unit"), [("mean", "bins"), ("quantiles", "bins"), ("ks", "frequency")])
def test_metrics_of_numbers_have_tables_pages_pictures_threats_and_baselines(
    run: Run, ages: str, tmp_path: Path, metric: str, unit: str
) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    files = ("--report", page, "--plot", picture, "--threat", "0.05")
    code, out, err = run("fakes", "-e", "2", "-m", metric, "--format", "json", *files, *QUICK, ages)
    assert code == 0, err
    data = answer(out)
    assert data["request"]["metric"] == metric  # type: ignore[index]
    assert data["unit"] == unit
    rows = data["recommendations"]
    assert isinstance(rows, list)
    assert rows[0]["error"] > 0
    assert rows[0]["gain_maximal"] is not None
    title = METRICS[metric].title
    assert f"{metric} error" in page.read_text(encoding="utf-8")
    assert title in page.read_text(encoding="utf-8")
    assert picture.stat().st_size > 0


def test_too_noisy_is_said_in_plain_words(run: Run, states: str) -> None:
    noisy = ("-e", "0.01", "--n", "100", "-p", "grr,oue", "--method", "norm_sub,norm_cut", *QUICK, states)
    code, out, _ = run(*noisy)
    assert code == 0
    assert out.startswith("Not worth collecting like this: even ")
    assert "than assuming equal frequencies" in out
    assert "Post-processing is worth" not in out
    assert answer(run(*noisy, "--format", "json")[1])["beats_uniform_guess"] is False


@pytest.mark.slow
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
    few = ("-p", "grr", "--method", "norm_sub,none")
    data = answer(run("-e", "2", "-m", "all", *few, "--format", "json", *QUICK, states)[1])
    assert data["request"]["metrics"] == ["l1", "mse", "kl", "js", "topk", "set"]  # type: ignore[index]
    assert any("metrics emd, range, mean, quantiles, ks are left out" in line for line in data["assumptions"])  # type: ignore[union-attr]
    assert run("-e", "2", "-m", "emd", "-p", "grr", "--ordered", *QUICK, states)[0] == 0


def test_papers_names_restrict_the_menu(run: Run, ages: str) -> None:
    arguments = ("-p", "SUE", "-p", "k-RR", "--method", "Norm-Sub", "--method", "PowerNS", "--format", "json")
    rows = answer(run("-e", "1", *arguments, *QUICK, ages)[1])["recommendations"]
    assert isinstance(rows, list)
    pairs = {(row["protocol"], row["method"]) for row in rows}
    assert pairs == {(p, m) for p in ("grr", "rappor") for m in ("norm_sub", "power_ns")}


def test_post_pos_is_offered_for_queries(run: Run, ages: str) -> None:
    words = ("-m", "range", "--method", "post_pos,none", "--format", "json", "--reps", "2", "--max-reps", "2")
    rows = answer(run("-e", "1", *words, ages)[1])["recommendations"]
    assert isinstance(rows, list)
    post_pos = [row for row in rows if row["method"] == "post_pos"]
    assert {row["protocol"] for row in post_pos} == set(PROTOCOLS) - {"sw"}  # which has no raw estimate
    assert all(row["equivalent_users"] is None for row in post_pos)


def test_metric_options_change_what_they_name(run: Run, ages: str) -> None:
    def best(*extra: str) -> object:
        words = ("-m", "topk", "-p", "oue", "--method", "norm_sub", "--format", "json", *QUICK)
        out = run("-e", "1", *words, *extra, ages)[1]
        return answer(out)["recommendations"][0]["error"]  # type: ignore[index]

    assert best() == best("--top-values", "1")  # 5 % of 9 categories, at least 1
    assert best() != best("--top-values", "5")


def test_value_plain_csv_and_markdown(run: Run, states: str) -> None:
    base = ("-q", "-e", "1", *FEW, states, "--format")
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
        words = ("-q", "-e", "1", "-p", "grr,oue", *QUICK, *extra, "--format", "plain")
        lines = run(*words, states)[1].splitlines()[1:]
        return sum(line.split()[1:2] != [] and line.split()[1] in PROTOCOLS for line in lines)

    assert ranked("--all") == len([pair for pair in menu(4, 1.0) if pair[0] in ("grr", "oue")])
    assert 3 <= ranked("--top", "3") <= 5  # the marked rows are shown wherever they stand


def test_output_file_takes_its_format_from_the_suffix_and_is_never_overwritten(
    run: Run, states: str, tmp_path: Path
) -> None:
    target = tmp_path / "advice.json"
    assert run("-e", "1", *FEW, "-o", str(target), states) == (0, "", NOTICE + "\n")
    before = target.read_bytes()
    answer(before.decode())
    code, _, err = run("-e", "2", *FEW, "-o", str(target), states)
    assert code == 2
    assert "the file exists" in err
    assert target.read_bytes() == before
    assert run("-e", "2", *FEW, "-o", str(target), "--force", states)[0] == 0
    assert target.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["advice.json", "fruit.csv"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_runs_hold_every_repetition(run: Run, states: str, tmp_path: Path, suffix: str) -> None:
    import pandas as pd

    target = tmp_path / f"runs.{suffix}"
    arguments = ("-e", "1", "-m", "l1,l2", "-p", "grr,oue", "--reps", "5", "--max-reps", "5", "--format", "json")
    data = answer(run(*arguments, "--runs", str(target), states)[1])
    frame = pd.read_csv(target) if suffix == "csv" else pd.read_parquet(target)
    assert list(frame.columns) == [
        "eps",
        "n",
        "k",
        "seed",
        "version",
        "protocol",
        "method",
        "metric",
        "repetition",
        "judged",
        "error",
    ]
    assert not frame["judged"].any()
    assert set(frame["metric"]) == {"l1", "l2"}
    assert set(frame["repetition"]) == set(range(5))
    for row in data["recommendations"]:
        chosen = frame[(frame.protocol == row["protocol"]) & (frame.method == row["method"]) & (frame.metric == "l1")]
        assert chosen["error"].mean() == pytest.approx(row["error"], rel=1e-12)


ANSWERS = {
    "list": "list",
    "explain": "explain grr",
    "epsilon": "epsilon --eps 1",
    "knowledge info": "knowledge info",
    "knowledge rules": "knowledge rules",
    "knowledge cells": "knowledge cells --eps 1 --k 8",
    "": "--eps 1 --k 8",
    "plan": "plan --eps 1 --k 8 --target 0.1 --instant",
    "pareto": "pareto --eps 1 --k 8",
    "audit": "audit --protocol grr --eps 1 --k 4 --trials 100",
}


QUICK_ANSWERS = ("list", "explain", "epsilon", "audit")


@pytest.mark.parametrize(
    ("commands", "pages"),
    [
        (QUICK_ANSWERS, False),
        pytest.param(ANSWERS.keys() - set(QUICK_ANSWERS), False, marks=pytest.mark.slow),
        pytest.param(ANSWERS, True, marks=pytest.mark.slow),
    ],
    ids=["text", "text of the others", "pages"],
)
def test_every_format_in_the_help_of_a_command_is_given(run: Run, commands: Iterable[str], *, pages: bool) -> None:
    def check(command: str) -> None:
        listed = (
            " ".join(run(*command.split(), "--help")[1].split()).partition("--format FORMAT ")[2].partition(" -o, ")[0]
        )
        listed = listed.partition(" [")[0].replace(" (default)", "")
        assert "value" in listed
        assert "html" in listed
        for name in [name for name in listed.split(", ") if (name == "html") == pages]:
            code, out, _ = run(*ANSWERS[command].split(), "--format", name)
            assert code == 0
            assert out.strip()

    assert failures(commands, check) == {}


def test_an_error_that_is_not_of_writing_is_not_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "model.npz")

    monkeypatch.setattr("advisor.cli.run.write", fails)
    with pytest.raises(FileNotFoundError):
        main(["epsilon", "--eps", "1"])


@pytest.mark.filterwarnings("always")
def test_a_picture_with_characters_without_a_glyph_gets_one_warning(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sample = tmp_path / "towns.csv"
    sample.write_text("town,count\n日本,500\n東京,300\n大阪,200\n京都,120\n", encoding="utf-8")
    asked = ("-q", "-e", "1", "-p", "grr", "--method", "norm_sub", *QUICK, sample)
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
    assert run("-q", "-e", "1", *FEW, "--format", "value", "./list")[0] == 0
    assert run("./list", "-q", "-e", "1", *FEW, "--format", "value")[0] == 0
    assert "protocols" in run("list")[1]


def test_answering_nothing_at_all_is_no_success(run: Run, tmp_path: Path) -> None:
    """On skewed data 0 everywhere has a lower l1 error than the uniform guess; that is not learning from reports."""
    path = tmp_path / "skewed.csv"
    path.write_text("value,count\n" + "".join(f"v{i},{10_000 // (i + 1) ** 2}\n" for i in range(128)), encoding="utf-8")
    data = answer(
        run("-e", "0.01", "--n", "1000", "-p", "oue", "--method", "norm_cut", "--format", "json", str(path))[1]
    )
    assert data["recommendations"][0]["error"] == pytest.approx(1.0)  # type: ignore[index]
    assert data["baselines"][1]["error"] > 1.2  # type: ignore[index]
    assert data["beats_uniform_guess"] is False


def test_what_the_metrics_were_set_to_is_said(run: Run, ages: str) -> None:
    out = run("-e", "1", "-m", "kl", "-m", "topk", "-m", "set", "-p", "oue", "--method", "norm_sub", *QUICK, ages)[1]
    for said in (
        "at weight 0.0001 (--kl-mix)",
        "the 1 most frequent values of the truth",
        "subsets of 10 % of the domain",
    ):
        assert said in out


def test_an_unsettled_top_is_said(run: Run, ages: str) -> None:
    open_question = (
        "-e",
        "1",
        "-m",
        "emd",
        "-p",
        "oue,olh",
        "--method",
        "norm_sub,eb_ns,none",
        "--reps",
        "2",
        "--max-reps",
        "2",
        ages,
    )
    assert "Not settled after 2 repetitions" in run(*open_question)[1]
    data = answer(run(*open_question, "--format", "json")[1])
    assert data["resolved"] is False
    clear = ("-p", "oue", "--method", "none", "--method", "norm_sub", "--reps", "10", "--format", "json")
    assert answer(run("-e", "0.5", *clear, ages)[1])["resolved"] is True


def test_links_are_followed_and_devices_are_written_not_replaced(run: Run, states: str, tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert run("-e", "1", *FEW, "-o", str(link), states)[0] == 2
    assert run("-e", "1", *FEW, "-o", str(link), "--force", states)[0] == 0
    assert link.is_symlink()
    answer(target.read_text(encoding="utf-8"))
    assert run("-e", "1", *FEW, "--format", "json", "-o", "/dev/null", states)[0] == 0
    assert Path("/dev/null").is_char_device()


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


def test_a_small_sample_is_answered_from_its_posterior(run: Run, states: str) -> None:
    base = ("--eps", "1", "-p", "oue", "--method", "norm_sub", "--reps", "4", "--max-reps", "4", "--format", "json")
    code, out, err = run(*base, "--n", "10000", states)
    data = answer(out)
    assert code == 0
    assert (data["source"], data["surrogate"], data["request"]["populations"]) == ("surrogate", "dirichlet", 4)
    assert data["next_round"] is None
    assert "drawn from its Dirichlet posterior" in data["warnings"][0]
    assert "drawn from its Dirichlet posterior" in err
    assert NOTICE in err
    assert answer(run(*base, "--n", "9999", states)[1])["source"] == "simulation"
