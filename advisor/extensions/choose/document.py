"""The document of a choice: collect or not, what it takes, what ε means there, and the commands to go on with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from advisor.answers.budgets import Priced
from advisor.answers.rank.verdict import ENOUGH, against_nothing
from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import JUST_ENOUGH, JUST_SHORT, METRIC, NOT_COVERED, NOTHING_ASKED, REACHED
from advisor.extensions.choose.changes import Changes
from advisor.extensions.choose.question import rounded
from advisor.extensions.choose.words import (
    ASSUMED,
    answer_lines,
    finds_budget,
    interval,
    meaning_lines,
    note_lines,
    over_limit,
    people_text,
    size,
)
from advisor.figures import percent, users
from advisor.show.budgets import TONES, priced_data
from advisor.show.model import (
    Code,
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Sentence,
    Table,
    Tone,
    Verdict,
)
from advisor.show.rank.table import ATTACK, attacker_text

CHANGES = "Each of these changes alone would be enough, give or take the 95 % interval in brackets:"
NO_CHANGE = "No change of one of the answers alone is predicted to be enough."
COLLECT, REFRAIN = "collect", "do_not_collect"


def choice_document(choice: Choice) -> Document:
    """Return the verdict, what it rests on, the prices of some budgets, and the commands to go on with."""
    good = choice.epsilon is not None
    first, *rest = answer_lines(choice)
    assumed = [] if choice.data_words else [ASSUMED]
    changes = _change_rows(choice)
    refused = choice.reason not in (REACHED, NOTHING_ASKED)
    if refused:
        rest += [*over_limit(choice), CHANGES if changes else NO_CHANGE]
    parts: list[Part] = [Sentence(text, Role.WARNING) for text in choice.budgets.warnings]
    parts += [Sentence(text, Role.ANSWER, Tone.DOUBTFUL) for text in assumed]
    parts += map(Sentence, rest)
    if changes:
        parts.append(_changes_table(changes))
    means = meaning_lines(choice)
    parts += [Sentence(text, Role.NOTE) for text in means]
    if choice.priced:
        parts.append(_price_table(choice.priced))
    parts += [Sentence(text, Role.NOTE) for text in note_lines(choice)]
    again, further = reproduce(choice), _further(choice)
    parts.append(Code(again, "Reproduce this"))
    if good:
        parts.append(Code(_ranking(choice), "Compare with all other pairs"))
    parts.append(Code(further, _title(choice)))
    return Document(
        title="Collect, and with which ε" if good else "Do not collect like this",
        verdict=Verdict(
            COLLECT if good else REFRAIN,
            first,
            Tone.PLAIN if good else Tone.DOUBTFUL,
            () if good else (choice.reason,),
            _figures(choice),
        ),
        parts=tuple(parts),
        data=_data(choice, [first, *assumed, *rest, *means], again, further),
        records=Records(tuple(_facts(choice)), (tuple(_facts(choice).values()),)),
        value=f"{choice.epsilon:g}" if choice.epsilon is not None else REFRAIN,
        setting=f"{choice.people:,} people, {choice.answers:,} possible answers",
    )


def _figures(choice: Choice) -> dict[str, float | None]:
    best = None if choice.reason == NOT_COVERED else choice.best
    return {
        "eps": choice.epsilon,
        "within": choice.within,
        "error": None if best is None else best.error,
        "error_low": None if best is None else best.error_low,
        "error_high": None if best is None else best.error_high,
        "error_without_data": choice.without,
    }


def _change_rows(choice: Choice) -> list[Row]:
    """Return what would be enough instead: each row alone."""
    new = choice.changes
    often = _times(choice.times)
    rows = [
        *_figure_rows(choice, new),
        ("fewer possible answers", f"{choice.answers:,}", None if new.answers is None else f"{new.answers:,} or fewer"),
        ("asked less often", often, None if new.times is None else _times(new.times)),
    ]
    if new.once is not None:
        rows += [(f"asked once, and {name}", before, after) for name, before, after in _figure_rows(choice, new.once)]
    return [Row((name, before, after)) for name, before, after in rows if after is not None]


def _figure_rows(choice: Choice, new: Changes) -> list[tuple[str, str, str | None]]:
    people = None if new.people is None else people_text(new.people)
    off, within = new.within, None
    if off is not None:
        within = f"about {size(off.value)} ({interval(off.low, off.high, simulated=off.simulated)})"
    return [
        ("more people", f"{choice.people:,}", people),
        ("less accuracy, in points", size(choice.within), within),
    ]


def _changes_table(rows: list[Row]) -> Table:
    columns = (Column("change", text=True), Column("from", text=True), Column("to", text=True))
    return Table(columns, tuple(rows), noun="changes", cut=False)


def _times(times: int) -> str:
    return "once" if times == 1 else f"{times:,} times"


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
        Column(
            "guessed",
            f"{ATTACK}, {attacker_text(request)}",
            drop=4,
        ),
    )
    return Table(columns, tuple(map(_price, rows)), noun="budgets", cut=False)


def _price(row: Priced) -> Row:
    best = row.ranking.best
    cells: tuple[tuple[str, float | None], ...] = (
        (f"{row.epsilon:g}", row.epsilon),
        (best.protocol, None),
        (best.method, None),
        (
            f"{size(best.error)} ({interval(best.error_low, best.error_high, simulated=row.ranking.repetitions > 0)})",
            best.error,
        ),
        ("–" if row.off is None else users(row.off), row.off),
        (against_nothing(row.ranking.reasons), None),
        ("–" if row.detectable is None else users(row.detectable), row.detectable),
        (percent(row.attack), row.attack),
    )
    return Row(tuple(text for text, _ in cells), tuple(value for _, value in cells), TONES[row.verdict])


def reproduce(choice: Choice) -> str:
    """Return the command that gives the same answer without questions."""
    return _again(choice, choice.within)


def _again(choice: Choice, within: float) -> str:
    return _command(
        "choose", "--n", str(choice.people), *_domain(choice), "--within", f"{100 * within:.12g}",
        "--sensitive", choice.sensitive, "--times", str(choice.times), *(["--instant"] if choice.instant else []),
    )  # fmt: skip


def _command(*words: str) -> str:
    return shlex.join(["ldp-advise", *words])


def _domain(choice: Choice) -> tuple[str, ...]:
    """Return the words that name the data, or the number of answers and their order."""
    order = {True: ["--ordered"], False: ["--unordered"], None: []}[choice.case.domain.ordered]
    return choice.data_words or ("--k", str(choice.answers), *order)


def _ranking(choice: Choice) -> str:
    """Return the command that ranks all pairs with the budget."""
    rounds = ("rounds", "--rounds", str(choice.times)) if choice.times > 1 else ()
    instant = ("--instant",) if choice.data_words and not choice.decision.simulated else ()
    setting = ("--eps", f"{choice.epsilon:g}", "--n", str(choice.people), "--metric", METRIC, *instant)
    return _command(*rounds, *setting, *_domain(choice))


def _further(choice: Choice) -> str:
    """Return the command to go on with: code to collect, a question that asks for something, or a simulated plan."""
    if choice.epsilon is not None:
        protocol, method = choice.best.pair
        return _command(
            "code", "--protocol", protocol, "--method", method, "--eps", f"{choice.epsilon:g}",
            "--k", str(choice.answers), "--to", "collection",
        )  # fmt: skip
    if choice.reason == NOTHING_ASKED:
        return _again(choice, rounded(ENOUGH * choice.without, up=False) if choice.without else choice.within)
    given = ("--n", str(choice.people)) if finds_budget(choice) else ("--eps", f"{choice.limit:g}")
    return _command("plan", "--target", f"{choice.within:.12g}", "--metric", METRIC, *given, *_domain(choice))


def _title(choice: Choice) -> str:
    if choice.epsilon is not None:
        return "Next: write the code that collects"
    if choice.reason == NOTHING_ASKED:
        return "Next: ask for what would be worth a collection"
    if finds_budget(choice):
        return f"Next: simulate which ε it takes; collect if it is at most {choice.limit:g}"
    if (
        choice.case.domain.ordered and not choice.data_words
    ):  # of the shapes that predictions average, a plan simulates one
        return (
            "Next: simulate how many people one such shape takes, its most common answers first; others may take more"
        )
    rule = f"; collect if it is at most {choice.people:,}" if choice.reason in (JUST_ENOUGH, JUST_SHORT) else ""
    return f"Next: simulate how many people it takes{rule}"


def _facts(choice: Choice) -> dict[str, Any]:
    """Return the answers, and what they lead to, as figures."""
    covered = choice.reason != NOT_COVERED
    best, new = choice.best if covered else None, choice.changes
    eps = choice.epsilon if new.epsilon is None else new.epsilon.value
    return {
        "n": choice.people,
        "k": choice.answers,
        "within": choice.within,
        "sensitive": choice.sensitive,
        "times": choice.times,
        "ordered": choice.ordered,
        "choice": COLLECT if choice.epsilon is not None else REFRAIN,
        "reason": choice.reason,
        "eps": choice.epsilon,
        "eps_limit": choice.limit,
        "eps_needed": eps,
        "protocol": None if best is None else best.protocol,
        "method": None if best is None else best.method,
        "error": None if best is None else best.error,
        "error_low": None if best is None else best.error_low,
        "error_high": None if best is None else best.error_high,
        "error_without_data": choice.without,
        "verdict": choice.there.verdict if covered else None,
        "people_needed": None if new.people is None else round(new.people.value),
        "people_needed_low": None if new.people is None else new.people.low,
        "people_needed_high": None if new.people is None else new.people.high,
        "within_possible": None if new.within is None else new.within.value,
        "answers_possible": new.answers,
        "times_possible": new.times,
        "source": "simulation" if choice.decision.simulated else "grid",
    }


def _data(choice: Choice, lines: list[str], again: str, further: str) -> Mapping[str, Json]:
    facts = _facts(choice)
    names = ("n", "k", "within", "sensitive", "times", "ordered")
    return {
        "request": {name: facts.pop(name) for name in names},
        **facts,
        "summary": lines[0],
        "sentences": lines,
        "command": again,
        "next_command": further,
        "warnings": list(choice.budgets.warnings),
        "budgets": [priced_data(row) for row in choice.priced],
    }
