"""The document of several budgets: a row for each, with its privacy cost and its accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from advisor.answers.budgets import Budgets, Priced
from advisor.answers.rank.verdict import MARGINAL, NOT_CERTAIN, USELESS, WORTH_IT, against_nothing
from advisor.figures import number, percent, points, rounded, users
from advisor.members.names import pair_text
from advisor.question.request import Request
from advisor.show.data import envelope
from advisor.show.model import (
    Adjustment,
    Badge,
    Cell,
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Scalar,
    Table,
    Tone,
    Verdict,
    figure_cell,
    sentences,
)
from advisor.show.pictures import picture_section
from advisor.show.pictures.ranking import budgets_figure
from advisor.show.rank.answer import PER_CATEGORY, defence_sentences, expected_if
from advisor.show.rank.data import rank_data, request_data
from advisor.show.rank.table import ATTACK, attacker_text, error_cell
from advisor.show.sentences import (
    assumed_sentences,
    attribute_sentences,
    domain_text,
    nothing_left_verdict,
    total_text,
    unit_after,
    unit_text,
)

FIGURES: Mapping[str, Callable[[Priced], Scalar]] = {
    "eps": lambda row: row.epsilon,
    "metric": lambda row: row.ranking.metric,
    "protocol": lambda row: row.ranking.best.protocol,
    "method": lambda row: row.ranking.best.method,
    "error": lambda row: row.ranking.best.error,
    "error_low": lambda row: row.ranking.best.error_low,
    "error_high": lambda row: row.ranking.best.error_high,
    "error_without_data": lambda row: row.ranking.error_without_data,
    "verdict": lambda row: row.ranking.verdict,
    "users_off": lambda row: row.off,
    "detectable_users": lambda row: row.detectable,
    "report_bits": lambda row: row.ranking.best.report_bits,
    "attack_success": lambda row: row.ranking.best.attack_success,
    "k": lambda row: row.ranking.request.k,
    "n": lambda row: row.ranking.request.n,
}
TONES = {WORTH_IT: Tone.GOOD, MARGINAL: Tone.PLAIN, USELESS: Tone.DOUBTFUL, None: Tone.PLAIN}


def budgets_document(budgets: Budgets) -> Document:
    """Return for each metric and each ε: verdict, pair, error, and what a report reveals."""
    request = budgets.first.request
    parts: list[Part] = [*sentences(budgets.warnings, Role.WARNING)]
    all_rows = [row for metric in budgets.metrics for row in budgets.priced(metric)]
    first, *others = verdicts = [_verdict(budgets, metric) for metric in budgets.metrics]
    for verdict, metric in zip(verdicts, budgets.metrics, strict=True):
        rows = budgets.priced(metric)
        parts += verdict.sentences if verdict in others else ()
        parts += sentences(_hidden_sentences(rows), Role.ANSWER, Tone.DOUBTFUL)
        parts += [price_table(rows)] if rows else []
        parts += sentences(_each(rows), Role.ANSWER)
    parts += sentences(_notes(budgets), Role.NOTE)
    budget_list = ", ".join(f"{epsilon:g}" for epsilon in budgets.epsilons)
    several, of_first = len(budgets.metrics) > 1, budgets.priced(budgets.metrics[0])
    drawn = any(row.ranking.best.error < math.inf for row in of_first)
    label, draw = "error of the pair to use against ε", partial(budgets_figure, budgets)
    return Document(
        title=f"What ε = {budget_list} buys",
        verdict=first,
        further_verdicts=tuple(others),
        parts=tuple(parts),
        data={**_data(budgets, all_rows), "summary": first.summary},
        records=Records.of([priced_data(row) for row in all_rows], FIGURES),
        value="\n".join(
            f"{row.epsilon:.12g} {f'{row.ranking.metric} ' if several else ''}{' '.join(row.ranking.best.pair)}"
            for row in all_rows
        ),
        setting=f"ε = {budget_list}, {_domain(request)}",
        sections=lambda: (picture_section("Error against ε", label, draw, "budgets"),) if drawn else (),
        picture=draw if drawn else None,
    )


def price_table(rows: Sequence[Priced], off: Column | None = None, scale: float = 1.0) -> Table:
    """Return a table with a row for each ε: the pair to use, its error, and its privacy cost.

    off, scale: the column of errors, and what an error of 1 is there, if not in the unit of the metric.
    """
    metric, request = rows[0].ranking.metric, rows[0].ranking.request
    columns = (
        Column("ε", "privacy budget of one user in a round"),
        Column("protocol", text=True),
        Column("method", text=True, drop=2),
        off or Column(f"{metric} error", f"{unit_text(metric, request.bins)}, with its 95 % interval"),
        Column("users off", f"users of {request.users:,} by which a category is off, on average"),
        Column("detects", "users in the smallest category that can be detected", drop=1),
        Column("bits", "size of one report", drop=3),
        Column("attack", f"{ATTACK}, {attacker_text(request)}"),
        Column(
            "than no data",
            "what collecting adds to an answer without any data",
            text=True,
            drop=4,
            shared="Against an answer without any data, every row is {}.",
        ),
    )
    return Table(columns, tuple(_row(row, scale) for row in rows), noun="budgets", cut=False)


def _row(row: Priced, scale: float) -> Row:
    best = row.ranking.best
    cells: tuple[Cell, ...] = (
        (f"{row.epsilon:g}", row.epsilon),
        best.protocol,
        best.method,
        error_cell(best, row.ranking, scale),
        figure_cell(row.off, lambda off: users(rounded(off, 2))),
        figure_cell(row.detectable, users),
        (f"{best.report_bits:,}", best.report_bits),
        (percent(best.attack_success), best.attack_success),
        against_nothing(row.ranking.reasons),
    )
    return Row.of(cells, TONES[row.ranking.verdict])


def _numbers(rows: Sequence[Priced]) -> str:
    """Return the error at the first and the last budget: in users, and in the metric if that says more."""
    first, last, request = rows[0], rows[-1], rows[0].ranking.request
    if first.off is None or last.off is None:
        return ""
    metric, without = first.ranking.metric, first.ranking.error_without_data
    off = (
        f"off by {users(rounded(first.off, 2))} users a category ({points(first.off / request.users)}) at "
        f"ε = {first.epsilon:g}"
    )
    if last is not first:
        off += f", by {users(rounded(last.off, 2))} ({points(last.off / request.users)}) at ε = {last.epsilon:g}"
    if metric not in PER_CATEGORY:
        errors = dict.fromkeys(number(row.ranking.best.error, 2) for row in (first, last))
        off = f"{metric} error {' to '.join(errors)}{unit_after(metric, 0.0, None)}, {off}"
    no_data = "" if without is None else f"; without data {metric} error {number(without, 3)}"
    return f"{expected_if(request)}: {off}{no_data}{total_text(request.plan, each=True)}."


def _verdict(budgets: Budgets, metric: str) -> Verdict:
    """Return the verdict of the best budget."""
    rows, request = budgets.priced(metric), budgets.first.request
    if not rows:
        return nothing_left_verdict(request.removals)
    kinds = [row.ranking.verdict for row in rows]
    best = next(kind for kind in (WORTH_IT, MARGINAL, USELESS) if kind in kinds)
    reasons = rows[kinds.index(best)].ranking.reasons
    almost = Badge.NOTHING_SURE if NOT_CERTAIN in reasons else Badge.ALMOST
    badge = {WORTH_IT: Badge.COLLECT, MARGINAL: almost, USELESS: Badge.DO_NOT_COLLECT}[best]
    good = [row for row in rows if row.ranking.verdict == WORTH_IT]
    text = f"no ε given is clearly better than assuming {rows[0].ranking.guess_without_data}."
    if good:
        these = ", ".join(f"{row.epsilon:g}" for row in good)
        where = "every ε given" if len(good) == len(budgets.epsilons) else f"ε = {these}"
        pairs = {row.ranking.best.pair for row in good}
        text = f"at {where}, by {pair_text(*pairs.pop()) if len(pairs) == 1 else 'the pair in its row'}."
    if len(budgets.metrics) > 1:
        text = f"for {metric}, {text}"
    changes = (
        () if good else (Adjustment("Planning finds the users or the ε that would be enough.", "ldp-advise plan"),)
    )
    return Verdict(best, text, badge, reasons, numbers=_numbers(rows), changes=changes)


def _hidden_sentences(rows: Sequence[Priced]) -> list[str]:
    """Return how many categories of the sample cannot be detected at each budget that is not useless."""
    hidden = [(len(row.ranking.undetectable), row) for row in rows if row.ranking.verdict != USELESS]
    if not any(count for count, _ in hidden):
        return []
    counts = ", ".join(f"{count:,} at ε = {row.epsilon:g}" for count, row in hidden)
    return [f"Of {rows[0].ranking.request.k:,} categories so many cannot be told from none: {counts}."]


def _each(rows: Sequence[Priced]) -> list[str]:
    """Return for each budget how several attributes are collected, and what fake users add."""
    each = [
        (row.epsilon, text)
        for row in rows
        for text in (*attribute_sentences(row.ranking.request.plan), *defence_sentences(row.ranking))
    ]
    return [f"At ε = {epsilon:g}: {text}" for epsilon, text in each]


def _domain(request: Request) -> str:
    return f"{domain_text(request.k, ordered=request.ordered)}, n = {request.n:,}"


def _notes(budgets: Budgets) -> list[str]:
    """Return the sources of the rows."""
    request, source = budgets.first.request, budgets.first.source
    how = "Predicted for" if source == "grid" else "Simulated from"
    seed = "" if source == "grid" else f", seed {request.seed}"
    lines = [f"{how} {request.sample}: {_domain(request)}{seed}; with one --eps the answer has all pairs."]
    short = [
        epsilon
        for epsilon, answer in zip(budgets.epsilons, budgets.answers, strict=True)
        if not answer.first.recommendations
    ]
    if short:
        lines.append(f"Constraints leave no pair at ε = {', '.join(f'{epsilon:g}' for epsilon in short)}.")
    assumed = dict.fromkeys(text for answer in budgets.answers for text in answer.first.request.assumptions)
    return [*lines, *assumed_sentences(assumed)]


def _data(budgets: Budgets, rows: Sequence[Priced]) -> dict[str, Json]:
    """Return the row of each ε, and its full answer."""
    request = request_data(budgets.first)  # protocols and budgets of reports are those of the first ε alone
    return {
        "request": {"eps": list(budgets.epsilons)}
        | {name: request[name] for name in ("k", "n", "metrics", "ordered", "sample")},
        "warnings": list(budgets.warnings),
        "budgets": [priced_data(row) for row in rows],
        "answers": [{**envelope(), **rank_data(answer.rankings)} for answer in budgets.answers],
    }


def priced_data(row: Priced) -> dict[str, Scalar]:
    """Return the figures of a row by their names."""
    return {name: figure(row) for name, figure in FIGURES.items()}
