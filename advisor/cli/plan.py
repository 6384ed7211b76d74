"""``ldp-advise plan``: how many users, or which budget, an error takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from advisor.answers.plan.answer import make_plan
from advisor.answers.plan.result import PlanResult
from advisor.cli.arguments import Sample
from advisor.cli.options import Only
from advisor.cli.progress import DelayedWords
from advisor.cli.run import Job, Output, SideFile, run
from advisor.question.central import CentralPromise
from advisor.question.cleaning import Cleaning
from advisor.question.metric_settings import MetricSettings
from advisor.question.plan import Goal, PlanQuestion, PlanSettings, build_question, shape_frequencies
from advisor.question.sample import from_file, refuse_mixed
from advisor.question.settings import Categories, Columns, Instant, Limits, Menu, Picture, Question, Shape, Simulation
from advisor.show.model import Figure, Section
from advisor.show.pictures import PICTURES, require_matplotlib, save, to_svg
from advisor.show.pictures.plan import plan_figure
from advisor.show.plan import plan_document


def plan_command(
    *,
    sample: Sample = None,
    question: Question,
    goal: Goal,
    domain: Categories,
    columns: Columns,
    cleaning: Cleaning,
    menu: Menu,
    limits: Annotated[Limits, Only("deployable")],
    shape: Shape,
    instant: Instant,
    metric_settings: MetricSettings,
    simulation: Annotated[Simulation, Only("max_repetitions", "seed", "jobs")],
    promise: CentralPromise,
    picture: Picture,
    output: Output,
) -> None:
    """Say how many users, or which ε, an error takes.

    Give --target (or --detect, for a small frequency), and one of --eps and --n; the other is the answer. With a
    shuffler give --central-eps and --delta instead: the answer is the number of users.

    Examples: ldp-advise plan --target 0.1 --eps 1 sample.csv
              ldp-advise plan --detect 0.001 --eps 1 --k 256
    """
    settings = PlanSettings(question, goal, metric_settings, menu, simulation, limits, promise)
    settings.check(has_data=sample is not None or domain.k is not None)
    refuse_mixed(sample, shape, columns, cleaning)

    def read() -> PlanQuestion:
        if sample is None:
            return build_question(settings, shape_frequencies(settings, domain, shape))
        return build_question(settings, from_file(sample, domain, columns, cleaning))

    def answer(asked_for: PlanQuestion, progress: DelayedWords) -> PlanResult:
        return make_plan(asked_for, instant=instant.instant, simulation=simulation, progress=progress)

    run(
        Job(
            read=read,
            warnings=lambda asked_for: asked_for.frequencies.warnings,
            answer=answer,
            document=plan_document,
            sections=_sections,
            progress=DelayedWords,
            inputs=[sample, cleaning.domain],
            files=[SideFile("--plot", picture.plot, PICTURES, _draw, require_matplotlib)],
            unprotected=sample is not None,
        ),
        output,
    )


def _draw(plan: PlanResult, target: Path) -> None:
    save(plan_figure(plan), target)


def _sections(plan: PlanResult) -> tuple[Section, ...]:
    if not plan.curve:
        return ()

    what = "Power" if plan.question.detects else "Error"
    label = f"{what.lower()} of the best pair against {plan.question.sign}"
    picture = Figure(f"{what} against {plan.question.sign}", label, lambda: to_svg(plan_figure(plan), "plan"))
    return (Section(picture.title, (picture,)),)
