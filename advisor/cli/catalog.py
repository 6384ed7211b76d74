"""``list`` and ``explain``: what is on the menu, and what its members are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from advisor.answers.catalog import catalog, explanation
from advisor.cli.options import Only
from advisor.cli.run import Job, Output, WholeOutput, run
from advisor.question.option import Settings, option
from advisor.question.settings import Categories, Terms
from advisor.show.catalog import bibtex_document, explain_document, list_document

BIBTEX = ".bib"
Name = Annotated[str, typer.Argument(metavar="NAME", help="a protocol, method or metric, as ldp-advise list names it")]


def list_command(output: WholeOutput) -> None:
    """List protocols, post-processing methods and metrics."""
    run(Job.of(lambda: list_document(catalog())), output)


@dataclass(frozen=True, kw_only=True)
class References(Output):
    """Where sources go: a file called .bib takes the BibTeX alone."""

    @property
    def is_bibliography(self) -> bool:
        """Whether the suffix asks for BibTeX."""
        return self.format is None and Path(self.output or "").suffix.lower() == BIBTEX

    @property
    def chosen_format(self) -> str:
        """The format, as of any answer; of a .bib file the value, which is the BibTeX."""
        return "value" if self.is_bibliography else super().chosen_format


@dataclass(frozen=True, kw_only=True)
class Bibliography(Settings):
    """Whether the sources are shown instead."""

    panel: ClassVar[str] = "Output"

    bibtex: bool = option("--bibtex", help="only the sources, as BibTeX; so does --output refs.bib")


def explain_command(
    name: Name,
    bibliography: Bibliography,
    question: Annotated[Terms, Only("epsilon")],
    domain: Annotated[Categories, Only("k")],
    output: Annotated[References, Only("format", "output", "report", "title", "force", "quiet", "verbose")],
) -> None:
    """Explain a protocol, method or metric, with code to copy.

    The code of a protocol has --eps and --k filled in (default: 1 and 16).

    Examples: ldp-advise explain eb_ns
              ldp-advise explain pgr --eps 1 --k 300
    """
    member = explanation(name, question.epsilon, domain.k)
    if bibliography.bibtex or output.is_bibliography:
        run(Job.of(partial(bibtex_document, member.name, member.reference)), output)
    else:
        run(Job.of(lambda: explain_document(member)), output)
