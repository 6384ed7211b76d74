"""Constraints on places: what takes mechanisms and methods off the menu before anything is ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from advisor.errors import InputError, listed
from advisor.places.menu import Mechanism, mechanisms
from advisor.places.request import PlacesRequest
from advisor.question.constraints import Removal
from simulator import POSTPROCESSORS

PROPER = {name for name, method in POSTPROCESSORS.items() if method.nonnegative and method.sums_to_one}
UNBIASED = {name for name, method in POSTPROCESSORS.items() if method.unbiased}


def competitors(request: PlacesRequest) -> tuple[PlacesRequest, tuple[Mechanism, ...]]:
    """Return the request with what each constraint removed, and what competes.

    Raises
    ------
    InputError
        If a channel leaks more than is promised, or nothing is left.
    """
    asked = request.constraints
    removals = [
        Removal(name, None, (), tuple(method for method in request.methods if method not in keeping))
        for name, given, keeping in (("proper", asked.proper, PROPER), ("unbiased", asked.unbiased, UNBIASED))
        if given
    ]
    gone = {method for removal in removals for method in removal.methods}
    request = replace(request, methods=tuple(method for method in request.methods if method not in gone))
    members, warnings = mechanisms(request)
    for name, bound, cost in (
        ("max-bits", asked.max_bits, {member.key: float(member.report_bits) for member in members}),
        ("max-attack", asked.max_attack, {member.key: member.attack_success for member in members}),
    ):
        if bound is not None:
            removals.append(Removal(name, bound, tuple(key for key, value in cost.items() if value > bound), ()))
    out = {protocol for removal in removals for protocol in removal.protocols}
    left = tuple(member for member in members if member.key not in out)
    if not any(member.methods for member in left):
        why = " ".join(removal_sentences(removals)) or "no method here goes with these protocols."
        raise InputError(f"nothing is left to rank: {why}")
    return replace(request, warnings=(*request.warnings, *warnings), removals=tuple(removals)), left


def removal_sentences(removals: Sequence[Removal]) -> list[str]:
    """Return what each constraint removed.

    >>> removal_sentences([Removal("max-bits", 9, ("oue", "rappor"), ())])
    ['Constraint --max-bits 9 removed the protocols oue, rappor.']
    """
    return [
        f"Constraint --{one.constraint}{'' if one.bound is None else f' {one.bound:.10g}'} removed "
        + (f"the protocols {listed(one.protocols, 30)}." if one.protocols else "")
        + (f"the methods {listed(one.methods, 30)}." if one.methods else "")
        + ("" if one.protocols or one.methods else "nothing.")
        for one in removals
    ]
