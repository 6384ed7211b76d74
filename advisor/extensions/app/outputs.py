"""The outputs of a session: the newest answer, its parts as they are ready."""

from __future__ import annotations

from typing import TypeVar

from shiny import Outputs, reactive, render, req, ui

from advisor.answers.rank.outlook import Stops
from advisor.extensions.app.session import Page
from advisor.extensions.app.shown import PageAnswer
from advisor.extensions.app.takeaways import reproduce_html

T = TypeVar("T")


def add_outputs(page: Page, output: Outputs) -> None:
    """Show the answer of a session: the verdict and its tables at once, what takes longer when it is there."""
    _add_answer(page, output)
    _begin_the_rest(page)
    _add_the_rest(page, output)


def _add_answer(page: Page, output: Outputs) -> None:
    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def verdict() -> ui.HTML:
        answer = page.current()
        return ui.HTML("" if answer is None else answer.pieces[0])

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def details() -> ui.HTML:
        answer = page.current()
        return ui.HTML("" if answer is None else answer.pieces[1])

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def reproduce() -> ui.HTML:
        answer = page.current()
        return ui.HTML("" if answer is None else reproduce_html(answer))


def _begin_the_rest(page: Page) -> None:
    """Have the rest worked out for every new answer: the curve, pictures, and reasons."""

    @reactive.effect
    def explain() -> None:
        answer = page.current()
        if answer is not None:
            page.explaining.cancel()
            page.explaining.invoke(answer)

    @reactive.effect
    def explore() -> None:
        answer = page.current()
        if answer is None:
            return
        kept = page.kept
        stops = None if kept is None or kept.answer.about != answer.about else kept.stops
        at = None if stops is None else _place(stops, answer)
        if at is None or kept is None or kept.answer.key != answer.key:
            page.exploring.cancel()
            page.exploring.invoke(answer, None if at is None else stops)
        else:
            page.send("turn", at)

    @reactive.effect
    def draw() -> None:
        answer, again = page.current(), page.again()
        first = None if answer is None else answer.first
        repeats = first is not None and first.request.collected is None
        title = "One simulated collection" if repeats else "The estimate, raw and repaired"
        page.send("collection", {"shown": first is not None, "repeats": repeats, "title": title})
        if answer is not None:
            page.drawing.cancel()
            page.drawing.invoke(answer, again)


def _add_the_rest(page: Page, output: Outputs) -> None:
    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def explorer() -> ui.HTML:
        page.kept, html = _newest(page.exploring)
        return ui.HTML(html)

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def attacker() -> ui.HTML:
        return ui.HTML(_newest(page.drawing)[0])

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def frequencies() -> ui.HTML:
        return ui.HTML(_newest(page.drawing)[1])

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def further() -> ui.HTML:
        return ui.HTML(_newest(page.explaining))


def _newest(task: reactive.ExtendedTask[..., T]) -> T:
    """Return what a task has brought; until it has, what is shown stays."""
    req(task.status() in ("success", "error"), cancel_output=True)
    return task.result()


def _place(stops: Stops, answer: PageAnswer) -> tuple[int, ...] | None:
    """Return the places of ε and n on the dials of a curve; None where one of them is not on its dial."""
    request = None if answer.first is None else answer.first.request
    point = () if request is None else (request.epsilon, request.n)
    if not point or len(stops) != len(point) or any(one not in dial for one, dial in zip(point, stops, strict=True)):
        return None
    return tuple(dial.index(one) for one, dial in zip(point, stops, strict=True))
