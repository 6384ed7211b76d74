"""``python studies/judge_samples.py FILES...``: how good a choice is that rests on few users of an ordered domain.

For every histogram given and every named shape and family that has an order: a few users are drawn, a pair is chosen
for many more from populations that may be behind these few, and its error is compared with that of the best pair where
the whole histogram is known. The same with populations that know no order. Nothing was fitted to any of these.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, NamedTuple

import numpy as np
import typer
from families import Truth, truths
from footer import footer

from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import simulated_answer
from advisor.errors import InputError
from advisor.question.question import MemorySample, Question
from advisor.question.ranking import ranking_requests
from advisor.question.request import Request
from advisor.question.settings import Categories, Terms
from simulator._types import IntArray
from simulator.draws import multinomial
from simulator.populations import apportion
from simulator.seeding import rng_for
from simulator.surrogate import sample_posterior

METRIC_NAMES, SAMPLES = ("l1", "emd"), (300, 3000)
EPSILON, N = 1.0, 100_000
SMALLEST, LARGEST = 64, 256
POSTERIORS = {"around a curve": True, "without order": False}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Chosen(NamedTuple):
    """A pair chosen from a small sample."""

    truth: str
    posterior: str
    users: int
    metric: str
    ratio: float  # of its error to that of the best pair
    predicted: float  # the error that the answer gives, over the true one


def request_of(counts: IntArray) -> Request:
    """Return what is asked for N users, given the counts of a sample."""
    terms = Terms(epsilon=EPSILON, n=N, metric=METRIC_NAMES)
    sample = MemorySample(None, counts.tolist())
    return ranking_requests(Question(sample=sample, terms=terms, domain=Categories(ordered=True)))[0]


def choices(truth: Truth, samples: Sequence[int]) -> Iterator[Chosen]:
    """Yield the pairs that are chosen from one sample of each size."""
    errors = errors_of(simulated_answer(request_of(apportion(truth.frequencies, N))))
    for users in samples:
        counts = multinomial(users, truth.frequencies, rng_for(2, "judge", truth.name, users))
        request = request_of(counts)
        for posterior, ordered in POSTERIORS.items():
            drawn = sample_posterior(counts, request.max_repetitions, rng_for(2, "drawn", users), ordered=ordered)
            answer = simulated_answer(replace(request, populations=np.stack([apportion(row, N) for row in drawn])))
            for ranking in answer.rankings:
                known, best = errors[ranking.metric], ranking.best
                true = known[best.pair]
                yield Chosen(
                    truth.name, posterior, users, ranking.metric, true / min(known.values()), best.error / true
                )


def errors_of(answer: Answer) -> dict[str, dict[tuple[str, str], float]]:
    """Return for each metric the errors of all pairs."""
    return {ranking.metric: {row.pair: row.error for row in ranking.recommendations} for ranking in answer.rankings}


@app.command()
def judge(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the shapes")] = None,
    every: Annotated[int, typer.Option(min=1, help="only every N-th of them")] = 1,
) -> None:
    """Print a Markdown table of geometric means: what the choice costs, and how far off its predicted error is."""
    among = [one for one in truths(files or []) if one.ordered and SMALLEST <= len(one.frequencies) <= LARGEST][::every]
    made = [chosen for truth in among for chosen in choices(truth, SAMPLES)]
    typer.echo(f"{len(among)} histograms; error over that of the best pair (worst), predicted over true error")
    typer.echo("\n| posterior | users | " + " | ".join(f"{name} | predicted" for name in METRIC_NAMES) + " |")
    typer.echo("|---|---:|" + "---:|" * 2 * len(METRIC_NAMES))
    for posterior in POSTERIORS:
        for users in SAMPLES:
            cells = [
                means([(one.ratio, one.predicted) for one in made if one[1:4] == (posterior, users, name)])
                for name in METRIC_NAMES
            ]
            typer.echo(f"| {posterior} | {users:,} | {' | '.join(cells)} |")
    typer.echo("\n" + footer("0 (simulations) and 2 (samples)"))


def means(figures: Sequence[tuple[float, float]]) -> str:
    """Return two cells of a table: geometric mean and worst of ratios, and the geometric mean of other figures."""
    ratios, others = np.array(figures).T
    ratio, other = (float(np.exp(np.log(each).mean())) for each in (ratios, others))
    return f"{ratio:.2f} ({ratios.max():.1f}) | {other:.2f}"


if __name__ == "__main__":
    try:
        app(prog_name="python studies/judge_samples.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
