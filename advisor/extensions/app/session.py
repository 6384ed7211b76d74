"""One session: what is set on its page, what is under way for it, and what was answered last."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shiny import Inputs, Session, reactive

from advisor.answers.rank.outlook import Stops
from advisor.errors import InputError
from advisor.extensions.app.goals import COMPARE, PLAN
from advisor.extensions.app.shown import PageAnswer, budget_of, faults, shown
from advisor.extensions.app.state import Data, State, decision, ranking, state_of
from advisor.extensions.app.uploads import Uploads
from advisor.extensions.app.wording import worded
from advisor.extensions.app.worker import WorkerPool

PAUSE = 0.4  # seconds without a change before what stands below the answer is worked out
PREDICTED = (PLAN, COMPARE)  # pages whose first sight is a prediction; on the others it is a small simulation


@dataclass(frozen=True, eq=False)
class ShownCurve:
    """A curve that is shown: of which answer, and the values of its dials."""

    answer: PageAnswer
    stops: Stops


@dataclass(frozen=True, eq=False)
class Wrong:
    """An answer that cannot be given: what is wrong, by the control that is to blame."""

    state: State
    messages: Mapping[str, str]


class Page:
    """One session."""

    def __init__(self, inputs: Inputs, session: Session, uploads: Uploads, workers: WorkerPool) -> None:
        self.inputs, self.session, self.uploads, self.workers = inputs, session, uploads, workers
        with reactive.isolate():
            first = state_of(session.clientdata.url_search(), uploads)
        self.goal = first.goal
        self.data: reactive.Value[Data] = reactive.Value(first.data)
        # The state for which a simulation was asked; any change of it begins with the first sight again.
        self.simulated_query: reactive.Value[str] = reactive.Value(first.query if first.simulated else "")
        self.declined = ""  # the state whose simulation was cancelled
        self.current: reactive.Value[PageAnswer | None] = reactive.Value(None)
        self.again: reactive.Value[int] = reactive.Value(0)
        self.kept: ShownCurve | None = None
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

    def simulate(self, state: State, pause: float) -> None:
        """Have a state simulated as a whole, after a pause in which nothing changes."""
        whole = state if state.simulated else replace(state, simulated=True)
        self.tell_work(f"{first_sight(state)} The simulation follows." if pause else "Simulating …", running=True)
        self.simulating.invoke(whole, pause)

    async def _look(self, state: State) -> PageAnswer | Wrong:
        try:
            if self.goal.key in PREDICTED:
                return await asyncio.to_thread(shown, state)
            value = await self.workers.answer(ranking(state), self._step, niceness=0)
            return await asyncio.to_thread(shown, state, value)
        except (InputError, MemoryError) as error:
            return Wrong(state, faults(state, error))

    async def _simulate(self, state: State, pause: float) -> PageAnswer | Wrong:
        await asyncio.sleep(pause)
        self.tell_work("Simulating …", running=True)
        try:
            asked = decision(state)
            choice = None if asked is None else await self.workers.answer(asked, self._step)
            value = await self.workers.answer(ranking(state, budget_of(choice)), self._step)
            return await asyncio.to_thread(shown, state, value, choice)
        except (InputError, MemoryError) as error:
            return Wrong(state, faults(state, error))

    def _step(self, what: Sequence[object]) -> None:
        if len(what) == 2 and all(isinstance(one, int) for one in what):
            done, total = (int(str(one)) for one in what)
            self.tell_work(f"Simulating: {done:,} of {total:,}", done / total if total else None, running=True)
        else:
            words = worded(" ".join(map(str, what)), self.goal).replace("epsilon", "ε")
            self.tell_work(words[:1].upper() + words[1:], running=True)


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "").strip()


def first_sight(state: State) -> str:
    """Return what the first sight of a state rests on, in words."""
    return "Predicted, not simulated." if state.goal.key in PREDICTED else "A first sight, from few repetitions."


async def _explored(answer: PageAnswer, stops: Stops | None) -> tuple[ShownCurve, str]:
    await asyncio.sleep(PAUSE)
    html, values = await asyncio.to_thread(answer.explorer, stops)
    return ShownCurve(answer, values), html


async def _drawn(answer: PageAnswer, again: int) -> tuple[str, str]:
    await asyncio.sleep(PAUSE)
    return await asyncio.to_thread(answer.attacker, again), await asyncio.to_thread(answer.frequencies, again)


async def _further(answer: PageAnswer) -> str:
    await asyncio.sleep(2 * PAUSE)
    return await asyncio.to_thread(answer.further)
