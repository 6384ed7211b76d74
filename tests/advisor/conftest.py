from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from advisor.cli.app import main
from advisor.members import member_of_file
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, foreign
from simulator.foreign import FAILURES, REGISTERED, SOURCES
from tests.advisor.choices import chosen
from tests.advisor.collected_files import estimate_text, raw

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own LDP_ADVISE_... settings must not decide a test."""
    for name in [name for name in os.environ if name.startswith("LDP_ADVISE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process: (exit code, standard output, standard error)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def choose_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command make each decision without a file once."""
    monkeypatch.setattr("advisor.extensions.choose.command.choose", chosen)


@pytest.fixture
def own_members(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the members from files that a test ranks: another one lists the whole menu."""
    member_of_file.cache_clear()
    monkeypatch.setattr(foreign, "_packages", dict(foreign._packages))
    yield
    for name in list(REGISTERED):
        for table in (PROTOCOLS, POSTPROCESSORS, METRICS):
            table.pop(name, None)
        for known in (REGISTERED, SOURCES, FAILURES):
            known.pop(name, None)
    member_of_file.cache_clear()


@pytest.fixture
def states(tmp_path: Path) -> str:
    """A small histogram with string labels, in a directory of its own."""
    path = tmp_path / "fruit.csv"
    path.write_text("fruit,count\napple,500\nbanana,300\ncherry,150\ndate,50\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def ages(tmp_path: Path) -> str:
    """Raw values of an ordered domain."""
    path = tmp_path / "ages.csv"
    path.write_text("age\n" + "\n".join(str(20 + (i * i) % 17) for i in range(2000)) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def estimate(tmp_path: Path) -> str:
    """An estimate by OUE, in a file."""
    path = tmp_path / "estimate.csv"
    path.write_text(estimate_text(raw()), encoding="utf-8")
    return str(path)
