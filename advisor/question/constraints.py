"""Constraints: what takes protocols and methods off the menu before anything is ranked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeVar

import numpy as np

from advisor.errors import InputError, listed
from advisor.question.request import Removal, Request
from advisor.question.settings import Limits
from knowledge.deployments import DEPLOYED
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods import possible
from simulator.poisoning import SMALLEST_SET
from simulator.protocols.protocol import Protocol
from simulator.seeding import rng_for

R = TypeVar("R", bound=Request)


def constrained(request: R, limits: Limits) -> R:
    """Return the request with nothing on its menu that a constraint excludes, and with what each one removed."""
    if limits == Limits():
        return request
    oracles = {name: request.oracle(name) for name in request.protocols}
    methods = {name: POSTPROCESSORS[name] for name in request.methods}
    removals = _removed(limits, oracles, request.n, lambda protocol: request.attack_success(protocol.key))
    if limits.proper:
        removals.append(Removal("proper", None, (), tuple(key for key, one in methods.items() if not one.is_proper)))
    if limits.unbiased:
        biased = tuple(key for key, one in methods.items() if "unbiased" not in one.gives)
        removals.append(Removal("unbiased", None, (), biased))
    gone = {name for removal in removals for name in (*removal.protocols, *removal.methods)}
    return replace(
        request,
        protocols=tuple(name for name in request.protocols if name not in gone),
        methods=tuple(name for name in request.methods if name not in gone),
        removals=tuple(removals),
    )


def allowed(protocols: tuple[str, ...], limits: Limits, k: int, epsilon: float, n: int) -> tuple[str, ...]:
    """Return the protocols that no constraint excludes where all values are equally likely; all if each excludes."""
    if limits == Limits():
        return protocols
    oracles = {name: PROTOCOLS[name](k, epsilon) for name in protocols}
    removals = _removed(limits, oracles, n, lambda protocol: protocol.attack_success)
    gone = {name for removal in removals for name in removal.protocols}
    return tuple(name for name in protocols if name not in gone) or protocols


def _removed(
    limits: Limits, oracles: Mapping[str, Protocol], n: int, attack_success: Callable[[Protocol], float]
) -> list[Removal]:
    """Return what each constraint on protocols removes."""
    bounds: tuple[tuple[str, float | None, Callable[[Protocol], float]], ...] = (
        ("max-bits", limits.max_bits, lambda protocol: protocol.report_bits),
        ("max-attack", limits.max_attack, attack_success),
        ("server-cost", limits.server_cost, lambda protocol: protocol.server_operations(n)),
    )
    removals = [_above(name, bound, oracles, cost) for name, bound, cost in bounds if bound is not None]
    if limits.deployable:
        removals.append(Removal("deployable", None, tuple(name for name in oracles if name not in DEPLOYED), ()))
    return removals


def _above(name: str, bound: float, protocols: Mapping[str, Protocol], cost: Callable[[Protocol], float]) -> Removal:
    """Return the removal of the protocols that cost more than the bound."""
    costs = {key: cost(protocol) for key, protocol in protocols.items()}
    removed = tuple(key for key in costs if costs[key] > bound)
    least = math.ceil(1000 * min(costs.values())) / 1000 if costs and len(removed) == len(costs) else None
    return Removal(name, bound, removed, (), least)


def fitting_pairs(request: Request, protocols: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of these protocols with the methods of a request that go together."""
    return [
        (protocol, method)
        for protocol, method in product(protocols, request.methods)
        if possible(POSTPROCESSORS[method], request.oracle(protocol), request.domain, request.n)
    ]


def bounded(request: Request) -> Request:
    """Return the request without protocols of which one fake report may claim anything, where fakes are feared.

    Raises InputError if no other is left, or what was collected is of such a protocol.
    """
    if request.threat is None:
        return request
    rng, targets = rng_for(request.seed, "poisoning", "bound"), np.array(request.promoted)
    used = () if request.collected is None else (request.collected.protocol,)
    unbounded = tuple(
        name
        for name in dict.fromkeys((*used, *request.protocols))
        if request.oracle(name).crafted(targets, 1, rng) is None
    )
    kept = tuple(name for name in request.protocols if name not in unbounded)
    if any(name in unbounded for name in used) or (request.protocols and not kept):
        raise InputError(
            f"threat needs a protocol that bounds what one report may claim, and {listed(unbounded)} does not: ask "
            "for others with --protocol, or without a threat"
        )
    removals = (*request.removals, Removal("threat", request.threat, unbounded, ())) if unbounded else request.removals
    # A report that supports a single value is never conspicuous.
    alone = len(targets) < SMALLEST_SET
    methods = tuple(name for name in request.methods if not (alone and "suspects" in POSTPROCESSORS[name].needs))
    return replace(request, protocols=kept, methods=methods, removals=removals)


def nothing_left(request: Request) -> bool:
    """Return whether the constraints of a request leave no pair to rank."""
    used = request.protocols if request.collected is None else (request.collected.protocol,)
    return bool(request.removals) and not fitting_pairs(request, used)
