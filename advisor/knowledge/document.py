"""Documents of the answers about the knowledge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import cast

from advisor.document.model import Code, Column, Document, Json, Records, Role, Row, Scalar, Sentence, Table
from advisor.knowledge.answer import Built, CellRow, Judgement, KnowledgeInfo, NearestCells, Rules
from knowledge.judging.scores import MODEL, SINGLE, Score

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


def info_document(info: KnowledgeInfo) -> Document:
    """Return what look-ups cover, and how the model was made."""
    made = info.provenance
    facts: dict[str, Scalar] = {
        "tool_version": made.tool_version,
        "seed": made.seed,
        "cells": made.cells,
        "populations": made.populations,
        "repetitions": made.repetitions,
        "seconds": made.seconds,
        "finished": made.finished,
    }
    for name, (low, high) in made.covers.items():
        facts |= {f"{name}_from": low, f"{name}_to": high}
    first, *rest = info.sentences
    return Document(
        title="What look-ups rest on",
        parts=(Sentence(first, Role.ANSWER), *map(Sentence, rest)),
        data={"knowledge": cast(Mapping[str, Json], made.to_json())},
        records=Records(tuple(facts), (tuple(facts.values()),)),
        value=str(made.populations),
    )


def rules_document(rules: Rules) -> Document:
    """Return the decision tree of a metric as indented rules."""
    what = f"{rules.metric}, categories {'with' if rules.ordered else 'without'} an order"
    leaves = [
        ("; ".join(map(str, rule.conditions)), rule.ranking[0][0], rule.ranking[0][1], rule.populations)
        for rule in rules.rules
    ]
    return Document(
        title=f"Decision tree of {what}",
        parts=(
            Sentence(f"Decision tree of {what}: the methods that are best on average where all conditions hold."),
            Code(rules.text),
        ),
        data={
            "metric": rules.metric,
            "ordered": rules.ordered,
            "rules": [
                {
                    "conditions": [str(condition) for condition in rule.conditions],
                    "ranking": [{"method": method, "extra_error": extra} for method, extra in rule.ranking],
                    "populations": rule.populations,
                }
                for rule in rules.rules
            ],
        },
        records=Records(("conditions", "method", "extra_error", "populations"), tuple(leaves)),
        value=rules.text,
    )


def evaluation_document(judgements: Sequence[Judgement], *, full: bool) -> Document:
    """Return the regret of look-ups: a table for each set of histograms."""
    scores = [(judgement.title, score) for judgement in judgements for score in judgement.scores]
    names = tuple(field.name for field in fields(Score))
    return Document(
        title="Regret of look-ups",
        parts=tuple(
            part
            for judgement in judgements
            for part in (
                Sentence(_verdict(judgement), Role.ANSWER),
                full_table(judgement) if full else brief_table(judgement),
            )
        ),
        data={
            "sets": [
                {
                    "title": judgement.title,
                    "settings": judgement.settings,
                    "scores": [_plain(score) for score in judgement.scores],
                }
                for judgement in judgements
            ]
        },
        records=Records(("set", *names), tuple((title, *_plain(score).values()) for title, score in scores)),
        value="\n".join(f"{score.regret:.6g}" for _, score in scores if score.chooser == MODEL),
    )


def _verdict(judgement: Judgement) -> str:
    regrets = [score.regret for score in judgement.scores if score.chooser == MODEL]
    return (
        f"{judgement.title}: choosing by look-up costs {_percent(min(regrets), 1)} to {_percent(max(regrets), 1)} more "
        f"error than the best choice, on average over {judgement.settings:,} settings, depending on the metric."
    )


def _plain(score: Score) -> dict[str, Scalar]:
    """Return the fields of a score; what is not defined is None."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in asdict(score).items()
    }


def brief_table(judgement: Judgement) -> Table:
    """Return a row for the model in each task, with the mean regrets of the other choosers beside it."""
    by = {(score.metric, score.task, score.chooser): score for score in judgement.scores}
    others = list(dict.fromkeys(chooser for *_, chooser in by if chooser != MODEL))
    rows = []
    for metric, task, chooser in by:
        if chooser != MODEL:
            continue
        score = by[metric, task, chooser]
        rows.append(
            (
                metric,
                task,
                f"{_percent(score.regret, 1)} ({_percent(score.regret_95)}, {_percent(score.regret_worst)})",
                _gap(score),
                _percent(score.worse_than_single, 1),
                f"{_percent(score.top_1)}, {_percent(score.top_3)}",
                _percent(score.prediction_error),
                *(
                    _percent(by[metric, task, other].regret, 1) if (metric, task, other) in by else "–"
                    for other in others
                ),
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
            "" if math.isnan(score.prediction_error) else _percent(score.prediction_error),
        )
        for score in judgement.scores
    ]
    return _table(_title(judgement), FULL, rows)


def _title(judgement: Judgement) -> str:
    return f"{judgement.title}: {judgement.settings} settings"


def _table(title: str, columns: tuple[Column, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(columns, tuple(map(Row, rows)), title=title, cut=False)


def cells_document(answer: NearestCells) -> Document:
    """Return the simulated populations nearest to a question, and what was best in them."""
    first, *rest = answer.sentences
    rows = [
        (
            row.shape,
            f"{row.k:,}",
            f"{row.n:,}",
            f"{row.epsilon:.3g}",
            row.protocol,
            f"{row.noise_to_uniform:.3g}",
            f"{row.distance:.2f}",
            ", ".join(f"{method} {error:.3g}" for method, error in row.best),
            "–" if row.error is None else f"{row.error:.3g}",
        )
        for row in answer.cells
    ]
    return Document(
        title="Simulated populations nearest to the question",
        parts=(
            *(Sentence(words, Role.WARNING) for words in answer.warnings),
            Sentence(first, Role.ANSWER),
            _table(f"Nearest simulated cells, {answer.metric} errors", CELLS, rows),
            *(Sentence(words, Role.NOTE) for words in rest),
        ),
        data=cast(Mapping[str, Json], asdict(answer)),
        records=Records(
            (*(name for name in CELL_FIELDS), "best_method", "best_error", "recommended_error"),
            tuple(_cell_record(row) for row in answer.cells),
        ),
        value="\n".join(row.best[0][0] for row in answer.cells),
    )


CELL_FIELDS = ("cell", "shape", "k", "n", "epsilon", "protocol", "noise_to_uniform", "distance")


def _cell_record(row: CellRow) -> tuple[Scalar, ...]:
    return (
        row.cell, row.shape, row.k, row.n, row.epsilon, row.protocol, row.noise_to_uniform, row.distance,
        row.best[0][0], row.best[0][1], row.error,
    )  # fmt: skip


def built_document(built: Built) -> Document:
    """Return where a finished build is."""
    facts = asdict(built)
    return Document(
        title="Knowledge built anew",
        parts=(Sentence(built.sentence, Role.ANSWER),),
        data=facts,
        records=Records(tuple(facts), (tuple(facts.values()),)),
        value=built.folder,
    )


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _gap(score: Score) -> str:
    return "" if math.isnan(score.closed_gap) else f"{score.closed_gap:.2f}"
