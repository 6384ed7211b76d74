"""The document of a comparison of memoisation with fresh noise."""

from __future__ import annotations

from advisor.extensions.rounds.answer import Approach, Comparison
from advisor.extensions.rounds.words import budget, detail_sentences, note_sentences, setting_text, verdict
from advisor.figures import number
from advisor.show.model import Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict

COLUMNS = (
    Column("noise", "memoised, or fresh in each round: at the ε of a report, or spending as much in all", text=True),
    Column("protocol", text=True),
    Column("ε round", "what one report may reveal", drop=2),
    Column("error", "mean absolute error of a category in a round, percentage points, before post-processing"),
    Column("of average", "the same for the average of all rounds"),
    Column("spent", "budget that a user has spent after all rounds, on average"),
    Column("at most", "the same in the worst case", drop=1),
    Column("revealed", "privacy loss of all reports of a user whose value never changes"),
    Column("bits", "size of one report", drop=3),
)


def rounds_document(answer: Comparison) -> Document:
    """Return the verdict, a row for each approach, and what it rests on."""
    question = answer.question
    rows, words = (*answer.memoised, *answer.fresh), verdict(answer)
    return Document(
        title="Rounds with the same users: memoised or fresh noise",
        verdict=Verdict("memoise" if answer.memoise else "fresh_noise", words),
        parts=(
            *(Sentence(text, Role.WARNING) for text in question.warnings),
            *map(Sentence, detail_sentences(answer)),
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
            "summary": words,
            "assumptions": question.assumptions,
            "warnings": question.warnings,
            "approaches": [row._asdict() for row in rows],
        },
        records=Records(Approach._fields, rows),
        value=f"{answer.best.noise.partition(',')[0]} {answer.best.protocol}",
        setting=setting_text(question),
    )


def _row(row: Approach, answer: Comparison) -> Row:
    points = (100 * row.error_round, 100 * row.error_average)
    cells = (
        row.noise,
        row.protocol,
        budget(row.epsilon_round),
        *(number(value, 3) for value in points),
        budget(row.spent_mean),
        budget(row.spent_most),
        number(row.revealed, 3),
        f"{row.report_bits:,}",
    )
    figures = (None, None, row.epsilon_round, *points, row.spent_mean, row.spent_most, row.revealed, row.report_bits)
    return Row(cells, figures, tone=Tone.GOOD if row is answer.best else Tone.PLAIN)
