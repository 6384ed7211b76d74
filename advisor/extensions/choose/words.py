"""The sentences of a choice: collect or not, how accurate that is, and what it would take."""

from __future__ import annotations

import math
from dataclasses import replace

from advisor.answers.epsilon import meaning
from advisor.answers.rank.result import EVEN
from advisor.answers.rank.verdict import WORTH_IT
from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import LIMITS, Alternatives, Need, Reason
from advisor.figures import lower_end, rounded, users
from advisor.names import pair_text
from advisor.question.rules import USERS_LOW
from advisor.show.model import Adjustment
from advisor.show.rank.answer import hidden_sentences
from advisor.show.sentences import meaning_sentences

ASSUMED = (
    "This assumes that a few answers are common and many are rare. If you have figures of earlier years, they are a "
    "better guide: ldp-advise choose FILE."
)
SENSITIVE = {"low": "hardly sensitive", "medium": "somewhat sensitive", "high": "very sensitive"}
CLOSE = (Reason.JUST_ENOUGH, Reason.JUST_SHORT)  # the accuracy lies within the interval of what is expected
LIKELY = (Reason.REACHED, *CLOSE)  # where a collection is an option
LINES = {  # the verdict, then further sentences
    Reason.REACHED: (
        "with ε = {epsilon}{each}, by {pair}.",
        "The figures are {how}; those in brackets are the 95 % interval. An ε of up to {limit} would be allowed.{half}",
    ),
    Reason.NOTHING_ASKED: ("{blind} is good enough for what you asked.",),
    Reason.JUST_ENOUGH: (
        "perhaps enough at ε = {most}, not surely: simulate before you decide.",
        "The figures are {how}, by {pair}; the 95 % interval in brackets reaches above what you need.",
        "The limit: ε = {limit}.",
    ),
    Reason.JUST_SHORT: (
        "just short at ε = {most}, but not ruled out.",
        "The figures are {how}, by {pair}; what you need lies within the 95 % interval in brackets.",
        "The limit: ε = {limit}.",
    ),
    Reason.OUT_OF_REACH: (
        "no ε up to {most} brings the share of an answer within {within}.",
        "{there} it would be {off} by {pair} ({how}, 95 % interval). The limit: ε = {limit}.",
    ),
    Reason.UNSURE: (
        "up to ε = {most} it is not sure to be better than no data at all.",
        "The best pair is {pair} ({how}). The limit: ε = {limit}.",
    ),
    Reason.NOT_COVERED: (
        "simulate first, as predictions do not cover {people} people and {answers} possible answers.",
        "Predictions cover {gaps}. The next command simulates {unknown}.",
    ),
}
MANY = 10**9  # people, where no number is known to be enough
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
    parts = _parts(choice)
    first, *rest = (line.format_map(parts) for line in LINES[choice.reason])
    return [first, *(hidden_sentences(choice.there) if choice.reason in LIKELY else ()), *rest]


def numbers(choice: Choice) -> str:
    """Return what was asked for, what is expected, and what no data would give."""
    parts = _parts(choice)
    expected = "" if choice.reason in (Reason.NOT_COVERED, Reason.NOTHING_ASKED) else "expected {off}; "
    return f"{{aim}}; {expected}without data {{without}}.".format_map(parts)


def _parts(choice: Choice) -> dict[str, str]:
    """Return what the sentences of an answer are made of."""
    case, best, there, near = choice.case, choice.best, choice.there, choice.case.nearest
    margin = interval(best.error_low, best.error_high, simulated=there.repetitions > 0)
    within, without = points(case.within), points(case.without)
    even = there.guess_without_data == EVEN
    blind = "guessing that all answers are equally common" if even else "guessing 0 for every answer"
    total = f" each time, {LIMITS[case.sensitive]:g} in all" if case.times > 1 else ""
    more = [
        *([f"{near.people:,} people"] if near.people > case.people else []),
        *([f"ε = {near.limit:g} each time"] if near.limit > case.limit else []),
    ]
    return {
        "people": f"{case.people:,}",
        "answers": f"{case.answers:,}",
        "epsilon": f"{choice.epsilon or 0:g}",
        "each": " each time" if case.times > 1 else "",
        "limit": f"{case.limit:g}{total} (for {SENSITIVE[case.sensitive]} answers)",
        "there": f"Even with {' and '.join(more)}, which is more," if more else f"With ε = {case.limit:g}",
        "pair": pair_text(*best.pair),
        "off": f"off by {points(best.error)} ({margin}), {users(best.error * there.request.n)} people",
        "how": "simulated" if there.repetitions else "predicted",
        "within": within,
        "aim": f"Worth a collection: within {within}, half of the error without data"
        if choice.open_accuracy
        else f"Asked: within {within}",
        "most": f"{case.limit:g}",
        "without": without,
        "blind": blind,
        "half": ""
        if there.verdict == WORTH_IT
        else f" More than half of the error without data: {blind} is off by {without} on average.",
        "gaps": "; ".join(case.gaps),
        "unknown": f"which ε this takes each time: collect if it is at most {case.limit:g}"
        if finds_budget(choice)
        else "how many people this takes",
    }


def changes(choice: Choice) -> list[Adjustment]:
    """Return what would be enough instead, each change alone."""
    new, case = choice.changes, choice.case
    if choice.reason == Reason.NOTHING_ASKED:
        text = f"Ask for less than {points(case.without)} to learn something."
        return [_change(text, within=f"{100 * case.worthwhile:.12g}")]
    lines = _figure_changes(new)
    if new.answers is not None:
        answers = f"{new.answers:,} possible answers{' or fewer' if new.answers > 2 else ''}"
        lines.append(_change(f"With {answers}, collect.", k=f"{new.answers}"))
    if new.times is not None:
        often = "once" if new.times == 1 else f"{new.times:,} times"
        lines.append(_change(f"Asked {often} instead of {case.times:,} times, collect.", times=f"{new.times}"))
    if new.once is not None:
        lines += _figure_changes(new.once, times="1")
    if lines or choice.reason == Reason.REACHED:
        return lines
    return [Adjustment("No change of one of the answers alone is predicted to be enough.")]


def _figure_changes(new: Alternatives, **settings: str) -> list[Adjustment]:
    """Return how many people, or how little accuracy, would be enough with some other settings."""
    lines, once = [], "asked once, " if settings else ""
    if new.people is not None:
        text = f"With {people_text(new.people)}{', asked once' if settings else ''}, collect."
        lines.append(_change(text, **settings, n=f"{math.ceil(new.people.value)}"))
    if new.within is not None:
        off = new.within
        margin = interval(off.low, off.high, simulated=off.simulated)
        text = f"If {once}about {points(off.value)} ({margin}) would do, collect."
        lines.append(_change(text, **settings, within=size(off.value, 12)))
    return lines


def _change(text: str, **settings: str) -> Adjustment:
    return Adjustment(text, " ".join(f"--{name} {value}" for name, value in settings.items()), settings)


def finds_budget(choice: Choice) -> bool:
    """Return whether the command to go on with looks for the ε, not for the people."""
    return choice.reason == Reason.NOT_COVERED and choice.case.people >= USERS_LOW


def over_limit(choice: Choice) -> list[str]:
    """Return which budget would be enough, and that it is over the limit."""
    need, case = choice.changes.epsilon, choice.case
    if need is None:
        return []
    ends = f" ({need.low:g}–{need.high:g})" if need.low < need.high else ""
    total = f" each time, {need.value * case.times:.3g} in all" if case.times > 1 else ""
    return [
        f"With the other answers as they are, it takes about ε = {need.value:g}{ends}{total}. That is over the limit "
        f"of {LIMITS[case.sensitive]:g} in all: weaker privacy than this tool advises for {SENSITIVE[case.sensitive]} "
        "answers."
    ]


def people_text(need: Need) -> str:
    """Return a number of people with its interval: as a plan shows it where it was simulated, else two digits."""
    digits = 4 if need.simulated else 2
    low, value, high = (
        f"{rounded(figure, digits) if math.isfinite(figure) else MANY:,.0f}"
        for figure in (need.low, need.value, need.high)
    )
    return f"about {value} people ({low}–{high})" if low != high else f"about {value} people"


def meaning_lines(choice: Choice) -> list[str]:
    """Return what the budget promises a person who answers, where collecting is an option."""
    if choice.reason not in LIKELY:
        return []
    epsilon, case = choice.there.request.epsilon, choice.case
    promise = meaning(epsilon, case.answers, choice.best.protocol)
    near = tuple(deployment for deployment in promise.deployments if 1 / NEAR <= deployment.epsilon / epsilon <= NEAR)
    lines = meaning_sentences(replace(promise, deployments=near))
    if case.times > 1:
        total = epsilon * case.times
        lines.append(f"Who answers {case.times:,} times with fresh noise spends ε = {total:.3g} in all.")
    return lines


def note_lines(choice: Choice) -> list[str]:
    """Return what the answer rests on."""
    case, frequencies = choice.case, choice.case.frequencies
    sample, predicted = choice.there.request.sample, case.reason == Reason.REACHED
    lines = ["These shares describe only those who answer."]
    if choice.simulations:
        budgets = " and ".join(f"ε = {epsilon:g}" for epsilon in sorted(choice.simulations))
        lines.append(
            f"Simulated for {budgets} from the frequencies of {sample}, with seed 0; what other budgets buy is "
            "predicted."
        )
        if predicted != (choice.reason == Reason.REACHED) and not case.gaps:
            other = "to collect" if predicted else "not to collect"
            lines.append(f"Predictions alone said {other}: the simulation of your file is more exact, and decides.")
    elif choice.prices:
        source = "" if frequencies is None else f" for the frequencies of {sample}"
        lines.append(f"Predicted{source}, not simulated.")
    if frequencies is not None and frequencies.assumptions:
        lines.append("Assumed: " + "; ".join(frequencies.assumptions) + ".")
    limits = ", ".join(f"{name} ε = {value:g}" for name, value in LIMITS.items())
    lines.append(
        f"Limits by sensitivity: {limits} for all reports of a person. They are a convention of this tool, not a law."
    )
    if frequencies is None and case.domain.ordered is None:
        lines.append(
            "The answers are taken to have no order. If they have one, as age bands have, it may take less: --ordered."
        )
    return lines
