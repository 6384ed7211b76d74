"""The document of a choice: collect or not, what it takes, what ε means there, and the commands to go on with."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from advisor.answers.epsilon import meaning
from advisor.answers.rank.result import EVEN, ZERO
from advisor.answers.rank.verdict import MORE_THAN_HALF
from advisor.extensions.choose.answer import LEAST, LIMITS, METRIC, Choice, Need, Reason, Wishes
from advisor.figures import error_text, rounded, users
from advisor.members.names import pair_text
from advisor.question.rules import USERS_LOW
from advisor.question.settings import Goal, Instant, Terms
from advisor.show.budgets import price_table, priced_data
from advisor.show.decision import NO_PAIR, Decision, decision_of
from advisor.show.model import (
    Adjustment,
    Badge,
    Code,
    Column,
    Document,
    Records,
    Role,
    Scalar,
    Tone,
    Verdict,
    sentences,
)
from advisor.show.pictures import picture_section
from advisor.show.pictures.style import BAND, BLUE, INK, QUIET, headline, level_line, log_axis, picture
from advisor.show.rank.answer import hidden_sentences
from advisor.show.rank.table import error_cell
from advisor.show.sentences import assumed_sentences, meaning_sentences
from knowledge.menu import EPSILON

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSUMED = (
    "This assumes that a few answers are common and many are rare. If you have figures of earlier years, they are a "
    "better guide: ldp-advise choose FILE."
)
SENSITIVE = {"low": "hardly sensitive", "medium": "somewhat sensitive", "high": "very sensitive"}
CLOSE = (Reason.JUST_ENOUGH, Reason.JUST_SHORT)  # the accuracy lies within the interval of what is expected
LIKELY = (Reason.REACHED, *CLOSE)  # where a collection is an option
OUTCOMES = {  # the decision, the verdict, and what people read who decide
    Reason.REACHED: (Badge.COLLECT, "with ε = {epsilon}{each}, by {pair}.", "a share will be off by about {off}"),
    Reason.NOTHING_ASKED: (
        Badge.DO_NOT_COLLECT,
        "{guess} is good enough for what you asked.",
        "a guess without any data is off by only {without}",
    ),
    Reason.JUST_ENOUGH: (
        Badge.ALMOST,
        "perhaps enough at ε = {epsilon}, not surely{simulate}.",
        "a share will probably be off by less than {within}, but that is not sure",
    ),
    Reason.JUST_SHORT: (
        Badge.ALMOST,
        "just short at ε = {epsilon}, but not ruled out.",
        "a share will probably be off by {off}, and {within} was asked for",
    ),
    Reason.OUT_OF_REACH: (
        Badge.DO_NOT_COLLECT,
        "no ε up to {epsilon} brings the share of an answer within {within}.",
        "shares within {within} cannot be had with so many people and answers",
    ),
    Reason.UNSURE: (
        Badge.DO_NOT_COLLECT,
        "up to ε = {epsilon} it is not sure to be better than no data at all.",
        "it is not sure that the result is better than a guess without any data",
    ),
    Reason.NOT_COVERED: (
        Badge.NOTHING_SURE,
        "simulate first, as predictions do not cover {people} people and {answers} possible answers at ε = {epsilon}.",
        "whether it would be exact enough has to be simulated first",
    ),
}
GUESSES = {EVEN: "guessing that all answers are equally common", ZERO: "guessing 0 for every answer"}
BUDGETS = 13  # of the predicted curve, from the least that is advised to twice the limit


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


def outcome(choice: Choice) -> tuple[Badge, str, str]:
    """Return the decision, the verdict, and the reason in words without ε."""
    case, best = choice.case, choice.best
    badge, verdict, reason = OUTCOMES[choice.reason]
    words = {
        "epsilon": f"{choice.epsilon or case.limit:g}",
        "each": " each time" if case.times > 1 else "",
        "pair": pair_text(*best.pair),
        "off": points(best.error),
        "within": points(case.within),
        "without": points(case.without),
        "guess": GUESSES[choice.there.guess_without_data],
        "simulate": "" if choice.simulations else ": simulate before you decide",
        "people": f"{case.people:,}",
        "answers": f"{case.answers:,}",
    }
    if choice.reason == Reason.REACHED and MORE_THAN_HALF in choice.there.reasons:
        badge, verdict = Badge.ALMOST, f"what was asked is reached, but a guess errs less than twice as much: {verdict}"
    return badge, verdict.format_map(words), reason.format_map(words)


def decided(choice: Choice) -> str:
    """Return the kind of the decision."""
    if choice.reason == Reason.NOT_COVERED:
        return "simulate_first"
    return "do_not_collect" if choice.epsilon is None else "collect"


def expected_text(choice: Choice) -> str:
    """Return what was asked for, what is expected, and what no data would give."""
    case, there, best = choice.case, choice.there, choice.best
    parts = [f"Asked: within {points(case.within)}"]
    if choice.open_accuracy:
        parts = [f"Worth a collection: within {points(case.within)}, half of the error without data"]
    if choice.reason not in (Reason.NOT_COVERED, Reason.NOTHING_ASKED):
        off, _ = error_cell(best, there, 100)
        n, beyond = there.request.n, case.gaps and not choice.simulations
        moved = [f" with {n:,} people"] if n != case.people else []
        moved += [f" at ε = {there.request.epsilon:g}"] if there.request.epsilon != case.limit else []
        even = f" even{''.join(moved)}" if beyond else ""
        parts.append(f"expected{even} off by {off} percentage points, {users(rounded(best.error * n, 2))} people")
    parts.append(f"without data {points(case.without)}")
    if case.times > 1 and choice.reason in LIKELY:
        spent = there.request.epsilon * case.times
        parts.append(f"each person spends ε = {spent:.3g} in all {case.times:,} times")
    return f"{'; '.join(parts)}."


def limit_sentences(choice: Choice) -> list[str]:
    """Return what predictions cover, if not this case; the limit, and which budget over it would be enough."""
    case, need = choice.case, choice.changes.epsilon
    lines = [f"Predictions cover {'; '.join(case.gaps)}."] if choice.reason == Reason.NOT_COVERED else []
    each = " each time" if case.times > 1 else ""
    in_all = f", {LIMITS[case.sensitive]:g} in all" if case.times > 1 else ""
    limits = ", ".join(f"{name} {value:g}" for name, value in LIMITS.items())
    lines.append(
        f"The limit is ε = {case.limit:g}{each}{in_all}, for {SENSITIVE[case.sensitive]} answers ({limits}): a "
        "convention of this tool, not a law."
    )
    if need is not None:
        ends = f" ({need.low:g}–{need.high:g})" if need.low < need.high else ""
        lines.append(f"It would take about ε = {need.value:g}{ends}{each}, which is over the limit.")
    return lines


def changes(choice: Choice) -> list[Adjustment]:
    """Return what would be enough instead, each change alone."""
    new, case, lines = choice.changes, choice.case, []
    if choice.reason == Reason.NOTHING_ASKED:
        text = f"Ask for less than {points(case.without)} to learn something."
        return [_change(text, "within", size(case.worthwhile, 12))]
    if new.people is not None:
        lines.append(_change(f"With {people_text(new.people)}, collect.", "n", f"{new.people.value:.0f}"))
    if new.within is not None:
        off = new.within
        ends = error_text(*(100 * end for end in (off.value, off.low, off.high)), ranges=not off.simulated)
        lines.append(_change(f"If about {ends} percentage points would do, collect.", "within", size(off.value, 12)))
    if new.answers is not None:
        answers = f"{new.answers:,} possible answers{' or fewer' if new.answers > 2 else ''}"
        lines.append(_change(f"With {answers}, collect.", "k", f"{new.answers}"))
    if new.times is not None:
        often = "once" if new.times == 1 else f"{new.times:,} times"
        lines.append(_change(f"Asked {often} instead of {case.times:,} times, collect.", "times", f"{new.times}"))
    if lines or choice.reason in (Reason.REACHED, Reason.NOT_COVERED):
        return lines
    nothing = "No change of one of the answers alone is predicted to be enough"
    if case.times > 1:
        return [_change(f"{nothing}; asked once, other changes may be.", "times", "1")]
    return [Adjustment(f"{nothing}.")]


def _change(text: str, name: str, value: str) -> Adjustment:
    return Adjustment(text, f"--{name} {value}", {name: value})


def people_text(need: Need) -> str:
    """Return a number of people with its interval."""
    low, value, high = map(users, (need.low, need.value, need.high))
    return f"about {value} people ({low}–{high})" if low != high else f"about {value} people"


def meaning_lines(choice: Choice) -> list[str]:
    """Return what the budget promises a person who answers, where collecting is an option."""
    if choice.reason not in LIKELY:
        return []
    return meaning_sentences(meaning(choice.there.request.epsilon, choice.case.answers, choice.best.protocol))


def note_lines(choice: Choice) -> list[str]:
    """Return what the answer rests on."""
    case, frequencies = choice.case, choice.case.frequencies
    lines, change = ["These shares describe only those who answer."], choice.there.smallest_change
    if change is not None and choice.reason in LIKELY:
        lines.append(f"A change of less than {points(change)} since the figures of the file cannot be seen.")
    source = "" if frequencies is None else f" for the frequencies of {frequencies.name}"
    if choice.simulations:
        budgets = " and ".join(f"ε = {epsilon:g}" for epsilon in sorted(choice.simulations))
        lines.append(f"Simulated{source} at {budgets}, with seed 0.")
    elif choice.prices:
        lines.append(f"Predicted{source}, not simulated.")
    if frequencies is not None:
        lines += assumed_sentences(frequencies.assumptions)
    elif case.domain.ordered is None:
        lines.append("The answers are taken to have no order, as age bands have (--ordered).")
    return lines


def choice_document(choice: Choice) -> Document:
    """Return verdict, assumptions, prices of some budgets, and the next commands."""
    case, figures = choice.case, _figures(choice)
    badge, text, _ = outcome(choice)
    doubts = hidden_sentences(choice.there) if choice.reason in LIKELY else []
    doubts += [ASSUMED] if case.frequencies is None else []
    limits, means = limit_sentences(choice), meaning_lines(choice)
    warnings = list(dict.fromkeys(text for row in choice.prices for text in row.ranking.warnings))
    again, (title, further) = reproduce(choice), next_command(choice)
    verdict = Verdict(
        decided(choice),
        text,
        badge,
        () if choice.epsilon is not None else (choice.reason.value,),
        {"eps": choice.epsilon, "within": case.within, **_errors(choice)},
        numbers=expected_text(choice),
        changes=tuple(changes(choice)),
    )
    request = request_data(choice)
    label, draw = "error of a share against ε", partial(price_figure, choice)
    off = Column("off by, points", "how far off a share is, in percentage points, with its 95 % interval")
    return Document(
        title=f"{badge}: {re.split(r'[:.,] ', f'{text} ')[0]}",
        verdict=verdict,
        parts=(
            *sentences(warnings, Role.WARNING),
            *sentences(doubts, Role.ANSWER, Tone.DOUBTFUL),
            *sentences(limits),
            *sentences(means, Role.LEGEND),
            *([price_table(choice.prices, off, 100)] if choice.prices else []),
            *sentences(note_lines(choice), Role.NOTE),
            Code(again, "Reproduce this"),
            *([Code(ranking_command(choice), "Compare with all other pairs")] if choice.epsilon is not None else []),
            Code(further, title),
        ),
        data={
            "request": request,
            **figures,
            "summary": verdict.summary,
            "sentences": [text, *doubts, *limits, *means],
            "command": again,
            "next_command": further,
            "warnings": warnings,
            "budgets": [priced_data(row) for row in choice.prices],
        },
        records=Records.of([{**request, **figures}]),
        value=decided(choice) if choice.epsilon is None else f"{choice.epsilon:g}",
        setting=f"{case.people:,} people, {case.answers:,} possible answers",
        sections=lambda: (picture_section("What ε buys", label, draw, "prices"),) if choice.prices else (),
    )


def reproduce(choice: Choice, within: float | None = None) -> str:
    """Return the command that gives the same answer without questions, or the one for another accuracy."""
    case, share = choice.case, within or choice.case.within
    wishes = Wishes(people=case.people, within=100 * share, sensitive=case.sensitive, times=case.times)
    return _command("choose", *wishes.typed(), *choice.data_words, *choice.question.instant.typed())


def _command(*parts: str) -> str:
    return shlex.join(["ldp-advise", *parts])


def ranking_command(choice: Choice) -> str:
    """Return the command that ranks all pairs with the budget."""
    case = choice.case
    rounds = ("rounds", "--rounds", str(case.times)) if case.times > 1 else ()
    terms = Terms(epsilon=choice.epsilon, n=case.people, metric=(METRIC,))
    instant = Instant(instant=case.frequencies is not None and not choice.simulations)
    return _command(*rounds, *terms.typed(), *instant.typed(), *choice.data_words)


def next_command(choice: Choice) -> tuple[str, str]:
    """Return what to go on with, and the command: code to collect, a question that asks for something, or a plan."""
    case = choice.case
    if choice.epsilon is not None:
        protocol, method = choice.best.pair
        words = f"code --protocol {protocol} --method {method} --eps {choice.epsilon:g} --k {case.answers}"
        return "Next: write the code that collects", f"ldp-advise {words} --to collection"
    if choice.reason == Reason.NOTHING_ASKED:
        return "Next: ask for an accuracy that would tell something", reproduce(choice, case.worthwhile)
    title, known = "Next: simulate how many people it takes", Terms(epsilon=case.limit, metric=(METRIC,))
    if choice.reason == Reason.NOT_COVERED and case.people >= USERS_LOW:
        title = f"Next: simulate which ε it takes; collect if it is at most {case.limit:g}"
        known = Terms(n=case.people, metric=(METRIC,))
    elif choice.reason in CLOSE and not (case.domain.ordered and case.frequencies is None):
        # Of the ordered shapes that predictions average, a plan simulates one.
        title += f"; collect if it is at most {case.people:,}"
    return title, _command("plan", *Goal(target=case.within).typed(), *known.typed(), *choice.data_words)


def request_data(choice: Choice) -> dict[str, Scalar]:
    """Return the answers to the questions."""
    case = choice.case
    return {
        "n": case.people,
        "k": case.answers,
        "within": case.within,
        "sensitive": case.sensitive,
        "times": case.times,
        "ordered": case.at_limit.request.ordered,
    }


def _figures(choice: Choice) -> dict[str, Scalar]:
    """Return what the answers lead to."""
    case, new = choice.case, choice.changes
    best = None if choice.reason == Reason.NOT_COVERED else choice.best
    return {
        "choice": decided(choice),
        "reason": choice.reason.value,
        "eps": choice.epsilon,
        "eps_limit": case.limit,
        "eps_needed": choice.epsilon if new.epsilon is None else new.epsilon.value,
        "protocol": None if best is None else best.protocol,
        "method": None if best is None else best.method,
        **_errors(choice),
        "verdict": None if best is None else choice.there.verdict,
        "people_needed": None if new.people is None else round(new.people.value),
        "people_needed_low": None if new.people is None else new.people.low,
        "people_needed_high": None if new.people is None else new.people.high,
        "within_possible": None if new.within is None else new.within.value,
        "answers_possible": new.answers,
        "times_possible": new.times,
        "source": "simulation" if choice.simulations else "grid",
    }


def _errors(choice: Choice) -> dict[str, float | None]:
    """Return the error without data, and that of the best pair with its interval: None if it is not covered."""
    best, names = choice.best, ("error", "error_low", "error_high")
    errors = {name: None if choice.reason == Reason.NOT_COVERED else getattr(best, name) for name in names}
    return {**errors, "error_without_data": choice.case.without}


def price_figure(choice: Choice) -> Figure:
    """Return the error of a share in percentage points against ε; both axes are logarithmic."""
    case, at, error = choice.case, choice.there.request.epsilon, 100 * choice.best.error
    ends = max(min(LEAST, case.limit), EPSILON[0]), min(2 * case.limit, EPSILON[1])
    budgets = [] if case.gaps else [float(f"{budget:.3g}") for budget in np.geomspace(*ends, BUDGETS)]
    rows = [case.predicted(budget).best for budget in budgets]
    xs, ys = zip(*((row.epsilon, 100 * row.ranking.best.error) for row in choice.prices), strict=True)
    levels = [100 * value for value in (case.within, case.without) if value > 0]
    left, right = min(ends[0], *xs) / 1.1, 1.1 * max(ends[1], *xs)
    with picture(3.9) as (figure, axes):
        low, high = ([100 * getattr(row, end) for row in rows] for end in ("error_low", "error_high"))
        axes.fill_between(budgets, low, high, color=BAND, linewidth=0)
        axes.plot(budgets, [100 * row.error for row in rows], color=QUIET, linewidth=1.4)
        axes.plot(xs, ys, "o", color=BLUE, markersize=4)
        axes.plot(at, error, "o", color=BLUE, markersize=10, fillstyle="full" if choice.epsilon else "none")
        axes.set(xlim=(left, right), ylim=(min(*levels, *ys) / 2, 1.6 * max(*levels, *ys)))
        log_axis(axes.xaxis)
        log_axis(axes.yaxis)
        wanted = "worth a collection" if choice.open_accuracy else "asked for"
        level_line(axes, 100 * case.within, f"{wanted}: {size(case.within)}")
        level_line(axes, 100 * case.without, f"without any data: {size(case.without)}")
        axes.axvspan(case.limit, right, color=QUIET, alpha=0.12, linewidth=0)
        axes.axvline(case.limit, color=INK, linewidth=1)
        axes.set(xlabel="privacy budget ε of one report (left: more private)", ylabel="share off by, percentage points")
        chosen = f"{'collect with' if choice.epsilon else 'at the limit'} ε = {at:g}: {points(choice.best.error)}"
        drawn = ["line and band: predicted, 95 %"] if rows else []
        drawn += ["dots: simulated"] if choice.simulations else []
        setting = "; ".join((f"{case.people:,} people, {case.answers:,} possible answers", *drawn))
        headline(figure, f"What each ε buys: {chosen}", f"{setting}; shaded: over the limit")
        dots = "; ".join(f"ε = {x:g}: {y:.3g} points" for x, y in zip(xs, ys, strict=True))
        figure.set_label(
            f"Error of a share against ε: {dots}. Asked for: {points(case.within)}; without any data: "
            f"{points(case.without)}; limit: ε = {case.limit:g}."
        )
    return figure


def decision_of_choice(choice: Choice) -> Decision:
    """Return the decision of a choice."""
    case, need = choice.case, choice.changes.people
    badge, _, reason = outcome(choice)
    within = points(case.within)
    wanted = f"A share may be off by {within} on average."
    takes = "" if need is None else f"{people_text(need).capitalize()} would be enough."
    if choice.open_accuracy:
        wanted = f"Half of the error without any data is taken to be exact enough: {within} on average."
    decision = decision_of(choice.there, badge, reason, wanted=wanted, times=case.times, takes=takes)
    # Where predictions do not cover the case, figures are those of the nearest that they do.
    return replace(decision, people=case.people, pair=NO_PAIR if choice.reason == Reason.NOT_COVERED else decision.pair)
