"""The script that counts what deployed clients send: this package's figures, strangers' lines left out."""

from __future__ import annotations

import csv
import io
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from advisor.answers.clients.collection import HASHED, CodedCollection, client_file
from advisor.errors import InputError
from advisor.extensions.code import reports
from advisor.extensions.code.answer import files_of
from advisor.extensions.code.reports import counted, module_of, options_of
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray
from simulator.domain import ORDERED
from simulator.methods import observe
from tests.cells import failures

SETTINGS = ((2, 1.0), (21, 1.3), (64, 0.5), (30, 4.0))
HASHES = [(key, hashing) for key in PROTOCOLS for hashing in (("mix64", "xxh32") if key in HASHED else ("mix64",))]


def any_method(key: str) -> str:
    return "em_stopped" if key == "sw" else "norm_sub"


def reports_of(collection: CodedCollection, users: int) -> tuple[ModuleType, list[Any]]:
    client, rng = module_of(client_file(collection)), random.Random(0)  # noqa: S311 - tests have to be repeatable
    values = [int(collection.k * rng.random() ** 3) for _ in range(users)]
    return client, [client.randomised(value, rng.randbytes) for value in values]


def expected(collection: CodedCollection, native: list[Any]) -> FloatArray:
    """Return what the protocol makes of reports as the client has them, whatever is read from lines."""
    rows = np.array(native)
    if collection.protocol == "she":
        rows = rows / collection.parameters.whole("GRID")
    rows = rows[:, ::-1] if collection.protocol in HASHED else rows
    protocol = collection.parameters.protocol
    return POSTPROCESSORS[collection.method].apply(observe(protocol, protocol.tally(rows), ORDERED))


@pytest.mark.parametrize(("key", "hashing"), HASHES)
def test_frequencies_are_those_of_this_package(
    key: str, hashing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reports.csv"
    monkeypatch.setattr(sys, "argv", ["server.py", str(path)])

    def check(setting: tuple[int, float]) -> None:
        k, epsilon = setting
        collection = CodedCollection(key, any_method(key), k, epsilon, hash=hashing)
        client, native = reports_of(collection, 5 if k == 2 else 60 if key == "she" else 400)
        path.write_text("".join(f"{client.line(report)}\n" for report in native))
        module_of(files_of(collection)["server.py"])  # a script: it runs when it is read
        head, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
        assert head == ["answer", "frequency"]
        assert [row[0] for row in rows] == [str(value) for value in range(k)]
        found = [float(row[1]) for row in rows]
        np.testing.assert_allclose(found, expected(collection, native), rtol=1e-12, atol=1e-12)

    assert failures(SETTINGS, check) == {}


# Nothing of these is a report of k = 16 values at epsilon = 1; for every protocol, nothing of STRANGE.
STRANGE = ["", "x", "-", "1e3", "٣", "0x1", ",", "9" * 400, "9" * 5_000, "nan", "\0", '"', "\x1f\x8b", "# 1", "1.5"]
WRONG = {
    "value": ["16", "-1", "1 2"],
    "bits": ["0" * 15, "0" * 17, "2" * 16],
    "subset": ["1,1,1,1", "1,2,3", "1,2,3,16"],
    "hash": ["0,4", "4294967296,0", "-1,0", "1"],
    "symbol": ["1000000", "-1", "1 2"],
    "cells": [",".join(["1"] * 15), ",".join(["99999999"] * 16), ",".join(["9" * 5_000] * 16), ",".join(["1.5"] * 16)],
    "node": ["0,1", "4,0", "3,2", "0," + "0" * 15, "9,0", "3"],
}


def test_lines_that_are_no_reports_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever they stand, and however the lines fall into blocks."""

    def check(cell: tuple[str, int]) -> None:
        key, size = cell
        monkeypatch.setattr(reports, "BLOCK", size)
        collection = CodedCollection(key, any_method(key), 16, 1.0)
        client, native = reports_of(collection, 50)
        lines, setting = list(map(client.line, native)), (key, 1.0, 16, options_of(collection))
        strangers = [*STRANGE, *WRONG[collection.parameters.protocol.report_kind]]
        mixed = [*strangers, *(f" {line}\r\n" for line in lines), *strangers]
        random.Random(1).shuffle(mixed)  # noqa: S311
        for some in (mixed, sorted(mixed)):
            tally, wrong = counted(some, *setting)
            assert (tally.n, wrong) == (50, 2 * len(strangers))
            np.testing.assert_array_equal(tally.counts, counted(lines, *setting)[0].counts)
        with pytest.raises(InputError, match="there are no reports"):
            counted(strangers, *setting)

    assert failures([(key, size) for key in PROTOCOLS for size in (7, 100_000)], check) == {}


@pytest.mark.slow
def test_a_server_runs_as_a_program_and_names_the_answers(tmp_path: Path) -> None:
    labels = ("Zürich, CH", 'a "quote"', "ok")
    collection = CodedCollection("grr", "norm_sub", 3, 2.0, labels)
    client, native = reports_of(collection, 200)
    (tmp_path / "server.py").write_text(files_of(collection)["server.py"], encoding="utf-8")
    (tmp_path / "reports.csv").write_text("".join(f"{client.line(each)}\n" for each in native) + "nonsense\n")
    command = [sys.executable, "server.py", "reports.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr.decode() == "1 of 201 lines are no reports, and were left out\n"
    head, *rows = csv.reader(io.StringIO(done.stdout.decode()))
    assert head == ["answer", "frequency"]
    assert [row[0] for row in rows] == list(labels)
    np.testing.assert_allclose([float(row[1]) for row in rows], expected(collection, native), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [True, False])
def test_the_check_finds_another_client(fault: bool, tmp_path: Path) -> None:
    for name, text in files_of(CodedCollection("oue", "norm_sub", 8, 1.0)).items():
        wrong = fault and name == "client.py"
        (tmp_path / name).write_text(text.replace("OWN if v == value else OTHER", "OTHER") if wrong else text)
    done = subprocess.run([sys.executable, "check.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not fault)
    assert "client.py: seed" in done.stderr if fault else "64 reports" in done.stdout
