"""``python studies/trace_calls.py``: how much of the house one answer walks through.

For README's sample, a look-up and an estimate: how many of our functions are called, in how many files they stand, how
deep calls are nested, and how often a call goes from one room to another. Comprehensions and lambdas are not counted:
they belong to the function they stand in.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import typer

from advisor.cli.app import main as command
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("advisor", "knowledge", "simulator")
LOOK_UP = ("--eps", "1", "--k", "256", "--metric", "emd")
SAMPLE = ("--eps", "1", "--n", "2M", "examples/us_states_2020.csv")


class Walk(NamedTuple):
    """What a command walked through."""

    functions: int
    files: int
    depth: int  # of our functions above one another
    rooms: int  # changes of the room


def walk(words: Sequence[str]) -> Walk:
    """Run a command line in this process and return what it walked through.

    Raises RuntimeError if it does not answer.
    """
    called: set[tuple[str, str]] = set()
    stack: list[str] = []
    deepest = changes = 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal deepest, changes
        del argument
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if not _is_ours(file) or name.rpartition(".")[2].startswith("<"):
            return
        if event == "call":
            changes += bool(stack) and _room(stack[-1]) != _room(file)
            called.add((file, name))
            stack.append(file)
            deepest = max(deepest, len(stack))
        elif event == "return" and stack:
            stack.pop()

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        sys.setprofile(watch)
        try:
            code = command(list(words))
        finally:
            sys.setprofile(None)
    if code:
        raise RuntimeError(f"{' '.join(words)}: {shown.getvalue()}")
    return Walk(len(called), len({file for file, _ in called}), deepest, changes)


def _is_ours(file: str) -> bool:
    path = Path(file)
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES


def _room(file: str) -> tuple[str, ...]:
    return Path(file).relative_to(ROOT).parts[:2]


def estimate_file(folder: Path) -> Path:
    """Write a raw estimate of 64 categories by optimised unary encoding, and return its file."""
    counts = apportion(frequencies("zipf", 64, 1.0), 100_000)
    oracle = PROTOCOLS["oue"](64, 1.0)
    tally = oracle.sample_tally(counts, rng_for(0, "trace"))
    values = oracle.estimate(tally.counts, tally.n)  # type: ignore[attr-defined]
    path = folder / "estimate.csv"
    lines = (f"answer {place},{value:.6f}\n" for place, value in enumerate(values.tolist()))
    path.write_text("answer,estimate\n" + "".join(lines), encoding="utf-8")
    return path


def main() -> None:
    """Print a row for each of the three commands."""
    with tempfile.TemporaryDirectory() as folder:
        estimate = ("estimate", str(estimate_file(Path(folder))), "--protocol", "oue", "--eps", "1", "--n", "100000")
        commands = {"sample": SAMPLE, "look-up": LOOK_UP, "estimate": estimate}
        for words in commands.values():
            walk(words)  # what is done once, when something is first asked for
        typer.echo(f"{'':10}{'functions':>10}{'files':>7}{'depth':>7}{'room changes':>14}")
        for name, words in commands.items():
            one = walk(words)
            typer.echo(f"{name:10}{one.functions:>10}{one.files:>7}{one.depth:>7}{one.rooms:>14}")


if __name__ == "__main__":
    main()
