"""What a session does: its changes and buttons, the newest answer and its parts as they are ready, and files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TypeVar

from shiny import Inputs, Outputs, Session, reactive, render, req, ui

from advisor.answers.rank.outlook import Stops
from advisor.extensions.app.files import Uploads
from advisor.extensions.app.pieces import PageAnswer, refusal
from advisor.extensions.app.session import Page
from advisor.extensions.app.state import Data
from advisor.extensions.app.worker import WorkerPool

T = TypeVar("T")


def server_of(uploads: Uploads, workers: WorkerPool) -> Callable[[Inputs, Outputs, Session], None]:
    """Return what is done for each session."""

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002 - as Shiny calls it
        page = Page(input, session, uploads, workers)
        _follow_changes(page)
        _follow_buttons(page)
        _complete_answers(page)
        _add_outputs(page, output)
        _add_downloads(page)

    return server


def _follow_changes(page: Page) -> None:
    """Answer all changes of the controls, of the data and of the dials."""
    inputs = page.inputs

    @reactive.effect
    def answer() -> None:
        state = page.state()
        wrong = state.wrong()
        page.stop()
        page.send("address", state.query)
        if wrong:
            page.refuse(wrong)
            page.tell_work("")
        else:
            page.begin(state if state.data != Data() else state.example)

    reactive.effect(page.offer_columns)

    @reactive.effect
    def fail() -> None:
        if page.answering.status() == "error":
            raise page.answering.error()

    @reactive.effect
    @reactive.event(inputs.dropped)
    def take_file() -> None:
        digest, name = (str(inputs.dropped()[key]) for key in ("digest", "name"))
        page.take(Data("", digest, name))

    @reactive.effect
    @reactive.event(inputs.shape)
    def take_shape() -> None:
        data = Data(str(inputs.shape()))
        if data.shape and data != page.data():
            page.take(data)


def _follow_buttons(page: Page) -> None:
    """Do what the buttons of the page say."""
    inputs = page.inputs

    @reactive.effect
    @reactive.event(inputs.simulate)
    def simulate() -> None:
        page.declined = ""
        page.wanted.set(page.state().question)

    @reactive.effect
    @reactive.event(inputs.cancel)
    def cancel() -> None:
        page.answering.cancel()
        page.declined = page.state().question
        page.wanted.set("")
        page.tell_work("Cancelled.", offers=True)

    @reactive.effect
    @reactive.event(inputs.again)
    def draw_another() -> None:
        page.again.set(page.again() + 1)


def _complete_answers(page: Page) -> None:
    """Compute the rest for each new answer: the curve, pictures, and reasons."""

    @reactive.effect
    def complete() -> None:
        answer, again = page.current(), page.again()
        if answer is None:
            return
        before, stops = page.curve or (None, ())
        at = None if before is None or before.about != answer.about else _place(stops, answer)
        is_kept = before is not None and at is not None and before.key == answer.key
        if is_kept:
            page.send("turn", {"at": at, "setting": answer.state.setting})
        page.completing.cancel()
        page.completing.invoke(answer, again, None if at is None else stops, is_kept)

    @reactive.effect
    def explain() -> None:
        if (answer := page.current()) is not None:
            page.explaining.cancel()
            page.explaining.invoke(answer)


def _place(stops: Stops, answer: PageAnswer) -> tuple[int, ...] | None:
    """Return the places of ε and n on the dials of a curve; None if either is not on its dial."""
    point = () if answer.first is None else (answer.first.request.epsilon, answer.first.request.n)
    if not point or len(stops) != len(point) or any(stop not in dial for stop, dial in zip(point, stops, strict=True)):
        return None
    return tuple(dial.index(stop) for stop, dial in zip(point, stops, strict=True))


def _add_outputs(page: Page, output: Outputs) -> None:
    """Show the newest answer: verdict, first rows and what to take away at once, what takes longer when it is there."""

    def show(name: str, html: Callable[[], str]) -> None:
        def made() -> ui.HTML:
            return ui.HTML(html())

        made.__name__ = name  # by which Shiny knows the output
        output(suspend_when_hidden=False)(render.ui(made))  # an empty one takes no place

    def verdict() -> str:
        answer, wrong = page.current(), page.wrong()
        with reactive.isolate():
            if wrong is not None:
                return refusal(page.state(), wrong)
            return "" if answer is None else answer.verdict(stands_in=page.data() == Data())

    def piece(name: str) -> str:
        answer = page.current()
        return "" if answer is None else answer.pieces[name]

    def explorer() -> str:
        curve, html, _ = _newest(page.completing)
        req(curve is not None, cancel_output=True)
        page.curve = curve
        return html

    show("verdict", verdict)
    for name in ("changes", "details", "attacker", "reproduce"):
        show(name, partial(piece, name))
    show("explorer", explorer)
    show("rest", lambda: _newest(page.completing)[2])
    show("why", lambda: _newest(page.explaining))


def _newest(task: reactive.ExtendedTask[..., T]) -> T:
    """Return what a task has brought; until it has, what is shown stays."""
    req(task.status() in ("success", "error"), cancel_output=True)
    return task.result()


def _add_downloads(page: Page) -> None:
    """Add the files of the newest answer, made when they are asked for, in memory."""

    def answer() -> PageAnswer:
        with reactive.isolate():
            current = page.current()
        assert current is not None  # noqa: S101 - the links come with an answer
        return current

    def add(
        name: str, file: str | Callable[[], str], media_type: str, make: Callable[[PageAnswer], str | bytes]
    ) -> None:
        async def made() -> AsyncIterator[str | bytes]:
            yield await asyncio.to_thread(make, answer())

        made.__name__ = name  # by which Shiny knows the link
        render.download_link(filename=file, media_type=media_type)(made)

    add("take_page", "ldp-advise.html", "text/html", PageAnswer.page)
    add("take_csv", "ldp-advise.csv", "text/csv", PageAnswer.csv)
    add("take_applied", "repaired.csv", "text/csv", lambda answer: answer.applied() or "")
    add("take_code", "collection.zip", "application/zip", PageAnswer.code)
    add(
        "take_data",
        lambda: next(iter(answer().made_up()), "data.csv"),
        "text/csv",
        lambda answer: b"".join(answer.made_up().values()),
    )
