"""``ldp-advise epsilon``: what ε means, and ε from what other systems state."""

from __future__ import annotations

from typing import Annotated

from advisor.cli.options import Only
from advisor.cli.run import Job, WholeOutput, run
from advisor.epsilon.conversion import Statement, convert
from advisor.epsilon.document import epsilon_document
from advisor.epsilon.meaning import meaning
from advisor.question.settings import Categories, Menu, Question


def epsilon_command(
    question: Annotated[Question, Only("epsilon")],
    statement: Statement,
    menu: Annotated[Menu, Only("protocol")],
    domain: Annotated[Categories, Only("k")],
    output: WholeOutput,
) -> None:
    """Say what ε means, or convert what another system states into ε.

    By replacement a value is compared with any other, by removal with no value at all.

    Examples: ldp-advise epsilon --eps 1 --k 100
              ldp-advise epsilon --flip-prob 0.25 --protocol rappor
    """
    protocol = menu.one_protocol("epsilon")
    conversion = convert(statement, epsilon=question.epsilon, protocol=protocol, k=domain.k)
    words = meaning(conversion.epsilon, domain.k, protocol, conversion.guess)
    run(Job.of(lambda: epsilon_document(conversion, words)), output)
