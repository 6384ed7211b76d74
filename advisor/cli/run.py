"""One run of any command: check what is written, read, say what is odd, answer, write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from advisor.checks import choice, path, whole
from advisor.cli.options import Only, command_line
from advisor.cli.outputs import Outputs, Target
from advisor.cli.progress import delayed_status
from advisor.document.csv import csv_text
from advisor.document.json import json_text
from advisor.document.markdown import markdown
from advisor.document.model import TOP, Document, Section, View
from advisor.document.terminal import show
from advisor.document.text import plain_text
from advisor.errors import InputError
from advisor.question.option import Settings, option

FORMATS = ("table", "plain", "markdown", "csv", "json", "value")
SUFFIX_FORMATS = {".json": "json", ".csv": "csv", ".md": "markdown", ".txt": "plain"}
PAGES = (".html", ".htm")
NOTICE = (
    "note: SAMPLE is read as it is, without any privacy: use public, synthetic or pilot data, not what you want to "
    "protect (--quiet hides this note)"
)

Q = TypeVar("Q")
A = TypeVar("A")
P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True)
class Output(Settings):
    """Where the answer goes, in which format, and how much of it."""

    panel: ClassVar[str] = "Output"

    top: int | None = option("--top", read=whole(1), metavar="N", help="rows to show [default: 10]")
    every_row: bool = option("--all", help="show every row")
    format: str | None = option(
        "--format", read=choice(FORMATS), metavar="FORMAT", help=f"{', '.join(FORMATS)} [default: table]"
    )
    output: str | None = option("--output", "-o", read=path, metavar="FILE", help="write the answer to this file")
    report: str | None = option("--report", read=path, metavar="FILE", help="write one page with everything: .html")
    force: bool = option("--force", help="replace files that exist")
    quiet: bool = option("--quiet", "-q", help="the answer and its tables only; warnings stay")
    verbose: bool = option("--verbose", "-v", help="explain columns and protocols; with --help: every option")

    @property
    def chosen_format(self) -> str:
        """The format that was named, or that of the file's suffix, or the table."""
        return self.format or SUFFIX_FORMATS.get(Path(self.output or "").suffix.lower(), "table")

    def view(self, top: int | None = TOP) -> View:
        """Return what is to be shown, `top` rows where nothing else was said."""
        return View(None if self.every_row else self.top or top, self.quiet, self.verbose)


# For commands whose tables are always shown as a whole.
WholeOutput: TypeAlias = Annotated[Output, Only("format", "output", "report", "force", "quiet", "verbose")]


@dataclass(frozen=True)
class SideFile(Generic[A]):
    """A file that a command writes beside its answer.

    Attributes
    ----------
    option, path
        The option that names it, and the name; None where it was not given.
    suffixes
        Suffixes that it may have.
    write
        Fills a file with what belongs there; called with the answer and the file.
    check
        Refuses what is not installed, before anything is read; called with the option and the file; None: nothing.
    shows
        Tells whether an answer has anything to write there; None: it always has.
    continues
        Whether a file that is there is continued, so that it need not be replaced.
    """

    option: str
    path: str | None
    suffixes: tuple[str, ...]
    write: Callable[[A, Path], None]
    check: Callable[[str, Path], None] | None = None
    shows: Callable[[A], bool] | None = None
    continues: bool = False


class ProgressMaker(Protocol[P_co]):
    """Makes the context in which the progress of some work is shown, if it is to be shown."""

    def __call__(self, *, enabled: bool) -> AbstractContextManager[P_co]: ...  # noqa: D102


def silence(*, enabled: bool) -> AbstractContextManager[None]:
    """Show no progress: for what takes no time."""
    del enabled
    return nullcontext()


@dataclass(frozen=True)
class Job(Generic[Q, A, P]):
    """What a command does, step by step; what its options alone forbid has been refused before.

    Attributes
    ----------
    read
        Reads what is to be read and returns the question.
    answer
        Answers it; called with the question and what shows progress.
    document
        Makes the document of an answer.
    progress
        Makes what shows the progress of `answer`.
    sections
        Makes what pages show besides; called only for a page.
    inputs
        Files that are read, and never written over.
    files
        Files that are written beside the answer.
    warnings
        What the reader should worry about, known from the question.
    reading
        What is being done while `read` works.
    unprotected
        Whether something is read as it is that people might want to protect.
    """

    read: Callable[[], Q]
    answer: Callable[[Q, P], A]
    document: Callable[[A], Document]
    progress: ProgressMaker[P]
    inputs: Sequence[str] = ()
    files: Sequence[SideFile[A]] = ()
    warnings: Callable[[Q], Sequence[str]] | None = None
    reading: str = "reading the sample"
    unprotected: bool = False
    sections: Callable[[A], tuple[Section, ...]] | None = None

    @classmethod
    def of(cls, document: Callable[[], Document]) -> Job[None, None, None]:
        """Return a job that reads nothing and is answered at once."""
        return Job(lambda: None, lambda question, progress: None, lambda answer: document(), silence)  # noqa: ARG005


def run(job: Job[Q, A, P], output: Output, top: int | None = TOP) -> None:
    """Do a job: everything that can be refused is refused before the first byte is read.

    Raises
    ------
    InputError
        If an output cannot be written, or what is read or asked is wrong.
    """
    outputs = Outputs(force=output.force, inputs=job.inputs)
    answer_target = outputs.add("--output", output.output)
    targets = [_target(file, outputs) for file in job.files]
    page: SideFile[Document] = SideFile("--report", output.report, PAGES, _write_page, _check_page)
    page_target = _target(page, outputs)
    with delayed_status(job.reading, enabled=not output.quiet):
        question = job.read()
    if job.unprotected and not output.quiet:
        say(NOTICE)
    early = [] if job.warnings is None else list(job.warnings(question))
    for warning in early:
        say(f"warning: {warning}")
    with job.progress(enabled=not output.quiet) as progress:
        answer = job.answer(question, progress)
    document = job.document(answer)
    if job.sections is not None:
        document = replace(document, sections=partial(job.sections, answer))
    for warning in document.warnings:
        if warning not in early:
            say(f"warning: {warning}")
    write(document, output, answer_target, output.view(top))
    sys.stdout.flush()  # the answer is out, whatever becomes of the files beside it
    for file, target in zip(job.files, targets, strict=True):
        if target is None:
            continue
        if file.shows is None or file.shows(answer):
            target.write(partial(file.write, answer))
        else:
            say(f"warning: there is nothing to show, so {file.option} wrote no file")
    if page_target is not None:
        page_target.write(partial(_write_page, document))


def say(words: str) -> None:
    """Print a line on standard error."""
    with suppress(OSError):  # where standard error is full, the answer matters more
        print(words, file=sys.stderr)  # noqa: T201 - the only package that prints


def write(document: Document, output: Output, target: Target | None, view: View) -> None:
    """Print a document, or write it to a file, in the format that is asked for."""
    if output.chosen_format == "table" and target is None:
        show(document, view)
        return
    text = {
        "table": lambda: plain_text(document, view),
        "plain": lambda: plain_text(document, view),
        "markdown": lambda: markdown(document, view),
        "csv": lambda: csv_text(document),
        "json": lambda: json_text(document) + "\n",
        "value": lambda: f"{document.value}\n" if document.value else "",
    }[output.chosen_format]()
    if target is None:
        sys.stdout.write(text)
    else:
        target.write_text(text)


def _target(file: SideFile[A], outputs: Outputs) -> Target | None:
    """Return the file that an option names, checked; None if it was not given."""
    if file.path == "-":
        raise InputError(f"{file.option} needs the name of a file: the answer goes to standard output")
    target = outputs.add(file.option, file.path, suffixes=file.suffixes, continues=file.continues)
    if target is not None and file.check is not None:
        file.check(file.option, target.path)
    return target


def _check_page(option: str, path: Path) -> None:
    from advisor.pictures import require_matplotlib  # pages alone draw here

    require_matplotlib(option, path)


def _write_page(document: Document, target: Path) -> None:
    from advisor.document.page import page_html  # heavy: it draws

    target.write_text(page_html(document, command_line()), encoding="utf-8")
