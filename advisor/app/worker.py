"""Simulations in processes of their own: they keep nobody else's page waiting, and end when they are cancelled."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from advisor.app.answers import answer
from advisor.app.state import Command
from advisor.errors import InputError
from advisor.members import member_of_file

POLL_SECONDS = 0.05
NICENESS = 3  # a simulation gives way to the pages, but does not starve beside other work
DONE, WRONG, STEP = "done", "wrong", "step"
Step = Callable[[Sequence[object]], None]  # called with (done, total), or with words
Members = tuple[tuple[str, str], ...]  # kinds and names of members from files, which a new process has to load too


class Workers:
    """Starts processes, as many at a time as there are processors; others wait their turn."""

    def __init__(self, members: Members = ()) -> None:
        methods = multiprocessing.get_all_start_methods()
        # A fork of a process with threads may hang; one of a server that was started for it does not.
        self._context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            self._context.set_forkserver_preload(["advisor.app.worker", "advisor.rank.simulate"])
        self._free = asyncio.Semaphore(max(1, os.cpu_count() or 1))
        self._members = members

    async def answer(self, command: Command, step: Step) -> Any:
        """Return what a command answers, from a process that is ended if this is cancelled.

        step: called with every sign of progress.

        Raises InputError as the command line does.
        """
        if self._free.locked():
            step(("waiting for another simulation",))
        async with self._free:
            receiver, sender = self._context.Pipe(duplex=False)
            process = self._context.Process(target=_work, args=(command, self._members, sender), daemon=True)
            await asyncio.to_thread(process.start)  # hands over the files
            sender.close()
            try:
                return await _received(receiver, step)
            finally:
                process.kill()
                await asyncio.shield(asyncio.to_thread(process.join))
                receiver.close()


async def _received(receiver: Connection, step: Step) -> Any:
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
        if kind == WRONG:
            raise InputError(what)
        step(what)


def _work(command: Command, members: Members, sender: Connection) -> None:
    """Answer a command in this process, and say so through a pipe."""
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    try:
        for kind, name in members:
            member_of_file(kind, name)
        sender.send((DONE, answer(command, lambda *what: sender.send((STEP, what)))))
    except InputError as error:
        sender.send((WRONG, str(error)))
    except MemoryError as error:
        sender.send((WRONG, f"there is not enough memory for this ({error or 'fewer categories take less'})"))
    finally:
        sender.close()
