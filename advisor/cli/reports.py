"""``ldp-advise reports``: count what users sent, add up counts, and say what to do with the estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from advisor.checks import path
from advisor.cli.collected import COLLECTED, Shown, rank_collected
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, SideFile, run
from advisor.errors import InputError
from advisor.inputs.reports import merge_reports, named_files
from advisor.inputs.reports.settings import PARAMETERS
from advisor.inputs.reports.tallies import Counts, tally_text
from advisor.question.collected_request import CollectedQuestion, Collection, counts_of_reports, reports_request
from advisor.question.option import Settings, option, refuse, require
from advisor.show.tally import tally_document, tally_warnings

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
