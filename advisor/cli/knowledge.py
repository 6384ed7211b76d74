"""Show what predictions rest on, or build it anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from advisor.answers import knowledge as answer
from advisor.checks import shown
from advisor.cli.groups import PanelCommand
from advisor.cli.options import HELP, Only, spread
from advisor.cli.run import WHOLE, Job, Output, WholeOutput, run
from advisor.errors import InputError, listed, near_miss
from advisor.question.cluster import Cluster
from advisor.question.option import Settings, option, require
from advisor.question.question import BUDGET, Question
from advisor.question.ranking import ranking_requests
from advisor.question.rules import check_data
from advisor.question.settings import Categories, Instant, Simulation, Terms
from advisor.show import knowledge as document
from advisor.show.outputs import check_folder

CELLS, CELLS_MAX = 5, 100  # shown, and at most


class KnowledgeGroup(TyperGroup):
    """The commands about the knowledge."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that a word names.

        Raises InputError if it names none.
        """
        if args[0] not in self.commands and not ctx.resilient_parsing:
            meant = near_miss(args[0], self.commands)
            raise InputError(
                f"knowledge has no command {shown(args[0])}{meant or f': there are {listed(self.commands)}'}"
            )
        return super().resolve_command(ctx, args)


knowledge_app = typer.Typer(
    cls=KnowledgeGroup, pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=HELP
)


@knowledge_app.callback()
def knowledge_command() -> None:
    """Show what predictions rest on, or build it anew."""


def info_command(output: WholeOutput) -> None:
    """Say what predicted answers cover, and how the model behind them was made."""
    run(Job.of(document.info_document), output)


def rules_command(
    question: Annotated[Terms, Only("metric")], domain: Annotated[Categories, Only("ordered")], output: WholeOutput
) -> None:
    """Print the decision tree of a metric as rules, for ordered categories unless --unordered is given."""
    metric, ordered = question.one_metric("knowledge rules"), domain.ordered is not False
    run(Job.of(lambda: document.rules_document(metric, ordered=ordered)), output)


def cells_command(
    *,
    sample: Annotated[
        str | None, typer.Argument(metavar="SAMPLE", help="look up this file instead of a shape", show_default=False)
    ] = None,
    question: Annotated[Question, Only("terms", "domain", "columns", "cleaning", "menu", "shape")],
    output: Annotated[Output, Only("top", *WHOLE)],
) -> None:
    """Show the simulated populations nearest to a question, and which methods were best in them.

    Examples: ldp-advise knowledge cells --eps 1 --k 256; ldp-advise knowledge cells --eps 1 sample.csv --top 10
    """
    asked = replace(question, sample=sample, instant=Instant(instant=True))
    require(
        ("--eps", asked.terms.epsilon, BUDGET),
        ("--k", sample or asked.domain.k, "the number of categories, for example --k 256, or a file"),
    )
    asked.terms.one_metric("knowledge cells")
    check_data(asked)
    count = output.top or CELLS
    if count > CELLS_MAX:
        raise InputError(f"--top must be at most {CELLS_MAX} simulated populations, got {count:,}")
    run(
        Job(
            read=lambda: ranking_requests(asked)[0],
            answer=lambda request, progress: answer.nearest_cells(request, count),  # noqa: ARG005
            document=document.cells_document,
            data=asked,
        ),
        output,
    )


def folder_name(name: str, value: object) -> str:
    """Return the name of a folder.

    Raises InputError if it is empty.
    """
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise InputError(f"{name} must be the name of a folder, got {shown(value)}")
    return value


@dataclass(frozen=True, kw_only=True)
class Building(Settings):
    """Where and how the knowledge is built."""

    panel: ClassVar[str] = "Build"

    to: str = option(
        "--to",
        read=folder_name,
        metavar="DIR",
        default="knowledge-data",
        help="folder of the new data [default: knowledge-data]",
    )
    quick: bool = option("--quick", help="a small build in a minute, to try things out")


def build_command(
    building: Building, simulation: Annotated[Simulation, Only("seed", "jobs")], cluster: Cluster, output: WholeOutput
) -> None:
    """Simulate the cells anew and fit the model; started again in the same folder, it goes on where it was stopped."""
    check_folder("--to", building.to, force=output.force, own=answer.WORK)
    run(
        Job(
            read=lambda: cluster.workers(simulation.jobs),
            answer=lambda workers, progress: answer.build(
                building.to, workers, quick=building.quick, seed=simulation.seed, progress=progress
            ),
            document=partial(document.built_document, building.to),
        ),
        output,
    )


for _function in (info_command, rules_command, cells_command, build_command):
    _summary = (_function.__doc__ or "").strip().partition("\n")[0]
    _name = _function.__name__.removesuffix("_command")
    knowledge_app.command(_name, cls=PanelCommand, short_help=_summary)(spread(_function))
