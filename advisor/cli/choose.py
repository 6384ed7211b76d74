"""``ldp-advise choose``: five plain questions, and whether to collect, with which ε."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import typer

from advisor.budgets.choice import Choice, Wishes, choose
from advisor.budgets.choice_document import choice_document, reproduce
from advisor.cli import options
from advisor.cli.arguments import Sample
from advisor.cli.run import Job, WholeOutput, run, silence
from advisor.errors import InputError
from advisor.question.cleaning import Cleaning
from advisor.question.frequencies import Frequencies
from advisor.question.option import Option, options_of, require
from advisor.question.sample import from_file, refuse_mixed
from advisor.question.settings import Categories, Columns, Shape

QUESTIONS = {
    "people": "1. How many people will answer?",
    "answers": "2. How many possible answers does the question have?",
    "within": (
        "3. How far off may the share of an answer be, on average? In percentage points: 1 means that 12 % may come "
        "out as 11 % or 13 %"
    ),
    "sensitive": (
        "4. How sensitive are the answers? low (a favourite colour), medium (age, opinions) or high (health, votes)"
    ),
    "times": "5. How many times will the same people be asked? 1 is once",
}
EXAMPLES = {
    "people": "the number of people, for example --n 2000",
    "answers": "the number of possible answers, for example --k 18",
    "within": "how far off a share may be in percentage points, for example --within 1",
    "sensitive": "low, medium or high, for example --sensitive medium",
    "times": "how often the same people are asked, for example --times 1",
}


def choose_command(
    *, sample: Sample = None, wishes: Wishes, columns: Columns, cleaning: Cleaning, output: WholeOutput
) -> None:
    """Ask five plain questions, and say which ε to use, if any.

    On a terminal it asks for what the options do not say. A file with published or pilot data, such as last year's
    figures, says how common the answers are.

    Examples: ldp-advise choose
              ldp-advise choose --n 2000 --k 18 --within 1 --sensitive medium --times 1
              ldp-advise choose ages.csv --counts count
    """
    refuse_mixed(sample, Shape(), columns, cleaning)
    asks = sample != "-" and sys.stdin is not None and sys.stdin.isatty()
    names = [name for name, _ in _options() if sample is None or name != "answers"]
    complete = _asked(wishes, names) if asks else wishes
    require(*((spec.flags[0], getattr(complete, name), EXAMPLES[name]) for name, spec in _options() if name in names))
    domain = Categories(wishes.answers, wishes.ordered)
    words = () if sample is None else (sample, *columns.typed(), *cleaning.typed(), *domain.typed())

    def answer(frequencies: Frequencies | None, _: None) -> Choice:
        choice = choose(complete, frequencies, words)
        options.words.set(tuple(shlex.split(reproduce(choice))[1:]))  # a page names the command that asks nothing
        return choice

    run(
        Job(
            read=lambda: None if sample is None else from_file(sample, domain, columns, cleaning),
            warnings=lambda frequencies: () if frequencies is None else frequencies.warnings,
            answer=answer,
            document=choice_document,
            progress=silence,
            inputs=[sample, cleaning.domain],
            unprotected=sample is not None,
        ),
        output,
    )


def _options() -> list[tuple[str, Option]]:
    """Return the options that are asked for, each by the name of its field."""
    return [(item.name, spec) for item, spec in options_of(Wishes) if item.name in QUESTIONS]


def _asked(wishes: Wishes, names: Sequence[str]) -> Wishes:
    """Return the wishes with answers, typed on a terminal, to what they leave open."""
    return replace(wishes, **{name: _typed(name) for name in names if getattr(wishes, name) is None})


def _typed(name: str) -> Any:
    """Ask a question on standard error until there is an answer; raises typer.Abort if none will come."""
    while True:
        typer.echo(f"{QUESTIONS[name]}\n> ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise typer.Abort
        values: dict[str, Any] = {name: line.strip()}
        try:
            return getattr(Wishes(**values), name)
        except InputError as error:
            typer.echo(str(error), err=True)
