"""``ldp-advise estimate`` and ``ldp-advise reports``: the best method for what an LDP collection has given already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from advisor.checks import path
from advisor.cli.arguments import Sample
from advisor.cli.options import Only
from advisor.cli.progress import DelayedProgress
from advisor.cli.ranking import RankFiles, rank_files, rank_page, rank_sections, simulation_answer
from advisor.cli.run import Job, Output, SideFile, run
from advisor.errors import InputError
from advisor.inputs.reports import check_report_options
from advisor.question.collected_request import (
    Collection,
    EstimateColumns,
    ReportFormat,
    estimate_request,
    reports_request,
)
from advisor.question.early import check_early
from advisor.question.estimate_request import check_surrogate
from advisor.question.option import Settings, option, require
from advisor.question.request import RankSettings, Request
from advisor.question.settings import (
    Categories,
    Cleaning,
    Columns,
    Limits,
    Menu,
    MetricSettings,
    Picture,
    Question,
    Simulation,
    Threat,
    member,
)
from advisor.rank.apply import applied_csv
from advisor.rank.result import Answer

EstimateMenu = Annotated[Menu, Only("method")]
Layout = Annotated[Columns, Only("column", "header")]
KnownDomain = Annotated[Cleaning, Only("domain")]
Repetitions = Annotated[Simulation, Only("repetitions", "seed", "jobs")]


@dataclass(frozen=True)
class NextRound(Settings):
    """What becomes of the estimate, and what competes for the next round."""

    panel: ClassVar[str] = "Output"

    apply: str | None = option(
        "--apply", read=path, metavar="FILE", help="write the post-processed estimate with intervals: .csv"
    )
    next_protocol: tuple[str, ...] = option(
        "--next-protocol", read=partial(member, "protocol"), metavar="NAME", repeated=True, advanced=True,
        help="only this protocol for the next round; repeatable",
    )  # fmt: skip

    def menu(self, menu: Menu) -> Menu:
        """Return the menu, the protocols being those of the next round."""
        return replace(menu, protocol=self.next_protocol)


def estimate_command(
    *,
    sample: Sample = None,
    question: Question,
    collection: Collection,
    domain: Categories,
    columns: Layout,
    where: EstimateColumns,
    cleaning: KnownDomain,
    menu: EstimateMenu,
    limits: Limits,
    threat: Threat,
    metrics: MetricSettings,
    simulation: Repetitions,
    next_round: NextRound,
    picture: Picture,
    files: RankFiles,
    output: Output,
) -> None:
    """Post-process a raw estimate that was collected.

    Draws populations that may be behind the estimate, simulates the collection for each, and ranks the methods for its
    protocol; a second ranking is about the next round.

    Example: ldp-advise estimate raw.csv --protocol oue --eps 1 --n 100000 --apply repaired.csv
    """
    require(
        ("SAMPLE", sample, "the file with the estimate, or - for standard input"),
        *_needs(question, collection),
        ("--n", question.n, "the number of users who reported, for example --n 100000"),
    )
    settings = RankSettings(question, metrics, next_round.menu(menu), limits, threat=threat, simulation=simulation)

    def read() -> Request:
        return estimate_request(sample or "", settings, domain, columns, cleaning, collection, where)

    check(settings, domain, collection, next_round)
    run(_job(read, simulation, next_round, rank_files(files, picture), _inputs(sample, cleaning)), output)


def reports_command(
    *,
    sample: Sample = None,
    question: Question,
    collection: Collection,
    domain: Categories,
    columns: Layout,
    how: ReportFormat,
    cleaning: KnownDomain,
    menu: EstimateMenu,
    limits: Limits,
    threat: Threat,
    metrics: MetricSettings,
    simulation: Repetitions,
    next_round: NextRound,
    picture: Picture,
    files: RankFiles,
    output: Output,
) -> None:
    """Count collected reports and post-process their estimate.

    Example: ldp-advise reports reports.csv --protocol olh --eps 1 --k 256 --apply repaired.csv
    """
    require(("SAMPLE", sample, "the file with the reports, or - for standard input"), *_needs(question, collection))
    settings = RankSettings(question, metrics, next_round.menu(menu), limits, threat=threat, simulation=simulation)
    known = cleaning.domain is not None
    check_report_options(
        collection.protocol or "", settings.epsilon, k=domain.k, has_domain=known, column=columns.column, hash=how.hash
    )

    def read() -> Request:
        return reports_request(sample or "", settings, domain, columns, cleaning, collection, how)

    check(settings, domain, collection, next_round)
    run(_job(read, simulation, next_round, rank_files(files, picture), _inputs(sample, cleaning)), output)


def _needs(question: Question, collection: Collection) -> tuple[tuple[str, object, str], ...]:
    return (
        ("--protocol", collection.protocol, "the protocol that was used, for example --protocol oue"),
        ("--eps", question.epsilon, "the privacy budget of one report, for example --eps 1"),
    )


def _inputs(sample: str | None, cleaning: Cleaning) -> list[str]:
    return [name for name in (sample, cleaning.domain) if name is not None]


def check(settings: RankSettings, domain: Categories, collection: Collection, next_round: NextRound) -> None:
    """Refuse what the options alone forbid.

    Raises
    ------
    InputError
        If the options do not go together, or an estimate cannot be written as there are several answers.
    """
    check_early(settings, domain)
    check_surrogate(collection.surrogate, ordered=domain.ordered is not False)
    question = settings.question
    several = question.every_metric or len(question.metrics) > 1
    if next_round.apply is not None and several and len(settings.menu.method) != 1:
        raise InputError("--apply writes one estimate, so it needs one --metric, or the one --method to apply")


def _job(
    read: Callable[[], Request],
    simulation: Simulation,
    next_round: NextRound,
    files: list[SideFile[Answer]],
    inputs: list[str],
) -> Job[Request, Answer, DelayedProgress]:
    return Job(
        read=read,
        answer=simulation_answer(simulation.jobs),
        document=rank_page,
        sections=rank_sections,
        progress=partial(DelayedProgress, "simulating"),
        inputs=inputs,
        files=[SideFile("--apply", next_round.apply, ("", ".csv"), _write_applied), *files],
        warnings=lambda request: request.warnings,
        reading="reading what was collected",
    )


def _write_applied(answer: Answer, target: Path) -> None:
    target.write_text(applied_csv(answer.first), encoding="utf-8")
