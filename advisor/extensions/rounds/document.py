"""The document of a comparison of memoisation with fresh noise: a table, and sentences."""

from __future__ import annotations

import shlex

from advisor.extensions.rounds.answer import Approach, Comparison, RoundsQuestion
from advisor.figures import number, points, users
from advisor.members.names import protocol_in_full
from advisor.show.model import Badge, Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict, sentences
from advisor.show.sentences import assumed_sentences
from simulator import PROTOCOLS
from simulator.memoisation import MEMOISED, DBitFlipPM

REMEMBERED = {**MEMOISED, DBitFlipPM.key: DBitFlipPM}
COLUMNS = (
    Column("noise", "memoised, or fresh in each round: at the ε of a report, or spending as much in all", text=True),
    Column("protocol", text=True),
    Column("ε round", "what one report may reveal", drop=2),
    Column("error", "mean absolute error of a category in a round, percentage points, before post-processing"),
    Column("of average", "the same for the average of all rounds"),
    Column("spent", "budget that a user has spent after all rounds, on average"),
    Column("at most", "the same if all values come up; changes of values may show more", drop=1),
    Column("revealed", "privacy loss of all reports of a user whose value never changes"),
    Column("bits", "size of one report", drop=3),
)


def rounds_document(answer: Comparison) -> Document:
    """Return the verdict, a row for each approach, and the assumptions."""
    question = answer.question
    rows, words = (*answer.memoised, *answer.fresh), verdict(answer)
    return Document(
        title="Rounds with the same users: memoised or fresh noise",
        verdict=words,
        parts=(
            *(Sentence(text, Role.WARNING) for text in question.warnings),
            *sentences(detail_sentences(answer), Role.LEGEND),
            Table(COLUMNS, tuple(_row(row, answer) for row in rows), noun="approaches", cut=False),
            *(Sentence(text, Role.NOTE) for text in note_sentences(answer)),
        ),
        data={
            "request": {
                "eps": question.epsilon,
                "eps_forever": question.epsilon_forever,
                "rounds": question.rounds,
                "changes": question.changes.share,
                "k": question.k,
                "n": question.n,
                "sample": question.sample,
                "device_bits": question.bits,
            },
            "memoize": answer.memoise,
            "protocol": answer.best.protocol,
            "summary": words.summary,
            "assumptions": question.assumptions,
            "warnings": question.warnings,
            "approaches": [row._asdict() for row in rows],
        },
        records=Records(Approach._fields, rows),
        value=f"{answer.best.noise.partition(',')[0]} {answer.best.protocol}",
        setting=setting_text(question),
    )


def _row(row: Approach, answer: Comparison) -> Row:
    return Row.of(
        [
            row.noise,
            row.protocol,
            (budget(row.epsilon_round), row.epsilon_round),
            *((number(100 * error, 3), 100 * error) for error in (row.error_round, row.error_average)),
            *((budget(spent), spent) for spent in (row.spent_mean, row.spent_most)),
            (number(row.revealed, 3), row.revealed),
            (f"{row.report_bits:,}", row.report_bits),
        ],
        Tone.GOOD if row is answer.best else Tone.PLAIN,
    )


def budget(value: float) -> str:
    """Return a budget with three digits.

    >>> budget(30), budget(4.8312), budget(0.16)
    ('30', '4.83', '0.16')
    """
    return f"{value:.3g}" if value < 1000 else number(value)


def verdict(answer: Comparison) -> Verdict:
    """Return what to do, and what users spend and lose in accuracy with it."""
    question, memory, fresh, best = answer.question, answer.memory, answer.same_round, answer.best
    if answer.memoise:
        kind, text = "memoise", f"memoised noise by {protocol_in_full(memory.protocol, REMEMBERED)}."
        instead = f"fresh noise would spend {budget(fresh.spent_mean)}"
    else:
        name = protocol_in_full(fresh.protocol)
        kind, text = "fresh_noise", f"fresh noise in each round at ε = {fresh.epsilon_round:g}, by {name}."
        instead = f"memoisation with {memory.protocol} would spend {budget(memory.spent_mean)}"
    most = f" (at most {budget(best.spent_most)})" if best.spent_most != best.spent_mean else ""
    off = (
        f"off by {users(best.error_round * question.n)} of {question.n:,} users a category "
        f"({points(best.error_round)}) in a round, {users(best.error_average * question.n)} in the average of all"
    )
    if best.error_round >= float(question.changes.frequencies.max()):
        off = "a round alone says nothing: it is off by more than the largest frequency"
    numbers = f"Expected: ε = {budget(best.spent_mean)}{most} spent in all rounds; {instead}; {off}."
    return Verdict(kind, text, Badge.USE, numbers=numbers)


def detail_sentences(answer: Comparison) -> list[str]:
    """Return what averaging reveals."""
    question, memory = answer.question, answer.memory
    return [
        f"Averaging all reports of a user whose value never changes reveals ε = {number(memory.revealed, 3)} with "
        f"{memory.protocol}, at most {question.epsilon_forever:g} in any number of rounds; with fresh noise up to "
        f"{budget(answer.same_round.revealed)}."
    ]


def note_sentences(answer: Comparison) -> list[str]:
    """Return what memoisation does not hide, how a round is post-processed, and what was computed and assumed."""
    question = answer.question
    shows = [
        "Memoisation does not hide that a value changed, or when: its budgets, the highest too, compare users whose "
        "values change in the same rounds, and a change shows more with every round after it. Fresh noise hides it."
    ]
    words = ["--eps", f"{question.epsilon:g}", "--n", f"{question.n}", "--protocol", answer.best.protocol]
    command = shlex.join(["ldp-advise", *words, *question.data_words])
    return [
        *(shows if question.changes.share and answer.memoise else []),
        *([f"For the post-processing of a round: {command}"] if answer.best.protocol in PROTOCOLS else []),
        f"Computed in closed form for {question.sample}: {setting_text(question)}.",
        *assumed_sentences(question.assumptions),
    ]


def setting_text(question: RoundsQuestion) -> str:
    """Return what was asked, in a line."""
    return (
        f"ε = {question.epsilon:g} for a report and {question.epsilon_forever:g} for all reports of a value, "
        f"{question.rounds:,} rounds, {100 * question.changes.share:.3g} % of values change in each, "
        f"k = {question.k:,}, n = {question.n:,}"
    )
