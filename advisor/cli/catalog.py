"""``ldp-advise list`` and ``ldp-advise explain``: what is on the menu, and what its members are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from advisor.catalog.answer import catalog, explanation
from advisor.catalog.document import explain_document, list_document
from advisor.checks import choice
from advisor.cli.options import Only
from advisor.cli.run import FORMATS, Job, Output, WholeOutput, run
from advisor.question.option import like

Name = Annotated[str, typer.Argument(metavar="NAME", help="a protocol, method or metric, as ldp-advise list names it")]


def list_command(output: WholeOutput) -> None:
    """List protocols, post-processing methods and metrics."""
    run(Job.of(lambda: list_document(catalog())), output)


@dataclass(frozen=True)
class Prose(Output):
    """Where prose goes, which is no table."""

    formats: ClassVar[tuple[str, ...]] = tuple(name for name in FORMATS if name != "csv")

    format: str | None = like(Output, "format", read=choice(formats), help=f"{', '.join(formats)} [default: table]")


def explain_command(
    name: Name, output: Annotated[Prose, Only("format", "output", "report", "force", "quiet", "verbose")]
) -> None:
    """Explain a protocol, method or metric, with code to copy."""
    run(Job.of(lambda: explain_document(explanation(name))), output)
