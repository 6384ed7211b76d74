"""Constraints: what takes protocols and methods off the menu before anything is ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.errors import listed
from simulator import POSTPROCESSORS, PROTOCOLS

if TYPE_CHECKING:
    from advisor.question.request import Request


class Constraints(NamedTuple):
    """What a pair must keep to be ranked.

    Attributes
    ----------
    max_bits
        Most bits of a report.
    max_attack
        Highest probability that the best guess from one report is the user's value.
    proper
        Whether results must be a distribution: no negative frequency, sum 1.
    unbiased
        Whether every estimate must be right on average.
    server_cost
        Most operations for the server to aggregate the reports of all users, once they are read.
    """

    max_bits: int | None = None
    max_attack: float | None = None
    proper: bool = False
    unbiased: bool = False
    server_cost: int | None = None


class Removal(NamedTuple):
    """What one constraint took off the menu.

    Attributes
    ----------
    constraint, bound
        Its name on the command line, without hyphens in front, and its bound (None where it has none).
    protocols, methods
        What it removed; another constraint may have removed the same.
    """

    constraint: str
    bound: float | None
    protocols: tuple[str, ...]
    methods: tuple[str, ...]


def constrained(request: Request, constraints: Constraints) -> Request:
    """Return the request with nothing on its menu that a constraint excludes, and with what each one removed."""
    if constraints == Constraints():
        return request
    oracles = {name: PROTOCOLS[name](request.k, request.epsilon) for name in request.protocols}
    methods = {name: POSTPROCESSORS[name] for name in request.methods}
    c = constraints
    removals = (
        _of_protocols("max-bits", c.max_bits, oracles, lambda oracle: oracle.report_bits),
        _of_protocols("max-attack", c.max_attack, oracles, lambda oracle: oracle.attack_success),
        _of_protocols("server-cost", c.server_cost, oracles, lambda oracle: oracle.server_operations(request.n)),
        _of_methods("proper", c.proper, methods, lambda method: method.nonnegative and method.sums_to_one),
        _of_methods("unbiased", c.unbiased, methods, lambda method: method.unbiased),
    )
    given = tuple(removal for removal in removals if removal is not None)
    gone = {name for removal in given for name in (*removal.protocols, *removal.methods)}
    return replace(
        request,
        protocols=tuple(name for name in request.protocols if name not in gone),
        methods=tuple(name for name in request.methods if name not in gone),
        removals=given,
    )


def _of_protocols(
    name: str, bound: float | None, oracles: dict[str, Any], cost: Callable[[Any], float]
) -> Removal | None:
    if bound is None:
        return None
    return Removal(name, bound, tuple(key for key, oracle in oracles.items() if cost(oracle) > bound), ())


def _of_methods(name: str, asked: bool, methods: dict[str, Any], keeps: Callable[[Any], bool]) -> Removal | None:
    if not asked:
        return None
    return Removal(name, None, (), tuple(key for key, method in methods.items() if not keeps(method)))


def fitting_pairs(request: Request, protocols: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of these protocols with the methods of a request that go together."""
    return [pair for pair in product(protocols, request.methods) if _fits(pair, request)]


def _fits(pair: tuple[str, str], request: Request) -> bool:
    protocol, method = pair
    fits = POSTPROCESSORS[method].fits
    return fits is None or fits(PROTOCOLS[protocol](request.k, request.epsilon).noise(request.n), request.k)


def nothing_left(request: Request) -> bool:
    """Tell whether the constraints of a request leave no pair to rank."""
    used = request.protocols if request.collected is None else (request.collected.protocol,)
    return bool(request.removals) and not fitting_pairs(request, used)


def removal_sentences(request: Request) -> list[str]:
    """Return what each constraint removed."""
    return [f"Constraint {_named(removal)} removed {_what(removal)}." for removal in request.removals]


def nothing_left_sentence(request: Request) -> str:
    """Return that nothing is left, and which constraints did that."""
    effective = [removal for removal in request.removals if removal.protocols or removal.methods]
    told = "; ".join(f"{_named(removal)} removed {_what(removal)}" for removal in effective)
    return f"Nothing is left to rank: {told}."


def _named(removal: Removal) -> str:
    return f"--{removal.constraint}" + ("" if removal.bound is None else f" {removal.bound:,.10g}".replace(",", ""))


def _what(removal: Removal) -> str:
    kinds = (("protocols", removal.protocols), ("methods", removal.methods))
    parts = [f"the {kind} {listed(names, most=30)}" for kind, names in kinds if names]
    return " and ".join(parts) or "nothing"
