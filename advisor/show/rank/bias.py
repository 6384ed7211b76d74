"""The document of bias and variance under one pair."""

from __future__ import annotations

from advisor.answers.rank.bias import BiasAnswer, Block
from advisor.figures import number, percent, points, users, whole_percent
from advisor.names import pair_text
from advisor.show.model import Column, Document, Figure, Records, Role, Row, Section, Table, Verdict, sentences
from advisor.show.pictures import to_svg
from advisor.show.pictures.bias import bias_figure
from advisor.show.rank.notes import setting_text

FIELDS = ("rank", "category", "frequency", "bias", "standard_error", "variance")


def bias_document(answer: BiasAnswer) -> Document:
    """Return bias and variance by rank, of blocks where there are many categories; CSV and JSON have each category."""
    request, largest = answer.request, int(abs(answer.bias).argmax())
    bias, n = float(answer.bias[largest]), request.n
    columns = (answer.truth, answer.bias, answer.standard_error, answer.variance)
    rows = tuple(
        (rank, _label(answer, rank), *figures)
        for rank, figures in enumerate(zip(*(column.tolist() for column in columns), strict=True), start=1)
    )
    where = f"category {_label(answer, largest + 1)!r} (rank {largest + 1:,}, frequency {percent(rows[largest][2])})"
    told = (
        f"The bias of {answer.biased:,} of {request.k:,} categories can be told from 0; the largest, of {where}, is "
        f"{'−' if bias < 0 else '+'}{users(n * abs(bias))} of {n:,} users ({points(abs(bias))})."
    )
    text = (
        f"{pair_text(*answer.pair)}: {whole_percent(answer.bias_share)} of the mean squared error is bias, the rest is "
        f"variance. {told if answer.biased else 'No bias of a category can be told from 0.'}"
    )
    notes = (
        f"Mean estimate less true frequency over {answer.repetitions:,} simulated collections (--max-reps N for "
        f"more): {setting_text(request)}, seed {request.seed}.",
        *([f"Assumed: {'; '.join(request.assumptions)}."] if request.assumptions else []),
    )
    return Document(
        title=f"Bias and variance of {pair_text(*answer.pair)}",
        verdict=Verdict("bias", text, figures={"bias_share": answer.bias_share, "largest_bias": bias}),
        parts=(_table(answer), *sentences(notes, Role.NOTE), *sentences(request.warnings, Role.WARNING)),
        data={
            "protocol": answer.pair[0],
            "method": answer.pair[1],
            "eps": request.epsilon,
            "k": request.k,
            "n": n,
            "seed": request.seed,
            "repetitions": answer.repetitions,
            "bias_share": answer.bias_share,
            "biased": answer.biased,
            "blocks": [block._asdict() for block in answer.blocks],
            "categories": [dict(zip(FIELDS, row, strict=True)) for row in rows],
        },
        records=Records(FIELDS, rows),
        value=f"{bias:.6g}",
        setting=setting_text(request),
    )


def bias_sections(answer: BiasAnswer) -> tuple[Section, ...]:
    """Return the picture as a section of a page."""
    label = "bias and variance by rank"
    return (Section("Pictures", (Figure("Bias and variance", label, lambda: to_svg(bias_figure(answer), "bias")),)),)


def _label(answer: BiasAnswer, rank: int) -> str:
    place = int(answer.order[rank - 1])
    return answer.request.labels[place] if answer.request.labels else str(place)


def _table(answer: BiasAnswer) -> Table:
    columns = (
        Column("rank", "by true frequency, the most frequent first; of a range, means over its categories"),
        Column("category", text=True, drop=1),
        Column("frequency", "true frequency"),
        Column("bias", "mean estimate less true frequency, and the half-width of its 95 % interval"),
        Column("variance", "of the estimate of a category (frequency²)"),
    )
    return Table(columns, tuple(_row(answer, block) for block in answer.blocks), noun="ranks", cut=False)


def _row(answer: BiasAnswer, block: Block) -> Row:
    first, last, frequency, bias, standard_error, variance = block
    alone = first == last
    return Row.of(
        (
            (f"{first:,}" if alone else f"{first:,}–{last:,}", first),
            _label(answer, first) if alone else f"({last - first + 1:,} categories)",
            (number(frequency), frequency),
            (f"{number(bias, 2)} ± {number(answer.half_width * standard_error, 2)}", bias),
            (number(variance, 3), variance),
        )
    )
