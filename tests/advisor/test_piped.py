"""What goes to a pipe, held against what rich writes to one."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from advisor import advise
from advisor.piped import is_pipe, piped_lines
from advisor.rank.advice import Advice
from advisor.render import PIPE_WIDTH, print_advice


def drawn_by_rich(advices: tuple[Advice, ...], **given: Any) -> str:
    stream = io.StringIO()
    print_advice(advices, Console(file=stream, width=PIPE_WIDTH, no_color=True, highlight=False), **given)
    return stream.getvalue()


SAMPLE = ["a", "b", "b", "c"] * 500


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[Advice, ...]]:
    estimate = np.array([0.5, 0.3, 0.2, 0.02, -0.02])
    few = {"max_repetitions": 20}
    return {
        "looked up": (advise(epsilon=1, k=64, metric="emd"),),
        "too noisy": (advise(epsilon=0.1, k=1000, n=1000),),
        "nothing left": (advise(epsilon=1, k=64, max_bits=1, proper=True),),
        "one pair": (advise(epsilon=1, k=8, protocol="grr", method="norm_sub"),),
        "simulated": (advise(epsilon=1, sample=SAMPLE, **few),),
        "several metrics": tuple(advise(epsilon=1, sample=SAMPLE, metric=metric, **few) for metric in ("l1", "kl")),
        "threat": (advise(epsilon=1, sample=SAMPLE, threat=0.05, **few),),
        "estimate": (advise(epsilon=1, estimate=estimate, protocol="olh", n=10_000, repetitions=60),),
    }


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("top", [0, 3, 10, None])
def test_a_pipe_gets_what_rich_would_write(
    answers: dict[str, tuple[Advice, ...]], quiet: bool, top: int | None
) -> None:
    for name, advices in answers.items():
        expected = drawn_by_rich(advices, top=top, quiet=quiet)
        assert "".join(piped_lines(advices, top=top, quiet=quiet)) == expected, name


def test_wide_characters_take_two_columns(answers: dict[str, tuple[Advice, ...]]) -> None:
    """No name in the tables has any today; a method of another package may."""
    advice = answers["looked up"][0]
    row = advice.recommendations[0]
    named = replace(advice, recommendations=(row._replace(method="日本"), *advice.recommendations[1:]))
    assert "".join(piped_lines((named,))) == drawn_by_rich((named,))


class Stream(io.StringIO):
    def __init__(self, *, terminal: bool, encoding: str | None) -> None:
        super().__init__()
        self.terminal, self.called = terminal, encoding

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        return self.called

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "encoding", "variable", "expected"),
    [
        (False, "utf-8", None, True),
        (False, "UTF-8", None, True),
        (True, "utf-8", None, False),
        (False, "ascii", None, False),
        (False, None, None, False),
        (False, "utf-8", "FORCE_COLOR", False),
        (False, "utf-8", "TTY_COMPATIBLE", False),
    ],
)
def test_what_is_taken_for_a_pipe(
    terminal: bool, encoding: str | None, variable: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, "1")
    assert is_pipe(Stream(terminal=terminal, encoding=encoding)) is expected
