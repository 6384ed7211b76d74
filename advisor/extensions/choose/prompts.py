"""The questions of ``ldp-advise choose`` on a terminal: what is asked, and what may be typed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import typer

from advisor.checks import shown
from advisor.errors import InputError
from advisor.extensions.choose.case import Wishes
from advisor.inputs.columns import InputTable, are_counts, choose_columns, find_column

T = TypeVar("T")

UNKNOWN = (
    "",
    "?",
    "-",
    "don't know",
    "dont know",
    "don’t know",
    "do not know",
    "i don't know",
    "not sure",
    "dk",
    "unknown",
    "no idea",
)
# A number with words around it: about 2,000 people
COUNTED = re.compile(r"(?:about |around |ca\.? ?|~ ?)?([\d.,_]+ ?[km%]?)(?: [a-z ]+)?")


@dataclass(frozen=True)
class Prompt:
    """A question."""

    question: str
    again: str  # message for an invalid answer
    # Allowed words other than figures, and their values
    words: Mapping[str, object] = field(default_factory=dict)
    needed: bool = False  # whether there is no answer to fall back on
    default: object = None  # value of an empty answer, or of "don't know"; None leaves it open

    def read(self, name: str, line: str) -> object:
        """Return what a line says.

        Raises InputError, in the words of the question, if that is nothing that may be typed.
        """
        text = " ".join(line.strip().lower().split())
        if text in UNKNOWN:
            if self.needed:
                raise InputError(f"This has to be known, if only roughly. {self.again}")
            return self.default
        number = COUNTED.fullmatch(text)
        value = self.words.get(text, text if number is None else number[1].replace(" ", ""))
        if name == "ordered" and not isinstance(value, bool):
            raise InputError(f"{self.again} Got {shown(line.strip())}.")
        try:
            values: dict[str, Any] = {name: value}
            return getattr(Wishes(**values), name)
        except InputError as error:
            advice = re.search(r"did you mean [^?]*\?", str(error))
            raise InputError(f"{self.again} Got {shown(line.strip())}{f'; {advice[0]}' if advice else '.'}") from None


PROMPTS = {
    "people": Prompt(
        "How many people will answer?", "Please type a whole number of at least 1, for example 2000.", needed=True
    ),
    "answers": Prompt(
        "How many possible answers does the question have? yes/no has 2",
        "Please type a whole number of at least 2, for example 18.",
        dict.fromkeys(("yes/no", "yes or no", "yes no"), 2),
        needed=True,
    ),
    "ordered": Prompt(
        "Do the answers have an order, as age bands have, and regions have not? yes or no [no]",
        "Please type yes or no.",
        {
            **dict.fromkeys(("yes", "y", "true", "age bands", "age", "ordered"), True),
            **dict.fromkeys(("no", "n", "false", "regions", "region", "unordered"), False),
        },
    ),
    "within": Prompt(
        "How far off may the share of an answer be, on average? In percentage points: 1 means that 12 % may come out "
        "as 11 % or 13 % [as much as is worth a collection]",
        "Please type a number above 0 and below 100, for example 1, or nothing.",
    ),
    "sensitive": Prompt(
        "How sensitive are the answers? low (a favourite colour), medium (age, opinions) or high (health, votes) "
        "[high]",
        "Please type low, medium or high.",
        {
            **dict.fromkeys(("a favourite colour", "favourite colour", "colour", "color", "not"), "low"),
            **dict.fromkeys(("age", "opinions", "opinion", "age, opinions", "age bands"), "medium"),
            **dict.fromkeys(("health", "votes", "vote", "health, votes", "very"), "high"),
        },
        default="high",
    ),
    "times": Prompt(
        "How many times will the same people be asked? once, or a number [once]",
        "Please type once, or a whole number of at least 1, for example 4.",
        {"once": 1, "one": 1, "once only": 1, "1 is once": 1, "twice": 2, "two": 2, "three": 3, "four": 4},
        default=1,
    ),
}


def ask(wishes: Wishes, names: Sequence[str], first: int = 1) -> Wishes:
    """Return the wishes with answers, typed on a terminal, to what they leave open; `first` numbers the questions.

    Raises typer.Abort if the input ends before.
    """
    open_names = [name for name in PROMPTS if name in names and getattr(wishes, name) is None]
    for at, name in enumerate(open_names, start=first):
        answer: Any = _typed(f"{at}. {PROMPTS[name].question}", partial(PROMPTS[name].read, name))
        wishes = replace(wishes, **{name: answer})
    return wishes


def ask_columns(table: InputTable) -> tuple[str, str | None]:
    """Return the columns of the answers and of the counts (None: one row per person), typed on a terminal.

    Raises typer.Abort if the input ends before.
    """
    typer.echo(f"{table.source} has {table.width} columns:", err=True)
    for at in table.values:
        typer.echo(f"  {at + 1}  {table.preview(at)}", err=True)

    def proposed(column: str | None) -> tuple[int, int | None] | tuple[None, None]:
        try:
            return choose_columns(table, column, None)
        except InputError:
            return None, None

    known, _ = proposed(None)
    likely = "" if known is None else table.reference(known)
    question = f"1. Which column holds the answers? Its name or number{likely and f' [{likely}]'}"
    label = _typed(question, lambda line: find_column(table, line.strip() or likely, "--column"))
    name = table.reference(label)
    _, known = proposed(name)
    likely = "none: one row per person" if known is None else table.reference(known)
    question = f"2. Which column holds the number of people? Its name or number [{likely}]"

    def read(line: str) -> int | None:
        count = choose_columns(table, name, line.strip() or None)[1]
        if count is not None and not are_counts(table, count):
            raise InputError(f"Please name a column of whole numbers. Got {shown(line.strip())}.")
        return count

    count = _typed(question, read)
    return name, None if count is None else table.reference(count)


def _typed(question: str, read: Callable[[str], T]) -> T:
    """Ask a question on standard error until there is an answer."""
    while True:
        typer.echo(f"{question}\n> ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise typer.Abort
        try:
            return read(line)
        except InputError as error:
            typer.echo(str(error), err=True)
