from __future__ import annotations

import csv
import io
import json
import sys
from itertools import product
from pathlib import Path

import pytest

from advisor import advise, pareto
from advisor.answers.rank.result import Recommendation
from simulator import PROTOCOLS
from simulator.ranking import preference
from tests.advisor.conftest import Run
from tests.cells import failures

QUICK = ("--max-reps", "20")


def test_frontier_is_what_comparing_all_with_all_gives() -> None:
    def check(cell: tuple[int, float, str]) -> None:
        k, epsilon, metric = cell
        advice = advise(epsilon, k=k, metric=metric)
        found = pareto(advice)
        # Errors within 5 % of the lowest are as good as it; of pairs that are alike in all, the first by the rule is.
        costs = {
            row: (max(row.ratio_to_best or 1.0, 1.05), row.report_bits, round(row.attack_success, 9))
            for row in advice.recommendations
        }
        report = {row: PROTOCOLS[row.protocol](k, epsilon).cost for row in costs}
        order = sorted(costs, key=lambda row: (row != advice.best, *preference(row.ratio_to_best or 1.0, report[row])))
        place = {row: at for at, row in enumerate(order)}

        def beats(one: Recommendation, other: Recommendation) -> bool:
            as_good = all(a <= b for a, b in zip(costs[one], costs[other], strict=True))
            return as_good and other != advice.best and (costs[one] != costs[other] or place[one] < place[other])

        assert list(found.rows) == [row for row in order if not any(beats(other, row) for other in order)]
        assert {row for row, _ in found.dominated} == set(order) - set(found.rows)
        assert all(beats(better, row) for row, better in found.dominated)
        assert found.rows[0] == advice.best

    assert failures(product([4, 64, 300], [0.5, 1.0, 4.0], ["l2", "l1"]), check) == {}


def test_quiet_leaves_the_table_alone(run: Run, states: str) -> None:
    asked = ("pareto", "--eps", "1", *QUICK, "-p", "grr,oue", states)
    code, out, err = run(*asked)
    assert code == 0
    assert "Simulated from" in out
    assert err.startswith("note: SAMPLE is read as it is")
    _, quiet, err = run(*asked, "-q")
    assert "Simulated" not in quiet
    assert err == ""


def test_every_format_holds_the_same_frontier(run: Run, tmp_path: Path) -> None:
    asked = ("pareto", "--eps", "2", "--k", "100")
    data = json.loads(run(*asked, "--format", "json")[1])
    assert data["source"] == "grid"
    pairs = [(row["protocol"], row["method"]) for row in data["frontier"]]
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    assert [(row["protocol"], row["method"]) for row in rows] == pairs
    target = tmp_path / "frontier.md"
    assert run(*asked, "-o", target)[:2] == (0, "")
    text = target.read_text(encoding="utf-8")
    assert all(f"| {protocol} | {method} |" in text for protocol, method in pairs)
    assert run(*asked, "--format", "value")[1].splitlines() == [" ".join(pair) for pair in pairs]
    plain = [line.split()[:2] for line in run(*asked, "--format", "plain", "-q")[1].splitlines()]
    assert [list(pair) for pair in pairs] == [words for words in plain if tuple(words) in pairs]
    assert {tuple(row["dominated_by"].values()) for row in data["dominated"]} <= set(pairs)


@pytest.mark.parametrize(
    ("suffix", "begins"),
    [
        (".svg", b"<?xml"),
        pytest.param(".png", b"\x89PNG", marks=pytest.mark.slow),
        pytest.param(".pdf", b"%PDF", marks=pytest.mark.slow),
    ],
)
def test_picture_is_drawn_and_the_same_again_and_the_page_has_it(
    run: Run, tmp_path: Path, suffix: str, begins: bytes
) -> None:
    pytest.importorskip("matplotlib")
    first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    page = tmp_path / "page.html"
    again = suffix != ".svg"  # of the slow ones alone
    for target, more in ((first, ()), *([(second, ("--report", page))] if again else [])):
        assert run("pareto", "--eps", "1", "--k", "50", "--plot", target, *more)[0] == 0
    assert first.read_bytes().startswith(begins)
    if again:
        text = page.read_text(encoding="utf-8")
        assert "<svg" in text
        assert "beaten by" in text
        assert first.read_bytes() == second.read_bytes()
    code, _, err = run("pareto", "--eps", "1", "--k", "50", "--plot", first)
    assert code == 2
    assert "the file exists" in err


def test_without_matplotlib_it_is_said_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run("pareto", "--eps", "1", "--k", "50", "--plot", tmp_path / "x.png")
    assert code == 2
    assert "pip install 'ldp-advise[plot]'" in err


def test_a_file_without_a_header_is_read(run: Run, tmp_path: Path) -> None:
    sample = tmp_path / "numbers.csv"
    sample.write_text("1\n2\n2\n3\n" * 50, encoding="utf-8")
    words = ("pareto", "--eps", "1", "--instant", "--no-header", "--format", "json", sample)
    assert json.loads(run(*words)[1])["request"]["n"] == 200


def test_constraints_hold_and_nothing_left_is_no_error(run: Run) -> None:
    data = json.loads(run("pareto", "--eps", "1", "--k", "50", "--max-bits", "20", "--format", "json")[1])
    assert {row["protocol"] for row in data["frontier"]} <= {"grr", "hr", "pgr"}
    for output_format in ("table", "markdown"):
        code, out, _ = run("pareto", "--eps", "1", "--k", "50", "--max-bits", "1", "--format", output_format)
        assert code == 0
        assert "Nothing is left to rank: --max-bits 1 removed" in out
    code, out, _ = run("pareto", "--eps", "1", "--k", "50", "--max-bits", "1", "--format", "json")
    assert (code, json.loads(out)["frontier"]) == (0, [])


def test_one_pair_is_spoken_of_as_one(run: Run) -> None:
    _, out, _ = run("pareto", "--eps", "1", "--k", "50", "-p", "grr", "--method", "none")
    assert out.startswith("1 of 1 pair is worth considering: GRR with no post-processing has")


def test_bad_options_are_one_line_and_exit_2(run: Run) -> None:
    cells = [
        ("--eps 1", "SAMPLE is missing"),
        ("", "--eps and SAMPLE are missing"),
        ("--eps 1 --k 50 --metric all", "pareto answers for one metric at a time"),
        ("--eps 1 --k 50 -m l1 --metric l2", "pareto answers for one metric at a time, got l1, l2"),
        ("--eps 1 --k 50 --plot x.gif", "the suffix must be .png, .svg, .pdf, got '.gif'"),
        ("--eps 1 --k 50 --column 2", "--column needs a sample, and none is given"),
        ("--eps 1 --k 50 --reps 30", "--reps is for a simulation"),
        ("--eps 1 --k 50 -o same.svg --plot same.svg", "writes the same file; give each its own name"),
    ]

    def check(cell: tuple[str, str]) -> None:
        asked, said = cell
        code, out, err = run("pareto", *asked.split())
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1

    assert failures(cells, check) == {}
