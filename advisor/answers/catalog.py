"""``list`` and ``explain``: what is on the menu, and what its members are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Required, TypedDict

from advisor.errors import InputError, closest, listed
from advisor.members import FORM, member_in_file
from advisor.names import TABLES, resolve, squash
from advisor.question.option import refuse
from knowledge.cards import CARDS, Card, card_of
from knowledge.recipes import (
    Collection,
    has_code,
    method_code,
    metric_code,
    package_recipe,
    postprocessing,
    python_client,
    server,
)
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Metric, PostProcessor
from simulator.methods.processor import OF_DOMAIN
from simulator.protocols import StandardProtocol

Entry = dict[str, str | bool | tuple[str, ...]]
EPSILON, K = 1.0, 16  # of the code of a protocol, unless others are given


class Code(TypedDict, total=False):
    """Fields of an `Explanation` that hold code."""

    python_numpy: Required[str | None]
    client: str
    postprocessing: str | None
    eps: float
    k: int


@dataclass(frozen=True)
class Explanation:
    """What is known of one member."""

    # name, kind, title: key in the table; ``protocol``, ``method`` or ``metric``; what it is called
    name: str
    kind: str
    title: str
    description: str  # what its author wrote of it, for a member of another package; "" for ours, which have a card
    # formula, good_for, pitfalls, cost: its card, see `knowledge.cards.Card`; "" where it has none
    formula: str
    good_for: str
    pitfalls: str
    promises: tuple[str, ...]  # what it keeps and needs
    cost: str
    reference: str  # where it was published
    # python, python_numpy: code that uses it: with this package, and with numpy alone (a protocol: the server)
    python: str
    python_numpy: str | None
    client: str | None = None  # of a protocol: the client that devices run, which needs nothing; None: there is none
    postprocessing: str | None = None  # of a protocol: what its server imports, where there is no estimate without it
    # eps, k: what the code of a protocol was written for
    eps: float | None = None
    k: int | None = None


def catalog() -> dict[str, tuple[Entry, ...]]:
    """Return all members of the tables of protocols, methods and metrics, those of other packages too."""
    return {
        "protocols": tuple(
            {
                "name": key,
                "title": _title(key, member),
                "sums_to_one": member.sums_to_one,
                "ordered_only": member.ordered_only,
                "promises": _protocol_words(member),
                "cost": _cost(key),
                "reference": _reference(member),
            }
            for key, member in PROTOCOLS.items()
        ),
        "methods": tuple(
            {
                "name": key,
                "title": method.title,
                "nonnegative": method.nonnegative,
                "sums_to_one": method.sums_to_one,
                "ordered_only": method.uses_order,
                "queries_only": method.queries_only,
                "promises": _method_words(method),
                "cost": _cost(key),
                "reference": method.reference,
            }
            for key, method in POSTPROCESSORS.items()
        ),
        "metrics": tuple(
            {
                "name": key,
                "title": metric.title,
                "unit": metric.unit,
                "ordered_only": metric.ordered_only,
                "promises": (_order_words(ordered=metric.ordered_only),),
                "cost": _cost(key),
            }
            for key, metric in METRICS.items()
        ),
    }


def explanation(name: str, epsilon: float | None = None, k: int | None = None) -> Explanation:
    """Return what is known of one member; of a protocol, with code for this budget and domain size.

    Raises InputError if no protocol, method or metric is called so, or a budget is given for what has none.
    """
    kind, key = _member(name)
    if kind != "protocol":
        given = [flag for flag, value in (("--eps", epsilon), ("--k", k)) if value is not None]
        refuse(given, f"does not go with {key}, a {kind}: only the code of protocols is written for a setting")
    budget, size = EPSILON if epsilon is None else epsilon, K if k is None else k
    member = TABLES[kind][key]
    known = card_of(key)  # members of other packages come without one
    card = Card(formula="", good_for="", pitfalls="", cost="") if known is None else known
    return Explanation(
        name=key,
        kind=kind,
        title=_title(key, member),
        description="" if known is not None else _docstring(member),
        formula=card.formula,
        good_for=card.good_for,
        pitfalls=card.pitfalls,
        promises=_promises(member),
        cost=card.cost,
        reference=_reference(member),
        python=package_recipe(kind, key, size, budget),
        **_code(kind, key, budget, size),
    )


def _code(kind: str, key: str, epsilon: float, k: int) -> Code:
    """Return what an explanation holds of code that does not need this package."""
    if kind != "protocol":
        return {"python_numpy": method_code(key) if kind == "method" else metric_code(key)}
    if not has_code(key):
        return {"python_numpy": None}
    method = "none" if _estimates(PROTOCOLS[key]) else "em_stopped"
    collection = Collection(key, method, k, epsilon)
    return {
        "python_numpy": server(collection),
        "client": python_client(collection),
        "postprocessing": postprocessing(collection),
        "eps": epsilon,
        "k": k,
    }


def _member(name: str) -> tuple[str, str]:
    """Return the kind and the key of what a person named."""
    if FORM in name:
        return member_in_file(name)
    for kind in TABLES:
        try:
            return kind, resolve(kind, name)
        except InputError:
            continue
    every = [key for table in TABLES.values() for key in table]
    keys = {squash(key): key for key in every}
    close = closest(squash(name), keys)
    miss = f"; did you mean {keys[close]!r}?" if close else ""
    raise InputError(
        f"no protocol, method or metric is called {name!r}: there are {listed(every, most=40)}{miss} "
        "(ldp-advise list describes them)"
    )


Member = type[StandardProtocol] | PostProcessor | Metric


def _title(key: str, member: Member) -> str:
    return getattr(member, "title", key)  # protocols of other packages need none


def _reference(member: Member) -> str:
    return getattr(member, "reference", "")  # metrics and protocols of other packages need none


def _cost(key: str) -> str:
    return CARDS[key].cost if key in CARDS else ""


def _some_protocols(method: PostProcessor) -> bool:
    """Tell whether a method is for the reports of some protocols only."""
    return method.fits is not None or not method.needs <= {"estimate", "iid", "haar", *OF_DOMAIN}


def _order_words(*, ordered: bool) -> str:
    return "ordered only" if ordered else "any order"


def _protocol_words(protocol: type[StandardProtocol]) -> tuple[str, ...]:
    """Return what a protocol keeps and needs, in the words of the list."""
    words = (
        ("raw sums to 1", protocol.sums_to_one),
        ("no raw estimate", not _estimates(protocol)),
        ("ordered only", protocol.ordered_only),
    )
    return tuple(text for text, holds in words if holds)


def _estimates(protocol: type[StandardProtocol]) -> bool:
    """Tell whether there is an unbiased estimate."""
    return protocol(k=8, epsilon=1.0).offers("estimate")


def _method_words(method: PostProcessor) -> tuple[str, ...]:
    """Return what a method keeps and needs, in the words of the list."""
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
    """Return what a member keeps and needs, in the words of an explanation."""
    if isinstance(member, type):
        total = "raw estimates sum to exactly 1" if member.sums_to_one else "raw estimates sum to 1 on average only"
        total = total if _estimates(member) else "no raw estimate, but a likelihood"
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
    """Return what the author of a member wrote of it: of the class, or of the function that it wraps."""
    if isinstance(member, type):
        own = member.__dict__.get("__doc__") or ""
        # A dataclass without a docstring is given its signature as one.
        return "" if own.startswith(f"{member.__name__}(") else inspect.cleandoc(own)
    function: Callable[..., object] = member.function
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.getdoc(function) or ""
