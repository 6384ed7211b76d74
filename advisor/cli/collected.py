"""``ldp-advise estimate`` and ``reports``: the best method for what was collected already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from advisor.answers.rank.apply import applied_csv
from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import simulated_answer
from advisor.checks import path
from advisor.cli.options import Only, argument
from advisor.cli.ranking import RankOutput, useless
from advisor.cli.run import Job, SideFile, run
from advisor.errors import InputError
from advisor.inputs.reports import merge_reports, named_files
from advisor.inputs.reports.settings import PARAMETERS
from advisor.inputs.reports.tallies import Counts, tally_text
from advisor.question.collected_request import (
    CollectedQuestion,
    Collection,
    check_collected,
    counts_of_reports,
    estimate_request,
    reports_request,
)
from advisor.question.option import Settings, option, refuse, require
from advisor.question.request import Request
from advisor.question.settings import member
from advisor.show.tally import tally_document, tally_warnings

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


FILES = "CSV, TSV, text or Parquet, or gzip of these; 'part-*.csv'; - for standard input"
Files = Annotated[list[str] | None, argument("FILES", FILES)]


@dataclass(frozen=True, kw_only=True)
class Tallies(Settings):
    """Counts of a part of the reports."""

    panel: ClassVar[str] = "Output"

    tally: str | None = option(
        "--tally", read=path, metavar="FILE", help="count only, and write the counts here: .json"
    )
    merge: bool = option("--merge", help="FILES are tallies: add them up")


def reports_command(
    *,
    files: Files = None,
    question: Annotated[
        CollectedQuestion, Only(*COLLECTED, "cleaning:domain,drop_missing,missing", "report_format", "cluster")
    ],
    shown: Shown,
    tallies: Tallies,
) -> None:
    """Count collected reports and post-process their estimate.

    Reads reports of grr, rappor, oue, the, she, ss, blh, olh, hr, pgr, tree, tree_half, sw and haar_hrr. Several files
    are added up; so are tallies, which count a part of the reports each.

    Example: ldp-advise reports reports.csv --protocol olh --eps 1 --k 256 --apply repaired.csv
    Example: ldp-advise reports 'day-*.csv' --protocol olh --eps 1 --k 256 --tally week.json
    Example: ldp-advise reports --merge 'week-*.json'
    """
    counts: Counts | None = None
    if tallies.merge:
        require(("FILES", files, "the tallies to add up, for example ldp-advise reports --merge 'part-*.json'"))
        counts = merge_reports(files or ())
        question = _like(question, counts)
    else:
        question = question.with_budget()
        require(("FILES", files, "the files with the reports, or - for standard input"), *question.needs)

    def read() -> Counts:
        digests = tallies.tally is not None
        return counts or counts_of_reports(files or (), question, jobs=question.simulation.jobs, digests=digests)

    inputs = [*named_files(files or ())[0], question.cleaning.domain]
    if tallies.tally is None:
        rank_collected(inputs, question, shown, lambda asked: reports_request(read(), asked))
        return
    ranked = question.given("menu", "limits", "threat", "terms:metric", "collection:surrogate")
    ranked += shown.given("next_round", "output:plot", "extras")
    refuse(ranked, "is for an answer, and --tally only counts: give it with --merge")
    run(
        Job(
            read=read,
            answer=lambda counted, progress: counted,  # noqa: ARG005
            document=partial(tally_document, path=tallies.tally),
            inputs=inputs,
            files=[SideFile("--tally", tallies.tally, ("", ".json"), _write_tally)],
            warnings=tally_warnings,
            reading="counting reports",
        ),
        shown.output,
    )


def _like(question: CollectedQuestion, counts: Counts) -> CollectedQuestion:
    """Return a question about tallies, which say what was collected.

    Raises InputError for options that say something else, or what tallies tell already.
    """
    settings, collection = counts.settings, question.collection
    refuse(
        (
            *question.given("domain:k", "columns", "cleaning", "report_format", "cluster"),
            *collection.given(*PARAMETERS, "flip_prob"),
        ),
        "is for reports: tallies know how they were made",
    )
    if collection.protocol not in (None, settings.protocol):
        raise InputError(f"--protocol {collection.protocol}: the tallies are of {settings.protocol}; leave it out")
    if question.terms.epsilon not in (None, settings.epsilon):
        raise InputError(
            f"--eps {question.terms.epsilon:g}: the tallies are of reports at {settings.epsilon:g}; leave it out"
        )
    given: dict[str, Any] = dict(settings.parameters)
    return replace(
        question,
        terms=replace(question.terms, epsilon=settings.epsilon),
        collection=Collection(
            used=(settings.protocol,), surrogate=collection.surrogate, uneven="own_rate" in given, **given
        ),
    )


def _write_tally(counts: Counts, target: Path) -> None:
    target.write_text(tally_text(counts), encoding="utf-8")
