"""Scores of ways of choosing, on questions whose errors were simulated: regret, closed gap, hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from knowledge.judging.comparison import Comparison, log_ratios
from knowledge.judging.questions import Progress, Setting
from knowledge.menu import ALIASES, Labels
from simulator import frequency_oracles

WORSE = 1.05  # over the single best: from here on a choice counts as worse than it
METHOD, PAIR = "method", "pair"
MODEL, SINGLE = "model", "single best"
RULES = (MODEL, "tree", "oue + norm_sub", "variance rule + norm_sub")


@dataclass(frozen=True)
class Score:
    """How one way of choosing does on one metric."""

    metric: str
    task: str  # ``method``: choose the method for a given protocol; ``pair``: choose both
    # Who chooses: ``model``, ``tree``, ``oue + norm_sub``, ``variance rule + norm_sub`` or ``single best``
    chooser: str
    settings: int  # number of questions
    # regret, regret_95, regret_worst: error over that of the best choice, less 1: geometric mean, 95th percentile,
    # worst. The best choice is found on one half of the repetitions and measured on the other, and the other way round:
    # the lowest of many noisy errors would be too low, and luck would count as regret. So a regret can come out a
    # little below 0.
    regret: float
    regret_95: float
    regret_worst: float
    closed_gap: float  # share of the log regret of the single best choice that is avoided
    # Share of the settings with an error more than 5 % above that of the single best choice; for the model by fresh
    # repetitions of just the two, as many as it takes to tell, where `evaluate` was asked for that
    worse_than_single: float
    # top_1, top_3: share of the settings in which the choice is the best, or among the best three
    top_1: float
    top_3: float
    # Median of how far the predicted error of the choice is from the simulated one; NaN for choosers that predict
    # nothing
    prediction_error: float
    single_best: str  # the single best fixed choice, in hindsight


def evaluate(
    done: Sequence[Setting],
    *,
    tasks: Sequence[str] = (METHOD, PAIR),
    closer: bool = False,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Score, ...]:
    """Score the model, the tree and three baselines on simulated questions, for every metric.

    done: the simulated questions.
    tasks: what is chosen: the method for a given protocol, or both.
    closer: whether to tell by fresh repetitions which of the model's choices are worse than the single best one: by
        errors of some 40 repetitions many are, by luck.
    seed, jobs, progress: of these repetitions.
    """
    contests: list[_Contest] = []
    for metric in dict.fromkeys(metric for setting in done for metric in setting.measured):
        for task in tasks:
            contests += _contests(metric, task, done)
    ratios = _ratios_to_single(contests, done, seed, jobs, progress) if closer else {}
    return tuple(_score(contest, ratios) for contest in contests)


def _contests(metric: str, task: str, done: Sequence[Setting]) -> list[_Contest]:
    questions = [
        question
        for place, setting in enumerate(done)
        if metric in setting.measured
        for question in _questions(metric, task, place, setting)
    ]
    single = _single_best([question.measured for question in questions])
    contests = [
        _Contest(
            metric, task, chooser, questions, [question.fixed.get(chooser, single) for question in questions], single
        )
        for chooser in (*questions[0].fixed, SINGLE)
    ]
    # A baseline whose protocol is not on the menu is left out.
    return [
        one
        for one in contests
        if all(pick in question.measured for question, pick in zip(questions, one.picks, strict=True))
    ]


Ratios = Mapping[tuple[int, Comparison], float]


def _ratios_to_single(
    contests: Sequence[_Contest], done: Sequence[Setting], seed: int, jobs: int, progress: Progress | None
) -> Ratios:
    """Return the log ratio of every choice of the model to the single best one, where the two are not the same."""
    waiting: dict[int, list[Comparison]] = {}
    for contest in contests:
        for question, pick in zip(contest.questions, contest.picks, strict=True):
            if contest.chooser == MODEL and pick != contest.single:
                waiting.setdefault(question.place, []).append(question.comparison(contest.metric, pick, contest.single))
    log_ratio_by: dict[tuple[int, Comparison], float] = {}
    for number, (place, comparisons) in enumerate(waiting.items(), start=1):
        setting = done[place]
        if setting.counts is None:
            raise ValueError(f"there is no population of {setting.histogram}")
        # Another seed than that of the errors that the single best choice was found by.
        ratios = log_ratios(setting.counts, setting.epsilon, comparisons, math.log(WORSE), seed=seed + 1, jobs=jobs)
        log_ratio_by |= {(place, comparison): ratio for comparison, ratio in ratios.items()}
        if progress is not None:
            progress(number, len(waiting))
    return log_ratio_by


@dataclass(frozen=True)
class _Question:
    """One choice to make, in the setting at a place.

    For each option, by name: its log error, those of the halves, the predicted one, and its pair; and what a look-up
    lists first and rules would choose.
    """

    place: int
    measured: Mapping[str, float]
    halves: Mapping[str, tuple[float, float]]
    predicted: Mapping[str, float]
    fixed: Mapping[str, str]
    pairs: Mapping[str, Labels]

    def comparison(self, metric: str, choice: str, other: str) -> Comparison:
        """Return what to simulate to compare two options."""
        return Comparison(metric, self.pairs[choice], self.pairs[other])

    @cached_property
    def best(self) -> float:
        """Log error of the best option: found on one half, measured on the other, both ways."""
        best = [min(self.halves, key=lambda name: self.halves[name][half]) for half in (0, 1)]
        return (self.halves[best[0]][1] + self.halves[best[1]][0]) / 2


@dataclass(frozen=True)
class _Contest:
    """What one way of choosing picks from each question, and the single best choice in hindsight."""

    metric: str
    task: str
    chooser: str
    questions: Sequence[_Question]
    picks: Sequence[str]
    single: str


def _questions(metric: str, task: str, place: int, setting: Setting) -> list[_Question]:
    """Return the questions that a setting asks: with options by name, IBU under one name."""
    choice = setting.choice[metric]
    if task == PAIR:
        names = {pair: _name(pair) for pair in setting.measured[metric]}
        picks = (choice[""], setting.tree[metric], ("oue", "norm_sub"), (setting.smallest, "norm_sub"))
        return [_question(metric, place, setting, names, dict(zip(RULES, map(_name, picks), strict=True)))]
    return [
        _question(
            metric,
            place,
            setting,
            {pair: _plain(pair[1]) for pair in setting.measured[metric] if pair[0] == protocol},
            {MODEL: _plain(choice[protocol][1]), **dict.fromkeys(RULES[2:], "norm_sub")},  # the tree names pairs alone
        )
        for protocol in choice
        if protocol in frequency_oracles()
    ]


def _question(
    metric: str, place: int, setting: Setting, names: Mapping[Labels, str], picks: Mapping[str, str]
) -> _Question:
    """Return the question between the pairs that have a name."""
    measured, halves, predicted = setting.measured[metric], setting.halves[metric], setting.predicted[metric]
    return _Question(
        place=place,
        measured={name: measured[pair] for pair, name in names.items()},
        halves={name: halves[pair] for pair, name in names.items()},
        predicted={name: predicted[pair] for pair, name in names.items()},
        fixed=picks,
        pairs={name: pair for pair, name in names.items()},
    )


def _name(pair: Labels) -> str:
    return f"{pair[0]} + {_plain(pair[1])}"


def _plain(method: str) -> str:
    return ALIASES.get(method, method)


def _single_best(measured: Sequence[Mapping[str, float]]) -> str:
    """Return the option with the lowest mean log error among those that every question has."""
    common = set(measured[0]).intersection(*measured)
    return min(sorted(common), key=lambda name: sum(options[name] for options in measured))


def _score(contest: _Contest, ratios: Ratios) -> Score:
    questions, single = contest.questions, contest.single
    choices = list(zip(questions, contest.picks, strict=True))
    best = np.array([question.best for question in questions])
    chosen, fixed = (
        np.array([sum(question.halves[name]) / 2 for question, name in of])
        for of in (choices, [(question, single) for question in questions])
    )
    excess = [
        ratios.get((question.place, question.comparison(contest.metric, pick, single)), measured)
        for (question, pick), measured in zip(choices, (chosen - fixed).tolist(), strict=True)
    ]
    whole = np.array([question.measured[pick] for question, pick in choices])
    ranks = np.array([sum(v < error for v in q.measured.values()) for q, error in zip(questions, whole, strict=True)])
    regret = chosen - best
    gap = float((fixed - best).mean())
    miss = math.nan
    if contest.chooser == MODEL:
        guess = np.array([question.predicted[pick] for question, pick in choices])
        miss = float(np.expm1(np.median(np.abs(guess - whole))))
    return Score(
        metric=contest.metric,
        task=contest.task,
        chooser=contest.chooser,
        settings=len(questions),
        regret=float(np.expm1(regret.mean())),
        regret_95=float(np.expm1(np.percentile(regret, 95))),
        regret_worst=float(np.expm1(regret.max())),
        closed_gap=1 - float(regret.mean()) / gap if gap > 0 else math.nan,
        worse_than_single=float((np.array(excess) > math.log(WORSE)).mean()),
        top_1=float((ranks == 0).mean()),
        top_3=float((ranks < 3).mean()),
        prediction_error=miss,
        single_best=single,
    )
