"""One session: what is set on its page, what is under way for it, what was answered last, and what it shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from shiny import Inputs, Outputs, Session, reactive, render, req, ui

from advisor.answers.rank.outlook import Stops
from advisor.errors import InputError
from advisor.extensions.app.files import Uploads, columns_of
from advisor.extensions.app.goals import worded
from advisor.extensions.app.pieces import PageAnswer, budget_of, faults, page_answer, refusal
from advisor.extensions.app.state import Data, Inquiry, State, answer, decision, ranking, state_of
from advisor.extensions.app.worker import WorkerPool
from advisor.question.sample import known_labels
from simulator.progress import Progress, Steady, part

PAUSE = 0.4  # seconds without a change before the parts below the answer are computed
FOLLOWS = 1.5  # seconds without a change before a simulation follows by itself
MOST_FOLLOWED = 4096  # categories up to which it does; above, it takes long, and is asked for
NICENESS = 3  # a simulation gives way to the pages, but does not starve beside other work
LARGE = 1_000_000  # bytes of a file that is not read twice: there a small simulation is hardly sooner
T = TypeVar("T")
Curve: TypeAlias = tuple[PageAnswer, Stops]  # one that is shown: of which answer, and the values of its dials
examples: dict[str, PageAnswer] = {}  # first sights of the examples as their pages begin, by question


class Page:
    """One session."""

    def __init__(self, inputs: Inputs, session: Session, uploads: Uploads, workers: WorkerPool) -> None:
        self.inputs, self.session, self.uploads, self.workers = inputs, session, uploads, workers
        with reactive.isolate():
            first = state_of(session.clientdata.url_search(), uploads)
        self.goal = first.goal
        self.data: reactive.Value[Data] = reactive.Value(first.data)
        # The question whose simulation was asked for, and the one whose simulation was cancelled: any change begins
        # with the first sight again.
        self.wanted: reactive.Value[str] = reactive.Value(first.question if first.simulated else "")
        self.declined = self.begun = ""  # and the one that was answered last
        self.current: reactive.Value[PageAnswer | None] = reactive.Value(None)
        self.wrong: reactive.Value[dict[str, str] | None] = reactive.Value(None)  # by control, or "general"
        self.again: reactive.Value[int] = reactive.Value(0)
        self.curve: Curve | None = None
        self.answering = reactive.ExtendedTask(self._answer)
        self.completing = reactive.ExtendedTask(_rest)
        self.explaining = reactive.ExtendedTask(_reasons)
        uploads.keep(first.data.digest)
        session.on_ended(self.end)

    def take(self, data: Data) -> None:
        """Show other data."""
        self.uploads.keep(data.digest)
        self.uploads.release(self.data().digest)
        self.data.set(data)

    def end(self) -> None:
        """Give up what is held for the page."""
        self.stop()
        with reactive.isolate():
            self.uploads.release(self.data().digest)

    def stop(self) -> None:
        """End what is under way: nobody is there to see it."""
        for task in (self.answering, self.completing, self.explaining):
            task.cancel()

    def state(self) -> State:
        """Return what the page is set to."""
        values = {control.name: _text(self.inputs[control.name]()) for control in self.goal.controls}
        state = State(self.goal, values, self.data(), files=self.uploads)
        return replace(state, simulated=state.question == self.wanted())

    def send(self, kind: str, message: Any) -> None:
        """Tell the browser something that is no output."""
        _start(self.session.send_custom_message(kind, message))

    def refuse(self, messages: dict[str, str]) -> None:
        """Show what is wrong, in the verdict and beside the controls."""
        self.wrong.set(messages)
        self.send("errors", messages)

    def offer_columns(self) -> None:
        """Have the columns of the file offered; its begin may have to be unpacked, which other pages need not await."""

        async def offer() -> None:
            self.send("columns", await asyncio.to_thread(columns_of, held))

        held = State(self.goal, {}, self.data(), files=self.uploads).held
        _start(offer())

    def tell_work(self, words: str, share: float | None = None, *, running: bool = False, offers: bool = False) -> None:
        """Show the progress of the running answer, and whether a simulation can be asked for."""
        self.send("work", {"words": words, "share": share, "running": running, "offers": offers})

    def begin(self, state: State) -> None:
        """Begin to answer a state, unless that its simulation is no longer wanted is all that has changed."""
        self.send("errors", {})
        before, self.begun = self.begun, state.question
        with reactive.isolate():
            current, stands_in = self.current(), state.data != self.data()
        is_shown = current is not None and current.state.question == state.question
        if is_shown:
            self.wrong.set(None)
        if before == self.declined == state.question and not state.simulated:
            self.tell_work("Cancelled.", offers=True)
        elif not (stands_in and is_shown):
            self.answering.invoke(state, is_shown, stands_in)

    async def _answer(self, state: State, is_shown: bool, stands_in: bool) -> None:
        """Show the first sight of a state, and then its simulation, where it is asked for or follows by itself.

        is_shown: whether an answer to the same question is shown already. stands_in: whether it is that of the example.
        """
        declined = self.declined == state.question
        predicted = not self.goal.few
        sight = "Predicted, not simulated." if predicted else "A first sight, from few repetitions."
        has_first_sight = predicted or state.held is None or len(state.held.content) <= LARGE
        if has_first_sight and not (state.simulated and is_shown):
            first = await self._worked_out(replace(state, simulated=False))
            if isinstance(first, PageAnswer):
                await self._show(first)
                is_shown = True
                if stands_in:
                    self.tell_work("")
                    return
                if not state.simulated and (declined or not _follows(first)):
                    self.tell_work(sight, offers=True)
                    return
                if not state.simulated:
                    self.tell_work(f"{sight} The simulation follows.", running=True)
                    await asyncio.sleep(FOLLOWS)
            else:
                # A pair without predictions, such as the user's method, can be simulated.
                offers = predicted and "data" not in first
                if not (offers and state.simulated):
                    await self._show(first)
                    self.tell_work("", offers=offers)
                    return
        elif declined:
            self.tell_work("Cancelled.", offers=True)
            return
        self.tell_work("Simulating …", running=True)
        whole = await self._worked_out(replace(state, simulated=True))
        if isinstance(whole, PageAnswer) or not is_shown:
            await self._show(whole)
            self.tell_work("")
        else:
            self.tell_work(f"Not simulated: {' '.join(whole.values())}")

    async def _worked_out(self, state: State) -> PageAnswer | dict[str, str]:
        """Return the answer for a state, or what is wrong, by the control that is to blame."""
        kept = examples if state.question == state.example.question and not state.simulated else {}
        if state.question in kept:
            return kept[state.question]
        try:
            inquiry = await asyncio.to_thread(decision, state)
            task = "Simulating" if state.simulated else "First sight"

            def tell(stage: str, share: float) -> None:
                self.tell_work(f"{task}: {worded(stage, self.goal)}", share or None, running=True)

            progress = Steady(tell)
            first, last = (part(progress, place, 1 if inquiry is None else 2) for place in (0, 1))
            choice = None if inquiry is None else await self._value(state, inquiry, first)
            inquiry = await asyncio.to_thread(ranking, state, budget_of(choice))
            value = await self._value(state, inquiry, first if choice is None else last)
            kept[state.question] = await asyncio.to_thread(page_answer, state, value, choice)
            return kept[state.question]
        except (InputError, MemoryError) as error:
            return faults(state, error)

    async def _value(self, state: State, inquiry: Inquiry, progress: Progress) -> Any:
        """Return what answers a question, from a process that is ended if this is cancelled, unless that is quick."""
        ask = partial(self.workers.answer, inquiry, progress)
        if state.simulated or self.goal.few:
            return await ask(NICENESS if state.simulated else 0)
        k = inquiry.question.domain.k if inquiry.wishes is None else inquiry.wishes.answers
        if (k or 0) > MOST_FOLLOWED:
            return await ask(0)
        for file in inquiry.files.values():
            if file is state.held and known_labels(inquiry.question, file) is None:
                progress("reading the file", 0, 0)
            async with self.workers.reading(file):
                labels = known_labels(inquiry.question, file)
                if (labels or 0) > MOST_FOLLOWED or (labels is None and file is state.held):
                    return await ask(0)
        return await asyncio.to_thread(answer, inquiry)

    async def _show(self, answer: PageAnswer | dict[str, str]) -> None:
        """Show an answer, all of it at once, or what is wrong."""
        async with reactive.lock():
            if isinstance(answer, PageAnswer):
                self.again.set(0)
                self.wrong.set(None)
                self.current.set(answer)
            else:
                self.refuse(answer)
            await reactive.flush()


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "").strip()


def _follows(answer: PageAnswer) -> bool:
    """Return whether the simulation of an answer follows by itself."""
    if answer.state.goal.few:
        return True
    return answer.first is not None and answer.first.request.k <= MOST_FOLLOWED


def _start(work: Coroutine[Any, Any, None]) -> None:
    """Start what nobody waits for: the page may be gone meanwhile."""
    asyncio.ensure_future(work).add_done_callback(lambda done: done.cancelled() or done.exception())


async def _rest(answer: PageAnswer, again: int, stops: Stops | None, is_kept: bool) -> tuple[Curve | None, str, str]:
    """Return the curve, which is None and "" where it is kept, and what else takes longer."""
    await asyncio.sleep(PAUSE)
    html, values = ("", ()) if is_kept else await asyncio.to_thread(answer.explorer, stops)
    return None if is_kept else (answer, values), html, await asyncio.to_thread(answer.rest, again)


async def _reasons(answer: PageAnswer) -> str:
    await asyncio.sleep(2 * PAUSE)
    return await asyncio.to_thread(answer.why)


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

    def add(name: str, file: str | Callable[[], str], make: Callable[[PageAnswer], str | bytes]) -> None:
        async def made() -> AsyncIterator[str | bytes]:
            yield await asyncio.to_thread(make, answer())

        made.__name__ = name  # by which Shiny knows the link
        render.download_link(filename=file)(made)

    add("take_page", "ldp-advise.html", PageAnswer.page)
    add("take_csv", "ldp-advise.csv", PageAnswer.csv)
    add("take_applied", "repaired.csv", lambda answer: answer.applied() or "")
    add("take_code", "collection.zip", PageAnswer.code)
    add(
        "take_data",
        lambda: next(iter(answer().made_up()), "data.csv"),
        lambda answer: b"".join(answer.made_up().values()),
    )
