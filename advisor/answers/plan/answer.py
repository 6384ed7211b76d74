"""The inverse question: how many users, or which ε, for an error; first predicted, then settled by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from advisor.answers.plan.detection import detection_rows
from advisor.answers.plan.prediction import first_answers
from advisor.answers.plan.result import Curve, PlanResult, PlanRow
from advisor.answers.plan.search import Search
from advisor.answers.rank.verdict import errors_without_data
from advisor.errors import InputError
from advisor.question.plan import PlanQuestion
from simulator import METRICS
from simulator.progress import Progress, part, silent


def make_plan(question: PlanQuestion, *, instant: bool = False, progress: Progress = silent) -> PlanResult:
    """Answer a question: predicted if `instant`, else settled by simulation.

    Raises InputError if no method fits a protocol, or the prediction cannot answer alone.
    """
    if question.detects:
        answers, curve = detection_rows(question)
        return PlanResult(question, answers[0].value, answers, None, None, curve, question.frequencies.warnings)
    predicted = first_answers(question)
    if instant:
        if not predicted.rows:
            raise InputError(f"this cannot be predicted: {predicted.why_not}; leave --instant out to simulate it")
        rows = predicted.ranked
        return _plan(question, predicted.first, rows, None, predicted.curve(rows[0].pair))
    named, whole = (part(progress, place, 2 if question.restricted else 1) for place in (0, 1))
    search = Search(question, named)
    rows = search.rows(predicted.rows)
    instead = None
    if rows[0].value is None and question.restricted:
        anything = question.unrestricted()
        best = Search(anything, whole).rows(first_answers(anything).rows, more=0)[0]
        instead = best if best.value is not None else None
    progress("settled", 1, 1)
    curve = search.curve(rows[0].pair, predicted.curve(rows[0].pair))
    return _plan(question, predicted.first, rows, instead, curve)


def _plan(
    question: PlanQuestion, first: float | None, rows: Sequence[PlanRow], instead: PlanRow | None, curve: Curve
) -> PlanResult:
    frequencies = question.frequencies
    truth = np.asarray(frequencies.weights, dtype=np.float64) / frequencies.weights.sum()
    measure = METRICS[question.metric].with_options(**question.metric_values.options(question.simulation.seed))
    without = float(errors_without_data(measure, [truth]).min())
    users = rows[0].value if question.n is None else question.n
    warnings = (*frequencies.warnings, *frequencies.too_few_for(users or 0))
    return PlanResult(question, first, tuple(rows), instead, without, curve, warnings)
