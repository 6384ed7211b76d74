from __future__ import annotations

import io
import time

import pytest

from advisor.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put standard error on a terminal: called in the test, because pytest's capture replaces it after fixtures."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.05)
    return stream


def test_long_work_on_a_terminal_shows_that_it_goes_on_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    off, quiet, short = io.StringIO(), Terminal(), Terminal()
    for stream, seconds, enabled in ((terminal, 0.5, True), (off, 0.1, True), (quiet, 0.1, False), (short, 0, True)):
        monkeypatch.setattr("sys.stderr", stream)
        with progress.delayed_status("reading", enabled=enabled):
            time.sleep(seconds)
    assert "reading" in terminal.getvalue()
    assert "reading" not in short.getvalue()
    assert off.getvalue() == quiet.getvalue() == ""


def test_words_say_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress.DelayedWords() as say:
        say("too soon to show")
        time.sleep(0.1)
        say("settling oue")
        time.sleep(0.3)
    assert "too soon" not in terminal.getvalue()
    assert "settling oue" in terminal.getvalue()


def test_a_timed_bar_tells_the_time_left_and_counts_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress.TimedProgress("cells") as bar:
        bar(3, 10)
        time.sleep(0.1)
        for done in range(4, 9):
            bar(done, 10)
            time.sleep(0.15)
    shown = terminal.getvalue()
    assert "left:" in shown
    assert "8/10" in shown
    assert "0:00:0" in shown
