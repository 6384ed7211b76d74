"""The document of a choice: collect or not, what it takes, what ε means there, and the commands to go on with."""

from __future__ import annotations

import re
import shlex

from advisor.answers.budgets import Priced
from advisor.answers.rank.verdict import against_nothing
from advisor.extensions.choose import words
from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import METRIC, Reason
from advisor.extensions.choose.picture import price_figure
from advisor.figures import percent, users
from advisor.question.settings import Categories
from advisor.show.budgets import TONES, priced_data
from advisor.show.model import (
    Badge,
    Code,
    Column,
    Document,
    Figure,
    Part,
    Records,
    Role,
    Row,
    Scalar,
    Section,
    Sentence,
    Table,
    Tone,
    Verdict,
)
from advisor.show.pictures import to_svg
from advisor.show.rank.table import ATTACK, attacker_text

COLLECT, REFRAIN = "collect", "do_not_collect"
REQUEST = ("n", "k", "within", "sensitive", "times", "ordered")  # facts that were asked


def choice_document(choice: Choice) -> Document:
    """Return verdict, assumptions, prices of some budgets, and the next commands."""
    case, good, facts = choice.case, choice.epsilon is not None, _facts(choice)
    first, *rest = words.answer_lines(choice)
    assumed = [] if choice.data_words else [words.ASSUMED]
    means = words.meaning_lines(choice)
    if choice.reason not in (Reason.REACHED, Reason.NOTHING_ASKED):
        rest += words.over_limit(choice)
    warnings = list(dict.fromkeys(text for row in choice.prices for text in row.ranking.warnings))
    again, (title, further) = reproduce(choice), _next(choice)
    parts: list[Part] = [
        *(Sentence(text, Role.WARNING) for text in warnings),
        *(Sentence(text, Role.ANSWER, Tone.DOUBTFUL) for text in assumed),
        *map(Sentence, rest),
        *(Sentence(text, Role.LEGEND) for text in means),
        *([_price_table(choice.prices)] if choice.prices else []),
        *(Sentence(text, Role.NOTE) for text in words.note_lines(choice)),
        Code(again, "Reproduce this"),
        *([Code(_ranking(choice), "Compare with all other pairs")] if good else []),
        Code(further, title),
    ]
    badge = Badge.COLLECT if good else Badge.ALMOST if choice.reason in words.CLOSE else Badge.DO_NOT_COLLECT
    return Document(
        title=f"{badge}: {re.split(r'[:.,] ', f'{first} ')[0]}",
        verdict=Verdict(
            COLLECT if good else REFRAIN,
            first,
            badge,
            () if good else (choice.reason.value,),
            {"eps": choice.epsilon, "within": case.within, **_errors(choice), "error_without_data": case.without},
            numbers=words.numbers(choice),
            changes=tuple(words.changes(choice)),
        ),
        parts=tuple(parts),
        data={
            "request": {name: facts[name] for name in REQUEST},
            **{name: value for name, value in facts.items() if name not in REQUEST},
            "summary": f"{first} {words.numbers(choice)}",
            "sentences": [first, *assumed, *rest, *means],
            "command": again,
            "next_command": further,
            "warnings": warnings,
            "budgets": [priced_data(row) for row in choice.prices],
        },
        records=Records(tuple(facts), (tuple(facts.values()),)),
        value=REFRAIN if choice.epsilon is None else f"{choice.epsilon:g}",
        setting=f"{case.people:,} people, {case.answers:,} possible answers",
        sections=lambda: (_picture_section(choice),) if choice.prices else (),
    )


def _picture_section(choice: Choice) -> Section:
    picture = Figure("What ε buys", "error of a share against ε", lambda: to_svg(price_figure(choice), "prices"))
    return Section(picture.title, (picture,))


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
    margin = words.interval(best.error_low, best.error_high, simulated=row.ranking.repetitions > 0)
    cells: tuple[tuple[str, float | None], ...] = (
        (f"{row.epsilon:g}", row.epsilon),
        (best.protocol, None),
        (best.method, None),
        (f"{words.size(best.error)} ({margin})", best.error),
        ("–" if row.off is None else users(row.off), row.off),
        (against_nothing(row.ranking.reasons), None),
        ("–" if row.detectable is None else users(row.detectable), row.detectable),
        (percent(row.attack), row.attack),
    )
    return Row(tuple(text for text, _ in cells), tuple(value for _, value in cells), TONES[row.verdict])


def reproduce(choice: Choice) -> str:
    """Return the command that gives the same answer without questions."""
    return _again(choice, choice.case.within)


def _again(choice: Choice, within: float) -> str:
    case = choice.case
    return _command(
        "choose",
        "--n",
        str(case.people),
        *_domain(choice),
        "--within",
        f"{100 * within:.12g}",
        "--sensitive",
        case.sensitive,
        "--times",
        str(case.times),
        *(["--instant"] if choice.instant else []),
    )


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
        return "Next: write the code that collects", _command(
            "code",
            "--protocol",
            protocol,
            "--method",
            method,
            "--eps",
            f"{choice.epsilon:g}",
            "--k",
            str(case.answers),
            "--to",
            "collection",
        )
    if choice.reason == Reason.NOTHING_ASKED:
        return "Next: ask for what would be worth a collection", _again(choice, case.worthwhile)
    plan = ("plan", "--target", f"{case.within:.12g}", "--metric", METRIC)
    if words.finds_budget(choice):
        title = f"Next: simulate which ε it takes; collect if it is at most {case.limit:g}"
        return title, _command(*plan, "--n", str(case.people), *_domain(choice))
    title = "Next: simulate how many people it takes"
    if case.domain.ordered and not choice.data_words:  # of the shapes that predictions average, a plan simulates one
        title = (
            "Next: simulate how many people one such shape takes, its most common answers first; others may take more"
        )
    elif choice.reason in words.CLOSE:
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
