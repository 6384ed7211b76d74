"""``list``: the members on the menu."""

from __future__ import annotations

from itertools import starmap

from advisor.members.names import TABLES
from knowledge.cards import cards
from simulator import Metric, PostProcessor
from simulator.methods.processor import OF_DOMAIN
from simulator.protocols import StandardProtocol

Entry = dict[str, str | bool | tuple[str, ...]]
Member = type[StandardProtocol] | PostProcessor | Metric


def catalog() -> dict[str, tuple[Entry, ...]]:
    """Return all members of the tables of protocols, methods and metrics, including those of other packages."""
    return {f"{kind}s": tuple(starmap(_entry, table.items())) for kind, table in TABLES.items()}


def _entry(key: str, member: Member) -> Entry:
    entry: Entry = {"name": key, "title": title_of(key, member)}
    if isinstance(member, Metric):
        entry["unit"] = member.unit
    elif isinstance(member, PostProcessor):
        entry |= {"nonnegative": member.nonnegative, "sums_to_one": member.sums_to_one}
    else:
        entry["sums_to_one"] = member.sums_to_one
    entry["ordered_only"] = _ordered_only(member)
    if isinstance(member, PostProcessor):
        entry["queries_only"] = member.queries_only
    entry |= {"promises": promises_of(member), "cost": cards()[key].cost if key in cards() else ""}
    return entry if isinstance(member, Metric) else entry | {"reference": reference_of(member)}


def title_of(key: str, member: Member) -> str:
    """Return the full name of a member, or its key."""
    return getattr(member, "title", key)  # protocols of other packages need none


def reference_of(member: Member) -> str:
    """Return the publication of a member, or ""."""
    return getattr(member, "reference", "")  # metrics and protocols of other packages need none


def _some_protocols(method: PostProcessor) -> bool:
    """Return whether a method is only for the reports of some protocols."""
    return method.fits is not None or not method.needs <= {"estimate", "iid", "haar", *OF_DOMAIN}


def _ordered_only(member: Member) -> bool:
    return member.uses_order if isinstance(member, PostProcessor) else member.ordered_only


def has_estimate(protocol: type[StandardProtocol]) -> bool:
    """Return whether there is an unbiased estimate."""
    return protocol(k=8, epsilon=1.0).offers("estimate")


def promises_of(member: Member) -> tuple[str, ...]:
    """Return the guarantees and requirements of a member, in a word or two each."""
    words = {"ordered only" if _ordered_only(member) else "any order": True}
    if isinstance(member, type):
        words |= {
            "raw sums to 1": member.sums_to_one,
            "no raw estimate": not has_estimate(member),
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
