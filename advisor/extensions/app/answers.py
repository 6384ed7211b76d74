"""Answers to the questions of a page, and the command line and the Python that give the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import simulated_answer
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
        """Python that gives the same answer: a call of `advise` where it takes the question, else the command line."""
        keywords = _keywords(self)
        if keywords is None:
            lines = "".join(f"    {word!r},\n" for word in self.inquiry.words)
            return f"from advisor.cli.app import main\n\nmain([\n{lines}])"
        inside = "".join(f"    {name}={value!r},\n" for name, value in keywords.items())
        return f"from ldp_advise import advise\n\nadvice = advise(\n{inside})\nprint(advice)"


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


def _keywords(answered: Result) -> Mapping[str, Any] | None:
    """Return the keywords of `advise` for the same question; None if there are none, or too many figures."""
    question = answered.inquiry.question
    if answered.inquiry.wishes is not None or isinstance(question, PlacesQuestion):
        return None
    result: dict[str, Any] = {}
    for group in question.groups:
        if group not in (question.columns, getattr(question, "estimate_columns", None)):
            result |= {
                item.name: _plain(getattr(group, item.name))
                for item in fields(group)
                if getattr(group, item.name) != item.default
            }
    if isinstance(question, CollectedQuestion):
        collected = answered.value.first.request.collected if isinstance(answered.value, Answer) else None
        estimate = None if collected is None else collected.observed.estimate
        if collected is None or estimate is None or len(collected.labels) > LISTED:
            return None
        figures = dict(zip(collected.labels, estimate.tolist(), strict=True))
        return result | {"protocol": result.pop("used"), "n": collected.n, "estimate": figures}
    if question.sample is not None:
        counts = _counts(answered.inquiry.files.get(question.path))
        if counts is None:
            return None
        result["sample_counts"] = counts
    return result


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
