"""What a page shows of a state: the answers behind it, as pieces of HTML, and the files to take away."""

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

from advisor.answers.clients.collection import CodedCollection
from advisor.answers.rank.apply import applied_csv
from advisor.answers.rank.outlook import Stops, outlook
from advisor.answers.rank.result import Answer, Ranking, Recommendation
from advisor.answers.rank.why import why_of
from advisor.errors import InputError
from advisor.extensions.app.answers import Answered, answered
from advisor.extensions.app.attacker import attacker_section, promise_section
from advisor.extensions.app.state import State, decision, ranking
from advisor.extensions.app.wording import blamed, worded, worded_document, worded_section
from advisor.extensions.choose.answer import Choice
from advisor.extensions.choose.case import Reason
from advisor.extensions.code.answer import files_of
from advisor.show.data import csv_text
from advisor.show.model import Code, Document, Part, Role, Sentence, Table
from advisor.show.page import RESTS_ON, explorer_html, page_html, pieces_html, section_html, svg_html
from advisor.show.pictures import to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.rank.document import reasons_section
from advisor.show.rank.explorer import explorer_of

CHANGE = "change"  # what the table of changes that would be enough begins with
drawing = Lock()  # matplotlib draws one picture at a time


@dataclass(frozen=True, eq=False)
class PageAnswer:
    """The answers for a state."""

    state: State
    decision: Answered | None  # which ε, where that is asked
    ranking: Answered

    @property
    def first(self) -> Ranking | None:
        """The ranking; None where the answer is about places, or nothing is left."""
        value = self.ranking.value
        return value.first if isinstance(value, Answer) and value.first.recommendations else None

    @property
    def main(self) -> Answered:
        """The answer to the question of the page."""
        return self.decision or self.ranking

    @property
    def key(self) -> tuple[object, ...]:
        """What the curve depends on besides the values of its dials."""
        decided = () if self.decision is None else self.decision.asked.words
        return self.about, self.state.simulated, decided if self.state.simulated else ()

    @property
    def about(self) -> tuple[object, ...]:
        """What is asked besides ε and n, which the dials of the curve set."""
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
        more = "".join(html for _, html in pieces_html(replace(document, verdict=None, parts=rest))[1])
        details = f"<section>{_folded('More about this decision', more)}</section>" if more else ""
        then, blocks = pieces_html(ranked)
        best = f'<section class="at"><h2>The best pair with ε = {self.epsilon:g}</h2>{then}</section>'
        choice = choice_of(self.decision)
        if choice is not None and choice.reason == Reason.NOTHING_ASKED:  # no pair is to be used
            best, blocks = "", ()
        return verdict + "".join(html for _, html in changes), f"{best}{_blocks_html(blocks)}{details}"

    @property
    def epsilon(self) -> float | None:
        """The budget of the ranking."""
        return None if self.first is None else self.first.request.epsilon

    def explorer(self, stops: Stops | None = None) -> tuple[str, Stops]:
        """Return the figures that move with ε and n, and the values that these can have; "" where there are none.

        `stops` are values to offer, where that is known already: a dial that is turned stays the same dial.
        """
        expected = None if self.first is None else outlook(self.first, stops)
        if expected is None:
            return "", ()
        made = explorer_of(expected)
        return explorer_html(made), tuple(dial.values for dial in made.dials)

    def further(self) -> str:
        """Return the reasons, folded, or the pictures of an answer that has no "again"."""
        if self.first is not None:
            section = worded_section(reasons_section(self.first, why_of(self.first)), self.state.goal)
            return f"<section>{_folded(section.title, section_html(replace(section, first=True)))}</section>"
        with drawing:
            return "".join(map(section_html, self.ranking.document.sections()))

    def attacker(self, again: int) -> str:
        """Return what an attacker sees, and the promise in words."""
        if self.first is None:
            return ""
        return section_html(attacker_section(self.first, again)) + section_html(promise_section(self.first))

    def frequencies(self, again: int) -> str:
        """Return the picture of one simulated collection; "" where there is none."""
        if self.first is None:
            return ""

        with drawing:
            return svg_html(to_svg(frequencies_figure(self.first, again), "frequencies"))

    @property
    def lines(self) -> tuple[str, ...]:
        """The command lines that give the same."""
        return tuple(one.line for one in (self.decision, self.ranking) if one is not None)

    @property
    def python(self) -> str:
        """The same in Python, a call for each command line."""
        return "\n\n".join(one.python for one in (self.decision, self.ranking) if one is not None)

    def page(self) -> str:
        """Return the page to take away."""
        with drawing:
            return page_html(self.main.document, self.main.line)

    def csv(self) -> str:
        """Return the rows as CSV."""
        return csv_text(self.ranking.document)

    def applied(self) -> str | None:
        """Return the repaired frequencies; None where nothing was collected."""
        first = self.first
        return None if first is None or first.request.collected is None else applied_csv(first)

    def code(self) -> bytes:
        """Return the code of ``ldp-advise code`` as a zip file; raises InputError where the pair has none."""
        if self.first is None:
            raise InputError("code is written for categories, not for places")
        best, request = _written(self.first), self.first.request
        budget = best.epsilon or request.epsilon
        try:
            made = files_of(CodedCollection(best.protocol, best.method, request.k, budget))
        except ValueError as error:
            raise InputError(str(error)) from None
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in made.items():
                archive.writestr(zipfile.ZipInfo(f"collection/{name}"), text)
        return target.getvalue()

    def code_line(self) -> str:
        """Return the command that writes the same code."""
        if self.first is None:
            return ""
        best, request = _written(self.first), self.first.request
        budget = best.epsilon or request.epsilon
        pair = ("--protocol", best.protocol, "--method", best.method, "--eps", f"{budget:.12g}", "--k", str(request.k))
        return shlex.join(("ldp-advise", "code", *pair, "--to", "collection"))

    def made_up(self) -> dict[str, bytes]:
        """Return the files that the command lines name and nobody has dropped: the assumed one, or the example."""
        own = self.state.data.digest if self.state.held is not None else ""
        if own and own in self.state.files:
            return {}
        every = [one.asked.files for one in (self.decision, self.ranking) if one is not None]
        return {name: held.content for files in every for name, held in files.items()}


def _written(ranking: Ranking) -> Recommendation:
    """Return the best row that code is written for: that of one method."""
    return ranking.best_alone or ranking.best


def look_up(state: State) -> PageAnswer:
    """Return the answers, worked out here; raises InputError as the command line does."""
    return shown(state)


def shown(state: State, value: Any = None, choice: Any = None) -> PageAnswer:
    """Return the answers for a state; what its ranking and its decision answer, where that was worked out elsewhere."""
    asked = decision(state)
    chosen = None if asked is None else answered(asked, choice)
    return PageAnswer(state, chosen, answered(ranking(state, budget_of(choice_of(chosen))), value))


def choice_of(chosen: Answered | None) -> Choice | None:
    """Return what was chosen, where a budget was asked for."""
    return chosen.value if chosen is not None and isinstance(chosen.value, Choice) else None


def budget_of(choice: Choice | None) -> float | None:
    """Return the budget that a decision is about: the one to collect with, or the largest."""
    return None if choice is None else choice.epsilon or choice.case.limit


def faults(state: State, error: BaseException) -> dict[str, str]:
    """Return what is wrong by the control that is to blame, "general" for none, in the words of the page."""
    if isinstance(error, MemoryError):
        return {"data": "There is not enough memory for this: fewer categories take less."}
    message = str(error)
    if state.file_name and message.startswith(state.file_name):  # of the file, unless it is for one control
        about = "".join(message.partition(" for --")[1:])
        control = blamed(about, state.goal) or "data"
    else:
        control = blamed(message, state.goal) or "general"
    return {control: worded(message, state.goal)}


def _first_and_rest(document: Document) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts of a decision that stand beside its verdict, and the others but commands.

    First come its sentences up to the first note or table, that table where it holds what would change the decision,
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


def _blocks_html(blocks: Iterable[tuple[str, str]]) -> str:
    """Return blocks under their headings; what they rest on is folded."""
    return "".join(
        f"<section>{_folded(title, html)}</section>" if title == RESTS_ON
        else f"<section><h2>{escape(title or ('Ranking' if '<table' in html else 'More'))}</h2>{html}</section>"
        for title, html in blocks
    )  # fmt: skip


def _folded(title: str, html: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{html}</details>"
