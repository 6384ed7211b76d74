"""The table of ways to collect several attributes."""

from __future__ import annotations

from advisor.figures import number, times
from advisor.question.budget import Plan
from advisor.question.solutions import Solution
from advisor.show.model import Column, Part, Role, Row, Sentence, Table, Tone

NAMES = {"smp": "sample one (SMP)", "spl": "report all (SPL)", "rsfd": "fake the rest (RS+FD)"}
NAMES["rsrfd"] = "realistic fakes (RS+RFD)"


def solution_parts(plan: Plan) -> list[Part]:
    """Return what each way to collect promises, and how exact it is."""
    columns = (
        Column("promise", "between which users ε holds: any two, or two who differ in one attribute", text=True),
        Column("how", text=True),
        Column("protocol", "the one with the lowest error of its raw estimates", text=True),
        Column("ε report", "budget of one report", drop=3),
        Column("ε any two", "what is lost at most between any two users", drop=1),
        Column("ε one differs", "the same between users who differ in one attribute", drop=2),
        Column("error", "root mean squared error of a raw estimate, against the frequencies of all users"),
        Column("to best", "over the lowest error at the same promise"),
    )
    rows = tuple(_row(row) for row in plan.solutions)
    sentence = (
        "With fakes nobody learns which attribute a user reported; that costs accuracy at the same promise. As "
        "published, RS+FD keeps its ε only between users who differ in one attribute."
    )
    return [
        Table(columns, rows, f"Ways to collect {plan.attributes} attributes at the same promise", cut=False),
        Sentence(sentence, Role.NOTE),
    ]


def _row(row: Solution) -> Row:
    fake = "" if row.fake is None else f" (fakes {row.fake})"
    cells = (
        "any two users" if row.promise == "tuple" else "one attribute",
        NAMES[row.solution],
        row.protocol + fake,
        f"{row.epsilon_report:.3g}",
        f"{row.epsilon_tuple:.3g}",
        f"{row.epsilon_attribute:.3g}",
        number(row.error, 3),
        times(row.ratio),
    )
    values = (None, None, None, row.epsilon_report, row.epsilon_tuple, row.epsilon_attribute, row.error, row.ratio)
    return Row(cells, values, Tone.GOOD if row.ratio == 1 else Tone.PLAIN)
