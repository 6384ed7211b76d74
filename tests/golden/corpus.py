"""How a golden case is run: in this process, in a folder of its own with the files that the cases read."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from advisor.cli.app import main as command
from advisor.members import member_of_file
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.foreign import FAILURES, REGISTERED, SOURCES
from tests.golden.calls import CALLS
from tests.golden.figures import figures_of, figures_of_data, refusal_of
from tests.golden.inputs import make

COLUMNS = "100"  # of the terminal
WRITTEN = ("json", "csv")  # files whose figures are kept; of others it is kept that they are there
Outcome: TypeAlias = Mapping[str, Any]


@contextlib.contextmanager
def in_a_folder() -> Iterator[None]:
    """Run what follows in a folder with the files, and with the settings that all cases have."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
        with at(Path(name), COLUMNS):
            Path("OUT").mkdir()
            yield


@contextlib.contextmanager
def at(folder: Path, columns: str) -> Iterator[None]:
    """Run what follows in a folder, on a terminal of so many columns and without anybody's settings."""
    before, environment = Path.cwd(), dict(os.environ)
    ours = {"COLUMNS": columns, "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    os.chdir(folder)
    os.environ.clear()
    os.environ.update({key: value for key, value in environment.items() if not key.startswith("LDP_ADVISE_")} | ours)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)
        forget_members()


def outcome(case: str) -> Outcome:
    """Run one case and return what is kept of it; a traceback is a difference, and no end of the comparison."""
    with in_a_folder():
        try:
            return _of_call(case) if case in CALLS else _of_command(case)
        except Exception as error:  # noqa: BLE001 - see above
            return {"crash": f"{type(error).__name__}: {error}"}


def run(line: str) -> tuple[int, str, str]:
    """Run a command line in this folder: (exit code, standard output, standard error)."""
    line, _, source = line.partition(" < ")
    with _streams(source or os.devnull) as (out, err):
        try:
            code = command(shlex.split(line)[1:])
        except SystemExit as left:
            code = int(left.code or 0)
    return code, _text(out), _text(err)


def shown(line: str) -> str:
    """Return what a command prints, without trailing blanks.

    Raises RuntimeError if it refuses.
    """
    code, out, err = run(line)
    if code not in (0, 3):
        raise RuntimeError(f"{line}: {err}")
    return "".join(f"{one.rstrip()}\n" for one in (out + err).splitlines())


def _of_call(case: str) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what warnings a call has stands in its answer
        try:
            answer: Any = CALLS[case]()
        except ValueError as error:
            return {"exit": 2, **refusal_of(str(error))}
    if hasattr(answer, "to_json"):
        answer = json.loads(answer.to_json())
    return {"exit": 0, **dict(figures_of_data(answer))}


def _of_command(case: str) -> Outcome:
    words = shlex.split(case)
    form = _format(words)
    named = form == "json" and not {"--format", "--to", "-o"} & set(words)
    line, *source = case.split(" < ")
    code, out, err = run(" < ".join([f"{line} --format json" if named else line, *source]))
    kept: dict[str, Any] = {"exit": code}
    if code == 2:
        return kept | refusal_of(err)
    kept |= figures_of(out, form)
    for path in sorted(path for path in Path("OUT").rglob("*") if path.is_file()):
        kept[f"{path}"] = True
        if path.suffix.lstrip(".") in WRITTEN:
            found = figures_of(path.read_text(encoding="utf-8"), path.suffix.lstrip("."))
            kept |= {f"{path}: {place}": figure for place, figure in found.items()}
    return kept


def _format(words: list[str]) -> str:
    """Return what the answer on standard output is: a format, or help."""
    if "--format" in words:
        return words[words.index("--format") + 1]
    if "--help" in words:
        return "help"
    return "text" if {"--bibtex", "--version", "--to", "-o"} & set(words) else "json"


@contextlib.contextmanager
def _streams(source: str) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    kept = sys.stdin
    with open(source, encoding="utf-8") as sys.stdin, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):  # noqa: PTH123
        try:
            yield out, err
        finally:
            sys.stdin = kept


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def forget_members() -> None:
    for name in list(REGISTERED):
        for known in (PROTOCOLS, POSTPROCESSORS, METRICS, REGISTERED, SOURCES, FAILURES):
            known.pop(name, None)
    member_of_file.cache_clear()
