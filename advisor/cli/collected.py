"""``ldp-advise estimate``, and what it shares with ``reports``: the best method for what was collected already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

from advisor.answers.rank.apply import applied_csv
from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import simulated_answer
from advisor.checks import path
from advisor.cli.options import Only
from advisor.cli.ranking import RankOutput, useless
from advisor.cli.run import Job, SideFile, run
from advisor.errors import InputError
from advisor.question.collected_request import CollectedQuestion, check_collected, estimate_request
from advisor.question.option import Settings, option, require
from advisor.question.request import Request
from advisor.question.settings import member

COLLECTED = (
    "terms",
    "collection",
    "domain",
    "columns:column,header,skip,decimal",
    "cleaning:domain",
    "menu:method",
    "limits",
    "threat",
    "simulation:repetitions,seed,jobs",
)


@dataclass(frozen=True, kw_only=True)
class NextRound(Settings):
    """What becomes of the estimate, and what competes for the next round."""

    panel: ClassVar[str] = "Output"

    apply: str | None = option(
        "--apply", read=path, metavar="FILE", help="write the post-processed estimate with intervals: .csv"
    )
    next_protocol: tuple[str, ...] = option(
        "--next-protocol",
        read=partial(member, "protocol"),
        metavar="NAME",
        repeated=True,
        advanced=True,
        help="only this protocol for the next round, or several: a,b",
    )


@dataclass(frozen=True, kw_only=True)
class CollectedOutput(RankOutput):
    """Output options for an answer about a collection that is over."""

    next_round: NextRound = NextRound()


Shown: TypeAlias = Annotated[CollectedOutput, Only("next_round", "output", "extras")]


def estimate_command(
    *, question: Annotated[CollectedQuestion, Only("sample", *COLLECTED, "estimate_columns")], shown: Shown
) -> None:
    """Post-process a raw estimate that was collected.

    Draws frequencies that may be behind the estimate, and ranks the methods by what they err by on these for its
    protocol; a second ranking is about the next round.

    Example: ldp-advise estimate raw.csv --protocol oue --eps 1 --n 100000 --apply repaired.csv
    """
    asked = question.with_budget()
    needs = [
        ("SAMPLE", asked.sample, "the file with the estimate, or - for standard input"),
        *asked.needs,
        ("--n", asked.terms.n, "the number of users who reported, for example --n 100000"),
    ]
    if [name for name, value, _ in needs if value is None] != ["--eps"]:  # for which a refusal names what fits
        require(*needs)
    rank_collected(asked.files, asked, shown, estimate_request)


def rank_collected(
    files: Sequence[str | None],
    question: CollectedQuestion,
    shown: CollectedOutput,
    read: Callable[[CollectedQuestion], Request],
) -> None:
    """Answer either command.

    files, read: what is read, and what reads it.

    Raises InputError if the options do not go together, or an estimate cannot be written as there are several answers.
    """
    terms, next_round = question.terms, shown.next_round
    asked = replace(question, menu=replace(question.menu, protocol=next_round.next_protocol))
    check_collected(asked)
    several = terms.every_metric or len(terms.metrics) > 1
    if next_round.apply is not None and several and len(asked.menu.method) != 1:
        raise InputError("--apply writes one estimate, so it needs one --metric, or the one --method to apply")
    jobs, write_applied = asked.simulation.jobs, partial(_write_applied, safe_cells=shown.output.safe_cells)
    run(
        Job(
            read=lambda: read(asked),
            answer=lambda request, progress: simulated_answer(request, jobs=jobs, progress=progress),
            document=shown.document,
            fails=useless if shown.extras.fail_if_useless else None,
            inputs=files,
            files=[SideFile("--apply", next_round.apply, ("", ".csv"), write_applied), *shown.side_files()],
            reading="reading what was collected",
        ),
        shown.output,
    )


def _write_applied(answer: Answer, target: Path, *, safe_cells: bool) -> None:
    target.write_text(applied_csv(answer.first, safe_cells=safe_cells), encoding="utf-8")
