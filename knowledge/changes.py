"""Changes of the answer: the nearest epsilon, number of users, or skew with another answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from knowledge.menu import EPSILON, USERS
from knowledge.predict import Frequencies, first_of
from knowledge.ranking import LookUp

STEP = 2**0.25  # ratio of neighbouring values that are tried
SKEW_STEP, SKEW_MOST = 0.1, 3.0
HALVINGS = 6
COMMON_USERS = (10_000, 100_000, 1_000_000, 10_000_000)

Pair = tuple[str, str]
PairChoice = Callable[[LookUp], Pair]


class NearestChange(NamedTuple):
    """The nearest value of a part of the question that changes the answer."""

    what: str  # ``epsilon``, ``n`` or ``skew``
    value: float  # from this value on, the answer changes
    # protocol, method: that answer
    protocol: str
    method: str


def nearest_changes(
    frequencies: Frequencies,
    epsilon: float,
    n: int,
    look_up: Callable[[Frequencies, float, int], LookUp],
    *,
    choose: PairChoice,
    of_skew: Callable[[float], Frequencies] | None = None,
) -> tuple[NearestChange, ...]:
    """Find for epsilon, n and skew the nearest value that changes the answer; none where no value in range does.

    frequencies, epsilon, n: the question, as in `knowledge.ranking.look_up`.
    look_up: the function that answers such questions.
    choose: the part of the result that counts as the answer.
    of_skew: the function that makes a question from a skew; None when the histogram is given and its skew no option.

    Returns at most a single change each of epsilon, n and skew: the nearest by ratio, for skew by difference.
    """
    searches: list[tuple[str, float, list[list[float]], Callable[[float], LookUp]]] = [
        ("epsilon", epsilon, _ladders(epsilon, *EPSILON), lambda value: look_up(frequencies, value, n)),
        ("n", float(n), _ladders(float(n), *USERS), lambda value: look_up(frequencies, epsilon, round(value))),
    ]
    if of_skew is not None:
        skew = first_of(frequencies).skew
        steps = [SKEW_STEP * step for step in range(1, round(SKEW_MOST / SKEW_STEP))]
        up, down = (
            [skew + step for step in steps if skew + step < SKEW_MOST],
            [skew - step for step in steps if skew > step],
        )
        searches.append(("skew", skew, [up, [*down, 0.0]], lambda value: look_up(of_skew(value), epsilon, n)))
    now = choose(look_up(frequencies, epsilon, n))
    changes = (_nearest(what, start, ladders, ask, now, choose) for what, start, ladders, ask in searches)
    return tuple(change for change in changes if change is not None)


def _ladders(start: float, low: float, high: float) -> list[list[float]]:
    up = [start * STEP**step for step in range(1, 200) if start * STEP**step < high]
    down = [start / STEP**step for step in range(1, 200) if start / STEP**step > low]
    return [[*up, high] if start < high else [], [*down, low] if start > low else []]


def _nearest(
    what: str, start: float, ladders: list[list[float]], ask: Callable[[float], LookUp], now: Pair, choose: PairChoice
) -> NearestChange | None:
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
            return NearestChange(what, other, *choose(there))
    return None
