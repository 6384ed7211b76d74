"""``ldp-advise choose``: a few plain questions, and whether to collect, with which ε."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from advisor.cli import options
from advisor.cli.audience import Audience
from advisor.cli.options import Only, Sample
from advisor.cli.run import Job, WholeOutput, run
from advisor.extensions.choose.answer import Choice, choose
from advisor.extensions.choose.case import Wishes
from advisor.extensions.choose.decision import decision_of_choice
from advisor.extensions.choose.document import choice_document, reproduce
from advisor.extensions.choose.prompts import ask, ask_columns
from advisor.inputs.histogram import read_head
from advisor.question.frequencies import Frequencies
from advisor.question.option import options_of, refuse, require
from advisor.question.question import Question
from advisor.question.rules import check_data
from advisor.question.sample import sample_frequencies
from advisor.question.settings import Categories, Columns
from simulator.progress import Progress

EXAMPLES = {
    "people": "the number of people, for example --n 2000",
    "answers": "the number of possible answers, for example --k 18",
    "within": "how far off a share may be in percentage points, for example --within 1",
    "sensitive": "low, medium or high, for example --sensitive medium",
    "times": "how often the same people are asked, for example --times 1",
}


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
    names = [name for name in EXAMPLES if sample is None or name != "answers"]
    complete = wishes
    if asks:
        data = replace(data, columns=_columns(data))
        first = 3 if data.columns.column != question.columns.column else 1
        # A file shows whether there is an order, and --k stands beside --ordered.
        order = ["ordered"] if sample is None and wishes.answers is None else []
        complete = ask(wishes, [*names, *order], first)
        names.remove("within")  # which may be left open
    options_needed = [(item.name, spec) for item, spec in options_of(Wishes) if item.name in names]
    require(*((spec.flags[0], getattr(complete, name), EXAMPLES[name]) for name, spec in options_needed))
    domain = Categories(k=complete.answers, ordered=complete.ordered)
    data = replace(data, domain=domain)
    words = () if sample is None else (sample, *data.columns.typed(), *data.cleaning.typed(), *domain.typed())
    if sample is None:
        refuse(data.instant.given(), "is for a file: without one the answer is predicted")

    def answer(frequencies: Frequencies | None, progress: Progress) -> Choice:
        choice = choose(complete, frequencies, words, instant=data.instant.instant, progress=progress)
        options.words.set(tuple(shlex.split(reproduce(choice))[1:]))  # a page names the command that asks nothing
        return choice

    run(
        Job(
            read=lambda: None if sample is None else sample_frequencies(data),
            warnings=lambda frequencies: () if frequencies is None else frequencies.warnings,
            answer=answer,
            document=document,
            inputs=data.files,
            unprotected=sample is not None,
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
