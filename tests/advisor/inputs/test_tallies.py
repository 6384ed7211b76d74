import io
import json
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.inputs import source
from advisor.inputs.reports import merge_reports, named_files, with_categories
from advisor.inputs.reports.counting import Counted
from advisor.inputs.reports.settings import readable_protocols
from advisor.inputs.reports.tallies import tally_text
from knowledge.making.workers import Workers
from tests.advisor.cli_answers import refused
from tests.advisor.inputs.made_reports import K, rows, written
from tests.advisor.inputs.reading import Pipe, counted, put, read_reports, refusal


def kept(files, protocol, **options):
    parts = [counted(path, protocol, 1.0, digests=True, **options) for path in files]
    paths = [Path(path).with_suffix(".json") for path in files]
    return [put(path.parent, path.name, tally_text(part)) for path, part in zip(paths, parts, strict=True)]


def figures(read):
    return read.labels, read.tally.counts.tolist(), read.tally.counts.dtype, read.tally.n, read.warnings


def tallies(folder, protocol="olh", **options):
    return kept(written(folder, protocol, rows(protocol)), protocol, k=K, **options)


@pytest.mark.parametrize("protocol", readable_protocols())
def test_files_tallies_and_workers_give_the_very_counts_of_one_file(protocol, tmp_path):
    lines = rows(protocol)
    (whole,) = written(tmp_path, f"whole-{protocol}", lines, parts=1)
    expected = figures(read_reports(whole, protocol, 1.0, k=K, header=False))
    files = written(tmp_path, protocol, lines)
    options = {"k": K, "header": False}
    assert figures(read_reports(files[::-1], protocol, 1.0, **options)) == expected
    assert figures(read_reports(str(tmp_path / f"{protocol}-?.csv"), protocol, 1.0, **options)) == expected
    assert figures(read_reports(files, protocol, 1.0, workers=Workers(2, "threading"), **options)) == expected
    parts = kept(files, protocol, **options)
    assert figures(with_categories(merge_reports(parts[::-1]))) == expected
    two = put(tmp_path, "two.json", tally_text(merge_reports(parts[:2])))
    assert figures(with_categories(merge_reports([parts[2], two]))) == expected
    assert tally_text(merge_reports([two, parts[2]])) == tally_text(merge_reports(parts))


def test_labels_that_only_some_files_hold_are_categories_of_all(tmp_path):
    files = [put(tmp_path, "a.csv", "red\nblue\nred\n"), put(tmp_path, "b.csv", "green\nblue\n")]
    one = put(tmp_path, "one.csv", "green\nblue\nred\nblue\nred\n")
    expected = figures(read_reports(one, "grr", 1.0, header=False))
    assert expected[:2] == (("blue", "green", "red"), [2, 1, 2])
    assert figures(read_reports(files, "grr", 1.0, header=False)) == expected
    assert figures(with_categories(merge_reports(kept(files, "grr", header=False)))) == expected


def test_the_same_file_twice_is_counted_once_and_a_copy_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a", "red\nblue\nred\n"), ("b[1]", "blue\nred\nblue\n"), ("copy", "red\nblue\nred\n")):
        put(tmp_path, f"{name}.csv", text)
    Path("link.csv").symlink_to("a.csv")
    twice = read_reports(["a.csv", "./a.csv", "b[1].csv"], "grr", 1.0)
    assert twice.tally.n == 6
    assert "a.csv is named twice, or under two names: its reports are counted once" in twice.warnings
    every = read_reports("*.csv", "grr", 1.0)
    assert every.tally.n == 9
    assert any("a.csv and copy.csv hold the very same bytes and both are counted" in text for text in every.warnings)
    assert named_files(["*.csv"])[0] == ("a.csv", "b[1].csv", "copy.csv")
    assert "nothing-*.csv: no file fits this pattern" in refusal(read_reports, "nothing-*.csv", "grr", 1.0)
    assert "gone.csv: no such file" in refusal(read_reports, ["a.csv", "gone.csv"], "grr", 1.0)


def test_files_of_two_collections_are_refused(tmp_path):
    for first, second, said in (
        ("0110\n", "01100\n", "k is 4 in the one and 5 in the other"),
        ("a,b\n1,0\n", "b,a\n1,0\n", "they name the categories, or their order, differently; give both the same"),
    ):
        both = [put(tmp_path, "a.csv", first), put(tmp_path, "b.csv", second)]
        assert said in refusal(read_reports, both, "oue", 1.0)
    assert read_reports(both, "oue", 1.0, domain=("a", "b")).tally.counts.tolist() == [1, 1]


@pytest.mark.parametrize("others", [0, 2])
def test_standard_input_that_cannot_go_back_is_counted_and_told_apart(others, tmp_path):
    files = written(tmp_path, "olh", rows("olh"))
    expected = counted(files[: others + 1], "olh", 1.0, k=K, digests=True)
    with io.BufferedReader(Pipe(Path(files[others]).read_bytes())) as pipe:
        part = counted([*files[:others], "-"], "olh", 1.0, k=K, digests=True, stdin=pipe)
    assert part.counted.counts.tolist() == expected.counted.counts.tolist()
    assert part.files == (*expected.files[:others], replace(expected.files[others], name="standard input"))


def test_tallies_that_do_not_go_together_are_refused(run, tmp_path):
    parts, others = tallies(tmp_path), tallies(tmp_path, "oue")
    text = Path(parts[0]).read_text()
    copy, cut = put(tmp_path, "copy.json", text), put(tmp_path, "cut.json", text[:-30])
    changed = put(tmp_path, "changed.json", text.replace('"epsilon":1.0', '"epsilon":2.0'))
    newer = put(tmp_path, "newer.json", text.replace('"version":1', '"version":2'))
    for files, said in (
        ((parts[0], others[1]), "tallies of different collections: protocol is olh in the one and oue in the other"),
        ((*parts, copy), "both hold the reports of"),
        ((parts[0], parts[0]), "is named twice, or under two names; leave one of them out"),
        ((cut,), "is no tally, or was cut short"),
        ((changed,), "was changed after it was written (its check does not fit)"),
        ((newer,), "is a tally of version 2, version 1 is read"),
        ((tmp_path / "olh-0.csv",), "is no tally"),
        (("-",), "--merge needs the names of files, got -"),
        ((parts[0], "--eps", "2"), "--eps 2: the tallies are of reports at 1; leave it out"),
        ((parts[0], "-p", "oue"), "--protocol oue: the tallies are of olh; leave it out"),
        ((parts[0], "--k", "9", "--hash", "mix64"), "--k, --hash are for reports: tallies know how they were made"),
        ((), "FILES is missing: give the tallies to add up"),
    ):
        assert said in refused(run, "reports", "--merge", *files)
    err = refused(run, "reports", *parts, "-p", "olh", "--eps", "1", "--k", str(K))
    assert "is a tally, no reports; ldp-advise reports --merge FILES adds tallies up" in err


def test_a_tally_is_answered_as_the_reports_are(run, tmp_path):
    files = written(tmp_path, "olh", rows("olh", 4000))
    few = ("--reps", "2", "--method", "norm", "--surrogate", "norm_sub", "--next-protocol", "grr")
    asked = ("-p", "olh", "--eps", "1", "--k", K)
    parts = [str(Path(path).with_suffix(".json")) for path in files]
    for path, part in zip(files, parts, strict=True):
        assert run("reports", path, *asked, "--tally", part)[::2] == (0, "")
        assert run("reports", path, *asked, "--tally", part)[0] == 2  # it is there
    answers = [
        json.loads(run("reports", *words, *few, "--format", "json")[1])
        for words in ((*files, *asked), ("--merge", *parts), ("--merge", str(tmp_path / "*.json")))
    ]
    for answer in answers:
        del answer["assumptions"]  # how the reports were written
    assert answers[0] == answers[1] == answers[2]


def test_processes_are_started_only_where_they_pay(run, tmp_path, monkeypatch):
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


@pytest.mark.slow
def test_a_cluster_gives_the_very_tally_and_survives_a_killed_worker(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 14)
    files = written(tmp_path, "olh", rows("olh", 100_000, 256))
    alone = tally_text(counted(files, "olh", 1.0, k=256, digests=True))
    add, seen = Counted.add, threading.Event()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())

        def killing_once(*parts):
            if not seen.is_set():  # the first piece is in, and others are on their way
                seen.set()
                os.kill(min(before), signal.SIGKILL)
            return add(*parts)

        monkeypatch.setattr(Counted, "add", killing_once)
        workers = Workers(1, "dask", cluster.scheduler_address)
        counts = counted(files, "olh", 1.0, k=256, workers=workers)
        assert tally_text(counts) == alone
        client.wait_for_workers(2, timeout=120)
        assert min(before) not in client.run(os.getpid).values()
