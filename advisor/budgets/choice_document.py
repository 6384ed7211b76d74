"""The document of a choice: collect or not, what it takes, what ε means there, and the commands to go on with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from advisor.budgets.choice import LIMITS, NOT_COVERED, NOTHING_ASKED, OUT_OF_REACH, REACHED, UNSURE, Choice
from advisor.budgets.document import COLUMNS, price_table, record
from advisor.document.model import Code, Column, Document, Json, Part, Records, Role, Row, Sentence, Table, Tone
from advisor.epsilon.meaning import meaning, meaning_sentences
from advisor.figures import users
from advisor.plans.question import USERS_LOW
from advisor.rank.pair_words import pair_text
from advisor.rank.result import EVEN
from advisor.rank.verdict import WORTH_IT

ASSUMED = (
    "This assumes that a few answers are common and many are rare. If you expect them about equally common, as age "
    "bands are, give last year's figures: ldp-advise choose FILE."
)
NO_CHANGE = "No change of one of the answers alone is predicted to be enough."
COLLECT, REFRAIN = "collect", "do_not_collect"
SENSITIVE = {"low": "hardly sensitive", "medium": "somewhat sensitive", "high": "very sensitive"}


def choice_document(choice: Choice) -> Document:
    """Return the verdict, what it rests on, the prices of some budgets, and the commands to go on with."""
    good = choice.epsilon is not None
    first, *rest = _LINES[choice.reason](choice)
    assumed = [] if choice.data_words else [ASSUMED]
    parts: list[Part] = [Sentence(text, Role.WARNING) for text in choice.budgets.warnings]
    parts.append(Sentence(first, Role.ANSWER, Tone.PLAIN if good else Tone.DOUBTFUL))
    parts += [Sentence(text, Role.ANSWER, Tone.DOUBTFUL) for text in assumed]
    changes = _change_rows(choice)
    if choice.reason in _REFUSED:
        rest.append("Each of these changes alone would be enough:" if changes else NO_CHANGE)
    parts += map(Sentence, rest)
    if changes:
        parts.append(_changes_table(changes))
    means = _meaning(choice)
    parts += map(Sentence, means)
    if choice.priced:
        parts.append(price_table(choice.priced))
    parts += [Sentence(text, Role.NOTE) for text in _notes(choice)]
    again, further = reproduce(choice), _further(choice)
    parts += [Code(again, "Reproduce this"), Code(further, "Next")]
    return Document(
        title="Collect, and with which ε" if good else "Do not collect like this",
        parts=tuple(parts),
        data=_data(choice, [first, *assumed, *rest, *means], again, further),
        records=Records(tuple(_facts(choice)), (tuple(_facts(choice).values()),)),
        value=f"{choice.epsilon:g}" if choice.epsilon is not None else REFRAIN,
        setting=f"{choice.people:,} people, {choice.answers:,} possible answers",
    )


def _share(share: float) -> str:
    """Return a share in percentage points, two digits, as a question asks for it."""
    size = float(f"{100 * share:.2g}")
    return f"{size:g} percentage point{'' if size == 1 else 's'}"


def _off(choice: Choice) -> str:
    row = choice.there
    return f"{_share(row.ranking.best.error)} (about {users(row.ranking.best.error * choice.people)} people)"


def _limit(choice: Choice) -> str:
    total = f" each time, {LIMITS[choice.sensitive]:g} in all" if choice.times > 1 else ""
    return f"{choice.limit:g}{total} (the limit this tool takes for {SENSITIVE[choice.sensitive]} answers)"


def _collect(choice: Choice) -> list[str]:
    """Return that collecting is worth it, how accurate it is, and how sure that is."""
    row, best = choice.there, choice.there.ranking.best
    each = " each time" if choice.times > 1 else ""
    half = "" if row.verdict == WORTH_IT else f" That is more than half of the error without data: {_guess(choice)}."
    return [
        f"Collect with ε = {choice.epsilon:g}{each}, by {pair_text(*best.pair)}: expect the share of an "
        f"answer to be off by {_off(choice)} on average, and you asked for {_share(choice.within)}.{half}",
        f"This is predicted: the 95 % interval is from {_share(best.error_low)} to {_share(best.error_high)}. "
        f"An ε of up to {_limit(choice)} would be allowed.",
    ]


def _guess(choice: Choice) -> str:
    """Return which guess without data is the better one, and how far off it is."""
    even = choice.there.ranking.guess_without_data == EVEN
    guess = "guessing that all answers are equally common" if even else "guessing 0 for every answer"
    return f"{guess} is off by {_share(choice.without)} on average"


def _nothing_asked(choice: Choice) -> list[str]:
    lines = [f"Do not collect for this: {_guess(choice)}. You asked for {_share(choice.within)}, which takes no data."]
    return [*lines, f"Ask for less than {_share(choice.without)} to learn something."] if choice.without else lines


def _refrain(choice: Choice) -> list[str]:
    return [
        f"Do not collect like this: with {choice.people:,} people and {choice.answers:,} possible answers, no ε up to "
        f"{_limit(choice)} brings the share of an answer within {_share(choice.within)} on average.",
        f"With ε = {choice.limit:g} it would be off by {_off(choice)}. Without any data, {_guess(choice)}.",
    ]


def _unsure(choice: Choice) -> list[str]:
    return [
        f"Do not collect like this: with {choice.people:,} people and ε up to {_limit(choice)} the share of an answer "
        f"would be off by {_off(choice)} on average. It is not sure that this is better than no data at all.",
        f"Without any data, {_guess(choice)}.",
    ]


def _not_covered(choice: Choice) -> list[str]:
    return [
        f"Do not collect without a simulation: predictions do not cover {choice.people:,} people, "
        f"{choice.answers:,} possible answers and ε up to {_limit(choice)}.",
        f"They cover {'; '.join(choice.case.gaps)}. The next command simulates it.",
    ]


_LINES = {
    REACHED: _collect,
    NOTHING_ASKED: _nothing_asked,
    OUT_OF_REACH: _refrain,
    UNSURE: _unsure,
    NOT_COVERED: _not_covered,
}
_REFUSED = (OUT_OF_REACH, UNSURE, NOT_COVERED)


def _change_rows(choice: Choice) -> list[Row]:
    """Return what would be enough instead: each row alone."""
    new = choice.changes
    larger = None if new.epsilon is None else f"ε = {new.epsilon:g}: weaker privacy"
    rows = (
        ("more people", f"{choice.people:,}", None if new.people is None else f"{new.people:,}"),
        ("less accuracy", _share(choice.within), None if new.within is None else _share(new.within)),
        ("fewer possible answers", f"{choice.answers:,}", None if new.answers is None else f"{new.answers:,}"),
        ("a larger budget", f"ε = {choice.limit:g}", larger),
        ("asked less often", _times(choice.times), None if new.times is None else _times(new.times)),
    )
    return [Row((name, before, after)) for name, before, after in rows if after is not None]


def _changes_table(rows: list[Row]) -> Table:
    columns = (Column("change", text=True), Column("from", text=True), Column("to", text=True))
    return Table(columns, tuple(rows), noun="changes", cut=False)


def _times(times: int) -> str:
    return f"{times:,} time{'' if times == 1 else 's'}"


def _meaning(choice: Choice) -> list[str]:
    """Return what the budget promises a person who answers."""
    row = choice.there
    protocol = None if choice.reason == NOT_COVERED else row.ranking.best.protocol
    lines = meaning_sentences(meaning(row.epsilon, choice.answers, protocol))
    if choice.times > 1:
        total = row.epsilon * choice.times
        lines.append(f"Who answers {choice.times:,} times with fresh noise spends ε = {total:.3g} in all.")
    return lines


def _notes(choice: Choice) -> list[str]:
    limits = ", ".join(f"{name} ε = {value:g}" for name, value in LIMITS.items())
    rests = f"the frequencies of {choice.there.ranking.request.sample}" if choice.data_words else "skew 1"
    return [
        "These shares describe only those who answer.",
        f"Predicted for {rests}, not simulated.",
        f"Limits by sensitivity: {limits} for all reports of a person. They are a convention of this tool, not a law.",
        *([] if choice.ordered else ["Answers with an order, such as age bands, may take less: --ordered."]),
    ]


def reproduce(choice: Choice) -> str:
    """Return the command that gives the same answer without questions."""
    return _command(
        "choose", "--n", str(choice.people), *_domain(choice), "--within", f"{100 * choice.within:.12g}",
        "--sensitive", choice.sensitive, "--times", str(choice.times),
    )  # fmt: skip


def _command(*words: str) -> str:
    return shlex.join(["ldp-advise", *words])


def _domain(choice: Choice) -> tuple[str, ...]:
    """Return the words that name the data, or the number of answers and their order."""
    return choice.data_words or ("--k", str(choice.answers), *(["--ordered"] if choice.ordered else []))


def _further(choice: Choice) -> str:
    """Return the command that says more: the ranking at this budget, or what the accuracy takes, simulated."""
    target = ("plan", "--target", f"{choice.within:.12g}", "--metric", "mae")
    if choice.reason == NOT_COVERED and choice.people >= USERS_LOW:
        return _command(*target, "--n", str(choice.people), *_domain(choice))
    if choice.reason in _REFUSED:
        return _command(*target, "--eps", f"{choice.limit:g}", *_domain(choice))
    rounds = ("--rounds", str(choice.times)) if choice.times > 1 else ()
    setting = ("--eps", f"{choice.there.epsilon:g}", "--n", str(choice.people), "--metric", "mae", *rounds)
    return _command(*setting, *_domain(choice))


def _facts(choice: Choice) -> dict[str, Any]:
    """Return the answers, and what they lead to, as figures."""
    row, new = None if choice.reason == NOT_COVERED else choice.there, choice.changes
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
        "eps_needed": new.epsilon if choice.epsilon is None else choice.epsilon,
        "error": None if row is None else row.ranking.best.error,
        "error_without_data": choice.without,
        "verdict": None if row is None else row.verdict,
        "people_needed": new.people,
        "within_possible": new.within,
        "answers_possible": new.answers,
        "times_possible": new.times,
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
        "budgets": [dict(zip(COLUMNS, record(row), strict=True)) for row in choice.priced],
    }
