"""``ldp-advise explain``: what a protocol, method or metric is, and code that uses it."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer

from advisor.cli.bibliography import Bibliography, References, bibtex_document
from advisor.cli.options import Only
from advisor.cli.run import WHOLE, Job, run
from advisor.extensions.code.explanation import Explanation, explanation
from advisor.extensions.code.usage import trial
from advisor.question.settings import Categories, Cells, Terms
from advisor.show.model import Code, Document, Part, Records, Role, Sentence, sentences

SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z(])")  # between two of them
NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"
Name = Annotated[str, typer.Argument(metavar="NAME", help="a protocol, method or metric, as ldp-advise list names it")]


def explain_document(member: Explanation) -> Document:
    """Return what is known of a member: the first sentence of each fact; the rest, and code to copy, on request."""
    texts = {
        "Description": member.description,
        "Good for": member.good_for,
        "Pitfalls": member.pitfalls,
        "Formula": member.formula,
    }
    facts = {name: SENTENCE.split(text, maxsplit=1) for name, text in texts.items() if text}
    facts |= {name: [text] for name, text in (("Cost", member.cost), ("Source", member.reference)) if text}
    facts["Try it"] = [trial(member.kind, member.name, member.eps or 1.0, member.k or 16)]
    called = member.name if member.title == member.name else f"{member.name}: {member.title}"
    parts: list[Part] = [Sentence(f"{called} ({member.kind})", Role.ANSWER)]
    for name, (first, *_) in facts.items():
        parts.append(Sentence(f"{name}: {first}"))
        parts += [Sentence(NOTATION, Role.NOTE)] if name == "Formula" and member.kind == "method" else []
    more = [f"{name}, further: {text}" for name, (_, *rest) in facts.items() for text in rest]
    more += [f"Promises: {'; '.join(member.promises)}"] if member.promises else []
    parts += [*sentences(more, Role.LEGEND), Code(member.python, "With this package", Role.LEGEND)]
    if member.source:
        parts.append(Code(member.source, "The function itself", Role.LEGEND))
    if member.client:
        client = f"Client without dependencies, client.py (ε = {member.eps:g}, k = {member.k:,})"
        parts.append(Code(member.client, client, Role.LEGEND))
        written = f"ldp-advise code --protocol {member.name} … writes this file and more to a directory."
        parts.append(Sentence(written, Role.LEGEND))
    elif member.kind == "protocol":
        parts.append(Sentence(f"There is no client of {member.name} without this package.", Role.LEGEND))
    data = asdict(member)
    return Document(
        title=called,
        verdict=None,
        parts=tuple(parts),
        data=data,
        records=Records.of([data | {"promises": "; ".join(member.promises)}]),
        value=member.name,
        setting=member.kind,
    )


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
