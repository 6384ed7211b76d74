"""``list`` and ``explain``: what is on the menu, and what its members are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from advisor.answers.catalog import catalog, explanation
from advisor.answers.epsilon import Shuffling, meaning, shuffled
from advisor.checks import choice
from advisor.cli.options import Only, argument
from advisor.cli.run import WHOLE, Job, Output, WholeOutput, run
from advisor.errors import listed
from advisor.question.option import Settings, option, refuse, require
from advisor.question.settings import Categories, Cells, Menu, Terms, require_one
from advisor.question.statement import Statement, convert
from advisor.show.catalog import bibtex_document, explain_document, list_document
from advisor.show.epsilon import epsilon_document

BIBTEX = ".bib"
KINDS = ("protocols", "methods", "metrics")
Kind = Annotated[str | None, argument("KIND", f"only {listed(KINDS)}", "Question")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="a protocol, method or metric, as ldp-advise list names it")]


def list_command(kind: Kind = None, *, output: WholeOutput) -> None:
    """List protocols, post-processing methods and metrics."""
    kinds, entries = KINDS if kind is None else (choice(KINDS)("KIND", kind),), catalog()
    run(Job.of(lambda: list_document({one: entries[one] for one in kinds})), output)


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
    cells: Annotated[Cells, Only("grid", "distance", "radius")],
    output: Annotated[References, Only(*WHOLE)],
) -> None:
    """Explain a protocol, method or metric.

    With --verbose there is code to copy: of a protocol with --eps and --k filled in (default: 1 and 16), of a mechanism
    for places with --grid.

    Examples: ldp-advise explain eb_ns
              ldp-advise explain pgr --eps 1 --k 300
              ldp-advise explain planar_geometric --eps 2 --grid 12x16 --radius 3
    """
    member = explanation(name, question.epsilon, domain.k, cells)
    if bibliography.bibtex or output.is_bibliography:
        run(Job.of(partial(bibtex_document, member.name, member.reference)), output)
    else:
        run(Job.of(lambda: explain_document(member)), output)


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
