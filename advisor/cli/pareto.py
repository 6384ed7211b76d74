"""``ldp-advise pareto``: the pairs that no other beats in error, attack success and bits per report at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from advisor.cli.arguments import Sample
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import check_options, read_request
from advisor.cli.run import Job, Output, SideFile, run
from advisor.pictures import PICTURES, require_matplotlib, save
from advisor.question.request import RankSettings, Request
from advisor.question.settings import (
    Categories,
    Cleaning,
    Columns,
    Instant,
    Limits,
    Menu,
    MetricSettings,
    Picture,
    Question,
    Shape,
    Simulation,
)
from advisor.rank.pareto import Frontier, pareto
from advisor.rank.pareto_document import pareto_document, pareto_sections


def pareto_command(
    *,
    sample: Sample = None,
    question: Question,
    domain: Categories,
    columns: Columns,
    cleaning: Cleaning,
    menu: Menu,
    limits: Limits,
    shape: Shape,
    instant: Instant,
    metric_settings: MetricSettings,
    simulation: Simulation,
    picture: Picture,
    output: Output,
) -> None:
    """Show the trade-offs between error, attack and report size.

    A pair is shown where no other beats it in all three at once.

    Examples: ldp-advise pareto --eps 1 sample.csv
              ldp-advise pareto --eps 1 --k 256
    """
    question.one_metric("pareto")
    settings = RankSettings(question, metric_settings, menu, limits, simulation=simulation)
    predicted = sample is None or instant.instant
    check_options(settings, sample, domain, (columns, cleaning), shape, predicted=predicted)
    run(
        Job(
            read=partial(read_request, sample, settings, domain, columns, cleaning, shape, predicted=predicted),
            warnings=lambda request: request.warnings,
            answer=partial(_frontier, predicted=predicted, jobs=simulation.jobs),
            document=pareto_document,
            sections=pareto_sections,
            progress=partial(DelayedProgress, "simulating"),
            inputs=[name for name in (sample, cleaning.domain) if name is not None],
            files=[
                SideFile("--plot", picture.plot, PICTURES, _draw, require_matplotlib, lambda answer: bool(answer.rows))
            ],
            unprotected=sample is not None,
        ),
        output,
        top=None,
    )


def _frontier(request: Request, progress: DelayedProgress, *, predicted: bool, jobs: int | None) -> Frontier:
    if predicted:
        from advisor.rank.look_up import look_up  # samples have no need of the model

        return pareto(look_up(request)[0])
    from advisor.rank.simulate import simulated_answer  # look-ups have no need of it

    return pareto(simulated_answer(request, jobs=jobs, progress=progress).first)


def _draw(frontier: Frontier, target: Path) -> None:
    from advisor.pictures.pareto import pareto_figure  # heavy: it draws

    save(pareto_figure(frontier), target)
