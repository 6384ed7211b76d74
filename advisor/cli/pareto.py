"""``ldp-advise pareto``: the pairs that no other beats in error, attack success and bits per report at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from advisor.answers.rank.pareto import Frontier, pareto
from advisor.cli.arguments import Sample
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import RankOptions, ranking_answer
from advisor.cli.run import Job, Output, SideFile, run
from advisor.question.central import CentralPromise
from advisor.question.request import RankSettings
from advisor.question.settings import Picture
from advisor.show.pictures import PICTURES, require_matplotlib, save
from advisor.show.pictures.ranking import pareto_figure
from advisor.show.rank.pareto import pareto_document, pareto_sections


def pareto_command(
    *,
    sample: Sample = None,
    options: RankOptions,
    promise: CentralPromise,
    picture: Picture,
    output: Output,
) -> None:
    """Show the trade-offs between error, attack and report size.

    A pair is shown where no other beats it in all three at once.

    Examples: ldp-advise pareto --eps 1 sample.csv
              ldp-advise pareto --eps 1 --k 256
    """
    options.question.one_metric("pareto")
    settings = RankSettings(
        options.question,
        options.metric_settings,
        options.menu,
        options.limits,
        simulation=options.simulation,
        promise=promise,
    )
    options.check(sample, settings)
    answer = ranking_answer(options.simulation, predicted=options.is_predicted(sample))
    run(
        Job(
            read=lambda: options.read(sample, settings)[0],
            warnings=lambda request: request.warnings,
            answer=lambda request, progress: pareto(answer(request, progress).first),
            document=pareto_document,
            sections=pareto_sections,
            progress=partial(DelayedProgress, "simulating"),
            inputs=[sample, options.cleaning.domain],
            files=[
                SideFile("--plot", picture.plot, PICTURES, _draw, require_matplotlib, lambda answer: bool(answer.rows))
            ],
            unprotected=sample is not None,
        ),
        output,
        top=None,
    )


def _draw(frontier: Frontier, target: Path) -> None:
    save(pareto_figure(frontier), target)
