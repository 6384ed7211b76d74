"""``python studies/judge_predictions.py [FILES]``: what it costs to choose by a look-up, beside other ways to choose.

On shapes that had no part in the knowledge, and on histograms in files: regret over the best choice, for the model, for
look-ups without data, for the tree alone and for two other choosers, in each metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import judging
import typer
from common import Jobs, Repetitions, footer, head, line, run
from judging import BLIND, DEFAULT, MEASURED, MODEL, SINGLE, TREE, JudgedSetting, Judging

COLUMNS = (
    "metric",
    "regret (95 %, worst):",
    "closed gap:",
    "figure off by, interval holds:",
    "without data:",
    "its figure off by, interval holds:",
    "tree alone:",
    f"{SINGLE}:",
    f"{DEFAULT}:",
)


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{digits}f} %"


def table(settings: Sequence[JudgedSetting]) -> list[str]:
    """Return a row for each metric."""
    lines = head(*COLUMNS).splitlines()
    for metric in MEASURED:
        asked = [setting for setting in settings if metric in setting.errors]
        if asked:
            scores = judging.evaluate(asked, metric)
            own, others = scores[MODEL], (percent(scores[rule].regret, 1) for rule in (TREE, SINGLE, DEFAULT))
            seen, blind = (
                ", ".join(map(percent, judging.figures(asked, metric, blind=blind))) for blind in (False, True)
            )
            regret = f"{percent(own.regret, 1)} ({percent(own.regret_95)}, {percent(own.regret_worst)})"
            without = percent(scores[BLIND].regret, 1)
            lines.append(line(metric, regret, f"{own.closed_gap:.2f}", seen, without, blind, *others))
    return lines


def main(
    files: Annotated[list[str] | None, typer.Argument(help="histograms that are judged too")] = None,
    repetitions: Repetitions = 40,
    jobs: Jobs = 1,
) -> None:
    """Print a table of the shapes with and without an order, and those of the files."""
    for name, histograms in (("shapes", judging.holdout()), ("files", tuple(map(judging.stored, files or ())))):
        judged = judging.settings(histograms, Judging(repetitions=repetitions, jobs=jobs))
        for ordered in (True, False):
            part = [setting for setting in judged if setting.ordered == ordered]
            if part:
                what = f"{name}, {'ordered' if ordered else 'unordered'}: {len(part)} settings"
                typer.echo("\n".join([what, "", *table(part), ""]))
    typer.echo(footer())


if __name__ == "__main__":
    run(main)
