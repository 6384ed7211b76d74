"""``list`` and ``epsilon``: what is on the menu, and what a budget means."""

from __future__ import annotations

from typing import Annotated

from advisor.answers.catalog import catalog
from advisor.answers.epsilon import Shuffling, meaning, shuffled
from advisor.checks import choice
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, WholeOutput, run
from advisor.errors import listed
from advisor.question.option import refuse, require
from advisor.question.settings import Categories, Menu, Terms, require_one
from advisor.question.statement import Statement, convert
from advisor.show.catalog import list_document
from advisor.show.epsilon import epsilon_document

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
