from dataclasses import replace

import pytest

from advisor.answers.knowledge import WORK
from advisor.errors import InputError
from advisor.show.outputs import check_folder
from knowledge import build as builder
from knowledge.build import FOLDS, ORDERED_FOLDS
from tests.knowledge.conftest import BUILT, TINY


def test_a_build_spares_the_files_of_others(tmp_path):
    def check(*, force=False):
        check_folder("--to", str(tmp_path), force=force, own=WORK)

    check()
    (tmp_path / "model.npz").touch()  # of a build that cannot go on
    with pytest.raises(InputError, match=r"holds other files \(model.npz\); name another one, or give --force"):
        check()
    (tmp_path / "model.npz").rename(tmp_path / "cells.jsonl")  # where a build keeps what is done
    check()
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"holds other files \(thesis.tex\)"):
        check()
    check(force=True)
    with pytest.raises(InputError, match="this is a file; name a folder"):
        check_folder("--to", str(tmp_path / "thesis.tex"), force=True)


@pytest.mark.slow
def test_a_quick_build_is_made_and_resumed_by_processes(run, tmp_path, monkeypatch):
    small = replace(TINY, cells=FOLDS, ordered_cells=ORDERED_FOLDS)
    assert (builder.QUICK.cells, builder.QUICK.ordered_cells) > (small.cells, small.ordered_cells)
    monkeypatch.setattr(builder, "QUICK", small)
    folder = tmp_path / "built"
    words = ("knowledge", "build", "--quick", "--to", str(folder), "-q")
    code, out, _ = run(*words, "--jobs", "1")
    assert code == 0
    assert str(folder) in out
    first = {name: (folder / name).read_bytes() for name in BUILT}
    # Killed in the middle of a line: all other cells are kept, and the result is the same.
    for name in ("cells.jsonl", "ordered_cells.jsonl"):
        lines = (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:3]) + lines[3][:50], encoding="utf-8")
    code, _, _ = run(*words)
    assert code == 2  # the finished files would be replaced
    code, _, _ = run(*words, "--jobs", "2", "--force")
    assert code == 0
    assert {name: (folder / name).read_bytes() for name in BUILT} == first
    (folder / "notes.txt").touch()
    assert run(*words)[0] == 2
