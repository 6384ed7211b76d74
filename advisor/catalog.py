"""``list`` and ``explain``: what is on the menu, and what is known of one member."""

from __future__ import annotations

import json
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.errors import InputError, closest, listed
from advisor.formats import envelope
from advisor.naming import TABLES, resolve, squash
from knowledge.cards import CARDS
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.protocols import FrequencyOracle

NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"


def menu() -> dict[str, list[dict[str, Any]]]:
    """Return all members of the three tables as plain values."""
    return {
        "protocols": [
            {"name": key, "title": oracle.title, "sums_to_one": oracle.sums_to_one, "reference": oracle.reference}
            for key, oracle in PROTOCOLS.items()
        ],
        "methods": [
            {
                "name": key,
                "title": method.title,
                "nonnegative": method.nonnegative,
                "sums_to_one": method.sums_to_one,
                "ordered_only": method.ordered_only,
                "queries_only": method.queries_only,
                "reference": method.reference,
            }
            for key, method in POSTPROCESSORS.items()
        ],
        "metrics": [
            {"name": key, "title": metric.title, "unit": metric.unit, "ordered_only": metric.ordered_only}
            for key, metric in METRICS.items()
        ],
    }


def menu_json() -> str:
    """Return the menu as one JSON object."""
    return json.dumps(envelope() | menu(), indent=2, ensure_ascii=False)


def print_menu(console: Console) -> None:
    """Print the three tables."""
    for kind, members in menu().items():
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=kind, title_justify="left", title_style="bold")
        for field in members[0]:
            table.add_column(field.replace("_", " "), no_wrap=field == "name")
        for member in members:
            table.add_row(*(Text("yes" if v is True else "" if v is False else v) for v in member.values()))
        console.print(table)
    console.print(Text("ldp-advise explain NAME tells more of any of them.", style="dim"))


def explanation(name: str) -> dict[str, Any]:
    """Return what is known of one member, as plain values.

    Raises
    ------
    InputError
        If no protocol, method or metric is called so.
    """
    for kind, table in TABLES.items():
        try:
            key = resolve(kind, name)
        except InputError:
            continue
        card, member = CARDS[key], table[key]
        return {
            "name": key,
            "kind": kind,
            "title": member.title,
            "formula": card.formula,
            "good_for": card.good_for,
            "pitfalls": card.pitfalls,
            "promises": _promises(member),
            "reference": getattr(member, "reference", ""),
        }
    every = [key for table in TABLES.values() for key in table]
    known = {squash(key): key for key in every}
    close = closest(squash(name), known)
    miss = f"; did you mean {known[close]!r}?" if close else ""
    raise InputError(f"nothing is called {name!r}: known are {listed(every, most=40)}{miss}")


def _promises(member: Any) -> list[str]:
    if isinstance(member, type) and issubclass(member, FrequencyOracle):
        return ["raw estimates sum to exactly 1"] if member.sums_to_one else ["raw estimates sum to 1 on average only"]
    words = {
        "nonnegative": "never negative",
        "sums_to_one": "sums to 1",
        "ordered_only": "ordered domains only",
        "queries_only": "changes the answers of set and range queries only",
    }
    return [text for field, text in words.items() if getattr(member, field, False)]


def explain_json(name: str) -> str:
    """Return what is known of one member as one JSON object."""
    return json.dumps(envelope() | explanation(name), indent=2, ensure_ascii=False)


def print_explanation(name: str, console: Console) -> None:
    """Print what is known of one member."""
    known = explanation(name)
    console.print(Text(f"{known['name']}: {known['title']} ({known['kind']})", style="bold"))
    if known["kind"] == "method":
        console.print(Text(NOTATION, style="dim"))
    for label, field in (
        ("Formula", "formula"),
        ("Good for", "good_for"),
        ("Look out", "pitfalls"),
        ("Promises", "promises"),
        ("Source", "reference"),
    ):
        text = "; ".join(known[field]) if isinstance(known[field], list) else known[field]
        if text:
            console.print(Text.assemble((f"{label}: ", "cyan"), text))
