"""The document of audits: the verdict, a table of them, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields, replace

from advisor.extensions.audit.answer import Audits
from advisor.extensions.audit.words import confidence, figure, label, notes, summary
from advisor.show.model import Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict
from simulator.audit import Audit

MATRIX_BUDGETS = 3  # from so many on, each has a column of its own

PAIR = Column("v1, v2", "the two values that were told apart", text=True, drop=4)
LOSS = Column("loss ≥", "lower bound of the privacy loss")
ANALYTIC = Column("analytic", "loss that infinitely many trials would show", drop=2)
SLACK = Column("slack", "how far the bound may fall below the analytic value by chance", drop=3)
ONE_ATTRIBUTE = Column("one attr.", "promised to users who differ in one attribute", drop=2)
LEAK = Column("leak", "whether the bound is above the promise", text=True)
COLUMNS = (
    Column("audited", text=True, path=True),
    Column("ε"),
    Column("k"),
    PAIR,
    LOSS,
    ANALYTIC,
    SLACK,
    Column("promised", "ε, or what composition makes of it", drop=1),
    ONE_ATTRIBUTE,
    Column("promised/loss", drop=5),
)
CELLS = "Each cell: loss ≥ / analytic (slack). " + "; ".join(
    f"{column.header}: {column.meaning}" for column in (LOSS, ANALYTIC, SLACK)
)


def audit_document(audits: Audits) -> Document:
    """Return the verdict, a row for each audit, or a matrix of several budgets, and what it rests on."""
    rows, question = audits.results, audits.question
    client, alpha, verdict = question.client, question.attack.alpha, summary(rows)
    budgets = {row.epsilon for row in rows}
    matrix = None not in budgets and MATRIX_BUDGETS <= len(budgets) < len(rows)
    records = [{name: None if value == math.inf else value for name, value in asdict(row).items()} for row in rows]
    return Document(
        title="Privacy loss that attacks on reports prove",
        verdict=Verdict(
            "leaks" if audits.leaks else "no_leak_shown", verdict, Tone.DOUBTFUL if audits.leaks else Tone.PLAIN
        ),
        parts=(
            _matrix(rows) if matrix else _table(rows),
            *(Sentence(words, Role.NOTE) for words in ([f"{CELLS}."] if matrix else [])),
            *(Sentence(words, Role.NOTE) for words in notes(question, rows)),
        ),
        data={
            "request": {
                "protocols": list(dict.fromkeys(row.protocol for row in rows)),
                "eps": question.grid.epsilons,
                "eps_forever": question.memoisation.epsilon_forever,
                "k": question.sizes,
                "trials": None if client.files else question.trials,
                "alpha": alpha,
                "values": question.attack.values or rows[0].values,
                "target": client.name,
                "files": client.files,
                "reports": client.reports,
            },
            "seed": question.simulation.seed,
            "summary": verdict,
            "results": records,
        },
        records=Records(
            tuple(field.name for field in fields(Audit)),
            tuple(
                tuple(",".join(map(str, value)) if isinstance(value, tuple) else value for value in record.values())
                for record in records
            ),
        ),
        value="\n".join(f"{row.epsilon_lower_bound:.6g}" for row in rows),
        setting=f"{rows[0].trials:,} trials of each value, confidence {confidence(alpha)}",
    )


def _table(rows: Sequence[Audit]) -> Table:
    """Return a table with a row for each audit, without columns in which nothing stands."""
    leak = LEAK if any(row.leaks for row in rows) else replace(LEAK, drop=6)  # where all is well, it may go first
    table = Table((*COLUMNS, leak), tuple(map(_row, rows)), noun="audits", cut=False)
    empty: list[Column] = []
    if len(rows) == 1 or rows[0].tried is None:  # one pair is named in the verdict
        empty.append(PAIR)
    if all(row.epsilon_analytic is None for row in rows):
        empty += [ANALYTIC, SLACK]
    if all(row.epsilon_one_attribute is None for row in rows):
        empty.append(ONE_ATTRIBUTE)
    return table.without(*empty)


def _row(row: Audit) -> Row:
    promised, bound, one = row.epsilon_guaranteed, row.epsilon_lower_bound, row.epsilon_one_attribute
    ratio = None if promised is None or not bound else promised / bound
    losses = (bound, row.epsilon_analytic, row.epsilon_slack)
    cells = (
        label(row),
        "∞" if row.epsilon is None else f"{row.epsilon:g}",
        f"{row.k:,}",
        ", ".join(map(str, row.files or row.values)),
        *map(figure, losses),
        "–" if promised is None else f"{promised:g}",
        figure(one),
        "–" if ratio is None else f"{ratio:.2f}",
        "LEAKS" if row.leaks else "–" if promised is None else "none shown",
    )
    values = (None, row.epsilon, row.k, None, *losses, promised, one, ratio, None)
    return Row(cells, values, tone=Tone.DOUBTFUL if row.leaks else Tone.PLAIN)


def _matrix(rows: Sequence[Audit]) -> Table:
    """Return a table with a column for each budget; every line has an audit for each, in the same order."""
    budgets = dict.fromkeys(row.epsilon for row in rows)
    lines: dict[tuple[str, int], list[Audit]] = {}
    for row in rows:
        lines.setdefault((label(row), row.k), []).append(row)
    columns = (COLUMNS[0], COLUMNS[2], *(Column(f"ε = {epsilon:g}", drop=at) for at, epsilon in enumerate(budgets)))
    made = (
        Row(
            (name, f"{k:,}", *map(_cell, audits)),
            (None, k, *(one.epsilon_lower_bound for one in audits)),
            tones=(Tone.PLAIN, Tone.PLAIN, *(Tone.DOUBTFUL if one.leaks else Tone.PLAIN for one in audits)),
        )
        for (name, k), audits in lines.items()
    )
    return Table(columns, tuple(made), noun="audits", cut=False)


def _cell(row: Audit) -> str:
    mark = " LEAKS" if row.leaks else ""
    return f"{figure(row.epsilon_lower_bound)} / {figure(row.epsilon_analytic)} ({figure(row.epsilon_slack)}){mark}"
