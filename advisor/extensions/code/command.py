"""``ldp-advise code``: a client, a server and test vectors for a pair that is named, or the first of a saved answer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from advisor.checks import choice, path
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, WholeOutput, run
from advisor.errors import InputError
from advisor.extensions.code.answer import MEANINGS, Deployed, audit_command, spent, written
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
class Pair(AnyProtocol):
    """The pair to deploy."""

    panel: ClassVar[str] = "What is collected"

    protocol: tuple[str, ...] = like(AnyProtocol, "protocol", help="what devices report with")
    method: tuple[str, ...] = like(Menu, "method", help="post-processing method of the server, or none")


@dataclass(frozen=True, kw_only=True)
class Answers(Categories):
    """Number of possible answers."""

    panel: ClassVar[str] = "What is collected"

    k: int | None = like(Categories, "k", help="number of possible answers")


@dataclass(frozen=True, kw_only=True)
class Deployment(Settings):
    """Output of a deployment."""

    panel: ClassVar[str] = "Code"

    to: str | None = option("--to", read=path, metavar="DIR", help="directory to write, new or empty")
    labels: str | None = option(
        "--labels", read=path, metavar="FILE", help="all answers, one per line: clients take these, not numbers"
    )
    hash: str | None = option(
        "--hash",
        read=choice(HASHES),
        metavar="NAME",
        help=f"hash of blh and olh: {' or '.join(HASHES)} [default: {DEFAULT_HASH}]",
    )


@dataclass(frozen=True, kw_only=True)
class CodeQuestion(Bundle):
    """A pair and its settings, as known before any file is read."""

    pair: Pair = Pair()
    domain: Answers = Answers()
    terms: Terms = Terms()
    cells: Cells = Cells()
    deployment: Deployment = Deployment()
    answer: str | None = None  # file of a saved answer

    def check(self) -> None:
        """Raise InputError if something is missing, or does not go together."""
        where = ("--to", self.deployment.to, "a directory to write, for example --to collection")
        if self.answer is not None:
            given = self.given("pair", "terms:epsilon", "domain:k", "cells")
            refuse(given, f"does not go with a saved answer, which says it: leave it out, or leave out {self.answer}")
            require(where)
            return
        protocol = require_one("protocol", self.pair.protocol, "code")
        method = require_one("method", self.pair.method, "code")
        hint = "the number of possible answers, for example --k 256, or all of them with --labels FILE"
        size = ("--k", self.domain.k or self.deployment.labels, hint)
        planar = mechanism(protocol or "") is not None
        if planar:
            refuse(self.domain.given("k"), f"does not go with {protocol}: the cells of --grid are the answers")
            labels = self.deployment.given("labels") if self.cells.centre else ()
            refuse(labels, "does not go with --centre: answers are latitude and longitude")
        elif protocol is not None:
            self.cells.refuse_for(protocol)
        require(
            ("--protocol", protocol, "what devices report with, for example --protocol olh"),
            ("--method", method, "the post-processing method, for example --method norm_sub, or none"),
            ("--eps", self.terms.epsilon, "the privacy budget of one report, for example --eps 1"),
            *(self.cells.missing() if planar else (size,)),
            where,
        )

    def read(self) -> CodedCollection:
        """Read the files, and return the collection to deploy.

        Raises InputError if a file has other content than expected, or if the settings contradict each other.
        """
        source, shuffled = "--k", None
        if self.answer is not None:
            source = f"{self.answer}: k"
            protocol, method, epsilon, size, shuffled = saved_pair(self.answer)
        else:
            protocol, method = self.pair.protocol[0], self.pair.method[0]
            epsilon, size = self.terms.epsilon or 0.0, self.domain.k or 0
        cells = self.cells if mechanism(protocol) else None
        if cells is not None:
            source, size = "--grid", cells.places.k
        if protocol not in HASHED:
            words = f"belongs to {' and '.join(HASHED)}, not to {protocol}; leave it out"
            refuse(self.deployment.given("hash"), words)
        labels = None if self.deployment.labels is None else read_domain(self.deployment.labels)
        if labels is not None and len(labels) < 2:
            raise InputError(f"--labels {self.deployment.labels}: has 1 label; a question has at least 2 answers")
        if labels is not None and size not in (0, len(labels)):
            raise InputError(f"{source} is {size}, but --labels {self.deployment.labels} has {len(labels)} labels")
        hashing = self.deployment.hash or DEFAULT_HASH
        try:
            return CodedCollection(
                protocol, method, size or len(labels or ()), epsilon, labels, hashing, shuffled, cells
            )
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
        raise InputError(f"{name}: is no saved answer; save one with ldp-advise --eps 1 --k 256 --output FILE.json")
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
        if epsilon is None or (central is not None and n is None):
            raise InputError("lacks a budget, or the number of users")
        return (
            resolve("protocol", best["protocol"]),
            resolve("method", best["method"]),
            epsilon,
            request["k"],
            None if central is None else ShuffledCollection(central["eps"], central["delta"], n or 0),
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


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
    question: Annotated[CodeQuestion, Only("pair", "domain:k", "terms:epsilon", "cells", "deployment")],
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

    def write(collection: CodedCollection, _: Progress) -> Deployed:
        return written(collection, directory, force=output.force, inputs=inputs)

    run(Job(question.read, write, code_document, inputs=inputs, reading="reading"), output)
