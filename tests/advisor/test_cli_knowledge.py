"""``ldp-advise knowledge``: what predicted answers rest on."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.answers.knowledge import check_folder
from advisor.errors import InputError
from tests.advisor.conftest import Run


def test_cells_for_a_file_and_out_of_range_come_with_a_note(run: Run, states: str) -> None:
    assert "note: SAMPLE is read as it is" in run("knowledge", "cells", states, "--eps", "1")[2]
    assert "extrapolated" in run("knowledge", "cells", "--eps", "0.05", "--k", "64", "-q")[2]


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
