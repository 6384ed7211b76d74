"""Reports counted by processes and by a cluster: the very tally, and only where it pays."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from advisor.inputs import reports as gathering_module
from advisor.inputs import source
from advisor.inputs.reports import count_reports
from advisor.inputs.reports.tallies import tally_text
from knowledge.making.workers import Workers
from tests.advisor.conftest import Run
from tests.advisor.inputs.made_reports import K, rows, written


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
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 14)
    files = written(tmp_path, "olh", rows("olh", 100_000, 256))
    alone = tally_text(count_reports(files, "olh", 1.0, k=256, digests=True).part)
    add, seen = gathering_module.added, threading.Event()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())

        def killing_once(*parts):
            if not seen.is_set():  # the first piece is in, and others are on their way
                seen.set()
                os.kill(min(before), signal.SIGKILL)
            return add(*parts)

        monkeypatch.setattr(gathering_module, "added", killing_once)
        workers = Workers(1, "dask", cluster.scheduler_address)
        counts = count_reports(files, "olh", 1.0, k=256, workers=workers)
        assert tally_text(counts.part) == alone
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
