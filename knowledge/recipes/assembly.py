"""From settings to files: client, server and post-processing of one collection, with its numbers filled in."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from knowledge.recipes import browser_clients, browser_parts, client_parts, clients, servers
from knowledge.recipes.excerpt import excerpt
from knowledge.recipes.methods import MethodRecipe, method_recipe
from knowledge.recipes.parameters import BUILDERS, Parameters, parameters
from simulator._types import FloatArray
from simulator.domain import ORDERED
from simulator.hashing import DEFAULT_HASH
from simulator.methods import POSTPROCESSORS, possible
from simulator.methods.summaries import SUMMARIES
from simulator.protocols.grr import GRR
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.hadamard import BlockNoise, HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.oracle import FrequencyOracle, Noise
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.protocol import StandardProtocol
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import Tree

RAW = {
    "none": "unbiased: some are below 0",
    "post_pos": "unbiased; where the answer of a query, a sum of some, is below 0, take 0",
}
WIDTH = 110  # of generated lines
ENOUGH = 60.0  # scales of noise: no cell of `she` is ever further out
SHARED = frozenset(
    {
        "G",
        "OMEGA",
        "GRID",
        "BLOCKS",
        "BLOCK_SIZE",
        "ORDER",
        "DIMENSION",
        "STRIDE",
        "PRIME",
        "POWERS",
        "WIDTH",
        "NODES",
        "ROWS",
        "STARTS",
    }
)  # constants of clients that servers need too
Line = tuple[str, object, str]  # name, value, meaning


def has_code(key: str) -> bool:
    """Tell whether there is code of a protocol or a method; members of other packages have none."""
    languages = (clients.BODIES, browser_clients.BODIES, servers.BODIES)
    return (
        key in RAW or method_recipe(key) is not None or (key in BUILDERS and all(key in bodies for bodies in languages))
    )


class Verbatim(str):
    """Code that stands for a value."""

    __slots__ = ()


@dataclass(frozen=True)
class Shuffled:
    """What shuffled reports promise together, where the budget of one report rests on that."""

    epsilon: float
    delta: float
    n: int  # users who send one honest report each

    def text(self, budget: object) -> str:
        """Return what it rests on, and what is left without it."""
        return (
            f"This budget rests on a shuffler: shuffled with one honest report from each of {self.n:,} users, a report "
            f"keeps ε = {self.epsilon:g} and δ = {self.delta:g}. With fewer honest reports that promise is broken. "
            f"Whoever sees a report before it is shuffled is held back by ε = {budget} alone."
        )


@dataclass(frozen=True)
class Collection:
    """What is collected: a protocol of this package with its settings, a method, and the answers there are."""

    protocol: str
    method: str
    k: int
    epsilon: float
    labels: tuple[str, ...] | None = None
    hash: str = DEFAULT_HASH
    shuffled: Shuffled | None = None

    def __post_init__(self) -> None:
        if self.method in SUMMARIES:
            raise ValueError(f"code writes one method, and {self.method} is of draws from what is known: name another")
        if missing := [key for key in (self.protocol, self.method) if not has_code(key)]:
            raise ValueError(f"there is no code of {' and '.join(missing)}")
        if not possible(POSTPROCESSORS[self.method], self.parameters.protocol, ORDERED, 1_000):
            setting = f"with k = {self.k} and epsilon = {self.parameters.epsilon}"
            raise ValueError(f"method {self.method} is not for reports of {self.protocol} {setting}")

    @cached_property
    def parameters(self) -> Parameters:
        """The constants of its client."""
        hashing = self.hash if self.protocol in ("blh", "olh") else None
        return parameters(self.protocol, self.k, self.epsilon, hashing)

    @property
    def rests_on(self) -> str:
        """What its budget rests on besides the clients, in sentences; nothing without a shuffler."""
        return "" if self.shuffled is None else self.shuffled.text(self.parameters.epsilon)

    @property
    def recipe(self) -> MethodRecipe | None:
        """The method as code; None if it leaves the estimate as it is."""
        return method_recipe(self.method, self.protocol)

    def __str__(self) -> str:
        name = self.parameters.protocol.title
        return f"{name} ({self.protocol}), epsilon = {self.parameters.epsilon}, {self.k} possible answers"


def python_client(collection: Collection) -> str:
    """Return the client in Python."""
    made, labels = collection.parameters, collection.labels
    constants = [
        *_constants_python(collection),
        *(_line(each.name, each.value, each.meaning) for each in made.constants),
    ]
    body = _own(clients.BODIES, clients.HASHED, client_parts.PRIME_FIELD, client_parts.POWER_FIELD, collection)
    public = client_parts.PUBLIC.replace("__NUMBER__", client_parts.NUMBER if labels is None else client_parts.LABEL)
    audited = client_parts.SHE_AUDITED if collection.protocol == "she" else client_parts.AS_IT_IS
    docstring = (
        f'"""Client: randomises one answer on the user\'s device.\n\n{collection}.\n{_head(collection)}'
        "The promise, and what it does not cover, is in README.md. No dependency; all randomness is from `secrets`.\n"
        'Written by ldp-advise.\n"""\n\nimport secrets\n\n'
    )
    return (
        f"{docstring}{''.join(constants)}\n\n{public}{client_parts.COMMON}{body}"
        f"{client_parts.AUDITED.replace('__AUDITED__', audited)}"
    )


def browser_client(collection: Collection) -> str:
    """Return the client in JavaScript."""
    made, labels = collection.parameters, collection.labels
    head = (
        f"// Client: randomises one answer on the user's device.\n// {collection}.\n{_head(collection, '// ')}"
        "// The promise, and what it does not cover, is in README.md. No dependency; all randomness is from\n"
        "// crypto.getRandomValues: browsers, and Node from version 20. The same draws as client.py.\n"
        "// Written by ldp-advise.\n\n"
    )
    constants = [f"const K = {collection.k}; // possible answers\n"]
    constants += [] if labels is None else [_javascript("LABELS", list(labels), "")]
    constants += [_javascript(each.name, each.value, each.meaning, word=each.word) for each in made.constants]
    body = _own(
        browser_clients.BODIES,
        browser_clients.HASHED,
        browser_parts.PRIME_FIELD,
        browser_parts.POWER_FIELD,
        collection,
    )
    public = browser_parts.PUBLIC.replace("__NUMBER__", browser_parts.NUMBER if labels is None else browser_parts.LABEL)
    return f"{head}{''.join(constants)}\n{public}{browser_parts.COMMON}{body}"


def _head(collection: Collection, mark: str = "") -> str:
    """Return what the head of a client says of a shuffler, each line behind a mark."""
    text = collection.rests_on.replace("ε", "epsilon").replace("δ", "delta")
    return "".join(f"{mark}{line}\n" for line in textwrap.wrap(text, WIDTH, break_on_hyphens=False))


def server(collection: Collection) -> str:
    """Return the server in Python."""
    made, recipe, labels = collection.parameters, collection.recipe, collection.labels
    protocol = made.protocol
    method = f"{POSTPROCESSORS[collection.method].title} ({collection.method})"
    head = (
        f'"""Server: estimates frequencies from reports.\n\n{collection}.\n\n'
        "    python server.py reports.csv > frequencies.csv\n\n"
        f'Post-processing: {method}. Needs numpy. Written by ldp-advise.\n"""\n\n'
        "import csv\nimport os\nimport sys\n\nimport numpy as np\n"
    )
    if recipe is not None:
        head += f"\nfrom postprocessing import {', '.join(sorted(recipe.names))}\n"
    lines = (
        ("K", collection.k, "possible answers"),
        ("LABELS", Verbatim("range(K)") if labels is None else list(labels), ""),
        *_server_constants(protocol, made),
        *_noise_constants(protocol, recipe),
    )
    constants = ["\n", *(_line(*line) for line in lines)]
    body = servers.BODIES[collection.protocol]
    if isinstance(protocol, LocalHashing):
        name = "mix64" if protocol.hash == "mix64" else "xxh32_text"
        hashing = excerpt(("simulator.hashing", name)).partition("import numpy as np\n")[2].strip()
        body = f"{hashing}\n\n\n{body.replace('__HASH__', name)}"
    if isinstance(protocol, ProjectiveGeometry):
        body = (servers.POWER_PRODUCTS if _power_field(made) else servers.PRIME_PRODUCTS) + body
    improve = _noise_functions(protocol, recipe) + servers.FREQUENCIES.replace(
        "__METHOD__", RAW.get(collection.method, f"after post-processing by {method}")
    ).replace("__BODY__", _frequencies(recipe))
    return (
        f"{head}{''.join(constants)}\n\n{servers.COMMON}{body.rstrip()}\n"
        f"{servers.MAIN.replace('__IMPROVE__', improve.rstrip() + chr(10))}"
    )


def postprocessing(collection: Collection) -> str | None:
    """Return the file of the method; None if it leaves the estimate as it is."""
    recipe = collection.recipe
    if recipe is None:
        return None
    method = POSTPROCESSORS[collection.method]
    return f'"""Post-processing: {method.title} ({method.reference}). Needs numpy."""\n\n{recipe.source}'


def _noise_functions(protocol: StandardProtocol, recipe: MethodRecipe | None) -> str:
    """Return what works out the noise that a method must know of."""
    call = "" if recipe is None else recipe.call
    blocks = servers.BLOCKS_ALONE.rstrip() + "\n" if isinstance(protocol, HadamardResponse) else ""
    if "variance_at_zero(" in call:
        return blocks + servers.BLOCK_VARIANCE.rstrip() + "\n"
    if "variances(" not in call:
        return ""
    body = servers.OF_BLOCKS if blocks else servers.OF_CELLS if protocol.key == "she" else servers.OF_SUPPORTS
    return blocks + servers.VARIANCES.replace("__BODY__", body).rstrip() + "\n"


def _frequencies(recipe: MethodRecipe | None) -> str:
    if recipe is None:
        return "    return estimated(counts, n)"
    estimate = "    estimate = estimated(counts, n)\n" if recipe.needs_estimate else ""
    return f"{estimate}    return {recipe.call}"


def _power_field(made: Parameters) -> bool:
    return any(each.name == "POWERS" for each in made.constants)


def _own(bodies: dict[str, str], hashes: dict[str, str], prime: str, power: str, collection: Collection) -> str:
    """Return what is a protocol's own, in one of the two languages."""
    protocol = collection.parameters.protocol
    before = hashes[protocol.hash] if isinstance(protocol, LocalHashing) else ""
    if isinstance(protocol, ProjectiveGeometry):
        before = power if _power_field(collection.parameters) else prime
    return before + bodies[collection.protocol]


def _constants_python(collection: Collection) -> list[str]:
    budget = f"EPSILON = {collection.parameters.epsilon}  # what one report may spend\n"
    labels = [] if collection.labels is None else [_line("LABELS", list(collection.labels), "")]
    return [f"K = {collection.k}  # possible answers\n", budget, *labels]


def _line(name: str, value: object, meaning: str) -> str:
    """Return an assignment with its meaning: beside it, or above it where the line would be long."""
    return _beside(f"{name} = {_folded(value, repr, len(name) + 3)}", meaning and f"# {meaning}")


def _javascript(name: str, value: object, meaning: str, *, word: bool = False) -> str:
    """Return the same in JavaScript; `word` is for numbers that are held as a BigInt."""

    def literal(one: object) -> str:
        return f"{one}n" if word else json.dumps(one, ensure_ascii=False)

    return _beside(f"const {name} = {_folded(value, literal, len(name) + 9)};", meaning and f"// {meaning}", " ")


def _beside(line: str, meaning: str, gap: str = "  ") -> str:
    last = len(line) - line.rfind("\n") - 1
    if not meaning or ("\n" not in line and last + len(meaning) + 2 <= WIDTH):
        return f"{line}{gap if meaning else ''}{meaning}\n"
    return f"{meaning}\n{line}\n"


def _folded(value: object, literal: Callable[[object], str], indent: int) -> str:
    """Return a literal: a list is folded between its members where it is long."""
    if isinstance(value, Verbatim):
        return value
    if not isinstance(value, list | tuple):
        return literal(value)
    members = [literal(one) for one in value]
    if indent + sum(len(member) + 2 for member in members) <= WIDTH:
        return f"[{', '.join(members)}]"
    lines = [""]
    for member in members:
        if lines[-1] and len(lines[-1]) + len(member) + 7 > WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{member},"
    return "\n".join(["[", *(f"    {line}" for line in lines), "]"])


def _server_constants(protocol: StandardProtocol, made: Parameters) -> Iterator[Line]:
    """Yield what a server of a protocol knows besides the number of answers."""
    cells = {"tree": 0, "tree_half": 0}.get(protocol.key, getattr(protocol, "symbols", protocol.k))
    yield from ((each.name, each.value, each.meaning) for each in made.constants if each.name in SHARED)
    if isinstance(protocol, Tree):
        cells = sum(inner.k for inner in protocol.inner) + len(protocol.inner)
        yield "ONE_NODE", [isinstance(inner, GRR) for inner in protocol.inner], "whether a report names one node"
        for name, meaning in (("P", "the own node"), ("Q", "any other one")):
            chances = [getattr(inner, name.lower()) for inner in protocol.inner]
            yield name, chances, f"by height: probability that a report supports {meaning}"
        yield (
            "PRECISION", [[_ends(each) for each in row] for row in protocol.height_noise.precision],
            "what a report at each lower height tells of the differences at each height: of all nodes, and of the last",
        )  # fmt: skip
    elif isinstance(protocol, HadamardResponse):
        gain, _, _ = _of_blocks(protocol)
        yield "GAIN", gain, "mean of +1 (supports) and -1 (contradicts) for the own value"
    elif isinstance(protocol, HaarHadamard):
        yield "GAIN", protocol.gain, "mean of +1 (the own bit) and -1: tanh(epsilon / 2)"
    elif protocol.key == "she":
        yield "LIMIT", _limit(made), "steps: honest cells are nearer to 0 but with probability e^-60"
    elif isinstance(protocol, FrequencyOracle | SquareWave):
        yield "P", protocol.p, "probability that a report supports the own value"
        yield "Q", protocol.q, "probability that it supports any other one"
    yield "CELLS", cells, "numbers that are counted"


def _of_blocks(protocol: HadamardResponse) -> tuple[float, float, float]:
    """Return what the estimate and its noise are made of: gain, e^-epsilon, and the sum of weights in half blocks.

    In the same operations as the protocol's own, so that the server's figures have the same last digit.
    """
    rare, grown = math.exp(-protocol.epsilon), -math.expm1(-protocol.epsilon)
    total = grown + 2 * protocol.blocks * rare
    return grown / total, rare, total


def _ends(each: FloatArray) -> tuple[float, float]:
    """Return the figures of all nodes but the last, which may hold fewer values, and of the last."""
    return float(each[0]), float(each[-1])


def _limit(made: Parameters) -> int:
    return made.whole("GRID") + math.ceil(ENOUGH * made.whole("UNIT") / made.whole("RATE"))


def _noise_constants(protocol: StandardProtocol, recipe: MethodRecipe | None) -> Iterator[Line]:
    """Yield what the method must know of the noise of one report."""
    linear, call = protocol.linear, "" if recipe is None else recipe.call
    if linear is None:
        return
    noise = linear.covariance(1)
    if "VARIANCES" in call:
        rows = [_ends(each) for each in noise.haar(protocol.k)]
        yield (
            "VARIANCES",
            rows,
            "by height, of 1 report: variance of the difference of two halves, of the last node too",
        )
    if not isinstance(noise, Noise):
        return
    if protocol.key == "she" and "variances(" in call:
        yield "AT_ZERO", noise.variance_at_zero, "variance of the estimate of a frequency, of 1 report"
    if isinstance(protocol, HadamardResponse) and ("variances(" in call or "variance_at_zero(" in call):
        _, rare, total = _of_blocks(protocol)
        yield "RARE", rare, "e^-epsilon"
        yield "TOTAL", total, "all symbols by weight (1 or RARE), in half blocks"
        if "variances(" in call:
            yield "SAME", protocol.same_block, "share of the pairs of different values that are in the same block"
    if isinstance(noise, BlockNoise) and "P, Q" in call:
        yield "P", noise.p, "probability that a report supports the own value"
        yield "Q", noise.q, "probability that it supports another one, on average"
