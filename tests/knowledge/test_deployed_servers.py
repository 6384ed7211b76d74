"""Servers that are written for others: numpy alone, our figures to rounding, strangers' lines left out."""

from __future__ import annotations

import ast
import csv
import io
import itertools
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import pytest

from knowledge.recipes import CHECK, Collection, postprocessing, python_client, server
from knowledge.recipes.excerpt import excerpt
from knowledge.recipes.vectors import client_module, frequencies, vectors
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.domain import ORDERED
from simulator.methods import possible
from tests.cells import failures

SETTINGS = ((2, 1.0), (21, 1.3), (64, 0.5), (30, 4.0))


def goes(key: str, method: str, k: int, epsilon: float) -> bool:
    return possible(POSTPROCESSORS[method], PROTOCOLS[key](k, epsilon), ORDERED, 1_000)


PAIRS = [
    (key, method, *setting)
    for key, method, setting in itertools.product(PROTOCOLS, POSTPROCESSORS, SETTINGS)
    if goes(key, method, *setting)
]
# Of every pair one setting, each in turn, and of one method for each protocol all of them; the others are slow.
OF_PAIR = [[*pairs] for _, pairs in itertools.groupby(PAIRS, lambda pair: pair[:2])]
FIRST = [
    pair
    for at, pairs in enumerate(OF_PAIR)
    for pair in (pairs if pairs[0][1] in ("norm_sub", "em_stopped") else [pairs[at % len(pairs)]])
]


@cache  # methods for several protocols have the same code
def compiled(code: str, name: str) -> CodeType:
    return compile(code, name, "exec")


def server_module(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    after = postprocessing(collection)
    if after is not None:
        module = ModuleType("postprocessing")
        monkeypatch.setitem(sys.modules, "postprocessing", module)  # data classes look for their module there
        exec(compiled(after, "postprocessing.py"), module.__dict__)  # noqa: S102 - what is tested
    result = ModuleType("server")
    exec(compiled(server(collection), "server.py"), result.__dict__)  # noqa: S102
    return result


def reports_of(collection: Collection, users: int, seed: int = 0) -> tuple[ModuleType, list[Any]]:
    return reports_of_client(python_client(collection), collection.k, users, seed)


@cache  # the client is the same whatever the server does with its reports
def reports_of_client(code: str, k: int, users: int, seed: int) -> tuple[ModuleType, list[Any]]:
    client, rng = client_module(code), random.Random(seed)  # noqa: S311
    values = [int(k * rng.random() ** 3) for _ in range(users)]
    return client, [client.randomised(value, rng.randbytes) for value in values]


@pytest.mark.parametrize(
    "pairs",
    [
        *([pair for pair in FIRST if pair[0] == key] for key in PROTOCOLS),
        pytest.param([pair for pair in PAIRS if pair not in FIRST], marks=pytest.mark.slow),
    ],
    ids=[*PROTOCOLS, "others"],
)
def test_frequencies_are_those_of_this_package(
    pairs: list[tuple[str, str, int, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(pair: tuple[str, str, int, float]) -> None:
        key, _, k, _ = pair
        users = 5 if k == 2 else 60 if key == "she" else 400  # noise for each cell takes time
        collection = Collection(*pair)
        client, native = reports_of(collection, users)
        made = server_module(collection, monkeypatch)
        counts, n, wrong = made.collected(map(client.line, native))
        assert (n, wrong) == (users, 0)
        found = made.frequencies(counts, n)
        np.testing.assert_allclose(found, frequencies(collection, native), rtol=1e-12, atol=1e-12)

    assert failures(pairs, check) == {}


@pytest.mark.parametrize("key", ["blh", "olh"])
def test_hashes_of_other_packages_are_read(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = Collection(key, "norm_sub", 120, 1.0, hash="xxh32")
    client, native = reports_of(collection, 300)
    made = server_module(collection, monkeypatch)
    counts, n, _ = made.collected(map(client.line, native))
    np.testing.assert_allclose(made.frequencies(counts, n), frequencies(collection, native), rtol=1e-12, atol=1e-12)


# Nothing of these is a report of k = 16 values at epsilon = 1; for every protocol, nothing of STRANGE.
STRANGE = ["", "x", "-", "1e3", "٣", "0x1", "1,2,3,x", ",", "9" * 400, "nan", "\0", "1 2"]
WRONG = {
    "value": ["16", "-1", "3.0"], "bits": ["0" * 15, "0" * 17, "2" * 16], "subset": ["1,1,1,1", "1,2,3", "1,2,3,16"],
    "hash": ["0,4", "4294967296,0", "-1,0", "1", "1,2,3"], "symbol": ["1000000", "-1"],
    "cells": [",".join(["1"] * 15), ",".join(["99999999"] * 16), ",".join(["1.5"] * 16)],
    "node": ["0,1", "4,0", "3,2", "0," + "0" * 15, "9,0", "3"],
}  # fmt: skip


@pytest.mark.parametrize("key", PROTOCOLS)
def test_lines_that_are_no_reports_are_left_out_and_counted(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = Collection(key, "em_stopped" if key == "sw" else "norm_sub", 16, 1.0)
    client, native = reports_of(collection, 50)
    made, lines = server_module(collection, monkeypatch), list(map(client.line, native))
    strangers = [*STRANGE, *WRONG[collection.parameters.protocol.report_kind]]
    counts, n, wrong = made.collected([*strangers, *(f" {line}\r\n" for line in lines)])
    assert (n, wrong) == (50, len(strangers))
    np.testing.assert_array_equal(counts, made.collected(lines)[0])


def test_servers_import_nothing_but_numpy_and_what_python_has() -> None:
    # The code of a server is that of its protocol, and of post-processing that of its method.
    pairs = {name: pair for pair in reversed(PAIRS) for name in pair[:2]}
    collections = [Collection(*pair) for pair in pairs.values()]
    sources = {code for one in collections for code in (server(one), postprocessing(one) or "")}

    def check(source: str) -> None:
        for node in ast.walk(ast.parse(source)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                first = name.partition(".")[0]
                assert first in {"numpy", "postprocessing", "__future__"} or first in sys.stdlib_module_names
        assert max(map(len, source.splitlines()), default=0) <= 200
        assert "noqa" not in source

    assert failures(sources, check) == {}


@pytest.mark.slow
def test_a_server_runs_as_a_program_and_names_the_answers(tmp_path: Path) -> None:
    labels = ("Zürich, CH", 'a "quote"', "ok")
    collection = Collection("grr", "norm_sub", 3, 2.0, labels)
    client, native = reports_of(collection, 200)
    (tmp_path / "server.py").write_text(server(collection), encoding="utf-8")
    (tmp_path / "postprocessing.py").write_text(postprocessing(collection) or "", encoding="utf-8")
    (tmp_path / "reports.csv").write_text("".join(f"{client.line(each)}\n" for each in native) + "nonsense\n")
    command = [sys.executable, "server.py", "reports.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr.decode() == "1 of 201 lines are no reports, and were left out\n"
    head, *rows = csv.reader(io.StringIO(done.stdout.decode()))
    assert head == ["answer", "frequency"]
    assert [row[0] for row in rows] == list(labels)
    expected = frequencies(collection, native)
    np.testing.assert_allclose([float(row[1]) for row in rows], expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["client", "server", ""])
def test_the_check_finds_another_client_and_another_server(fault: str, tmp_path: Path) -> None:
    collection = Collection("oue", "norm_sub", 8, 1.0)
    files = {
        "client.py": python_client(collection).replace("OWN if v == value else OTHER", "OTHER")
        if fault == "client" else python_client(collection),
        "server.py": server(collection).replace("P = 0.5", "P = 0.51") if fault == "server" else server(collection),
        "postprocessing.py": postprocessing(collection) or "", "check.py": CHECK,
        "test_vectors.json": vectors(collection),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, "check.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (fault == "")
    assert f"{fault}.py" in done.stderr if fault else "64 reports" in done.stdout


def test_excerpts_are_the_source_of_this_package() -> None:
    """Two names of one module, one of which uses the other; annotations and remarks to linters are gone."""
    text = excerpt(("simulator.methods.simplex", "mle_apx"), given="class Noise: pass")
    assert "def _level(estimate, ratio):" in text
    assert "def norm_sub(estimate, noise):\n" in text
    assert "    return np.where(solved, result, norm_sub(estimate, noise))" in text
    with pytest.raises(ValueError, match=r"\w+ is in simulator\.methods\.\w+ and in simulator\.methods"):
        excerpt(("simulator.methods.maximum_likelihood", "_iterated"), ("simulator.methods.expectation", "em"))
