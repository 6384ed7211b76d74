"""``python studies/judge_levels.py``: how well look-ups predict where many categories share few frequencies.

Two levels, and three to six whose heights are gamma draws, in random order: for each setting the share of intervals of
the named method that hold its simulated error, and its regret over the best method, with OUE. ``--spread 0.05`` makes
levels that are shared only nearly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import typer
from common import Repetitions, experiment, footer, head, line, mean_errors, run

from knowledge.describe.profile import profile_of
from knowledge.ranking import look_up
from simulator import rng_for
from simulator._types import FloatArray
from simulator.populations import apportion

SIZES, MEASURED, PROTOCOL = (60, 120, 400), ("l1", "l2", "kl"), "oue"
SETTINGS = ((20_000, 1.0), (200_000, 1.0), (200_000, 2.0), (1_000_000, 2.0))  # users, budget
TWO, GAMMA = "two levels", "three to six gamma levels"


def populations() -> Iterator[tuple[str, FloatArray, int, float]]:
    """Yield kind, weights ``(k,)``, users and budget of each setting."""
    for k in SIZES:
        for share in (0.05, 0.2, 0.5):
            for low in (1 / 5, 1 / 50, 0.0):
                weights = np.where(np.arange(k) < round(share * k), 1.0, low)
                yield from ((TWO, weights, *setting) for setting in SETTINGS)
    rng = rng_for(0, "levels")
    for k in SIZES:
        for levels in 3 * (3, 4, 6):
            weights = rng.gamma(0.5, size=levels)[rng.integers(levels, size=k)] + 1e-9
            yield from ((GAMMA, weights, *setting) for setting in SETTINGS if setting != SETTINGS[2])


def main(
    repetitions: Repetitions = 40,
    spread: Annotated[float, typer.Option("--spread", help="deviation of the logarithm within a level")] = 0.0,
) -> None:
    """Print intervals that hold and regret, for each kind and metric."""
    rng, found = rng_for(0, "levels", "spread"), dict[tuple[str, str], list[tuple[bool, float]]]()
    for kind, weights, n, epsilon in populations():
        counts = apportion(weights * np.exp(spread * rng.standard_normal(len(weights))), n)
        profile = profile_of(counts, n)
        for metric in MEASURED:
            answer = look_up(profile, epsilon, n, metric, ordered=False, protocols=[PROTOCOL])
            pairs = [row.pair for row in answer.rows]
            errors = mean_errors(experiment(counts, epsilon, pairs, [metric]), repetitions)[metric]
            best, own = answer.best, errors[answer.best.protocol, answer.best.method]
            found.setdefault((kind, metric), []).append(
                (bool(best.low <= own <= best.high), float(own / min(errors.values()) - 1))
            )
    typer.echo(head("frequencies", "metric", "settings:", "intervals that hold:", "mean regret:"))
    for (kind, metric), rows in found.items():
        held, regret = (100 * float(np.mean(column)) for column in zip(*rows, strict=True))
        typer.echo(line(kind, metric, len(rows), f"{held:.0f} %", f"{regret:.1f} %"))
    typer.echo(f"\n{footer()}")


if __name__ == "__main__":
    run(main)
