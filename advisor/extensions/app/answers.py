"""Answers: the job of a command line is done here instead of on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from advisor.cli import options
from advisor.cli.dispatch import USAGE_ERROR
from advisor.cli.groups import app_for
from advisor.cli.run import Job, taker
from advisor.errors import InputError
from advisor.extensions.app.state import Command
from advisor.inputs.held import held_files
from advisor.show.model import Document
from simulator.foreign import SOURCES, containment

T = TypeVar("T")
Progress = Callable[..., None]  # of (done, total), or of words that say what is being done


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer with the command line that gives it."""

    command: Command
    value: Any = field(repr=False)  # what the command answers with: an Answer, a Choice, a PlacesAdvice
    document: Document = field(repr=False)

    @property
    def line(self) -> str:
        """The command line, fit to be copied."""
        return shlex.join(("ldp-advise", *in_full(self.command.words)))


def in_full(words: Sequence[str]) -> tuple[str, ...]:
    """Return words of a command line, members from files by the names that load them: ``mine.py:soft``."""
    return tuple(
        ",".join(SOURCES.get(name, name) for name in word.split(",")) if before == "--method" else word
        for before, word in zip(("", *words), words, strict=False)
    )


def answer(command: Command, progress: Progress | None = None) -> Any:
    """Return what a command answers, before it is made a document; raises InputError as the command line does."""

    def work(job: Job[Any, Any, Any]) -> Any:
        with containment() if SOURCES else nullcontext():
            return job.answer(job.read(), progress or _silence)

    return _with_job(command, work)


def answered(command: Command, value: Any = None) -> Answered:
    """Return the answer of a command; `value` is what it answers, where that is known already.

    Raises InputError as the command line does.
    """
    known = answer(command) if value is None else value

    def work(job: Job[Any, Any, Any]) -> Document:
        document = job.document(known)
        return document if job.sections is None else replace(document, sections=partial(job.sections, known))

    return Answered(command, known, _with_job(command, work))


def _silence(*what: object) -> None:
    del what


def _with_job(command: Command, work: Callable[[Job[Any, Any, Any]], T]) -> T:
    """Have a command line checked and taken for a job, and work with that, its files in memory."""

    def run() -> T:
        jobs: list[Job[Any, Any, Any]] = []
        words = list(command.words)
        options.words.set(command.words)
        held_files.set(command.files)
        taker.set(jobs.append)
        try:
            app_for(words)(words, prog_name="ldp-advise", standalone_mode=False)
        except USAGE_ERROR as error:
            raise InputError(str(error.format_message() if hasattr(error, "format_message") else error)) from None
        return work(jobs[0])

    return copy_context().run(run)
