"""``ldp-advise audit`` and ``advisor.audit``: attacks on reports, and the privacy loss that they prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.cli.options import Only, argument
from advisor.cli.run import WHOLE, Job, Output, run
from advisor.errors import InputError
from advisor.extensions.audit.answer import Audits, answer, answer_apart
from advisor.extensions.audit.document import audit_document
from advisor.extensions.audit.question import AttackSettings, AuditQuestion, ForeignClient, Leaks, Subjects
from advisor.question.settings import Cells, Memoisation, Named, Simulation, values

AUDITED = (
    "grid:epsilons,sizes",
    "menu:protocol",
    "cells:grid,distance,radius",
    "subjects",
    "attack",
    "client",
    "memoisation:memoize,epsilon_forever,bits",
    "simulation:seed,jobs",
)
# A shell makes several words of --files v*.txt, and an option takes one.
More = Annotated[list[str] | None, argument("FILE", "more files of --files", ForeignClient.panel)]


def audit_command(
    *,
    question: Annotated[AuditQuestion, Only(*AUDITED)],
    more: More = None,
    leaks: Leaks,
    output: Annotated[Output, Only("plot", *WHOLE)],
) -> None:
    """Attack reports, and bound the privacy that they lose.

    Users who hold v1 and users who hold v2 report; an attacker names a value for each report. How often v1 is named in
    the two cases bounds the privacy loss, with confidence 1 - alpha, whatever is promised (Arcolezi and Gambs).
    """
    client = question.client
    if more and not client.files:
        raise InputError(f"audit takes no {more[0]} without an option: --files for reports, --protocol, or --target")
    client = replace(client, files=(*client.files, *(more or ())))
    question = replace(question, client=client)
    question.check()
    run(
        Job(
            read=lambda: question,
            answer=answer_apart if client.target or client.support else answer,
            document=audit_document,
            fails=(lambda audits: audits.leaks) if leaks.fail_if_leaks else None,
            inputs=[*client.files, *(str(name).rpartition(":")[0] for name in (client.target, client.support) if name)],
        ),
        output,
    )


class AuditAnswer(Audits, Shown):
    """The answer of `audit`; its attributes are those of `advisor.extensions.audit.answer.Audits`."""

    _document = audit_document


@keyword_errors()
def audit(
    eps: float | Sequence[float] | None = None,
    *,
    k: int | Sequence[int] | None = None,
    protocol: Named | Sequence[Named] | None = None,
    attack: AttackSettings | None = None,
    client: ForeignClient | None = None,
    subjects: Subjects | None = None,
    memoisation: Memoisation | None = None,
    cells: Cells | None = None,
    simulation: Simulation | None = None,
) -> AuditAnswer:
    """Attack reports, and return lower bounds of their privacy loss: an audit for each combination of the arguments.

    Arcolezi, Gambs, "Revealing the true cost of locally differentially private protocols: an auditing perspective",
    2024, Algorithm 1.

    Parameters
    ----------
    eps, k, protocol
        Privacy budgets of one report, domain sizes, and protocols by name: one or several of each.
    attack
        ``AttackSettings(attack, values, trials, alpha, runs)``. attack: ``"guess"``, the attacker names a value from
        each report; ``"pair"``, distinguishes v1 and v2; ``"likelihood"``, from all reports of a user together; for a
        client also ``"both"``. values: v1 and v2, each in 0..k-1; default 0 and 1, and for a client the two that look
        worst. trials: reports per value; for a client without `values`, half of them serve to find the two. alpha:
        probability that a bound is wrong. runs: seeds over which mean and standard deviation of the bounds are taken.
    client
        ``ForeignClient(target, files, reports, support, hash, symbols)``. target: a client, a function
        ``f(value, k, epsilon) -> report`` or its name ``"module:function"``; or files: of the reports that it wrote,
        one per line, with a single true value per file. How they are read: reports, the protocol whose reports they
        are, or support, ``f(report, k, epsilon)``, which returns the values that a report supports; for files without
        either, lines are only compared for equality, and there is no `k`. hash, symbols: of ``"blh"`` and ``"olh"``.
    subjects
        ``Subjects(every, rounds, attributes, solution, attribute_sizes, amplified, hashing_only)``. every: all
        protocols. rounds: collections of the same value, with fresh noise unless devices remember. attributes: of each
        user, with k values each, and solution, how they are collected: ``"spl"``, ``"smp"``, ``"rsfd"``, ``"rsrfd"``;
        attribute_sizes, instead of `k` and attributes: how many values each has. amplified: ``"rsfd"`` and ``"rsrfd"``
        report at the budget they were published with. hashing_only: symbols of local hashing without perturbation.
    memoisation
        ``Memoisation(memoize=True, epsilon_forever, bits)``: devices keep a permanent randomisation of a value, and its
        budget; bits: audit dBitFlipPM, whose devices report on so many categories.
    cells
        For mechanisms for places, ``Cells(grid, distance, radius)``: the cells, ``"8x8"``, their distance,
        ``"euclidean"`` or ``"manhattan"``, and how far apart the budget is promised.
    simulation
        ``Simulation(seed, jobs)``: same seed, same result, with any number of threads.

    Raises
    ------
    InputError
        If an argument is missing, out of range or contradicts another, or if the client fails.

    Examples
    --------
    >>> tight = audit(1.0, k=10, protocol="grr", attack=AttackSettings(trials=20_000))
    >>> tight.leaks, tight.results[0].epsilon_lower_bound < 1
    (False, True)
    """
    question = AuditQuestion.of(locals() | {"epsilons": values(eps), "sizes": values(k), "eps": None, "k": None})
    question.check()
    return AuditAnswer.of(answer(question))
