"""Reading and simulating in separate processes: they do not delay other pages, and end when they are cancelled."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any
from weakref import WeakKeyDictionary

from advisor.errors import InputError
from advisor.extensions.app.files import give_back
from advisor.extensions.app.state import Inquiry, answer
from advisor.inputs.held import HeldFile
from advisor.members.names import resolve
from simulator.foreign import ForeignError
from simulator.progress import Progress

POLL_SECONDS = 0.05
PAUSE_SECONDS = 1.0  # from the end of a process until its memory is collected: what follows it is answered first
DONE, STEP = "done", "step"  # of what is sent: an answer, or its refusal, and a sign of progress before it
# What simulations import when they first need it: none of them has to wait for it.
PRELOADED = (
    "advisor.extensions.app.worker",
    "advisor.answers.rank.simulate",
    "advisor.extensions.choose.answer",
    "advisor.extensions.places.answer",
    "charset_normalizer",
    "numpy.random",
    "numpy.testing",
    "pydantic.type_adapter",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "simulator.surrogate",
)


class WorkerPool:
    """Starts processes, as many of each kind at a time as there are processors; others wait their turn.

    methods: those from files, which a new process has to load too.
    """

    def __init__(self, methods: Iterable[str] = ()) -> None:
        start_methods = multiprocessing.get_all_start_methods()
        # A fork of a process with threads may hang; one of a server that was started for it does not.
        self._context: Any = multiprocessing.get_context("forkserver" if "forkserver" in start_methods else "spawn")
        if "forkserver" in start_methods:
            self._context.set_forkserver_preload([*PRELOADED])
        # A first sight does not wait for simulations.
        self._free = {is_nice: asyncio.Semaphore(max(1, os.cpu_count() or 1)) for is_nice in (False, True)}
        self._reading: WeakKeyDictionary[HeldFile, asyncio.Lock] = WeakKeyDictionary()
        self._methods = tuple(methods)
        self._ending: set[asyncio.Future[None]] = set()

    def warm(self) -> None:
        """Start what starts the processes, before the first of them is asked for."""
        process = self._context.Process(daemon=True)  # which does nothing
        with suppress(OSError, EOFError):  # the program is ended meanwhile
            process.start()
            process.join()

    def reading(self, file: HeldFile) -> asyncio.Lock:
        """Return what lets one process at a time read a file: others wait for what it brings."""
        return self._reading.setdefault(file, asyncio.Lock())

    async def answer(self, inquiry: Inquiry, progress: Progress, niceness: int) -> Any:
        """Return what answers a question, from a process that is ended if this is cancelled.

        What the process has made of the files is kept here, so that the next one need not.

        niceness: priority of the process, lower for higher values.

        Raises InputError as the command line does.
        """
        free = self._free[niceness > 0]
        if free.locked():
            progress("waiting for other pages", 0, 0)
        async with free:
            receiver, sender = self._context.Pipe(duplex=False)
            work = (inquiry, self._methods, sender, niceness)
            process = self._context.Process(target=_work, args=work, daemon=True)
            # Hands over the files. It cannot be stopped halfway: the end of the process waits for it.
            starting = asyncio.ensure_future(asyncio.to_thread(process.start))
            try:
                await asyncio.shield(starting)
                sender.close()  # so that the end of the process is noticed
                value, made = await _received(receiver, progress)
                for name, file in inquiry.files.items():
                    file.keep(made[name])
                if isinstance(value, InputError):
                    raise value
                return value
            finally:
                ending = asyncio.ensure_future(_ended(process, starting, (sender, receiver)))
                self._ending.add(ending)  # the loop itself would lose it
                ending.add_done_callback(self._ending.discard)


async def _ended(process: Any, starting: asyncio.Future[None], pipe: Iterable[Connection]) -> None:
    """End a process, as soon as it has started; what comes after it does not wait for that."""
    await asyncio.wait([starting])
    if starting.exception() is None:
        process.kill()
        await asyncio.to_thread(process.join)
    for end in pipe:
        end.close()
    await asyncio.sleep(PAUSE_SECONDS)
    give_back()


async def _received(receiver: Connection, progress: Progress) -> Any:
    """Return the answer that comes through a pipe, and hand on the signs of progress before it."""
    while True:
        while not receiver.poll():
            await asyncio.sleep(POLL_SECONDS)
        try:
            kind, what = await asyncio.to_thread(receiver.recv)
        except EOFError:
            raise InputError(
                "the simulation ended before its time: there may not be enough memory, and fewer categories take less"
            ) from None
        if kind == DONE:
            return what
        progress(*what)


def _work(inquiry: Inquiry, methods: Iterable[str], sender: Connection, niceness: int) -> None:
    """Answer a question in this process, and send the answer and what was made of its files through a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C in a terminal reaches this process too: no traceback
    with suppress(OSError, AttributeError):
        os.nice(niceness)
    before = {name: set(file.made) for name, file in inquiry.files.items()}
    try:
        try:
            for name in methods:
                resolve("method", name)
            value = answer(inquiry, lambda *step: sender.send((STEP, step)))
        except (InputError, ForeignError) as error:
            value = error if isinstance(error, InputError) else InputError(str(error))
        except MemoryError as error:
            value = InputError(f"there is not enough memory for this ({error or 'fewer categories take less'})")
        made = {name: _without(file.made, before[name]) for name, file in inquiry.files.items()}
        sender.send((DONE, (value, made)))
    except BrokenPipeError:
        pass  # nobody waits for it any more
    finally:
        sender.close()


def _without(made: Mapping[Hashable, object], before: Collection[Hashable]) -> dict[Hashable, object]:
    return {how: what for how, what in made.items() if how not in before}
