"""The environment and help: what they say, whatever else is given."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path

import pytest

from advisor.cli.groups import COMMANDS, MAIN, _function
from advisor.cli.options import flags_of, spread
from simulator import __version__
from tests.advisor.cli_answers import QUICK, answer
from tests.advisor.conftest import Run
from tests.cells import failures


def test_environment_sets_options_and_arguments_win(run: Run, states: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDP_ADVISE_FORMAT", "value")
    monkeypatch.setenv("LDP_ADVISE_EPS", "1")
    monkeypatch.setenv("LDP_ADVISE_PROTOCOL", "grr")
    monkeypatch.setenv("LDP_ADVISE_MAX_REPS", "20")
    monkeypatch.setenv("LDP_ADVISE_QUIET", "1")
    code, out, err = run(states)
    assert (code, err) == (0, "")
    assert out.split()[0] == "grr"
    assert run("--protocol", "oue", states)[1].split()[0] == "oue"
    assert answer(run("--format", "json", states)[1])["request"]["eps"] == 1  # type: ignore[index]


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"a\nb\na\nc\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    data = answer(run("-e", "3", "--format", "json", *QUICK, "-")[1])
    assert data["request"]["sample"] == "standard input"  # type: ignore[index]
    assert data["request"]["n"] == 4  # type: ignore[index]


def test_help_and_version(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    for words in ("--eps", "--k", "--metric", "Commands", "--help --verbose", *COMMANDS):
        assert words in out
    for rare in ("--runs", "--matrix", "--all", "--install-completion"):
        assert rare not in out
    assert run("--version") == (0, f"ldp-advise {__version__}\n", "")


@pytest.mark.parametrize("width", [80, 100])
def test_the_main_help_is_a_page_of_60_lines(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("--help")[1].splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= width


def test_verbose_help_lists_every_option_of_a_command(run: Run) -> None:
    def check(command: str) -> None:
        lines = run(*([] if command == MAIN else [command]), "--help", "--verbose")[1].splitlines()
        rows = (line.split("  ")[1] for line in lines if line.startswith("  -"))
        listed = {word.strip(",") for row in rows for word in row.split()}
        assert {*flags_of(spread(_function(command)))} <= listed

    assert failures([MAIN, *sorted({*COMMANDS} - {"knowledge"})], check) == {}


def test_every_command_has_the_short_option_for_help(run: Run) -> None:
    def check(command: str) -> None:
        code, out, err = run(*command.split(), "-h")
        assert (code, err) == (0, "")
        assert out.startswith(f"Usage: ldp-advise {command} ")
        assert "-h, --help" in out

    assert failures([*COMMANDS, "knowledge rules"], check) == {}


def test_help_is_printed_whatever_else_is_given(run: Run) -> None:
    def check(cell: tuple[str, str]) -> None:
        others, command = cell
        words = [*command.split(), *others.split()] if command else others.split()
        for help_wanted in ([*words, "--help"], [*command.split(), "-h", *others.split()]):
            code, out, err = run(*help_wanted)
            assert (code, err) == (0, "")
            assert out.startswith(f"Usage: ldp-advise {command}".strip() + " ")

    assert (
        failures(
            product(
                ["--verbose", "-q -v", "--nonsense", "--k none", "--force --eps"],
                ["", "plan", "explain", "knowledge", "knowledge cells"],
            ),
            check,
        )
        == {}
    )


@pytest.mark.slow
@pytest.mark.parametrize("nonsense", ["", "abc", "-1", "9" * 20])
def test_nonsense_in_the_environment_of_libraries_is_ignored(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nonsense: str
) -> None:
    for name in ("SOURCE_DATE_EPOCH", "LOKY_MAX_CPU_COUNT", "COMP_CWORD"):
        monkeypatch.setenv(name, nonsense)
    code, _, err = run("--eps", "1", "--k", "4", "--plot", tmp_path / "x.svg", "--report", tmp_path / "x.html")
    assert (code, "Error" in err) == (0, False)


@pytest.mark.parametrize("words", [{}, {"COMP_CWORD": "abc"}, {"COMP_WORDS": "ldp-advise sw", "COMP_CWORD": "9"}])
def test_completion_by_hand_has_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch, words: dict[str, str]) -> None:
    monkeypatch.setenv("_LDP_ADVISE_COMPLETE", "complete_bash")
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, text in words.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SystemExit) as left:
        run()
    assert not left.value.code
