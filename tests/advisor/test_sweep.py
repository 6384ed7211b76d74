"""Sweeps: cells are what a loop gives, whatever the jobs; their winners in every format, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from advisor.answers.sweep.answer import simulate_cell
from advisor.answers.sweep.result import Cell
from advisor.api.sweep import sweep
from advisor.errors import InputError
from advisor.question.sweep import Place, SweepQuestion
from advisor.show.model import View
from advisor.show.sweep import answer_sentence, sweep_document
from advisor.show.text import markdown, plain_text
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.ranking import PRACTICAL_RATIO
from simulator.seeding import rng_for
from tests.advisor.conftest import Run
from tests.advisor.sweeps import WORDS, small
from tests.cells import failures


def test_a_cell_is_what_a_loop_over_collections_gives() -> None:
    cell = small().at(2.0, 10_000, 12)
    counts = apportion(frequencies("zipf", 12), 10_000)
    errors = {}
    for protocol in ("grr", "oue"):
        oracle = PROTOCOLS[protocol](12, 2.0)
        streams = (rng_for(0, "collect", protocol, repetition) for repetition in range(10))
        estimates = [oracle.estimate(oracle.sample_support(counts, rng), 10_000) for rng in streams]
        for method in ("none", "norm_sub", "power"):
            processed = [POSTPROCESSORS[method](estimate, oracle.noise(10_000)) for estimate in estimates]
            errors[protocol, method] = [float(METRICS["l1"](one, counts / 10_000)) for one in processed]
    means = {pair: np.mean(block) for pair, block in errors.items()}
    assert cell.errors == pytest.approx(means, rel=1e-6)
    near = [pair for pair in means if means[pair] <= 1.05 * min(means.values())]
    first = min(near, key=lambda pair: (PROTOCOLS[pair[0]](12, 2.0).cost, means[pair]))
    second = min(means.keys() - {first}, key=means.__getitem__)
    assert (cell.winner.protocol, cell.winner.method) == first
    assert cell.winner.runner_up == second
    assert cell.winner.margin == pytest.approx(means[second] / means[first] - 1, rel=1e-5)
    won = 0.0  # those that share the lowest error (but for rounding) share the win
    for repetition in range(10):
        lowest = min(block[repetition] for block in errors.values())
        tied = [pair for pair, block in errors.items() if block[repetition] <= lowest * (1 + 1e-9)]
        won += (first in tied) / len(tied) / 10
    assert cell.winner.win_share == pytest.approx(won)
    for own in cell.by_protocol:
        assert own.error == pytest.approx(
            min(mean for (name, _), mean in means.items() if name == own.protocol), rel=1e-6
        )


def test_the_numbers_do_not_depend_on_the_jobs() -> None:
    assert small(jobs=2).cells == small().cells


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_a_cluster() -> None:
    pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    assert small(jobs=2, backend="dask").cells == small().cells


def test_a_sample_is_read_once_for_all_domains(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"colour\nred\nblue\nred\n" * 20))
    monkeypatch.setattr("sys.stdin", text)
    words = ("sweep", "--eps", "1", "--k", "4,8", "--header", "-p", "grr", "--reps", "2", "--format", "value", "-")
    code, out, err = run(*words)
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines()] == ["4", "8"]


def test_a_sample_brings_its_own_n_and_k() -> None:
    swept = sweep(epsilons=[1.0], sample_counts=[50, 30, 20], protocol="grr", repetitions=4)
    assert [cell.place for cell in swept.cells] == [(1.0, 100, 3)]


def test_every_format_has_every_winner(run: Run) -> None:
    def check(output_format: str) -> None:
        code, out, _ = run(*WORDS, "--format", output_format)
        assert code == 0
        known = json.loads(run(*WORDS, "--format", "json")[1])["results"]
        assert len(known) == 4
        if output_format == "csv":
            rows = [row for row in csv.DictReader(io.StringIO(out)) if row["rank_among"] == "all"]
            assert [row["method"] for row in rows] == [cell["winner"]["method"] for cell in known]
        if output_format == "value":
            fields = ("k", "eps", "n")
            lines = [
                " ".join(
                    [
                        *(f"{cell[name]:g}" for name in fields),
                        *(cell["winner"][name] for name in ("protocol", "method")),
                    ]
                )
                for cell in known
            ]
            assert out.splitlines() == [line.replace("1e+04", "10000") for line in lines]
        for cell in known:
            assert cell["winner"]["method"] in out
            assert cell["winner"]["error"] == min(pair["error"] for pair in cell["errors"])

    assert failures(["table", "json", "csv", "markdown", "plain", "value"], check) == {}


def test_certainty_can_be_read_in_a_pipe(run: Run) -> None:
    known = small()
    sure = sum(not cell.tied_with(cell.winner) for cell in known.cells)
    assert 0 < sure < 8
    document = sweep_document(known)
    tables, legend = plain_text(document, View()).rsplit("\n\n", 1)
    assert (tables.count(" *"), tables.count("tied")) == (sure, 8 - sure + 1)  # the sentence above them says it too
    assert legend.startswith("*: ")
    assert answer_sentence(known).endswith(f"; the method is certain in {sure}.")
    bold = re.findall(r"\*\*(.+?)\*\* \|", markdown(document, View(quiet=True)))
    assert len(bold) == sure
    assert all(cell.endswith("\\*") for cell in bold)  # the mark stays, and is no emphasis
    for output_format in ("table", "plain"):
        assert "*: no other method is within 5 %" in run(*WORDS, "--format", output_format)[1]


def test_exact_ties_are_counted() -> None:
    # One user, hardly any noise: all that is left of every method is the one value that was reported.
    cell = sweep(epsilons=[8.0], users=[1], sizes=[3], protocol="grr", repetitions=5).cells[0]
    same = sum(error == pytest.approx(cell.winner.error, rel=1e-6) for error in cell.errors.values())
    assert same > 1
    assert not cell.winner.sure
    assert cell.words(cell.winner) == f"{same - 1} methods tied"


def test_tied_are_the_methods_within_five_percent_or_not_separable_from_the_winner() -> None:
    def check(cell: Cell) -> None:
        others = {pair: figures for pair, figures in cell.pairs.items() if pair[1] != cell.winner.method}
        near = {
            method
            for (_, method), figures in others.items()
            if (figures.ratio_to_best or 0.0) < PRACTICAL_RATIO or (figures.ratio_low or 0.0) <= 1
        }
        assert {*cell.tied_with(cell.winner)} == near
        if not near:
            behind = min(figures.error for figures in others.values()) / cell.winner.error - 1
            assert cell.words(cell.winner) == f"next method +{100 * behind:.0f} %"

    assert failures(small().cells, check) == {}


def test_every_pair_has_its_uncertainty_in_frame_and_csv(run: Run) -> None:
    swept = small()
    frame = swept.to_frame()
    assert len(frame) == 8 * 6
    assert int(frame["best"].sum()) == 8
    assert set(frame.loc[frame["best"], "ratio_to_best"]) == {1.0}
    cell = swept.at(2.0, 10_000, 12)
    errors = {pair: [] for pair in cell.pairs}
    counts = apportion(frequencies("zipf", 12), 10_000)
    for protocol in ("grr", "oue"):
        oracle = PROTOCOLS[protocol](12, 2.0)
        for repetition in range(10):
            estimate = oracle.estimate(
                oracle.sample_support(counts, rng_for(0, "collect", protocol, repetition)), 10_000
            )
            for method in ("none", "norm_sub", "power"):
                result = POSTPROCESSORS[method](estimate, oracle.noise(10_000))
                errors[protocol, method].append(float(METRICS["l1"](result, counts / 10_000)))
    best = np.mean(errors[cell.winner.protocol, cell.winner.method])
    for pair, figures in cell.pairs.items():
        assert figures.standard_error == pytest.approx(np.std(errors[pair], ddof=1) / np.sqrt(10), rel=1e-6)
        assert figures.ratio_to_best == pytest.approx(np.mean(errors[pair]) / best, rel=1e-6)
    assert sum(figures.win_share for figures in cell.pairs.values()) == pytest.approx(1)
    rows = list(csv.DictReader(io.StringIO(run(*WORDS, "--format", "csv")[1])))
    assert {row["metric"] for row in rows} == {"l1"}
    for row in rows:
        assert float(row["ratio_low"]) <= float(row["ratio_to_best"]) <= float(row["ratio_high"])
        assert float(row["standard_error"]) > 0


def test_python_has_the_names_of_advise_a_picture_and_the_table(tmp_path: Path) -> None:
    swept = sweep(eps=[0.5, 2.0], n=1000, k=6, protocol=["grr", "oue"], method="norm_sub", repetitions=5)
    same = sweep(epsilons=[0.5, 2.0], users=1000, sizes=6, protocol=["grr", "oue"], method="norm_sub", repetitions=5)
    assert swept.cells == same.cells
    with pytest.raises(InputError, match="give either n or users"):
        sweep(eps=1, n=10, users=10, k=4)
    assert str(swept).startswith(swept.summary)
    assert "k = 6" in str(swept)
    assert repr(swept) == "<Sweep: 2 cells, l1, frequencies of skew 1>"
    swept.plot(tmp_path / "map.svg")
    assert swept.plot(tmp_path / "curves.svg", curves=True)._repr_svg_().count("<svg") == 1
    with pytest.raises(InputError, match="exists"):
        swept.plot(tmp_path / "map.svg")


def test_a_margin_of_rounding_is_none() -> None:
    winner = small().cells[0].winner
    assert not replace(winner, margin=2e-16, margin_low=1e-16, margin_high=3e-16).sure
    assert replace(winner, margin=2e-3, margin_low=1e-3, margin_high=3e-3).sure


def test_per_protocol_has_a_row_for_each(run: Run) -> None:
    out = run(*WORDS, "--per-protocol", "--format", "plain")[1]
    rows = [line.split()[:2] for line in out.splitlines() if line.lstrip().startswith(("0.5 ", "2 "))]
    assert rows == [["0.5", "grr"], ["0.5", "oue"], ["2", "grr"], ["2", "oue"]]


def test_an_interrupt_says_what_is_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(question: SweepQuestion, place: Place) -> Cell:
        if place[2] == 8:  # the smaller of two domains comes last
            raise KeyboardInterrupt
        return simulate_cell(question, place)

    monkeypatch.setattr("advisor.answers.sweep.answer.simulate_cell", interrupted)
    file = tmp_path / "cells.jsonl"
    words = ["--eps", "1", "--n", "500", "--k", "8,12", "-p", "grr", "--method", "none", "--jobs", "1"]
    code, _, err = run("sweep", *words, "--resume", str(file))
    assert code == 130
    assert f"1 of 2 cells are kept in {file}; the same command goes on" in err


def test_a_sample_that_is_smaller_than_n_is_warned_of_as_plan_does() -> None:
    asked = {"eps": 1.0, "protocol": "grr", "method": "none", "repetitions": 2}
    small = sweep(sample_counts=[60, 30, 10], n=[50, 2000], **asked)  # type: ignore[arg-type]
    assert any("(100 users) is smaller than n = 2,000" in text for text in small.question.warnings)
    assert not sweep(sample_counts=[60, 30, 10], n=[50], **asked).question.warnings  # type: ignore[arg-type]
