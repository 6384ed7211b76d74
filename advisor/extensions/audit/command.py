"""``ldp-advise audit``: attacks on reports, and the privacy loss that they prove."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.cli.options import Only, argument
from advisor.cli.run import Job, WholeOutput, run
from advisor.errors import InputError
from advisor.extensions.audit.answer import answer, answer_apart
from advisor.extensions.audit.document import audit_document
from advisor.extensions.audit.question import AuditQuestion, ForeignClient, Leaks
from advisor.question.settings import Picture

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
    picture: Picture,
    output: WholeOutput,
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
            plot=picture.plot,
            fails=(lambda audits: audits.leaks) if leaks.fail_if_leaks else None,
            inputs=[*client.files, *(str(name).rpartition(":")[0] for name in (client.target, client.support) if name)],
        ),
        output,
    )
