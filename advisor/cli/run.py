"""The run of a command: check outputs, read, warn, answer, write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, TypeAlias, TypeVar

import typer

from advisor.checks import choice, path, text, whole
from advisor.cli.options import Only, command_line
from advisor.cli.progress import DelayedProgress
from advisor.errors import InputError, listed, one_line
from advisor.question.option import Settings, option, options_of
from advisor.question.question import Question
from advisor.show.data import csv_text, cut, json_text, latex, markdown, plain_text
from advisor.show.model import TOP, Document, Tone, View
from advisor.show.outputs import Outputs, Target
from advisor.show.pictures import PICTURES, require_matplotlib, save
from advisor.show.terminal import show
from simulator.foreign import SOURCES, containment
from simulator.progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("table", "plain", "markdown", "latex", "csv", "json", "value", "html")
PAGES = (".html", ".htm")
FAILED = 3  # exit code if there is an answer on which a pipeline asked to fail
SUFFIX_FORMATS = {
    "": "table",
    ".txt": "plain",
    ".md": "markdown",
    ".tex": "latex",
    ".csv": "csv",
    ".json": "json",
    **dict.fromkeys(PAGES, "html"),
}
NOTICE = (
    "note: SAMPLE is read as it is, without any privacy: use public, synthetic or pilot data, not what you want to "
    "protect (--quiet hides this note)"
)

answered: ContextVar[bool] = ContextVar("answered", default=False)  # whether the answer is on standard output

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True, kw_only=True)
class Output(Settings):
    """Destination, format and extent of the answer."""

    panel: ClassVar[str] = "Output"

    plot: str | None = option("--plot", read=path, metavar="FILE", help="picture of the answer: .png, .svg or .pdf")
    top: int | None = option("--top", read=whole(1), metavar="N", help=f"rows to show [default: {TOP}; csv, json: all]")
    every_row: bool = option("--all", advanced=True, help="show every row")
    format: str | None = option("--format", read=choice(FORMATS), metavar="FORMAT", help=", ".join(FORMATS))
    output: str | None = option(
        "--output", "-o", read=path, metavar="FILE", help="write the answer here, in the suffix's format"
    )
    report: str | None = option("--report", read=path, metavar="FILE", help="write one page with everything: .html")
    safe_cells: bool = option(
        "--safe-cells", advanced=True, help="in CSV, an apostrophe before text that a spreadsheet would run: = + - @"
    )
    title: str | None = option("--title", read=text, metavar="TEXT", advanced=True, help="title of the page")
    force: bool = option("--force", advanced=True, help="replace files that exist")
    quiet: bool = option("--quiet", "-q", help="the answer and its tables only; warnings stay")
    verbose: bool = option("--verbose", "-v", help="explain columns and protocols; with --help: every option")

    @property
    def chosen_format(self) -> str:
        """The named format, or the format of the file's suffix, or the table.

        Raises InputError if the suffix is not that of a format of this command.
        """
        suffix = Path(self.output or "").suffix.lower()
        if self.format is None and suffix not in SUFFIX_FORMATS:
            raise InputError(
                f"--output {self.output}: {suffix} stands for no format: give --format, or one of "
                f"{listed(filter(None, SUFFIX_FORMATS))}"
            )
        return self.format or SUFFIX_FORMATS[suffix]

    def view(self, top: int | None = TOP) -> View:
        """Return the view of the answer, with `top` rows by default."""
        return View(None if self.every_row else self.top or top, self.quiet, self.verbose)


# For commands without a picture, whose tables are always shown as a whole.
WHOLE = ("format", "output", "report", "safe_cells", "title", "force", "quiet", "verbose")
WholeOutput: TypeAlias = Annotated[Output, Only(*WHOLE)]


@dataclass(frozen=True)
class SideFile(Generic[A]):
    """An additional output file of a command."""

    # option, path: the option that names it, and the name; None if not given
    option: str
    path: str | None
    suffixes: tuple[str, ...]  # allowed suffixes
    write: Callable[[A, Path], None]  # writes the file; called with the answer and the file
    # raises InputError for missing packages, before any input is read; called with the option and the file; or None
    check: Callable[[str, Path], None] | None = None
    shows: Callable[[A], bool] | None = None  # returns whether an answer has content for the file; None: always


def picture_file(
    option: str, path: str | None, figure: Callable[[A], Figure], shows: Callable[[A], bool] | None = None
) -> SideFile[A]:
    """Return the file of a picture that an option names; `figure` draws an answer."""
    return SideFile(
        option, path, PICTURES, lambda answer, target: save(figure(answer), target), require_matplotlib, shows
    )


@dataclass(frozen=True)
class Job(Generic[Q, A]):
    """The steps of a command; contradictions between its options have been refused before."""

    read: Callable[[], Q]  # reads the inputs and returns the question
    answer: Callable[[Q, Progress], A]  # returns the answer; called with the question and what shows the progress
    document: Callable[[A], Document]  # returns the document of an answer
    data: Question | None = None  # the question whose sample and other files are read, and never overwritten
    inputs: Sequence[str | None] = ()  # further files that are read, if given, and never overwritten
    files: Sequence[SideFile[A]] = ()  # additional output files
    resume: str | None = None  # file from which `answer` continues, and to which it saves finished work
    # warnings for the reader that follow from the question: those that it carries, if it does
    warnings: Callable[[Q], Sequence[str]] = lambda question: getattr(question, "warnings", ())
    reading: str = "reading the sample"  # text for the progress display while `read` works
    fails: Callable[[A], bool] | None = None  # returns whether an answer ends in exit code 3; None: never

    @classmethod
    def of(cls, document: Callable[[], Document]) -> Job[None, None]:
        """Return a job that reads nothing and needs no computation."""
        return Job(lambda: None, lambda question, progress: None, lambda answer: document())  # noqa: ARG005


def run(job: Job[Q, A], output: Output, top: int | None = TOP) -> None:
    """Run a job; all possible checks are made before the first byte is read.

    Raises InputError if an output cannot be written, or if the input or the question is invalid.
    """
    inputs = [name for name in (*job.inputs, *(job.data.files if job.data else ())) if name is not None]
    outputs = Outputs(force=output.force, inputs=inputs)
    _refuse_stream("--resume", job.resume, "finished cells are kept there")
    outputs.add("--resume", job.resume, continues=True)
    answer_target = outputs.add("--output", None if output.output == "-" else output.output)
    plot = SideFile("--plot", output.plot, PICTURES, _draw, require_matplotlib, lambda document: bool(document.picture))
    page = SideFile("--report", output.report, PAGES, _write_page)
    plot_target = _target(plot, outputs)
    targets = [_target(file, outputs) for file in job.files]
    page_target = _target(page, outputs)
    if output.chosen_format != "html" and output.title is not None and output.report is None:
        raise InputError("--title is the title of a page: give --report FILE.html too, or --format html")
    with containment() if SOURCES else nullcontext():  # prints of other packages are not part of the answer
        typed = "-" in inputs and sys.stdin is not None and sys.stdin.isatty()
        answer, document, early = _answered(job, typed=typed, quiet=output.quiet)
    if output.title is not None:
        document = replace(document, title=output.title)
    for warning in document.warnings:
        if warning not in early:
            say(f"warning: {warning}")
    _write_all(
        [
            partial(write, document, output, answer_target, output.view(top)),
            partial(_write_beside, plot, plot_target, document),
            *(partial(_write_beside, file, target, answer) for file, target in zip(job.files, targets, strict=True)),
            partial(_write_beside, page, page_target, document),
        ]
    )
    if sys.stderr is not None and sys.stderr.isatty() and not output.quiet:
        paths = (output.output, output.plot, *(file.path for file in job.files), output.report)
        written = [name for name in paths if name is not None and name != "-" and Path(name).is_file()]
        if written:
            say(f"written: {', '.join(written)}")
    if job.data is not None and job.data.sample is not None and not output.quiet:
        say(NOTICE)
    if job.fails is not None and job.fails(answer):
        raise typer.Exit(FAILED)


def _answered(job: Job[Q, A], *, typed: bool, quiet: bool) -> tuple[A, Document, list[str]]:
    """Return the answer, its document, and the warnings that were printed before there was an answer."""
    if typed and not quiet:
        say("reading what is typed: one value per line; Ctrl-D on a line of its own ends it")
    with DelayedProgress(enabled=not (quiet or typed)) as progress:
        progress(job.reading, 0, 0)
        question = job.read()
    early = list(job.warnings(question))
    for warning in early:
        say(f"warning: {warning}")
    with DelayedProgress(enabled=not quiet) as progress:
        answer = job.answer(question, progress)
    return answer, job.document(answer), early


def _write_all(writers: Iterable[Callable[[], None]]) -> None:
    """Write an answer and the additional files; if one fails, the others are still written.

    Raises InputError for all files that could not be written; OSError if standard output does not take the answer.
    """
    failures: list[str] = []
    refusal: OSError | None = None
    for write_one in writers:
        try:
            write_one()
        except InputError as error:
            failures.append(str(error))
        except OSError as error:
            refusal = error
    if failures:
        raise InputError("; ".join(failures))
    if refusal is not None:
        raise refusal


def _write_beside(file: SideFile[A], target: Target | None, answer: A) -> None:
    if target is None:
        return
    if file.shows is None or file.shows(answer):
        target.write(partial(file.write, answer))
    else:
        say(f"warning: there is nothing to show, so {file.option} wrote no file")


def say(words: str) -> None:
    """Print a line on standard error."""
    with suppress(OSError):  # if standard error is full, the answer matters more
        print(one_line(words), file=sys.stderr)  # noqa: T201 - the only package that prints


def write(document: Document, output: Output, target: Target | None, view: View) -> None:
    """Print a document, or write it to a file, in the requested format.

    Raises InputError if the file cannot be written, after printing the answer; OSError if standard output fails.
    """
    if output.chosen_format in ("csv", "json"):
        document = cut(document, output.top)
    _say_verdict(document, output, view)
    if target is not None:
        try:
            target.write_text(_text(document, output, view))
        except InputError:
            if not target.is_stream:
                write(document, output, None, view)
            raise
        return
    answered.set(True)
    if output.chosen_format == "table":
        show(document, view)
    else:
        sys.stdout.write(_text(document, output, view))
    sys.stdout.flush()


def _say_verdict(document: Document, output: Output, view: View) -> None:
    """Print the verdicts on standard error if only rows or names are printed, which look alike for all verdicts."""
    if document.verdict is None or output.chosen_format not in ("csv", "value"):
        return
    for verdict in (document.verdict, *document.further_verdicts):
        if not (view.quiet and verdict.badge.tone is Tone.GOOD):
            say(f"verdict: {verdict.summary}")


def _text(document: Document, output: Output, view: View) -> str:
    return {
        "table": lambda: plain_text(document, view),
        "plain": lambda: plain_text(document, view),
        "markdown": lambda: markdown(document, view),
        "latex": lambda: latex(document, view),
        "csv": lambda: csv_text(document, safe_cells=output.safe_cells),
        "json": lambda: json_text(document) + "\n",
        "html": lambda: _page(document),
        "value": lambda: f"{document.value}\n" if document.value else "",
    }[output.chosen_format]()


def _refuse_stream(option: str, path: str | None, why: str) -> None:
    if path == "-":
        raise InputError(f"{option} needs the name of a file: {why}")


def _target(file: SideFile[A], outputs: Outputs) -> Target | None:
    """Return the file that an option names, checked; None if it was not given."""
    _refuse_stream(file.option, file.path, "the answer goes to standard output")
    target = outputs.add(file.option, file.path, suffixes=file.suffixes)
    if target is not None and file.check is not None:
        file.check(file.option, target.path)
    return target


def _page(document: Document) -> str:
    from advisor.show.page import page_html  # only for pages

    return (document.page or page_html)(document, command_line(without={**_destinations(), "--for": True}))


def _destinations() -> dict[str, bool]:
    """Return the options for the destination of an answer, not its content, with whether each takes a value."""
    fields = ("output", "report", "force", "quiet", "verbose")
    return {
        flag: spec.read is not None for item, spec in options_of(Output) if item.name in fields for flag in spec.flags
    }


def _draw(document: Document, target: Path) -> None:
    if document.picture is not None:
        save(document.picture(), target)


def _write_page(document: Document, target: Path) -> None:
    target.write_text(_page(document), encoding="utf-8")
