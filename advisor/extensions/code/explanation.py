"""``explain``: what a member is, and code that uses it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from advisor.answers.catalog import Member, has_estimate, promises_of, reference_of, title_of
from advisor.checks import shown
from advisor.errors import InputError
from advisor.extensions.code.collection import CodedCollection, client_file
from advisor.extensions.code.parameters import BUILDERS
from advisor.extensions.code.usage import usage, usage_on
from advisor.members.names import TABLES, mechanism, member_named, squash, suggestion
from advisor.question.option import refuse
from advisor.question.settings import Cells
from knowledge.cards import Card, cards
from simulator import PROTOCOLS, Metric, PostProcessor
from simulator.channels import PLANAR

EPSILON, K, GRID = 1.0, 16, "8x8"  # defaults for the code of a protocol


@dataclass(frozen=True)
class Explanation:
    """The explanation of a member."""

    # name, kind, title: key in the table; ``protocol``, ``method`` or ``metric``; full name
    name: str
    kind: str
    title: str
    description: str  # the author's description, for a member of another package; "" for ours, which have a card
    # formula, good_for, pitfalls, cost: its card, see `knowledge.cards.Card`; "" without a card
    formula: str
    good_for: str
    pitfalls: str
    promises: tuple[str, ...]  # its guarantees and requirements
    cost: str
    reference: str  # its publication
    python: str  # code that uses it with this package
    source: str | None = None  # of a method or a metric: the source of its function in this package
    client: str | None = None  # of a protocol: the client for devices, without dependencies; None without a client
    # eps, k: budget and domain size of the client
    eps: float | None = None
    k: int | None = None


def explanation(
    name: str, epsilon: float | None = None, k: int | None = None, cells: Cells | None = None
) -> Explanation:
    """Return the explanation of a member; for a protocol, with code for this budget and domain size or these cells.

    Raises InputError if no protocol, method or metric has this name, or if a budget is given for a member without one.
    """
    if (planar := mechanism(name)) is not None:
        refuse([] if k is None else ["--k"], f"does not go with {planar}: the cells of --grid are the answers")
        return _of_places(planar, epsilon or EPSILON, cells or Cells())
    (cells or Cells()).refuse_for(name)
    named_member = member_named(name, TABLES)
    if named_member is None:
        raise _unknown(name)
    kind, key = named_member
    if kind != "protocol":
        flags = [flag for flag, value in (("--eps", epsilon), ("--k", k)) if value is not None]
        refuse(flags, f"does not go with {key}, a {kind}: only the code of protocols is written for a setting")
    budget, size = EPSILON if epsilon is None else epsilon, K if k is None else k
    written = kind == "protocol" and key in BUILDERS
    member = TABLES[kind][key]
    written_card = cards().get(key.partition(":")[0])  # members of other packages have no card
    card = Card(formula="", good_for="", pitfalls="", cost="") if written_card is None else written_card
    return Explanation(
        name=key,
        kind=kind,
        title=title_of(key, member),
        description="" if written_card is not None else _docstring(member),
        formula=card.formula,
        good_for=card.good_for,
        pitfalls=card.pitfalls,
        promises=promises_of(member),
        cost=card.cost,
        reference=reference_of(member),
        python=usage(kind, key, size, budget),
        source=None if isinstance(member, type) else _source(member),
        client=client_file(CodedCollection(key, _any_method(key), size, budget)) if written else None,
        eps=budget if written else None,
        k=size if written else None,
    )


def _of_places(key: str, epsilon: float, cells: Cells) -> Explanation:
    """Return the explanation of a mechanism for places; what its matrix leaks is worked out on these cells."""
    cells = replace(cells, grid=cells.grid or GRID, radius=cells.radius or 1.0)
    places, channel = cells.places, cells.channel(key, epsilon)
    return Explanation(
        name=key,
        kind="protocol",
        title=channel.title,
        description="",
        **asdict(cards()[key]),
        promises=(
            f"ε = {epsilon:g} {cells.promise}, and in proportion to the distance for any two",
            cells.leakage(channel),
        ),
        reference=channel.reference,
        python=usage_on(cells, key, epsilon),
        client=client_file(CodedCollection(key, "ibu", places.k, epsilon, cells=cells)),
        eps=epsilon,
        k=places.k,
    )


def _any_method(protocol: str) -> str:
    """Return a method that fits a protocol: ``none`` if the protocol has an estimate."""
    return "none" if has_estimate(PROTOCOLS[protocol]) else "em_stopped"


def _source(member: PostProcessor | Metric) -> str | None:
    """Return the source of the function of a method or a metric; None if unknown."""
    function = _function(member)
    try:
        return f"# {function.__module__}\n{inspect.getsource(function)}"
    except (OSError, TypeError):
        return None


def _unknown(name: str) -> InputError:
    keys = {squash(key): key for table in (*TABLES.values(), PLANAR) for key in table}
    return InputError(f"no protocol, method or metric is called {shown(name)}; {suggestion(name, keys)}")


def _docstring(member: Member) -> str:
    """Return the author's docstring of a member: of the class, or of the function that it wraps."""
    if isinstance(member, type):
        docstring = member.__dict__.get("__doc__") or ""
        # Python sets the signature as the docstring of a dataclass without a docstring.
        return "" if docstring.startswith(f"{member.__name__}(") else inspect.cleandoc(docstring)
    return inspect.getdoc(_function(member)) or ""


def _function(member: PostProcessor | Metric) -> Callable[..., object]:
    """Return the function that a member wraps, without its preset arguments."""
    function: Callable[..., object] = member.function
    while isinstance(function, functools.partial):
        function = function.func
    return function
