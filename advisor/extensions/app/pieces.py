"""The content of a page for a state: its first paint, the answers as pieces of HTML, and files to download."""

from __future__ import annotations

import io
import shlex
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from threading import Lock
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from advisor.answers.clients.collection import CodedCollection
from advisor.answers.epsilon import meaning
from advisor.answers.rank.apply import applied_csv
from advisor.answers.rank.outlook import Stops, outlook
from advisor.answers.rank.result import Answer, Ranking
from advisor.answers.rank.why import why_of
from advisor.errors import InputError
from advisor.extensions.app.answers import Result, result_of
from advisor.extensions.app.files import LARGEST, MEGABYTE
from advisor.extensions.app.goals import SHAPES, goals
from advisor.extensions.app.state import EXAMPLE, State, decision, ranking
from advisor.extensions.app.wording import blamed, worded, worded_document, worded_section
from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import Reason
from advisor.extensions.code.answer import files_of
from advisor.figures import percent
from advisor.show.data import csv_text
from advisor.show.model import Code, Column, Document, Part, Role, Row, Section, Sentence, Table
from advisor.show.page import explorer_html, page_html, pieces_html, section_html, svg_html
from advisor.show.pictures import to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.rank.document import reasons_section
from advisor.show.rank.explorer import explorer_of
from advisor.show.rank.table import attacker_text
from advisor.show.sentences import meaning_sentences
from simulator import FrequencyOracle
from simulator.seeding import rng_for

REPORTS = 6  # number of a user's reports that are shown
LARGEST_DOMAIN = 5000  # above it, a report fits too many answers to examine all of them at once
CHANGE = "change"  # first word of the table of sufficient changes
drawing = Lock()  # matplotlib draws one picture at a time
TEMPLATES = Environment(
    loader=PackageLoader("advisor.extensions.app", "static"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.globals |= {"goals": goals(), "shapes": SHAPES, "example": EXAMPLE, "megabytes": LARGEST // MEGABYTE}


def first_paint(state: State) -> str:
    """Return the page of a state before its answer, with a mark where Shiny inserts its script."""
    filled = {name for name, value in state.values.items() if value}
    return TEMPLATES.get_template("page.html").render(state=state, goal=state.goal, set=filled)


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
    def pieces(self) -> tuple[str, str]:
        """The verdict, and the tables and sentences that follow."""
        ranked = worded_document(self.ranking.document, self.state.goal)
        if self.decision is None:
            verdict, blocks = pieces_html(ranked)
            return verdict, _blocks_html(blocks)
        document = worded_document(self.decision.document, self.state.goal)
        first, rest = _first_and_rest(document)
        verdict, changes = pieces_html(replace(document, parts=first))
        more = "".join(html for _, html, _ in pieces_html(replace(document, verdict=None, parts=rest))[1])
        details = f"<section>{_folded('More about this decision', more)}</section>" if more else ""
        then, blocks = pieces_html(ranked)
        choice = choice_of(self.decision)
        best = f'<section class="at"><h2>The best pair with ε = {budget_of(choice):g}</h2>{then}</section>'
        if choice is not None and choice.reason == Reason.NOTHING_ASKED:  # there is no pair to use
            best, blocks = "", ()
        return verdict + "".join(html for _, html, _ in changes), f"{best}{_blocks_html(blocks)}{details}"

    def explorer(self, stops: Stops | None = None) -> tuple[str, Stops]:
        """Return the figures that change with ε and n, and the values of both; "" if there are no figures.

        `stops` are the values to offer, if already known: a dial keeps its values while it is turned.
        """
        expected = None if self.first is None else outlook(self.first, stops)
        if expected is None:
            return "", ()
        figures = explorer_of(expected)
        return explorer_html(figures), tuple(dial.values for dial in figures.dials)

    def further(self) -> str:
        """Return the reasons for the first pair, folded; for places, their maps."""
        if self.first is not None:
            section = worded_section(reasons_section(self.first, why_of(self.first)), self.state.goal)
            return f"<section>{_folded(section.title, section_html(replace(section, first=True)))}</section>"
        with drawing:
            return "".join(map(section_html, self.ranking.document.sections()))

    def attacker(self, again: int) -> str:
        """Return the view of an attacker, and the promise in words."""
        if self.first is None:
            return ""
        return section_html(_attacker_section(self.first, again)) + section_html(_promise_section(self.first))

    def frequencies(self, again: int) -> str:
        """Return the picture of a simulated collection; "" if there is none."""
        if self.first is None:
            return ""
        with drawing:
            return svg_html(to_svg(frequencies_figure(self.first, again), "frequencies"))

    def take_away(self) -> str:
        """Return the commands and the code that reproduce the answer, and the files, under a heading."""
        return TEMPLATES.get_template("take.html").render(answer=self)

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

    def code(self) -> bytes:
        """Return the code of ``ldp-advise code`` as a zip file; empty if there is none."""
        if self.first is None:
            return b""
        try:
            texts = files_of(CodedCollection(*_setting(self.first)))
        except ValueError:
            return b""
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(zipfile.ZipInfo(f"collection/{name}"), text)
        return target.getvalue()

    def code_line(self) -> str:
        """Return the command that writes the same code; "" if there is none."""
        if self.first is None:
            return ""
        protocol, method, k, epsilon = _setting(self.first)
        words = ("--protocol", protocol, "--method", method, "--eps", f"{epsilon:.12g}", "--k", str(k))
        return shlex.join(("ldp-advise", "code", *words, "--to", "collection"))

    def made_up(self) -> dict[str, bytes]:
        """Return the files in the command lines that the user did not provide: the assumed sample, or the example."""
        if self.state.data.digest in self.state.files:
            return {}
        return {name: file.content for answer in self.answers for name, file in answer.inquiry.files.items()}


def _setting(ranking: Ranking) -> tuple[str, str, int, float]:
    """Return protocol, method, k and ε of the generated code: those of the best row that is a single method."""
    best, request = ranking.best_alone or ranking.best, ranking.request
    return best.protocol, best.method, request.k, best.epsilon or request.epsilon


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


def _first_and_rest(document: Document) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts of a decision to show beside its verdict, and the other parts except commands.

    The first parts are its sentences up to the first note or table, that table if it lists changes of the decision,
    and the warnings.
    """
    parts = [part for part in document.parts if not isinstance(part, Code)]
    warnings = [part for part in parts if isinstance(part, Sentence) and part.role is Role.WARNING]
    others = [part for part in parts if part not in warnings]
    cut = next((place for place, part in enumerate(others) if not _is_said_first(part)), len(others))
    if cut < len(others) and isinstance(table := others[cut], Table) and table.columns[0].header == CHANGE:
        cut += 1
    return (*others[:cut], *warnings), tuple(others[cut:])


def _is_said_first(part: Part) -> bool:
    return isinstance(part, Sentence) and part.role is not Role.NOTE


def _blocks_html(blocks: Iterable[tuple[str, str, bool]]) -> str:
    """Return blocks under their headings; their sources, and all rows of long tables, are folded."""
    return "".join(
        f"<section>{_folded(title, html)}</section>"
        if folded
        else f"<section><h2>{escape(title or ('Ranking' if '<table' in html else 'More'))}</h2>{html}</section>"
        for title, html, folded in blocks
    )


def _folded(title: str, html: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{html}</details>"


def _attacker_section(ranking: Ranking, again: int) -> Section:
    """Return what the reports of a user with the most common answer reveal; `again` draws other reports."""
    best, request = ranking.best, ranking.request
    protocol = request.oracle(best.protocol)
    guess = Sentence(
        f"From one report, the best guess of a user's answer is right in {percent(best.attack_success)} of cases, "
        f"{attacker_text(request)}. A report has {protocol.report_bits:,} bits."
    )
    parts: tuple[Part, ...] = (guess,)
    if isinstance(protocol, FrequencyOracle) and request.k <= LARGEST_DOMAIN and best.protocol != "she":
        parts += (_reports(ranking, protocol, again),)
    return Section("What an attacker sees", parts)


def _reports(ranking: Ranking, protocol: FrequencyOracle, again: int) -> Table:
    """Return a few reports of a user, and the number of answers that each report fits."""
    request = ranking.request
    answer = int(np.argmax(request.counts))
    stream = rng_for(request.seed, "attacker", protocol.key, again)
    rows = []
    for place in range(REPORTS):
        report = protocol.perturb(np.array([answer]), stream)
        fits = np.asarray(protocol.support(report)) > 0
        true = "yes" if fits[answer] else "no: it misleads"
        rows.append(Row((str(place + 1), f"{int(fits.sum()):,} of {request.k:,}", true)))
    label = request.labels[answer] if request.labels else str(answer)
    return Table(
        (Column("report", text=True), Column("answers it fits"), Column("the true one too", text=True)),
        tuple(rows),
        f"Six reports of users who all answer {label!r}",
        cut=False,
    )


def _promise_section(ranking: Ranking) -> Section:
    """Return the guarantee of the budget in words."""
    best, request = ranking.best, ranking.request
    guess = request.oracle(best.protocol).attack_success
    sentences = meaning_sentences(meaning(best.epsilon or request.epsilon, request.k, best.protocol, guess))
    return Section("The promise in words", tuple(map(Sentence, sentences)))
