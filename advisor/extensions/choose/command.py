"""``ldp-advise choose`` and ``advisor.choose``: whether to collect, with which ε; questions on a terminal."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from numpy.typing import ArrayLike

from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.checks import shown
from advisor.cli import options
from advisor.cli.options import Only, Sample
from advisor.cli.ranking import Audience
from advisor.cli.run import Job, WholeOutput, run
from advisor.errors import InputError
from advisor.extensions.choose.answer import Choice, Wishes, make_choice
from advisor.extensions.choose.document import choice_document, decision_of_choice, reproduce
from advisor.inputs.columns import InputTable, are_counts, choose_columns, find_column
from advisor.inputs.histogram import read_head
from advisor.question.frequencies import Frequencies
from advisor.question.option import options_of, refuse, require
from advisor.question.question import Question
from advisor.question.rules import check_data
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Columns
from simulator.progress import Progress

T = TypeVar("T")

WORDS: dict[str, Any] = tomllib.loads(files(__package__).joinpath("prompts.toml").read_text("utf-8"))
# A number with words around it: about 2,000 people
COUNTED = re.compile(r"(?:about |around |ca\.? ?|~ ?)?([\d.,_]+ ?[km%]?)(?: [a-z ]+)?")


@dataclass(frozen=True)
class Prompt:
    """A question."""

    question: str
    again: str  # message for an invalid answer
    example: str = ""  # what to give as an option; "" where the answer may stay open
    # Allowed words other than figures, and their values
    words: Mapping[str, object] = field(default_factory=dict)
    needed: bool = False  # whether there is no answer to fall back on; else "don't know", or nothing, leaves it open

    def read(self, name: str, line: str) -> object:
        """Return what a line says.

        Raises InputError, in the words of the question, if that is nothing that may be typed.
        """
        text = " ".join(line.strip().lower().split())
        if text in WORDS["unknown"]:
            if self.needed:
                raise InputError(f"This has to be known, if only roughly. {self.again}")
            return None
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


PROMPTS = {name: Prompt(**words) for name, words in WORDS["prompts"].items()}


def ask(wishes: Wishes, names: Sequence[str], first: int = 1) -> Wishes:
    """Return the wishes with answers, typed on a terminal, to what they leave open; `first` numbers the questions.

    Raises typer.Abort if the input ends before.
    """
    open_names = [name for name in PROMPTS if name in names and getattr(wishes, name) is None]
    for at, name in enumerate(open_names, start=first):
        answer: Any = _typed(f"{at}. {PROMPTS[name].question}", partial(PROMPTS[name].read, name))
        wishes = replace(wishes, **{name: answer})
    return wishes


def require_answers(wishes: Wishes, names: Sequence[str]) -> None:
    """Raise InputError if some of the named answers are missing."""
    needed = [(item.name, spec.flags[0]) for item, spec in options_of(Wishes) if item.name in names]
    require(*((flag, getattr(wishes, name), PROMPTS[name].example) for name, flag in needed))


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


def choose_command(
    *,
    sample: Sample = None,
    wishes: Wishes,
    question: Annotated[Question, Only("columns", "cleaning", "instant:instant")],
    audience: Audience,
    output: WholeOutput,
) -> None:
    """Ask a few plain questions, and say which ε to use, if any.

    On a terminal it asks for what the options do not say. A file with published or pilot data, such as last year's
    figures, says how common the answers are: then what decides is simulated, in seconds.

    Examples: ldp-advise choose
              ldp-advise choose --n 2000 --k 18 --within 1 --sensitive medium --times 1
              ldp-advise choose ages.csv --counts count
    """
    document = audience.page(choice_document, decision_of_choice, output)
    data = replace(question, sample=sample)
    check_data(data)
    asks = sample != "-" and sys.stdin is not None and sys.stdin.isatty()
    names = [name for name, prompt in PROMPTS.items() if prompt.example and (sample is None or name != "answers")]
    if asks:
        data = replace(data, columns=_columns(data))
        first = 3 if data.columns.column != question.columns.column else 1
        # A file shows whether there is an order, and --k stands beside --ordered.
        order = ["ordered"] if sample is None and wishes.answers is None else []
        wishes = ask(wishes, [*names, *order], first)
    else:
        require_answers(wishes, names)
    data = wishes.asked_of(data)
    if sample is None:
        refuse(data.instant.given(), "is for a file: without one the answer is predicted")

    def answer(frequencies: Frequencies | None, progress: Progress) -> Choice:
        choice = make_choice(wishes, frequencies, data, progress)
        options.words.set(tuple(shlex.split(reproduce(choice))[1:]))  # a page names the command that asks nothing
        return choice

    run(
        Job(
            read=lambda: None if sample is None else simulated_frequencies(data),
            answer=answer,
            document=document,
            data=data,
        ),
        output,
    )


def _columns(data: Question) -> Columns:
    """Return the columns of the file, which are asked for if it has several and the options name none."""
    given = data.given("columns:column,counts", "cleaning:transactions")
    with suppress(OSError):  # which reading the file says
        if data.sample is None or given or Path(data.path).is_fifo():  # the head of a pipe cannot be read twice
            return data.columns
    table = read_head(data.path, layout=data.columns.layout, cut=data.cleaning.cut)
    if len(table.values) < 2:
        return data.columns
    column, counts = ask_columns(table)
    return replace(data.columns, column=(column,), counts=counts)


class ChoiceAnswer(Choice, Shown):
    """The answer of `choose`; its attributes are those of `advisor.extensions.choose.answer.Choice`."""

    _document = choice_document


@keyword_errors()
def choose(
    *,
    n: int | None = None,
    k: int | None = None,
    within: float | None = None,
    sensitive: str = "high",
    times: int = 1,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    ordered: bool | None = None,
    instant: bool = False,
) -> ChoiceAnswer:
    """Say whether to collect, and with which ε, from what people know who have never heard of ε.

    Parameters
    ----------
    n
        How many people will answer.
    k
        How many possible answers the question has; a sample says it too.
    within
        How far off a share may be, in percentage points on average; None: what makes a collection worth it.
    sensitive
        ``"low"``, ``"medium"`` or ``"high"``.
    times
        How often the same people are asked.
    sample, sample_counts, ordered
        Published or pilot data, as in `advisor.advise`: what decides is then simulated.
    instant
        Predict for such data too, instead of simulating.

    Returns
    -------
    The choice: ``.epsilon`` is None where collecting is not advised, and ``.reason`` says why.

    Raises
    ------
    InputError
        If something is missing, out of range or does not go together.

    Examples
    --------
    >>> choose(n=2000, k=18, within=1.0, sensitive="medium").epsilon is None
    True
    """
    question = Question.of(
        {"sample": sample, "sample_counts": sample_counts, "k": k, "ordered": ordered, "instant": instant}
    )
    wishes = Wishes(people=n, answers=k, within=within, sensitive=sensitive, times=times, ordered=ordered)
    require_answers(wishes, ["people", *(["answers"] if question.sample is None else [])])
    frequencies = None if question.sample is None else simulated_frequencies(question)
    return ChoiceAnswer.of(make_choice(wishes, frequencies, question))
