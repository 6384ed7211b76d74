"""The state of a page: its address, the files behind it, the questions that it represents, and their answers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import ranking_answer, simulated_answer
from advisor.api.keywords import GROUPS as KEYWORD_OF
from advisor.api.keywords import SHORT
from advisor.errors import printable
from advisor.extensions.app.files import PEOPLE, assumed_file, example_file, safe_name
from advisor.extensions.app.goals import ESTIMATE, PLACES, PLAN, SHAPES, Control, PageGoal, goals, worded
from advisor.extensions.choose.answer import Choice, Wishes, make_choice
from advisor.extensions.choose.document import choice_document
from advisor.extensions.places.answer import PlacesAdvice, answer_places
from advisor.extensions.places.document import places_document
from advisor.extensions.places.question import PlacesQuestion, places_request
from advisor.inputs.held import HeldFile, holding
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
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Categories, Columns, Instant, Plurality, Shape, Simulation, Terms
from advisor.show.model import Document
from advisor.show.rank.document import rank_document
from simulator.foreign import SOURCES, containment
from simulator.progress import Progress, silent

ESTIMATES, REPORTS = "estimate", "reports"  # what a file of a collection holds
FILE = ""  # the shape of data that are in a file
START = next(iter(SHAPES))  # the shape that is assumed where none is picked, which choose assumes too
ASSUMED = "assumed.csv"  # what the file of a shape is called
EXAMPLE = "example"  # replaces the digest of a file if the page shows its example
NOT_HELD = "{} is not held in memory any more: drop the file again."
LISTED = 40  # categories whose counts stand in the code
MOST_VALUE = 2000  # characters of a value in an address


@dataclass(frozen=True)
class Data:
    """Where frequencies come from: a shape, or a file that is held, by its digest and name."""

    shape: str = FILE
    digest: str = ""
    name: str = ""


@dataclass(frozen=True)
class State:
    """One page with all that is set on it."""

    goal: PageGoal
    values: Mapping[str, str]  # texts of the controls by name, those left open too
    data: Data
    simulated: bool = False  # whether it is to be answered by the whole simulation, not at first sight
    files: Mapping[str, HeldFile] = field(default_factory=dict, repr=False)  # that are held, by digest

    @property
    def question(self) -> str:
        """The address, behind its question mark: what differs from the start."""
        pairs = [("goal", self.goal.key)]
        pairs += [("shape", self.data.shape)] if self.data.shape not in (FILE, START) else []
        pairs += [("file", self.data.digest), ("name", self.data.name)] if self.data.digest else []
        starts = self.goal.starts(has_file=bool(self.data.digest))
        pairs += [(name, text) for name, text in self.values.items() if text != starts[name]]
        return urlencode(pairs)

    @property
    def query(self) -> str:
        """The address, with the kind of answer that is wanted."""
        return f"{self.question}&simulated=yes" if self.simulated else self.question

    @property
    def setting(self) -> str:
        """What the page is set to, as its script compares it: shape, file and controls, a line each."""
        return "\n".join((self.data.shape, self.data.digest, *self.values.values()))

    @property
    def example(self) -> State:
        """The page of its example, which stands in until there is a file."""
        return state_of(f"goal={self.goal.key}&file={EXAMPLE}&{self.goal.example_set}", self.files)

    @property
    def held(self) -> HeldFile | None:
        """The file; None if there is none, or if it is no longer stored."""
        if self.data.digest == EXAMPLE and self.goal.example:
            return example_file(self.goal.example)
        return self.files.get(self.data.digest)

    def wrong(self) -> dict[str, str]:
        """Return what is wrong, by the name of the control."""
        messages = self.goal.wrong(self.values)
        if self.data.digest and self.held is None:
            messages["data"] = NOT_HELD.format(printable(self.data.name))
        elif self.data.shape and not self.values["k"]:
            messages["k"] = "Give the number of categories, or drop a file that shows them."
        if self.goal.key == ESTIMATE and self.values["holds"] == ESTIMATES and not self.values["n"]:
            messages["n"] = "Give the number of users who reported, for example 100000."
        return {name: worded(text, self.goal) for name, text in messages.items()}

    def groups(self, names: Sequence[str]) -> tuple[Any, ...]:
        """Return the groups of options that some controls make."""
        return self.goal.groups(names, self.values)


@dataclass(frozen=True, eq=False)
class Inquiry:
    """A question of a page, and the files that it reads, by the names that it gives them."""

    kind: str  # the command that answers it: "" for the main one
    question: Question
    wishes: Wishes | None = None  # which ε is asked for by
    files: Mapping[str, HeldFile] = field(default_factory=dict, repr=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command line that asks the same."""
        groups = (*(() if self.wishes is None else (self.wishes,)), *self.question.groups)
        typed = (word for group in groups for word in group.typed())
        return (*filter(None, [self.kind]), *typed, *filter(None, [self.question.path]))


def state_of(query: str, files: Mapping[str, HeldFile]) -> State:
    """Return the state of an address; unknown names in it are left out."""
    entered = {
        name: texts[-1][:MOST_VALUE] for name, texts in parse_qs(query.lstrip("?"), keep_blank_values=True).items()
    }
    goal = goals().get(entered.get("goal", ""), goals()[PLAN])
    digest = entered.get("file", "")
    shape = entered.get("shape", START)
    shape = FILE if digest or not goal.shapes else shape if shape in SHAPES else START
    name = goal.example if digest == EXAMPLE else safe_name(entered.get("name", "")) if digest else ""
    starts = goal.starts(has_file=bool(digest))
    values = {
        control.name: _in_order(control, entered.get(control.name, starts[control.name]).strip())
        for control in goal.controls
    }
    for control in goal.controls:
        if control.unless.items() & values.items() and values[control.name] == control.start:
            values[control.name] = ""
    return State(goal, values, Data(shape, digest, name), entered.get("simulated") == "yes", files)


def _in_order(control: Control, text: str) -> str:
    """Return several values in the order in which they are offered, as the boxes that are checked will say them."""
    places = {value: place for place, value in enumerate(control.choices)}
    return ",".join(sorted(text.split(","), key=lambda word: places.get(word, -1))) if control.several else text


def decision(state: State) -> Inquiry | None:
    """Return the question which ε to use; None where it is settled, or another page is asked."""
    if state.goal.key != PLAN or state.values["eps"]:
        return None
    (wishes,) = state.groups(("within", "sensitive", "times"))
    inquiry = _on_sample(state, ())
    if state.data.shape == START and not state.simulated:  # what choose assumes itself
        inquiry = Inquiry("", Question.with_groups(state.groups(("k", "ordered"))))
    domain = inquiry.question.domain  # which choose asks for among its own questions
    wishes = replace(wishes, people=state.values["n"], answers=domain.k, ordered=domain.ordered)
    return replace(inquiry, kind="choose", question=replace(inquiry.question, domain=Categories()), wishes=wishes)


def ranking(state: State, epsilon: float | None = None) -> Inquiry:
    """Return the question that ranks; `epsilon` is the budget where none is set."""
    names = [control.name for control in state.goal.controls]
    if state.goal.key == PLACES:
        return _on_file(state, PlacesQuestion.with_groups(state.groups(names)), "places")
    if state.goal.key == ESTIMATE:
        holds = state.values["holds"]
        names = [name for name in names if name != "estimates" or holds == ESTIMATES]
        return _on_file(state, CollectedQuestion.with_groups(state.groups(names)), holds)
    inquiry = _on_sample(state, ("eps", "n", "metric", "method", "protocol", "rounds", "deployable", "bits"))
    if state.goal.key == PLAN:
        terms = replace(inquiry.question.terms, metric=("mae",))
        terms = terms if state.values["eps"] else replace(terms, epsilon=epsilon)
        times = state.values["times"]
        rounds = Plurality(rounds=times) if times not in ("", "1") else Plurality()  # type: ignore[arg-type]
        inquiry = replace(inquiry, question=replace(inquiry.question, terms=terms, plurality=rounds))
    return replace(inquiry, kind="rounds") if inquiry.question.plurality.rounds else inquiry


def _on_sample(state: State, names: Sequence[str]) -> Inquiry:
    """Return the question of some controls: about a file, dropped or assumed, or predicted for a shape."""
    instant = Instant(instant=not state.simulated)
    if state.data.digest:
        groups = state.groups((*names, "k", "ordered", "column", "counts"))
        return _on_file(state, Question.with_groups(groups, instant=instant))
    question = Question.with_groups(state.groups((*names, "k", "ordered")))
    shape = Shape(skew=1) if state.data.shape == START else Shape(shape=state.data.shape)
    if not state.simulated and names:
        return Inquiry("", replace(question, shape=shape))
    n = Terms(n=state.values["n"] or None).n or 100_000  # type: ignore[arg-type]
    file, ordered = assumed_file(shape, question.domain.k or 2, n, question.domain.ordered)
    domain, columns = Categories(ordered=ordered), Columns(counts=PEOPLE)
    question = replace(question, sample=ASSUMED, domain=domain, columns=columns, instant=instant)
    return Inquiry("", question, files={ASSUMED: file})


def _on_file(state: State, question: Question, kind: str = "") -> Inquiry:
    """Return a question about the file; where nothing is predicted, at first sight from few repetitions."""
    file, name = state.held, state.data.name
    if kind and not state.simulated:
        question = replace(question, simulation=Simulation(**state.goal.few))
    return Inquiry(kind, replace(question, sample=name), files={} if file is None else {name: file})


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
    with holding(inquiry.files), containment() if SOURCES else nullcontext():
        return _answer(inquiry, progress)


def result_of(inquiry: Inquiry, value: Any = None) -> Result:
    """Return the answer to a question with its document; `value` is the answer, where that is known already.

    Raises InputError as the command line does.
    """
    saved = answer(inquiry) if value is None else value
    if isinstance(saved, Choice):
        return Result(inquiry, saved, choice_document(saved))
    if isinstance(saved, PlacesAdvice):
        return Result(inquiry, saved, places_document(saved))
    return Result(inquiry, saved, rank_document(saved.rankings))


def _answer(inquiry: Inquiry, progress: Progress) -> Answer | Choice | PlacesAdvice:
    question, jobs = inquiry.question, inquiry.question.simulation.jobs
    if inquiry.wishes is not None:
        return _choice(inquiry.wishes, question, progress)
    if isinstance(question, PlacesQuestion):
        question.check_places()
        return answer_places(places_request(question), progress)
    if isinstance(question, CollectedQuestion):
        require(*question.needs)
        check_collected(question)
        if inquiry.kind == REPORTS:
            request = reports_request(counts_of_reports([question.path], question, jobs=jobs), question)
        else:
            request = estimate_request(question)
        return simulated_answer(request, jobs=jobs, progress=progress)
    check_ranking(question)
    (request,) = ranking_requests(question)
    return ranking_answer(question, request, progress)


def _choice(wishes: Wishes, question: Question, progress: Progress) -> Choice:
    check_data(question)
    if question.sample is None:
        return make_choice(wishes)
    frequencies = simulated_frequencies(wishes.asked_of(question))
    return make_choice(wishes, frequencies, question, progress)


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
