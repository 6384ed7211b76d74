"""The commands beside the main one."""

# Annotations are not postponed, as in cli.py.

from typing import Annotated

import typer

from advisor.cli.audit import audit_command
from advisor.cli.epsilon import epsilon_command
from advisor.cli.options import HELP
from advisor.cli.options import format_named as _format
from advisor.cli.pareto import pareto_command
from advisor.cli.plan import plan_command
from advisor.cli.sweep import sweep_command

commands_app = typer.Typer(
    add_completion=True, pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=HELP
)
FormatOption = Annotated[str, typer.Option("--format", metavar="FORMAT", help="table or json")]


@commands_app.callback()
def _commands() -> None:
    """Look up what is on the menu."""


@commands_app.command("list")
def list_command(output_format: FormatOption = "table") -> None:
    """List every protocol, post-processing method and metric."""
    from advisor.catalog import answer as catalog
    from advisor.render import console_for

    if _format(output_format, ("table", "json")) == "json":
        typer.echo(catalog.menu_json())
    else:
        catalog.print_menu(console_for())


@commands_app.command("explain")
def explain_command(
    name: Annotated[str, typer.Argument(help="a protocol, method or metric; papers' names work too")],
    output_format: FormatOption = "table",
) -> None:
    """Tell the formula, the uses, the pitfalls and the source of one member."""
    from advisor.catalog import answer as catalog
    from advisor.render import console_for

    if _format(output_format, ("table", "json")) == "json":
        typer.echo(catalog.explain_json(name))
    else:
        catalog.print_explanation(name, console_for())


commands_app.command("audit")(audit_command)
commands_app.command("pareto")(pareto_command)
commands_app.command("plan")(plan_command)
commands_app.command("sweep")(sweep_command)
commands_app.command("epsilon")(epsilon_command)

knowledge_app = typer.Typer(
    help="The grid behind look-ups: what it knows, its rules, how good it is, and how to build it anew.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
commands_app.add_typer(knowledge_app, name="knowledge")


@knowledge_app.command("info")
def knowledge_info(output_format: FormatOption = "table") -> None:
    """Tell what the shipped grid covers and how it was made."""
    from advisor import knowledge_commands

    typer.echo(knowledge_commands.info(as_json=_format(output_format, ("table", "json")) == "json"))


@knowledge_app.command("rules")
def knowledge_rules(
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="NAME", help="error metric")] = "l1",
    unordered: Annotated[bool, typer.Option("--unordered", help="for categories without an order")] = False,
) -> None:
    """Print the decision tree of a metric as rules."""
    from advisor import knowledge_commands

    typer.echo(knowledge_commands.rules(metric, ordered=not unordered))


@knowledge_app.command("evaluate")
def knowledge_evaluate(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILES", help="histograms to judge on")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=10, help="collections that tell the truth")] = 100,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="processes; change no number")] = 1,
    full: Annotated[
        bool, typer.Option("--full", help="every figure of the tree, the baselines and the single best too")
    ] = False,
    closer: Annotated[
        bool, typer.Option("--closer", help="simulate on to tell which choices are worse than the single best one")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    """Measure the regret of look-ups on shapes left out of training and on your histograms, as Markdown tables."""
    from advisor import knowledge_commands

    typer.echo(
        knowledge_commands.evaluate(
            files or [], repetitions=repetitions, jobs=jobs, quiet=quiet, full=full, closer=closer
        )
    )


@knowledge_app.command("build")
def knowledge_build(
    folder: Annotated[str, typer.Option("--to", metavar="DIR", help="where the new grid goes")] = "knowledge-data",
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="workers; change no number")] = 1,
    backend: Annotated[str, typer.Option("--backend", help="loky, threading or dask")] = "loky",
    scheduler: Annotated[str | None, typer.Option("--scheduler", metavar="URL", help="of a Dask cluster")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="a small grid, in a minute, to try things out")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="same seed, same grid")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    """Simulate the grid anew and fit it; started again in the same folder, it goes on where it was stopped."""
    from advisor import knowledge_commands

    typer.echo(
        knowledge_commands.build(
            folder, jobs=jobs, backend=backend, scheduler=scheduler, quick=quick, seed=seed, quiet=quiet
        )
    )
