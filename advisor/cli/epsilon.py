"""``ldp-advise epsilon``: what ε means, and ε from what other systems state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from advisor.checks import real
from advisor.cli.options import Only
from advisor.cli.run import Job, WholeOutput, run
from advisor.question.option import Settings, option
from advisor.question.settings import Categories, Menu, Question


@dataclass(frozen=True)
class Statement(Settings):
    """What a system states instead of ε."""

    panel: ClassVar[str] = "Instead of --eps"

    flip_prob: float | None = option(
        "--flip-prob", read=real(), metavar="X", help="probability that a bit (grr: the value) is reported wrong"
    )
    random_prob: float | None = option(
        "--random-prob", read=real(), metavar="R", help="grr: probability of a value drawn evenly from all"
    )
    odds: float | None = option(
        "--odds", read=real(), metavar="X", help="largest ratio of the probabilities of a report"
    )
    p: float | None = option("--p", read=real(), metavar="P", help="probability of a 1 in the user's own bit")
    q: float | None = option("--q", read=real(), metavar="Q", help="probability of a 1 in another bit")


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
    from advisor.epsilon.conversion import convert
    from advisor.epsilon.document import epsilon_document
    from advisor.epsilon.meaning import meaning

    protocol = menu.one_protocol("epsilon")
    conversion = convert(
        epsilon=question.epsilon,
        flip_prob=statement.flip_prob,
        random_prob=statement.random_prob,
        odds=statement.odds,
        p=statement.p,
        q=statement.q,
        protocol=protocol,
        k=domain.k,
    )
    words = meaning(conversion.epsilon, domain.k, protocol)
    run(Job.of(lambda: epsilon_document(conversion, words)), output)
