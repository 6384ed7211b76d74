"""Audits in a process of their own: a client may end the process that it is in, which must not look like an answer."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable
from contextlib import chdir
from multiprocessing.connection import Connection
from pathlib import Path

from advisor.errors import InputError
from advisor.extensions.audit.answer import Audits, answer
from advisor.extensions.audit.question import AuditQuestion
from simulator.foreign import watched
from simulator.progress import Progress


def answer_apart(question: AuditQuestion, progress: Progress) -> Audits:
    """Return what `answer` returns, from a process that code from outside may end.

    Raises InputError as `answer`, and if the process ends before it has answered.
    """
    name = " or ".join(str(one) for one in (question.client.target, question.client.support) if one)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(question, str(Path.cwd()), warnings.showwarning, sender))
    process.start()
    sender.close()  # so that the end of the process is noticed
    try:
        while True:
            with watched(f"calling {name}"):
                step = receiver.recv()
            if isinstance(step, Audits):
                return step
            if isinstance(step, Exception):
                raise step
            progress(*step)
    except EOFError:
        process.join()
        raise InputError(
            f"{name} ended its process ({_ending(process.exitcode or 0)}) before it was audited, so there is no "
            "answer: a client returns each report, and does not leave"
        ) from None
    finally:
        process.kill()
        process.join()
        receiver.close()


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _work(question: AuditQuestion, folder: str, show: Callable[..., None], sender: Connection) -> None:
    """Answer a question in this process, and say so through a pipe; `show` shows a warning of the client."""
    warnings.showwarning = show
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who waits for this process ends it
    with chdir(folder):
        try:
            sender.send(answer(question, lambda *step: sender.send(step)))
        except (InputError, MemoryError, RecursionError) as error:
            sender.send(error)
        except BaseException as error:
            if isinstance(error, Exception):
                raise
            # An interrupt, an exit: of the client alone, since nothing interrupts this process.
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            name = question.client.target or question.client.support
            sender.send(InputError(f"{name} raised {what}; a client returns each report, and does not leave"))
