import csv
import hashlib
import io
import json
import re
from base64 import b64encode
from dataclasses import replace

import numpy as np
import pytest
import scipy
from rich.console import Console

from advisor.show.data import SCHEMA_VERSION, csv_text, error_json, json_text, latex, markdown, plain_text
from advisor.show.model import (
    Adjustment,
    Badge,
    Code,
    Column,
    Document,
    Figure,
    Records,
    Role,
    Row,
    Section,
    Sentence,
    Table,
    Tone,
    Verdict,
    View,
)
from advisor.show.page import fragment_html, page_html
from advisor.show.terminal import show
from tests.cells import over

NASTY = "<script>alert(1)</script> a|b"
COLUMNS = (
    Column("name", text=True),
    Column("error", "how far it is off"),
    Column("unit", shared="All errors are {}.", text=True),
    Column("bits", "size of one report", drop=2),
    Column("share of the users", drop=9),
    Column("seed", "where the numbers come from", verbose=True),
)
ROWS = (
    Row((NASTY, "0.125", "frequencies", "3", "10 %", "7"), (None, 0.1254, None, 3, 0.1, 7), Tone.GOOD),
    Row(("second", "0.25", "frequencies", "10", "20 %", "7"), (None, 0.25, None, 10, 0.2, 7)),
    Row(("third", "0.5", "frequencies", "12", "30 %", "7"), (None, 0.5, None, 12, 0.3, 7)),
    Row(("usual", "0.75", "frequencies", "14", "40 %", "7"), (None, 0.75, None, 14, 0.4, 7), Tone.MARKED, kept=True),
    Row(("no data", "0.9", "–", "", "", ""), extra=True),
)
RANKING = Table(COLUMNS, ROWS, title="Ranking", noun="pairs")
DOCUMENT = Document(
    title=f"Advice for {NASTY}",
    verdict=Verdict(
        "worth_it", f"Use {NASTY}.", Badge.ALMOST, ("few",), {"error": 0.5}, changes=(Adjustment("Ask.", "--n 9"),)
    ),
    parts=(
        Sentence(f"Beware of {NASTY}.", Role.WARNING),
        Sentence("This is a detail."),
        RANKING,
        Table((Column("later"),), (Row(("1",)),), title="Further", further=True),
        Table((Column("p", "a probability"),), (Row(("0.5",)),), title="On request", verbose=True),
        Code("x = {'a': 1}\nprint(x)", "In Python"),
        Figure("Picture", f"picture of {NASTY}", lambda: '<svg fill="#1a1a1a"></svg>'),
        Sentence("This is a note.", Role.NOTE),
        Sentence("This explains a column.", Role.LEGEND),
    ),
    data={"label": NASTY, "missing": None},
    records=Records(("name", "error", "bits"), ((NASTY, 0.125, 3), ("second", 0.25, None))),
    value="second",
    setting=f"k = 4 of {NASTY}",
    sections=lambda: (Section("Why", (Sentence(f"Because of {NASTY}."),)),),
)


def on_terminal(width, view, document=DOCUMENT):
    stream = io.StringIO()
    show(document, view, Console(file=stream, width=width, no_color=True, highlight=False))
    return stream.getvalue()


def test_a_cut_table_keeps_marked_and_extra_rows_and_counts_the_hidden_ones():
    cut = RANKING.head(1)
    assert [row.cells[0] for row in cut.rows] == [NASTY, "usual", "no data"]
    assert cut.hidden == 2
    assert RANKING.head(None) == RANKING.head(9) == RANKING
    assert replace(RANKING, cut=False).head(1).hidden == 0
    assert "2 more pairs: --all shows them" in plain_text(DOCUMENT, View(top=1))
    assert "more pairs" not in plain_text(DOCUMENT, View(top=None))


def test_a_cut_table_shows_one_row_of_a_group():
    groups = {"a": "x", "b": "y", "c": "x", "d": "y", "e": "x", "f": ""}
    table = Table((Column("name"),), tuple(Row((name,), group=group) for name, group in groups.items()))
    assert [row.cells[0] for row in table.head(9).rows] == ["a", "b", "f"]
    marked = replace(table, rows=(*table.rows[:4], replace(table.rows[4], kept=True), table.rows[5]))
    assert [row.cells[0] for row in marked.head(9).rows] == ["b", "e", "f"]
    assert [row.cells[0] for row in table.head(None).rows] == list(groups)


def test_markdown_escapes_pipes_and_shows_what_is_good():
    text = markdown(DOCUMENT, View(verbose=True))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert r"a\|b" in rows[2]
    table = [re.sub(r"\\\|", "", line) for line in rows[: 2 + len(ROWS)]]
    assert {line.count("|") for line in table} == {6}
    assert text.startswith(f"**Almost:** Use {NASTY}.")


# What a reader of LaTeX makes of the commands of a cell; every other mark of its own would be an error.
COMMANDS = {
    **{f"\\{mark}": mark for mark in "%_&#${}"},
    **{r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", "{[}": "[", "--": "–"},
    **{"$<$": "<", "$>$": ">", "$|$": "|", r"$\pm$": "±", r"$\varepsilon$": "ε", "$^2$": "²", "$-$": "−"},
}


def read_cell(cell):
    found = re.fullmatch(r"\\textbf\{(.*)\}", cell)
    bold, cell = found is not None, found[1] if found else cell
    words = "|".join(map(re.escape, sorted(COMMANDS, key=len, reverse=True)))
    assert not set(re.sub(words, "", cell)) & set("\\{}$&#%_^~[<>|"), cell
    return ("**" if bold else "") + re.sub(words, lambda found: COMMANDS[found[0]], cell)


def test_latex_is_a_table_of_booktabs_whose_cells_read_as_they_are():
    marks = ("[50 %_&#$] {a} \\x ~ ^ <|>", "0.1 ± 2", "– ε² −3")
    columns = (Column("a_b", text=True), Column("100 %"), Column("−"))
    table = Table(columns, (Row(marks), Row(("x", "1 *", ""), tones=(Tone.PLAIN, Tone.GOOD, Tone.PLAIN))), title="50 %")
    lines = latex(replace(DOCUMENT, parts=(table,)), View(quiet=True)).splitlines()
    rows = [lines[5], *lines[7:-2]]
    assert all(row.endswith(r" \\") for row in rows)
    read = [tuple(map(read_cell, re.split(r"(?<!\\) ?& ?", row[:-3]))) for row in rows]
    assert read == [("a_b", "100 %", "−"), marks, ("x", "**1 *", "")]


def test_csv_has_the_records_and_json_the_data_behind_what_every_answer_has():
    rows = list(csv.DictReader(io.StringIO(csv_text(DOCUMENT))))
    assert rows[0] == {"name": NASTY, "error": "0.125", "bits": "3"}
    assert rows[1]["bits"] == ""  # not known
    data = json.loads(json_text(DOCUMENT))
    assert list(data) == ["schema_version", "tool_version", "versions", "headline", "label", "missing"]
    headline = {"kind": "worth_it", "badge": "Almost", "text": f"Use {NASTY}.", "numbers": "", "reasons": ["few"]}
    changes = [{"text": "Ask.", "option": "--n 9"}]
    assert data["headline"] == {**headline, "figures": {"error": 0.5}, "changes": changes}
    assert data["versions"] == {"numpy": np.__version__, "scipy": scipy.__version__}
    assert (data["schema_version"], data["label"], data["missing"]) == (SCHEMA_VERSION, NASTY, None)
    assert "headline" not in json.loads(json_text(replace(DOCUMENT, verdict=None)))
    assert json.loads(error_json("a\nb"))["error"] == {"message": "a\nb"}
    with pytest.raises(ValueError, match="JSON"):
        json_text(replace(DOCUMENT, data={"x": float("nan")}))


def test_a_page_escapes_every_word_and_sorts_by_the_figures():
    page = page_html(DOCUMENT, f"ldp-advise '{NASTY}'")
    assert page.count("<script>") == 1  # our own
    digest = b64encode(hashlib.sha256(re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[0].encode()).digest())
    assert f"script-src 'sha256-{digest.decode()}'" in page  # and no other runs
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 8
    assert 'aria-label="picture of &lt;script&gt;' in page
    assert 'data-value="0.1254">0.125</td>' in page
    assert '<svg fill="var(--ink)">' in page


STEERING = "\x1b]0;title\x07\x9b31m\u202ee\ud800\x00\ufffe"
ESCAPED = r"\x1b]0;title\x07\x9b31m\u202ee\ud800\x00\ufffe"
HOSTILE = Document(
    title=STEERING,
    verdict=Verdict("worth_it", f"Use {STEERING}."),
    parts=(
        Sentence(f"Beware of {STEERING}.", Role.WARNING),
        Table(
            (Column(f"head {STEERING}", f"meaning {STEERING}", text=True),), (Row((STEERING,)),), title=f"of {STEERING}"
        ),
        Code(f"x = 1  # {STEERING}\ny = 2", STEERING),
        Figure(STEERING, STEERING, lambda: "<svg></svg>"),
    ),
    data={"label": STEERING, STEERING: [STEERING]},
    records=Records(("name",), ((STEERING,),)),
    value=f"{STEERING}\nsecond",
    setting=STEERING,
    sections=lambda: (Section("Why", (Sentence(STEERING),)),),
)


WIDE = View(verbose=True)
RENDERERS = {
    "terminal": lambda document: on_terminal(300, WIDE, document),
    "plain": lambda document: plain_text(document, WIDE),
    "markdown": lambda document: markdown(document, WIDE),
    "latex": lambda document: latex(document, WIDE),
    "csv": csv_text,
    "json": json_text,
    "page": page_html,
    "notebook": fragment_html,
    "value": lambda document: document.value,
    "error": lambda document: error_json(document.title),
    "warnings": lambda document: "".join(document.warnings),
}


@over(RENDERERS)
def test_no_format_hands_on_what_steers_a_terminal(name):
    text = RENDERERS[name](HOSTILE)
    assert "title" in text
    assert all(mark.isprintable() or mark == "\n" for mark in text)
    assert text.encode("utf-8")


def test_people_see_escapes_and_json_hands_on_every_mark_as_an_escape_of_its_own():
    assert ESCAPED in plain_text(HOSTILE, View())
    assert HOSTILE.value == f"{ESCAPED}\nsecond"
    data = json.loads(json_text(HOSTILE))
    assert data["label"] == STEERING
    assert data[STEERING] == [STEERING]
    assert json.loads(error_json(STEERING))["error"]["message"] == STEERING
