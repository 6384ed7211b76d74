"""What would make a collection worth it: how many users, or which ε, by the first answer of a plan."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import lru_cache

from advisor.plans.prediction import first_answers
from advisor.plans.question import MAX_REPETITIONS, PRECISION, PlanQuestion
from advisor.question.frequencies import Frequencies
from advisor.question.request import Request
from advisor.rank.prediction import frequencies_of
from advisor.rank.result import Ranking
from advisor.rank.verdict import ENOUGH, WORTH_IT

LUCK = 1e-9  # an error without data below it is one that the truth has by chance, as a mean in the middle of its domain


@dataclass(frozen=True)
class Remedy:
    """What would be worth it, all else being equal."""

    target: float  # half of the error without data, in the metric's unit
    # n, epsilon: users at the same ε, or ε with the same users, that are predicted to reach it; None where none does
    n: int | None
    epsilon: float | None
    command: str  # what settles the number of users by simulation


@lru_cache(maxsize=8)
def remedy(ranking: Ranking) -> Remedy | None:
    """Return what would be worth it; None where it is, and where the error is low enough and only unsure.

    None also where users have several attributes: a plan is about one.
    """
    request, without = ranking.request, ranking.error_without_data
    if ranking.verdict in (None, WORTH_IT) or not without or without < LUCK or request.plan is not None:
        return None
    target = float(f"{ENOUGH * without:.3g}")
    if ranking.best.error <= target:
        return None
    users = _needed(ranking, target, epsilon=request.epsilon, n=None)
    epsilon = _needed(ranking, target, epsilon=None, n=request.n)
    return Remedy(target, None if users is None else round(users), epsilon, _command(ranking, target))


def _needed(ranking: Ranking, target: float, *, epsilon: float | None, n: int | None) -> float | None:
    """Return the least value of the unknown by which a pair of the menu is predicted to reach the target."""
    request = ranking.request
    frequencies = Frequencies(request.counts, request.labels, request.ordered, request.sample, None, (), ())
    question = PlanQuestion(
        frequencies=frequencies, metric=ranking.metric, target=target, epsilon=epsilon, n=n,
        protocols=request.protocols, methods=request.methods, named=(), restricted=False, seed=request.seed,
        precision=PRECISION, max_repetitions=MAX_REPETITIONS, metric_values=request.metric_values,
    )  # fmt: skip
    assumed = None if request.skew is None else frequencies_of(request)
    value = first_answers(question, assumed).first
    here = request.n if n is None else request.epsilon
    return None if value is None or value <= here else value


def _command(ranking: Ranking, target: float) -> str:
    request = ranking.request
    metric = [] if ranking.metric == "l1" else ["--metric", ranking.metric]
    words = ["ldp-advise", "plan", "--target", f"{target:g}", "--eps", f"{request.epsilon:g}", *metric]
    # Of the constraints a plan knows this one.
    limits = ["--deployable"] if any(removal.constraint == "deployable" for removal in request.removals) else []
    return shlex.join([*words, *limits, *_data(request)])


def _data(request: Request) -> tuple[str, ...]:
    """Return the words that name the data; of what is no file, the size of the domain."""
    if request.data_words:
        return request.data_words
    ordered = ("--ordered",) if request.ordered else ()
    return ("--k", str(request.k), *ordered)
