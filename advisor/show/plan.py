"""The document of a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from advisor.answers.plan.prediction import ENDS
from advisor.answers.plan.result import PlanResult, PlanRow, value_text
from advisor.figures import error_text, number, times
from advisor.members.names import pair_text, protocol_text
from advisor.question.plan import PlanQuestion
from advisor.show.model import (
    Adjustment,
    Badge,
    Cell,
    Column,
    Document,
    Json,
    Records,
    Role,
    Row,
    Table,
    Tone,
    Verdict,
    figure_cell,
    plain,
    sentences,
)
from advisor.show.pictures import picture_section
from advisor.show.pictures.plan import plan_figure
from advisor.show.sentences import MEAN_THERE, assumed_sentences, domain_text, hidden_text, term_text, unit_after
from simulator.detection import LEVEL, POWER, detectable

REACHED, MET_AT_ONCE, OUT_OF_REACH = "reached", "met_at_once", "out_of_reach"
NO_DATA_NEEDED = "no_data_needed"
OF_PAIRS = ("method", "95 % interval", "runs", "figures")  # columns that a detection has not: it is by formula
SOURCES = {"simulation": "simulated", "grid": "predicted", "formula": "by formula"}


def plan_document(plan: PlanResult) -> Document:
    """Return the answer, the need of each pair, and the assumptions."""
    question = plan.question
    rows = [plain(row) for row in plan.rows]
    name = "users" if question.unknown == "n" else "privacy budget"
    title, draw = f"{'Power' if question.detects else 'Error'} against {question.sign}", partial(plan_figure, plan)
    label = f"{title.lower()}, of the best pair"
    return Document(
        title=f"{name[0].upper()}{name[1:]} needed: {_goal(question)}",
        verdict=_verdict(plan),
        parts=(
            *sentences(plan.warnings, Role.WARNING),
            *sentences(_hidden_sentences(plan), Role.ANSWER, Tone.DOUBTFUL),
            *sentences(_detail_sentences(plan)),
            plan_table(plan),
            *sentences(_note_sentences(plan), Role.NOTE),
            *sentences(_method_sentences(plan), Role.LEGEND),
        ),
        data=_data(plan, rows),
        records=Records.of([{"unknown": question.unknown, **row} for row in rows]),
        value=_value(plan),
        setting=f"{_setting(question)}, frequencies of {question.frequencies.name}",
        sections=lambda: (picture_section(title, label, draw, "plan"),) if plan.curve else (),
        picture=draw if plan.curve else None,
    )


def _verdict(plan: PlanResult) -> Verdict:
    best, question = plan.best, plan.question
    if plan.needs_no_data:
        text = f"no data are needed for {_goal(question)}."
        given = {"error_without_data": plan.error_without_data}
        return Verdict(NO_DATA_NEEDED, text, Badge.DO_NOT_COLLECT, figures=given, numbers=_numbers(plan))
    kind = OUT_OF_REACH if best.value is None else MET_AT_ONCE if best.met_at_once else REACHED
    badge = Badge.COLLECT if best.value is not None else Badge.ALMOST if plan.instead else Badge.DO_NOT_COLLECT
    return Verdict(
        kind,
        answer_sentence(plan),
        badge,
        figures={plan.question.unknown: best.value},
        numbers=_numbers(plan),
        changes=_changes(plan),
    )


def _numbers(plan: PlanResult) -> str:
    """Return what was asked for, what is expected at the answer, and what no data would give."""
    question, best, without = plan.question, plan.best, plan.error_without_data
    expected = no_data = ""
    if best.value is not None and best.source == "simulation":
        figure = error_text(best.error or 0.0, best.error_low or 0.0, best.error_high or 0.0)
        expected = f"; expected there {figure}"
    if without is not None:
        no_data = f"; without data {number(without, 3)}"
        no_data += MEAN_THERE if plan.needs_no_data and question.metric == "mean" else ""
    return f"Asked: {_goal(question)} at {_setting(question)}{expected}{no_data}."


def _goal(question: PlanQuestion) -> str:
    target = f"{Decimal(f'{question.target:g}'):f}"  # never in scientific notation
    if question.detects:
        return f"detect a frequency of {target} (power {POWER:g}, level {LEVEL:g} over all categories)"
    unit = unit_after(question.metric, question.target, question.frequencies.bins)
    return f"{question.metric} error {target}{unit}"


def _setting(question: PlanQuestion) -> str:
    return f"{term_text(question)} and k = {question.frequencies.k:,}"


def _pair(row: PlanRow) -> str:
    return protocol_text(row.protocol) if row.method is None else pair_text(row.protocol, row.method)


def _need(row: PlanRow, question: PlanQuestion) -> str:
    """Return the need of a pair, with its interval."""
    text = f"{question.sign} = {value_text(question, row.value or 0.0)}"
    text += " users" if question.unknown == "n" else ""
    interval = _interval(row, question)
    return f"{text} ({interval})" if interval else text


def _interval(row: PlanRow, question: PlanQuestion) -> str:
    if row.met_at_once or row.low is None or row.high is None or row.high <= row.low:
        return ""
    return f"{value_text(question, row.low)}–{value_text(question, row.high) if math.isfinite(row.high) else '…'}"


def answer_sentence(plan: PlanResult) -> str:
    """Return the answer in a sentence, to stand behind the badge."""
    question, best = plan.question, plan.best
    if best.value is None:
        return _out_of_reach(plan)
    if best.met_at_once:
        least = f"{question.sign} = {value_text(question, best.value)}"
        return f"{least}, the least that is looked at, is already enough, by {_pair(best)}."
    return f"with {_need(best, question)}, by {_pair(best)}."


def _out_of_reach(plan: PlanResult) -> str:
    question, best = plan.question, plan.best
    # Predictions beyond the data of the model are no answer: they end at the limit of the data.
    by_model = best.source == "grid"
    end = value_text(question, ENDS[question.unknown][1] if by_model else question.range[1])
    where = f"{end}, where predictions end," if by_model else end
    figure = f"{'power ' if question.detects else ''}{number(best.error or 0.0, 3)}"
    others = "" if plan.instead is None else "; another pair reaches it"
    return f"no {question.sign} up to {where} is enough: {_pair(best)} comes nearest, with {figure}{others}."


def _changes(plan: PlanResult) -> tuple[Adjustment, ...]:
    """Return what would reach a target that is out of reach."""
    question, best = plan.question, plan.best
    if best.value is not None or question.detects:
        return ()
    if best.source == "grid":
        end = value_text(question, question.range[1])
        return (Adjustment(f"A simulation looks for {question.sign} up to {end}.", "without --instant"),)
    if plan.instead is not None:
        options = f"--protocol {plan.instead.protocol} --method {plan.instead.method}"
        return (Adjustment(f"{_pair(plan.instead)} reaches it with {_need(plan.instead, question)}.", options),)
    return ()


def _hidden_sentences(plan: PlanResult) -> list[str]:
    """Return how many categories of the sample cannot be detected at the answer."""
    question, best, frequencies = plan.question, plan.best, plan.question.frequencies
    if best.value is None or question.detects or frequencies.ordered or not frequencies.labels:
        return []
    n = question.users(best.value)
    least = detectable(question.oracle(best.protocol, best.value), n) or 0.0
    hidden = int((frequencies.weights < least * frequencies.weights.sum()).sum())
    return [hidden_text(hidden, frequencies.k, least * n)] if hidden else []


def _detail_sentences(plan: PlanResult) -> list[str]:
    """Return the budget of a report with a shuffler."""
    local = _local_budget(plan)
    if local is None:
        return []
    return [
        f"Each report then has its own budget, ε₀ = {local:.4g}, which so many users need: with fewer honest ones the "
        "promise is broken at this ε₀."
    ]


def _local_budget(plan: PlanResult) -> float | None:
    """Return the budget of a report of the best pair at the answer; None without a shuffler, or without an answer."""
    if plan.question.shuffled is None or plan.best.value is None:
        return None
    return plan.question.budget(plan.best.protocol, plan.best.value)


def _note_sentences(plan: PlanResult) -> list[str]:
    """Return how the needs were determined, and assumptions."""
    question, frequencies = plan.question, plan.question.frequencies
    domain, seed = domain_text(frequencies.k, ordered=frequencies.ordered), question.simulation.seed
    if plan.best.source == "simulation":
        how = f"Simulated {plan.best.repetitions} times at the answer: {frequencies.name}, {domain}, seed {seed}."
    elif question.detects:
        how = f"By formula, not simulated: {domain}."
    else:
        how = f"Predicted for {frequencies.name}, not simulated: {domain}."
    needs = [row.value for row in plan.rows if row.value is not None and row.source == plan.best.source]
    tied = plan.best.value is not None and min(needs) < plan.best.value
    what = "is the decision tree's choice or has" if plan.best.source == "grid" else "has"
    why = f"Of those tied with the lowest error there, the first row {what} the cheapest report."
    assumed = [] if question.detects else assumed_sentences(frequencies.assumptions)
    return [how, *([why] if tied else []), *assumed]


def _method_sentences(plan: PlanResult) -> list[str]:
    """Return how the rows were made, and what a detection is."""
    question, simulated = plan.question, [row for row in plan.rows if row.source == "simulation"]
    lines = []
    if question.detects:
        lines.append(
            f"A raw estimate counts as a detection above the threshold that one in {1 / LEVEL:.0f} collections passes "
            f"with any of {question.frequencies.k:,} categories that nobody holds (one-sided, Bonferroni)."
        )
    if simulated and len(simulated) < len(plan.rows):
        lines.append("--protocol, with --method, simulates what is only predicted.")
    return lines


def plan_table(plan: PlanResult) -> Table:
    """Return a table with the need of each pair."""
    question = plan.question
    what = "users" if question.unknown == "n" else "budget of one report"
    there = "power there" if question.detects else "error there"
    columns = (
        Column("protocol", text=True),
        Column("method", text=True),
        Column(question.sign, f"{what} needed"),
        Column("95 % interval", drop=2),
        Column("ratio", f"{what} over those of the first row", drop=3),
        Column(there, f"{there.split()[0]} with the {what} of the row, or at the end of the range", drop=1),
        Column("runs", "simulated collections", drop=4, verbose=True),
        Column("figures", "where they come from", text=True, shared="All figures are {}."),
    )
    kept = [at for at, column in enumerate(columns) if not (question.detects and column.header in OF_PAIRS)]
    rows = tuple(_row(row, plan, kept) for row in plan.rows)
    noun = "protocols" if question.detects else "pairs"
    return Table(tuple(columns[at] for at in kept), rows, noun=noun, brief=True)


def _row(row: PlanRow, plan: PlanResult, kept: Sequence[int]) -> Row:
    question, best = plan.question, plan.best
    # If the end of the range bounds either need, or both, their ratio is unknown.
    bounded = row is not best and (row.met_at_once or best.met_at_once)
    ratio = None if row.value is None or not best.value or bounded else row.value / best.value
    cells: tuple[Cell, ...] = (
        row.protocol,
        row.method or "–",
        (_value_text(row, question), row.value),
        (_interval(row, question) or "–", row.low),
        (times(ratio), ratio),
        figure_cell(row.error, lambda error: number(error, 3)),
        (f"{row.repetitions:,}" if row.repetitions else "–", row.repetitions),
        SOURCES[row.source],
    )
    tone = Tone.GOOD if row is best else Tone.FAINT if row.source == "grid" else Tone.PLAIN
    return Row.of([cells[at] for at in kept], tone)


def _value_text(row: PlanRow, question: PlanQuestion) -> str:
    if row.value is not None:
        return ("≤ " if row.met_at_once else "") + value_text(question, row.value)
    if row.source != "grid":
        return "out of reach"
    return f"> {value_text(question, ENDS[question.unknown][1])}"  # the predictions end before the range


def _value(plan: PlanResult) -> str:
    """Return only the number; ``unreachable`` if there is none."""
    if plan.value is None:
        return "unreachable"
    return f"{plan.value:.0f}" if plan.question.n is None else f"{plan.value:.6g}"


def _data(plan: PlanResult, rows: Sequence[Json]) -> dict[str, Json]:
    question, frequencies, shuffled = plan.question, plan.question.frequencies, plan.question.shuffled
    central = None
    if shuffled is not None:
        central = {"eps": shuffled.epsilon, "delta": shuffled.delta, "local": _local_budget(plan)}
    return {
        "request": {
            "eps": question.epsilon,
            "central": central,
            "n": question.n,
            "k": frequencies.k,
            "metric": None if question.detects else question.metric,
            "target": None if question.detects else question.target,
            "detect": question.target if question.detects else None,
            "ordered": frequencies.ordered,
            "sample": frequencies.name,
            "bins": None if frequencies.bins is None else frequencies.bins.data,
            "protocols": list(question.protocols),
            "methods": list(question.methods),
        },
        "unknown": {"n": "n", "epsilon": "eps"}[question.unknown],
        "summary": _verdict(plan).summary,
        "value": plan.value,
        "first_answer": plan.first,
        "seed": question.simulation.seed,
        "assumptions": list(frequencies.assumptions),
        "warnings": list(plan.warnings),
        "error_without_data": plan.error_without_data,
        "results": rows,
        "instead": None if plan.instead is None else plain(plan.instead),
    }
