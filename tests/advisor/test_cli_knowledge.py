"""``ldp-advise knowledge``: what predicted answers rest on."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from advisor.answers.knowledge import check_folder
from advisor.errors import InputError
from knowledge.model import load
from tests.advisor.conftest import Run
from tests.cells import failures

SUBCOMMANDS = ("info", "rules", "cells", "build")


def test_a_command_is_needed(run: Run) -> None:
    code, out, err = run("knowledge")
    assert (code, out) == (2, "")
    assert "knowledge needs a command: info, rules, cells or build" in err
    assert err.count("\n") == 1
    assert all(f"\n  {name} " in run("knowledge", "--help")[1] for name in SUBCOMMANDS)


def test_info_says_where_the_model_comes_from(run: Run) -> None:
    code, out, _ = run("knowledge", "info")
    provenance = load().provenance
    assert code == 0
    assert f"seed {provenance.seed}" in out
    assert f"{provenance.cells:,}" in out
    assert "epsilon 0.1 to 16" in out
    data = json.loads(run("knowledge", "info", "--format", "json")[1])
    assert data["knowledge"]["covers"]["k"] == [2, 250_000]
    (row,) = csv.DictReader(io.StringIO(run("knowledge", "info", "--format", "csv")[1]))
    assert (row["populations"], row["k_to"]) == (str(provenance.populations), "250000")
    assert run("knowledge", "info", "--format", "value")[1] == f"{provenance.populations}\n"


def test_rules_are_a_page_to_pin_to_a_wall(run: Run) -> None:
    for words in ((), ("--unordered",), ("--metric", "emd")):
        code, out, _ = run("knowledge", "rules", *words)
        data = json.loads(run("knowledge", "rules", *words, "--format", "json")[1])
        assert code == 0
        assert out.startswith(f"{len(data['rules'])} rules name the pair to use for {data['metric']}, ")
        assert sum(rule["share"] for rule in data["rules"]) == pytest.approx(1, abs=0.01)
        lines = run("knowledge", "rules", *words, "--format", "value")[1].splitlines()
        assert lines == [
            f"{'; '.join(rule['conditions'])}: {rule['protocol']} {rule['method']}" for rule in data["rules"]
        ]
        markdown = run("knowledge", "rules", *words, "--format", "markdown")[1]
        assert all(f"| {rule['protocol']} | {rule['method']} |" in markdown for rule in data["rules"])
    code, _, error = run("knowledge", "rules", "--metric", "emd", "--unordered")
    assert (code, "needs an ordered domain" in error) == (2, True)


def test_cells_are_the_nearest_to_a_shape_or_a_file(run: Run, states: str) -> None:
    asked = ("knowledge", "cells", "--eps", "1", "--k", "64", "--top", "3")
    data = json.loads(run(*asked, "--format", "json")[1])
    distances = [cell["distance"] for cell in data["cells"]]
    assert len(distances) == 3
    assert distances == sorted(distances)
    out = run(*asked)[1]
    assert f"{data['method']} was within 5 % of the best method in " in out
    assert all(cell["shape"] in out for cell in data["cells"])
    best = [cell["best"][0][0] for cell in data["cells"]]
    assert run(*asked, "--format", "value")[1].split() == best
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    assert [row["best_method"] for row in rows] == best
    code, out, err = run("knowledge", "cells", states, "--eps", "1")
    assert code == 0
    assert "note: SAMPLE is read as it is" in err
    assert "Nearest simulated cells" in out
    assert "extrapolated" in run("knowledge", "cells", "--eps", "0.05", "--k", "64", "-q")[2]


def test_wrong_usage_gets_one_line(run: Run, tmp_path: Path) -> None:
    cells = [
        ("rules --metric l3", "l3"),
        ("rules --metric emd --unordered", "emd"),
        ("rules --metric all", "one metric at a time"),
        ("cells", "--eps and --k are missing"),
        ("cells --eps 1 --k 9 --column a --keep-top 2", "--column, --keep-top needs a sample, and none is given"),
        ("cells --eps 1 --k 9 --top 101", "--top must be at most 100"),
        ("cells missing.csv --eps 1", "missing.csv"),
        ("build --backend mpi", "backend must be one of loky, threading, dask"),
        ("build --scheduler tcp://x:1", "--scheduler is for --backend dask"),
    ]

    def check(cell: tuple[str, str]) -> None:
        arguments, message = cell
        given = ["knowledge", *arguments.split()]
        given += ["--to", str(tmp_path / "built")] if "build" in given else []
        code, out, err = run(*given)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
        assert not (tmp_path / "built").exists()

    assert failures(cells, check) == {}


def test_a_build_needs_the_name_of_a_folder(run: Run) -> None:
    def check(name: str) -> None:
        code, _, err = run("knowledge", "build", "--quick", "--to", name)
        assert code == 2
        assert "to must be the name of a folder" in err

    assert failures(["", "  "], check) == {}


def test_a_build_spares_the_files_of_others(tmp_path: Path) -> None:
    def check(*, force: bool = False) -> None:
        check_folder("--to", str(tmp_path), force=force)

    check()
    (tmp_path / "model.npz").touch()  # of a build that cannot go on
    with pytest.raises(InputError, match=r"holds other files \(model.npz\); give --force"):
        check()
    (tmp_path / "model.npz").rename(tmp_path / "cells.jsonl")  # where a build keeps what is done
    check()
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"holds other files \(thesis.tex\)"):
        check()
    check(force=True)
    with pytest.raises(InputError, match="the name of a folder is needed"):
        check_folder("--to", str(tmp_path / "thesis.tex"), force=True)


@pytest.mark.slow
def test_a_quick_build_is_made_and_resumed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "built"
    code, out, _ = run("knowledge", "build", "--quick", "--to", str(folder), "-q")
    assert code == 0
    assert str(folder) in out
    first = (folder / "model.npz").read_bytes()
    cells = (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    # Killed in the middle of a line: all other cells are kept, and the result is the same.
    (folder / "cells.jsonl").write_text("".join(cells[:20]) + cells[20][:50], encoding="utf-8")
    code, _, _ = run("knowledge", "build", "--quick", "--to", str(folder), "-q")
    assert code == 2  # the finished files would be replaced
    code, _, _ = run("knowledge", "build", "--quick", "--to", str(folder), "-q", "--force")
    assert code == 0
    assert (folder / "model.npz").read_bytes() == first
    (folder / "notes.txt").touch()
    assert run("knowledge", "build", "--quick", "--to", str(folder), "-q")[0] == 2
