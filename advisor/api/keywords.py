"""Sentences for Python callers: where they name an option of the command line, the keyword of the functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from advisor.checks import GROUPED
from advisor.errors import InputError
from advisor.question.option import Option, Settings, options_of
from advisor.question.rules import DATA
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS

KEYWORDS = {  # of options whose keyword is not their flag
    "--all": "every",
    "--reps": "repetitions",
    "--max-reps": "max_repetitions",
    "--central-eps": "central_epsilon",
    "--eps-forever": "epsilon_forever",
}
PHRASES = {  # about files
    DATA: "one value per user, counts as sample_counts=, or --k without a sample",
    "SAMPLE is missing": "sample= is missing",
    "SAMPLE are missing": "sample= are missing",
    "--apply FILE writes it": "apply() uses it",
    "--domain FILE": "an ordered pandas.Categorical",
}
FILES_ONLY = ("--keep-top", "--other", "--missing", "--drop-missing")  # no function takes them
FUNCTIONS = {"": "advise", " plan": "plan", " sweep": "sweep", " audit": "audit", " rounds": "memoise"}
NAMED = ("--protocol", "--method", "--metric", "--solution", "--attack", "--backend")  # whose values are words
WORDS = ("all", "smp", "spl", "pair", "likelihood", "dask")  # these, and names of members
PLAIN = re.compile(r"[+-]?[\d._]+(e[+-]?\d+)?|[A-Z:]+")  # values without quotes: numbers, and what stands for a value
SHELL = r"ldp-advise (?:code|reports) [^,;()]*"  # commands that are no functions
FLAG = re.compile(rf"{SHELL}|(--[a-z][a-z-]*)(?: ([\w./](?:[\w.,:/=+-]*\w)?))?")  # an option, and the word behind it
KEYWORD = r"\w+=(?:\[[^]]*\]|'[^']*'|\w[\w.-]*\b)?"
COMMAND = re.compile(rf"ldp-advise( plan| sweep| audit| rounds|)((?: {KEYWORD})+)")


def flags_to_keywords(text: str) -> str:
    """Return a text with keywords and calls in place of options and commands.

    >>> flags_to_keywords("for example --n 2,000, --protocol grr,oue --proper; --max-reps says otherwise")
    "for example n=2_000, protocol=['grr', 'oue'] proper=True; max_repetitions= says otherwise"
    >>> flags_to_keywords("give --protocol one of them: ldp-advise plan --delta 1e-8 --method none says how many users")
    "give protocol= one of them: plan(delta=1e-8, method='none') says how many users"
    """
    for phrase, words in PHRASES.items():
        text = text.replace(phrase, words)
    return COMMAND.sub(_call, FLAG.sub(_keyword, text))


@contextmanager
def keyword_errors() -> Iterator[None]:
    """Have refusals name keywords; it decorates what Python callers use."""
    try:
        yield
    except InputError as error:
        text = flags_to_keywords(str(error))
        for flag in error.fields:  # a message about a value names its option without hyphens
            text = re.sub(rf"(?<![\w-]){flag[2:]}(?![\w-])", _name(flag), text)
        error.args = (text,)
        raise


def _call(match: re.Match[str]) -> str:
    return f"{FUNCTIONS[match[1]]}({', '.join(re.findall(KEYWORD, match[2]))})"


def _keyword(match: re.Match[str]) -> str:
    """Return the keyword of an option with its value, or with the word behind it that is none."""
    flag, word, spec = match[1], match[2] or "", _options().get(match[1])
    rest = f" {word}" if word else ""
    if flag is None:
        return match[0]
    if flag in FILES_ONLY:
        return f"{flag[2:]}{rest} on the command line"
    if spec is not None and spec.read is None:
        return f"{_name(spec.flag)}={flag == spec.flag}{rest}"
    named = flag in NAMED and word in (*PROTOCOLS, *POSTPROCESSORS, *METRICS, *WORDS)
    if not word or (word.isalpha() and not word.isupper() and not named):
        return _name(flag) + ("" if match.string.startswith(":", match.end(1)) else "=") + rest
    items = [word.replace(",", "_")] if GROUPED.fullmatch(word) else word.split(",")
    items = [one if PLAIN.fullmatch(one) else repr(one) for one in items]
    return f"{_name(flag)}=" + (items[0] if len(items) == 1 else f"[{', '.join(items)}]")


def _name(flag: str) -> str:
    return KEYWORDS.get(flag, flag[2:].replace("-", "_"))


def _options() -> dict[str, Option]:
    """Return all options by their names; those of an extension once it is imported."""
    specs = [spec for group in Settings.__subclasses__() for _, spec in options_of(group)]
    return {flag: spec for spec in specs for names in spec.flags for flag in names.split("/")}
