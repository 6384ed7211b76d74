"""Options that are given twice, of which the last would silently count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

from advisor.errors import InputError, listed


def refuse_repeats(parameters: Iterable[Any], words: Sequence[str]) -> None:
    """Refuse an option with one value that is given twice, and a flag that is given both ways.

    parameters, words: the parameters of a command line in the order in which they are given, and its words.

    Raises InputError for the first that there is.
    """
    for parameter, times in Counter(parameters).items():
        if times == 1 or parameter.param_type_name == "argument" or parameter.multiple or parameter.count:
            continue
        given = list(takewhile(lambda word: word != "--", words))
        if parameter.is_flag:
            both = [flag for flag in (parameter.opts[0], *parameter.secondary_opts[:1]) if flag in given]
            if len(both) > 1:
                raise InputError(f"{' and '.join(both)} are both given: give one of them")
            continue
        flag = parameter.opts[0]
        values = _values(parameter.opts, given)
        shown = f" ({listed(values)})" if len(values) == times else ""
        if "," in (parameter.metavar or ""):
            example = ",".join(dict.fromkeys(values)) or parameter.metavar
            raise InputError(f"{flag} is given {times} times{shown}: give it once, as {flag} {example}")
        raise InputError(f"{flag} is given {times} times{shown}: give it once")


def _values(flags: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the values that follow the names of an option, behind a blank or a sign of equality."""
    values = []
    for place, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name in flags and sign:
            values.append(value)
        elif word in flags and place + 1 < len(words):
            values.append(words[place + 1])
    return values
