"""``python studies/judge_predictions.py [FILES]``: what it costs to choose by a look-up, beside other ways to choose.

On shapes that had no part in the knowledge, and on histograms in files: regret over the best choice, for the model and
for four other choosers, in each metric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Annotated

import typer
from common import Jobs, footer, head, line, run, study
from judging import MEASURED, MODEL, JudgedSetting, Judging, Score, evaluate, holdout, settings, stored, without_data

COLUMNS = (
    "regret (95 %, worst)",
    "closed gap",
    "worse than single best",
    "best, in best three",
    "predicted error off by",
)

app = study()


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share in percent; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def table(scores: Sequence[Score]) -> list[str]:
    """Return a row for the model in each task, with the mean regrets of the other choosers beside it."""
    regrets = {(score.metric, score.task, score.chooser): score.regret for score in scores}
    others = tuple(dict.fromkeys(score.chooser for score in scores if score.chooser != MODEL))
    lines = head("metric", "choice", *(f"{name}:" for name in (*COLUMNS, *others))).splitlines()
    for score in scores:
        if score.chooser == MODEL:
            cells = (
                f"{percent(score.regret, 1)} ({percent(score.regret_95)}, {percent(score.regret_worst)})",
                "" if math.isnan(score.closed_gap) else f"{score.closed_gap:.2f}",
                percent(score.worse_than_single, 1),
                f"{percent(score.top_1)}, {percent(score.top_3)}",
                percent(score.prediction_error),
                *(percent(regrets.get((score.metric, score.task, other)), 1) for other in others),
            )
            lines.append(line(score.metric, score.task, *cells))
    return lines


def blind_table(judged: Sequence[JudgedSetting]) -> list[str]:
    """Return how far the figures without data are off, and how often their intervals hold, by metric and order."""
    lines = head("metric", "domain", "settings:", "error without data off by:", "its interval holds:").splitlines()
    for metric, ordered in product(MEASURED, (False, True)):
        settings = [one for one in judged if metric in one.errors and one.ordered == ordered]
        if settings:
            off, held = without_data(settings, metric)
            lines.append(
                line(metric, "ordered" if ordered else "unordered", str(len(settings)), percent(off), percent(held))
            )
    return lines


@app.command()
def main(
    files: Annotated[list[str] | None, typer.Argument(help="histograms that are judged too")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=10, help="simulated collections for each setting")] = 100,
    jobs: Jobs = 1,
) -> None:
    """Print a table of the shapes, and another one of the files."""
    for histograms in filter(None, (holdout(), tuple(map(stored, files or ())))):
        judged = settings(histograms, Judging(repetitions=repetitions, jobs=jobs))
        typer.echo("\n".join([f"{len(judged)} settings", "", *table(evaluate(judged)), "", *blind_table(judged), ""]))
    typer.echo(footer(0))


if __name__ == "__main__":
    run(app)
