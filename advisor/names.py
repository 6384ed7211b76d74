"""Names as people write them: any case, hyphens or underscores, and the papers' own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from advisor.checks import shown
from advisor.errors import InputError, LeftOutError, closest, listed
from advisor.members import FORM, file_hint, member_of_file
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.foreign import REFUSED

TABLES: dict[str, Mapping[str, Any]] = {"protocol": PROTOCOLS, "method": POSTPROCESSORS, "metric": METRICS}

ALIASES: dict[str, dict[str, str]] = {
    "protocol": {
        "krr": "grr",
        "rr": "grr",
        "flat": "grr",
        "de": "grr",
        "sue": "rappor",
        "basicrappor": "rappor",
        "subset": "ss",
        "subsetselection": "ss",
    },
    "method": {
        "base": "none",
        "raw": "none",
        "nopp": "none",
        "cls": "norm_sub",
        "simplex": "norm_sub",
        "pos": "base_pos",
        "mle": "mle_apx",
    },
    "metric": {
        "meanabsoluteerror": "mae",
        "wasserstein": "emd",
        "earthmover": "emd",
        "jensenshannon": "js",
        "kld": "kl",
        "top": "topk",
        "average": "mean",
        "meanerror": "mean",
        "quantile": "quantiles",
        "decile": "quantiles",
        "deciles": "quantiles",
        "median": "quantiles",
        "percentile": "quantiles",
        "percentiles": "quantiles",
        "kolmogorov": "ks",
        "kolmogorovsmirnov": "ks",
    },
}


def squash(name: str) -> str:
    """Return a name without case, hyphens, underscores and blanks.

    >>> squash("Power-NS"), squash("norm_sub")
    ('powerns', 'normsub')
    """
    return "".join(character for character in name.lower() if character.isalnum())


def resolve(kind: str, name: str) -> str:
    """Return the table key of a protocol, method or metric that a person named, or that stands in a file of theirs.

    Raises InputError if nothing in the table is called so.

    >>> resolve("method", "PowerNS"), resolve("protocol", "SUE"), resolve("method", "CLS")
    ('power_ns', 'rappor', 'norm_sub')
    """
    if FORM in name:
        return member_of_file(kind, name)
    table = TABLES[kind]
    # A member's own name goes first: one of another package may be called as we call ours for short.
    known = ALIASES[kind] | {squash(key): key for key in table}
    found = known.get(squash(name))
    if found is None:
        if refusal := _refusal(kind, name):
            raise LeftOutError(refusal)
        if hint := file_hint(kind, name):
            raise InputError(hint)
        wanted = squash(name)
        titled = {squash(member.title): key for key, member in table.items()} | known
        begins = (one for one in (*known, *titled) if len(wanted) > 1 and one.startswith(wanted))
        close = next(begins, None) or closest(wanted, titled)
        miss = f"; did you mean {titled[close]!r}?" if close else ""
        raise InputError(f"unknown {kind} {shown(name)}: allowed are {listed(table, most=20)}{miss}")
    return found


def _refusal(kind: str, name: str) -> str | None:
    """Return why a member of another package that is called so was left out; None if there is none."""
    table = {"protocol": "PROTOCOLS", "method": "POSTPROCESSORS", "metric": "METRICS"}[kind]
    return next((why for (place, key), why in REFUSED.items() if place == table and squash(key) == squash(name)), None)


def resolve_all(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the table keys of several names, each once, in table order; all of the table if there are none."""
    wanted = {resolve(kind, name) for name in names}
    return tuple(key for key in TABLES[kind] if key in wanted or not wanted)
