"""One session: what is set on its page, and the answers that follow, each from the newest state alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shiny import Inputs, Outputs, Session, reactive, render, ui

from advisor.app.goals import COMPARE, PLAN
from advisor.app.shown import Shown, blamed, look_up, shown
from advisor.app.state import Data, State, ranking, state_of
from advisor.app.takeaways import add_downloads, reproduce_html
from advisor.app.uploads import Uploads
from advisor.app.worker import Workers
from advisor.errors import InputError

PAUSE = 0.4  # seconds without a change before what takes longer than a look-up is begun
LOOK_UPS = (PLAN, COMPARE)  # pages that can be answered without a simulation

Kept = tuple[tuple[object, ...], tuple[tuple[float, ...], ...]]  # what a curve is about, and the values of its dials


@dataclass(frozen=True, eq=False)
class Wrong:
    """An answer that cannot be given, and the control that is to blame, or ""."""

    state: State
    control: str
    message: str


class Page:
    """One session."""

    def __init__(self, inputs: Inputs, session: Session, uploads: Uploads, workers: Workers) -> None:
        self.inputs, self.session, self.uploads, self.workers = inputs, session, uploads, workers
        with reactive.isolate():
            first = state_of(session.clientdata.url_search(), uploads)
        self.goal = first.goal
        self.data: reactive.Value[Data] = reactive.Value(first.data)
        # The state for which a simulation was asked; any change of it asks for the look-up again.
        self.simulated_query: reactive.Value[str] = reactive.Value(first.query if first.simulated else "")
        self.current: reactive.Value[Shown | None] = reactive.Value(None)
        self.again: reactive.Value[int] = reactive.Value(0)
        self.kept: Kept | None = None
        self.looking = reactive.ExtendedTask(self._look)
        self.simulating = reactive.ExtendedTask(self._simulate)
        self.exploring = reactive.ExtendedTask(_explored)
        self.drawing = reactive.ExtendedTask(_drawn)
        self.explaining = reactive.ExtendedTask(_further)
        session.on_ended(self.stop)

    @property
    def tasks(self) -> tuple[reactive.ExtendedTask[..., Any], ...]:
        """Everything that may be under way."""
        return self.looking, self.simulating, self.exploring, self.drawing, self.explaining

    def stop(self) -> None:
        """End what is under way: nobody is there to see it."""
        for task in self.tasks:
            task.cancel()

    def state(self) -> State:
        """Return what the page is set to."""
        values = {control.name: _text(self.inputs[control.name]()) for control in self.goal.controls}
        state = State(self.goal, values, self.data(), simulated=True, files=self.uploads)
        return state if state.query == self.simulated_query() else replace(state, simulated=False)

    def send(self, kind: str, message: Any) -> None:
        """Tell the browser something that is no output."""
        task = asyncio.ensure_future(self.session.send_custom_message(kind, message))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def tell_work(self, words: str, share: float | None = None, *, running: bool = False, offers: bool = False) -> None:
        """Say what is under way and how far it is, and whether a simulation can be asked for."""
        self.send("work", {"words": words, "share": share, "running": running, "offers": offers})

    async def _look(self, state: State) -> Shown | Wrong:
        try:
            return await asyncio.to_thread(look_up, state)
        except (InputError, MemoryError) as error:
            return _wrong(state, error)

    async def _simulate(self, state: State, epsilon: float | None, pause: float) -> Shown | Wrong:
        await asyncio.sleep(pause)
        self.tell_work("Simulating …", running=True)
        try:
            value = await self.workers.answer(ranking(state, epsilon), self._step)
            return await asyncio.to_thread(shown, state, value)
        except (InputError, MemoryError) as error:
            return _wrong(state, error)

    def _step(self, what: Sequence[object]) -> None:
        if len(what) == 2 and all(isinstance(one, int) for one in what):
            done, total = (int(str(one)) for one in what)
            self.tell_work(f"Simulating: {done:,} of {total:,}", done / total if total else None, running=True)
        else:
            self.tell_work(" ".join(map(str, what)).capitalize(), running=True)


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "").strip()


def _wrong(state: State, error: BaseException) -> Wrong:
    if isinstance(error, MemoryError):
        return Wrong(state, "data", "There is not enough memory for this: fewer categories take less.")
    return Wrong(state, blamed(state, str(error)), str(error))


async def _explored(answer: Shown) -> tuple[Shown, str, tuple[tuple[float, ...], ...]]:
    await asyncio.sleep(PAUSE)
    return answer, *await asyncio.to_thread(answer.explorer)


async def _drawn(answer: Shown, again: int) -> tuple[str, str]:
    await asyncio.sleep(PAUSE)
    return await asyncio.to_thread(answer.attacker, again), await asyncio.to_thread(answer.frequencies, again)


async def _further(answer: Shown) -> str:
    await asyncio.sleep(2 * PAUSE)
    return await asyncio.to_thread(answer.further)


def server_of(uploads: Uploads, workers: Workers) -> Callable[[Inputs, Outputs, Session], None]:
    """Return what is done for each session."""

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002 - as Shiny calls it
        page = Page(input, session, uploads, workers)
        _react(page)
        _show(page, output)
        add_downloads(page.current)

    return server


def _react(page: Page) -> None:
    """Answer every change: of the controls, of the data, of the dials, and of the buttons."""
    inputs = page.inputs

    @reactive.effect
    def answer_it() -> None:
        state = page.state()
        page.stop()
        page.send("address", state.query)
        wrong = state.wrong()
        page.send("errors", wrong)
        if wrong:
            page.tell_work("")
            return
        if state.simulated or page.goal.key not in LOOK_UPS:
            with reactive.isolate():
                before = page.current()
            budget = None if before is None else before.epsilon
            pause = 0.0 if state.simulated else PAUSE
            if state.simulated and before is None and page.goal.key == PLAN and not state.values["eps"]:
                page.looking.invoke(replace(state, simulated=False))  # says at which ε
                return
            page.simulating.invoke(state, budget, pause)
        else:
            page.looking.invoke(state)

    @reactive.effect
    @reactive.event(inputs.simulate)
    def ask_simulation() -> None:
        page.simulated_query.set(replace(page.state(), simulated=True).query)

    @reactive.effect
    @reactive.event(inputs.cancel)
    def cancel() -> None:
        page.simulating.cancel()
        page.simulated_query.set("")
        page.tell_work("Cancelled.", offers=True)

    @reactive.effect
    @reactive.event(inputs.dropped)
    def take_file() -> None:
        digest, name = (str(inputs.dropped()[key]) for key in ("digest", "name"))
        page.data.set(Data("", digest, name))

    @reactive.effect
    @reactive.event(inputs.shape)
    def take_shape() -> None:
        data = Data(str(inputs.shape()))
        if data.shape and data != page.data():
            page.data.set(data)

    @reactive.effect
    @reactive.event(inputs.again)
    def another() -> None:
        page.again.set(page.again() + 1)

    @reactive.effect
    def finish() -> None:
        _finished(page, page.looking)

    @reactive.effect
    def finish_simulation() -> None:
        _finished(page, page.simulating)


def _finished(page: Page, task: reactive.ExtendedTask[..., Shown | Wrong]) -> None:
    """Show what a task has answered, unless the question has changed since."""
    if task.status() == "error":
        raise task.error()
    if task.status() != "success":
        return
    result = task.result()
    with reactive.isolate():
        now = page.state()
        if replace(now, simulated=False).query != replace(result.state, simulated=False).query:
            return
        if isinstance(result, Wrong):
            page.send("errors", {result.control or "general": result.message})
            # What cannot be predicted, such as a method of one's own, can be simulated.
            offers = result.state.goal.key in LOOK_UPS and result.control != "data" and not result.state.simulated
            page.tell_work("", offers=offers)
            return
        page.again.set(0)
        page.current.set(result)
        predicted = result.state.goal.key in LOOK_UPS and not result.state.simulated
        page.tell_work("Predicted, not simulated." if predicted else "Simulated.", offers=predicted)
        if now.simulated and not result.state.simulated:
            page.simulating.invoke(now, result.epsilon, 0.0)


def _show(page: Page, output: Outputs) -> None:
    """Show the newest answer, its parts as they are ready."""

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

    @reactive.effect
    def begin() -> None:
        answer = page.current()
        if answer is None or answer.first is None:
            if answer is not None:
                page.explaining.cancel()
                page.explaining.invoke(answer)
            return
        request = answer.first.request
        at = _place(page.kept, answer.key, (request.epsilon, request.n))
        if at is None:
            page.exploring.cancel()
            page.exploring.invoke(answer)
        else:
            page.send("turn", at)
        page.explaining.cancel()
        page.explaining.invoke(answer)

    @reactive.effect
    def draw() -> None:
        answer, again = page.current(), page.again()
        first = None if answer is None else answer.first
        repeats = first is not None and first.request.collected is None
        title = "One simulated collection" if repeats else "The estimate, raw and repaired"
        page.send("collection", {"shown": first is not None, "repeats": repeats, "title": title})
        if answer is not None and answer.first is not None:
            page.drawing.cancel()
            page.drawing.invoke(answer, again)

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def explorer() -> ui.HTML:
        answer, html, dials = page.exploring.result()
        page.kept = (answer.key, dials)
        return ui.HTML(html)

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def attacker() -> ui.HTML:
        return ui.HTML(page.drawing.result()[0])

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def frequencies() -> ui.HTML:
        return ui.HTML(page.drawing.result()[1])

    @output(suspend_when_hidden=False)  # an empty one takes no place
    @render.ui
    def further() -> ui.HTML:
        return ui.HTML(page.explaining.result())


def _place(kept: Kept | None, key: tuple[object, ...], point: tuple[float, float]) -> tuple[int, ...] | None:
    """Return the places of ε and n on the dials of a curve that is shown; None if it is about something else."""
    if kept is None or kept[0] != key or len(kept[1]) != len(point):
        return None
    if any(value not in values for value, values in zip(point, kept[1], strict=True)):
        return None
    return tuple(values.index(value) for value, values in zip(point, kept[1], strict=True))
