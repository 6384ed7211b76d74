"""What would change the answer: the nearest other epsilon, number of users, or skew."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from knowledge.grid import Asked, Grid, LookUp, first_of, look_up
from knowledge.menu import EPSILON, USERS

STEP = 2**0.25  # ratio of neighbouring values that are tried
SKEW_STEP, SKEW_MOST = 0.1, 3.0
HALVINGS = 6
COMMON_USERS = (10_000, 100_000, 1_000_000, 10_000_000)

Pair = tuple[str, str]
Choice = Callable[[LookUp], Pair]


class Change(NamedTuple):
    """The nearest value of one part of the question that changes the answer.

    Attributes
    ----------
    what
        ``epsilon``, ``n`` or ``skew``.
    value
        From here on, seen from the value asked about, the answer is another.
    protocol, method
        That answer.
    """

    what: str
    value: float
    protocol: str
    method: str


def best_pair(found: LookUp) -> Pair:
    """Return the pair with the lowest predicted error."""
    return found.best.protocol, found.best.method


def best_method(found: LookUp) -> Pair:
    """Return the method with the lowest predicted error; a change of protocol alone is none."""
    return "", found.best.method


def answers_by_users(
    profile: Asked,
    epsilon: float,
    metric: str,
    *,
    users: Sequence[int] = COMMON_USERS,
    ordered: bool = True,
    protocols: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    choose: Choice = best_pair,
    grid: Grid | None = None,
) -> dict[int, Pair]:
    """Return the pair for several numbers of users."""
    options = {"ordered": ordered, "protocols": _fixed(protocols), "methods": _fixed(methods), "grid": grid}
    return {n: choose(look_up(profile, epsilon, n, metric, **options)) for n in users}  # type: ignore[arg-type]


def nearest_changes(
    profile: Asked,
    epsilon: float,
    n: int,
    metric: str,
    *,
    of_skew: Callable[[float], Asked] | None = None,
    ordered: bool = True,
    protocols: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    choose: Choice = best_pair,
    grid: Grid | None = None,
) -> tuple[Change, ...]:
    """Find for epsilon, n and skew the nearest value that changes the answer; none where no value in range does.

    Parameters
    ----------
    profile, epsilon, n, metric, ordered, protocols, methods, grid
        The question, as in `knowledge.grid.look_up`.
    of_skew
        What makes a profile of a skew; None when the histogram is known and its skew no option.
    choose
        What counts as the answer.

    Returns
    -------
    At most one change each of epsilon, n and skew: the nearest by ratio, for skew by difference.
    """
    options = {"ordered": ordered, "protocols": _fixed(protocols), "methods": _fixed(methods), "grid": grid}

    def answer(of: Asked, budget: float, users: float) -> LookUp:
        return look_up(of, budget, round(users), metric, **options)  # type: ignore[arg-type]

    searches: list[tuple[str, float, list[list[float]], Callable[[float], LookUp]]] = [
        ("epsilon", epsilon, _ladders(epsilon, *EPSILON), lambda value: answer(profile, value, n)),
        ("n", float(n), _ladders(float(n), *USERS), lambda value: answer(profile, epsilon, value)),
    ]
    if of_skew is not None:
        skew = first_of(profile).skew
        steps = [SKEW_STEP * step for step in range(1, round(SKEW_MOST / SKEW_STEP))]
        up, down = (
            [skew + step for step in steps if skew + step < SKEW_MOST],
            [skew - step for step in steps if skew > step],
        )
        searches.append(("skew", skew, [up, [*down, 0.0]], lambda value: answer(of_skew(value), epsilon, n)))
    now = choose(answer(profile, epsilon, n))
    found = (_nearest(what, start, ladders, ask, now, choose) for what, start, ladders, ask in searches)
    return tuple(change for change in found if change is not None)


def _fixed(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


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
            if step >= len(ladder) or choose(found := ask(ladder[step])) == now:
                continue
            same, other = ladder[step - 1] if step else start, ladder[step]
            for _ in range(HALVINGS):
                middle = (same + other) / 2 if what == "skew" else math.sqrt(same * other)
                tried = ask(middle)
                if choose(tried) == now:
                    same = middle
                else:
                    other, found = middle, tried
            chosen = choose(found)
            return Change(what, other, chosen[0] or found.best.protocol, chosen[1])
    return None
