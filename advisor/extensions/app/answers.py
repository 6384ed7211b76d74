"""Answers to the questions of a page, and the command line and the Python that give the same."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import simulated_answer
from advisor.api.keywords import GROUPS as KEYWORD_OF
from advisor.api.keywords import SHORT
from advisor.cli.collected import required_options
from advisor.cli.ranking import sections_of
from advisor.extensions.app.goals import REPORTS
from advisor.extensions.app.state import Inquiry
from advisor.extensions.choose.answer import Choice, choose
from advisor.extensions.choose.case import Wishes
from advisor.extensions.choose.document import choice_document
from advisor.extensions.places.answer import PlacesAdvice, answer_places
from advisor.extensions.places.document import places_document
from advisor.extensions.places.question import PlacesQuestion
from advisor.extensions.places.reading import places_request
from advisor.inputs.held import HeldFile, held_files
from advisor.inputs.histogram import RawHistogram
from advisor.members import as_named
from advisor.question.collected_request import (
    CollectedQuestion,
    check_collected,
    counts_of_reports,
    estimate_request,
    reports_request,
)
from advisor.question.option import require
from advisor.question.question import Question
from advisor.question.ranking import ranking_requests
from advisor.question.rules import check_data, check_ranking
from advisor.question.sample import sample_frequencies
from advisor.question.settings import Categories
from advisor.show.model import Document
from advisor.show.rank.document import rank_document
from simulator.foreign import SOURCES, containment
from simulator.progress import Progress, silent

LISTED = 40  # categories whose counts stand in the code


@dataclass(frozen=True, eq=False)
class Result:
    """An answer with its question."""

    inquiry: Inquiry
    value: Answer | Choice | PlacesAdvice = field(repr=False)
    document: Document = field(repr=False)

    @property
    def line(self) -> str:
        """The command line, fit to be copied."""
        return shlex.join(("ldp-advise", *self.inquiry.words))

    @property
    def python(self) -> str:
        """Python that gives the same answer: a call of a function where one takes it, else the command line."""
        call = _call(self)
        if call is None:
            lines = "".join(f"    {word!r},\n" for word in self.inquiry.words)
            return f"from advisor.cli.app import main\n\nmain([\n{lines}])"
        name, groups, arguments = call
        inside = "".join(f"    {text},\n" for text in arguments)
        return f"from ldp_advise import {', '.join((*groups, name))}\n\nadvice = {name}(\n{inside})\nprint(advice)"


def answer(inquiry: Inquiry, progress: Progress = silent) -> Any:
    """Return what answers a question, before it is made a document; raises InputError as the command line does."""

    def work() -> Any:
        held_files.set(inquiry.files)
        with containment() if SOURCES else nullcontext():
            return _answer(inquiry, progress)

    return copy_context().run(work)


def result_of(inquiry: Inquiry, value: Any = None) -> Result:
    """Return the answer to a question with its document; `value` is the answer, where that is known already.

    Raises InputError as the command line does.
    """
    saved = answer(inquiry) if value is None else value
    if isinstance(saved, Choice):
        return Result(inquiry, saved, choice_document(saved))
    if isinstance(saved, PlacesAdvice):
        return Result(inquiry, saved, places_document(saved))
    document = rank_document(saved.rankings)
    return Result(inquiry, saved, replace(document, sections=partial(sections_of, saved)))


def _answer(inquiry: Inquiry, progress: Progress) -> Answer | Choice | PlacesAdvice:
    question, jobs = inquiry.question, inquiry.question.simulation.jobs
    if inquiry.wishes is not None:
        return _choice(inquiry.wishes, question, progress)
    if isinstance(question, PlacesQuestion):
        question.check_places()
        return answer_places(places_request(question), jobs=jobs or 1, progress=progress)
    if isinstance(question, CollectedQuestion):
        require(*required_options(question))
        check_collected(question)
        if inquiry.kind == REPORTS:
            request = reports_request(counts_of_reports([question.path], question, jobs=jobs), question)
        else:
            request = estimate_request(question)
        return simulated_answer(request, jobs=jobs, progress=progress)
    check_ranking(question)
    (request,) = ranking_requests(question)
    if question.is_predicted:
        return Answer(look_up(request))
    return simulated_answer(request, jobs=jobs, progress=progress)


def _choice(wishes: Wishes, question: Question, progress: Progress) -> Choice:
    check_data(question)
    if question.sample is None:
        return choose(wishes)
    domain = Categories(k=wishes.answers, ordered=wishes.ordered)
    frequencies = sample_frequencies(replace(question, domain=domain))
    words = (question.path, *question.columns.typed(), *domain.typed())
    return choose(wishes, frequencies, words, instant=question.instant.instant, progress=progress)


def _call(answered: Result) -> tuple[str, list[str], list[str]] | None:
    """Return the function, the groups and the arguments for the same question; None if there are too many figures."""
    question = answered.inquiry.question
    if answered.inquiry.wishes is not None or isinstance(question, PlacesQuestion):
        return None
    name, groups, arguments = "advise", [], []
    for group in question.groups:
        if group in (question.columns, getattr(question, "estimate_columns", None)):
            continue
        given = {item.name: getattr(group, item.name) for item in fields(group)}
        given = {item.name: _plain(given[item.name]) for item in fields(group) if given[item.name] != item.default}
        if keyword := given and KEYWORD_OF.get(type(group).__name__):
            inside = ", ".join(f"{field}={value!r}" for field, value in given.items())
            groups.append(type(group).__name__)
            arguments.append(f"{keyword}={groups[-1]}({inside})")
        else:
            arguments += [f"{SHORT.get(field, field)}={value!r}" for field, value in given.items() if field != "used"]
    if isinstance(question, CollectedQuestion):
        collected = answered.value.first.request.collected if isinstance(answered.value, Answer) else None
        estimate = None if collected is None else collected.observed.estimate
        if collected is None or estimate is None or len(collected.labels) > LISTED:
            return None
        figures = dict(zip(collected.labels, estimate.tolist(), strict=True))
        users = [] if question.terms.n else [f"n={collected.n}"]
        name, arguments = "estimate", [f"{figures!r}", f"{collected.protocol!r}", *users, *arguments]
    elif question.sample is not None:
        counts = _counts(answered.inquiry.files.get(question.path))
        if counts is None:
            return None
        arguments.append(f"sample_counts={counts!r}")
    return name, sorted(groups), arguments


def _plain(value: object) -> object:
    """Return the value of an option as Python callers write it: one of several alone, members by their names."""
    if not isinstance(value, tuple):
        return value
    names = [as_named(item) if isinstance(item, str) else item for item in value]
    return names[0] if len(names) == 1 else names


def _counts(file: HeldFile | None) -> dict[str, int] | None:
    """Return the users per label of a file that was read in one way; None if it was not, or there are many."""
    read = [
        histogram
        for histogram in (file.made.values() if file is not None else ())
        if isinstance(histogram, RawHistogram)
    ]
    if len(read) != 1 or len(read[0].labels) > LISTED:
        return None
    return dict(zip(read[0].labels, read[0].counts.tolist(), strict=True))
