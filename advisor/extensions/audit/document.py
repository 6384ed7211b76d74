"""The document of audits: the verdict, a table of them, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields

from advisor.extensions.audit.answer import Audits
from advisor.extensions.audit.words import confidence, figure, label, notes
from advisor.show.model import Column, Document, Json, Records, Role, Row, Scalar, Sentence, Table, Tone, Verdict
from simulator.audit import Audit

MATRIX_BUDGETS = 3  # from so many on, each has a column of its own

AUDITED = Column("audited", text=True, path=True)
BUDGET = Column("ε")
SIZE = Column("k")
PAIR = Column("v1, v2", "the two values that were told apart", text=True, drop=4)
LOSS = Column("loss ≥", "lower bound of the privacy loss")
ANALYTIC = Column("analytic", "loss that infinitely many trials would show", drop=2)
SLACK = Column("slack", "how far the bound may fall below the analytic value by chance", drop=3)
PROMISED = Column("promised", "ε, or what composition makes of it", drop=1)
ONE_ATTRIBUTE = Column("one attr.", "promised to users who differ in one attribute", drop=2)
RATIO = Column("promised/loss", drop=5)
LEAK = Column("leak", "whether the bound is above the promise", text=True)
QUIET_LEAK = Column(LEAK.header, LEAK.meaning, text=True, drop=6)  # where all is well, it may go first
LEAKS, NONE_SHOWN = "leaks", "no_leak_shown"
CELLS = (
    f"Each cell: loss ≥ / analytic (slack). {LOSS.header}: {LOSS.meaning}; {ANALYTIC.header}: {ANALYTIC.meaning}; "
    f"{SLACK.header}: {SLACK.meaning}."
)


def audit_document(audits: Audits) -> Document:
    """Return the verdict, a row for each audit, or a matrix of several budgets, and what it rests on."""
    rows, question = audits.results, audits.question
    matrix = _is_matrix(rows)
    return Document(
        title="Privacy loss that attacks on reports prove",
        verdict=Verdict(
            LEAKS if audits.leaks else NONE_SHOWN, audits.summary, Tone.DOUBTFUL if audits.leaks else Tone.PLAIN
        ),
        parts=(
            _matrix(rows) if matrix else _table(rows),
            *([Sentence(CELLS, Role.NOTE)] if matrix else []),
            *(
                Sentence(words, Role.NOTE)
                for words in (*notes(rows, given=bool(question.attack.values)), *_hash_note(audits))
            ),
        ),
        data={
            "request": {
                "protocols": list(dict.fromkeys(row.protocol for row in rows)),
                "eps": list(question.grid.epsilons),
                "eps_forever": question.memoisation.epsilon_forever,
                "k": list(question.sizes),
                "trials": None if question.client.files else question.trials,
                "alpha": question.attack.level,
                "values": list(question.attack.values or rows[0].values),
                "target": question.client.target,
                "files": list(question.client.files),
                "reports": question.client.reports,
            },
            "seed": question.simulation.seed,
            "summary": audits.summary,
            "results": [_plain(row) for row in rows],
        },
        records=Records(tuple(field.name for field in fields(Audit)), tuple(_record(row) for row in rows)),
        value="\n".join(f"{row.epsilon_lower_bound:.6g}" for row in rows),
        setting=f"{rows[0].trials:,} trials of each value, confidence {confidence(question.attack.level)}",
    )


def _hash_note(audits: Audits) -> list[str]:
    client = audits.question.client
    if not client.hashes:
        return []
    return [
        f"Reports are read with the hash function {client.hash_name}: with another one than the client's, the bound is "
        "about 0 whatever the client loses (--hash)."
    ]


def _is_matrix(rows: Sequence[Audit]) -> bool:
    budgets = {row.epsilon for row in rows}
    return None not in budgets and len(budgets) >= MATRIX_BUDGETS and len(rows) > len(budgets)


def _table(rows: Sequence[Audit]) -> Table:
    analytic = any(row.epsilon_analytic is not None for row in rows)
    several = any(row.epsilon_one_attribute is not None for row in rows)
    pairs = len(rows) > 1 and rows[0].tried is not None  # one pair is named in the verdict
    columns = (
        AUDITED, BUDGET, SIZE, *((PAIR,) if pairs else ()), LOSS, *((ANALYTIC, SLACK) if analytic else ()), PROMISED,
        *((ONE_ATTRIBUTE,) if several else ()), RATIO,
        LEAK if any(row.leaks for row in rows) else QUIET_LEAK,
    )  # fmt: skip
    return Table(
        columns,
        tuple(_row(row, analytic=analytic, several=several, pairs=pairs) for row in rows),
        noun="audits",
        cut=False,
    )


def _row(row: Audit, *, analytic: bool, several: bool, pairs: bool) -> Row:
    promised, bound, one = row.epsilon_guaranteed, row.epsilon_lower_bound, row.epsilon_one_attribute
    ratio = None if promised is None or not bound else promised / bound
    cells = (
        (label(row), None),
        ("∞" if row.epsilon is None else f"{row.epsilon:g}", row.epsilon),
        (f"{row.k:,}", row.k),
        *(((", ".join(map(str, row.files or row.values)), None),) if pairs else ()),
        (figure(bound), bound),
        *(((figure(row.epsilon_analytic), row.epsilon_analytic), (figure(row.epsilon_slack), row.epsilon_slack))
          if analytic else ()),
        ("–" if promised is None else f"{promised:g}", promised),
        *(((figure(one), one),) if several else ()),
        ("–" if ratio is None else f"{ratio:.2f}", ratio),
        ("LEAKS" if row.leaks else "–" if promised is None else "none shown", None),
    )  # fmt: skip
    return Row(
        tuple(text for text, _ in cells),
        tuple(value for _, value in cells),
        tone=Tone.DOUBTFUL if row.leaks else Tone.PLAIN,
    )


def _matrix(rows: Sequence[Audit]) -> Table:
    """Return a table with a column for each budget."""
    budgets = list(dict.fromkeys(row.epsilon for row in rows if row.epsilon is not None))
    lines: dict[tuple[str, int], dict[float | None, Audit]] = {}
    for row in rows:
        lines.setdefault((label(row), row.k), {})[row.epsilon] = row
    columns = (AUDITED, SIZE, *(Column(f"ε = {epsilon:g}", drop=place) for place, epsilon in enumerate(budgets)))
    made = []
    for (name, k), audits in lines.items():
        found = [audits.get(epsilon) for epsilon in budgets]
        made.append(
            Row(
                (name, f"{k:,}", *map(_cell, found)),
                (None, k, *(None if one is None else one.epsilon_lower_bound for one in found)),
                tones=(Tone.PLAIN, Tone.PLAIN, *(Tone.DOUBTFUL if one and one.leaks else Tone.PLAIN for one in found)),
            )
        )
    return Table(columns, tuple(made), noun="audits", cut=False)


def _cell(row: Audit | None) -> str:
    if row is None:
        return "–"
    mark = " LEAKS" if row.leaks else ""
    return f"{figure(row.epsilon_lower_bound)} / {figure(row.epsilon_analytic)} ({figure(row.epsilon_slack)}){mark}"


def _plain(row: Audit) -> dict[str, Json]:
    """Return the fields of an audit as JSON has them: without infinity, which becomes null."""
    return {
        name: list(value)
        if isinstance(value, tuple)
        else None
        if isinstance(value, float) and not math.isfinite(value)
        else value
        for name, value in asdict(row).items()
    }


def _record(row: Audit) -> tuple[Scalar, ...]:
    plain: dict[str, Json] = _plain(row)
    return tuple(",".join(map(str, value)) if isinstance(value, list) else value for value in plain.values())  # type: ignore[misc]
