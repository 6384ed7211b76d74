"""Expected figures at other budgets and numbers of users, for a page with dials."""

from __future__ import annotations

import math

from advisor.answers.epsilon import meaning
from advisor.answers.rank.outlook import Expectation, Outlook
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.verdict import against_nothing
from advisor.figures import error_text, number, percent, points, users
from advisor.show.model import Curve, Dial, Explorer
from advisor.show.sentences import error_unit, meaning_sentences
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS

NAMES = (
    "Compared with no data",
    "Each category is off by",
    "Smallest detectable frequency",
    "Promise",
    "Use",
    "Attack: best guess from one report",
)


def explorer_of(outlook: Outlook) -> Explorer:
    """Return the figures of an outlook in words, and the curves of its errors along the budgets."""
    advice, (first, second) = outlook.ranking, outlook.at
    budgets, numbers = tuple(row[0].epsilon for row in outlook.points), tuple(one.n for one in outlook.points[0])
    without = advice.error_without_data
    counted = "users" if advice.request.users == advice.request.n else "reports of an attribute"
    size, unit = error_unit(advice.metric, advice.request.bins)
    axis = f"{METRICS[advice.metric].title} ({unit})"

    by_users = tuple(zip(*outlook.points, strict=True))
    raw = tuple(tuple(None if point.raw is None else size * point.raw for point in row) for row in by_users)
    nothing = tuple((size * (without or 0.0),) * len(row) for row in by_users)
    return Explorer(
        title="What to expect",
        note=_note(outlook),
        dials=(
            Dial("ε, the privacy budget of one report", tuple(f"ε = {one:g}" for one in budgets), first, budgets),
            Dial(f"n, the number of {counted}", tuple(f"n = {one:,}" for one in numbers), second, numbers),
        ),
        names=(f"Expected {axis}", *NAMES),
        figures=tuple(tuple(_texts(point, advice) for point in row) for row in outlook.points),
        axis=axis,
        curves=()
        if len(budgets) < 2
        else (
            Curve(
                "with the pair to use",
                tuple(tuple(size * point.error for point in row) for row in by_users),
                tuple(tuple((size * point.low, size * point.high) for point in row) for row in by_users),
            ),
            Curve("raw estimate", raw),
            *([Curve(f"no data: {advice.guess_without_data}", nothing)] if without else []),
        ),
    )


def _note(outlook: Outlook) -> str:
    request = outlook.ranking.request
    if request.central is not None:
        return "These figures are for this question alone: with a shuffler other users have other budgets."
    if not outlook.covered:
        return "These figures are for this question alone: the model behind predictions does not cover it."
    limits = " Constraints are those of the question." if request.removals else ""
    if outlook.ranking.source == "grid":
        return f"Predicted by a model, here and everywhere; ranges are 95 %.{limits}"
    return (
        f"Simulated at ε = {request.epsilon:g}, n = {request.n:,}. Everywhere else predicted by a model and multiplied "
        f"by {outlook.factor:.2f}, the ratio of simulated to predicted error at that point; ranges are 95 %.{limits}"
    )


def _texts(point: Expectation, advice: Ranking) -> tuple[str, ...]:
    request, k = advice.request, advice.request.k
    size, _ = error_unit(advice.metric, request.bins)
    collected = request.collected is not None
    protocol = request.oracle(point.protocol) if collected else PROTOCOLS[point.protocol](k, point.epsilon)
    smallest, off, without = point.smallest(protocol), point.per_category, advice.error_without_data
    people = point.n * request.users // request.n  # of several attributes a user may report one
    compared, attacker = "–", "if all values are equally likely"
    if request.has_sample:
        attacker = f"by who knows the frequencies of the sample; without a report in {percent(request.prior_guess)}"
    if without:
        guess = f"{number(size * without, 3)}, guessing {advice.guess_without_data}"
        share = f"{100 * point.error / without:.0f} % of" if point.error < math.inf else "infinite beside"
        compared = f"{against_nothing(point.reasons(without))}: {share} the error without any data ({guess})"
    return (
        error_text(size * point.error, size * point.low, size * point.high, ranges=point.ranges),
        compared,
        "–" if off is None else f"about {users(off * people)} of {people:,} users ({points(off)})",
        "none" if smallest is None else f"{percent(smallest)}: {users(smallest * people)} users",
        meaning_sentences(meaning(point.epsilon, k))[0],
        f"{protocol.title} ({point.protocol}, {protocol.report_bits:,} bits a report) with "
        f"{POSTPROCESSORS[point.method].title} ({point.method})",
        f"right in {percent(request.attack_success(point.protocol, protocol))} of cases, {attacker}",
    )
