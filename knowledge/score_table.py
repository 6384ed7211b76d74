"""Scores of the knowledge as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable

from knowledge.scores import GRID, SINGLE, Score


def to_markdown(scores: Iterable[Score]) -> str:
    """Return scores as a Markdown table: a line for the grid in each task, the mean regrets of the others beside it."""
    by = {(score.metric, score.task, score.chooser): score for score in scores}
    others = list(dict.fromkeys(chooser for *_, chooser in by if chooser != GRID))
    lines = [
        "| metric | choice | regret (95 %, worst) | closed gap | worse than single best | best, in best three "
        "| predicted error off by | " + " | ".join(others) + " |",
        "|---|---|" + "--:|" * (5 + len(others)),
    ]
    for metric, task, chooser in by:
        if chooser != GRID:
            continue
        score = by[metric, task, GRID]
        means = [
            _percent(by[metric, task, other].regret, 1) if (metric, task, other) in by else "–" for other in others
        ]
        lines.append(
            f"| {metric} | {task} | {_percent(score.regret, 1)} ({_percent(score.regret_95)}, "
            f"{_percent(score.regret_worst)}) | {_gap(score)} | {_percent(score.worse_than_single, 1)} | "
            f"{_percent(score.top_1)}, {_percent(score.top_3)} | {_percent(score.prediction_error)} | "
            + " | ".join(means)
            + " |"
        )
    return "\n".join(lines) + "\n"


def to_full_markdown(scores: Iterable[Score]) -> str:
    """Return scores as a Markdown table with a line for each chooser."""
    lines = [
        "| metric | choice | by | settings | regret: mean | 95 % | worst | closed gap | worse than single best "
        "| top 1 | top 3 | predicted error off by |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for score in scores:
        by = f"{SINGLE} ({score.single_best})" if score.chooser == SINGLE else score.chooser
        miss = "" if math.isnan(score.prediction_error) else _percent(score.prediction_error)
        lines.append(
            f"| {score.metric} | {score.task} | {by} | {score.settings} | {_percent(score.regret, 1)} | "
            f"{_percent(score.regret_95)} | {_percent(score.regret_worst)} | {_gap(score)} | "
            f"{_percent(score.worse_than_single, 1)} | {_percent(score.top_1)} | {_percent(score.top_3)} | {miss} |"
        )
    return "\n".join(lines) + "\n"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _gap(score: Score) -> str:
    return "" if math.isnan(score.closed_gap) else f"{score.closed_gap:.2f}"
