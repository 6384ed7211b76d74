"""Whom the page of an answer is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from advisor.checks import choice
from advisor.cli.run import Output
from advisor.errors import InputError
from advisor.question.option import Settings, option
from advisor.show.decision import Decision, decision_html
from advisor.show.model import Document

A = TypeVar("A")
DETAILS, DECISION = "details", "decision"


@dataclass(frozen=True, kw_only=True)
class Audience(Settings):
    """Whom the page is for."""

    panel: ClassVar[str] = "Output"

    audience: str = option(
        "--for",
        read=choice((DETAILS, DECISION)),
        metavar="WHAT",
        default=DETAILS,
        advanced=True,
        help="what the page is for: details, or a decision, in plain words",
    )

    def page(
        self, document: Callable[[A], Document], decide: Callable[[A], Decision], output: Output
    ) -> Callable[[A], Document]:
        """Return what makes the document of an answer, with a page for the readers that were named.

        Raises InputError if no page is written.
        """
        if self.audience == DETAILS:
            return document
        if output.report is None and output.chosen_format != "html":
            raise InputError("--for is about a page: give --report FILE.html too, or --format html")

        def decision_page(answer: A) -> Document:
            decision = decide(answer)
            return replace(
                document(answer), page=lambda shown, line: decision_html(decision, output.title or "", shown, line)
            )

        return decision_page
