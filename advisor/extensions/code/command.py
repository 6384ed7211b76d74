"""``ldp-advise code``: a client, a server and test vectors for a pair that is named, or the first of a saved answer."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

from advisor.checks import choice, path
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, WholeOutput, run
from advisor.errors import InputError
from advisor.extensions.code.answer import MEANINGS, audit_command, spent, written
from advisor.extensions.code.collection import HASHED, CodedCollection, ShuffledCollection
from advisor.inputs.domain import read_domain
from advisor.inputs.saved import BUDGET, CATEGORIES, USERS, Maybe, Number, checked, read_json
from advisor.members.names import mechanism, resolve
from advisor.question.option import Bundle, Settings, like, option, refuse, require
from advisor.question.settings import AnyProtocol, Categories, Cells, Menu, Terms, require_one
from advisor.show.model import Code, Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict
from advisor.show.outputs import check_folder
from simulator import POSTPROCESSORS
from simulator.hashing import DEFAULT_HASH, HASHES
from simulator.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Deployment(Settings):
    """The pair to deploy, the possible answers, and the output."""

    panel: ClassVar[str] = "What is collected"

    protocol: tuple[str, ...] = like(AnyProtocol, "protocol", help="what devices report with")
    method: tuple[str, ...] = like(Menu, "method", help="post-processing method of the server, or none")
    k: int | None = like(Categories, "k", help="number of possible answers")
    labels: str | None = option(
        "--labels", read=path, metavar="FILE", help="all answers, one per line: clients take these, not numbers"
    )
    hash: str | None = option(
        "--hash",
        read=choice(HASHES),
        metavar="NAME",
        help=f"hash of blh and olh: {' or '.join(HASHES)} [default: {DEFAULT_HASH}]",
    )
    to: str | None = option("--to", read=path, metavar="DIR", help="directory to write, new or empty")


@dataclass(frozen=True, kw_only=True)
class CodeQuestion(Bundle):
    """A pair and its settings, as known before any file is read."""

    deployment: Deployment = Deployment()
    terms: Terms = Terms()
    cells: Cells = Cells()
    answer: str | None = None  # file of a saved answer

    def check(self) -> None:
        """Raise InputError if something is missing, or does not go together."""
        deployment, cells = self.deployment, self.cells
        where = ("--to", deployment.to, "a directory to write, for example --to collection")
        if self.answer is not None:
            given = self.given("deployment:protocol,method", "terms:epsilon", "deployment:k", "cells")
            refuse(given, f"does not go with a saved answer, which says it: leave it out, or leave out {self.answer}")
            require(where)
            return
        protocol = require_one("protocol", deployment.protocol, "code")
        method = require_one("method", deployment.method, "code")
        hint = "the number of possible answers, for example --k 256, or all of them with --labels FILE"
        size = ("--k", deployment.k or deployment.labels, hint)
        planar = cells.mechanism(protocol, deployment.given("k"))
        if planar and cells.centre:
            refuse(deployment.given("labels"), "does not go with --centre: answers are latitude and longitude")
        require(
            ("--protocol", protocol, "what devices report with, for example --protocol olh"),
            ("--method", method, "the post-processing method, for example --method norm_sub, or none"),
            ("--eps", self.terms.epsilon, "the privacy budget of one report, for example --eps 1"),
            *(cells.missing() if planar else (size,)),
            where,
        )

    def read(self) -> CodedCollection:
        """Read the files, and return the collection to deploy.

        Raises InputError if a file has other content than expected, or if the settings contradict each other.
        """
        deployment, source, shuffled = self.deployment, "--k", None
        if self.answer is not None:
            source = f"{self.answer}: k"
            protocol, method, epsilon, size, shuffled = saved_pair(self.answer)
        else:
            protocol, method = deployment.protocol[0], deployment.method[0]
            epsilon, size = self.terms.epsilon or 0.0, deployment.k or 0
        if self.cells.grid:
            source, size = "--grid", self.cells.places.k
        if protocol not in HASHED:
            words = f"belongs to {' and '.join(HASHED)}, not to {protocol}; leave it out"
            refuse(deployment.given("hash"), words)
        labels = None if deployment.labels is None else read_domain(deployment.labels)
        if labels is not None and len(labels) < 2:
            raise InputError(f"--labels {deployment.labels}: has 1 label; a question has at least 2 answers")
        if labels is not None and size not in (0, len(labels)):
            raise InputError(f"{source} is {size}, but --labels {deployment.labels} has {len(labels)} labels")
        size, hashing = size or len(labels or ()), deployment.hash or DEFAULT_HASH
        try:
            return CodedCollection(protocol, method, size, epsilon, labels, hashing, shuffled, self.cells)
        except ValueError as error:
            raise InputError(str(error)) from None


_REQUEST = {
    "eps": Maybe(BUDGET),
    "k": CATEGORIES,
    "n?": Maybe(USERS),
    "central?": Maybe({"eps": Number(0), "delta": Number(0, 1)}),
}
_ROW = {"protocol": str, "method": str, "epsilon?": Maybe(BUDGET)}


def saved_pair(name: str) -> tuple[str, str, float, int, ShuffledCollection | None]:
    """Return protocol, method, budget and domain size of the first row of an answer saved with ``--format json``.

    Also return the guarantee of shuffled reports, if the budget depends on it.

    Raises InputError if the file is not such an answer, or if its recommendation is not a single report of one
    question.
    """
    content = read_json(name)
    rows, request = (content.get(key) if isinstance(content, dict) else None for key in ("recommendations", "request"))
    if not rows or not isinstance(request, dict):
        raise InputError(f"{name}: is no saved ranking; save one with ldp-advise --eps 1 --k 256 --output FILE.json")
    try:
        if request.get("plan") is not None:
            raise InputError(
                "is about several attributes or rounds; name the pair and the budget of one report instead: "
                "--protocol, --method, --eps and --k"
            )
        request, best = checked(_REQUEST, request, "request"), checked([_ROW], rows, "recommendations")[0]
        central, n = request.get("central"), request.get("n")
        # With a shuffler the budget depends on the protocol.
        epsilon = best.get("epsilon") or request["eps"]
        if epsilon is None or (central and n is None):
            raise InputError("lacks a budget, or the number of users")
        if (planar := mechanism(best["protocol"])) is not None:
            words = f"--protocol {planar} --method {best['method']} --eps {request['eps']:g}"
            raise InputError(f"does not say the cells: give all that counts, such as {words} --grid 32x32 --radius 3")
        protocol, method = resolve("protocol", best["protocol"]), resolve("method", best["method"])
        shuffled = ShuffledCollection(**central, n=n) if central else None
        return protocol, method, epsilon, request["k"], shuffled
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


COLUMNS = (Column("file", text=True), Column("what it is", text=True))


def code_document(collection: CodedCollection, directory: str) -> Document:
    """Return what was written where."""
    parameters, cells, labels = collection.parameters, collection.cells, collection.labels
    protocol, method = parameters.protocol, POSTPROCESSORS[collection.method]
    where = f" {cells.promise}" if cells.grid else ""
    sentences = [Sentence(f"One report spends {spent(collection)}{where}.")]
    if collection.rests_on:
        sentences.append(Sentence(collection.rests_on, Role.ANSWER, Tone.DOUBTFUL))
    if collection.ordered:
        order = "their numbers" if labels is None else "the order of the labels file"
        sentences.append(Sentence(f"The answers are taken to be ordered by {order}."))
    check = f"cd {shlex.quote(directory)}\npython check.py && node check.mjs\n{audit_command(collection)}\n"
    rows = tuple(MEANINGS.items())
    return Document(
        title=f"Code for {protocol.title} with {method.title}",
        verdict=Verdict(
            "written",
            f"Wrote clients, server and test vectors for {protocol.title} ({collection.protocol}) with {method.title} "
            f"({collection.method}) to {directory}.",
        ),
        parts=(
            *sentences,
            Table(COLUMNS, tuple(map(Row, rows)), noun="files", cut=False),
            Code(check, "Check it", Role.DETAIL),
            Sentence("README.md there says what is not promised: read it before you collect.", Role.NOTE),
        ),
        data={
            "protocol": collection.protocol,
            "method": collection.method,
            "eps": collection.epsilon,
            "exact_eps": parameters.exact_epsilon,
            "k": collection.k,
            "central": None if collection.shuffled is None else asdict(collection.shuffled),
            "hash": getattr(protocol, "hash", None),
            "grid": cells.grid,
            "radius": cells.radius,
            "labels": labels and list(labels),
            "ordered": collection.ordered,
            "directory": directory,
            "files": [{"name": name, "meaning": meaning} for name, meaning in rows],
        },
        records=Records(("file", "meaning"), rows),
        value=directory,
        setting=str(collection),
    )


Answer = Annotated[str | None, argument("ANSWER", "an answer saved with --format json: its first pair is written")]


def code_command(
    *,
    answer: Answer = None,
    question: Annotated[CodeQuestion, Only("deployment", "terms:epsilon", "cells")],
    output: WholeOutput,
) -> None:
    """Write clients, a server and test vectors for a pair.

    A pair is a protocol and a post-processing method. The clients (Python, JavaScript) use secure randomness and exact
    probabilities, and depend on nothing. README.md in the directory states what is promised to users, and what is not.

    Examples: ldp-advise code --protocol olh --method eb_ns --eps 1 --k 256 --to collection
              ldp-advise code answer.json --labels browsers.txt --to collection
    """
    question = replace(question, answer=answer)
    question.check()
    directory = question.deployment.to or ""
    check_folder("--to", directory, force=output.force)
    inputs = (answer, question.deployment.labels)

    def deployed(collection: CodedCollection, _: Progress) -> CodedCollection:
        written(collection, directory, force=output.force, inputs=inputs)
        return collection

    document = partial(code_document, directory=directory)
    run(Job(question.read, deployed, document, inputs=inputs, reading="reading"), output)
