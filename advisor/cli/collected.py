"""``ldp-advise estimate``, and what it shares with ``reports``: the best method for what was collected already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from advisor.answers.rank.apply import applied_csv
from advisor.answers.rank.result import Answer
from advisor.checks import path
from advisor.cli.arguments import Sample
from advisor.cli.options import Bundle, Only
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import Layout, RankFiles, rank_files, rank_sections, ranking_answer, useless
from advisor.cli.run import Job, Output, SideFile, run
from advisor.errors import InputError
from advisor.question.cleaning import Cleaning
from advisor.question.collected_request import (
    Collection,
    EstimateColumns,
    estimate_request,
)
from advisor.question.early import check_early
from advisor.question.estimate_request import check_surrogate
from advisor.question.metric_settings import MetricSettings
from advisor.question.option import Settings, option, require
from advisor.question.request import RankSettings, Request
from advisor.question.settings import (
    Categories,
    Columns,
    Limits,
    Menu,
    Picture,
    Question,
    Simulation,
    Threat,
    Usefulness,
    member,
)


@dataclass(frozen=True, kw_only=True)
class NextRound(Settings):
    """What becomes of the estimate, and what competes for the next round."""

    panel: ClassVar[str] = "Output"

    apply: str | None = option(
        "--apply", read=path, metavar="FILE", help="write the post-processed estimate with intervals: .csv"
    )
    next_protocol: tuple[str, ...] = option(
        "--next-protocol", read=partial(member, "protocol"), metavar="NAME", repeated=True, advanced=True,
        help="only this protocol for the next round, or several: a,b",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CollectedOptions(Bundle):
    """The groups of options of both commands."""

    question: Question
    collection: Collection
    domain: Categories
    columns: Annotated[Columns, Only("column", "header")]
    cleaning: Annotated[Cleaning, Only("domain")]
    menu: Annotated[Menu, Only("method")]
    limits: Limits
    threat: Threat
    metrics: MetricSettings
    simulation: Annotated[Simulation, Only("repetitions", "seed", "jobs")]
    next_round: NextRound
    picture: Picture
    files: RankFiles
    usefulness: Usefulness
    layout: Layout
    output: Output

    @property
    def settings(self) -> RankSettings:
        """The settings of the rankings; the protocols are those of the next round."""
        menu = replace(self.menu, protocol=self.next_round.next_protocol)
        return RankSettings(
            self.question, self.metrics, menu, self.limits, threat=self.threat, simulation=self.simulation
        )

    @property
    def needs(self) -> tuple[tuple[str, object, str], ...]:
        """What both commands need besides a file."""
        return (
            ("--protocol", self.collection.protocol, "the protocol that was used, for example --protocol oue"),
            ("--eps", self.question.epsilon, "the privacy budget of one report, for example --eps 1"),
        )

    def given_for_answers(self) -> tuple[str, ...]:
        """Return the options that were given and mean nothing where nothing is ranked."""
        groups = (self.menu, self.limits, self.threat, self.metrics, self.next_round, self.picture, self.files)
        rest = (*self.question.given("metric"), *self.usefulness.given(), *self.collection.given("surrogate"))
        return (*(flag for group in groups for flag in group.given()), *rest)


def estimate_command(*, sample: Sample = None, options: CollectedOptions, where: EstimateColumns) -> None:
    """Post-process a raw estimate that was collected.

    Draws frequencies that may be behind the estimate, and ranks the methods by what they err by on these for its
    protocol; a second ranking is about the next round.

    Example: ldp-advise estimate raw.csv --protocol oue --eps 1 --n 100000 --apply repaired.csv
    """
    require(
        ("SAMPLE", sample, "the file with the estimate, or - for standard input"),
        *options.needs,
        ("--n", options.question.n, "the number of users who reported, for example --n 100000"),
    )

    def read() -> Request:
        return estimate_request(
            sample or "", options.settings, options.domain, options.columns, options.cleaning, options.collection, where
        )

    rank_collected([sample or ""], options, read)


def rank_collected(files: Sequence[str], options: CollectedOptions, read: Callable[[], Request]) -> None:
    """Answer either command.

    files, read: what is read, and what reads it.

    Raises InputError if the options do not go together, or an estimate cannot be written as there are several answers.
    """
    settings, question = options.settings, options.question
    check_early(settings, options.domain)
    check_surrogate(
        options.collection.surrogate, options.collection.protocol or "", ordered=options.domain.ordered is not False
    )
    several = question.every_metric or len(question.metrics) > 1
    if options.next_round.apply is not None and several and len(settings.menu.method) != 1:
        raise InputError("--apply writes one estimate, so it needs one --metric, or the one --method to apply")
    applied = SideFile("--apply", options.next_round.apply, ("", ".csv"), _write_applied)
    run(
        Job(
            read=read,
            answer=ranking_answer(options.simulation),
            document=options.layout.page(question),
            sections=rank_sections,
            fails=useless if options.usefulness.fail_if_useless else None,
            progress=partial(DelayedProgress, "simulating"),
            inputs=[*files, options.cleaning.domain],
            files=[applied, *rank_files(options.files, options.picture)],
            warnings=lambda request: request.warnings,
            reading="reading what was collected",
        ),
        options.output,
    )


def _write_applied(answer: Answer, target: Path) -> None:
    target.write_text(applied_csv(answer.first), encoding="utf-8")
