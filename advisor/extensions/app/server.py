"""What a session does: every change is answered at first sight, from the newest state alone, and then as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shiny import Inputs, Outputs, Session, reactive

from advisor.extensions.app.outputs import add_outputs
from advisor.extensions.app.session import PREDICTED, Page, Wrong, first_sight
from advisor.extensions.app.shown import PageAnswer
from advisor.extensions.app.state import Data, State
from advisor.extensions.app.takeaways import add_downloads
from advisor.extensions.app.uploads import Uploads
from advisor.extensions.app.worker import WorkerPool

FOLLOWS = 1.5  # seconds without a change before a simulation follows by itself
MOST_FOLLOWED = 4096  # categories up to which it does; above, it takes long, and is asked for
LARGE = 1_000_000  # bytes of a file that is not read twice: there a small simulation is hardly sooner


def server_of(uploads: Uploads, workers: WorkerPool) -> Callable[[Inputs, Outputs, Session], None]:
    """Return what is done for each session."""

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002 - as Shiny calls it
        page = Page(input, session, uploads, workers)
        _take_data(page)
        _answer_changes(page)
        _answer_buttons(page)
        add_outputs(page, output)
        add_downloads(page.current)

    return server


def _take_data(page: Page) -> None:
    """Take the file that was dropped, or the shape that was picked."""
    inputs = page.inputs

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


def _answer_changes(page: Page) -> None:
    """Answer every change, of the controls, of the data and of the dials: at first sight, and then as a whole."""

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
        with reactive.isolate():
            is_shown = _answers(page.current(), state)
        if _has_first_sight(state) and not (state.simulated and is_shown):
            page.looking.invoke(replace(state, simulated=False))
        elif page.declined != state.question:
            page.simulate(state, 0.0)
        else:
            page.tell_work("Cancelled.", offers=True)

    @reactive.effect
    def finish() -> None:
        _finished(page, page.looking)

    @reactive.effect
    def finish_simulation() -> None:
        _finished(page, page.simulating)


def _answer_buttons(page: Page) -> None:
    """Do what the buttons of the page say."""
    inputs = page.inputs

    @reactive.effect
    @reactive.event(inputs.simulate)
    def ask_simulation() -> None:
        page.declined = ""
        page.simulated_query.set(replace(page.state(), simulated=True).query)

    @reactive.effect
    @reactive.event(inputs.cancel)
    def cancel() -> None:
        page.looking.cancel()
        page.simulating.cancel()
        page.declined = page.state().question
        page.simulated_query.set("")
        page.tell_work("Cancelled.", offers=True)

    @reactive.effect
    @reactive.event(inputs.again)
    def another() -> None:
        page.again.set(page.again() + 1)


def _finished(page: Page, task: reactive.ExtendedTask[..., PageAnswer | Wrong]) -> None:
    """Show what a task has answered, unless the question has changed since."""
    if task.status() == "error":
        raise task.error()
    if task.status() != "success":
        return
    result = task.result()
    with reactive.isolate():
        now, before = page.state(), page.current()
        if now.question != result.state.question:
            return
        if isinstance(result, Wrong):
            _refuse(page, result, before, now)
            return
        page.again.set(0)
        page.current.set(result)
        if result.state.simulated:
            page.tell_work("Simulated.")
        elif now.simulated:
            page.simulate(now, 0.0)
        elif page.declined != now.question and _follows(result):
            page.simulate(now, FOLLOWS)
        else:
            page.tell_work(first_sight(now), offers=True)


def _answers(answer: PageAnswer | None, state: State) -> bool:
    """Tell whether an answer is to the question of a state."""
    return answer is not None and answer.state.question == state.question


def _has_first_sight(state: State) -> bool:
    """Tell whether something can be shown before the simulation: of a large file that would take as long."""
    held = state.held
    return state.goal.key in PREDICTED or held is None or len(held.content) <= LARGE


def _follows(answer: PageAnswer) -> bool:
    """Tell whether the simulation of an answer follows by itself."""
    if answer.state.goal.key not in PREDICTED:
        return True
    return answer.first is not None and answer.first.request.k <= MOST_FOLLOWED


def _refuse(page: Page, wrong: Wrong, before: PageAnswer | None, now: State) -> None:
    """Say what is wrong: beside its control, or where a first sight stays, beside the simulation that failed."""
    if wrong.state.simulated and _answers(before, wrong.state):
        page.tell_work(f"Not simulated: {' '.join(wrong.messages.values())}")
        return
    # What cannot be predicted, such as a method of one's own, can be simulated.
    offers = wrong.state.goal.key in PREDICTED and "data" not in wrong.messages and not wrong.state.simulated
    if offers and now.simulated:
        page.simulate(now, 0.0)
        return
    page.send("errors", dict(wrong.messages))
    page.tell_work("", offers=offers)
