"""``list`` and ``explain``: the members on the menu, and their explanations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import starmap

from advisor.answers.clients.collection import CodedCollection, client_file
from advisor.answers.clients.parameters import BUILDERS
from advisor.answers.usage import usage, usage_on
from advisor.checks import shown
from advisor.errors import InputError
from advisor.members import FORM, member_in_file
from advisor.members.names import TABLES, mechanism, resolve, squash, suggestion
from advisor.question.option import refuse
from advisor.question.settings import Cells
from knowledge.cards import Card, cards
from simulator import PROTOCOLS, Metric, PostProcessor
from simulator.channels import PLANAR
from simulator.methods.processor import OF_DOMAIN
from simulator.protocols import StandardProtocol

Entry = dict[str, str | bool | tuple[str, ...]]
Member = type[StandardProtocol] | PostProcessor | Metric
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


def catalog() -> dict[str, tuple[Entry, ...]]:
    """Return all members of the tables of protocols, methods and metrics, including those of other packages."""
    return {f"{kind}s": tuple(starmap(_entry, table.items())) for kind, table in TABLES.items()}


def _entry(key: str, member: Member) -> Entry:
    entry: Entry = {"name": key, "title": _title(key, member)}
    if isinstance(member, Metric):
        entry["unit"] = member.unit
    elif isinstance(member, PostProcessor):
        entry |= {"nonnegative": member.nonnegative, "sums_to_one": member.sums_to_one}
    else:
        entry["sums_to_one"] = member.sums_to_one
    entry["ordered_only"] = _ordered_only(member)
    if isinstance(member, PostProcessor):
        entry["queries_only"] = member.queries_only
    entry |= {"promises": _promises(member), "cost": cards()[key].cost if key in cards() else ""}
    return entry if isinstance(member, Metric) else entry | {"reference": _reference(member)}


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
        title=_title(key, member),
        description="" if written_card is not None else _docstring(member),
        formula=card.formula,
        good_for=card.good_for,
        pitfalls=card.pitfalls,
        promises=_promises(member),
        cost=card.cost,
        reference=_reference(member),
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
    return "none" if _estimates(PROTOCOLS[protocol]) else "em_stopped"


def _source(member: PostProcessor | Metric) -> str | None:
    """Return the source of the function of a method or a metric; None if unknown."""
    function = _function(member)
    try:
        return f"# {function.__module__}\n{inspect.getsource(function)}"
    except (OSError, TypeError):
        return None


def member_named(name: str, kinds: Iterable[str]) -> tuple[str, str] | None:
    """Return the kind and the key of a member by its name; None if no member of these kinds has this name.

    Raises InputError if it names a file without such a member.
    """
    if FORM in name:
        return member_in_file(name)
    for kind in kinds:
        with suppress(InputError):
            return kind, resolve(kind, name)
    return None


def _unknown(name: str) -> InputError:
    keys = {squash(key): key for table in (*TABLES.values(), PLANAR) for key in table}
    return InputError(f"no protocol, method or metric is called {shown(name)}; {suggestion(name, keys)}")


def _title(key: str, member: Member) -> str:
    return getattr(member, "title", key)  # protocols of other packages need none


def _reference(member: Member) -> str:
    return getattr(member, "reference", "")  # metrics and protocols of other packages need none


def _some_protocols(method: PostProcessor) -> bool:
    """Return whether a method is only for the reports of some protocols."""
    return method.fits is not None or not method.needs <= {"estimate", "iid", "haar", *OF_DOMAIN}


def _ordered_only(member: Member) -> bool:
    return member.uses_order if isinstance(member, PostProcessor) else member.ordered_only


def _estimates(protocol: type[StandardProtocol]) -> bool:
    """Return whether there is an unbiased estimate."""
    return protocol(k=8, epsilon=1.0).offers("estimate")


def _promises(member: Member) -> tuple[str, ...]:
    """Return the guarantees and requirements of a member, in a word or two each."""
    words = {"ordered only" if _ordered_only(member) else "any order": True}
    if isinstance(member, type):
        words |= {
            "raw sums to 1": member.sums_to_one,
            "no raw estimate": not _estimates(member),
            member.assumed: bool(member.assumed),
        }
    elif isinstance(member, PostProcessor):
        words |= {
            "≥ 0": member.nonnegative,
            "sums to 1": member.sums_to_one,
            "monotone": member.keeps_order,
            "queries only": member.queries_only,
            "some protocols": _some_protocols(member),
            "with --threat only": member.is_remedy,
            "needs --targets": "targets" in member.needs,
            "needs single reports": "suspects" in member.needs,
        }
    return tuple(text for text, holds in words.items() if holds)


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
