"""``python studies/judge_look_ups.py [FILES]``: look-ups on ordered domains, judged on curves, shapes and files.

As `judge_predictions.py` judges them: on eight formulas for incomes, ages, weeks and other numbers that the
look-ups were not made from, on its ordered shapes, on histograms such as those of `public_histograms.py`, folder by
folder, and on all together. The standard errors are of the jackknife: curves or columns are left out one by one; the
names of their histograms end in a blank or ``_`` and a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import judging
import numpy as np
import typer
from common import Jobs, Repetitions, footer, head, line, run
from judging import BLIND, MODEL, SINGLE, Histogram, JudgedSetting, Judging

from knowledge.making.workers import Workers
from simulator import rng_for
from simulator._types import FloatArray
from simulator.populations import apportion

DOMAINS, USERS = (20, 96, 300), 1_000_000
METRICS = ("emd", "range", "l1", "l2")


def _incomes(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a log-normal body with a tail that falls as a power, and some who earn nothing."""
    income, spread, joint = x * rng.uniform(4, 9), rng.uniform(0.4, 0.7), 2.2
    body = np.exp(-((np.log(income) / spread) ** 2) / 2) / income
    tail = np.exp(-((np.log(joint) / spread) ** 2) / 2) / joint * (income / joint) ** -rng.uniform(2, 3.2)
    weights = np.where(income > joint, tail, body)
    weights[0] += 0.03 * weights.sum()
    return weights


def _ages(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return cohorts of several sizes under a mortality that grows e-fold in ten years."""
    age = 105 * x
    cohorts = 1 + 0.25 * np.sin((age - rng.uniform(0, 30)) / rng.uniform(7, 11))
    return cohorts * np.exp(-4e-4 * rng.uniform(0.5, 1.5) * np.expm1(0.095 * age)) + 1e-6


def _weeks(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return seasons of a year with a little noise, and a holiday at its end."""
    seasons = sum(rng.normal() * np.sin(2 * np.pi * turn * x + rng.uniform(0, 6)) / turn for turn in (1, 2, 3))
    return np.exp(0.5 * seasons + 0.08 * rng.standard_normal(len(x))) * (1 + 2.5 * np.exp(-(((x - 0.96) / 0.02) ** 2)))


def _student(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    freedom = rng.uniform(1, 4)
    return (1 + ((x - rng.uniform(0.3, 0.7)) / rng.uniform(0.03, 0.12)) ** 2 / freedom) ** (-(freedom + 1) / 2)


def _gaps(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a slope with two stretches that nobody has."""
    weights = 1 + 0.6 * x
    for start in rng.uniform(0.1, 0.8, 2):
        weights[(x > start) & (x < start + rng.uniform(0.05, 0.15))] = 0.0
    return weights


def _turn(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a level that turns into another one."""
    return 0.03 + 1 / (1 + np.exp((x - rng.uniform(0.3, 0.7)) / rng.uniform(0.02, 0.15) * rng.choice([-1, 1])))


def _uneven(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return two humps with differences from value to value."""
    humps = sum(x ** rng.uniform(0.5, 6) * (1 - x) ** rng.uniform(0.5, 12) * rng.uniform(0.3, 1) for _ in range(2))
    return humps * np.exp(rng.uniform(0.1, 0.35) * rng.standard_normal(len(x)))


def _capped(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a gamma density, whose last value stands for all that is more."""
    weights = x ** rng.uniform(0.2, 4) * np.exp(-x * rng.uniform(6, 40))
    weights[-1] += rng.uniform(0.03, 0.2) * weights.sum()
    return weights


# ``weights(places, rng)``, places in 0 ... 1.
CURVES: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "incomes": _incomes,
    "ages": _ages,
    "weeks": _weeks,
    "student": _student,
    "gaps": _gaps,
    "turn": _turn,
    "uneven": _uneven,
    "capped": _capped,
}


def histogram(name: str, k: int) -> Histogram:
    """Return one of `CURVES` as counts ``(k,)``."""
    weights = CURVES[name]((np.arange(k) + 0.5) / k, rng_for(0, "judge look-ups", name, k))
    return Histogram(f"{name} {k}", apportion(weights, USERS), ordered=True)


def sets(files: Sequence[str]) -> dict[str, list[Histogram]]:
    """Return what is judged, by name: the curves, the ordered shapes of `holdout`, and folders of files."""
    result = {
        "curves": [histogram(name, k) for name, k in product(CURVES, DOMAINS)],
        "shapes": [one for one in judging.holdout() if one.ordered],
    }
    for path in files:
        result.setdefault(f"{Path(path).resolve().parent.name}/", []).append(judging.stored(path, ordered=True))
    return result


def judged(
    histograms: Mapping[str, Sequence[Histogram]], options: Judging, jobs: int
) -> dict[str, tuple[JudgedSetting, ...]]:
    """Return the settings of each set; processes take a histogram each."""
    every = [one for group in histograms.values() for one in group]
    results = Workers(jobs).results(judging.settings, (((one,), options) for one in every), ordered=True)
    return {name: tuple(setting for _ in group for setting in next(results)) for name, group in histograms.items()}


def scores(done: Sequence[JudgedSetting]) -> FloatArray:
    """Return regret, closed gap, and the regrets of the single best choice and without data, ``(metrics, 4)``."""
    rows = [judging.evaluate(done, metric) for metric in METRICS]
    return np.array([(row[MODEL].regret, row[MODEL].closed_gap, row[SINGLE].regret, row[BLIND].regret) for row in rows])


def jackknife(done: Sequence[JudgedSetting]) -> FloatArray:
    """Return the standard errors of `scores`: settings of one curve or column are not independent."""
    names = {setting.histogram: re.sub(r"[ _]\d+$", "", setting.histogram) for setting in done}
    groups = tuple(dict.fromkeys(names.values()))
    left = np.array([scores([setting for setting in done if names[setting.histogram] != name]) for name in groups])
    return np.sqrt((len(groups) - 1) * left.var(axis=0))


def main(
    files: Annotated[list[str] | None, typer.Argument(help="histograms in order, judged too")] = None,
    repetitions: Repetitions = 40,
    jobs: Jobs = 1,
) -> None:
    """Print regret and closed gap of the named pair."""
    done = judged(sets(files or ()), Judging(metrics=METRICS, repetitions=repetitions), jobs)
    blind = "without data:", "its figure off by:", "its interval holds:"
    typer.echo(head("metric", "set", "settings:", "regret:", "closed gap:", "regret of the single best:", *blind))
    done["all"] = tuple(setting for group in done.values() for setting in group)
    found = {name: (scores(group), jackknife(group)) for name, group in done.items()}
    for place, metric in enumerate(METRICS):
        for name, of_set in found.items():
            (regret, gap, single, guess), (about, of_gap, *_) = (each[place] for each in of_set)
            off, held = judging.figures(done[name], metric, blind=True)
            shown = f"{regret:.1%} ± {about:.1%}", f"{gap:.2f} ± {of_gap:.2f}", f"{single:.1%}"
            shown = *shown, f"{guess:.1%}", f"{off:.0%}", f"{held:.0%}"
            typer.echo(line(metric, name, f"{len(done[name]):,}", *shown))
    typer.echo(f"\n{footer()}")


if __name__ == "__main__":
    run(main)
