"""The ranking commands, the main one and ``pareto``, and what others share with them: options, answer, documents."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import typer

from advisor.answers.budgets import Budgets
from advisor.answers.rank.bias import bias_of
from advisor.answers.rank.result import Answer
from advisor.answers.rank.simulate import ranking_answer
from advisor.answers.rank.trade_offs import frontier_of
from advisor.answers.rank.verdict import USELESS
from advisor.checks import choice, path
from advisor.cli.examples import missing_budget
from advisor.cli.options import Only
from advisor.cli.run import Job, Output, SideFile, picture_file, run
from advisor.errors import InputError
from advisor.question.option import Bundle, Settings, option, refuse
from advisor.question.question import Question
from advisor.question.ranking import ranking_requests
from advisor.question.request import Request
from advisor.question.rules import PREDICTED, check_ranking
from advisor.show.budgets import budgets_document
from advisor.show.decision import Decision, decision_html, decision_of
from advisor.show.model import Document, Role, Sentence
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.rank.bias import bias_document
from advisor.show.rank.document import rank_document
from advisor.show.rank.matrix import matrix_document, protocols_document
from advisor.show.rank.pareto import pareto_document
from simulator._version import __version__
from simulator.progress import Progress, part

# Options of a question about a sample, or of a look-up without a sample; several budgets are answered side by side.
RANKED = (
    "sample",
    "grid:epsilons",
    "terms:n,metric",
    "domain",
    "columns",
    "cleaning",
    "menu",
    "limits",
    "shape",
    "instant:instant",
    "simulation",
)
DETAILS, DECISION = "details", "decision"  # what a page is for
A = TypeVar("A")
RUN_SUFFIXES = (".csv", ".parquet")


def _shows(answer: Answer) -> bool:
    return bool(answer.first.recommendations)


def _check_runs(option: str, path: Path) -> None:
    if path.suffix.lower() == ".parquet":
        try:
            import pyarrow  # noqa: F401 - asked for before hours of simulation, not after
        except ImportError:
            raise InputError(
                f"{option} {path}: Parquet needs pyarrow: pip install 'ldp-advise[parquet]', or use .csv"
            ) from None


def _write_runs(answer: Answer, path: Path) -> None:
    if not answer.runs:
        return
    if path.suffix.lower() == ".parquet":
        answer.runs_frame().to_parquet(path, index=False)
    else:
        answer.runs_frame().to_csv(path, index=False, lineterminator="\n")


@dataclass(frozen=True, kw_only=True)
class Audience(Settings):
    """Whom the page is for."""

    panel: ClassVar[str] = "Output"

    audience: str = option(
        "--for",
        read=choice((DETAILS, DECISION)),
        metavar="WHAT",
        default=DETAILS,
        advanced=True,
        help="what the page is for: details, or a decision, in plain words",
    )

    def page(
        self, document: Callable[[A], Document], decide: Callable[[A], Decision], output: Output
    ) -> Callable[[A], Document]:
        """Return what makes the document of an answer, with a page for the readers that were named.

        Raises InputError if no page is written.
        """
        if self.audience == DETAILS:
            return document
        if output.report is None and output.chosen_format != "html":
            raise InputError("--for is about a page: give --report FILE.html too, or --format html")

        def decision_page(answer: A) -> Document:
            decision = decide(answer)
            return replace(
                document(answer), page=lambda shown, line: decision_html(decision, output.title or "", shown, line)
            )

        return decision_page


@dataclass(frozen=True, kw_only=True)
class Extras(Settings):
    """What else a ranking writes, how its errors are laid out, and how a pipeline learns that it is useless."""

    panel: ClassVar[str] = "Output"

    runs: str | None = option(
        "--runs", read=path, metavar="FILE", advanced=True, help="every repetition's error: .csv or .parquet"
    )
    plot_frequencies: str | None = option(
        "--plot-frequencies",
        read=path,
        metavar="FILE",
        advanced=True,
        help="picture of raw and post-processed frequencies",
    )
    fail_if_useless: bool = option("--fail-if-useless", advanced=True, help="exit code 3 if no better than no data")
    matrix: bool = option("--matrix", advanced=True, help="one table: protocols by methods, or pairs by metrics")


@dataclass(frozen=True, kw_only=True)
class RankOutput(Bundle):
    """Output options for the answer of a ranking."""

    output: Output = Output()
    extras: Extras = Extras()
    audience: Audience = Audience()

    def side_files(self) -> list[SideFile[Answer]]:
        """Return the additional output files."""
        frequencies = self.extras.plot_frequencies
        return [
            SideFile("--runs", self.extras.runs, RUN_SUFFIXES, _write_runs, _check_runs),
            picture_file("--plot-frequencies", frequencies, lambda answer: frequencies_figure(answer.first), _shows),
        ]

    def document(self, answer: Answer) -> Document:
        """Return the document of an answer, in one metric or several."""
        spreads = bool(answer.runs) and (self.output.verbose or self.output.chosen_format == "latex")
        if self.extras.matrix and len(answer.rankings) > 1:
            return matrix_document(answer.rankings, spreads=spreads)
        if self.extras.matrix and answer.first.recommendations:
            return protocols_document(answer.first, spreads=spreads)
        document = rank_document(answer.rankings)
        if len(answer.rankings) < 2 or not answer.first.recommendations:
            return document
        note = Sentence("--matrix shows all metrics in one table.", Role.NOTE)
        return replace(document, parts=(*document.parts, note))


# Without a page for those who decide.
PlainOutput = Annotated[RankOutput, Only("output", "extras")]


def rank(question: Question, shown: RankOutput) -> None:
    """Answer a question by simulation for a sample, otherwise by prediction; several budgets side by side.

    Raises InputError for missing or contradictory options, or an invalid sample.
    """
    if len(question.columns.column) > 1:
        names = shlex.join(word for name in question.columns.column for word in ("--column", name))
        raise InputError(f"one --column is ranked at a time: for a plan of several, ldp-advise columns SAMPLE {names}")
    check_or_price(question)
    if not question.is_predicted and question.instant.why:
        raise InputError("--why explains a predicted answer: leave the file out, or add --instant")
    if len(question.each) > 1:
        refuse(shown.given("audience"), "goes with one ε: give one --eps")
        _rank_at_budgets(question, shown)
        return
    if question.is_predicted:
        refuse(shown.extras.given("runs"), PREDICTED)
    job: Job[Request, Any] = Job(
        read=lambda: ranking_requests(question)[0],
        answer=partial(ranking_answer, question),
        document=shown.audience.page(shown.document, lambda answer: decision_of(answer.first), shown.output),
        fails=useless if shown.extras.fail_if_useless else None,
        data=question,
        files=shown.side_files(),
    )
    if question.instant.bias:
        flags = [*question.given("instant:instant"), *shown.given("extras", "audience")]
        refuse(flags, "does not go with --bias, which is simulated and no ranking")
        job = replace(job, answer=partial(bias_of, jobs=question.simulation.jobs), document=bias_document, files=())
    run(job, shown.output)


def check_or_price(question: Question) -> None:
    """Check a question as `check_ranking` does; if only the budget is missing, compute the errors at some budgets.

    Raises `MissingBudgetError`, or InputError for all missing options, or for the first option that does not fit.
    """
    budget = question.grid.epsilons or question.terms.epsilon or question.promise.central_epsilon
    if (question.sample is not None or question.domain.k is not None) and not budget:
        raise missing_budget(question)
    check_ranking(question)


def useless(answer: Answer) -> bool:
    """Return whether a ranking of an answer has no pair, or a best pair that is no better than no data."""
    return any(ranking.verdict in (None, USELESS) for ranking in answer.rankings)


def _rank_at_budgets(question: Question, shown: RankOutput) -> None:
    """Answer the same question at each ε, with the same result as a separate question."""
    extras = shown.given("extras:runs,plot_frequencies,matrix")
    flags = [*question.given("instant:bias"), *extras, *question.given("instant:why")]
    refuse(flags, "goes with one ε: give one --eps")

    def answers(requests: tuple[Request, ...], progress: Progress) -> Budgets:
        epsilons = question.grid.epsilons
        parts = (part(progress, place, len(epsilons), f"ε = {one:g}") for place, one in enumerate(epsilons))
        answered = (ranking_answer(question, *of_one) for of_one in zip(requests, parts, strict=True))
        return Budgets(epsilons, tuple(answered))

    run(
        Job(
            read=lambda: ranking_requests(question),
            warnings=lambda requests: tuple(dict.fromkeys(text for item in requests for text in item.warnings)),
            answer=answers,
            document=budgets_document,
            fails=(lambda item: any(map(useless, item.answers))) if shown.extras.fail_if_useless else None,
            data=question,
        ),
        shown.output,
        top=None,
    )


def _version(flag: bool) -> None:
    if flag:
        typer.echo(f"ldp-advise {__version__}")
        raise typer.Exit


def rank_command(
    *,
    question: Annotated[Question, Only(*RANKED, "instant")],
    shown: RankOutput,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, hidden=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing to use, simulated or predicted.

    Examples: ldp-advise --eps 1 --metric emd sample.csv
              ldp-advise --eps 0.5,1,2 --k 256 --n 2M
    """
    rank(question, shown)


def pareto_command(*, question: Annotated[Question, Only(*RANKED, "promise")], output: Output) -> None:
    """Show the trade-offs between error, attack and report size.

    A pair is shown where no other beats it in all three at once.

    Examples: ldp-advise pareto --eps 1 sample.csv
              ldp-advise pareto --eps 1 --k 256
    """
    question.terms.one_metric("pareto")
    check_or_price(question.alone)
    run(
        Job(
            read=lambda: ranking_requests(question.alone)[0],
            answer=lambda request, progress: frontier_of(ranking_answer(question, request, progress).first),
            document=pareto_document,
            data=question,
        ),
        output,
        top=None,
    )
