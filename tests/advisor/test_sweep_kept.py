"""Cells of a sweep that are kept: a stopped one goes on, and what is of another is refused or left as it is."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from advisor.answers.sweep.answer import simulate_cell
from advisor.answers.sweep.records import CellFile
from advisor.answers.sweep.result import Cell
from advisor.errors import InputError
from advisor.question.sweep import Place, SweepQuestion
from tests.advisor.conftest import Run
from tests.advisor.sweeps import WORDS, small
from tests.cells import failures


def test_a_sweep_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cells.jsonl"
    whole = small(resume=file)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:4]) + lines[4][: len(lines[4]) // 2], encoding="utf-8")  # killed in the fifth line
    simulated = []

    def counted(question: SweepQuestion, place: Place) -> Cell:
        simulated.append(place)
        return simulate_cell(question, place)

    monkeypatch.setattr("advisor.answers.sweep.answer.simulate_cell", counted)
    assert small(resume=file).cells == whole.cells
    assert len(simulated) == 8 - 3  # the first line says what is swept
    simulated.clear()
    assert len(small(resume=file, epsilons=[0.5, 2.0, 4.0]).cells) == 12
    assert {place[0] for place in simulated} == {4.0}


def test_cells_of_another_sweep_are_refused(tmp_path: Path) -> None:
    small(resume=tmp_path / "cells.jsonl")
    for other, difference in (
        ({"seed": 1}, "--seed is 0 there, 1 here"),
        ({"repetitions": 5}, "--reps is 10 there, 5 here"),
        ({"metric": "l2"}, "--metric is l1 there, l2 here"),
        ({"skew": 2.0}, "skew 1 there, skew 2 here"),
        ({"method": "none"}, "--method is none and norm_sub and power there, none here"),
        ({"ordered": True}, "--ordered is false there, true here"),
    ):
        with pytest.raises(InputError, match=f"another sweep: {difference}; name another file"):
            small(resume=tmp_path / "cells.jsonl", **other)


@pytest.mark.parametrize(
    "source",
    [
        {"sample_counts": {"a": 0, "b": 7, "c": 30, "d": 0, "e": 9}},
        pytest.param({"shape": "dirichlet:1"}, marks=pytest.mark.slow),
        pytest.param({"sample": [5, 1, 1, 3, 3, 3] * 40, "ordered": True}, marks=pytest.mark.slow),
    ],
    ids=["counts", "shape", "values"],
)
def test_values_can_be_added_to_a_sweep_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: dict[str, object]
) -> None:
    simulated: list[Place] = []

    def counted(question: SweepQuestion, place: Place) -> Cell:
        simulated.append(place)
        return simulate_cell(question, place)

    monkeypatch.setattr("advisor.answers.sweep.answer.simulate_cell", counted)
    file = tmp_path / "cells.jsonl"
    small(resume=file, epsilons=1.0, users=500, sizes=[8, 12], **source)
    simulated.clear()
    more = {"epsilons": [2.0, 1.0], "users": [700, 500], "sizes": [12, 7, 8]}
    resumed = small(resume=file, **more, **source)
    added = set(simulated)
    assert added == {cell.place for cell in resumed.cells} - {(1.0, 500, 8), (1.0, 500, 12)}
    assert len(simulated) == len(added) == 10
    assert resumed.cells == small(**more, **source).cells


def test_cells_of_another_sample_are_refused(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "cells.jsonl"
    small(resume=file, sizes=4, sample_counts=[5, 3, 2])
    with pytest.raises(InputError, match="another sweep: another sample"):
        small(resume=file, sizes=8, sample_counts=[5, 3, 3])
    with pytest.raises(InputError, match="other frequencies of the k = 4 values"):
        small(resume=file, sizes=4, sample_counts=[5, 0, 3, 2])
    assert run(*WORDS[:-6], "--seed", "3", "--resume", str(file))[0] == 2


def test_a_damaged_line_is_named_and_nothing_is_lost(tmp_path: Path, run: Run) -> None:
    cells = [
        lambda line: line[:-9] + b"\n",
        lambda _: b"garbage\n",
        lambda _: b"\xff\xfe\n",
        lambda _: b'{"index":7}\n',
        lambda _: b"[" * 100_000 + b"\n",
        lambda line: line.replace(b'"k":6', b'"k":7'),
        lambda line: line.replace(b'"index":', b'"index":1'),
        lambda line: line.replace(b'"error":', b'"error":"x","was":'),
        lambda line: line.replace(b'"margin":', b'"margin":[],"was":'),
        lambda line: line.replace(b'"epsilon":0.5', b'"epsilon":1' + b"0" * 400),
        lambda line: line.replace(b'"method":"', b'"method":"un'),
    ]

    file = tmp_path / "cells.jsonl"
    words = (*WORDS, "--format", "json", "--resume", str(file))
    whole = run(*words)[1]
    lines = file.read_bytes().splitlines(keepends=True)

    def check(damage: Callable[[bytes], bytes]) -> None:
        damaged = b"".join([*lines[:2], damage(lines[2]), *lines[3:]])
        file.write_bytes(damaged)
        code, _, err = run(*words)
        assert (code, err.count("\n")) == (2, 1)
        assert f"--resume {file}: line 3 is damaged and holds no cell; delete that line" in err
        assert file.read_bytes() == damaged

    assert failures(cells, check) == {}
    file.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert run(*words)[1] == whole


def test_a_full_disk_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []
    add = CellFile.add

    def add_three(self: CellFile, cell: Cell) -> None:
        if len(kept) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        kept.append(cell)
        add(self, cell)

    monkeypatch.setattr("advisor.answers.sweep.answer.CellFile.add", add_three)
    with pytest.raises(InputError, match=r"cells.jsonl: no space left on device; 3 of 8 cells are kept"):
        small(resume=tmp_path / "cells.jsonl")


def foreign_files() -> list[bytes]:
    return [
        b"a,b\n1,2\n3,4",  # whose last line has no end
        b"no line end at all",
        b'{"plan": {"seed": 1}}\n{"index": 3}',  # of a build of the knowledge
        b'a line of something else\n{"plan":{"sweep":1}}\n',
        b'{"plan":{"sweep":1}}\n',
        bytes(range(256)),
    ]


def test_a_file_that_holds_no_cells_of_this_sweep_is_left_as_it_is(tmp_path: Path, run: Run) -> None:
    def check(content: bytes) -> None:
        file = tmp_path / "mine.txt"
        file.write_bytes(content)
        with pytest.raises(InputError, match="this file holds"):
            small(resume=file)
        code, _, err = run(*WORDS, "--resume", str(file))
        assert code == 2
        assert "this file holds" in err
        assert file.read_bytes() == content

    assert failures(foreign_files(), check) == {}


def test_a_first_line_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    whole = small(resume=file)
    first = file.read_bytes().partition(b"\n")[0]
    for cut in (first[:40], first):
        file.write_bytes(cut)
        assert small(resume=file).cells == whole.cells
        assert file.read_bytes().startswith(first + b"\n")


def test_finished_cells_have_a_file_of_their_own(run: Run, tmp_path: Path) -> None:
    def check(cell: tuple[str, str, str]) -> None:
        (option, suffix), how = cell
        folder = tmp_path / f"{suffix} {how}"
        folder.mkdir()
        cells, same = folder / f"cells.{suffix}", folder / f"same.{suffix}"
        if how == "hard link":
            cells.touch()
            os.link(cells, same)
        elif how == "link":
            same.symlink_to(cells)
        other = {"same": cells, "spelled otherwise": folder / "x" / ".." / cells.name}.get(how, same)
        code, _, err = run(*WORDS, "--force", "--resume", str(cells), option, str(other))
        assert code == 2
        assert f"{option} {other}: --resume writes the same file; give each its own name" in err
        assert not cells.exists() or cells.stat().st_size == 0

    assert (
        failures(
            product(
                [("--output", "json"), ("--report", "html"), ("--plot", "svg"), ("--plot-curves", "pdf")],
                ["same", "spelled otherwise", "link", "hard link"],
            ),
            check,
        )
        == {}
    )
