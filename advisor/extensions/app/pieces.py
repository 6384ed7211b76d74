"""The content of a page for a state: its first paint, the answers as pieces of HTML, and files to download."""

from __future__ import annotations

import io
import shlex
import zipfile
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from threading import Lock
from typing import Any

import numpy as np
from jinja2 import PackageLoader
from markupsafe import Markup

from advisor.answers.epsilon import meaning
from advisor.answers.rank.apply import applied_csv
from advisor.answers.rank.outlook import Stops, outlook
from advisor.answers.rank.result import Answer, Ranking
from advisor.answers.rank.why import why_of
from advisor.errors import InputError, listed
from advisor.extensions.app.files import LARGEST, MEGABYTE
from advisor.extensions.app.goals import SHAPES, PageGoal, blamed, goals, worded, worded_document, worded_section
from advisor.extensions.app.state import EXAMPLE, Result, State, decision, ranking, result_of
from advisor.extensions.choose.answer import Choice, Reason
from advisor.extensions.choose.document import meaning_lines
from advisor.extensions.code.answer import files_of
from advisor.extensions.code.collection import CodedCollection
from advisor.show.data import csv_text
from advisor.show.model import Code, Document, Figure, Part, Role, Section, Sentence, Table, Tone, Verdict, View
from advisor.show.page import ENVIRONMENT, explorer_html, page_html, section_html
from advisor.show.pictures import to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.rank.document import reasons_section
from advisor.show.rank.explorer import explorer_of
from advisor.show.sentences import meaning_sentences
from simulator import FrequencyOracle
from simulator.seeding import rng_for

REPORTS = 6  # number of a user's reports that are shown
LARGEST_DOMAIN = 5000  # above it, a report fits too many answers to examine all of them at once
drawing = Lock()  # matplotlib draws one picture at a time
TEMPLATES = ENVIRONMENT.overlay(loader=PackageLoader("advisor.extensions.app", "static"))
WORDS = {"goals": goals(), "shapes": SHAPES, "example": EXAMPLE, "megabytes": LARGEST // MEGABYTE}  # of a first paint
MACROS: Any = TEMPLATES.get_template("answer.html").module


def first_paint(state: State) -> str:
    """Return the page of a state before its answer, with a mark where Shiny inserts its script."""
    filled = {name for name, value in state.values.items() if value}
    return TEMPLATES.get_template("page.html").render(WORDS, state=state, goal=state.goal, set=filled)


@dataclass(frozen=True, eq=False)
class PageAnswer:
    """The answers for a state."""

    state: State
    decision: Result | None  # the choice of ε, if requested
    ranking: Result

    @property
    def first(self) -> Ranking | None:
        """The ranking; None for places, or if no pair satisfies the constraints."""
        value = self.ranking.value
        return value.first if isinstance(value, Answer) and value.first.recommendations else None

    @property
    def answers(self) -> tuple[Result, ...]:
        """The answers, with the answer to the question of the page first."""
        return (self.ranking,) if self.decision is None else (self.decision, self.ranking)

    @property
    def key(self) -> tuple[object, ...]:
        """All values that the curve depends on, except those of its dials."""
        decided = () if self.decision is None else self.decision.inquiry.words
        return self.about, self.state.simulated, decided if self.state.simulated else ()

    @property
    def about(self) -> tuple[object, ...]:
        """The question without ε and n, which the dials of the curve set."""
        values = {name: text for name, text in self.state.values.items() if name not in ("eps", "n")}
        return self.state.data, *values.items()

    @cached_property
    def pieces(self) -> Mapping[str, str]:
        """What is shown at once, by its place on the page: what follows the verdict, tables, and what reports show."""
        ranked, choice = self._arranged(self.ranking), choice_of(self.decision)
        pieces = {"reproduce": TEMPLATES.get_template("take.html").render(answer=self), "attacker": self._attacker()}
        if self.decision is None or choice is None:
            title = ranked.table.name if ranked.table is not None else ""
            pieces |= {"changes": ranked.first(self.state.goal), "details": MACROS.section(title, ranked.shown())}
        else:
            asks_nothing = choice.reason == Reason.NOTHING_ASKED  # there is no pair to use
            best = Sentence(ranked.verdict.text[:1].upper() + ranked.verdict.text[1:])
            parts = _parts(best) + ranked.first(self.state.goal) + ranked.shown()
            pieces["changes"] = self._arranged(self.decision).first(self.state.goal)
            title = f"The best pair with ε = {budget_of(choice):g}"
            pieces["details"] = "" if asks_nothing else MACROS.section(title, parts)
        return {place: marked(self.state, html) for place, html in pieces.items()}

    def verdict(self, *, stands_in: bool = False) -> str:
        """Return the decision with its sentence and its figures; `stands_in`: as that of an example."""
        document = worded_document(self.answers[0].document, self.state.goal)
        assert document.verdict is not None  # noqa: S101 - every answer of a page has one
        first, *figures = replace(document.verdict, changes=()).sentences
        first = replace(first, badge=f"Example: {first.badge}") if stands_in else first
        return marked(self.state, _parts(first, *figures))

    def explorer(self, stops: Stops | None = None) -> tuple[str, Stops]:
        """Return the figures that change with ε and n, and the values of both; "" if there are no figures.

        `stops` are the values to offer, if already known: a dial keeps its values while it is turned.
        """
        expected = None if self.first is None else outlook(self.first, stops)
        if expected is None:
            return "", ()
        figures = explorer_of(expected)
        return marked(self.state, explorer_html(figures)), tuple(dial.values for dial in figures.dials)

    def rest(self, again: int) -> str:
        """Return what takes longer: all rows and columns, what the answer rests on, and pictures."""
        ranked, decided = self._arranged(self.ranking), self.decision
        folds = [] if decided is None else [("More about this decision", _parts(*self._arranged(decided).rest))]
        folds = [*ranked.folds(), *folds]
        with drawing:
            if self.first is None:
                pictures = "".join(map(section_html, self.ranking.document.sections()))
            else:
                figure = frequencies_figure(self.first, again)
                picture = Figure("", "", lambda: to_svg(figure, "frequencies"))
                pictures = MACROS.collection(picture, self.first.request.collected is None)
        return marked(self.state, "".join((*(MACROS.fold(title, html) for title, html in folds if html), pictures)))

    def why(self) -> str:
        """Return the reasons for the first pair, folded; "" if there are none."""
        if self.first is None:
            return ""
        section = worded_section(reasons_section(self.first, why_of(self.first)), self.state.goal)
        return marked(self.state, MACROS.fold(section.title, _parts(*section.parts)))

    def _arranged(self, answer: Result) -> _Arranged:
        """Return a document in the order of the page, without what another place of the page says."""
        choice = choice_of(answer)
        silent = {self.code_line(), *(one.line for one in self.answers)}
        if choice is not None:
            silent |= {*meaning_lines(choice)}
        elif self.first is not None:
            best, request = self.first.best, self.first.request
            guess = request.oracle(best.protocol).attack_success
            silent |= {*meaning_sentences(meaning(request.epsilon, request.k, best.protocol, guess))}
        return _Arranged.of(worded_document(answer.document, self.state.goal), silent, is_decided=choice is not None)

    def _attacker(self) -> str:
        """Return which answers a few reports leave open, and what the promise is like: the explorer has its figures."""
        if self.first is None:
            return ""
        best, request = self.first.best, self.first.request
        lines = meaning_sentences(meaning(request.epsilon, request.k))[2:]
        protocol, answer = request.oracle(best.protocol), int(np.argmax(request.counts))
        reports: list[np.ndarray] = []  # for each, the answers that it fits
        if isinstance(protocol, FrequencyOracle) and request.k <= LARGEST_DOMAIN and best.protocol != "she":
            stream, user = rng_for(request.seed, "attacker", protocol.key), np.array([answer])
            reports = [
                np.flatnonzero(np.asarray(protocol.support(protocol.perturb(user, stream))) > 0) for _ in range(REPORTS)
            ]
        label = request.labels[answer] if request.labels else str(answer)
        return str(MACROS.attacker([fits.tolist() for fits in reports], request.k, answer, label, lines))

    @property
    def python(self) -> str:
        """Python code that reproduces the answer, with a call for each command line."""
        return "\n\n".join(answer.python for answer in self.answers)

    def page(self) -> str:
        """Return the page to download."""
        with drawing:
            return page_html(self.answers[0].document, self.answers[0].line)

    def csv(self) -> str:
        """Return the rows as CSV."""
        return csv_text(self.ranking.document)

    def applied(self) -> str | None:
        """Return the repaired frequencies; None without collected data."""
        first = self.first
        return None if first is None or first.request.collected is None else applied_csv(first)

    @cached_property
    def coded(self) -> CodedCollection | None:
        """What ``ldp-advise code`` writes, for the best pair with a single method; None if that has no code."""
        if self.first is None or (best := self.first.best_alone) is None:
            return None
        try:
            return CodedCollection(best.protocol, best.method, self.first.request.k, self.first.request.epsilon)
        except ValueError:
            return None

    def code(self) -> bytes:
        """Return the code as a zip file, with nothing in it if there is none."""
        texts = {} if self.coded is None else files_of(self.coded)
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(zipfile.ZipInfo(f"collection/{name}"), text)
        return target.getvalue()

    def code_line(self) -> str:
        """Return the command that writes the same code; "" if there is none."""
        if (coded := self.coded) is None:
            return ""
        words = ("--protocol", coded.protocol, "--method", coded.method, "--eps", f"{coded.epsilon:.12g}")
        return shlex.join(("ldp-advise", "code", *words, "--k", str(coded.k), "--to", "collection"))

    def made_up(self) -> dict[str, bytes]:
        """Return the files in the command lines that the user did not provide: the assumed sample, or the example."""
        if self.state.data.digest not in ("", EXAMPLE):
            return {}
        return {name: file.content for answer in self.answers for name, file in answer.inquiry.files.items()}


def page_answer(state: State, value: Any = None, choice: Any = None) -> PageAnswer:
    """Return the answers for a state; `value` and `choice` are its ranking and its decision, if already known.

    Raises InputError as the command line does.
    """
    inquiry = decision(state)
    result = None if inquiry is None else result_of(inquiry, choice)
    return PageAnswer(state, result, result_of(ranking(state, budget_of(choice_of(result))), value))


def choice_of(result: Result | None) -> Choice | None:
    """Return the choice of a budget, if requested."""
    return result.value if result is not None and isinstance(result.value, Choice) else None


def budget_of(choice: Choice | None) -> float | None:
    """Return the budget of a decision: the budget to collect with, or the largest budget."""
    return None if choice is None else choice.epsilon or choice.case.limit


def faults(state: State, error: InputError | MemoryError) -> dict[str, str]:
    """Return errors by the control at fault, "general" without a control, in the words of the page."""
    if isinstance(error, MemoryError):
        return {"data": "There is not enough memory for this: fewer categories take less."}
    message = str(error)
    if state.data.name and message.startswith(state.data.name):  # of the file, unless it is for one control
        about = "".join(message.partition(" for --")[1:])
        control = blamed(InputError(about, error.fields), state.goal) or "data"
    else:
        control = blamed(error, state.goal) or "general"
    return {control: worded(message, state.goal)}


def marked(state: State, html: str) -> str:
    """Return a piece of an answer with what the page is set to where it holds: by this the page dims older ones."""
    return f'<data class="setting" value="{escape(state.setting)}" hidden></data>{html}' if html else ""


def refusal(state: State, messages: Mapping[str, str]) -> str:
    """Return the verdict where there is no answer: what is wrong, or where that is said if it is several things."""
    names = {control.name: control.label for control in state.goal.controls} | {"data": state.goal.data}
    text = next(iter(messages.values()))
    if len(messages) > 1:
        text = f"{listed(f'“{names.get(name, name)}”' for name in messages)} need another value."
    return marked(state, _parts(Sentence(text, Role.ANSWER, Tone.BAD, "No answer")))


@dataclass(frozen=True)
class _Arranged:
    """A document in the order of the page."""

    verdict: Verdict
    lead: tuple[Part, ...]  # sentences that follow the verdict, warnings first
    table: Table | None  # the ranking
    below: tuple[Part, ...]  # sentences about it
    rest: tuple[Part, ...]  # folded

    @classmethod
    def of(cls, document: Document, silent: Container[str], *, is_decided: bool) -> _Arranged:
        """Return the parts of a document, without silent texts; of a decision, only its answer is not folded."""
        assert document.verdict is not None  # noqa: S101 - every answer of a page has one
        parts = [part for part in document.parts if not (isinstance(part, Sentence | Code) and part.text in silent)]
        table = next((part for part in parts if isinstance(part, Table) and not (part.verbose or is_decided)), None)
        cut = len(parts) if table is None else parts.index(table)
        folded = {Role.LEGEND} | ({Role.DETAIL, Role.NOTE} if is_decided else set())
        shown = [part for part in parts if isinstance(part, Sentence) and part.role not in folded]
        warnings = [part for part in shown if part.role is Role.WARNING]
        lead, below = (
            [one for one in some if one in shown and one not in warnings] for some in (parts[:cut], parts[cut:])
        )
        rest = [part for part in parts if part is not table and part not in shown]
        return cls(document.verdict, (*warnings, *lead), table, tuple(below), tuple(rest))

    def first(self, goal: PageGoal) -> Markup:
        """Return what would change the answer, as buttons where the page can do it, and the sentences after it."""
        changes: Markup = MACROS.changes(self.verdict.changes, goal)
        return changes + _parts(*self.lead)

    def shown(self) -> Markup:
        """Return the first rows of the ranking, and the sentences about it."""
        if self.table is None:
            return _parts(*self.below)
        table, notes = View().table(self.table)
        columns = tuple(replace(column, meaning="") for column in table.columns)
        return _parts(replace(table, columns=columns, hidden=0), *notes, *self.below)

    def folds(self) -> list[tuple[str, Markup]]:
        """Return what is unfolded on request, each with its title: the whole ranking, and what it rests on."""
        folds = [("What it rests on", _parts(*self.rest))]
        if self.table is None:
            return folds
        ranked = sum(not row.extra for row in self.table.rows)
        title = f"All {ranked:,} {self.table.noun}, and all columns"
        return [(title, _parts(replace(self.table, cut=False, heading=title))), *folds]


def _parts(*parts: Part) -> Markup:
    return Markup(section_html(Section("", parts, first=True)))  # noqa: S704 - the templates escape what is the user's
