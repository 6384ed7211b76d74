"""How good the knowledge is: regret and closed gap on histograms that it was not made from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knowledge.grid import Grid, load, look_up_noises
from knowledge.menu import ALIASES, METHODS, METRICS, ORDERED_METRICS
from knowledge.profile import Profile, profile_of
from knowledge.tree import DATA as TREES
from knowledge.tree import explain
from knowledge.unseen import Histogram
from simulator import METRICS as ERRORS
from simulator import POSTPROCESSORS, PROTOCOLS, Noise
from simulator._types import FloatArray
from simulator.benchmark import Experiment, simulate
from simulator.populations import apportion

USERS, BUDGETS = (10_000, 100_000, 1_000_000), (0.5, 1.0, 2.0, 4.0)
MEASURED = ("l1", "l2", "kl", "emd", "topk")
WORSE = 1.05  # over the single best: from here on a choice counts as worse than it
METHOD, PAIR = "method", "pair"
GRID, SINGLE = "grid", "single best"
Labels = tuple[str, str]


@dataclass(frozen=True)
class Score:
    """How one way of choosing does on one metric.

    Attributes
    ----------
    metric
        The metric.
    task
        ``method``: choose the method for a given protocol; ``pair``: choose both.
    chooser
        Who chooses: ``grid``, ``tree``, ``oue + norm_sub``, ``variance rule + norm_sub`` or ``single best``.
    settings
        Number of questions.
    regret, regret_95, regret_worst
        Error over that of the best choice, less 1: geometric mean, 95th percentile, worst. The best choice is found on
        one half of the repetitions and measured on the other, and the other way round: the lowest of many noisy errors
        would be too low, and luck would count as regret. So a regret can come out a little below 0.
    closed_gap
        Share of the log regret of the single best choice that is avoided.
    worse_than_single
        Share of the settings with an error more than 5 % above that of the single best choice.
    top_1, top_3
        Share of the settings in which the choice is the best, or among the best three.
    prediction_error
        Median of how far the predicted error of the choice is from the simulated one; NaN for choosers that predict
        nothing.
    single_best
        The single best fixed choice, in hindsight.
    """

    metric: str
    task: str
    chooser: str
    settings: int
    regret: float
    regret_95: float
    regret_worst: float
    closed_gap: float
    worse_than_single: float
    top_1: float
    top_3: float
    prediction_error: float
    single_best: str


@dataclass(frozen=True)
class Setting:
    """Simulated and predicted log errors of one question.

    Attributes
    ----------
    histogram, n, epsilon
        The question.
    measured, predicted
        For each metric the log error of every pair.
    halves
        The same by every other repetition.
    tree
        For each metric and protocol the method that the tree chooses.
    smallest
        Of randomised response and OUE the protocol with the smaller variance.
    quietest
        The protocol with the smallest variance.
    """

    histogram: str
    n: int
    epsilon: float
    measured: Mapping[str, Mapping[Labels, float]]
    halves: Mapping[str, Mapping[Labels, tuple[float, float]]]
    predicted: Mapping[str, Mapping[Labels, float]]
    tree: Mapping[str, Mapping[str, str]]
    smallest: str
    quietest: str


Progress = Callable[[int, int], None]


def settings(
    histograms: Sequence[Histogram],
    *,
    users: Sequence[int] = USERS,
    epsilons: Sequence[float] = BUDGETS,
    metrics: Sequence[str] = MEASURED,
    protocols: Iterable[str] | None = None,
    repetitions: int = 40,
    seed: int = 0,
    jobs: int = 1,
    grid: Grid | None = None,
    progress: Progress | None = None,
) -> tuple[Setting, ...]:
    """Simulate every question about every histogram, and ask the knowledge about it.

    Parameters
    ----------
    histograms
        What to judge on.
    users, epsilons, metrics, protocols
        The questions; all protocols by default.
    repetitions, seed, jobs
        Of the simulation; the numbers do not depend on the jobs.
    grid
        Default: the shipped one.
    progress
        Called with the questions that are done and their number.

    Raises
    ------
    ValueError
        If a metric is unknown.
    """
    unknown = [name for name in metrics if name not in METRICS]
    if unknown:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {unknown[0]!r}")
    known = load() if grid is None else grid
    names = tuple(PROTOCOLS if protocols is None else protocols)
    done: list[Setting] = []
    number = len(histograms) * len(users) * len(epsilons)
    for histogram in histograms:
        for n in users:
            profile = profile_of(histogram.counts, n)
            for epsilon in epsilons:
                done.append(_setting(histogram, profile, n, epsilon, metrics, names, repetitions, seed, jobs, known))
                if progress is not None:
                    progress(len(done), number)
    return tuple(done)


def _setting(
    histogram: Histogram,
    profile: Profile,
    n: int,
    epsilon: float,
    metrics: Sequence[str],
    protocols: tuple[str, ...],
    repetitions: int,
    seed: int,
    jobs: int,
    grid: Grid,
) -> Setting:
    oracles = {name: PROTOCOLS[name](profile.k, epsilon) for name in protocols}
    noises = {name: oracle.noise(n) for name, oracle in oracles.items()}
    asked = [metric for metric in metrics if histogram.ordered or metric not in ORDERED_METRICS]
    pairs = [
        (protocol, method)
        for protocol, noise in noises.items()
        for method in POSTPROCESSORS
        if _in_menu(method, noise, profile.k, ordered=histogram.ordered)
    ]
    experiment = Experiment(
        counts=apportion(histogram.counts, n),
        oracles=oracles,
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(method for _, method in pairs)},
        metrics={name: ERRORS[name] for name in asked},
        pairs=tuple(pairs),
        seed=seed,
    )
    runs = simulate(experiment, 0, repetitions, jobs=jobs)
    measured, halves, predicted, tree = {}, {}, {}, {}
    for metric in asked:
        errors = runs.of(metric)
        found = look_up_noises(profile, noises, metric, epsilon=epsilon, n=n, ordered=histogram.ordered, grid=grid)
        predicted[metric] = {(row.protocol, row.method): math.log(row.error) for row in found.rows}
        measured[metric] = {pair: _log_mean(errors[pair]) for pair in predicted[metric]}
        halves[metric] = {
            pair: (_log_mean(errors[pair][::2]), _log_mean(errors[pair][1::2])) for pair in measured[metric]
        }
        tree[metric] = {
            name: explain(
                metric,
                noise_to_uniform=profile.k * noise.sd,
                k=profile.k,
                skew=profile.skew,
                ordered=histogram.ordered,
                methods=[method for protocol, method in predicted[metric] if protocol == name],
                folder=TREES,
            ).method
            for name, noise in noises.items()
        }
    every = {name: PROTOCOLS[name](profile.k, epsilon).noise(n).sd for name in ("grr", "oue")}
    quietest = min(noises, key=lambda name: noises[name].sd)
    smallest = min(every, key=lambda name: every[name])
    return Setting(histogram.name, n, epsilon, measured, halves, predicted, tree, smallest, quietest)


def _log_mean(errors: FloatArray) -> float:
    return math.log(max(float(errors.mean()), 1e-300))


def _in_menu(method: str, noise: Noise, k: int, *, ordered: bool) -> bool:
    if ALIASES.get(method, method) not in METHODS:
        return False
    if not ordered and POSTPROCESSORS[method].ordered_only:
        return False
    fits = POSTPROCESSORS[method].fits
    return fits is None or fits(noise, k)


def evaluate(done: Sequence[Setting]) -> tuple[Score, ...]:
    """Score the grid, the tree and three baselines on simulated questions, for every metric and both tasks."""
    metrics = list(dict.fromkeys(metric for setting in done for metric in setting.measured))
    scores: list[Score] = []
    for metric in metrics:
        asked = [setting for setting in done if metric in setting.measured]
        for task in (METHOD, PAIR):
            scores += _scores(metric, task, asked)
    return tuple(scores)


def _scores(metric: str, task: str, asked: Sequence[Setting]) -> list[Score]:
    questions = [question for setting in asked for question in _questions(metric, task, setting)]
    single = _single_best([question.measured for question in questions])
    choosers: dict[str, Callable[[_Question], str]] = {
        GRID: lambda question: min(question.predicted, key=lambda name: question.predicted[name]),
        "tree": lambda question: question.fixed["tree"],
        "oue + norm_sub": lambda question: question.fixed["default"],
        "variance rule + norm_sub": lambda question: question.fixed["variance"],
        SINGLE: lambda _: single,
    }
    scores = []
    for chooser, choose in choosers.items():
        picks = [choose(question) for question in questions]
        if any(pick not in question.measured for question, pick in zip(questions, picks, strict=True)):
            continue  # a baseline whose protocol is not on the menu
        scores.append(_score(metric, task, chooser, questions, picks, single))
    return scores


@dataclass(frozen=True)
class _Question:
    """One choice to make, options by name: log errors, those of the halves, predicted ones; what rules would choose."""

    measured: Mapping[str, float]
    halves: Mapping[str, tuple[float, float]]
    predicted: Mapping[str, float]
    fixed: Mapping[str, str]

    def best(self) -> float:
        """Return the log error of the best option: found on one half, measured on the other, both ways."""
        found = [min(self.halves, key=lambda name: self.halves[name][half]) for half in (0, 1)]
        return (self.halves[found[0]][1] + self.halves[found[1]][0]) / 2


def _questions(metric: str, task: str, setting: Setting) -> list[_Question]:
    """Return the questions that a setting asks: with options by name, IBU under one name."""
    tables = (setting.measured[metric], setting.halves[metric], setting.predicted[metric])
    tree = setting.tree[metric]
    if task == PAIR:
        fixed = {
            "tree": f"{setting.quietest} + {_plain(tree[setting.quietest])}",
            "default": "oue + norm_sub",
            "variance": f"{setting.smallest} + norm_sub",
        }
        by_pair: list[Any] = [
            {f"{pair[0]} + {_plain(pair[1])}": value for pair, value in table.items()} for table in tables
        ]
        return [_Question(by_pair[0], by_pair[1], by_pair[2], fixed)]
    questions = []
    for protocol in dict.fromkeys(pair[0] for pair in tables[0]):
        own: list[Any] = [
            {_plain(method): value for (name, method), value in table.items() if name == protocol} for table in tables
        ]
        fixed = {"tree": _plain(tree[protocol]), "default": "norm_sub", "variance": "norm_sub"}
        questions.append(_Question(own[0], own[1], own[2], fixed))
    return questions


def _plain(method: str) -> str:
    return ALIASES.get(method, method)


def _single_best(measured: Sequence[Mapping[str, float]]) -> str:
    """Return the option with the lowest mean log error among those that every question has."""
    common = set(measured[0]).intersection(*measured)
    return min(sorted(common), key=lambda name: sum(options[name] for options in measured))


def _score(
    metric: str, task: str, chooser: str, questions: Sequence[_Question], picks: Sequence[str], single: str
) -> Score:
    asked = list(zip(questions, picks, strict=True))
    best = np.array([question.best() for question in questions])
    chosen, fixed = (
        np.array([sum(question.halves[name]) / 2 for question, name in of])
        for of in (asked, [(question, single) for question in questions])
    )
    whole = np.array([question.measured[pick] for question, pick in asked])
    ranks = np.array([sum(v < error for v in q.measured.values()) for q, error in zip(questions, whole, strict=True)])
    regret = chosen - best
    gap = float((fixed - best).mean())
    miss = math.nan
    if chooser == GRID:
        guess = np.array([question.predicted[pick] for question, pick in asked])
        miss = float(np.expm1(np.median(np.abs(guess - whole))))
    return Score(
        metric=metric,
        task=task,
        chooser=chooser,
        settings=len(questions),
        regret=float(np.expm1(regret.mean())),
        regret_95=float(np.expm1(np.percentile(regret, 95))),
        regret_worst=float(np.expm1(regret.max())),
        closed_gap=1 - float(regret.mean()) / gap if gap > 0 else math.nan,
        worse_than_single=float((chosen - fixed > math.log(WORSE)).mean()),
        top_1=float((ranks == 0).mean()),
        top_3=float((ranks < 3).mean()),
        prediction_error=miss,
        single_best=single,
    )
