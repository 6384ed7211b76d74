"""A plan in words, as a table, and as JSON, CSV, Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import fields
from typing import Any

from advisor.formats import envelope
from advisor.plans.question import DETECTION, LEVEL, POWER, SIGNS, Plan, PlanRow, Question
from advisor.rank.advice import finite
from advisor.rank.words import number, times
from simulator import METRICS

TOP = 10


def figure(question: Question, value: float) -> str:
    """Return a value of the unknown: users, or ε."""
    if question.unknown == "epsilon":
        return f"{value:.3g}"
    digits = max(0, len(str(int(value))) - 4)
    return f"{round(value / 10**digits) * 10**digits:,}"


def _goal(question: Question) -> str:
    if question.metric == DETECTION:
        return f"telling a frequency of {question.target:g} from 0 with power {POWER:g} at level {LEVEL:g}"
    return f"{question.metric} error {number(question.target)} ({METRICS[question.metric].unit})"


def _setting(question: Question) -> str:
    known = f"ε = {question.epsilon:g}" if question.n is None else f"n = {question.n:,}"
    return f"{known} and k = {question.known.k:,}"


def _pair(row: PlanRow) -> str:
    return row.protocol if row.method is None else f"{row.protocol} with {row.method}"


def _needs(row: PlanRow, question: Question) -> str:
    sign = SIGNS[question.unknown]
    value = row.value or 0.0
    if row.met_at_once:
        return f"{sign} = {figure(question, value)}, the least that is looked at, is enough already"
    text = f"{sign} = {figure(question, value)}"
    if row.low is not None and row.high is not None and row.high > row.low:
        end = figure(question, row.high) if finite(row.high) is not None else "…"
        text += f" ({figure(question, row.low)}–{end})"
    return text


def answer_sentence(plan: Plan) -> str:
    """Return the answer in one sentence."""
    question, best = plan.question, plan.best
    goal, setting = _goal(question), _setting(question)
    if best.value is None:
        return _out_of_reach(plan, goal, setting)
    what = f"{_needs(best, question)} for {goal} at {setting}, by {_pair(best)}"
    if best.source != "simulation":
        how = "by formula" if best.source == "formula" else "looked up"
        return f"{what} ({how}, not simulated)."
    if question.metric == DETECTION:
        told = f"power {best.error:.3f} ({best.error_low:.3f}–{best.error_high:.3f})"
        if best.error_low is not None and best.error_low > POWER and not best.met_at_once:
            told += f", as it jumps past {POWER:g} here (a count is a whole number)"
    else:
        told = f"error {number(best.error or 0)} ({number(best.error_low or 0)}–{number(best.error_high or 0)})"
    return f"{what}. Simulated there: {told}, {best.repetitions} repetitions."


def _out_of_reach(plan: Plan, goal: str, setting: str) -> str:
    question, best = plan.question, plan.best
    sign, end = SIGNS[question.unknown], question.range[1]
    if best.source == "grid":
        # Whatever the model says beyond its data is no answer: the sentence ends where the grid does.
        from advisor.plans.grid import ENDS

        covered = ENDS[question.unknown][1]
        return (
            f"No {sign} up to {covered:,.4g}, where the grid ends, is enough for {goal} at {setting}: "
            f"{_pair(best)} comes nearest, with {number(best.error or 0)} (looked up, not simulated). Without "
            f"--instant, {sign} is looked for up to {end:,.4g}."
        )
    text = f"No {sign} up to {end:,.4g} is enough for {goal} at {setting}"
    if question.metric == DETECTION:
        return f"{text}: {_pair(best)} comes nearest, with power {best.error:.3g}."
    if plan.falls:
        text += f": the error of {_pair(best)} is still {number(best.error or 0)} at {sign} = {end:,.4g}, and falling"
    else:
        text += f": the error of {_pair(best)} stays at {number(best.error or 0)} (its floor)"
    if plan.instead is not None:
        return f"{text}. {_pair(plan.instead)} reaches it: {_needs(plan.instead, question)}."
    if question.restricted:
        return f"{text}, and no other pair reaches it either."
    return f"{text}, and no pair that was tried has a lower one."


def footer_sentences(plan: Plan) -> list[str]:
    """Return what stands below the table."""
    question, known = plan.question, plan.question.known
    lines = []
    if plan.error_without_data is not None and question.target >= plan.error_without_data:
        lines.append(
            f"An answer without any data ('every category is equally frequent', or 0 for all) has error "
            f"{number(plan.error_without_data)} already: this target asks for nothing."
        )
    simulated = [row for row in plan.rows if row.source == "simulation"]
    if plan.first is not None and simulated:
        how = "formula" if question.metric == DETECTION else "grid"
        lines.append(f"First answer, by the {how}: {SIGNS[question.unknown]} = {figure(question, plan.first)}.")
        if any(row.value < (plan.value or math.inf) for row in plan.rows if row.value and row.source == "grid"):
            lines.append(
                "Of the rows that are looked up with less, the likeliest raced in simulation, and did not win."
            )
    order = "ordered" if known.ordered else "unordered"
    if question.metric == DETECTION:
        lines.append(
            "The raw estimate of one value is tested against 1.645 times its standard deviation at frequency 0; "
            "what the other values are makes no difference."
        )
        if simulated:
            lines.append(
                f"Simulated with seed {question.seed}; bisection with common random numbers; intervals are 95 %. "
                "Naming --protocol simulates that one too."
            )
        return lines
    if simulated:
        lines.append(
            f"Simulated from {known.name}: k = {known.k:,} {order} categories, seed {question.seed}; bisection with "
            f"common random numbers; intervals are 95 % and hold what the repetitions leave open."
        )
    else:
        lines.append(f"Not simulated: {known.name}, k = {known.k:,} {order} categories.")
    if simulated and len(simulated) < len(plan.rows):
        lines.append("Rows that were looked up are predictions; naming --protocol and --method settles a pair.")
    if known.assumptions:
        lines.append("Assumed: " + "; ".join(known.assumptions) + ".")
    return lines


def _value(row: PlanRow, question: Question) -> str:
    if row.value is not None:
        return ("≤ " if row.met_at_once else "") + figure(question, row.value)
    if row.source != "grid":
        return "out of reach"
    from advisor.plans.grid import ENDS  # the end of the grid is not that of the range

    return f"> {figure(question, ENDS[question.unknown][1])}"


def table(plan: Plan, top: int | None = TOP) -> tuple[list[str], list[list[str]]]:
    """Return headers and rows of cells."""
    question = plan.question
    sign = SIGNS[question.unknown]
    detects = question.metric == DETECTION
    headers = ["protocol", *([] if detects else ["method"]), sign, "95 % interval", "to best"]
    headers += ["power there" if detects else "error there", "runs", "figures"]
    rows = []
    for row in plan.rows[:top]:
        interval = "–"
        if row.low is not None and row.high is not None and row.high > row.low and not row.met_at_once:
            interval = f"{figure(question, row.low)}–" + (figure(question, row.high) if finite(row.high) else "…")
        best = plan.best.value
        # Of two that are only bounded by the end of the range, or one, nobody knows the ratio.
        bounded = row is not plan.best and (row.met_at_once or plan.best.met_at_once)
        rows.append(
            [
                row.protocol,
                *([] if detects else [row.method or ""]),
                _value(row, question),
                interval,
                "–" if row.value is None or not best or bounded else times(row.value / best),
                "–" if row.error is None else number(row.error, 3),
                str(row.repetitions) if row.repetitions else "–",
                {"simulation": "simulated", "grid": "looked up", "formula": "formula"}[row.source],
            ]
        )
    return headers, rows


def to_text(plan: Plan, top: int | None = TOP) -> str:
    """Return the plan as plain text with aligned columns."""
    headers, rows = table(plan, top)
    widths = [max(len(row[place]) for row in [headers, *rows]) for place in range(len(headers))]
    left = 1 if plan.question.metric == DETECTION else 2
    lines = [
        "  ".join(
            cell.ljust(width) if place < left or place == len(headers) - 1 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [headers, *rows]
    ]
    return "\n".join([answer_sentence(plan), "", *lines, "", *footer_sentences(plan)]) + "\n"


def to_markdown(plan: Plan, top: int | None = TOP) -> str:
    """Return the plan in Markdown."""
    headers, rows = table(plan, top)
    lines = ["| " + " | ".join(cells) + " |" for cells in [headers, [":---"] * len(headers), *rows]]
    return f"**{answer_sentence(plan)}**\n\n" + "\n".join(lines) + "\n\n" + "  \n".join(footer_sentences(plan)) + "\n"


def to_csv(plan: Plan) -> str:
    """Return all rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["unknown", *(field.name for field in fields(PlanRow))])
    for row in plan.rows:
        cells = _plain(row).values()
        writer.writerow([plan.question.unknown, *("" if value is None else value for value in cells)])
    return text.getvalue()


def to_value(plan: Plan) -> str:
    """Return the number alone; ``unreachable`` where there is none."""
    value = plan.value
    if value is None:
        return "unreachable\n"
    return f"{value:.0f}\n" if plan.question.n is None else f"{value:.6g}\n"


def to_json(plan: Plan) -> str:
    """Return one JSON object."""
    question, known = plan.question, plan.question.known
    detects = question.metric == DETECTION
    answer = envelope() | {
        "request": {
            "eps": question.epsilon,
            "n": question.n,
            "k": known.k,
            "metric": None if detects else question.metric,
            "target": None if detects else question.target,
            "detect": question.target if detects else None,
            "ordered": known.ordered,
            "sample": known.name,
            "protocols": list(question.protocols),
            "methods": list(question.methods),
        },
        "unknown": {"n": "n", "epsilon": "eps"}[question.unknown],
        "summary": answer_sentence(plan),
        "value": plan.value,
        "first_answer": plan.first,
        "seed": question.seed,
        "assumptions": list(known.assumptions),
        "warnings": list(plan.warnings),
        "error_without_data": plan.error_without_data,
        "results": [_plain(row) for row in plan.rows],
        "instead": None if plan.instead is None else _plain(plan.instead),
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)


def _plain(row: PlanRow) -> dict[str, Any]:
    values = {field.name: getattr(row, field.name) for field in fields(PlanRow)}
    return {name: finite(value) if isinstance(value, float) else value for name, value in values.items()}
