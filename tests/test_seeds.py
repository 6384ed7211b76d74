import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.corpus import in_a_folder, run

ROOT = Path(__file__).parent.parent
TABLES = sorted((ROOT / "docs" / "seeds").glob("*.csv"))
ROWS = {
    f"{table.stem} {number}": row
    for table in TABLES
    for number, row in enumerate(csv.DictReader(table.read_text(encoding="utf-8").splitlines()), start=1)
}


def test_each_item_has_a_command_or_a_reason():
    assert len(TABLES) == 5
    assert [name for name, row in ROWS.items() if not (row["item"] and (row["shown by"] or row["why not"]))] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["shown by"]])
def test_the_command_of_an_item_answers(name):
    command = ROWS[name]["shown by"]
    with in_a_folder():
        if command.startswith("ldp-advise") and "|" not in command:
            codes = [run(line) for line in command.split(" && ")]
            assert all(code in (0, 3) for code, _, _ in codes), codes
            return
        # A pipe, or Python: in a shell, where the programs are those of this environment.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        )
        assert done.returncode == 0, done.stderr
