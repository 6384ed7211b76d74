"""The main command with several ``--eps``: one row for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from advisor.answers.budgets import Budgets
from advisor.answers.rank.result import Answer
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import useless
from advisor.cli.run import Job, SideFile
from advisor.question.request import Request
from advisor.question.settings import Picture
from advisor.show.budgets import budgets_document
from advisor.show.model import Figure, Section
from advisor.show.pictures import PICTURES, require_matplotlib, save, to_svg
from advisor.show.pictures.ranking import budgets_figure

Requests = tuple[Request, ...]


def budgets_job(
    epsilons: tuple[float, ...],
    read: Callable[[], Requests],
    answer: Callable[[Request, DelayedProgress], Answer],
    inputs: Sequence[str | None],
    picture: Picture,
    *,
    fails: bool,
) -> Job[Requests, Budgets, DelayedProgress]:
    """Return the job that answers the same question at each ε, as each would be answered alone.

    fails: whether an answer that is no better than no data, at any ε, is a failure.
    """

    def answer_all(requests: Requests, progress: DelayedProgress) -> Budgets:
        return Budgets(epsilons, tuple(answer(request, progress) for request in requests))

    return Job(
        read=read,
        warnings=lambda requests: tuple(dict.fromkeys(text for one in requests for text in one.warnings)),
        answer=answer_all,
        document=budgets_document,
        sections=_sections,
        fails=(lambda budgets: any(map(useless, budgets.answers))) if fails else None,
        inputs=inputs,
        files=[SideFile("--plot", picture.plot, PICTURES, _draw, require_matplotlib, _shows)],
        progress=partial(DelayedProgress, "simulating"),
        unprotected=inputs[0] is not None,
    )


def _shows(budgets: Budgets) -> bool:
    return bool(budgets.priced(budgets.metrics[0]))


def _draw(budgets: Budgets, target: Path) -> None:
    save(budgets_figure(budgets), target)


def _sections(budgets: Budgets) -> tuple[Section, ...]:
    if not _shows(budgets):
        return ()

    label = "error of the pair to use against ε"
    picture = Figure("Error against ε", label, lambda: to_svg(budgets_figure(budgets), "budgets"))
    return (Section(picture.title, (picture,)),)
