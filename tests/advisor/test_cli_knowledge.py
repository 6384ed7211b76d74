"""``ldp-advise knowledge``: what predicted answers rest on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from advisor.answers import knowledge as answer
from advisor.answers.knowledge import Judgement, check_folder
from advisor.errors import InputError
from knowledge.judging.questions import Histogram
from knowledge.judging.scores import METHOD, MODEL, PAIR, SINGLE, Score
from tests.advisor.conftest import Run


def test_cells_for_a_file_and_out_of_range_come_with_a_note(run: Run, states: str) -> None:
    assert "note: SAMPLE is read as it is" in run("knowledge", "cells", states, "--eps", "1")[2]
    assert "extrapolated" in run("knowledge", "cells", "--eps", "0.05", "--k", "64", "-q")[2]


def score(task: str, chooser: str, regret: float) -> Score:
    single = "oue + norm_sub" if chooser == SINGLE else ""
    missing = float("nan") if chooser == SINGLE else 0.07
    return Score("l1", task, chooser, 30, regret, 0.1, 0.2, missing, 0.01, 0.5, 0.8, missing, single)


def evaluated(histograms: Sequence[Histogram], **options: object) -> tuple[Judgement, ...]:
    """Scores of nothing at all, in the form of real ones."""
    assert options["jobs"]
    rows = tuple(
        score(task, chooser, 0.02 + (chooser == SINGLE)) for task in (METHOD, PAIR) for chooser in (MODEL, SINGLE)
    )
    titles = ["Shapes left out of training", *(one.name for one in histograms)]
    return tuple(Judgement(title, 30, rows) for title in titles)


def test_an_evaluation_has_every_format(run: Run, states: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "evaluate", evaluated)
    out = run("knowledge", "evaluate", states, "--format", "markdown", "-q")[1]
    assert out.count("| metric | choice | regret (95 %, worst) |") == 2
    assert "| l1 | pair | 2.0 % (10 %, 20 %) | 0.07 |" in out
    assert "choosing by look-up costs 2.0 % to 2.0 % more error than the best choice" in out
    assert "single best (oue + norm_sub)" in run("knowledge", "evaluate", "--full")[1]
    data = json.loads(run("knowledge", "evaluate", "--format", "json")[1])
    assert data["sets"][0]["scores"][1]["closed_gap"] is None
    assert run("knowledge", "evaluate", "--format", "value")[1] == "0.02\n0.02\n"
    rows = list(csv.DictReader(io.StringIO(run("knowledge", "evaluate", states, "-q", "--format", "csv")[1])))
    assert len(rows) == 8
    assert {row["set"] for row in rows} == {"Shapes left out of training", "fruit.csv"}


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
