"""Documents of the answers about the knowledge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from advisor.answers.knowledge import CellRow, NearestCells
from advisor.errors import InputError
from advisor.figures import percent
from advisor.members.names import pair_text, resolve
from advisor.show.model import Column, Document, Json, Records, Role, Row, Scalar, Sentence, Table, Verdict, plain
from advisor.show.sentences import unit_text
from knowledge import model, policy
from knowledge.cells import Neighbour
from knowledge.menu import CURVE_PROTOCOLS
from simulator.ranking import PRACTICAL_RATIO


def info_document() -> Document:
    """Return what look-ups cover, and how the shipped model was made."""
    shipped, ordered = model.load(), model.load(part=model.LEAVES).provenance
    source = shipped.provenance
    covers = (
        f"{name.replace('_', '-')} {_figure(low)} to {_figure(high)}" for name, (low, high) in source.covers.items()
    )
    lines = (
        f"On cells left out of the fit, the error of a method near the best was off by "
        f"{100 * float(np.median(shipped.spread)):.0f} % (standard deviation, median of methods and metrics).",
        f"Covers: {'; '.join(covers)}.",
        f"Methods: {', '.join(source.methods)}; of ordered domains also {', '.join(ordered.methods)}.",
        f"Protocols of ordered domains: {', '.join(CURVE_PROTOCOLS)}.",
        f"Metrics: {', '.join(source.metrics)}.",
        f"Made by version {source.tool_version} on {source.finished}, seed {source.seed}, in {source.seconds:,} "
        f"seconds, from {source.cells:,} noise settings and {len(source.shapes)} shapes.",
    )
    names = ("tool_version", "seed", "cells", "populations", "repetitions", "seconds", "finished")
    facts: dict[str, Scalar] = {name: getattr(source, name) for name in names}
    for name, (low, high) in source.covers.items():
        facts |= {f"{name}_from": low, f"{name}_to": high}
    first = f"Look-ups are predicted by a model fitted to {source.populations:,} simulated populations."
    return Document(
        title="What look-ups rest on",
        verdict=Verdict("provenance", first),
        parts=tuple(map(Sentence, lines)),
        data={"knowledge": cast(Mapping[str, Json], source.to_json())},
        records=Records.of([facts]),
        value=str(source.populations),
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def rules_document(metric: str, *, ordered: bool) -> Document:
    """Return the decision tree of a metric as a table of rules: a page to pin to a wall.

    Raises InputError if the metric is unknown, has no tree, or needs an order.
    """
    key = resolve("metric", metric)
    try:
        rules = list(policy.leaves(policy.tree_for(key, ordered=ordered)))
    except ValueError as error:
        raise InputError(str(error)) from None
    what = f"{key}, categories {'with' if ordered else 'without'} an order"
    questions = [name for name in policy.QUESTIONS if any(step.question == name for path, _ in rules for step in path)]
    columns = (
        *(Column(policy.QUESTIONS[name], text=True) for name in questions),
        Column("protocol", text=True),
        Column("method", text=True),
        Column("regret", "error over the lowest predicted one, less 1: mean over the cases of the rule"),
        Column("share", "of the cases that the rules were made from", drop=1),
    )
    rows = []
    for path, leaf in rules:
        limits = {step.question: step.ends for step in path}
        cells = (
            *(limits.get(name, "any") for name in questions),
            *leaf.pair,
            percent(leaf.regret),
            percent(leaf.share),
        )
        rows.append(Row(cells, (*(None for _ in cells[:-2]), leaf.regret, leaf.share)))
    mean = sum(leaf.regret * leaf.share for _, leaf in rules)
    several = f"{len(rules)} rules name" if len(rules) > 1 else "One rule names"
    text = f"{several} the pair to use for {what}: {percent(mean)} more error than the best pair on average."
    leaves = [([str(step) for step in path], plain(leaf)) for path, leaf in rules]
    return Document(
        title=f"Which protocol and post-processing method? {what}",
        verdict=Verdict("rules", text),
        parts=(Table(columns, tuple(rows), noun="rules", cut=False), *(Sentence(step, Role.NOTE) for step in _RULES)),
        data={
            "metric": key,
            "ordered": ordered,
            "rules": [{"conditions": conditions, **leaf} for conditions, leaf in leaves],
        },
        records=Records.of([{"conditions": "; ".join(conditions), **leaf} for conditions, leaf in leaves]),
        value="\n".join(
            f"{'; '.join(conditions) or 'always'}: {leaf['protocol']} {leaf['method']}" for conditions, leaf in leaves
        ),
    )


_RULES = (
    "Skew: 1 where frequencies fall as 1/rank, 0 where all are equal; 1 if you do not know.",
    "Made from what the model predicts for 0.2 <= ε <= 10, k to 4,096, n from 1,000 to 100 million. With data like "
    "yours, ask with the file: ldp-advise --eps 1 FILE.",
)


CELLS: dict[Column, Callable[[CellRow], str]] = {  # columns of simulated cells, with what fills each
    Column("shape", "family and parameter of the population", text=True): lambda row: row.near.shape,
    Column("k", "categories"): lambda row: f"{row.near.k:,}",
    Column("n", "users"): lambda row: f"{row.near.n:,}",
    Column("ε", "privacy budget"): lambda row: f"{row.near.epsilon:.3g}",
    Column("protocol", "protocol that was simulated", text=True): lambda row: row.near.protocol,
    Column("noise", "k times the noise sd: 1 means noise as large as the mean frequency", drop=2): (
        lambda row: f"{row.near.noise_to_uniform:.3g}"
    ),
    Column("distance", "from the question, in standard deviations of the features (root mean square)", drop=1): (
        lambda row: f"{row.near.distance:.2f}"
    ),
    Column("best methods", "lowest simulated errors in this cell, best first", text=True): (
        lambda row: ", ".join(f"{method} {error:.3g}" for method, error in row.best)
    ),
    Column("recommended", "simulated error of the recommended method in this cell"): (
        lambda row: "–" if row.error is None else f"{row.error:.3g}"
    ),
}


def cells_document(answer: NearestCells) -> Document:
    """Return the populations nearest to a look-up, what was best in them, and what that says of its answer."""
    cells, advice = answer.rows, answer.advice
    best, metric = advice.best, advice.metric
    unit = unit_text(metric, advice.request.bins)
    near = sum(row.error is not None and row.error <= PRACTICAL_RATIO * row.best[0][1] for row in cells)
    first = (
        f"{best.method} was within 5 % of the best method in {near} of the {len(cells)} nearest simulated populations."
    )
    rest = [
        f"The answer itself is predicted by a model fitted to {model.load().populations:,} simulated populations: "
        f"{pair_text(best.protocol, best.method)}, {metric} error {best.error:.3g} ({unit}).",
        "Each row has its own k, n and noise, so its errors are not those of the answer.",
    ]
    if advice.request.ordered:
        rest.append("Protocols for ordered domains have no cells here: a look-up ranks them too.")
    facts = [_cell(row.near) for row in cells]
    return Document(
        title="Simulated populations nearest to the question",
        verdict=Verdict("nearest", first),
        parts=(
            *(Sentence(words, Role.WARNING) for words in advice.warnings),
            Table(
                tuple(CELLS),
                tuple(Row(tuple(cell(row) for cell in CELLS.values())) for row in cells),
                title=f"Nearest simulated cells, {metric} errors",
                cut=False,
            ),
            *(Sentence(words, Role.NOTE) for words in rest),
        ),
        data={
            "metric": metric,
            "protocol": best.protocol,
            "method": best.method,
            "error": best.error,
            "cells": [{**cell, "best": row.best, "error": row.error} for cell, row in zip(facts, cells, strict=True)],
            "sentences": [first, *rest],
            "warnings": advice.warnings,
        },
        records=Records.of(
            [
                {**cell, "best_method": row.best[0][0], "best_error": row.best[0][1], "recommended_error": row.error}
                for cell, row in zip(facts, cells, strict=True)
            ]
        ),
        value="\n".join(row.best[0][0] for row in cells),
    )


def _cell(near: Neighbour) -> dict[str, Scalar]:
    names = ("shape", "k", "n", "epsilon", "protocol", "noise_to_uniform", "distance")
    return {"cell": near.index, **{name: getattr(near, name) for name in names}}


def built_document(folder: str, provenance: model.Provenance) -> Document:
    """Return where a finished build is."""
    facts: dict[str, Scalar] = {"folder": folder, "populations": provenance.populations, "seconds": provenance.seconds}
    words = f"Built in {folder}: {provenance.populations:,} populations in {provenance.seconds:,} seconds."
    return Document(
        title="Knowledge built anew",
        verdict=Verdict("built", words),
        parts=(),
        data=facts,
        records=Records.of([facts]),
        value=folder,
    )
