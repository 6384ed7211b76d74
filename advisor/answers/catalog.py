"""``list`` and ``explain``: the members on the menu, and their explanations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

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
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Metric, PostProcessor
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
    return {
        "protocols": tuple(
            _entry(
                key, member, _protocol_words(member), sums_to_one=member.sums_to_one, ordered_only=member.ordered_only
            )
            for key, member in PROTOCOLS.items()
        ),
        "methods": tuple(
            _entry(
                key,
                member,
                _method_words(member),
                nonnegative=member.nonnegative,
                sums_to_one=member.sums_to_one,
                ordered_only=member.uses_order,
                queries_only=member.queries_only,
            )
            for key, member in POSTPROCESSORS.items()
        ),
        "metrics": tuple(
            _entry(
                key,
                member,
                (_order_words(ordered=member.ordered_only),),
                unit=member.unit,
                ordered_only=member.ordered_only,
            )
            for key, member in METRICS.items()
        ),
    }


def _entry(key: str, member: Member, promises: tuple[str, ...], **facts: str | bool) -> Entry:
    source: Entry = {} if isinstance(member, Metric) else {"reference": _reference(member)}
    cost = cards()[key].cost if key in cards() else ""
    return {"name": key, "title": _title(key, member), **facts, "promises": promises, "cost": cost, **source}


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


def _order_words(*, ordered: bool) -> str:
    return "ordered only" if ordered else "any order"


def _protocol_words(protocol: type[StandardProtocol]) -> tuple[str, ...]:
    """Return the guarantees and requirements of a protocol, in the words of the list."""
    words = (
        ("raw sums to 1", protocol.sums_to_one),
        ("no raw estimate", not _estimates(protocol)),
        ("ordered only", protocol.ordered_only),
    )
    return tuple(text for text, holds in words if holds)


def _estimates(protocol: type[StandardProtocol]) -> bool:
    """Return whether there is an unbiased estimate."""
    return protocol(k=8, epsilon=1.0).offers("estimate")


def _method_words(method: PostProcessor) -> tuple[str, ...]:
    """Return the guarantees and requirements of a method, in the words of the list."""
    words = (
        ("≥ 0", method.nonnegative),
        ("sums to 1", method.sums_to_one),
        ("queries only", method.queries_only),
        (_order_words(ordered=method.uses_order), True),
        ("some protocols", _some_protocols(method)),
        ("with --threat only", method.is_remedy),
    )
    return tuple(text for text, holds in words if holds)


def _promises(member: Member) -> tuple[str, ...]:
    """Return the guarantees and requirements of a member, in the words of an explanation."""
    if isinstance(member, type):
        total = "raw estimates sum to exactly 1" if member.sums_to_one else "raw estimates sum to 1 on average only"
        total = member.assumed or (total if _estimates(member) else "no raw estimate, but a likelihood")
        return (total, "ordered domains only") if member.ordered_only else (total,)
    if isinstance(member, Metric):
        return ("ordered domains only",) if member.ordered_only else ()
    words = (
        ("never negative", member.nonnegative),
        ("sums to 1", member.sums_to_one),
        ("ordered domains only", member.uses_order),
        ("changes the answers of set and range queries only", member.queries_only),
        ("a larger estimate never becomes the smaller one", member.keeps_order),
        ("for some protocols only", _some_protocols(member)),
        ("ranked with --threat only", member.is_remedy),
        ("needs to know what is promoted (--targets)", "targets" in member.needs),
        ("needs the reports one by one", "suspects" in member.needs),
    )
    return tuple(text for text, holds in words if holds)


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
