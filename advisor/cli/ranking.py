"""What the commands that end in a ranking share: how it is simulated and shown, and the files beside it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.outlook import outlook
from advisor.answers.rank.result import Answer
from advisor.answers.rank.verdict import USELESS
from advisor.answers.rank.why import explained, why_of
from advisor.checks import path
from advisor.cli.examples import MissingBudgetError, missing_budget
from advisor.cli.options import Bundle, Only
from advisor.cli.progress import DelayedProgress
from advisor.cli.run import SideFile
from advisor.errors import InputError
from advisor.question.cleaning import Cleaning
from advisor.question.early import check_early
from advisor.question.metric_settings import MetricSettings
from advisor.question.option import Settings, option, refuse, require
from advisor.question.request import RankSettings, Request
from advisor.question.settings import (
    Categories,
    Columns,
    Grid,
    Instant,
    Limits,
    Menu,
    Picture,
    Question,
    Shape,
    Simulation,
)
from advisor.question.shape_request import shape_request
from advisor.show.model import Document, Role, Section, Sentence
from advisor.show.pictures import PICTURES, require_matplotlib, save
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.rank.document import rank_document
from advisor.show.rank.matrix import matrix_document
from simulator._version import __version__
from simulator.benchmark import Runs

PREDICTED = "is for a simulation, and this answer is predicted: give a sample, without --instant"
RUN_COLUMNS = ("eps", "n", "k", "seed", "version", "protocol", "method", "metric", "repetition", "judged", "error")
RUN_SUFFIXES = (".csv", ".parquet")


def rank_files(files: RankFiles, picture: Picture) -> list[SideFile[Answer]]:
    """Return the files that a ranking writes beside its answer."""
    ranking, frequencies = picture.plot, files.plot_frequencies
    return [
        SideFile("--runs", files.runs, RUN_SUFFIXES, _write_runs, _check_runs),
        SideFile("--plot", ranking, PICTURES, _draw_ranking, require_matplotlib, _shows),
        SideFile("--plot-frequencies", frequencies, PICTURES, _draw_frequencies, require_matplotlib, _shows),
    ]


def useless(answer: Answer) -> bool:
    """Tell whether any ranking of an answer names a pair that is no better than no data, or none at all."""
    return any(ranking.verdict in (None, USELESS) for ranking in answer.rankings)


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
    """Write every repetition's error, one row each, with all that says what was simulated."""
    if not answer.runs:
        return
    request = answer.first.request
    setting = (request.epsilon, request.n, request.k, request.seed, __version__)
    if path.suffix.lower() == ".parquet":
        _write_parquet(path, answer.runs, request.metrics, setting)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RUN_COLUMNS)
        for *names, first, judged, errors in _blocks(answer.runs, answer.first.request.metrics):
            rows = enumerate(errors.tolist(), start=first)
            writer.writerows((*setting, *names, repetition, judged, error) for repetition, error in rows)


def _blocks(
    every: tuple[Runs, ...], metrics: tuple[str, ...]
) -> Iterator[tuple[str, str, str, int, bool, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]]:
    """Yield blocks of errors: which pair and metric, the first repetition, and whether an estimate is judged by them.

    Those are of draws of what may be behind it, the others of simulated collections.
    """
    for runs in every:
        for metric in metrics:
            for (protocol, method), errors in runs.of(metric).items():
                yield protocol, method, metric, runs.first, runs is not every[0], errors


def _write_parquet(
    path: Path, runs: tuple[Runs, ...], metrics: tuple[str, ...], setting: tuple[float | int | str, ...]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = []
    for *names, first, judged, errors in _blocks(runs, metrics):
        texts = [pa.array([name] * len(errors)) for name in (*setting, *names)]
        repetitions = pa.array(np.arange(first, first + len(errors)))
        parts.append(
            pa.table([*texts, repetitions, pa.array([judged] * len(errors)), pa.array(errors)], names=list(RUN_COLUMNS))
        )
    pq.write_table(pa.concat_tables(parts), path)


def _draw_ranking(answer: Answer, path: Path) -> None:
    save(ranking_figure(answer.first), path)


def _draw_frequencies(answer: Answer, path: Path) -> None:
    save(frequencies_figure(answer.first), path)


@dataclass(frozen=True, kw_only=True)
class RankFiles(Settings):
    """Files beside the answer of a ranking."""

    panel: ClassVar[str] = "Output"

    runs: str | None = option(
        "--runs", read=path, metavar="FILE", advanced=True, help="every repetition's error: .csv or .parquet"
    )
    plot_frequencies: str | None = option(
        "--plot-frequencies", read=path, metavar="FILE", advanced=True,
        help="picture of raw and post-processed frequencies",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RankOptions(Bundle):
    """The groups of options of what ranks pairs, for a sample or without one."""

    grid: Annotated[Grid, Only("epsilons")]
    asked: Annotated[Question, Only("n", "metric")]
    domain: Categories
    columns: Columns
    cleaning: Cleaning
    menu: Menu
    limits: Limits
    shape: Shape
    instant: Instant
    metric_settings: MetricSettings
    simulation: Simulation

    def is_predicted(self, sample: str | None) -> bool:
        """Tell whether the answer is predicted instead of simulated."""
        return sample is None or self.instant.instant

    @property
    def questions(self) -> tuple[Question, ...]:
        """The question at each budget; the one without a budget where none is given."""
        return tuple(replace(self.asked, epsilon=epsilon) for epsilon in self.grid.epsilons or (None,))

    @property
    def question(self) -> Question:
        """The question at its one budget.

        Raises InputError if there are several.
        """
        first, *others = self.questions
        if others:
            budgets = ", ".join(f"{epsilon:g}" for epsilon in self.grid.epsilons)
            raise InputError(
                f"this is answered for one ε at a time, got {budgets}: give one --eps, and run it for each"
            )
        return first

    def check(self, sample: str | None, *every: RankSettings) -> None:
        """Refuse what is missing, and what does not go together, before a byte is read.

        every: the settings at each budget.

        Raises InputError for all that is missing, or the first that does not fit.
        """
        data = None if sample is None and self.domain.k is None else True
        central = every[0].promise.central_epsilon
        if data and not self.grid.epsilons and central is None:
            raise self._missing_budget(sample, *every)
        require(
            ("--eps", self.grid.epsilons or central, "the privacy budget of one report, for example --eps 1"),
            (
                "SAMPLE",
                data,
                "a file with public, synthetic or pilot data, - for standard input, or --k without a file",
            ),
        )
        if sample is None:
            flags = [flag for flag in (*self.columns.given(), *self.cleaning.given()) if flag != "--header"]
            refuse(flags, "needs a file: without one the answer is predicted")
        else:
            refuse(self.shape.given(), f"is for a question without a file: the frequencies are those of {sample}")
        if self.is_predicted(sample):
            refuse(self.simulation.given("repetitions", "max_repetitions"), PREDICTED)
        for settings in every:
            check_early(settings, self.domain, instant=self.is_predicted(sample))

    def _missing_budget(self, sample: str | None, *every: RankSettings) -> MissingBudgetError:
        """Return the error that no budget is given, with what some budgets would buy if that can be told at once."""

        def requests(epsilons: Sequence[float]) -> tuple[Request, ...]:
            each = (
                replace(one, question=replace(one.question, epsilon=budget)) for one in every for budget in epsilons
            )
            return replace(self, instant=Instant(instant=True)).read(sample, *each)

        return missing_budget(sample, requests)

    def read(self, sample: str | None, *every: RankSettings) -> tuple[Request, ...]:
        """Return the requests at each budget for a sample file, which is read once, or for a shape without one.

        Raises InputError if the file, or what is asked of it, is wrong.
        """
        if sample is None:
            requests = tuple(shape_request(settings, self.domain, self.shape) for settings in every)
        else:
            from advisor.question.sample import build_request, from_file  # look-ups read no file

            frequencies = from_file(sample, self.domain, self.columns, self.cleaning)
            requests = tuple(build_request(settings, frequencies, instant=self.instant.instant) for settings in every)
        groups = (self.domain, self.shape, self.columns, self.cleaning, self.menu, self.metric_settings)
        words = tuple(word for group in groups for word in group.typed()) + (() if sample is None else (sample,))
        return tuple(replace(request, data_words=words) for request in requests)


def ranking_answer(
    simulation: Simulation, *, predicted: bool = False, why: bool = False
) -> Callable[[Request, DelayedProgress], Answer]:
    """Return what answers a request: a simulation, or a prediction, with its reasons or without."""

    def simulate(request: Request, progress: DelayedProgress) -> Answer:
        from advisor.answers.rank.simulate import simulated_answer  # look-ups have no need of it

        return simulated_answer(request, jobs=simulation.jobs, progress=progress)

    def predict(request: Request, progress: DelayedProgress) -> Answer:
        del progress  # it takes no time
        return Answer(explained(look_up(request)) if why else look_up(request))

    return predict if predicted else simulate


@dataclass(frozen=True, kw_only=True)
class Layout(Settings):
    """How several metrics are shown."""

    panel: ClassVar[str] = "Output"

    matrix: bool = option("--matrix", advanced=True, help="with several metrics: one table of all pairs and metrics")

    def page(self, question: Question) -> Callable[[Answer], Document]:
        """Return what makes the document of an answer.

        Raises InputError if one table is asked for, and there is one metric.
        """
        if self.matrix and not question.every_metric and len(question.metrics) < 2:
            raise InputError("--matrix needs several metrics: -m all, or for example -m l1,topk")
        return matrix_page if self.matrix else rank_page


def rank_page(answer: Answer) -> Document:
    """Return the document of an answer."""
    document = rank_document(answer.rankings)
    if len(answer.rankings) < 2 or not answer.first.recommendations:
        return document
    return replace(document, parts=(*document.parts, Sentence("--matrix shows all metrics in one table.", Role.NOTE)))


def matrix_page(answer: Answer) -> Document:
    """Return the document of an answer in several metrics as one table."""
    return matrix_document(answer.rankings)


def rank_sections(answer: Answer) -> tuple[Section, ...]:
    """Return what pages show of an answer besides its document."""
    from advisor.show.rank.document import page_sections  # for pages alone

    return page_sections(answer.rankings, outlook(answer.first), why_of(answer.first))
