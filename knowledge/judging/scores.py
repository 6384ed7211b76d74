"""Scores of ways of choosing, on questions whose errors were simulated: regret, closed gap, hits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from knowledge.judging.questions import JudgedSetting, PairErrors, Progress
from knowledge.menu import ALIASES, Labels
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, frequency_oracles
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate

WORSE = 1.05  # over the single best: from here on a choice counts as worse than it
FIRST, LEAST = 40, 640  # repetitions, doubled from the first number on; and so many at most for large domains
CATEGORIES = 1_310_720  # repetitions times categories: more repetitions than `LEAST` where these allow it
CLEAR = 3.0  # standard errors that the ratio of two errors must be away from the limit
ENOUGH = 0.01  # standard error of a log ratio that is known well enough, however near to the limit
METHOD, PAIR = "method", "pair"
MODEL, SINGLE = "model", "single best"
RULES = (MODEL, "tree", "oue + norm_sub", "variance rule + norm_sub")


class PairComparison(NamedTuple):
    """The error of one (protocol, method) pair over that of another, in one metric."""

    metric: str
    choice: Labels
    other: Labels


Ratios = Mapping[tuple[int, PairComparison], float]  # log ratios, by the place of a setting and what is compared


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
    done: Sequence[JudgedSetting],
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
    for metric in dict.fromkeys(metric for setting in done for metric in setting.errors):
        for task in tasks:
            contests += _contests(metric, task, done)
    ratios = _ratios_to_single(contests, done, seed, jobs, progress) if closer else {}
    return tuple(_score(contest, ratios) for contest in contests)


def _contests(metric: str, task: str, done: Sequence[JudgedSetting]) -> list[_Contest]:
    questions = list(_questions(metric, task, done))
    single = _single_best(questions)
    picks = {
        chooser: [question.picks.get(chooser, single) for question in questions]
        for chooser in (*questions[0].picks, SINGLE)
    }
    # A baseline whose protocol is not on the menu is left out.
    return [
        _Contest(metric, task, chooser, questions, own, single)
        for chooser, own in picks.items()
        if all(pick in question.options for question, pick in zip(questions, own, strict=True))
    ]


def _ratios_to_single(
    contests: Sequence[_Contest], done: Sequence[JudgedSetting], seed: int, jobs: int, progress: Progress | None
) -> Ratios:
    """Return the log ratio of every choice of the model to the single best one, where the two are not the same."""
    waiting: dict[int, list[PairComparison]] = {}
    for contest in contests:
        for question, pick in zip(contest.questions, contest.picks, strict=True):
            if contest.chooser == MODEL and pick != contest.single:
                waiting.setdefault(question.place, []).append(question.comparison(contest.metric, pick, contest.single))
    log_ratio_by: dict[tuple[int, PairComparison], float] = {}
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
    """One choice to make, in the setting at a place."""

    place: int
    options: Mapping[str, PairErrors]  # by name, IBU under one name
    picks: Mapping[str, str]  # what a look-up lists first, and what rules would choose

    def comparison(self, metric: str, choice: str, other: str) -> PairComparison:
        """Return what to simulate to compare two options."""
        return PairComparison(metric, self.options[choice].pair, self.options[other].pair)

    @cached_property
    def best(self) -> float:
        """Log error of the best option: found on one half, measured on the other, both ways."""
        halves = [one.halves for one in self.options.values()]
        return (min(halves, key=itemgetter(0))[1] + min(halves, key=itemgetter(1))[0]) / 2


@dataclass(frozen=True)
class _Contest:
    """What one way of choosing picks from each question, and the single best choice in hindsight."""

    metric: str
    task: str
    chooser: str
    questions: Sequence[_Question]
    picks: Sequence[str]
    single: str


def _questions(metric: str, task: str, done: Sequence[JudgedSetting]) -> Iterator[_Question]:
    """Yield the questions that settings ask: which pair to use, or which method with each protocol."""
    for place, setting in enumerate(done):
        if metric not in setting.errors:
            continue
        errors, choice = setting.errors[metric], setting.choice[metric]
        if task == PAIR:
            pairs = (choice[""], setting.tree[metric], ("oue", "norm_sub"), (setting.smallest, "norm_sub"))
            picks = dict(zip(RULES, map(_name, pairs), strict=True))
            yield _Question(place, {_name(one.pair): one for one in errors}, picks)
            continue
        for protocol in (name for name in choice if name in frequency_oracles()):
            options = {_plain(one.pair[1]): one for one in errors if one.pair[0] == protocol}
            # No tree: trees name pairs alone.
            picks = {MODEL: _plain(choice[protocol][1]), **dict.fromkeys(RULES[2:], "norm_sub")}
            yield _Question(place, options, picks)


def _name(pair: Labels) -> str:
    return f"{pair[0]} + {_plain(pair[1])}"


def _plain(method: str) -> str:
    return ALIASES.get(method, method)


def _single_best(questions: Sequence[_Question]) -> str:
    """Return the option with the lowest mean log error among those that every question has."""
    common = set(questions[0].options).intersection(*(question.options for question in questions))
    return min(sorted(common), key=lambda name: sum(question.options[name].measured for question in questions))


def _score(contest: _Contest, ratios: Ratios) -> Score:
    questions, single = contest.questions, contest.single
    choices = [question.options[pick] for question, pick in zip(questions, contest.picks, strict=True)]
    best = np.array([question.best for question in questions])
    chosen = np.array([sum(choice.halves) / 2 for choice in choices])
    fixed = np.array([sum(question.options[single].halves) / 2 for question in questions])
    excess = [
        ratios.get((question.place, question.comparison(contest.metric, pick, single)), measured)
        for question, pick, measured in zip(questions, contest.picks, (chosen - fixed).tolist(), strict=True)
    ]
    whole = np.array([choice.measured for choice in choices])
    ranks = np.array(
        [
            sum(one.measured < choice.measured for one in question.options.values())
            for question, choice in zip(questions, choices, strict=True)
        ]
    )
    regret = chosen - best
    gap = float((fixed - best).mean())
    miss = math.nan
    if contest.chooser == MODEL:
        guess = np.array([choice.predicted for choice in choices])
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


def log_ratios(
    counts: IntArray, epsilon: float, comparisons: Iterable[PairComparison], limit: float, seed: int = 0, jobs: int = 1
) -> dict[PairComparison, float]:
    """Return for each comparison the log ratio of the mean errors.

    Those within three standard errors of `limit` (a log ratio) are simulated on until they are known to 1 %, or up to
    640 repetitions, and more on domains of less than 2048 categories: the error of the top one of 16 varies by more
    than itself, and the ratio of two mean errors of the top 13 of 128 is known to 2 % only after 1,280. None of the
    repetitions is among those that a choice was made by.
    """
    waiting = list(dict.fromkeys(comparisons))
    k = len(counts)
    most = max(LEAST, CATEGORIES // k)
    pairs = _pairs(waiting)
    experiment = Experiment(
        counts=counts,
        oracles={protocol: PROTOCOLS[protocol](k, epsilon) for protocol, _ in pairs},
        methods={method: POSTPROCESSORS[method] for _, method in pairs},
        metrics={metric: METRICS[metric] for metric in dict.fromkeys(one.metric for one in waiting)},
        pairs=pairs,
        seed=seed,
    )
    errors: dict[tuple[str, Labels], list[FloatArray]] = {}
    ratios: dict[PairComparison, float] = {}
    done, until = 0, FIRST
    while waiting:
        runs = simulate(experiment, done, until - done, pairs=_pairs(waiting), jobs=jobs)
        for metric in experiment.metrics:
            for pair, block in runs.of(metric).items():
                errors.setdefault((metric, pair), []).append(block)
        still = []
        for one in waiting:
            ratio, error = _log_ratio(*(np.concatenate(errors[one.metric, pair]) for pair in (one.choice, one.other)))
            ratios[one] = ratio
            if abs(ratio - limit) < CLEAR * error and error > ENOUGH and until < most:
                still.append(one)
        waiting, done, until = still, until, 2 * until
    return ratios


def _pairs(comparisons: Iterable[PairComparison]) -> tuple[Labels, ...]:
    return tuple(dict.fromkeys(pair for one in comparisons for pair in (one.choice, one.other)))


def _log_ratio(errors: FloatArray, others: FloatArray) -> tuple[float, float]:
    """Return the log ratio of the means and its standard error; repetitions with the same noise are paired."""
    mean, other = (max(float(block.mean()), 1e-300) for block in (errors, others))
    apart = errors / mean - others / other
    return float(np.log(mean / other)), float(apart.std(ddof=1)) / len(apart) ** 0.5
