"""The document of several budgets: a row for each, with its privacy cost and its accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.answers.budgets import Budgets, Priced
from advisor.answers.rank.verdict import MARGINAL, NOT_CERTAIN, NOTHING_LEFT, USELESS, WORTH_IT, against_nothing
from advisor.figures import number, percent, points, rounded, users
from advisor.names import pair_text
from advisor.question.request import Request, nothing_left_sentence
from advisor.show.data import envelope
from advisor.show.model import (
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
from advisor.show.rank.data import rank_data
from advisor.show.rank.table import ATTACK, attacker_text, error_cell
from advisor.show.sentences import assumed_sentences, domain_text, total_text, unit_text

COLUMNS = (
    "eps",
    "metric",
    "protocol",
    "method",
    "error",
    "error_low",
    "error_high",
    "error_without_data",
    "verdict",
    "users_off",
    "detectable_users",
    "report_bits",
    "attack_success",
    "k",
    "n",
)
NAMED = 4  # maximum of pairs in a sentence
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
        parts += [price_table(rows)] if rows else []
    parts += sentences(_notes(budgets), Role.NOTE)
    budget_list = ", ".join(f"{epsilon:g}" for epsilon in budgets.epsilons)
    several = len(budgets.metrics) > 1
    return Document(
        title=f"What ε = {budget_list} buys",
        verdict=first,
        parts=tuple(parts),
        data=_data(budgets, all_rows),
        records=Records.of([priced_data(row) for row in all_rows], COLUMNS),
        value="\n".join(
            f"{row.epsilon:.12g} {f'{row.ranking.metric} ' if several else ''}{' '.join(row.ranking.best.pair)}"
            for row in all_rows
        ),
        setting=f"ε = {budget_list}, {_domain(request)}",
    )


def price_table(rows: Sequence[Priced]) -> Table:
    """Return a table with a row for each ε: the pair to use, its error, and its privacy cost."""
    metric, request = rows[0].ranking.metric, rows[0].ranking.request
    columns = (
        Column("ε", "privacy budget of one report"),
        Column("protocol", text=True),
        Column("method", text=True, drop=2),
        Column(f"{metric} error", f"{unit_text(metric, request.bins)}, with its 95 % interval"),
        Column("users off", f"users of {request.n:,} by which a category is off, on average"),
        Column("detects", "users in the smallest category that can be detected", drop=1),
        Column("bits", "size of one report", drop=3),
        Column("attack", f"{ATTACK}, {attacker_text(request)}"),
        Column(
            "than no data",
            "what collecting adds to an answer without any data",
            text=True,
            drop=4,
            shared="Every row is {} than an answer without any data.",
        ),
    )
    return Table(columns, tuple(map(_row, rows)), noun="budgets", cut=False)


def _row(row: Priced) -> Row:
    best = row.ranking.best
    cells: tuple[Cell, ...] = (
        (f"{row.epsilon:g}", row.epsilon),
        best.protocol,
        best.method,
        error_cell(best, row.ranking),
        figure_cell(row.off, lambda off: users(rounded(off, 2))),
        figure_cell(row.detectable, users),
        (f"{best.report_bits:,}", best.report_bits),
        (percent(row.attack), row.attack),
        against_nothing(row.ranking.reasons),
    )
    return Row.of(cells, TONES[row.verdict])


def _numbers(rows: Sequence[Priced]) -> str:
    """Return the error in users at the first and the last budget."""
    first, last, request = rows[0], rows[-1], rows[0].ranking.request
    if first.off is None or last.off is None:
        return ""
    off = _at_ends(rows, [f"{users(rounded(off, 2))} ({points(off / request.n)})" for off in (first.off, last.off)])
    return f"Expected: off by {off}, of {request.n:,} users a category."


def _at_ends(rows: Sequence[Priced], figures: Sequence[str]) -> str:
    """Return the figures at the first and last budget, or the one figure of a single budget."""
    ends = dict(zip((f"ε = {row.epsilon:g}" for row in (rows[0], rows[-1])), figures, strict=True))
    return ", and ".join(f"{figure} at {where}" for where, figure in ends.items())


def _verdict(budgets: Budgets, metric: str) -> Verdict:
    """Return the verdict of the best budget."""
    rows, request = budgets.priced(metric), budgets.first.request
    if not rows:
        return Verdict(NOTHING_LEFT, nothing_left_sentence(request.removals), Badge.NOTHING_LEFT)
    kinds = [row.verdict for row in rows]
    best = next(kind for kind in (WORTH_IT, MARGINAL, USELESS) if kind in kinds)
    reasons = rows[kinds.index(best)].ranking.reasons
    text = verdict_sentence(rows, len(budgets.epsilons)) + total_text(request.plan, each=True)
    badge = {WORTH_IT: Badge.COLLECT, MARGINAL: Badge.ALMOST, USELESS: Badge.DO_NOT_COLLECT}[best]
    return Verdict(best, text, badge, reasons, numbers=_numbers(rows))


def verdict_sentence(rows: Sequence[Priced], budgets: int) -> str:
    """Return at which of so many budgets a collection is better than no data, and the pair to use there."""
    metric = rows[0].ranking.metric
    good, useless = ([row for row in rows if row.verdict == kind] for kind in (WORTH_IT, USELESS))
    some = [row for row in rows if row.verdict == MARGINAL]
    unsure = [row for row in some if NOT_CERTAIN in row.ranking.reasons]
    small = [row for row in some if row not in unsure]
    rest = [
        *([f"At ε = {_listed(small)} the answer is better than no data, but not by half."] if small else []),
        *([f"At ε = {_listed(unsure)} it is less than half of that, but not certain to be lower."] if unsure else []),
        *([f"At ε = {_listed(useless)} the answer would say no more than no data."] if useless else []),
    ]
    if good:
        where = "at every ε given" if len(good) == budgets else f"at ε = {_listed(good)}"
        return " ".join([f"{where} ({metric} error), with {_pairs(good)}.", *rest])
    without, guess = rows[0].ranking.error_without_data, rows[0].ranking.guess_without_data
    figure = "" if without is None else f", which has {metric} error {number(without, 3)} without any data"
    if some:
        return " ".join([f"no ε given is clearly better than assuming {guess}{figure}.", *rest])
    return (
        f"at no ε given is an answer clearly better than assuming {guess}{figure}. ldp-advise plan says how many users "
        "or which ε it takes."
    )


def _pairs(rows: Sequence[Priced]) -> str:
    """Return the pair to use, or several pairs with their ε."""
    where: dict[str, list[Priced]] = {}
    for row in rows:
        where.setdefault(pair_text(*row.ranking.best.pair), []).append(row)
    if len(where) == 1:
        return next(iter(where))
    if len(where) > NAMED:
        return "the pair that the table names for your ε"
    return "; ".join(f"{pair} at ε = {_listed(budgets_of_pair)}" for pair, budgets_of_pair in where.items())


def _listed(rows: Sequence[Priced]) -> str:
    return ", ".join(f"{row.epsilon:g}" for row in rows)


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
    request, main = budgets.first.request, budgets.priced(budgets.metrics[0])
    return {
        "request": {
            "eps": list(budgets.epsilons),
            "k": request.k,
            "n": request.n,
            "metrics": list(budgets.metrics),
            "ordered": request.ordered,
            "sample": request.sample,
        },
        "summary": verdict_sentence(main, len(budgets.epsilons)) if main else nothing_left_sentence(request.removals),
        "warnings": list(budgets.warnings),
        "budgets": [priced_data(row) for row in rows],
        "answers": [{**envelope(), **rank_data(answer.rankings)} for answer in budgets.answers],
    }


def priced_data(row: Priced) -> dict[str, Scalar]:
    """Return the figures of a row by their names in `COLUMNS`."""
    ranking, best = row.ranking, row.ranking.best
    figures = (
        row.epsilon,
        ranking.metric,
        *best.pair,
        best.error,
        best.error_low,
        best.error_high,
        ranking.error_without_data,
        row.verdict,
        row.off,
        row.detectable,
        best.report_bits,
        row.attack,
        ranking.request.k,
        ranking.request.n,
    )
    return dict(zip(COLUMNS, figures, strict=True))
