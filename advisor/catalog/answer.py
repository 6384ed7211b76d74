"""``list`` and ``explain``: what is on the menu, and what is known of one member."""

from __future__ import annotations

import functools
import inspect
import json
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.errors import InputError, closest, listed
from advisor.formats import envelope
from advisor.names import TABLES, resolve, squash
from knowledge.cards import CARDS, Card
from knowledge.recipes import numpy_recipe, package_recipe
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.protocols import FrequencyOracle

NOTATION = "e: raw estimate of a frequency; s: its noise sd at frequency 0; k: categories; n: users"


# Widest a column may get: a list that is piped has no edge of its own.
WIDTHS = {"title": 27, "promises": 25, "unit": 14, "cost": 24, "reference": 22}


def menu() -> dict[str, list[dict[str, Any]]]:
    """Return all members of the three tables as plain values."""
    return {
        "protocols": [
            {
                "name": key,
                "title": getattr(oracle, "title", key),
                "sums_to_one": oracle.sums_to_one,
                "promises": _short_promises(oracle),
                "cost": _cost(key),
                "reference": getattr(oracle, "reference", ""),
            }
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
                "promises": _short_promises(method),
                "cost": _cost(key),
                "reference": method.reference,
            }
            for key, method in POSTPROCESSORS.items()
        ],
        "metrics": [
            {
                "name": key,
                "title": metric.title,
                "unit": metric.unit,
                "ordered_only": metric.ordered_only,
                "promises": _short_promises(metric),
                "cost": _cost(key),
            }
            for key, metric in METRICS.items()
        ],
    }


def _cost(key: str) -> str:
    return CARDS[key].cost if key in CARDS else ""


def _short_promises(member: Any) -> list[str]:
    """Return what a member keeps and needs, in the words of the list."""
    if _is_protocol(member):
        return ["raw sums to 1"] if member.sums_to_one else []
    words = {"nonnegative": "≥ 0", "sums_to_one": "sums to 1", "queries_only": "queries only"}
    kept = [text for field, text in words.items() if getattr(member, field, False)]
    some = ["some protocols"] if getattr(member, "fits", None) is not None else []
    return [*kept, "ordered only" if member.ordered_only else "any order", *some]


def _is_protocol(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, FrequencyOracle)


def menu_json() -> str:
    """Return the menu as one JSON object."""
    return json.dumps(envelope() | menu(), indent=2, ensure_ascii=False)


def print_menu(console: Console) -> None:
    """Print the three tables."""
    for kind, members in menu().items():
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=kind, title_justify="left", title_style="bold")
        fields = [field for field, value in members[0].items() if not isinstance(value, bool)]
        for field in fields:
            table.add_column(field, no_wrap=field == "name", max_width=WIDTHS.get(field))
        for member in members:
            table.add_row(*(Text(_cell(member[field])) for field in fields))
        console.print(table)
    console.print(Text("ldp-advise explain NAME tells more of any of them.", style="dim"))


def _cell(value: str | list[str]) -> str:
    return ", ".join(value) if isinstance(value, list) else value


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
        member = table[key]
        card = CARDS.get(key, Card("", "", "", ""))  # members of other packages come without one
        return {
            "name": key,
            "kind": kind,
            "title": getattr(member, "title", key),
            "description": "" if key in CARDS else _docstring(member),
            "formula": card.formula,
            "good_for": card.good_for,
            "pitfalls": card.pitfalls,
            "promises": _promises(member),
            "cost": card.cost,
            "reference": getattr(member, "reference", ""),
            "python": package_recipe(kind, key),
            "python_numpy": numpy_recipe(key) if key in CARDS else None,
        }
    every = [key for table in TABLES.values() for key in table]
    known = {squash(key): key for key in every}
    close = closest(squash(name), known)
    miss = f"; did you mean {known[close]!r}?" if close else ""
    raise InputError(f"nothing is called {name!r}: known are {listed(every, most=40)}{miss}")


def _docstring(member: Any) -> str:
    """Return what the author of a member wrote of it: of the class, or of the function that it wraps."""
    if isinstance(member, type):
        own = member.__dict__.get("__doc__") or ""
        # A dataclass without a docstring is given its signature as one.
        return "" if own.startswith(f"{member.__name__}(") else inspect.cleandoc(own)
    function = member.function
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.getdoc(function) or ""


def _promises(member: Any) -> list[str]:
    if _is_protocol(member):
        return ["raw estimates sum to exactly 1"] if member.sums_to_one else ["raw estimates sum to 1 on average only"]
    words = {
        "nonnegative": "never negative",
        "sums_to_one": "sums to 1",
        "ordered_only": "ordered domains only",
        "queries_only": "changes the answers of set and range queries only",
        "keeps_order": "a larger estimate never becomes the smaller one",
        "fits": "for some protocols only",
    }
    return [text for field, text in words.items() if getattr(member, field, None)]


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
        ("Description", "description"),
        ("Formula", "formula"),
        ("Good for", "good_for"),
        ("Look out", "pitfalls"),
        ("Promises", "promises"),
        ("Cost", "cost"),
        ("Source", "reference"),
    ):
        text = "; ".join(known[field]) if isinstance(known[field], list) else known[field]
        if text:
            console.print(Text.assemble((f"{label}: ", "cyan"), text))
    for label, field in (("With this package", "python"), ("With numpy alone", "python_numpy")):
        if known[field]:
            console.print(Text(f"\n{label}:\n", style="cyan"))
            console.out(known[field], highlight=False, end="")  # as it is: no markup, no folding, fit to be copied
