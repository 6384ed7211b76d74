"""The answer to an estimate in every format: both tables, the pair now, and the next round."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable

import pytest

from advisor import Advice
from advisor.show.data import csv_text
from advisor.show.model import Document, View
from advisor.show.rank.document import rank_document
from advisor.show.text import markdown, plain_text
from simulator import frequency_oracles
from simulator.surrogate import DRAWS
from tests.advisor.estimates import FEW, SCHEMA, quick

# Those that need a noise of one scale do not go with trees, and none goes without an estimate.
ALL_PAIRS = 3 * len(frequency_oracles()) + 2 * len({"tree", "tree_half", "haar_hrr"})


@pytest.fixture(scope="module")
def shown() -> Advice:
    return quick()


def test_json_is_valid_and_holds_both_tables(shown: Advice) -> None:
    data = json.loads(shown.to_json())
    SCHEMA.validate(data)
    assert (data["source"], data["surrogate"]) == ("surrogate", "ensemble")
    assert data["request"]["collected_with"] == "oue"
    assert data["request"]["populations"] == DRAWS
    assert [row["method"] for row in data["recommendations"]] == [row.method for row in shown.recommendations]
    assert len(data["next_round"]["recommendations"]) == ALL_PAIRS
    assert data["next_round"]["next_round"] is None
    assert (data["judged"], data["total"]) == (True, None)


def test_csv_marks_the_rows_of_the_next_round(shown: Advice) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(rank_document((shown,))))))
    assert len(rows) == len(FEW) + ALL_PAIRS
    assert [row["next_round"] for row in rows] == ["False"] * 3 + ["True"] * ALL_PAIRS
    assert {row["protocol"] for row in rows[:3]} == {"oue"}
    assert [float(row["probability_best"]) for row in rows[:3]] == [
        row.probability_best for row in shown.recommendations
    ]
    assert {row["probability_best"] for row in rows[3:]} == {""}
    assert {row["metric"] for row in rows} == {"l1"}


@pytest.mark.parametrize("write", [plain_text, markdown])
def test_text_has_both_tables_one_after_the_other(shown: Advice, write: Callable[[Document, View], str]) -> None:
    text = write(rank_document((shown,)), View())
    first, later = text.split("For the next round, with the same ε, k and n: ")
    assert "post-processing on this OUE estimate" in first
    assert "It is within 2 % of the best method with probability" in first
    for table in (first, later):
        assert len([line for line in table.splitlines() if "◂" in line and "raw estimate" in line]) == 1
    other = re.compile(r"\b(pgr|ss|olh|hr)\b")  # protocols that were not used stand in the table of the next round
    assert other.search(later)
    assert not other.search(first)
    assert "Judged by 240 draws of the frequencies that may be behind the estimate in estimate:" in later


def test_markdown_rows_have_the_columns_of_their_table(shown: Advice) -> None:
    first, later = markdown(rank_document((shown,)), View()).split("For the next round")
    for part, column in ((first, " best "), (later, " won ")):
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) == 1
        assert f"|{column}|" in lines[0]


def test_value_is_the_pair_now(shown: Advice) -> None:
    assert rank_document((shown,)).value == f"oue {shown.best.method}"


def test_notebooks_see_the_answer_and_the_next_round(shown: Advice) -> None:
    page = shown._repr_html_()
    assert "on this OUE estimate" in page
    assert "For the next round" in page
    assert page.count("<table>") == 2


def test_frame_is_the_ranking_now(shown: Advice) -> None:
    frame = shown.to_frame()
    assert frame["probability_best"].tolist() == [row.probability_best for row in shown.recommendations]
    assert set(frame["protocol"]) == {"oue"}
