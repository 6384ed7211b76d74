"""Sentences for Python callers: where they name an option of the command line, the keyword of the functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import NamedTuple

from advisor.checks import GROUPED
from advisor.errors import InputError
from advisor.question.option import Option, Settings, options_of
from advisor.question.rules import DATA
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.foreign import ForeignError

SHORT = {"epsilon": "eps", "skew": "shape", "bits": "device_bits"}  # keywords that are not the field of their option
GROUPS = {  # keywords that take a group of options
    "AttackSettings": "attack",
    "Cells": "cells",
    "CentralPromise": "promise",
    "Cleaning": "cleaning",
    "Cluster": "cluster",
    "Collection": "collection",
    "ForeignClient": "client",
    "Limits": "limits",
    "Memoisation": "memoisation",
    "Plurality": "plurality",
    "ReportFormat": "written",
    "Simulation": "simulation",
    "Subjects": "subjects",
}
PHRASES = {  # about files
    DATA: "one value per user, counts as sample_counts=, or --k without a sample",
    "SAMPLE is missing": "sample= is missing",
    "SAMPLE are missing": "sample= are missing",
    "--apply FILE writes it": "apply() uses it",
    "give --force to": "give force=True to",
    "--domain FILE": "an ordered pandas.Categorical",
    "--target MODULE:FUNCTION": "client=ForeignClient(target=FUNCTION)",
    "; if the line names the columns, say --header": "",
    "--drop-missing leaves out such rows": "leave missing ones out",
}
FILES_ONLY = ("--missing", "--drop-missing")  # no function takes them
FUNCTIONS = {
    "": "advise",
    " plan": "plan",
    " sweep": "sweep",
    " audit": "audit",
    " rounds": "memoise",
    " choose": "choose",
}
NAMED = (
    "--protocol",
    "--method",
    "--metric",
    "--solution",
    "--attack",
    "--backend",
    "--sensitive",
)  # whose values are words
WORDS = ("all", "smp", "spl", "pair", "likelihood", "dask", "low", "medium", "high")  # these, and names of members
PLAIN = re.compile(r"[+-]?[\d._]+(e[+-]?\d+)?|[A-Z:]+")  # values without quotes: numbers, and what stands for a value
SHELL = r"ldp-advise (?:code|reports) [^,;()]*"  # commands that are no functions
FLAG = re.compile(rf"{SHELL}|(--[a-z][a-z-]*)(?: ([\w./](?:[\w.,:/=+-]*\w)?))?")  # an option, and the word behind it
KEYWORD = r"\w+=(?:\w+\([^()]*\)|\[[^]]*\]|'[^']*'|\w[\w.-]*\b)?"
COMMAND = re.compile(rf"ldp-advise( plan| sweep| audit| rounds| choose|)((?: {KEYWORD})+)")


class _Named(NamedTuple):
    """An option, and how Python callers know it."""

    spec: Option
    field: str
    group: str


def flags_to_keywords(text: str, flat: Sequence[str] = ()) -> str:
    """Return a text with keywords and calls in place of options and commands.

    flat: keywords of the function that are options of a group elsewhere.

    >>> flags_to_keywords("for example --n 2,000, --protocol grr,oue --proper; --max-reps says otherwise")
    "for example n=2_000, protocol=['grr', 'oue'] limits=Limits(proper=True); max_repetitions= says otherwise"
    >>> flags_to_keywords("give --protocol one of them: ldp-advise plan --delta 1e-8 --method none says how many users")
    "give protocol= one of them: plan(promise=CentralPromise(delta=1e-8), method='none') says how many users"
    """
    for phrase, words in PHRASES.items():
        text = text.replace(phrase, words)
    text = COMMAND.sub(_call, FLAG.sub(partial(_keyword, flat=flat), text))
    return re.sub(r"(\b\w+=) or \1", r"\1", text)  # two options that are one keyword


@contextmanager
def keyword_errors(*flat: str) -> Iterator[None]:
    """Have refusals name keywords; it decorates what Python callers use. flat: see `flags_to_keywords`."""
    try:
        yield
    except ForeignError as error:
        raise InputError(flags_to_keywords(str(error), flat)) from error
    except InputError as error:
        text = flags_to_keywords(str(error), flat)
        for flag in error.fields:  # a message about a value names its option without hyphens
            text = re.sub(rf"(?<![\w-]){flag[2:]}(?![\w-])", _name(flag), text)
        error.args = (text,)
        raise


@cache
def python_group(group: type[Settings]) -> type[Settings]:
    """Return a group of options whose refusals name keywords."""
    return type(group.__name__, (group,), {"__post_init__": keyword_errors()(group.__post_init__)})


def _call(match: re.Match[str]) -> str:
    return f"{FUNCTIONS[match[1]]}({', '.join(re.findall(KEYWORD, match[2]))})"


def _keyword(match: re.Match[str], flat: Sequence[str]) -> str:
    """Return the keyword of an option with its value, in its group, or with the word behind it that is none."""
    flag, word = match[1], match[2] or ""
    option = _options().get(flag)
    if flag == "--sample":  # no option, but the word for data in memory
        return f"sample={word}"
    if flag is None or option is None:
        return match[0]
    rest, name = f" {word}" if word else "", _name(flag)
    if flag in FILES_ONLY:
        return f"{flag[2:]}{rest} on the command line"
    if option.spec.read is None:
        return f"{_grouped(option, f'{name}={flag == option.spec.flag}', flat)}{rest}"
    named = flag in NAMED and word in (*PROTOCOLS, *POSTPROCESSORS, *METRICS, *WORDS)
    if not word or (word.isalpha() and not word.isupper() and not named):
        return name + ("" if match.string.startswith(":", match.end(1)) else "=") + rest
    items = [word.replace(",", "_")] if GROUPED.fullmatch(word) else word.split(",")
    items = [one if PLAIN.fullmatch(one) else repr(one) for one in items]
    return _grouped(option, f"{name}=" + (items[0] if len(items) == 1 else f"[{', '.join(items)}]"), flat)


def _grouped(option: _Named, text: str, flat: Sequence[str]) -> str:
    keyword = GROUPS.get(option.group)
    return text if keyword is None or _name(option.spec.flag) in flat else f"{keyword}={option.group}({text})"


def _name(flag: str) -> str:
    option = _options().get(flag)
    return flag[2:].replace("-", "_") if option is None else SHORT.get(option.field, option.field)


def _options() -> dict[str, _Named]:
    """Return all options by their names; those of an extension once it is imported."""
    found: dict[str, _Named] = {}
    for group in Settings.__subclasses__():
        for item, spec in options_of(group):
            for flag in (flag for names in spec.flags for flag in names.split("/")):
                if flag not in found or (found[flag].spec.variant and not spec.variant):
                    found[flag] = _Named(spec, item.name, group.__name__)
    return found
