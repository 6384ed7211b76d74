"""The same in Python: a call of `ldp_advise.advise` where it takes the question, else the words of the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from advisor.app.answers import in_full
from advisor.app.state import Command
from advisor.cli.arguments import COMMANDS
from advisor.inputs.held import HeldFile
from advisor.inputs.histogram import RawHistogram

LISTED = 40  # categories whose counts stand in the code
KEYWORDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--eps": ("epsilon", float),
    "--n": ("n", int),
    "--k": ("k", int),
    "--metric": ("metric", str),
    "--skew": ("skew", float),
    "--shape": ("shape", str),
    "--method": ("method", lambda names: names.split(",")),
    "--protocol": ("protocol", lambda names: names.split(",")),
    "--rounds": ("rounds", int),
    "--max-bits": ("max_bits", int),
}
FLAGS = {
    "--ordered": ("ordered", True), "--unordered": ("ordered", False), "--instant": ("instant", True),
    "--deployable": ("deployable", True),
}  # fmt: skip
OF_THE_FILE = ("--counts", "--column")  # where its values stand, which the counts themselves make needless


def python_snippet(command: Command) -> str:
    """Return Python that gives the same answer as a command."""
    keywords = None if command.words[0] in COMMANDS else _keywords(command)
    if keywords is None:
        words = ",\n    ".join(map(repr, in_full(command.words)))
        return f"from advisor.cli.app import main\n\nmain([\n    {words},\n])"
    inside = "".join(f"    {name}={value!r},\n" for name, value in keywords.items())
    return f"from ldp_advise import advise\n\nadvice = advise(\n{inside})\nprint(advice)"


def _keywords(command: Command) -> dict[str, Any] | None:
    """Return the keywords of `advise` that ask the same; None where there are too many counts to write them down."""
    result: dict[str, Any] = {}
    words = iter(in_full(command.words))
    for word in words:
        if word in FLAGS:
            name, value = FLAGS[word]
            result[name] = value
        elif word in OF_THE_FILE:
            next(words)
        elif word in KEYWORDS:
            name, read = KEYWORDS[word]
            result[name] = read(next(words))
        else:
            counts = _counts(command.files.get(word))
            if counts is None:
                return None
            result["sample_counts"] = counts
    return result


def _counts(file: HeldFile | None) -> dict[str, int] | None:
    """Return the users per label of a file that was read in one way; None if it was not, or there are many."""
    read = [one for one in (file.made.values() if file is not None else ()) if isinstance(one, RawHistogram)]
    if len(read) != 1 or len(read[0].labels) > LISTED:
        return None
    return dict(zip(read[0].labels, read[0].counts.tolist(), strict=True))
