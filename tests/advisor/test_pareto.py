from __future__ import annotations

import csv
import io
import json
from itertools import product
from pathlib import Path

import pytest

from advisor import advise, pareto
from advisor.answers.rank.result import Recommendation
from simulator import PROTOCOLS
from simulator.ranking import preference
from tests.advisor.conftest import Run
from tests.cells import failures


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


def test_a_picture_is_drawn_the_same_again_and_the_page_has_it(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first, second, page = (tmp_path / name for name in ("one.svg", "two.svg", "page.html"))
    asked = ("pareto", "--eps", "1", "--k", "50", "--plot")
    assert run(*asked, first)[0] == run(*asked, second, "--report", page)[0] == 0
    assert first.read_bytes().startswith(b"<?xml")
    assert first.read_bytes() == second.read_bytes()
    assert "<svg" in page.read_text(encoding="utf-8")
    assert "the file exists" in run(*asked, first)[2]


def test_constraints_hold_and_nothing_left_is_no_error(run: Run) -> None:
    data = json.loads(run("pareto", "--eps", "1", "--k", "50", "--max-bits", "20", "--format", "json")[1])
    assert {row["protocol"] for row in data["frontier"]} <= {"grr", "hr", "pgr"}
    nothing = ("pareto", "--eps", "1", "--k", "50", "--max-bits", "1", "--format")
    for form in ("table", "markdown"):
        code, out, _ = run(*nothing, form)
        assert code == 0
        assert "Nothing is left to rank: --max-bits 1 removed" in out
    assert json.loads(run(*nothing, "json")[1])["frontier"] == []
    one = run("pareto", "--eps", "1", "--k", "50", "-p", "grr", "--method", "none")[1]
    assert one.startswith("1 of 1 pair is worth considering: GRR with no post-processing has")
