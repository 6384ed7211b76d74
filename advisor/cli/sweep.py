"""``ldp-advise sweep``: who wins where, over a grid of budgets, users and domain sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from advisor.answers.sweep.answer import run_sweep
from advisor.answers.sweep.result import SweepResult
from advisor.checks import path
from advisor.cli.options import Only
from advisor.cli.run import Job, Output, picture_file, run, say
from advisor.question.cluster import Resumption
from advisor.question.option import Settings, option
from advisor.question.question import Question
from advisor.question.rules import check_sweep
from advisor.question.sweep import SweepQuestion, sweep_question
from advisor.show.pictures.sweep import curves_figure
from advisor.show.sweep import sweep_document
from simulator.progress import Progress

SWEPT = (
    "sample",
    "grid",
    "terms:metric",
    "domain:ordered",
    "columns",
    "cleaning",
    "menu",
    "shape",
    "simulation",
    "cluster",
)


@dataclass(frozen=True, kw_only=True)
class SweepFiles(Settings):
    """What a sweep shows, keeps and draws."""

    panel: ClassVar[str] = "Output"

    per_protocol: bool = option("--per-protocol", help="the best method for each protocol")
    plot_curves: str | None = option(
        "--plot-curves", read=path, metavar="FILE", help="errors of all methods: .png, .svg or .pdf"
    )


def sweep_command(
    *, question: Annotated[Question, Only(*SWEPT)], files: SweepFiles, resumption: Resumption, output: Output
) -> None:
    """Say who wins for each ε, n and k, how often, and by how much.

    Example: ldp-advise sweep --eps 0.5,1,2 --n 10k,1M --k 64,1024
    """
    resume = resumption.resume
    question.terms.one_metric("sweep")
    check_sweep(question, resumes=resume is not None)

    def answer(grid: SweepQuestion, progress: Progress) -> SweepResult:
        try:
            return run_sweep(grid, question.simulation, question.cluster, resume=resume, progress=progress)
        except KeyboardInterrupt as stop:
            if stop.args:
                say(str(stop))
            raise

    run(
        Job(
            read=lambda: sweep_question(question),
            answer=answer,
            document=partial(sweep_document, per_protocol=files.per_protocol),
            data=question,
            resume=resume,
            files=[picture_file("--plot-curves", files.plot_curves, curves_figure)],
        ),
        output,
        top=None,
    )
