"""The document of a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence

from advisor.answers.plan.prediction import ENDS
from advisor.answers.plan.result import PlanResult, PlanRow, value_text
from advisor.figures import lower_end, number, times
from advisor.names import pair_text, protocol_text
from advisor.question.plan import PlanQuestion
from advisor.show.model import (
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
from advisor.show.sentences import assumed_sentences, data_text, domain_text, unit_text
from simulator.detection import LEVEL, POWER

REACHED, MET_AT_ONCE, OUT_OF_REACH = "reached", "met_at_once", "out_of_reach"
NO_DATA_NEEDED = "no_data_needed"
SOURCES = {"simulation": "simulated", "grid": "predicted", "formula": "by formula"}


def plan_document(plan: PlanResult) -> Document:
    """Return the answer, the need of each pair, and the assumptions."""
    question = plan.question
    rows = [plain(row) for row in plan.rows]
    name = "users" if question.unknown == "n" else "privacy budget"
    return Document(
        title=f"{name[0].upper()}{name[1:]} needed {_goal(question)}",
        verdict=_verdict(plan),
        parts=(
            *sentences(plan.warnings, Role.WARNING),
            *sentences(_detail_sentences(plan)),
            plan_table(plan),
            *sentences(_note_sentences(plan), Role.NOTE),
        ),
        data=_data(plan, rows),
        records=Records.of([{"unknown": question.unknown, **row} for row in rows]),
        value=_value(plan),
        setting=f"{_setting(question)}, frequencies of {question.frequencies.name}",
    )


def _verdict(plan: PlanResult) -> Verdict:
    best, question = plan.best, plan.question
    without = None if question.detects else plan.error_without_data
    if without is not None and without <= question.target:
        text = (
            f"No data are needed for {question.metric} error {question.target:g}: an answer without any has "
            f"{number(without, 3)}. {answer_sentence(plan)}"
        )
        return Verdict(NO_DATA_NEEDED, text, Tone.DOUBTFUL, figures={"error_without_data": without})
    kind = OUT_OF_REACH if best.value is None else MET_AT_ONCE if best.met_at_once else REACHED
    tone = Tone.DOUBTFUL if best.value is None else Tone.PLAIN
    return Verdict(kind, answer_sentence(plan), tone, figures={plan.question.unknown: best.value})


def _goal(question: PlanQuestion) -> str:
    if question.detects:
        return f"to detect a frequency of {question.target:g} (power {POWER:g}, level {LEVEL:g} over all categories)"
    bins = question.frequencies.bins
    unit = unit_text(question.metric, bins) + data_text(question.metric, question.target, bins)
    return f"to reach {question.metric} error {question.target:g} ({unit})"


def _setting(question: PlanQuestion) -> str:
    term = f"ε = {question.epsilon:g}" if question.epsilon is not None else f"n = {question.n or 0:,}"
    if question.shuffled is not None:
        term = question.shuffled.text
    return f"{term} and k = {question.frequencies.k:,}"


def _pair(row: PlanRow) -> str:
    return protocol_text(row.protocol) if row.method is None else pair_text(row.protocol, row.method)


def _need(row: PlanRow, question: PlanQuestion) -> str:
    """Return the need of a pair, with its interval."""
    text = f"{question.sign} = {value_text(question, row.value or 0.0)}"
    interval = "" if row.met_at_once else _interval(row, question)
    users = " users" if question.unknown == "n" else ""
    return f"{text}{users} ({interval})" if interval else f"{text}{users}"


def _interval(row: PlanRow, question: PlanQuestion) -> str:
    if row.low is None or row.high is None or row.high <= row.low:
        return ""
    return f"{value_text(question, row.low)}–{value_text(question, row.high) if math.isfinite(row.high) else '…'}"


def answer_sentence(plan: PlanResult) -> str:
    """Return the answer in one sentence, or two if the target is out of reach."""
    question, best = plan.question, plan.best
    goal, setting = _goal(question), _setting(question)
    if best.value is None:
        return _out_of_reach(plan, goal, setting)
    if best.met_at_once:
        least = f"{question.sign} = {value_text(question, best.value)}"
        return f"{least}, the least that is looked at, is already enough {goal} at {setting}: use {_pair(best)}."
    return f"You need {_need(best, question)} {goal} at {setting}: use {_pair(best)}."


def _out_of_reach(plan: PlanResult, goal: str, setting: str) -> str:
    question, best = plan.question, plan.best
    sign, end = question.sign, question.range[1]
    if best.source == "grid":
        # Predictions beyond the data of the model are no answer: the sentence ends at the limit of the data.
        covered = ENDS[question.unknown][1]
        return (
            f"No {sign} up to {covered:,.4g}, where the predictions end, is enough {goal} at {setting}. "
            f"{_pair(best)} comes nearest, with {number(best.error or 0)}. Without --instant, {sign} is looked for up "
            f"to {end:,.4g}."
        )
    text = f"No {sign} up to {end:,.4g} is enough {goal} at {setting}"
    if question.detects:
        return f"{text}: {_pair(best)} comes nearest, with power {best.error:.3g}."
    if plan.falls:
        text += f": the error of {_pair(best)} is still {number(best.error or 0)} at {sign} = {end:,.4g}, and falling"
    else:
        text += f": the error of {_pair(best)} stays at {number(best.error or 0)} (its floor)"
    if plan.instead is not None:
        return f"{text}. {_pair(plan.instead)} reaches it: {_need(plan.instead, question)}."
    if question.restricted:
        return f"{text}, and no other pair reaches it either."
    return f"{text}, and no pair that was tried has a lower one."


def _detail_sentences(plan: PlanResult) -> list[str]:
    """Return the certainty of the answer, and whether it is useful."""
    question, best = plan.question, plan.best
    lines = []
    if question.shuffled is not None and best.value is not None:
        local = question.budget(best.protocol, best.value)
        lines.append(
            f"Each report then has its own budget, ε₀ = {local:.4g}, which so many users need: with fewer honest ones "
            "the promise is broken at this ε₀."
        )
    if best.source != "simulation":
        by_formula = best.source == "formula"
        how = "follows from a formula" if by_formula else "is predicted by a model fitted to simulated populations"
        lines.append(f"This {how}, and is not simulated.")
    elif best.value is not None:
        lines.append(_simulated_sentence(best, question))
    if plan.error_without_data is not None and question.target >= plan.error_without_data:
        lines.append(
            "This target asks for nothing: an answer without any data ('every category is equally frequent', or 0 for "
            f"all) already has error {number(plan.error_without_data)}."
        )
    return lines


def _simulated_sentence(best: PlanRow, question: PlanQuestion) -> str:
    """Return a sentence about the simulation at the answer."""
    error, low, high = best.error or 0.0, best.error_low or 0.0, best.error_high or 0.0
    if not question.detects:
        interval = f"{number(lower_end(low, high))}–{number(high)}"
        return f"Simulated there: error {number(error)} ({interval}), {best.repetitions} repetitions."
    jump = f", as it jumps past {POWER:g} here (a count is a whole number)"
    why = jump if low > POWER and not best.met_at_once else ""
    return f"Simulated there: power {error:.3f} ({low:.3f}–{high:.3f}){why}, {best.repetitions} repetitions."


def _note_sentences(plan: PlanResult) -> list[str]:
    """Return the notes below the table: how the needs were determined, and assumptions."""
    question, frequencies = plan.question, plan.question.frequencies
    lines = []
    simulated = [row for row in plan.rows if row.source == "simulation"]
    if plan.first is not None and simulated:
        how = "by formula" if question.detects else "as predicted"
        lines.append(f"First answer, {how}: {question.sign} = {value_text(question, plan.first)}.")
        if any(row.value < (plan.value or math.inf) for row in plan.rows if row.value and row.source == "grid"):
            lines.append(
                "The likeliest of the rows that are predicted to need less were simulated against the answer too, and "
                "did not win."
            )
    if question.detects:
        lines.append(
            f"A raw estimate counts as a detection above the threshold that one in {1 / LEVEL:.0f} collections passes "
            f"with any of {question.frequencies.k:,} categories that nobody holds (one-sided, Bonferroni)."
        )
        if simulated:
            lines.append(
                f"Simulated with seed {question.seed}: bisection with common random numbers; intervals are 95 %. "
                "--protocol simulates other protocols too."
            )
        return lines
    domain = domain_text(frequencies.k, ordered=frequencies.ordered)
    if simulated:
        lines.append(
            f"Simulated from {frequencies.name}: {domain}, seed {question.seed}; bisection with common random numbers; "
            "intervals are 95 % and cover what the repetitions leave open."
        )
    else:
        lines.append(f"Predicted for {frequencies.name}: {domain}; intervals are 95 % of the prediction.")
    if simulated and len(simulated) < len(plan.rows):
        lines.append("--protocol with --method simulates a pair whose row is only predicted.")
    return [*lines, *assumed_sentences(frequencies.assumptions)]


def plan_table(plan: PlanResult) -> Table:
    """Return a table with the need of each pair."""
    question = plan.question
    what = "users" if question.unknown == "n" else "budget of one report"
    there = "power there" if question.detects else "error there"
    columns = (
        Column("protocol", text=True),
        *(() if question.detects else (Column("method", text=True),)),
        Column(question.sign, f"{what} needed"),
        Column("95 % interval", drop=2),
        Column("to best", f"{what} over those of the first row", drop=3),
        Column(there, f"{there.split()[0]} with the {what} of the row, or at the end of the range", drop=1),
        Column("runs", "simulated collections", drop=4),
        Column("figures", "where they come from", text=True, shared="All figures are {}."),
    )
    rows = tuple(_row(row, plan) for row in plan.rows)
    return Table(columns, rows, noun="protocols" if question.detects else "pairs")


def _row(row: PlanRow, plan: PlanResult) -> Row:
    question, best = plan.question, plan.best
    # If the end of the range bounds either need, or both, their ratio is unknown.
    bounded = row is not best and (row.met_at_once or best.met_at_once)
    ratio = None if row.value is None or not best.value or bounded else row.value / best.value
    cells: tuple[Cell, ...] = (
        row.protocol,
        *(() if question.detects else (row.method or "–",)),
        (_value_cell(row, question), row.value),
        ("–" if row.met_at_once else _interval(row, question) or "–", row.low),
        (times(ratio), ratio),
        figure_cell(row.error, lambda error: number(error, 3)),
        (f"{row.repetitions:,}" if row.repetitions else "–", row.repetitions),
        SOURCES[row.source],
    )
    return Row.of(cells, Tone.GOOD if row is best else Tone.PLAIN if row.source == "simulation" else Tone.FAINT)


def _value_cell(row: PlanRow, question: PlanQuestion) -> str:
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
    question, frequencies = plan.question, plan.question.frequencies
    return {
        "request": {
            "eps": question.epsilon,
            "central": _central_data(plan),
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
        "summary": " ".join([answer_sentence(plan), *_detail_sentences(plan)[:1]]),
        "value": plan.value,
        "first_answer": plan.first,
        "seed": question.seed,
        "assumptions": list(frequencies.assumptions),
        "warnings": list(plan.warnings),
        "error_without_data": plan.error_without_data,
        "results": rows,
        "instead": None if plan.instead is None else plain(plan.instead),
    }


def _central_data(plan: PlanResult) -> Json:
    """Return the central guarantee, and the budget of a report of the first pair at the answer."""
    shuffled, best = plan.question.shuffled, plan.best
    if shuffled is None:
        return None
    local = None if best.value is None else plan.question.budget(best.protocol, best.value)
    return {"eps": shuffled.epsilon, "delta": shuffled.delta, "local": local}
