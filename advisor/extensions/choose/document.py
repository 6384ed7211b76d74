"""The document of a choice: collect or not, what it takes, what ε means there, and the commands to go on with."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from advisor.answers.budgets import Priced
from advisor.answers.epsilon import meaning
from advisor.answers.rank.result import EVEN
from advisor.answers.rank.verdict import WORTH_IT, against_nothing
from advisor.extensions.choose.answer import LEAST, LIMITS, METRIC, Alternatives, Choice, Need, Reason
from advisor.figures import lower_end, percent, rounded, users
from advisor.members.names import pair_text
from advisor.question.rules import USERS_LOW
from advisor.question.settings import Categories
from advisor.show.budgets import TONES, priced_data
from advisor.show.decision import Decision, decision_of
from advisor.show.model import (
    Adjustment,
    Badge,
    Code,
    Column,
    Document,
    Records,
    Role,
    Row,
    Scalar,
    Sentence,
    Table,
    Tone,
    Verdict,
)
from advisor.show.pictures import picture_section
from advisor.show.pictures.style import BAND, BLUE, INK, ORANGE, QUIET, headline, log_axis, picture
from advisor.show.rank.answer import hidden_sentences
from advisor.show.rank.table import ATTACK, attacker_text
from advisor.show.sentences import assumed_sentences, meaning_sentences
from knowledge.menu import EPSILON

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
        "perhaps enough at ε = {most}, not surely{simulate}.",
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
REASONS = {
    Reason.REACHED: (Badge.COLLECT, "a share will be off by about {off}"),
    Reason.NOTHING_ASKED: (Badge.DO_NOT_COLLECT, "a guess without any data is off by only {without}"),
    Reason.JUST_ENOUGH: (Badge.ALMOST, "a share will probably be off by less than {within}, but that is not sure"),
    Reason.JUST_SHORT: (Badge.ALMOST, "a share will probably be off by {off}, and {within} was asked for"),
    Reason.OUT_OF_REACH: (Badge.DO_NOT_COLLECT, "shares within {within} cannot be had with so many people and answers"),
    Reason.UNSURE: (Badge.DO_NOT_COLLECT, "it is not sure that the result is better than a guess without any data"),
    Reason.NOT_COVERED: (Badge.DO_NOT_COLLECT, "whether it would be exact enough has to be simulated first"),
}
MANY = 10**9  # people, where no number is known to be enough
REQUEST = ("n", "k", "within", "sensitive", "times", "ordered")  # facts that were asked
BUDGETS = 13  # of the predicted curve, from the least that is advised to twice the limit
COLLECT, REFRAIN = "collect", "do_not_collect"
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


def _answer(choice: Choice) -> tuple[str, str, list[str]]:
    """Return the verdict, its figures, and further sentences: how sure that is."""
    parts = _parts(choice)
    first, *rest = (line.format_map(parts) for line in LINES[choice.reason])
    expected = "" if choice.reason in (Reason.NOT_COVERED, Reason.NOTHING_ASKED) else f"expected {parts['off']}; "
    return first, f"{parts['aim']}; {expected}without data {parts['without']}{parts['spent']}.", rest


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
        "spent": ""
        if case.times == 1 or choice.reason not in LIKELY
        else f"; each person spends ε = {there.request.epsilon * case.times:.3g} in all {case.times:,} times",
        "limit": f"{case.limit:g}{total} (for {SENSITIVE[case.sensitive]} answers)",
        "there": f"Even with {' and '.join(more)}, which is more," if more else f"With ε = {case.limit:g}",
        "pair": pair_text(*best.pair),
        "off": f"off by {points(best.error)} ({margin}), {users(best.error * there.request.n)} people",
        "how": "simulated" if there.repetitions else "predicted",
        "simulate": "" if there.repetitions else ": simulate before you decide",
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
    return meaning_sentences(replace(promise, deployments=near))


def note_lines(choice: Choice) -> list[str]:
    """Return what the answer rests on."""
    case, frequencies = choice.case, choice.case.frequencies
    sample, predicted = choice.there.request.sample, case.reason == Reason.REACHED
    lines, change = ["These shares describe only those who answer."], choice.there.smallest_change
    if change is not None and choice.reason in LIKELY:
        lines.append(f"A change of less than {points(change)} since the figures of the file cannot be seen.")
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
    lines += assumed_sentences(() if frequencies is None else frequencies.assumptions)
    limits = ", ".join(f"{name} ε = {value:g}" for name, value in LIMITS.items())
    lines.append(
        f"Limits by sensitivity: {limits} for all reports of a person. They are a convention of this tool, not a law."
    )
    if frequencies is None and case.domain.ordered is None:
        lines.append("The answers are taken to have no order, as age bands have (--ordered).")
    return lines


def choice_document(choice: Choice) -> Document:
    """Return verdict, assumptions, prices of some budgets, and the next commands."""
    case, good, facts = choice.case, choice.epsilon is not None, _facts(choice)
    first, numbers, rest = _answer(choice)
    assumed = [] if choice.data_words else [ASSUMED]
    hidden = hidden_sentences(choice.there) if choice.reason in LIKELY else []
    means = meaning_lines(choice)
    if choice.reason not in (Reason.REACHED, Reason.NOTHING_ASKED):
        rest += over_limit(choice)
    warnings = list(dict.fromkeys(text for row in choice.prices for text in row.ranking.warnings))
    again, (title, further) = reproduce(choice), _next(choice)
    label, draw = "error of a share against ε", partial(price_figure, choice)
    badge = Badge.COLLECT if good else Badge.ALMOST if choice.reason in CLOSE else Badge.DO_NOT_COLLECT
    answer = Verdict(
        COLLECT if good else REFRAIN,
        first,
        badge,
        () if good else (choice.reason.value,),
        {"eps": choice.epsilon, "within": case.within, **_errors(choice), "error_without_data": case.without},
        numbers=numbers,
        changes=tuple(changes(choice)),
    )
    return Document(
        title=f"{badge}: {re.split(r'[:.,] ', f'{first} ')[0]}",
        verdict=answer,
        parts=(
            *(Sentence(text, Role.WARNING) for text in warnings),
            *(Sentence(text, Role.ANSWER, Tone.DOUBTFUL) for text in (*hidden, *assumed)),
            *map(Sentence, rest),
            *(Sentence(text, Role.LEGEND) for text in means),
            *([_price_table(choice.prices)] if choice.prices else []),
            *(Sentence(text, Role.NOTE) for text in note_lines(choice)),
            Code(again, "Reproduce this"),
            *([Code(_ranking(choice), "Compare with all other pairs")] if good else []),
            Code(further, title),
        ),
        data={
            "request": {name: facts[name] for name in REQUEST},
            **{name: value for name, value in facts.items() if name not in REQUEST},
            "summary": answer.summary,
            "sentences": [first, *hidden, *assumed, *rest, *means],
            "command": again,
            "next_command": further,
            "warnings": warnings,
            "budgets": [priced_data(row) for row in choice.prices],
        },
        records=Records.of([facts]),
        value=REFRAIN if choice.epsilon is None else f"{choice.epsilon:g}",
        setting=f"{case.people:,} people, {case.answers:,} possible answers",
        sections=lambda: (picture_section("What ε buys", label, draw, "prices"),) if choice.prices else (),
    )


def _price_table(rows: tuple[Priced, ...]) -> Table:
    """Return what each budget buys, in percentage points and people."""
    request = rows[0].ranking.request
    columns = (
        Column("ε", "privacy budget of one report"),
        Column("protocol", text=True),
        Column("method", text=True),
        Column("off by, points", "how far off the share of an answer is, in percentage points, with its 95 % interval"),
        Column("people", f"the same in people of {request.n:,}", drop=2),
        Column("than no data", "what collecting adds to an answer without any data", text=True),
        Column("detects", "people with the rarest answer that can be detected", drop=3),
        Column("guessed", f"{ATTACK}, {attacker_text(request)}", drop=4),
    )
    return Table(columns, tuple(map(_price, rows)), noun="budgets", cut=False)


def _price(row: Priced) -> Row:
    best = row.ranking.best
    margin = interval(best.error_low, best.error_high, simulated=row.ranking.repetitions > 0)
    return Row.of(
        [
            (f"{row.epsilon:g}", row.epsilon),
            best.protocol,
            best.method,
            (f"{size(best.error)} ({margin})", best.error),
            ("–" if row.off is None else users(row.off), row.off),
            (against_nothing(row.ranking.reasons), None),
            ("–" if row.detectable is None else users(row.detectable), row.detectable),
            (percent(row.attack), row.attack),
        ],
        TONES[row.verdict],
    )


def reproduce(choice: Choice, within: float | None = None) -> str:
    """Return the command that gives the same answer without questions, or the one for another accuracy."""
    case = choice.case
    within = case.within if within is None else within
    asked = f"--within {100 * within:.12g} --sensitive {case.sensitive} --times {case.times}"
    instant = ["--instant"] if choice.instant else []
    return _command(*f"choose --n {case.people}".split(), *_domain(choice), *asked.split(), *instant)


def _command(*parts: str) -> str:
    return shlex.join(["ldp-advise", *parts])


def _domain(choice: Choice) -> tuple[str, ...]:
    """Return the words that name the data, or the number of answers and their order."""
    order = Categories(ordered=choice.case.domain.ordered).typed()
    return choice.data_words or ("--k", str(choice.case.answers), *order)


def _ranking(choice: Choice) -> str:
    """Return the command that ranks all pairs with the budget."""
    case = choice.case
    rounds = ("rounds", "--rounds", str(case.times)) if case.times > 1 else ()
    instant = ("--instant",) if choice.data_words and not choice.simulations else ()
    setting = ("--eps", f"{choice.epsilon:g}", "--n", str(case.people), "--metric", METRIC, *instant)
    return _command(*rounds, *setting, *_domain(choice))


def _next(choice: Choice) -> tuple[str, str]:
    """Return what to go on with: code to collect, a question that asks for something, or a simulated plan.

    And the command that does it.
    """
    case = choice.case
    if choice.epsilon is not None:
        protocol, method = choice.best.pair
        setting = f"--eps {choice.epsilon:g} --k {case.answers} --to collection"
        code = _command("code", "--protocol", protocol, "--method", method, *setting.split())
        return "Next: write the code that collects", code
    if choice.reason == Reason.NOTHING_ASKED:
        return "Next: ask for what would be worth a collection", reproduce(choice, case.worthwhile)
    plan = ("plan", "--target", f"{case.within:.12g}", "--metric", METRIC)
    if finds_budget(choice):
        title = f"Next: simulate which ε it takes; collect if it is at most {case.limit:g}"
        return title, _command(*plan, "--n", str(case.people), *_domain(choice))
    title = "Next: simulate how many people it takes"
    if case.domain.ordered and not choice.data_words:  # of the shapes that predictions average, a plan simulates one
        title = (
            "Next: simulate how many people one such shape takes, its most common answers first; others may take more"
        )
    elif choice.reason in CLOSE:
        title += f"; collect if it is at most {case.people:,}"
    return title, _command(*plan, "--eps", f"{case.limit:g}", *_domain(choice))


def _facts(choice: Choice) -> dict[str, Scalar]:
    """Return the answers, and what they lead to, as figures."""
    case, new = choice.case, choice.changes
    best = None if choice.reason == Reason.NOT_COVERED else choice.best
    return {
        "n": case.people,
        "k": case.answers,
        "within": case.within,
        "sensitive": case.sensitive,
        "times": case.times,
        "ordered": case.at_limit.request.ordered,
        "choice": REFRAIN if choice.epsilon is None else COLLECT,
        "reason": choice.reason.value,
        "eps": choice.epsilon,
        "eps_limit": case.limit,
        "eps_needed": choice.epsilon if new.epsilon is None else new.epsilon.value,
        "protocol": None if best is None else best.protocol,
        "method": None if best is None else best.method,
        **_errors(choice),
        "error_without_data": case.without,
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
    """Return the error of the best pair and its interval; None if predictions do not cover the case."""
    best, names = choice.best, ("error", "error_low", "error_high")
    return {name: None if choice.reason == Reason.NOT_COVERED else getattr(best, name) for name in names}


def price_figure(choice: Choice) -> Figure:
    """Return the error of a share in percentage points against ε; both axes are logarithmic."""
    case = choice.case
    ends = max(min(LEAST, case.limit), EPSILON[0]), min(2 * case.limit, EPSILON[1])
    budgets = [] if case.gaps else [float(f"{budget:.3g}") for budget in np.geomspace(*ends, BUDGETS)]
    rows = [case.predicted(budget).best for budget in budgets]
    xs, ys = zip(*((row.epsilon, 100 * row.ranking.best.error) for row in choice.prices), strict=True)
    with picture(3.9) as (figure, axes):
        low, high = ([100 * getattr(row, end) for row in rows] for end in ("error_low", "error_high"))
        axes.fill_between(budgets, low, high, color=BAND, linewidth=0)
        axes.plot(budgets, [100 * row.error for row in rows], color=QUIET, linewidth=1.4)
        axes.plot(xs, ys, "o", color=BLUE, markersize=4)
        lines = [100 * value for value in (case.within, case.without) if value > 0]
        axes.set_xlim(min(ends[0], *xs) / 1.1, 1.1 * max(ends[1], *xs))
        axes.set_ylim(min(*lines, *ys) / 2, 1.6 * max(*lines, *ys))
        log_axis(axes.xaxis)
        log_axis(axes.yaxis)
        _mark(axes, choice)
        axes.set(xlabel="privacy budget ε of one report (left: more private)", ylabel="share off by, percentage points")
        parts = [
            *(["line and band: predicted, 95 %"] if rows else []),
            *(["dots: simulated"] if choice.simulations else []),
        ]
        setting = f"{case.people:,} people, {case.answers:,} possible answers"
        headline(figure, "What each ε buys", "; ".join((setting, *parts)))
        dots = "; ".join(f"ε = {x:g}: {y:.3g} points" for x, y in zip(xs, ys, strict=True))
        figure.set_label(
            f"Error of a share against ε: {dots}. Asked for: {points(case.within)}; without any data: "
            f"{points(case.without)}; limit: ε = {case.limit:g}."
        )
    return figure


def _mark(axes: Axes, choice: Choice) -> None:
    """Draw and label what was asked for, what no data would give, the limit, and the choice."""
    case, at, error = choice.case, choice.there.request.epsilon, 100 * choice.best.error
    (left, right), bottom = axes.get_xlim(), axes.get_ylim()[0]
    asked = "worth a collection" if choice.open_accuracy else "asked for"
    chosen = "collect with" if choice.epsilon else "at the limit"
    beside, side = ((9, 6), "left") if at < 3 * left else ((-9, -14), "right")  # where the falling curve leaves room
    axes.axhline(100 * case.within, color=ORANGE, linestyle="--", linewidth=1.2)
    axes.axhline(100 * case.without, color=INK, linestyle=":", linewidth=1.2)
    axes.axvspan(case.limit, right, color=QUIET, alpha=0.12, linewidth=0)
    axes.axvline(case.limit, color=INK, linewidth=1)
    axes.plot(at, error, "o", color=BLUE, markersize=10, fillstyle="full" if choice.epsilon else "none")
    for text, place, offset, end in (
        (f"{asked}: {size(case.within)}", (left, 100 * case.within), (5, 3), "left"),
        (f"without any data: {size(case.without)}", (right, 100 * case.without), (-5, 3), "right"),
        (f"limit: ε = {case.limit:g}", (case.limit, bottom), (-4, 4), "right"),
        (f"{chosen} ε = {at:g}: {size(choice.best.error)}", (at, error), beside, side),
    ):
        axes.annotate(text, place, xytext=offset, textcoords="offset points", ha=end)


def decision_of_choice(choice: Choice) -> Decision:
    """Return the decision of a choice."""
    case, need = choice.case, choice.changes.people
    badge, reason = REASONS[choice.reason]
    within = points(case.within)
    texts = {"off": points(choice.best.error), "without": points(case.without), "within": within}
    wanted = f"A share may be off by {within} on average."
    if choice.open_accuracy:
        wanted = f"Half of the error without any data is taken to be exact enough: {within} on average."
    takes = {} if need is None else {"takes": f"{people_text(need).capitalize()} would be enough."}
    return decision_of(choice.there, badge, reason.format_map(texts), wanted=wanted, times=case.times, **takes)
