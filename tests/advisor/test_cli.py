from itertools import product
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from advisor.cli.groups import COMMANDS
from simulator import POSTPROCESSORS, __version__, frequency_oracles
from tests.advisor.cli_answers import QUICK, SCHEMA, answer
from tests.cells import failures

FEW = (*QUICK, "-p", "grr,oue", "--method", "none,norm_sub")


def menu(k, epsilon):
    noises = {name: protocol(k, epsilon).noise(1000) for name, protocol in frequency_oracles().items()}
    return {
        (protocol, name)
        for protocol, noise in noises.items()
        for name, method in POSTPROCESSORS.items()
        if not (method.queries_only or method.uses_order or method.is_remedy) and method.accepts(noise, k)
    }


def test_json_has_all_contract_fields_in_rank_order(run, states):
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate({"schema_version": 1, "tool_version": "0"})
    code, out, _ = run("--eps", "1", "--format", "json", *QUICK, states)
    data = answer(out)
    assert (code, data["source"], data["tool_version"]) == (0, "simulation", __version__)
    rows = data["recommendations"]
    assert {(row["protocol"], row["method"]) for row in rows} == menu(4, 1.0)
    ratios = [round(row["ratio_to_best"], 6) for row in rows]  # behind six digits errors differ by rounding alone
    assert ratios[1:] == sorted(ratios[1:])
    for row, ratio in zip(rows, ratios, strict=True):
        assert row["rank"] == (1 if row["tier"] == 1 else 1 + sum(other < ratio for other in ratios))
        assert row["error_low"] <= row["error"] <= row["error_high"]
        assert row["ratio_low"] <= row["ratio_to_best"] <= row["ratio_high"]
        assert row["attack_success"] >= 0.5  # as often the most frequent value is right without a report
        assert row["method"] != "none" or row["error"] == row["error_without_postprocessing"]
    assert sum(row["win_share"] for row in rows) == pytest.approx(1)


def test_all_metrics_of_an_unordered_domain_leave_out_the_ordered_ones_and_say_so(run, states):
    few = ("-p", "grr", "--method", "norm_sub,none")
    data = answer(run("-e", "2", "-m", "all", *few, "--format", "json", *QUICK, states)[1])
    assert data["request"]["metrics"] == ["l1", "mse", "kl", "js", "topk", "hotspots", "set"]
    assert any("metrics emd, range, mean, quantiles, ks are left out" in line for line in data["assumptions"])


def test_runs_hold_every_repetition(run, states, tmp_path):
    import pandas as pd

    arguments = ("-e", "1", "-m", "l1,l2", "-p", "grr,oue", "--reps", "5", "--max-reps", "5", "--format", "json")
    for suffix, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        target = tmp_path / f"runs.{suffix}"
        data = answer(run(*arguments, "--runs", target, states)[1])
        frame = read(target)
        columns = "eps n k seed version protocol method metric repetition judged error"
        assert list(frame.columns) == columns.split()
        assert not frame["judged"].any()
        assert set(frame["metric"]) == {"l1", "l2"}
        assert set(frame["repetition"]) == set(range(5))
        for row in data["recommendations"]:
            own = (frame.protocol == row["protocol"]) & (frame.method == row["method"]) & (frame.metric == "l1")
            assert frame[own]["error"].mean() == pytest.approx(row["error"], rel=1e-12)


def test_a_file_called_like_a_command(run, states, monkeypatch):
    folder = Path(states).parent
    for name in COMMANDS:
        (folder / name).write_bytes(Path(states).read_bytes())
    monkeypatch.chdir(folder)
    assert run("-q", "-e", "1", *FEW, "--format", "value", "./list")[0] == 0
    assert run("./list", "-q", "-e", "1", *FEW, "--format", "value")[0] == 0
    assert "protocols" in run("list")[1]


@pytest.mark.slow
def test_large_n_and_extreme_budgets_give_finite_numbers(run, states):
    for eps, n in (("1e-6", "1e3"), ("0.1", "1e9"), ("16", "1e9"), ("32", "1e3"), ("32", "1e12")):
        words = ("-e", eps, "--n", n, "-m", "l1,kl,topk", "--format", "json", "--reps", "5", "--max-reps", "5")
        first = answer(run(*words, states)[1])
        assert len(first["further_metrics"]) == 2
        for ranking in (first, *first["further_metrics"]):
            assert all(np.isfinite(row["error"]) for row in ranking["recommendations"])


def test_help_is_printed_whatever_else_is_given(run):
    def check(cell):
        others, command = cell
        for words in (f"{command} {others} --help", f"{command} -h {others}"):
            code, out, err = run(*words.split())
            assert (code, err) == (0, "")
            assert out.startswith(f"Usage: ldp-advise {command}".strip() + " ")
            assert "-h, --help" in out

    others, some = ("--verbose", "-q -v", "--nonsense", "--k none", "--force --eps"), ("", "plan", "explain")
    cells = [*product(others, (*some, "knowledge cells")), *product([""], [*COMMANDS, "knowledge rules"])]
    assert failures(cells, check) == {}
