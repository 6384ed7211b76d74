import re
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.extensions.audit.document import figure
from simulator import PROTOCOLS, frequency_oracles
from simulator.audit import protocol_subject, run_audit

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "audit.md"
TEXT = PAGE.read_text(encoding="utf-8")
MARK = "<!-- table -->\n"
COMMAND = re.findall(r"```sh\nldp-advise (.*?)\n```", TEXT)[0]
EPS, DOMAINS = (0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 10.0), (25, 50, 100, 150, 200)
OTHERS = ("rappor", "oue", "blh", "olh", "ss", "the", "she")


def table():
    found = {}
    for line in TEXT.split(MARK)[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 + len(EPS) and cells[0] in PROTOCOLS:
            for epsilon, cell in zip(EPS, cells[2:], strict=True):
                bound, analytic, slack = map(float, re.findall(r"\d+\.\d+", cell))
                found[cells[0], int(cells[1]), epsilon] = bound, analytic, slack
    return found


CELLS = table()


def test_the_table_is_complete_and_says_how_it_was_made():
    members = ",".join(frequency_oracles())
    assert len(CELLS) == len(frequency_oracles()) * len(EPS) * len(DOMAINS)
    command = f"audit --protocol {members} --eps 0.25,0.5,1,2,4,6,10 --k 25,50,100,150,200 --format markdown"
    assert command == COMMAND
    assert "agree in 350 of 350 audits, and the bound is within its slack in 350" in TEXT
    assert "1,000,000 trials" in TEXT


# Those that are audited in under a second: among them the two with reports of one symbol.
@pytest.mark.parametrize(
    ("key", "k", "epsilon"),
    [
        ("grr", 25, 0.25),
        pytest.param("oue", 25, 4.0, marks=pytest.mark.slow),
        pytest.param("pgr", 25, 6.0, marks=pytest.mark.slow),
        pytest.param("grr", 200, 10.0, marks=pytest.mark.slow),
        pytest.param("hr", 50, 2.0, marks=pytest.mark.slow),
    ],
)
def test_some_cells_run_to_the_same_text(key, k, epsilon):
    found = run_audit(
        protocol_subject(PROTOCOLS[key](k, epsilon)), trials=1_000_000, alpha=0.01, seed=0, comparisons=len(CELLS)
    )
    bound, analytic, slack = (
        figure(value) for value in (found.epsilon_lower_bound, found.epsilon_analytic, found.epsilon_slack)
    )
    line = next(line for line in TEXT.splitlines() if line.startswith(f"| {key} | {k} |"))
    assert line.split(" | ")[2 + EPS.index(epsilon)].removesuffix(" |") == f"{bound} / {analytic} ({slack})"


def test_the_page_says_of_the_table_what_it_shows():
    below = {}
    for (key, _, epsilon), (bound, analytic, slack) in CELLS.items():
        assert bound <= epsilon
        if key == "grr":  # is tight; three decimals are shown
            assert (analytic, epsilon - bound <= slack + 0.001) == (epsilon, True)
            below[epsilon] = max(below.get(epsilon, 0.0), epsilon - bound)
    assert max(below[epsilon] for epsilon in EPS if epsilon <= 4) <= 0.11
    assert below[10.0] <= 0.5
    bounds, exact = (sorted(0.25 / CELLS[key, k, 0.25][at] for key in OTHERS for k in DOMAINS) for at in (0, 1))
    assert (round(exact[0], 1), round(exact[-1], 1)) == (1.8, 2.1)
    assert (round(bounds[0], 1), round(bounds[len(bounds) // 2], 1), round(bounds[-1])) == (2.3, 3.3, 10)
    assert "2.3 to 10 times below, 3.3 in the median" in TEXT
    flat = [cell for (key, _, epsilon), cell in CELLS.items() if key == "blh" and epsilon >= 2]
    assert (max(bound for bound, _, _ in flat), max(analytic for _, analytic, _ in flat)) == (0.722, 0.736)
    for key in ("oue", "olh"):  # level off
        rises = [CELLS[key, k, 10.0][0] - CELLS[key, k, 6.0][0] for k in DOMAINS]
        assert rises == sorted(rises)
        assert round(rises[0], 2) in (0.06, 0.07)
        assert round(rises[-1], 2) in (0.42, 0.43)


def test_subset_selection_of_one_value_is_randomised_response():
    alone = [(k, epsilon) for k in DOMAINS for epsilon in EPS if PROTOCOLS["ss"](k, epsilon).omega == 1]
    assert len(alone) == 12
    assert all(CELLS["ss", k, epsilon][1:] == CELLS["grr", k, epsilon][1:] for k, epsilon in alone)


if __name__ == "__main__":  # rewrites the table, in half an hour: python tests/test_audit_table.py
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *COMMAND.split()], capture_output=True, text=True, check=True, cwd=ROOT
    )
    PAGE.write_text(TEXT.split(MARK)[0] + MARK + done.stdout, encoding="utf-8")
