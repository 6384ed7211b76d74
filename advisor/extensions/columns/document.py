"""The document of a plan for several columns."""

from __future__ import annotations

from advisor.answers.rank.verdict import NOTHING_LEFT, USELESS, WORTH_IT, against_nothing
from advisor.errors import listed
from advisor.extensions.columns.answer import ColumnPlan, JointPlan
from advisor.figures import number, percent, points, times, users
from advisor.question.request import nothing_left_reasons
from advisor.show.model import Badge, Cell, Column, Document, Records, Role, Row, Scalar, Sentence, Table, Verdict
from advisor.show.rank.table import error_cell
from simulator import METRICS

FIGURES = ("error", "error_low", "error_high", "mean_absolute_error", "report_bits")  # of the best pair of a column


def joint_document(plan: JointPlan) -> Document:
    """Return who reports which column, the expected errors, and the assumptions."""
    question, rows = plan.question, [_record(column) for column in plan.columns]
    useless, answer = _useless(plan), _answer(plan)
    able = [column.ranking for column in plan.columns if column.ranking.recommendations]
    empty, all_useless = not able, all(ranking.verdict == USELESS for ranking in able)
    badge = Badge.DO_NOT_COLLECT if all_useless else Badge.ALMOST if useless else Badge.COLLECT
    verdict = Verdict(
        NOTHING_LEFT if empty else USELESS if all_useless else plan.solution,
        useless or answer,
        Badge.NOTHING_LEFT if empty else badge,
        ("useless_columns",) if useless else (),
        numbers=_worst(plan),
    )
    warnings = [*question.warnings, *_own_warnings(plan)]
    return Document(
        title=f"Plan for {len(rows)} columns",
        verdict=verdict,
        parts=(
            *(Sentence(text, Role.WARNING) for text in warnings),
            *([Sentence(f"Collect {answer}")] if useless else []),
            _table(plan),
            *(Sentence(text, Role.NOTE) for text in _notes(plan)),
        ),
        data={
            "request": {
                "eps": question.core.epsilon,
                "n": question.n,
                "metric": plan.metric,
                "sample": question.sample,
                "columns": [column.name for column in plan.columns],
            },
            "source": plan.columns[0].ranking.source,
            "seed": question.core.simulation.seed,
            "summary": verdict.summary,
            "solution": plan.solution,
            "error": plan.error,
            "advantage": plan.advantage,
            "warnings": warnings,
            "columns": rows,
        },
        records=Records.of(rows),
        value="\n".join("{column} {protocol} {method} {epsilon:.6g} {reports}".format_map(row) for row in rows),
    )


def _own_warnings(plan: JointPlan) -> list[str]:
    """Return what is warned of about one column alone."""
    shared = plan.question.warnings
    return [
        f"{column.name}: {text}" for column in plan.columns for text in column.ranking.warnings if text not in shared
    ]


def _record(column: ColumnPlan) -> dict[str, Scalar]:
    """Return the figures of a column by name; constraints may leave no pair for it."""
    request, best = column.ranking.request, next(iter(column.ranking.recommendations), None)
    return {
        "column": column.name,
        "k": request.k,
        "share": column.share,
        "reports": request.n,
        "epsilon": request.epsilon,
        "protocol": best and best.protocol,
        "method": best and best.method,
        "metric": column.ranking.metric,
        **{name: best and getattr(best, name) for name in FIGURES},
        "raw_error": column.error,
        "verdict": column.ranking.verdict,
    }


def _answer(plan: JointPlan) -> str:
    epsilon, d = plan.question.core.epsilon, len(plan.columns)
    if plan.solution == "smp":
        return f"one of the {d} columns from each user at ε = {epsilon:g}, drawn with the shares below (sampling, SMP)."
    every = "both" if d == 2 else f"all {d}"
    return f"{every} columns from each user, with ε = {epsilon:g} split as below (splitting, SPL)."


def _useless(plan: JointPlan) -> str:
    """Return which columns are no better than no data at all, or that none is by half; "" if neither is so."""
    for column in plan.columns:
        if not column.ranking.recommendations:
            return f"for {column.name} nothing is left: {nothing_left_reasons(column.ranking.request.removals)}"
    names = [column.name for column in plan.columns if column.ranking.verdict == USELESS]
    if not names:
        good = any(column.ranking.verdict in (WORTH_IT, None) for column in plan.columns)
        return "" if good else "no column has half of the error without data at this budget."
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} not worth asking at this budget."


def _worst(plan: JointPlan) -> str:
    """Return the column whose categories are off the most."""
    able = [column for column in plan.columns if column.ranking.recommendations]
    errors = [(column, column.ranking.best.mean_absolute_error) for column in able]
    off = [(column, column.ranking.sampling * error) for column, error in errors if error is not None]
    if not off:
        return ""
    worst, error = max(off, key=lambda pair: pair[1])
    n = plan.question.n
    return (
        f"Expected for {worst.name}, whose categories are off the most: by {users(error * n)} of {n:,} users each "
        f"({points(error)})."
    )


def _table(plan: JointPlan) -> Table:
    columns = (
        Column("column", text=True),
        Column("k", "categories", drop=4),
        Column("share", "of the users who report the column", drop=3),
        Column("reports", "users who report it", drop=2),
        Column("ε", "budget of one report"),
        Column("protocol", text=True),
        Column("method", text=True),
        Column(f"{plan.metric} error", "of the protocol and method, among those who report"),
        Column("than no data", "whether the answer is better than one without data", text=True),
        Column("raw rmse", "root mean squared error of the best raw estimate, against all users", drop=1),
    )
    return Table(columns, tuple(map(_row, plan.columns)), noun="columns", cut=False)


def _row(column: ColumnPlan) -> Row:
    ranking, request = column.ranking, column.ranking.request
    best: tuple[Cell, ...] = ("–",) * 4
    if ranking.recommendations:
        best = (*ranking.best.pair, error_cell(ranking.best, ranking), against_nothing(ranking.reasons))
    size, reports = (f"{request.k:,}", request.k), (f"{request.n:,}", request.n)
    share, epsilon = (percent(column.share), column.share), (f"{request.epsilon:.3g}", request.epsilon)
    return Row.of((column.name, size, share, reports, epsilon, *best, (number(column.error, 3), column.error)))


def _notes(plan: JointPlan) -> list[str]:
    question, other = plan.question, "splitting the budget" if plan.solution == "smp" else "sampling one column"
    lines = [
        f"{other[0].upper()}{other[1:]} would have {times(plan.advantage)} the error: the root of the mean over the "
        "columns of the mean squared error of a category, by the best raw estimates.",
        f"Promise: ε = {question.core.epsilon:g} for all columns together, between any two users, whatever and "
        "however many of their values differ.",
    ]
    if plan.solution == "smp":
        lines.append(
            f"The {plan.metric} errors are against the frequencies among those who report the column; that they are a "
            "sample of all users is part of users off, of the verdict and of raw rmse."
        )
    how = "Predicted" if question.core.is_predicted else "Simulated"
    lines.append(
        f"{how} for {question.sample}, n = {question.n:,}, {METRICS[plan.metric].title}; the ranking of a column: "
        "the same command with its --column, ε as --eps and its reports as --n."
    )
    return lines
