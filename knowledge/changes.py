"""What would change the answer: the nearest other epsilon, number of users, or skew."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from knowledge.menu import EPSILON, USERS
from knowledge.model import Frequencies, Prediction, first_of, predicted
from knowledge.ranking import LookUp, rank

STEP = 2**0.25  # ratio of neighbouring values that are tried
SKEW_STEP, SKEW_MOST = 0.1, 3.0
HALVINGS = 6
COMMON_USERS = (10_000, 100_000, 1_000_000, 10_000_000)

Pair = tuple[str, str]
Choice = Callable[[LookUp], Pair]


class Predictions(Protocol):
    """What predicts, as `knowledge.model.predicted` does."""

    def __call__(
        self, frequencies: Frequencies, epsilon: float, n: int, protocols: tuple[str, ...] | None, *, ordered: bool
    ) -> Prediction:
        """Return a prediction."""


class Change(NamedTuple):
    """The nearest value of one part of the question that changes the answer."""

    what: str  # ``epsilon``, ``n`` or ``skew``
    value: float  # from here on, seen from the value asked about, the answer is another
    # protocol, method: that answer
    protocol: str
    method: str


def best_pair(answer: LookUp) -> Pair:
    """Return the pair with the lowest predicted error."""
    return answer.best.protocol, answer.best.method


def nearest_changes(
    frequencies: Frequencies,
    epsilon: float,
    n: int,
    metric: str,
    *,
    of_skew: Callable[[float], Frequencies] | None = None,
    ordered: bool = True,
    protocols: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    choose: Choice = best_pair,
    predictions: Predictions = predicted,
) -> tuple[Change, ...]:
    """Find for epsilon, n and skew the nearest value that changes the answer; none where no value in range does.

    frequencies, epsilon, n, metric, ordered, protocols, methods: the question, as in `knowledge.ranking.look_up`.
    of_skew: what makes a question of a skew; None when the histogram is given and its skew no option.
    choose: what counts as the answer.
    predictions: what predicts; by default the shipped models. A caller who asks about several metrics may give one that
        remembers.

    Returns at most one change each of epsilon, n and skew: the nearest by ratio, for skew by difference.
    """

    def answer(of: Frequencies, budget: float, users: float) -> LookUp:
        menu = None if protocols is None else tuple(protocols)
        prediction = predictions(of, budget, round(users), menu, ordered=ordered)
        return rank(prediction, metric, epsilon=budget, n=round(users), ordered=ordered, methods=methods)

    searches: list[tuple[str, float, list[list[float]], Callable[[float], LookUp]]] = [
        ("epsilon", epsilon, _ladders(epsilon, *EPSILON), lambda value: answer(frequencies, value, n)),
        ("n", float(n), _ladders(float(n), *USERS), lambda value: answer(frequencies, epsilon, value)),
    ]
    if of_skew is not None:
        skew = first_of(frequencies).skew
        steps = [SKEW_STEP * step for step in range(1, round(SKEW_MOST / SKEW_STEP))]
        up, down = (
            [skew + step for step in steps if skew + step < SKEW_MOST],
            [skew - step for step in steps if skew > step],
        )
        searches.append(("skew", skew, [up, [*down, 0.0]], lambda value: answer(of_skew(value), epsilon, n)))
    now = choose(answer(frequencies, epsilon, n))
    changes = (_nearest(what, start, ladders, ask, now, choose) for what, start, ladders, ask in searches)
    return tuple(change for change in changes if change is not None)


def _ladders(start: float, low: float, high: float) -> list[list[float]]:
    up = [start * STEP**step for step in range(1, 200) if start * STEP**step < high]
    down = [start / STEP**step for step in range(1, 200) if start / STEP**step > low]
    return [[*up, high] if start < high else [], [*down, low] if start > low else []]


def _nearest(
    what: str,
    start: float,
    ladders: list[list[float]],
    ask: Callable[[float], LookUp],
    now: Pair,
    choose: Choice,
) -> Change | None:
    """Walk up and down in turns, so that the nearer change is met first, and halve the last step."""
    for step in range(max(map(len, ladders))):
        for ladder in ladders:
            if step >= len(ladder) or choose(there := ask(ladder[step])) == now:
                continue
            same, other = ladder[step - 1] if step else start, ladder[step]
            for _ in range(HALVINGS):
                middle = (same + other) / 2 if what == "skew" else math.sqrt(same * other)
                tried = ask(middle)
                if choose(tried) == now:
                    same = middle
                else:
                    other, there = middle, tried
            return Change(what, other, *choose(there))
    return None
