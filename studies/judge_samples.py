"""``python studies/judge_samples.py FILES...``: how good a choice is that rests on few users of an ordered domain.

For every histogram given and every named shape and family that has an order: a few users are drawn, a pair is chosen
for many more from populations that may be behind these few, and its error is compared with that of the best pair where
the whole histogram is known. The same with populations that know no order. Nothing was fitted to any of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import typer
from common import Files, footer, geometric_mean, head, line, run
from families import Truth, truths

from advisor.answers.rank.simulate import simulated_answer
from advisor.question.question import MemorySample, Question
from advisor.question.ranking import ranking_requests
from advisor.question.request import Request
from advisor.question.settings import Categories, Terms
from simulator._types import IntArray
from simulator.draws import multinomial
from simulator.populations import apportion
from simulator.seeding import rng_for
from simulator.surrogate import sample_posterior

METRIC_NAMES = ("l1", "emd")
EPSILON, SAMPLE, N = 1.0, 300, 100_000
SMALLEST, LARGEST = 64, 256
POSTERIORS = {"around a curve": True, "without order": False}


class Chosen(NamedTuple):
    """What was chosen from little."""

    row: tuple[str, ...]  # of the table
    metric: str
    ratio: float  # of its error to that of the best choice
    predicted: float  # the error that is predicted, over the true one


def request_of(counts: IntArray) -> Request:
    """Return what is asked for N users, given the counts of a sample."""
    terms = Terms(epsilon=EPSILON, n=N, metric=METRIC_NAMES)
    sample = MemorySample(None, counts.tolist())
    return ranking_requests(Question(sample=sample, terms=terms, domain=Categories(ordered=True)))[0]


def choices(truth: Truth) -> Iterator[Chosen]:
    """Yield the pairs that are chosen from one sample."""
    rankings = simulated_answer(request_of(apportion(truth.frequencies, N))).rankings
    errors = {one.metric: {row.pair: row.error for row in one.recommendations} for one in rankings}
    counts = multinomial(SAMPLE, truth.frequencies, rng_for(2, "judge", truth.name, SAMPLE))
    request = request_of(counts)
    for posterior, ordered in POSTERIORS.items():
        drawn = sample_posterior(counts, request.max_repetitions, rng_for(2, "drawn", SAMPLE), ordered=ordered)
        answer = simulated_answer(replace(request, populations=np.stack([apportion(row, N) for row in drawn])))
        for ranking in answer.rankings:
            known, best = errors[ranking.metric], ranking.best
            true = known[best.pair]
            yield Chosen((posterior,), ranking.metric, true / min(known.values()), best.error / true)


def middling(files: Sequence[str] | None) -> list[Truth]:
    """Return the truths with an order that are neither small nor large."""
    return [one for one in truths(files or []) if one.ordered and SMALLEST <= len(one.frequencies) <= LARGEST]


def print_choices(columns: Sequence[str], made: Sequence[Chosen]) -> None:
    """Print geometric mean and worst of the ratios, and the geometric mean of predicted over true errors."""
    typer.echo(head(*columns, *(title for name in METRIC_NAMES for title in (f"{name}:", "predicted:"))))
    for row in dict.fromkeys(one.row for one in made):
        cells = []
        for name in METRIC_NAMES:
            own = [one for one in made if (one.row, one.metric) == (row, name)]
            ratios = [one.ratio for one in own]
            cells.append(f"{geometric_mean(ratios):.2f} ({max(ratios):.1f})")
            cells.append(f"{geometric_mean([one.predicted for one in own]):.2f}")
        typer.echo(line(*row, *cells))


def judge(files: Files = None) -> None:
    """Print a Markdown table of geometric means: what the choice costs, and how far off its predicted error is."""
    among = middling(files)
    made = [chosen for truth in among for chosen in choices(truth)]
    typer.echo(f"{len(among)} histograms; error over that of the best pair (worst), predicted over true error\n")
    print_choices(("posterior",), made)
    typer.echo("\n" + footer("0 (simulations) and 2 (samples)"))


if __name__ == "__main__":
    run(judge)
