"""Names of members: as users write them (any case, hyphens, underscores, names from papers), and in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from advisor.checks import shown
from advisor.errors import InputError, LeftOutError, closest, listed, near_miss
from advisor.members import FORM, SUFFIX, defined_in, file_hint, file_of, member_in_file, member_of_file
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.channels import PLANAR
from simulator.foreign import REFUSED, REGISTERED, SOURCES
from simulator.methods.processor import SUMMARIES, parameters_of, with_parameters

EPONYMS = ("Haar", "Hadamard")  # words that keep their capital
UNPROCESSED = "none"

TABLES: dict[str, Mapping[str, Any]] = {"protocol": PROTOCOLS, "method": POSTPROCESSORS, "metric": METRICS}


def squash(name: str) -> str:
    """Return a name without case, hyphens, underscores and blanks.

    >>> squash("Power-NS"), squash("norm_sub")
    ('powerns', 'normsub')
    """
    return "".join(character for character in name.lower() if character.isalnum())


ELSEWHERE = {squash(key): f"{key} is for places: ldp-advise places ranks it" for key in PLANAR}
ELSEWHERE["dbitflip"] = (
    "dbitflip is for devices that remember: ldp-advise rounds always ranks it, or audit --memoize --device-bits 1"
)
ALIASES: dict[str, dict[str, str]] = {
    kind: {alias: key for key, member in table.items() for alias in member.aliases} for kind, table in TABLES.items()
}
ALIASES["method"] |= {squash(name): name for name in SUMMARIES}


def keys_by_name(kind: str) -> dict[str, str]:
    """Return the table keys of protocols, methods or metrics by their squashed names and short forms."""
    # Full names win: a member of another package may have a name that is a short form of ours.
    return ALIASES[kind] | {squash(key): key for key in TABLES[kind]}


def mechanism(name: str) -> str | None:
    """Return the key of a mechanism for places, as users write it; None if no mechanism has this name.

    >>> mechanism("Planar-Laplace"), mechanism("grr")
    ('planar_laplace', None)
    """
    return {squash(key): key for key in PLANAR}.get(squash(name))


def resolve(kind: str, name: str) -> str:
    """Return the table key of a protocol, method or metric, by its name or from the user's file.

    Raises InputError for a name that is not in the table, or a parameter that a method has not.

    >>> resolve("method", "PowerNS"), resolve("protocol", "SUE"), resolve("method", "CLS")
    ('power_ns', 'rappor', 'norm_sub')
    >>> resolve("method", "Base-Cut:alpha=.05"), resolve("method", "base_cut:alpha=2")
    ('base_cut:alpha=0.05', 'base_cut')
    """
    base, *settings = re.split(r":(?=[^:=]*=)", name)
    if kind == "method" and settings:
        key = resolve(kind, base)
        try:
            name = with_parameters(POSTPROCESSORS[key], ":".join(settings)).name
        except ValueError as error:
            have = listed(other for other, method in POSTPROCESSORS.items() if parameters_of(method))
            raise InputError(f"{error}; methods with parameters are {have}") from None
        SOURCES.update({name: SOURCES[key]} if key in SOURCES else {})  # a member of another package is guarded
        return name
    if FORM in name:
        return member_of_file(kind, name)
    table = TABLES[kind]
    known = keys_by_name(kind)
    found = known.get(squash(name))
    if found is None:
        if refusal := _refusal(kind, name):
            raise LeftOutError(refusal)
        if hint := file_hint(kind, name) or ELSEWHERE.get(squash(name)):
            raise InputError(hint)
        wanted = squash(name)
        if other := next((one for one in TABLES if wanted in keys_by_name(one)), None):
            raise InputError(f"unknown {kind} {shown(name)}: it is a {other}, give --{other} {name}")
        titled = known | {squash(member.title): key for key, member in table.items()} | known
        raise InputError(f"unknown {kind} {shown(name)}; {suggestion(name, titled, f'list {kind}s')}")
    return found


def suggestion(name: str, keys: Mapping[str, str], listing: str = "list") -> str:
    """Return the question for the one or two keys of the nearest names, or else the command that lists all."""
    wanted = squash(name)
    begins = [wanted] if wanted in keys else [one for one in keys if len(wanted) > 1 and one.startswith(wanted)]
    close = dict.fromkeys(repr(keys[one]) for one in begins or closest(wanted, keys))
    return f"did you mean {' or '.join([*close][:2])}?" if close else f"ldp-advise {listing} names them"


def beside_files(kind: str, values: Iterable[object]) -> Iterator[object]:
    """Yield names of members; a name after a member of a file gets this file as prefix if the file defines it.

    A published name stays unchanged. The caller must read each value before requesting the next: reading loads its
    file.

    Raises InputError if a name is both a short form of a published member and in the file, or if it is in neither.
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
    """Return why a member of another package with this name was left out; None if there is no such member."""
    table = {"protocol": "PROTOCOLS", "method": "POSTPROCESSORS", "metric": "METRICS"}[kind]
    return next((why for (place, key), why in REFUSED.items() if place == table and squash(key) == squash(name)), None)


def resolve_all(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the table keys of several names, each once, in table order; all of the table if there are none.

    Summaries, which no table lists, come last.
    """
    wanted = dict.fromkeys(resolve(kind, name) for name in names)
    listed_there = tuple(key for key in TABLES[kind] if key in wanted or not wanted)
    return *listed_there, *(key for key in wanted if key not in TABLES[kind])


def protocol_text(key: str) -> str:
    """Return the name of a protocol.

    >>> protocol_text("pgr"), protocol_text("tree")
    ('PGR', 'tree')
    """
    return key.upper() if getattr(PROTOCOLS.get(key), "acronym", False) else key


def protocol_in_full(key: str, beside: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return the name of a protocol with its full name; `beside` the table there may be others.

    >>> protocol_in_full("the"), protocol_in_full("grr")
    ('THE (thresholding with histogram encoding)', 'GRR (generalised randomised response, k-RR)')
    """
    title = getattr(beside.get(key) or PROTOCOLS[key], "title", key)
    return f"{protocol_text(key)} ({title_inside(str(title))})"


def title_inside(title: str) -> str:
    """Return the title of a protocol for use inside a sentence and inside brackets.

    >>> title_inside("Generalised randomised response (k-RR)"), title_inside("Hadamard"), title_inside("RAPPOR")
    ('generalised randomised response, k-RR', 'Hadamard', 'RAPPOR')
    """
    title = title.replace(" (", ", ").replace(")", "")
    first = title.partition(" ")[0]
    keeps = title.startswith(EPONYMS) or not first[1:].islower()  # an abbreviation
    return title if keeps else title[:1].lower() + title[1:]


def method_text(key: str) -> str:
    """Return post-processing by a method in words.

    >>> method_text("eb_ns"), method_text("none"), method_text("posterior_mean")
    ('Empirical Bayes post-processing', 'no post-processing', 'the posterior mean')
    """
    if key in SUMMARIES:
        return f"the {method_name(key).lower()}"
    return "no post-processing" if key == UNPROCESSED else f"{method_name(key)} post-processing"


def pair_text(protocol: str, method: str) -> str:
    """Return a pair in a few words.

    >>> pair_text("oue", "power_ns"), pair_text("oue", "none")
    ('OUE with PowerNS', 'OUE with no post-processing')
    """
    return f"{protocol_text(protocol)} with {method_text(method) if method == UNPROCESSED else method_name(method)}"


def method_name(key: str, title: str | None = None) -> str:
    """Return the name of a method; `title` is the name of a method that is not in the table.

    >>> method_name("norm_sub"), method_name("em_stopped"), method_name("not_here")
    ('Norm-Sub', 'Stopped EM', 'not_here')
    >>> method_name("posterior_median")
    'Posterior median'
    """
    if key.partition(":")[0] in (*POSTPROCESSORS, *SUMMARIES):
        title = POSTPROCESSORS[key].short or title or POSTPROCESSORS[key].title
    return (title or key).partition(" (")[0]


def member_named(name: str, kinds: Iterable[str]) -> tuple[str, str] | None:
    """Return the kind and the key of a member by its name; None if no member of these kinds has this name.

    Raises InputError if it names a file without such a member.
    """
    if FORM in name:
        return member_in_file(name)
    for kind in kinds:
        with suppress(InputError):
            return kind, resolve(kind, name)
    return None
