"""The commands that need few words: ``plan``, ``sweep``, ``epsilon`` and ``list``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from advisor.answers.catalog import catalog
from advisor.answers.epsilon import Shuffling, meaning, shuffled
from advisor.answers.plan.answer import make_plan
from advisor.answers.sweep.answer import run_sweep
from advisor.answers.sweep.result import SweepResult
from advisor.checks import choice, path
from advisor.cli.options import Only, argument
from advisor.cli.ranking import Audience
from advisor.cli.run import Job, Output, WholeOutput, picture_file, run, say
from advisor.errors import listed
from advisor.question.cluster import Resumption
from advisor.question.option import Settings, option, refuse, require
from advisor.question.plan import plan_question
from advisor.question.question import Question
from advisor.question.rules import check_plan, check_sweep
from advisor.question.settings import Categories, Menu, Terms, require_one
from advisor.question.statement import Statement, convert
from advisor.question.sweep import SweepQuestion, sweep_question
from advisor.show.catalog import epsilon_document, list_document
from advisor.show.decision import decision_of_plan
from advisor.show.pictures.sweep import curves_figure
from advisor.show.plan import plan_document
from advisor.show.sweep import sweep_document
from simulator.progress import Progress

KINDS = ("protocols", "methods", "metrics")
Kind = Annotated[str | None, argument("KIND", f"only {listed(KINDS)}", "Question")]


def list_command(kind: Kind = None, *, output: WholeOutput) -> None:
    """List protocols, post-processing methods and metrics."""
    kinds, entries = KINDS if kind is None else (choice(KINDS)("KIND", kind),), catalog()
    run(Job.of(lambda: list_document({one: entries[one] for one in kinds})), output)


def epsilon_command(
    question: Annotated[Terms, Only("epsilon", "n")],
    statement: Statement,
    menu: Annotated[Menu, Only("protocol")],
    domain: Annotated[Categories, Only("k")],
    shuffling: Shuffling,
    output: WholeOutput,
) -> None:
    """Say what ε means, or convert what another system states into ε.

    By replacement a value is compared with any other, by removal with no value at all.

    Examples: ldp-advise epsilon 1 --k 100
              ldp-advise epsilon --flip-prob 0.25 --protocol rappor
              ldp-advise epsilon --eps 4 --shuffle --n 1e6 --delta 1e-8
    """
    protocol = require_one("protocol", menu.protocol, "epsilon")
    if shuffling.shuffle:
        require(("--n", question.n, "the number of users who report, for example --n 1e6"))
    else:
        refuse(question.given("n"), "goes with --shuffle: alone, ε does not depend on the users")
    conversion = convert(statement, epsilon=question.epsilon, protocol=protocol, k=domain.k)
    words = meaning(conversion.epsilon, domain.k, protocol, conversion.guess)
    n, delta = question.n, shuffling.delta
    promise = None if n is None or delta is None else shuffled(conversion.epsilon, n, delta, protocol, domain.k)
    run(Job.of(lambda: epsilon_document(conversion, words, promise)), output)


PLANNED = (
    "sample",
    "terms",
    "goal",
    "domain",
    "columns",
    "cleaning",
    "menu",
    "limits:deployable",
    "shape",
    "instant:instant",
    "simulation:max_repetitions,seed,jobs",
    "promise",
)


def plan_command(*, question: Annotated[Question, Only(*PLANNED)], audience: Audience, output: Output) -> None:
    """Say how many users, or which ε, an error takes.

    Give --target (or --detect, for a small frequency), and one of --eps and --n; the other is the answer. With a
    shuffler give --central-eps and --delta instead: the answer is the number of users.

    Examples: ldp-advise plan --target 0.1 --eps 1 sample.csv
              ldp-advise plan --detect 0.001 --eps 1 --k 256
    """
    check_plan(question)
    instant = question.instant.instant
    if audience.given():
        refuse(question.given("promise"), "does not go with --for decision, whose promise is that of a single report")
    run(
        Job(
            read=lambda: plan_question(question),
            warnings=lambda plan: plan.frequencies.warnings,
            answer=lambda plan, progress: make_plan(plan, instant=instant, progress=progress),
            document=audience.page(plan_document, decision_of_plan, output),
            data=question,
        ),
        output,
    )


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
