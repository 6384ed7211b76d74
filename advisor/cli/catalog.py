"""``ldp-advise list`` and ``ldp-advise explain``: what is on the menu, and what its members are."""

from __future__ import annotations

from typing import Annotated

import typer

from advisor.catalog.answer import catalog, explanation
from advisor.catalog.document import explain_document, list_document
from advisor.cli.run import FORMATS, Job, WholeOutput, run

Name = Annotated[str, typer.Argument(metavar="NAME", help="a protocol, method or metric, as ldp-advise list names it")]


def list_command(output: WholeOutput) -> None:
    """List protocols, post-processing methods and metrics."""
    run(Job.of(lambda: list_document(catalog())), output)


def explain_command(name: Name, output: WholeOutput) -> None:
    """Explain a protocol, method or metric, with code to copy."""
    formats = [name for name in FORMATS if name != "csv"]  # prose is no table
    run(Job.of(lambda: explain_document(explanation(name)), formats), output)
