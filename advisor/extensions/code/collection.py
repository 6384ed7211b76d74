"""The client of a collection, in Python and in JavaScript: the client of its protocol with the numbers filled in."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import jinja2

from advisor.extensions.code.parameters import BUILDERS, Constant, Number, Parameters, parameters, planar_parameters
from advisor.members import as_named
from advisor.question.settings import Cells
from simulator.domain import ORDERED, Domain
from simulator.foreign import REGISTERED
from simulator.hashing import DEFAULT_HASH
from simulator.methods import POSTPROCESSORS, possible
from simulator.methods.processor import SUMMARIES

WIDTH = 110  # width of the lines that are filled in
HASHED = ("blh", "olh")
# Protocols whose clients differ only in their constants.
FOLDERS = {"rappor": "bits", "oue": "bits", "the": "bits", "blh": "hashing", "olh": "hashing", "tree_half": "tree"}


def environment(mark: str = "") -> jinja2.Environment:
    """Return the templates; they run as code where statements are comments, which begin with a mark."""
    return jinja2.Environment(  # noqa: S701 - nothing here is HTML
        loader=jinja2.PackageLoader(__package__),
        block_start_string=f"{mark}{{%",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )


ENVIRONMENTS = {f"client.{suffix}": environment(mark) for suffix, mark in (("py", "# "), ("mjs", "// "))}


@dataclass(frozen=True)
class ShuffledCollection:
    """The guarantee of shuffled reports, if the budget of a report depends on it."""

    epsilon: float
    delta: float
    n: int  # number of users who send an honest report each

    def text(self, budget: object) -> str:
        """Return the condition of the guarantee, and the guarantee if the condition fails."""
        return (
            f"This budget rests on a shuffler: shuffled with one honest report from each of {self.n:,} users, a report "
            f"keeps ε = {self.epsilon:g} and δ = {self.delta:g}. With fewer honest reports that promise is broken. "
            f"Whoever sees a report before it is shuffled is held back by ε = {budget} alone."
        )


@dataclass(frozen=True)
class CodedCollection:
    """A collection: a protocol of this package with its settings, a method, and the possible answers.

    Raises ValueError if the protocol has no client, or the method does not fit its reports.
    """

    protocol: str
    method: str
    k: int
    epsilon: float
    labels: tuple[str, ...] | None = None
    hash: str = DEFAULT_HASH
    shuffled: ShuffledCollection | None = None
    cells: Cells | None = None  # of a mechanism for places, whose budget is promised within a radius

    def __post_init__(self) -> None:
        protocol, method = self.protocol, self.method
        if method in SUMMARIES:
            raise ValueError(
                f"code writes one method, and {method} is of draws from what is known: name a method instead, "
                f"--protocol {protocol} --method eb_ns --eps {self.epsilon:g} --k {self.k}"
            )
        # A server has the installed methods of other packages, but none that were registered here.
        if (protocol not in BUILDERS and self.cells is None) or method.partition(":")[0] in REGISTERED:
            missing = method.partition(":")[0] if method.partition(":")[0] in REGISTERED else protocol
            raise ValueError(
                f"there is no code of {missing}; ldp-advise explain {as_named(missing)} shows how to use it"
            )
        if POSTPROCESSORS[method].is_remedy:
            raise ValueError(
                f"method {method} is a remedy for fake users, which code does not write: ldp-advise explain {method} "
                "shows it; name another method with --method, --protocol, --eps and --k"
            )
        if not possible(POSTPROCESSORS[method], self.parameters.protocol, self.domain, 1_000):
            ranked = f"ldp-advise --eps {self.epsilon:g} --k {self.k} --protocol {protocol} ranks those that are"
            raise ValueError(
                f"method {method} is not for reports of {protocol} with k = {self.k} and epsilon = {self.epsilon:g}: "
                f"{ranked if self.cells is None else 'take --method ibu'}"
            )

    @cached_property
    def parameters(self) -> Parameters:
        """The constants of its client."""
        if self.cells is not None:
            return planar_parameters(self.protocol, self.epsilon, self.cells)
        return parameters(self.protocol, self.k, self.epsilon, self.hash if self.protocol in HASHED else None)

    @property
    def domain(self) -> Domain:
        """What the method may know of the answers."""
        return ORDERED if self.cells is None else Domain(ground=self.cells.places)

    @property
    def centre(self) -> tuple[float, float] | None:
        """Latitude and longitude of the middle of the grid, where answers are degrees."""
        return None if self.cells is None else self.cells.centre

    @property
    def read_as(self) -> str:
        """The protocol by which its lines are read: a cell is a value, as of randomised response."""
        return self.protocol if self.cells is None else "grr"

    @property
    def ordered(self) -> bool:
        """Whether the answers are treated as ordered."""
        return self.parameters.protocol.ordered_only or POSTPROCESSORS[self.method].uses_order

    @property
    def rests_on(self) -> str:
        """Conditions of its budget other than the clients, in sentences; nothing without a shuffler."""
        return "" if self.shuffled is None else self.shuffled.text(self.parameters.epsilon)

    def __str__(self) -> str:
        name = self.parameters.protocol.title
        answers = f"{self.k} possible answers" if self.cells is None else self.cells.promise
        return f"{name} ({self.protocol}), epsilon = {self.parameters.epsilon}, {answers}"


def client_file(collection: CodedCollection, name: str = "client.py") -> str:
    """Return the client of a collection, ``client.py`` or ``client.mjs``."""
    mark = "" if name == "client.py" else "// "
    rests_on = collection.rests_on.replace("ε", "epsilon").replace("δ", "delta")
    template = ENVIRONMENTS[name].get_template(f"{FOLDERS.get(collection.protocol, collection.protocol)}/{name}")
    constants = collection.parameters.constants
    return template.render(
        example=False,
        collection=collection,
        protocol=collection.protocol,
        labels=collection.labels,
        centre=collection.centre,
        ground=collection.cells and collection.cells.places.ground,
        hash=collection.hash,
        field="power_field" if any(each.name == "POWERS" for each in constants) else "prime_field",
        rests_on="".join(f"{mark}{line}\n" for line in textwrap.wrap(rests_on, WIDTH, break_on_hyphens=False)),
        constants="\n".join(_constants(collection, name)),
    )


def _constants(collection: CodedCollection, name: str) -> Iterator[str]:
    """Yield the lines that assign the constants of a client."""
    yield _assignment(Constant("K", collection.k, "possible answers"), name)
    if name == "client.py":
        limit = "" if collection.cells is None else f" {collection.cells.promise}"
        yield f"EPSILON = {collection.parameters.epsilon}  # what one report may spend{limit}"
    if collection.labels is not None:
        labels = json.dumps(collection.labels, ensure_ascii=False, indent=4)
        yield f"LABELS = {labels}" if name == "client.py" else f"const LABELS = {labels};"
    for each in collection.parameters.constants:
        yield _assignment(each, name)


def _assignment(constant: Constant, name: str) -> str:
    """Return an assignment with its meaning: beside it, or above it if the line would be long."""
    value: Number | list[int] = list(constant.value) if isinstance(constant.value, tuple) else constant.value
    if name == "client.py":
        text, comment = f"{constant.name} = {value}", f"  # {constant.meaning}"
    else:
        literal = re.sub(r"(\d+)", r"\1n", str(value)) if constant.word else str(value)
        text, comment = f"const {constant.name} = {literal};", f" // {constant.meaning}"
    if len(text + comment) <= WIDTH:
        return text + comment
    return f"{comment.strip()}\n{textwrap.fill(text, WIDTH, subsequent_indent='    ')}"
