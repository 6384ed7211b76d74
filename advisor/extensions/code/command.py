"""``ldp-advise code``: a client, a server and test vectors for a pair."""

from __future__ import annotations

import shlex
from typing import Annotated

from advisor.answers.clients.collection import CodedCollection
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, WholeOutput, run
from advisor.extensions.code.answer import MEANINGS, Deployed, audit_command, check_directory, spent, written
from advisor.extensions.code.question import Answers, Deployment, Pair, Wanted
from advisor.question.settings import Cells, Terms
from advisor.show.model import Code, Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict
from simulator import POSTPROCESSORS
from simulator.progress import Progress


def code_document(deployed: Deployed) -> Document:
    """Return what was written where."""
    collection, sizes = deployed.collection, deployed.sizes
    parameters, shuffled, labels = collection.parameters, collection.shuffled, collection.labels
    protocol, method = parameters.protocol, POSTPROCESSORS[collection.method]
    exactness = "probabilities are whole numbers out of 2^64, rounded towards more privacy"
    exactness = "noise is drawn in whole numbers" if parameters.ratio is None else exactness
    exactness = "noise is in double precision; ε covers its rounding" if protocol.key == "planar_laplace" else exactness
    where = "" if collection.cells is None else f" {collection.cells.promise}"
    sentences = [Sentence(f"One report spends {spent(parameters)}{where}: {exactness}.")]
    if shuffled is not None:
        sentences.append(Sentence(collection.rests_on, Role.ANSWER, Tone.DOUBTFUL))
    if collection.ordered:
        order = "their numbers" if labels is None else "the order of the labels file"
        sentences.append(Sentence(f"The answers are taken to be ordered by {order}."))
    where = shlex.quote(deployed.directory)
    rows = tuple((name, MEANINGS[name], size) for name, size in sizes.items())
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
                tuple(Row((name, meaning, f"{size:,}"), (None, None, size)) for name, meaning, size in rows),
                noun="files",
                cut=False,
            ),
            Code(
                f"cd {where}\npython check.py && node check.mjs\n{audit_command(collection)}\n", "Check it", Role.DETAIL
            ),
            Sentence("README.md there says what is not promised: read it before you collect.", Role.NOTE),
        ),
        data={
            "protocol": collection.protocol,
            "method": collection.method,
            "eps": collection.epsilon,
            "exact_eps": parameters.exact_epsilon,
            "k": collection.k,
            "central": None
            if shuffled is None
            else {"eps": shuffled.epsilon, "delta": shuffled.delta, "n": shuffled.n},
            "hash": getattr(protocol, "hash", None),
            "grid": None if collection.cells is None else collection.cells.grid,
            "radius": None if collection.cells is None else collection.cells.radius,
            "labels": labels and list(labels),
            "ordered": collection.ordered,
            "directory": deployed.directory,
            "files": [{"name": name, "bytes": size, "meaning": meaning} for name, meaning, size in rows],
        },
        records=Records(("file", "meaning", "bytes"), rows),
        value=deployed.directory,
        setting=str(collection),
    )


Answer = Annotated[str | None, argument("ANSWER", "an answer saved with --format json: its first pair is written")]


def code_command(
    *,
    answer: Answer = None,
    pair: Pair,
    domain: Annotated[Answers, Only("k")],
    question: Annotated[Terms, Only("epsilon")],
    cells: Cells,
    deployment: Deployment,
    output: WholeOutput,
) -> None:
    """Write clients, a server and test vectors for a pair.

    A pair is a protocol and a post-processing method. The clients (Python, JavaScript) use secure randomness and exact
    probabilities, and depend on nothing. README.md in the directory states what is promised to users, and what is not.

    Examples: ldp-advise code --protocol olh --method eb_ns --eps 1 --k 256 --to collection
              ldp-advise code answer.json --labels browsers.txt --to collection
    """
    request = Wanted(question, pair, domain, deployment, cells, answer)
    directory = deployment.to or ""
    check_directory(directory, force=output.force)
    inputs = (answer, deployment.labels)

    def write(collection: CodedCollection, _: Progress) -> Deployed:
        return written(collection, directory, force=output.force, inputs=inputs)

    run(Job(request.read, write, code_document, inputs=inputs, reading="reading"), output)
