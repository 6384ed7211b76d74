"""The same in Python: a call of `ldp_advise.advise` where it takes the question, else the words of the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from advisor.answers.rank.result import Answer
from advisor.cli.arguments import COMMANDS
from advisor.extensions.app.answers import Answered, in_full
from advisor.extensions.app.goals import ESTIMATE, REPORTS
from advisor.inputs.held import HeldFile
from advisor.inputs.tally import RawHistogram


def _members(names: str) -> str | list[str]:
    """Return names of members as `advise` takes them."""
    return names.split(",") if "," in names else names


LISTED = 40  # categories whose counts stand in the code
KEYWORDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--eps": ("epsilon", float),
    "--n": ("n", int),
    "--k": ("k", int),
    "--metric": ("metric", str),
    "--skew": ("skew", float),
    "--shape": ("shape", str),
    "--method": ("method", _members),
    "--protocol": ("protocol", _members),
    "--rounds": ("rounds", int),
    "--max-bits": ("max_bits", int),
    "--reps": ("repetitions", int),
}
FLAGS = {
    "--ordered": ("ordered", True), "--unordered": ("ordered", False), "--instant": ("instant", True),
    "--deployable": ("deployable", True),
}  # fmt: skip
OF_THE_FILE = ("--counts", "--column", "--estimates")  # where its values stand: the code holds the values themselves
ON_COLLECTED = (ESTIMATE, REPORTS)  # commands on what was collected, which `advise` takes too


def python_snippet(answer: Answered) -> str:
    """Return Python that gives the same answer as a command."""
    keywords = _keywords(answer)
    if keywords is None:
        lines = "".join(f"    {line}\n" for line in _lines(in_full(answer.command.words)))
        return f"from advisor.cli.app import main\n\nmain([\n{lines}])"
    inside = "".join(f"    {name}={value!r},\n" for name, value in keywords.items())
    return f"from ldp_advise import advise\n\nadvice = advise(\n{inside})\nprint(advice)"


def _lines(words: Sequence[str]) -> list[str]:
    """Return the words of a command line as lines of a list, each option beside its value."""
    lines: list[str] = []
    before = ""
    for word in words:
        beside = before.startswith("--") and before not in FLAGS and not word.startswith("--")
        lines[-1:] = [f"{lines[-1]} {word!r},"] if beside else [*lines[-1:], f"{word!r},"]
        before = word
    return lines


def _keywords(answer: Answered) -> dict[str, Any] | None:
    """Return the keywords of `advise` that ask the same; None where it cannot be asked, or has too many figures."""
    first, *others = in_full(answer.command.words)
    values = _collected(answer.value) if first in ON_COLLECTED else None
    if first in COMMANDS and values is None:
        return None
    result: dict[str, Any] = {}
    words = iter(others if values is not None else (first, *others))
    for word in words:
        if word in FLAGS:
            name, value = FLAGS[word]
            result[name] = value
        elif word in OF_THE_FILE:
            next(words)
        elif word in KEYWORDS:
            name, read = KEYWORDS[word]
            result[name] = read(next(words))
        elif word.startswith("--"):
            return None
        elif values is not None:
            result |= values
        else:
            counts = _counts(answer.command.files.get(word))
            if counts is None:
                return None
            result["sample_counts"] = counts
    return result


def _collected(value: Any) -> dict[str, Any] | None:
    """Return the estimate that was collected, as `advise` takes it; None if there is none, or it is large."""
    collected = value.first.request.collected if isinstance(value, Answer) else None
    estimate = None if collected is None else collected.observed.estimate
    if collected is None or estimate is None or len(collected.labels) > LISTED:
        return None
    return {"n": collected.n, "estimate": dict(zip(collected.labels, estimate.tolist(), strict=True))}


def _counts(file: HeldFile | None) -> dict[str, int] | None:
    """Return the users per label of a file that was read in one way; None if it was not, or there are many."""
    read = [one for one in (file.made.values() if file is not None else ()) if isinstance(one, RawHistogram)]
    if len(read) != 1 or len(read[0].labels) > LISTED:
        return None
    return dict(zip(read[0].labels, read[0].counts.tolist(), strict=True))
