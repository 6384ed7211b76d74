"""Documents of the answers about the knowledge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import cast

import numpy as np

from advisor.answers.knowledge import Judgement, NearCells, Rules
from advisor.errors import listed
from advisor.figures import percent
from advisor.names import pair_text
from advisor.question.units import unit_text
from advisor.show.model import (
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Scalar,
    Sentence,
    Table,
    Verdict,
    plain,
    sentences,
)
from knowledge import model, policy
from knowledge.cells import Neighbour
from knowledge.judging.scores import MODEL, SINGLE, Score
from knowledge.menu import CURVE_PROTOCOLS
from knowledge.provenance import Provenance
from simulator.ranking import PRACTICAL_RATIO

BRIEF = (
    Column("metric", text=True),
    Column("choice", "method: for a given protocol; pair: both", text=True),
    Column("regret (95 %, worst)", "error of the choice over that of the best, less 1: mean, 95th percentile, worst"),
    Column("closed gap", "share of the log regret of the single best fixed choice that is avoided", drop=2),
    Column("worse than single best", "settings where the single best fixed choice is more than 5 % better", drop=3),
    Column("best, in best three", "settings where the choice is the best, or among the best three", drop=5),
    Column("predicted error off by", "median distance of the predicted error from the simulated one", drop=1),
)
FULL = (
    *BRIEF[:2],
    Column("by", "who chooses", text=True),
    Column("settings", "number of questions", drop=8),
    Column("regret: mean", "error of the choice over that of the best, less 1"),
    Column("95 %", "95th percentile of the regret", drop=5),
    Column("worst", "largest regret", drop=4),
    *BRIEF[3:5],
    Column("top 1", "settings where the choice is the best", drop=7),
    Column("top 3", "settings where the choice is among the best three", drop=6),
    BRIEF[6],
)
CELLS = (
    Column("shape", "family and parameter of the population", text=True),
    Column("k", "categories"),
    Column("n", "users"),
    Column("ε", "privacy budget"),
    Column("protocol", "protocol that was simulated", text=True),
    Column("noise", "k times the noise sd: 1 means noise as large as the mean frequency", drop=2),
    Column("distance", "from the question, in standard deviations of the features (root mean square)", drop=1),
    Column("best methods", "lowest simulated errors in this cell, best first", text=True),
    Column("recommended", "simulated error of the recommended method in this cell"),
)


def info_document() -> Document:
    """Return what look-ups cover, and how the shipped model was made."""
    shipped = model.load()
    made = shipped.provenance
    covers, simulated = (
        "; ".join(f"{name.replace('_', '-')} {_figure(low)} to {_figure(high)}" for name, (low, high) in of.items())
        for of in (made.covers, made.simulated)
    )
    lines = (
        f"On cells left out of the fit, the error of a method near the best was off by "
        f"{100 * float(np.median(shipped.spread)):.0f} % (standard deviation, median of methods and metrics).",
        f"Covers: {covers}.",
        f"Simulated: {made.cells:,} noise settings with 8 populations each, repetitions {made.repetitions}; "
        f"{simulated}.",
        f"Made by version {made.tool_version} on {made.finished}, seed {made.seed}, in {made.seconds:,} seconds (of "
        "its last run, if it was resumed).",
        f"Shapes: {', '.join(made.shapes)}.",
        f"Methods: {', '.join(made.methods)}.",
        f"Metrics: {', '.join(made.metrics)}.",
        *_of_ordered_domains(),
    )
    names = ("tool_version", "seed", "cells", "populations", "repetitions", "seconds", "finished")
    facts: dict[str, Scalar] = {name: getattr(made, name) for name in names}
    for name, (low, high) in made.covers.items():
        facts |= {f"{name}_from": low, f"{name}_to": high}
    first = f"Look-ups are predicted by a model fitted to {made.populations:,} simulated populations."
    return Document(
        title="What look-ups rest on",
        verdict=Verdict("provenance", first),
        parts=tuple(sentences(lines)),
        data={"knowledge": cast(Mapping[str, Json], made.to_json())},
        records=Records.of([facts]),
        value=str(made.populations),
    )


def _of_ordered_domains() -> tuple[str, ...]:
    """Return what is predicted besides on ordered domains, and from what."""
    leaves, curves = (model.load(part=part).provenance for part in (model.LEAVES, model.CURVES))
    low, high = curves.simulated["k"]
    return (
        f"Ordered domains besides: {listed(CURVE_PROTOCOLS, most=9)}, and {listed(leaves.methods, most=9)} with all "
        f"protocols; {curves.cells:,} settings of k, epsilon and n with 8 populations each, k {_figure(low)} to "
        f"{_figure(high)}, repetitions {curves.repetitions}.",
        f"Metrics of ordered domains: {', '.join(curves.metrics)}.",
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def rules_document(tree: Rules) -> Document:
    """Return the decision tree of a metric as a table of rules: a page to pin to a wall."""
    rules = tree.rules
    what = f"{tree.metric}, categories {'with' if tree.ordered else 'without'} an order"
    asked = [name for name in policy.QUESTIONS if any(one.question == name for path, _ in rules for one in path)]
    columns = (
        *(Column(policy.QUESTIONS[name], text=True) for name in asked),
        Column("protocol", text=True),
        Column("method", text=True),
        Column("regret", "error over the lowest predicted one, less 1: mean over the cases of the rule"),
        Column("share", "of the cases that the rules were made from", drop=1),
    )
    rows = []
    for path, leaf in rules:
        limits = {one.question: one.ends for one in path}
        figures = ((percent(figure), figure) for figure in (leaf.regret, leaf.share))
        rows.append(Row.of((*(limits.get(name, "any") for name in asked), leaf.protocol, leaf.method, *figures)))
    mean = sum(leaf.regret * leaf.share for _, leaf in rules)
    several = f"{len(rules)} rules name" if len(rules) > 1 else "One rule names"
    text = f"{several} the pair to use for {what}: {percent(mean)} more error than the best pair on average."
    data: list[dict[str, Json]] = [{"conditions": list(map(str, path)), **asdict(leaf)} for path, leaf in rules]
    flat = [{"conditions": "; ".join(map(str, path)), **asdict(leaf)} for path, leaf in rules]
    return Document(
        title=f"Which protocol and post-processing method? {what}",
        verdict=Verdict("rules", text),
        parts=(Table(columns, tuple(rows), noun="rules", cut=False), *sentences(_RULES, Role.NOTE)),
        data={"metric": tree.metric, "ordered": tree.ordered, "rules": data},
        records=Records.of(flat),
        value="\n".join(f"{rule['conditions'] or 'always'}: {rule['protocol']} {rule['method']}" for rule in flat),
    )


_RULES = (
    "Skew: 1 where frequencies fall as 1/rank, 0 where all are equal; 1 if you do not know.",
    "Made from what the model predicts for 0.2 <= ε <= 10, k to 4,096, n from 1,000 to 100 million. With data like "
    "yours, ask with the file: ldp-advise --eps 1 FILE.",
)


def evaluation_document(judgements: Sequence[Judgement], *, full: bool) -> Document:
    """Return the regret of look-ups: a table for each set of histograms."""
    parts: list[Part] = []
    for judgement in judgements:
        parts.append(Sentence(_verdict(judgement), Role.ANSWER))
        parts.append(full_table(judgement) if full else brief_table(judgement))
    scores = [(judgement.title, score) for judgement in judgements for score in judgement.scores]
    return Document(
        title="Regret of look-ups",
        verdict=None,
        parts=tuple(parts),
        data={
            "sets": [
                {
                    "title": judgement.title,
                    "settings": judgement.settings,
                    "scores": [plain(score) for score in judgement.scores],
                }
                for judgement in judgements
            ]
        },
        records=Records.of(
            [{"set": title, **plain(score)} for title, score in scores],
            ("set", *(field.name for field in fields(Score))),
        ),
        value="\n".join(f"{score.regret:.6g}" for _, score in scores if score.chooser == MODEL),
    )


def _verdict(judgement: Judgement) -> str:
    regrets = [score.regret for score in judgement.scores if score.chooser == MODEL]
    return (
        f"{judgement.title}: choosing by look-up costs {_percent(min(regrets), 1)} to {_percent(max(regrets), 1)} more "
        f"error than the best choice, on average over {judgement.settings:,} settings, depending on the metric."
    )


def brief_table(judgement: Judgement) -> Table:
    """Return a row for the model in each task, with the mean regrets of the other choosers beside it."""
    by = {(score.metric, score.task, score.chooser): score for score in judgement.scores}
    others = list(dict.fromkeys(chooser for *_, chooser in by if chooser != MODEL))
    rows = []
    for score in judgement.scores:
        if score.chooser == MODEL:
            beside = (by.get((score.metric, score.task, other)) for other in others)
            rows.append(
                (
                    score.metric,
                    score.task,
                    f"{_percent(score.regret, 1)} ({_percent(score.regret_95)}, {_percent(score.regret_worst)})",
                    _gap(score),
                    _percent(score.worse_than_single, 1),
                    f"{_percent(score.top_1)}, {_percent(score.top_3)}",
                    _percent(score.prediction_error),
                    *("–" if other is None else _percent(other.regret, 1) for other in beside),
                )
            )
    columns = (*BRIEF, *(Column(other, f"mean regret of {other}", drop=4) for other in others))
    return _table(_title(judgement), columns, rows)


def full_table(judgement: Judgement) -> Table:
    """Return a row for each chooser in each task."""
    rows = [
        (
            score.metric,
            score.task,
            f"{SINGLE} ({score.single_best})" if score.chooser == SINGLE else score.chooser,
            str(score.settings),
            _percent(score.regret, 1),
            _percent(score.regret_95),
            _percent(score.regret_worst),
            _gap(score),
            _percent(score.worse_than_single, 1),
            _percent(score.top_1),
            _percent(score.top_3),
            _percent(score.prediction_error),
        )
        for score in judgement.scores
    ]
    return _table(_title(judgement), FULL, rows)


def _title(judgement: Judgement) -> str:
    return f"{judgement.title}: {judgement.settings} settings"


def _table(title: str, columns: tuple[Column, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(columns, tuple(map(Row, rows)), title=title, cut=False)


def cells_document(near_cells: NearCells) -> Document:
    """Return the simulated populations nearest to a look-up, and what was best in them."""
    advice, cells = near_cells.advice, near_cells.rows
    best, metric = advice.best, advice.metric
    unit = unit_text(metric, advice.request.bins)
    near = sum(row.error is not None and row.error <= PRACTICAL_RATIO * row.best[0][1] for row in cells)
    first = (
        f"{best.method} was within 5 % of the best method in {near} of the {len(cells)} nearest simulated populations."
    )
    rest = (
        f"The answer itself is predicted by a model fitted to {model.load().populations:,} simulated populations: "
        f"{pair_text(best.protocol, best.method)}, {metric} error {best.error:.3g} ({unit}).",
        "Each row has its own k, n and noise, so its errors are not those of the answer.",
        *(
            ["Protocols for ordered domains have no cells here: a look-up ranks them too."]
            if advice.request.ordered
            else []
        ),
    )
    rows = [
        (
            row.near.shape,
            f"{row.near.k:,}",
            f"{row.near.n:,}",
            f"{row.near.epsilon:.3g}",
            row.near.protocol,
            f"{row.near.noise_to_uniform:.3g}",
            f"{row.near.distance:.2f}",
            ", ".join(f"{method} {error:.3g}" for method, error in row.best),
            "–" if row.error is None else f"{row.error:.3g}",
        )
        for row in cells
    ]
    return Document(
        title="Simulated populations nearest to the question",
        verdict=Verdict("nearest", first),
        parts=(
            *sentences(advice.warnings, Role.WARNING),
            _table(f"Nearest simulated cells, {metric} errors", CELLS, rows),
            *sentences(rest, Role.NOTE),
        ),
        data={
            "metric": metric,
            "protocol": best.protocol,
            "method": best.method,
            "error": best.error,
            "cells": [{**_cell(row.near), "best": row.best, "error": row.error} for row in cells],
            "sentences": [first, *rest],
            "warnings": list(advice.warnings),
        },
        records=Records(
            (*_cell(cells[0].near), "best_method", "best_error", "recommended_error"),
            tuple((*_cell(row.near).values(), *row.best[0], row.error) for row in cells),
        ),
        value="\n".join(row.best[0][0] for row in cells),
    )


def _cell(near: Neighbour) -> dict[str, Scalar]:
    names = ("shape", "k", "n", "epsilon", "protocol", "noise_to_uniform", "distance")
    return {"cell": near.index, **{name: getattr(near, name) for name in names}}


def built_document(folder: str, made: Provenance) -> Document:
    """Return where a finished build is."""
    facts: dict[str, Scalar] = {"folder": folder, "populations": made.populations, "seconds": made.seconds}
    words = f"Built in {folder}: {made.populations:,} populations in {made.seconds:,} seconds."
    return Document(
        title="Knowledge built anew",
        verdict=Verdict("built", words),
        parts=(),
        data=facts,
        records=Records.of([facts]),
        value=folder,
    )


def _percent(share: float, digits: int = 0) -> str:
    return "" if math.isnan(share) else f"{100 * share:.{digits}f} %"


def _gap(score: Score) -> str:
    return "" if math.isnan(score.closed_gap) else f"{score.closed_gap:.2f}"
