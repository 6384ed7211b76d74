"""The client of a collection, in Python and in JavaScript: the client of its protocol with the numbers filled in."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jinja2

from advisor.extensions.code.parameters import BUILDERS, Constant, Parameters, parameters, planar_parameters
from advisor.members import as_named
from advisor.question.settings import Cells
from simulator import Tally
from simulator._types import FloatArray
from simulator.domain import ORDERED, Domain
from simulator.foreign import REGISTERED
from simulator.hashing import DEFAULT_HASH
from simulator.methods import POSTPROCESSORS, observe, possible
from simulator.methods.processor import SUMMARIES

WIDTH = 110  # width of the lines that are filled in
HASHED = ("blh", "olh")
# Protocols whose clients differ only in their constants.
FOLDERS = {"rappor": "bits", "oue": "bits", "the": "bits", "blh": "hashing", "olh": "hashing", "tree_half": "tree"}
MARKS = {"py": "# ", "mjs": "// ", "md": ""}  # what statements begin with: templates run as they are
TEMPLATES = {
    mark: jinja2.Environment(  # noqa: S701 - nothing here is HTML
        loader=jinja2.PackageLoader(__package__),
        block_start_string=f"{mark}{{%",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    for mark in MARKS.values()
}
TEMPLATES[""].filters["folded"] = lambda text: textwrap.fill(" ".join(text.split()), 118, break_on_hyphens=False) + "\n"


def rendered(name: str, **values: object) -> str:
    """Return a template with its values filled in."""
    return TEMPLATES[MARKS[name.rpartition(".")[2]]].get_template(name).render(values)


@dataclass(frozen=True)
class ShuffledCollection:
    """The guarantee of shuffled reports, if the budget of a report depends on it."""

    eps: float
    delta: float
    n: int  # number of users who send an honest report each


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
    cells: Cells = Cells()  # of a mechanism for places, whose budget is promised within a radius

    def __post_init__(self) -> None:
        protocol, method = self.protocol, self.method
        if method in SUMMARIES:
            raise ValueError(
                f"code writes one method, and {method} is of draws from what is known: name a method instead, "
                f"--protocol {protocol} --method eb_ns --eps {self.epsilon:g} --k {self.k}"
            )
        # A server has the installed methods of other packages, but none that were registered here.
        registered, written = method.partition(":")[0] in REGISTERED, protocol in BUILDERS or self.cells.grid
        if registered or not written:
            missing = method.partition(":")[0] if registered else protocol
            raise ValueError(
                f"there is no code of {missing}; ldp-advise explain {as_named(missing)} shows how to use it"
            )
        if POSTPROCESSORS[method].is_remedy:
            raise ValueError(
                f"method {method} is a remedy for fake users, which code does not write: ldp-advise explain {method} "
                "shows it; name another method with --method, --protocol, --eps and --k"
            )
        if not possible(POSTPROCESSORS[method], self.parameters.protocol, self.domain, 1_000):
            ordered = " --ordered" * self.domain.ordered
            ranked = (
                f"ldp-advise --eps {self.epsilon:g} --k {self.k}{ordered} --protocol {protocol} ranks those that are"
            )
            raise ValueError(
                f"method {method} is not for reports of {protocol} with k = {self.k} and epsilon = {self.epsilon:g}: "
                f"{'take --method ibu' if self.cells.grid else ranked}"
            )

    @cached_property
    def parameters(self) -> Parameters:
        """The constants of its client."""
        if self.cells.grid:
            return planar_parameters(self.protocol, self.epsilon, self.cells)
        return parameters(self.protocol, self.k, self.epsilon, self.hash if self.protocol in HASHED else None)

    @property
    def domain(self) -> Domain:
        """What the method may know of the answers."""
        return Domain(ground=self.cells.places) if self.cells.grid else ORDERED

    @property
    def answers(self) -> str:
        """The answers in code: their labels, or how many there are."""
        return "range(K)" if self.labels is None else json.dumps(self.labels, ensure_ascii=False, indent=4)

    @property
    def read_as(self) -> str:
        """The protocol by which its lines are read: a cell is a value, as of randomised response."""
        return "grr" if self.cells.grid else self.protocol

    @property
    def options(self) -> dict[str, Any]:
        """What its lines depend on besides, as `advisor.inputs.reports.settings` calls it."""
        if self.protocol in HASHED:
            return {"hash": self.hash}
        return {"steps": self.parameters.whole("GRID")} if self.protocol == "she" else {}

    def frequencies(self, tally: Tally) -> FloatArray:
        """Return the frequencies ``(k,)`` that its method makes of a tally."""
        return POSTPROCESSORS[self.method].apply(observe(self.parameters.protocol, tally, self.domain))

    @property
    def ordered(self) -> bool:
        """Whether the answers are treated as ordered."""
        return self.parameters.protocol.ordered_only or POSTPROCESSORS[self.method].uses_order

    @property
    def rests_on(self) -> str:
        """Conditions of its budget other than the clients, in sentences; nothing without a shuffler."""
        if self.shuffled is None:
            return ""
        return (
            f"This budget rests on a shuffler: shuffled with one honest report from each of {self.shuffled.n:,} users, "
            f"a report keeps ε = {self.shuffled.eps:g} and δ = {self.shuffled.delta:g}. With fewer honest reports "
            f"that promise is broken. Whoever sees a report before it is shuffled is held back by ε = "
            f"{self.parameters.epsilon} alone."
        )

    def __str__(self) -> str:
        name = self.parameters.protocol.title
        answers = self.cells.promise if self.cells.grid else f"{self.k} possible answers"
        return f"{name} ({self.protocol}), epsilon = {self.parameters.epsilon}, {answers}"


def client_file(collection: CodedCollection, name: str = "client.py") -> str:
    """Return the client of a collection, ``client.py`` or ``client.mjs``."""
    mark = "" if name == "client.py" else "// "
    rests_on = collection.rests_on.replace("ε", "epsilon").replace("δ", "delta")
    names = [each.name for each in collection.parameters.constants]
    return rendered(
        f"{FOLDERS.get(collection.protocol, collection.protocol)}/{name}",
        example=False,
        collection=collection,
        field="power_field" if "POWERS" in names else "prime_field",
        rests_on="".join(f"{mark}{line}\n" for line in textwrap.wrap(rests_on, WIDTH, break_on_hyphens=False)),
        constants="\n".join(_assignment(each, name) for each in collection.parameters.constants),
    )


def _assignment(constant: Constant, name: str) -> str:
    """Return an assignment with its meaning: beside it, or above it if the line would be long."""
    if name == "client.py":
        text, comment = f"{constant.name} = {constant.value}", f"  # {constant.meaning}"
    else:
        literal = re.sub(r"(\d+)", r"\1n", str(constant.value)) if constant.word else str(constant.value)
        text, comment = f"const {constant.name} = {literal};", f" // {constant.meaning}"
    if len(text + comment) <= WIDTH:
        return text + comment
    return f"{comment.strip()}\n{textwrap.fill(text, WIDTH, subsequent_indent='    ')}"
