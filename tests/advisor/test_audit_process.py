"""Audits as processes of their own: what a client prints, and narrow terminals."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.advisor.test_process import COMMAND, ESCAPE, on_a_terminal

pytestmark = pytest.mark.slow


def test_what_an_audited_client_prints_is_not_in_the_answer(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import os, sys\nprint('loading')\n"
        "def client(value, k, epsilon):\n"
        "    print('called')\n    os.system('echo started')\n    sys.__stdout__.write('around')\n    return value\n",
        encoding="utf-8",
    )
    target = ["--target", "loud.py:client", "--reports", "grr", "--trials", "2"]
    done = subprocess.run(
        [*COMMAND, "audit", *target, "--eps", "1", "--k", "4", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert json.loads(done.stdout)["request"]["target"] == "loud.py:client"
    assert all(word in done.stderr for word in ("loading", "called", "started", "around"))


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_long_label_gives_way_to_the_figures_of_an_audit(tmp_path: Path, columns: int) -> None:
    path = tmp_path / "of_a_long_name_that_no_terminal_has_room_for.py"
    path.write_text("def send(value, k, epsilon):\n    return value\n", encoding="utf-8")
    asked = ["--target", f"{path}:send", "--reports", "grr", "--eps", "1,2", "--k", "4,1000", "--trials", "3000", "-q"]
    lines = ESCAPE.sub("", on_a_terminal(["audit", *asked], columns)).splitlines()
    assert max(map(len, lines)) <= columns
    rows = [line for line in lines if line.lstrip().startswith("…")]
    assert len(rows) == 4
    for row in rows:
        assert re.search(r"py:send +[12] +(4|1,000)( +\d+, \d+)? +5\.411( .*)? LEAKS", row)


def test_a_narrow_table_of_an_audit_has_whole_labels_of_protocols() -> None:
    asked = ["audit", "-p", "rappor", "--attributes", "2", "--solution", "rsfd", "--eps", "1", "--k", "1000", "-q"]
    drawn = ESCAPE.sub("", on_a_terminal([*asked, "--trials", "1000"], 40))
    assert "rsfd[rappor-z] d=2" in drawn
    assert "…" not in drawn
