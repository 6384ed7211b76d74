"""What to expect at other budgets and numbers of users: figures for a page, worked out beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from advisor.answers.rank.meaning import meaning, meaning_sentences
from advisor.answers.rank.prediction import frequencies_of, stays
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.verdict import against_nothing, reasons_of
from advisor.figures import error_text, number, percent, points, users
from advisor.question.request import Request
from advisor.question.units import unit_text
from advisor.show.model import Curve, Dial, Explorer
from knowledge import model, ranking
from knowledge.menu import EPSILON, USERS
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.detection import detectable

EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
STOPS = 9  # budgets: those nearest to the one that was asked about, and that one
FACTORS = (0.01, 0.1, 1 / 3, 1.0, 3.0, 10.0, 100.0)  # of the number of users
LARGE_DOMAIN = 4096  # above it a prediction takes so long that there are half as many stops and users
NAMES = (
    "Compared with no data",
    "Each category is off by",
    "Smallest detectable frequency",
    "Promise",
    "Use",
    "Attack: best guess from one report",
)

Stops = tuple[tuple[float, ...], ...]  # values of ε, and of n


@dataclass(frozen=True)
class _Point:
    """What is expected at one budget and number of users."""

    epsilon: float
    n: int
    # protocol, method: the pair to use there
    protocol: str
    method: str
    # error, low, high, raw: of the metric, and of the raw estimate of the same protocol
    error: float
    low: float
    high: float
    raw: float | None
    per_category: float | None
    ranges: bool


def explorer_of(advice: Ranking, values: Stops | None = None) -> Explorer:
    """Return the figures of an answer, and where its question can be predicted, those of others.

    `values`, of ε and of n, are those of the dials; they hold those of the question.
    """
    grid = _predicted(advice, values or _stops(advice.request))
    own = _own(advice)
    if grid is None:
        grid, at = [[own]], (0, 0)
        note = "These figures are for this question alone: the model behind predictions does not cover it."
    else:
        at = (_at(advice.request.epsilon, [row[0].epsilon for row in grid]), _at(own.n, [one.n for one in grid[0]]))
        note = _note(advice, grid[at[0]][at[1]])
        factor = _factor(advice, grid[at[0]][at[1]])
        grid = [[_scaled(point, factor) for point in row] for row in grid]
        grid[at[0]][at[1]] = own
    without = advice.error_without_data
    nothing = f"without any data: {advice.guess_without_data}"
    axis = f"{METRICS[advice.metric].title} ({unit_text(advice.metric, advice.request.bins)})"
    return Explorer(
        title="What to expect",
        note=note,
        dials=(
            _dial("ε, the privacy budget of one report", [row[0].epsilon for row in grid], "ε = {:g}", at[0]),
            _dial("n, the number of users", [one.n for one in grid[0]], "n = {:,}", at[1]),
        ),
        names=(f"Expected {axis}", *NAMES),
        figures=tuple(tuple(_texts(point, advice) for point in row) for row in grid),
        along=tuple(row[0].epsilon for row in grid),
        axis=axis,
        curves=() if len(grid) < 2 else (
            Curve("with the pair to use", _curve(grid, lambda point: point.error)),
            Curve("raw estimate", _curve(grid, lambda point: point.raw)),
            *([] if not without else [Curve(nothing, _curve(grid, lambda _: without))]),
        ),
    )  # fmt: skip


def _dial(name: str, values: Sequence[float], form: str, at: int) -> Dial:
    return Dial(name, tuple(map(form.format, values)), at, tuple(values))


def _own(advice: Ranking) -> _Point:
    best, request = advice.best, advice.request
    return _Point(
        request.epsilon, request.n, best.protocol, best.method, best.error, best.error_low, best.error_high,
        best.error_without_postprocessing, best.mean_absolute_error, advice.over_populations,
    )  # fmt: skip


def _predicted(advice: Ranking, stops: Stops) -> list[list[_Point]] | None:
    """Return what the model predicts, by budget and by number of users; None where it does not cover the question.

    A question about what was collected has no other budget, and a pair of other packages no prediction.
    """
    request, choose = advice.request, stays(advice.best.pair)
    if request.collected is not None:
        return None
    try:
        frequencies = frequencies_of(request)
        result = []
        for epsilon in stops[0]:
            row = []
            for n in map(int, stops[1]):
                prediction = model.predicted(frequencies, epsilon, n, request.protocols, ordered=request.ordered)
                answer = ranking.rank(
                    prediction, advice.metric, epsilon=epsilon, n=n, ordered=request.ordered, methods=request.methods
                )
                pair = choose(answer)
                if (epsilon, n) == (request.epsilon, request.n):
                    pair = advice.best.pair
                one = next(one for one in answer.rows if (one.protocol, one.method) == pair)
                row.append(
                    _Point(epsilon, n, *pair, one.error, one.low, one.high, one.raw_error, one.per_category, True)
                )
            result.append(row)
    except (ValueError, StopIteration):
        return None
    return result


def _stops(request: Request) -> Stops:
    large = request.k > LARGE_DOMAIN
    budgets = _budgets(request.epsilon, STOPS // 2 if large else STOPS)
    return tuple(budgets), tuple(_users(request.n, FACTORS[1::2] if large else FACTORS))


def _budgets(own: float, stops: int) -> list[float]:
    near = sorted({*EPSILONS}, key=lambda one: abs(one / own - 1) if one > own else abs(own / one - 1))
    return sorted({own, *[one for one in near if EPSILON[0] <= one <= EPSILON[1] and one != own][: stops - 1]})


def _users(own: int, factors: tuple[float, ...]) -> list[int]:
    others = (int(float(f"{own * factor:.2g}")) for factor in factors if factor != 1)
    return sorted({own, *(n for n in others if USERS[0] <= n <= USERS[1])})


def _at(own: float, values: list[float] | list[int]) -> int:
    return list(values).index(own)


def _factor(advice: Ranking, predicted: _Point) -> float:
    return advice.best.error / predicted.error if predicted.error > 0 else 1.0


def _scaled(point: _Point, factor: float) -> _Point:
    return replace(
        point,
        error=point.error * factor,
        low=point.low * factor,
        high=point.high * factor,
        raw=None if point.raw is None else point.raw * factor,
        per_category=None if point.per_category is None else point.per_category * factor,
    )


def _note(advice: Ranking, predicted: _Point) -> str:
    kept = " Constraints are those of the question." if advice.request.removals else ""
    if advice.source == "grid":
        return f"Predicted by a model, here and everywhere; ranges are 95 %.{kept}"
    factor = _factor(advice, predicted)
    return (
        f"Simulated at ε = {predicted.epsilon:g}, n = {predicted.n:,}. Everywhere else predicted by a model and "
        f"multiplied by {factor:.2f}, the ratio of simulated to predicted error at that point; ranges are 95 %.{kept}"
    )


def _curve(grid: list[list[_Point]], of: Callable[[_Point], float | None]) -> tuple[tuple[float | None, ...], ...]:
    """Return a figure along the budgets, for each number of users."""
    return tuple(tuple(of(row[place]) for row in grid) for place in range(len(grid[0])))


def _texts(point: _Point, advice: Ranking) -> tuple[str, ...]:
    request = advice.request
    protocol = PROTOCOLS[point.protocol](request.k, point.epsilon)
    smallest = detectable(protocol, point.n)
    off = point.per_category
    promise = meaning_sentences(meaning(point.epsilon, request.k))
    seen = "none" if smallest is None or smallest > 1 else f"{percent(smallest)}: {users(smallest * point.n)} users"
    return (
        error_text(point.error, point.low, point.high, ranges=point.ranges),
        _against_nothing(point, advice),
        "–" if off is None else f"about {users(off * point.n)} of {point.n:,} users ({points(off)})",
        seen,
        " ".join(promise[:2]),
        f"{protocol.title} ({point.protocol}, {protocol.report_bits:,} bits a report) with "
        f"{POSTPROCESSORS[point.method].title} ({point.method})",
        f"right in {percent(protocol.attack_success)} of cases, if all values are equally likely",
    )


def _against_nothing(point: _Point, advice: Ranking) -> str:
    without = advice.error_without_data
    if not without:
        return "–"
    share = point.error / without
    words = against_nothing(reasons_of(point.error, without, below=point.high < without))
    guess = f"{number(without, 3)}, guessing {advice.guess_without_data}"
    return f"{words}: {100 * share:.0f} % of the error without any data ({guess})"
