"""Reports counted by processes and by a cluster: the very tally, where it pays, after a stop, out of order."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from advisor.inputs import source, text
from advisor.inputs.reports import (
    count_reports,
    tally_text,
)
from advisor.inputs.reports import gathering as gathering_module
from advisor.inputs.reports.tallies import read_tally
from knowledge.making.workers import Workers
from tests.advisor.conftest import Run
from tests.advisor.inputs.made_tallies import K, N, rows, written


def test_processes_are_started_only_where_they_pay(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = []

    def noted(self, function, tasks, **_):
        used.append(self.jobs)
        return (function(*task) for task in tasks)

    monkeypatch.setattr(Workers, "results", noted)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    (path,) = written(tmp_path, "olh", rows("olh", 99), parts=1)
    words = ("reports", path, "-p", "olh", "--eps", "1", "--k", K, "--force", "--tally", tmp_path / "x.json")
    for more in ((), ("--jobs", "3"), ("--backend", "threading", "--jobs", "2")):
        assert run(*words, *more)[0] == 0
    monkeypatch.setattr("advisor.question.collected_request.MANY_HASHES", 99 * K / 2)
    assert run(*words)[0] == 0
    assert used == [1, 3, 2, 7]


def test_backends_that_cannot_be_are_refused(run: Run, tmp_path: Path) -> None:
    (path,) = written(tmp_path, "olh", rows("olh", 9), parts=1)
    for words, said in (
        (("--scheduler", "tcp://x:1"), "--scheduler is for --backend dask"),
        (("--backend", "spark"), "backend must be one of loky, threading, dask"),
    ):
        code, _, err = run("reports", path, "-p", "olh", "--eps", "1", "--k", K, *words)
        assert (code, err.count("\n")) == (2, 1)
        assert said in err


@pytest.mark.slow
def test_a_cluster_gives_the_very_tally_and_survives_a_killed_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    monkeypatch.setattr(gathering_module, "MOST_HASHES", 1 << 20)
    files = written(tmp_path, "olh", rows("olh", 100_000, 256))
    alone = tally_text(count_reports(files, "olh", 1.0, k=256, digests=True).part)
    keep, seen = gathering_module._keep, threading.Event()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())

        def kept_once(part, path):
            keep(part, path)
            if not seen.is_set():  # the first piece is in, and others are on their way
                seen.set()
                os.kill(min(before), signal.SIGKILL)

        monkeypatch.setattr(gathering_module, "_keep", kept_once)
        workers = Workers(1, "dask", cluster.scheduler_address)
        state = tmp_path / "state.json"
        counts = count_reports(files, "olh", 1.0, k=256, workers=workers, resume=str(state))
        assert tally_text(counts.part) == state.read_text() == alone
        client.wait_for_workers(2, timeout=120)
        assert min(before) not in client.run(os.getpid).values()


@pytest.mark.slow
def test_a_cluster_on_this_machine_is_the_default_and_says_what_is_wrong_with_a_report(
    run: Run, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    (path,) = written(tmp_path, "olh", [*rows("olh", 50), "7,99"], parts=1)
    words = ("reports", path, "-p", "olh", "--eps", "1", "--k", K, "--backend", "dask", "--jobs", "1")
    code, _, err = run(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "line 51: the symbol '99' is too large; olh with eps=1 has g=4 symbols" in err


@pytest.mark.parametrize("protocol", ["grr", "oue", "olh"])
def test_pieces_that_are_finished_out_of_order_are_not_lost(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK_ROWS", 10)
    monkeypatch.setattr(source, "CHUNK_BYTES", 300)
    monkeypatch.setattr(gathering_module, "MOST_BLOCKS", 2)
    files, state = written(tmp_path, protocol, rows(protocol)), tmp_path / "state.json"
    options = {"k": K, "header": False}
    whole = tally_text(count_reports(files, protocol, 1.0, digests=True, **options).part)

    def shuffled(_, function, tasks, *, ordered):
        assert not ordered
        order = np.random.default_rng(3).permutation(len(waiting := list(tasks)))
        for count, at in enumerate(order):
            if count == len(order) // 2:
                raise KeyboardInterrupt
            yield function(*waiting[at])

    results = Workers.results
    monkeypatch.setattr(Workers, "results", shuffled)
    with pytest.raises(KeyboardInterrupt):
        count_reports(files, protocol, 1.0, resume=str(state), **options)
    before, counted = read_tally(str(state)), []
    assert before.unfinished
    assert any([piece for piece, _ in file.pieces] != list(range(len(file.pieces))) for file in before.files)

    def watched(self, function, tasks, *, ordered):
        for place, part in results(self, function, tasks, ordered=ordered):
            counted.append(part.n)
            yield place, part

    monkeypatch.setattr(Workers, "results", watched)
    assert tally_text(count_reports(files, protocol, 1.0, resume=str(state), **options).part) == whole
    assert sum(counted) == N - before.n
    counted.clear()
    assert tally_text(count_reports(files, protocol, 1.0, resume=str(state), **options).part) == whole
    assert counted == []
