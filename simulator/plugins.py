"""Members from other packages: entry points, looked up once, checked, and put into the three tables.

A package offers a member under a key in an entry-point group: ``ldp_advise.protocols`` (a `FrequencyOracle` subclass),
``ldp_advise.postprocessors`` (a `PostProcessor`), ``ldp_advise.metrics`` (a `Metric`). Invalid members are skipped with
a `PluginWarning`; the other members and the tool still work.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from simulator.foreign import REFUSED, ForeignError, PluginWarning, containment, guard, register, short, warn
from simulator.methods import POSTPROCESSORS, PostProcessor
from simulator.methods.processor import SUMMARIES
from simulator.metrics import METRICS, Metric
from simulator.protocols import PROTOCOLS, FrequencyOracle

TABLES: dict[str, dict[str, Any]] = {"PROTOCOLS": PROTOCOLS, "POSTPROCESSORS": POSTPROCESSORS, "METRICS": METRICS}


def _summaries() -> dict[str, PostProcessor]:
    from simulator.surrogate import METHODS  # imported when used: they need the other methods

    return METHODS


POSTPROCESSORS.summaries = _summaries
__all__ = ["PluginWarning", "load", "take_in"]

GROUPS = {f"ldp_advise.{table.lower()}": table for table in TABLES}
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
RESERVED = frozenset({"all", *SUMMARIES})  # "all": a user's word for all members
TRIED = (4, 1.0)  # domain size and epsilon at which a protocol is tried before registration


_settled: set[EntryPoint] = set()


def load() -> tuple[dict[str, dict[str, Any]], bool]:
    """Put the members of all installed packages into the tables; repeated calls do only the remaining work.

    Returns the tables by name, and whether all work is done: a package that is being imported right now is skipped
    without a warning, because its members do not exist yet. Warns PluginWarning for each skipped member.
    """
    found = entry_points()
    # Directories list their files in any order; tables, and the order of two members with the same name, must not
    # depend on that.
    entries = [entry for group in GROUPS for entry in sorted(found.select(group=group), key=_place)]
    with containment():
        complete, left_out = take_in(entries, TABLES, _settled)
    for line in left_out:  # last, so that a filter that makes errors of warnings finds the work done
        warn(line)
    return TABLES, complete


def take_in(
    entries: Iterable[EntryPoint], tables: dict[str, dict[str, Any]], settled: set[EntryPoint]
) -> tuple[bool, list[str]]:
    """Load entry points into the tables.

    entries: entry points of the three groups, in the order of their rights to a name.
    tables: the tables by name; changed in place.
    settled: entry points that were dealt with before, and need not be again; changed in place.

    Returns whether all entry points are settled, and a line for each skipped entry point.
    """
    complete, left_out = True, []
    for entry in entries:
        if entry in settled:
            continue
        if _being_imported(entry.value.partition(":")[0].strip()):
            complete = False
            continue
        try:
            member = _member(entry, tables)
        except ForeignError as refusal:
            left_out.append(f"{_source(entry)} is left out: {refusal}")
            REFUSED[GROUPS[entry.group], entry.name] = left_out[-1]
        else:
            tables[GROUPS[entry.group]][entry.name] = member
            register(entry.name, _source(entry), entry.value.partition(":")[0].strip())
        settled.add(entry)
    return complete, left_out


def _place(entry: EntryPoint) -> tuple[str, str, str]:
    return (entry.dist.name if entry.dist else "", entry.name, entry.value)


def _source(entry: EntryPoint) -> str:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "a package without a name"
    return short(f"{package}: entry point {entry.name!r} of {entry.group}")


def _being_imported(module: str) -> bool:
    """Whether a module, or a package that contains it, is being imported."""
    parts = module.split(".")
    parents = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    specs = (getattr(sys.modules.get(name), "__spec__", None) for name in parents)
    # The attribute belongs to CPython. Where it is missing, such a package is loaded too early and warned about.
    return any(getattr(spec, "_initializing", False) for spec in specs)


def _member(entry: EntryPoint, tables: dict[str, dict[str, Any]]) -> Any:
    """Import a member and check that it may enter its table."""
    check_name(entry.name, (name for table in tables.values() for name in table))
    member, table_name = guard(entry.load), GROUPS[entry.group]
    missing = guard(lambda: _missing(member, table_name))
    if missing is not None:
        abstract = "an abstract class" if inspect.isabstract(member) else "a class"
        what = abstract if isinstance(member, type) else f"a {type(member).__name__}"
        raise ForeignError(f"{entry.value} is {what}, not {missing}")
    for field in ("title", "reference", "unit"):
        if not str(getattr(member, field, "")).isprintable():
            raise ForeignError(f"its {field} has characters that cannot be printed")
    name = member.key if table_name == "PROTOCOLS" else member.name
    if name != entry.name:
        raise ForeignError(f"{entry.value} calls itself {name!r}, and the entry point must be called the same")
    return member


def check_name(name: object, taken: Iterable[str]) -> str:
    """Return the name of a member; raises ForeignError if it is none, or taken."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or name in RESERVED:
        raise ForeignError(
            "its name must be lower-case words joined by underscores, begin with a letter, and be none of "
            f"{', '.join(sorted(RESERVED))}, got {name!r}"
        )
    for other in taken:
        if other.replace("_", "") == name.replace("_", ""):  # people write names without the underscores
            raise ForeignError(f"the name {name} is taken by {other!r}: rename it")
    return name


def _missing(member: Any, table: str) -> str | None:
    """Return which requirement a member does not meet."""
    if table == "POSTPROCESSORS":
        return None if isinstance(member, PostProcessor) else "a PostProcessor"
    if table == "METRICS":
        return None if isinstance(member, Metric) else "a Metric"
    if not (isinstance(member, type) and issubclass(member, FrequencyOracle)) or inspect.isabstract(member):
        return "a subclass of FrequencyOracle that defines all it leaves open"
    if not all(isinstance(getattr(member, field, None), str) for field in ("key", "title", "reference")):
        return "one with the texts key, title and reference"
    tried = member(*TRIED)  # called for each protocol before simulation
    figures = (tried.report_bits, tried.attack_success, tried.noise(10).variance_at_zero, tried.server_operations(10))
    if not all(np.isfinite(figures)):
        return f"one whose report_bits, attack_success and noise are numbers, got {figures}"
    return None
