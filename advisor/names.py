"""Names as people write them: any case, hyphens or underscores, and the papers' own names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.checks import shown
from advisor.errors import InputError, LeftOutError, closest, listed, near_miss
from advisor.members import FORM, SUFFIX, defined_in, file_hint, file_of, member_of_file
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.foreign import REFUSED, REGISTERED
from simulator.methods.summaries import SUMMARIES

TABLES: dict[str, Mapping[str, Any]] = {"protocol": PROTOCOLS, "method": POSTPROCESSORS, "metric": METRICS}


def squash(name: str) -> str:
    """Return a name without case, hyphens, underscores and blanks.

    >>> squash("Power-NS"), squash("norm_sub")
    ('powerns', 'normsub')
    """
    return "".join(character for character in name.lower() if character.isalnum())


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
        **{squash(name): name for name in SUMMARIES},
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


def beside_files(kind: str, values: Iterable[object]) -> Iterator[object]:
    """Yield names of members, those behind one of a file that stand in that file too with its name before them.

    A published name stays what it is. Each value has to be read before the next one is asked for: reading it loads its
    file.

    Raises InputError if a name is short for a published member and stands in the file, or is in neither.
    """
    file = ""
    for value in values:
        if isinstance(value, str) and FORM in value:
            file = file_of(value)
        yield _in_file(kind, value, file) if file and isinstance(value, str) else value


def _in_file(kind: str, name: str, file: str) -> str:
    if FORM in name or name.endswith(SUFFIX) or name in TABLES[kind].keys() - REGISTERED.keys():
        return name
    there = defined_in(file)
    published = ALIASES[kind] | {squash(key): key for key in TABLES[kind] if key not in REGISTERED}
    short_for = published.get(squash(name))
    if name in there:
        if short_for is not None:
            raise InputError(
                f"{kind} {shown(name)} can be {short_for}, which is called so for short, or that of {file}: write "
                f"{short_for} or {file}:{name}"
            )
        return f"{file}:{name}"
    try:
        if squash(name) != "all":  # the whole menu
            resolve(kind, name)
    except LeftOutError:
        raise
    except InputError as error:
        miss = near_miss(name, there)
        unknown = f"unknown {kind} {shown(name)}: {file} has none, and none is published{miss}"
        raise InputError(unknown if miss else f"{error}; nor is it in {file}, which has {listed(there)}") from None
    return name


def _refusal(kind: str, name: str) -> str | None:
    """Return why a member of another package that is called so was left out; None if there is none."""
    table = {"protocol": "PROTOCOLS", "method": "POSTPROCESSORS", "metric": "METRICS"}[kind]
    return next((why for (place, key), why in REFUSED.items() if place == table and squash(key) == squash(name)), None)


def resolve_all(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the table keys of several names, each once, in table order; all of the table if there are none.

    Summaries, which no table lists, come last.
    """
    wanted = dict.fromkeys(resolve(kind, name) for name in names)
    listed_there = tuple(key for key in TABLES[kind] if key in wanted or not wanted)
    return *listed_there, *(key for key in wanted if key not in TABLES[kind])
