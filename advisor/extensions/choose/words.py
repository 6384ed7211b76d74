"""The sentences of a choice: collect or not, how accurate that is, and what it would take."""

from __future__ import annotations

import math
from dataclasses import replace

from advisor.answers.rank.meaning import meaning
from advisor.answers.rank.result import EVEN
from advisor.answers.rank.verdict import WORTH_IT
from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import (
    JUST_ENOUGH,
    JUST_SHORT,
    NOT_COVERED,
    NOTHING_ASKED,
    OUT_OF_REACH,
    REACHED,
    UNSURE,
)
from advisor.extensions.choose.changes import Need
from advisor.extensions.choose.question import LIMITS
from advisor.figures import lower_end, users
from advisor.names import pair_text
from advisor.question.rules import USERS_LOW
from advisor.show.rank.answer import hidden_sentences
from advisor.show.sentences import meaning_sentences

ASSUMED = (
    "This assumes that a few answers are common and many are rare. If you have figures of earlier years, they are a "
    "better guide: ldp-advise choose FILE."
)
SENSITIVE = {"low": "hardly sensitive", "medium": "somewhat sensitive", "high": "very sensitive"}
NEAR = 3.0  # ratio up to which the budget of a known deployment is a comparison


def size(share: float, digits: int = 3) -> str:
    """Return a share in percentage points, without the unit.

    >>> size(0.0104582), size(0.01), size(0.00742, 2)
    ('1.05', '1', '0.74')
    """
    return f"{float(f'{100 * share:.{digits}g}'):.12g}"


def points(share: float) -> str:
    """Return a share in percentage points, three digits.

    >>> points(0.0104582), points(0.01)
    ('1.05 percentage points', '1 percentage point')
    """
    figure = size(share)
    return f"{figure} percentage point{'' if figure == '1' else 's'}"


def interval(low: float, high: float, *, simulated: bool = False) -> str:
    """Return an interval of shares in percentage points: two digits of what is predicted, three of simulated ones."""
    digits = 3 if simulated else 2
    return f"{size(lower_end(low, high), digits)}–{size(high, digits)}"


def answer_lines(choice: Choice) -> list[str]:
    """Return the verdict and, in further sentences, how sure that is, and which answers are too rare to be seen."""
    lines = _LINES[choice.reason](choice)
    seen = choice.reason in (REACHED, JUST_ENOUGH, JUST_SHORT)
    return [lines[0], *(hidden_sentences(choice.there.ranking) if seen else ()), *lines[1:]]


def _off(choice: Choice) -> str:
    best, people = choice.best, choice.there.ranking.request.n
    return (
        f"about {points(best.error)} ({interval(best.error_low, best.error_high, simulated=_simulated(choice))}), "
        f"which is {users(best.error * people)} people,"
    )


def _asked(choice: Choice) -> str:
    if choice.open_accuracy:
        return f"up to {points(choice.within)} is worth a collection (half of the error without data)"
    return f"you asked for {points(choice.within)}"


def _limit(choice: Choice) -> str:
    total = f" each time, {LIMITS[choice.sensitive]:g} in all" if choice.times > 1 else ""
    return f"{choice.limit:g}{total} (the limit this tool takes for {SENSITIVE[choice.sensitive]} answers)"


def _simulated(choice: Choice) -> bool:
    return choice.there.ranking.repetitions > 0


def _how(choice: Choice) -> str:
    return "simulated" if _simulated(choice) else "predicted"


def _guess(choice: Choice) -> str:
    """Return which guess without data is the better one, and how far off it is."""
    even = choice.there.ranking.guess_without_data == EVEN
    guess = "guessing that all answers are equally common" if even else "guessing 0 for every answer"
    return f"{guess} is off by {points(choice.without)} on average"


def _collect(choice: Choice) -> list[str]:
    """Return that collecting is worth it, how accurate it is, and how sure that is."""
    each = " each time" if choice.times > 1 else ""
    half = "" if choice.there.verdict == WORTH_IT else f" More than half of the error without data: {_guess(choice)}."
    best = choice.best
    return [
        f"Collect with ε = {choice.epsilon:g}{each}, by {pair_text(*best.pair)}. Expect the share of an answer to be "
        f"off by {_off(choice)} on average; {_asked(choice)}.{half}",
        f"The figures are {_how(choice)}; those in brackets are the 95 % interval. An ε of up to {_limit(choice)} "
        "would be allowed.",
    ]


def _nothing_asked(choice: Choice) -> list[str]:
    lines = [f"Do not collect for this: {_guess(choice)}. You asked for {points(choice.within)}, which takes no data."]
    return [*lines, f"Ask for less than {points(choice.without)} to learn something."] if choice.without else lines


def _just_enough(choice: Choice) -> list[str]:
    within = choice.changes.within
    enough = "" if within is None else f" If {points(within.value)} would do, collect."
    return [
        f"Perhaps enough, not surely: with {choice.people:,} people, {choice.answers:,} possible answers and "
        f"ε = {_limit(choice)}, expect the share of an answer to be off by {_off(choice)} on average; "
        f"{_asked(choice)}.",
        f"The figures are {_how(choice)}, by {pair_text(*choice.best.pair)}. The 95 % interval in brackets reaches "
        f"above what you need, so simulate before you decide.{enough}",
        f"Without any data, {_guess(choice)}.",
    ]


def _just_short(choice: Choice) -> list[str]:
    within = choice.changes.within
    enough = "" if within is None else f" If {points(within.value)} would do, collect."
    return [
        f"Just short: with {choice.people:,} people, {choice.answers:,} possible answers and ε = {_limit(choice)}, "
        f"expect the share of an answer to be off by {_off(choice)} on average; {_asked(choice)}.",
        f"The figures are {_how(choice)}, by {pair_text(*choice.best.pair)}. What you need lies within the 95 % "
        f"interval in brackets, so it is not ruled out.{enough}",
        f"Without any data, {_guess(choice)}.",
    ]


def _refrain(choice: Choice) -> list[str]:
    near = choice.case.nearest
    eased = [
        *([f"{near.people:,} people"] if near.people > choice.people else []),
        *([f"ε = {near.limit:g} each time"] if near.limit > choice.limit else []),
    ]
    there = f"With ε = {choice.limit:g}" if not eased else f"Even with {' and '.join(eased)}, which is more,"
    return [
        f"Do not collect like this: with {choice.people:,} people and {choice.answers:,} possible answers, no ε up to "
        f"{_limit(choice)} brings the share of an answer within {points(choice.within)} on average.",
        f"{there} it would be off by {_off(choice)} by {pair_text(*choice.best.pair)} ({_how(choice)}, 95 % interval). "
        f"Without any data, {_guess(choice)}.",
    ]


def _unsure(choice: Choice) -> list[str]:
    return [
        f"Do not collect like this: with {choice.people:,} people and ε up to {_limit(choice)} the share of an answer "
        f"would be off by {_off(choice)} on average. It is not sure that this is better than no data at all.",
        f"Without any data, {_guess(choice)}. The best pair is {pair_text(*choice.best.pair)} ({_how(choice)}).",
    ]


def _not_covered(choice: Choice) -> list[str]:
    asks = f"which ε this takes each time: collect if it is at most {choice.limit:g}" if finds_budget(choice) else (
        "how many people this takes"
    )  # fmt: skip
    return [
        f"Do not collect without a simulation: predictions do not cover {choice.people:,} people, "
        f"{choice.answers:,} possible answers and ε up to {_limit(choice)}.",
        f"They cover {'; '.join(choice.case.gaps)}. The next command simulates {asks}.",
    ]


_LINES = {
    REACHED: _collect,
    NOTHING_ASKED: _nothing_asked,
    JUST_ENOUGH: _just_enough,
    JUST_SHORT: _just_short,
    OUT_OF_REACH: _refrain,
    UNSURE: _unsure,
    NOT_COVERED: _not_covered,
}


def finds_budget(choice: Choice) -> bool:
    """Tell whether the command to go on with looks for the ε, not for the people."""
    return choice.reason == NOT_COVERED and choice.people >= USERS_LOW


def over_limit(choice: Choice) -> list[str]:
    """Return which budget would be enough, and that it is over the limit."""
    need = choice.changes.epsilon
    if need is None:
        return []
    total = f" each time, {need.value * choice.times:.3g} in all" if choice.times > 1 else ""
    return [
        f"With the other answers as they are, it takes about ε = {budget_text(need)}{total}. That is over the limit of "
        f"{LIMITS[choice.sensitive]:g} in all: weaker privacy than this tool advises for "
        f"{SENSITIVE[choice.sensitive]} answers."
    ]


def budget_text(need: Need) -> str:
    """Return a budget with its interval."""
    return f"{need.value:g} ({need.low:g}–{need.high:g})" if need.low < need.high else f"{need.value:g}"


def people_text(need: Need) -> str:
    """Return a number of people with its interval: as a plan shows it where it was simulated, else two digits."""
    low, value, high = (
        f"{_users(figure, 4 if need.simulated else 2):,}" for figure in (need.low, need.value, need.high)
    )
    return f"about {value} ({low}–{high})" if low != high else f"about {value}"


def _users(figure: float, digits: int) -> int:
    if not math.isfinite(figure):
        return 10**9
    step = 10 ** max(0, len(str(int(figure))) - digits)
    return round(figure / step) * step


def meaning_lines(choice: Choice) -> list[str]:
    """Return what the budget promises a person who answers, where collecting is an option."""
    if choice.reason not in (REACHED, JUST_ENOUGH, JUST_SHORT):
        return []
    row = choice.there
    promise = meaning(row.epsilon, choice.answers, choice.best.protocol)
    near = tuple(one for one in promise.deployments if 1 / NEAR <= one.epsilon / row.epsilon <= NEAR)
    lines = meaning_sentences(replace(promise, deployments=near))
    if choice.times > 1:
        total = row.epsilon * choice.times
        lines.append(f"Who answers {choice.times:,} times with fresh noise spends ε = {total:.3g} in all.")
    return lines


def note_lines(choice: Choice) -> list[str]:
    """Return what the answer rests on."""
    limits = ", ".join(f"{name} ε = {value:g}" for name, value in LIMITS.items())
    frequencies = choice.case.frequencies
    lines = ["These shares describe only those who answer."]
    if choice.decision.simulated:
        budgets = " and ".join(f"ε = {one:g}" for one in sorted(one for one, _ in choice.decision.simulated))
        lines.append(
            f"Simulated for {budgets} from the frequencies of {choice.there.ranking.request.sample}, with seed 0; what "
            "other budgets buy is predicted."
        )
        if (choice.case.reason == REACHED) != (choice.reason == REACHED) and not choice.case.gaps:
            other = "to collect" if choice.case.reason == REACHED else "not to collect"
            lines.append(f"Predictions alone said {other}: the simulation of your file is more exact, and decides.")
    elif choice.priced:
        source = "" if frequencies is None else f" for the frequencies of {choice.there.ranking.request.sample}"
        lines.append(f"Predicted{source}, not simulated.")
    if frequencies is not None and frequencies.assumptions:
        lines.append("Assumed: " + "; ".join(frequencies.assumptions) + ".")
    lines.append(
        f"Limits by sensitivity: {limits} for all reports of a person. They are a convention of this tool, not a law."
    )
    if frequencies is None and choice.case.domain.ordered is None:
        lines.append(
            "The answers are taken to have no order. If they have one, as age bands have, it may take less: --ordered."
        )
    return lines
