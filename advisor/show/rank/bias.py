"""The document of bias and variance under one pair, and its picture (Wang et al., Figures 2 and 3)."""

from __future__ import annotations

from functools import partial
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np

from advisor.answers.rank.bias import BiasAnswer
from advisor.figures import number, points, users, whole_percent
from advisor.members.names import pair_text
from advisor.show.model import Column, Document, Records, Role, Row, Sentence, Table, Verdict, sentences
from advisor.show.pictures.style import BAND, BLUE, empty, log_axis, settings
from advisor.show.rank.notes import setting_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIELDS = ("rank", "category", "frequency", "bias", "half_width", "variance")
MANY, AS_PIXELS = 100, 2000  # categories from which on ranks have a logarithmic axis, and marks are stored as pixels


def bias_document(answer: BiasAnswer) -> Document:
    """Return bias and variance by rank, of blocks where there are many categories; CSV and JSON have each category."""
    request, figures, pair = answer.request, answer.categories, pair_text(*answer.pair)
    place = int(abs(figures[1]).argmax())
    _, bias, half_width, _ = figures[:, place].tolist()
    # The mean of a squared mean is too large by the variance over the repetitions.
    squared = max(float((figures[1] ** 2 - figures[3] / answer.repetitions).sum()), 0.0)
    share = squared / (squared + float(figures[3].sum()) or 1.0)
    text = (
        f"{pair}{'' if answer.among == 1 else f', recommended of {answer.among:,} pairs'}: {whole_percent(share)} of "
        "the mean squared error is bias, the rest is variance. The largest bias is "
        f"{'−' if bias < 0 else '+'}{users(request.n * abs(bias))} ± {users(request.n * half_width)} of {request.n:,} "
        f"users ({points(abs(bias))}), of category {answer.labels[place]!r} (rank {place + 1:,})."
    )
    note = (
        f"Bias: mean estimate less true frequency, ± half of its 95 % interval; {answer.repetitions:,} simulated "
        f"collections (--max-reps); {'; '.join((setting_text(request), *request.assumptions))}; seed {request.seed}."
    )
    rows = tuple(zip(count(1), answer.labels, *figures.tolist(), strict=False))
    return Document(
        title=f"Bias and variance of {pair}",
        verdict=Verdict("bias", text),
        parts=(_table(answer), Sentence(note, Role.NOTE), *sentences(request.warnings, Role.WARNING)),
        data={
            **{"protocol": answer.pair[0], "method": answer.pair[1], "eps": request.epsilon, "n": request.n},
            **{"seed": request.seed, "repetitions": answer.repetitions, "bias_share": share},
            "categories": [dict(zip(FIELDS, row, strict=True)) for row in rows],
        },
        records=Records(FIELDS, rows),
        value=f"{bias:.6g}",
        picture=partial(bias_figure, answer),
    )


def _table(answer: BiasAnswer) -> Table:
    columns = (Column("rank"), Column("category", text=True), *map(Column, ("frequency", "bias", "variance")))
    rows = []
    for (start, end), row in zip(pairwise(answer.starts.tolist()), answer.blocks.T.tolist(), strict=True):
        alone = end == start + 1
        names = (f"{end:,}", answer.labels[start]) if alone else (f"{start + 1:,}–{end:,}", "(mean of these)")
        bias = (f"{number(row[1], 2)} ± {number(row[2], 2)}", row[1])
        rows.append(Row.of((*names, (number(row[0]), row[0]), bias, (number(row[3], 3), row[3]))))
    return Table(columns, tuple(rows), noun="ranks", cut=False)


def bias_figure(answer: BiasAnswer) -> Figure:
    """Return the bias with its 95 % interval above the variance, both by rank."""
    (_, bias, half_width, variance), k = answer.categories, answer.request.k
    ranks, pixels = np.arange(1, k + 1), k > AS_PIXELS
    with settings():
        figure = empty(5.0)
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.vlines(ranks, bias - half_width, bias + half_width, color=BLUE, alpha=0.35, rasterized=pixels)
        for axes, values in ((upper, bias), (lower, variance)):
            axes.grid(color=BAND, linewidth=0.8)
            axes.plot(ranks, values, ".", color=BLUE, markersize=4, rasterized=pixels)
        if k > MANY:
            log_axis(lower.xaxis)
        upper.set(ylabel="bias and 95 % interval", title=f"{pair_text(*answer.pair)}: {setting_text(answer.request)}")
        lower.set(xlabel="category, the most frequent first", ylabel="variance of the frequency")
        figure.set_label(f"bias by rank: {', '.join(number(value, 3) for value in answer.blocks[1].tolist())}")
    return figure
