import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from advisor import Cluster, Simulation, advise
from advisor.answers.sweep.answer import simulate_cells
from advisor.api.sweep import sweep
from advisor.errors import InputError
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.ranking import PRACTICAL_RATIO
from simulator.seeding import rng_for
from tests.advisor.cli_answers import csv_rows, refused
from tests.advisor.sweeps import WORDS, small
from tests.cells import failures, over


def test_a_cell_and_the_uncertainty_of_its_pairs_are_what_a_loop_over_collections_gives():
    swept = small()
    cell, counts = swept.at(2.0, 10_000, 12), apportion(frequencies("zipf", 12), 10_000)
    errors = {}
    for protocol in ("grr", "oue"):
        oracle = PROTOCOLS[protocol](12, 2.0)
        streams = (rng_for(0, "collect", protocol, repetition) for repetition in range(10))
        estimates = [oracle.estimate(oracle.sample_support(counts, rng), 10_000) for rng in streams]
        for method in ("none", "norm_sub", "power"):
            processed = [POSTPROCESSORS[method](estimate, oracle.noise(10_000)) for estimate in estimates]
            errors[protocol, method] = [float(METRICS["l1"](one, counts / 10_000)) for one in processed]
    means = {pair: float(np.mean(block)) for pair, block in errors.items()}
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
        of_protocol = min(mean for (name, _), mean in means.items() if name == own.protocol)
        assert own.error == pytest.approx(of_protocol, rel=1e-6)
    for pair, figures in cell.pairs.items():
        assert figures.standard_error == pytest.approx(np.std(errors[pair], ddof=1) / np.sqrt(10), rel=1e-6)
        assert figures.ratio_to_best == pytest.approx(means[pair] / means[first], rel=1e-6)
    assert sum(figures.win_share for figures in cell.pairs.values()) == pytest.approx(1)
    frame = swept.to_frame()
    assert (len(frame), int(frame["best"].sum())) == (8 * 6, 8)
    assert set(frame.loc[frame["best"], "ratio_to_best"]) == {1.0}


def test_the_winner_is_the_pair_that_a_ranking_names():
    few = {"protocol": ["ss", "pgr", "oue", "olh"], "method": "norm_sub"}
    simulation = Simulation(repetitions=20, max_repetitions=20)

    def check(cell):
        counts = apportion(frequencies("zipf", cell.k), cell.n)
        ranking = advise(cell.epsilon, sample_counts=counts, ordered=False, simulation=simulation, **few)
        assert cell.winner.pair == ranking.best.pair

    swept = sweep(eps=[1.0, 4.0], n=[1000, 10_000], k=[16], simulation=simulation, **few)
    assert failures(swept.cells, check) == {}
    assert {cell.winner.protocol for cell in swept.cells} <= {"pgr", "ss"}  # of like precision: the cheaper report


@pytest.mark.parametrize(
    "backend", ["threading", *(pytest.param(name, marks=pytest.mark.slow) for name in ("loky", "dask"))]
)
def test_the_numbers_do_not_depend_on_the_jobs(backend):
    if backend == "dask":
        pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    jobs = {"simulation": Simulation(repetitions=10, jobs=2), "cluster": Cluster(backend=backend)}
    assert small(**jobs).cells == small().cells


def test_exact_ties_are_counted():
    # One user, hardly any noise: all that is left of every method is the one value that was reported.
    cell = sweep(eps=[8.0], n=[1], k=[3], protocol="grr", simulation=Simulation(repetitions=5)).cells[0]
    same = sum(error == pytest.approx(cell.winner.error, rel=1e-6) for error in cell.errors.values())
    assert same > 1
    assert not cell.winner.sure
    winner = small().cells[0].winner
    assert not replace(winner, margin=2e-16, margin_low=1e-16, margin_high=3e-16).sure  # a margin of rounding is none
    assert replace(winner, margin=2e-3, margin_low=1e-3, margin_high=3e-3).sure


def test_tied_are_the_methods_within_five_percent_or_not_separable_from_the_winner():
    def check(cell):
        others = {pair: figures for pair, figures in cell.pairs.items() if pair[1] != cell.winner.method}
        near = {
            method
            for (_, method), figures in others.items()
            if (figures.ratio_to_best or 0.0) < PRACTICAL_RATIO or (figures.ratio_low or 0.0) <= 1
        }
        assert {*cell.tied} == near

    assert failures(small().cells, check) == {}


def test_a_tie_with_the_raw_estimate_is_not_called_none(run):
    words = ("--eps", "4", "--n", "10k", "--k", "64", "-p", "grr", "--method", "none,norm_sub")
    assert "tied: the raw estimate" in run("sweep", *words)[1]


def test_an_interrupt_says_what_is_kept(run, tmp_path, monkeypatch):
    def interrupted(question, place):
        if place[2] == 8:  # the smaller of two domains comes last
            raise KeyboardInterrupt
        return simulate_cells(question, place)

    monkeypatch.setattr("advisor.answers.sweep.answer.simulate_cells", interrupted)
    file = tmp_path / "cells.jsonl"
    words = ["--eps", "1", "--n", "500", "--k", "8,12", "-p", "grr", "--method", "none", "--jobs", "1"]
    code, _, err = run("sweep", *words, "--resume", str(file))
    assert code == 130
    assert f"1 of 2 cells are kept in {file}; the same command goes on" in err


@pytest.fixture
def simulated(monkeypatch):
    places = []

    def counted(question, place):
        places.append(place)
        return simulate_cells(*pickle.loads(pickle.dumps((question, place))))  # noqa: S301 - as another process gets it

    monkeypatch.setattr("advisor.answers.sweep.answer.simulate_cells", counted)
    return places


def test_a_sweep_that_was_stopped_goes_on(tmp_path, simulated):
    file = tmp_path / "cells.jsonl"
    whole = small(resume=file)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:4]) + lines[4][: len(lines[4]) // 2], encoding="utf-8")  # killed in the fifth line
    simulated.clear()
    assert small(resume=file).cells == whole.cells
    assert len(simulated) == 8 - 3  # the first line says what is swept
    simulated.clear()
    assert len(small(resume=file, eps=[0.5, 2.0, 4.0]).cells) == 12
    assert {place[0] for place in simulated} == {4.0}


def test_cells_of_another_sweep_are_refused(tmp_path):
    small(resume=tmp_path / "cells.jsonl")
    for other, difference in (
        ({"simulation": Simulation(repetitions=10, seed=1)}, "seed="),
        ({"simulation": Simulation(repetitions=5)}, "repetitions="),
        ({"metric": "l2"}, "metric="),
        ({"shape": 2.0}, "the sample or the shape"),
        ({"method": "none"}, "method="),
        ({"ordered": True}, "ordered"),
    ):
        with pytest.raises(InputError, match=f"another sweep, with other values of {difference}; name another file"):
            small(resume=tmp_path / "cells.jsonl", **other)


def test_values_can_be_added_to_a_sweep_that_is_kept(tmp_path, simulated):
    file, source = tmp_path / "cells.jsonl", {"sample_counts": {"a": 0, "b": 7, "c": 30, "d": 0, "e": 9}}
    small(resume=file, eps=1.0, n=500, k=[8, 12], **source)
    simulated.clear()
    more = {"eps": [2.0, 1.0], "n": [700, 500], "k": [12, 7, 8]}
    resumed = small(resume=file, **more, **source)
    added = set(simulated)
    assert added == {cell.place for cell in resumed.cells} - {(1.0, 500, 8), (1.0, 500, 12)}
    assert len(simulated) == len(added) == 10
    assert resumed.cells == small(**more, **source).cells


def test_the_cell_of_a_damaged_line_is_simulated_again(tmp_path, run):
    cells = [
        lambda line: line[:-9] + b"\n",
        lambda _: b"garbage\n",
        lambda _: b"[" * 100_000 + b"\n",
        lambda line: line.replace(b'"k":6', b'"k":7'),
        lambda line: line.replace(b'"none",', b'"none","x",'),
        lambda line: line.replace(b'"epsilon":0.5', b'"epsilon":1' + b"0" * 400),
    ]

    file = tmp_path / "cells.jsonl"
    words = (*WORDS, "--format", "json", "--resume", str(file))
    whole = run(*words)[1]
    lines = file.read_bytes().splitlines(keepends=True)

    def check(damage):
        file.write_bytes(b"".join([*lines[:2], damage(lines[2]), *lines[3:]]))
        code, out, _ = run(*words)
        assert (code, out) == (0, whole)

    assert failures(cells, check) == {}


@over(
    [
        b"a,b\n1,2\n3,4",  # whose last line has no end
        b'{"plan": {"seed": 1}}\n{"index": 3}',  # of a build of the knowledge
        b'{"plan":{"sweep":1}}\n',
        bytes(range(256)),
    ]
)
def test_a_file_that_holds_no_cells_of_this_sweep_is_left_as_it_is(content, *, tmp_path, run):
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    assert "this file holds" in refused(run, *WORDS, "--resume", str(file))
    assert file.read_bytes() == content


PAPER = {"eps": [0.5, 1, 2], "n": [1000, 10_000], "k": 24, "protocol": ["grr", "oue"]}


@pytest.fixture(scope="module")
def paper():
    return sweep(**PAPER, metric=["l1", "mse"], method=["none", "norm_sub", "eb_ns"])


def test_several_metrics_have_the_numbers_of_each_alone(tmp_path, simulated):
    file = tmp_path / "cells.jsonl"
    both = small(metric=["l1", "mse"], resume=file)
    assert both.about("mse").cells == small(metric="mse").cells
    simulated.clear()
    assert small(metric=["l1", "mse"], resume=file).cells == both.cells
    assert simulated == []
    with pytest.raises(InputError, match=r"a picture is of one metric, .*: about\('l1'\)\.plot\(\)"):
        both.plot()


def test_only_what_is_open_is_repeated_more_often(run):
    rows = csv_rows(run(*WORDS, "--max-reps", "20", "--format", "csv")[1])
    best = {(row["eps"], row["n"]): row for row in rows if row["rank_among"] == "all"}
    pairs = [(row, best[row["eps"], row["n"]]) for row in rows if row["rank_among"] == "pair"]
    assert {int(row["repetitions"]) for row, _ in pairs} == {10, 20}  # from 5
    out_early = [(row, first) for row, first in pairs if row["repetitions"] < first["repetitions"]]
    assert out_early
    for row, first in out_early:
        assert float(row["ratio_low"]) > PRACTICAL_RATIO
        # Its mean is that of all repetitions: those that it has were not easier than the others.
        assert float(row["error"]) == pytest.approx(float(first["error"]) * float(row["ratio_to_best"]), rel=1e-5)


def test_differences_to_a_baseline_are_paired_tests_of_the_runs(paper):
    runs = paper.runs().pivot(
        index="repetition", columns=["eps", "n", "k", "metric", "protocol", "method"], values="error"
    )
    frame = paper.compare("Norm-Sub")
    assert len(frame) == 3 * 2 * 2 * 2 * 2
    for row in frame.itertuples():
        place = row.eps, row.n, row.k, row.metric, row.protocol
        test = ttest_rel(runs[(*place, row.method)], runs[(*place, "norm_sub")])
        low, high = test.confidence_interval()
        expected = [test.pvalue, low, high, test.statistic * row.standard_error]
        assert [row.p, row.low, row.high, row.difference] == pytest.approx(expected, rel=1e-6)
        smaller = frame["p"][frame["p"] <= row.p]
        assert row.p_holm == pytest.approx(min(1, max(p * (48 - (frame["p"] < p).sum()) for p in smaller)))
    assert len(paper.compare(("oue", "norm_sub"))) == 3 * 2 * 2 * 5
    with pytest.raises(InputError, match="baseline base_cut: there is nothing to compare with it"):
        paper.compare("base_cut")
