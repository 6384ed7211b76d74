"""The document of a deployment: what was written, what is promised, what to do next."""

from __future__ import annotations

import shlex

from advisor.extensions.code.answer import MEANINGS, Deployed
from advisor.extensions.code.readme import audit_command, spent
from advisor.show.model import Code, Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict
from simulator import POSTPROCESSORS


def code_document(deployed: Deployed) -> Document:
    """Return what was written where."""
    collection = deployed.collection
    made = collection.parameters
    protocol, method = made.protocol, POSTPROCESSORS[collection.method]
    sizes, shuffled = deployed.sizes, collection.shuffled
    needs_order = protocol.ordered_only or method.uses_order
    rows = tuple(Row((name, MEANINGS[name], f"{size:,}"), (None, None, size)) for name, size in sizes.items())
    where = shlex.quote(deployed.directory)
    sentences = [
        Sentence(
            f"One report spends {spent(made)}: "
            + (
                "noise is drawn in whole numbers."
                if made.ratio is None
                else "probabilities are whole numbers out of 2^64, rounded towards more privacy."
            )
        ),
    ]
    if collection.rests_on:
        sentences.append(Sentence(collection.rests_on, Role.ANSWER, Tone.DOUBTFUL))
    if needs_order:
        order = "the order of the labels file" if collection.labels is not None else "their numbers"
        sentences.append(Sentence(f"The answers are taken to be ordered by {order}."))
    next_steps = f"cd {where}\npython check.py && node check.mjs\n{audit_command(collection)}\n"
    return Document(
        title=f"Code for {protocol.title} with {method.title}",
        verdict=Verdict(
            "written",
            f"Wrote clients, server and test vectors for {protocol.title} ({collection.protocol}) with {method.title} "
            f"({collection.method}) to {deployed.directory}.",
        ),
        parts=(
            *sentences,
            Table(
                (Column("file", text=True), Column("what it is", text=True, drop=1), Column("bytes")),
                rows, noun="files", cut=False,
            ),
            Code(next_steps, "Check it", Role.DETAIL),
            Sentence("README.md there says what is not promised: read it before you collect.", Role.NOTE),
        ),
        data={
            "protocol": collection.protocol, "method": collection.method, "eps": collection.epsilon,
            "exact_eps": made.exact_epsilon, "k": collection.k,
            "central": None
            if shuffled is None
            else {"eps": shuffled.epsilon, "delta": shuffled.delta, "n": shuffled.n},
            "hash": getattr(protocol, "hash", None),
            "labels": None if collection.labels is None else list(collection.labels),
            "ordered": needs_order, "directory": deployed.directory,
            "files": [{"name": name, "bytes": size, "meaning": MEANINGS[name]} for name, size in sizes.items()],
        },
        records=Records(("file", "meaning", "bytes"), tuple((name, MEANINGS[name], sizes[name]) for name in sizes)),
        value=deployed.directory,
        setting=str(collection),
    )  # fmt: skip
