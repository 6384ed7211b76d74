"""What is asked of a person on a terminal, and not of a pipe: prompts, slips, and one line for a wrong answer."""

from __future__ import annotations

import io
import json
import os
import pty
import shlex
import sys
from itertools import product
from unittest.mock import ANY

import pytest

from advisor.errors import InputError
from advisor.extensions.choose.prompts import PROMPTS
from advisor.extensions.choose.question import Wishes
from advisor.extensions.choose.words import note_lines
from tests.advisor.choices import chosen
from tests.advisor.conftest import Run
from tests.cells import failures

pytestmark = pytest.mark.usefixtures("choose_once")


def test_nothing_is_asked_of_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for words, missing in (
        ((), "--n, --k, --within, --sensitive and --times are missing: give the number of people"),
        (("--n", "2000", "--k", "18", "--within", "1", "--times", "1"), "--sensitive is missing: give low, medium"),
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(""))
        code, out, err = run("choose", *words)
        assert (code, out) == (2, "")
        assert missing in err
        assert err.count("\n") == 1


def test_wrong_answers_get_one_line(run: Run) -> None:
    for words, message in (
        (("--within", "0"), "within must be a number above 0 and below 100"),
        (("--sensitive", "secret"), "sensitive must be one of low, medium, high"),
        (("--times", "0"), "times must be a whole number of at least 1"),
        (("--k", "1"), "k must be a whole number of at least 2"),
        (("--eps", "1"), "--eps is no option of ldp-advise choose"),
    ):
        code, out, err = run("choose", *words)
        assert (code, out) == (2, "")
        assert message in err


def typed(run: Run, lines: list[str], *words: str) -> tuple[int, str, str]:
    """Run the command with a terminal for its input on which lines are typed: exit code, output, and what was asked."""
    control, terminal = pty.openpty()
    os.write(control, "".join(f"{line}\n" for line in lines).encode())
    with os.fdopen(terminal, encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stream)
        answer = run("choose", *words)
    os.close(control)
    return answer


def test_a_person_on_a_terminal_is_asked_what_is_open_and_asked_again_after_a_slip(run: Run) -> None:
    code, out, err = typed(run, ["2,000", "18", "no", "1 %", "hgih", "m", "1"], "--format", "json")
    assert code == 0, err
    data = json.loads(out)  # what is asked is not on standard output
    assert data["request"] == {"n": 2000, "k": 18, "within": 0.01, "sensitive": "medium", "times": 1, "ordered": False}
    assert err.count("How sensitive") == 2
    assert "did you mean 'high'?" in err
    assert "Please type low, medium or high. Got 'hgih'; did you mean 'high'?" in err
    for number, question in enumerate(
        ("How many people", "How many possible", "Do the", "How far", "How sens", "How m"), 1
    ):
        assert f"{number}. {question}" in err


def test_who_does_not_know_gets_a_decision_and_a_command_that_reproduces_it(run: Run) -> None:
    code, out, err = typed(run, ["about 2000 people", "18 bands", "yes", "don't know", "", "once"], "--format", "json")
    assert code == 0, err
    data = json.loads(out)
    request = data["request"]
    assert (request["n"], request["k"], request["ordered"], request["sensitive"], request["times"]) == (
        2000,
        18,
        True,
        "high",
        1,
    )
    assert 0.4 * data["error_without_data"] < request["within"] <= 0.5 * data["error_without_data"]
    again = json.loads(run(*shlex.split(data["command"])[1:], "--format", "json")[1])
    assert {name: again[name] for name in ("request", "choice", "eps", "error")} == {
        name: data[name] for name in ("request", "choice", "eps", "error")
    }


def test_an_accuracy_that_is_left_open_is_one_that_is_worth_it() -> None:
    choice = chosen(Wishes(people=20_000, answers=100, within=None, sensitive="low", times=1))
    assert choice.open_accuracy
    assert choice.there.verdict == "worth_it"


def test_who_leaves_the_order_open_is_told_what_that_means() -> None:
    said = "The answers are taken to have no order. If they have one, as age bands have, it may take less: --ordered."
    for order in (None, True):
        assert (
            said
            in note_lines(chosen(Wishes(people=20_000, answers=18, within=1, sensitive="low", times=1, ordered=order)))
        ) == (order is None)


TYPED = [
    ("people", "100k", 100_000),
    ("people", "~ 2,000 people", 2000),
    ("answers", "yes/no", 2),
    ("ordered", "no", False),
    ("ordered", "", None),
    ("ordered", "don't know", None),
    ("ordered", "age bands", True),
    ("within", "0.5 percentage points", 0.5),
    ("within", "?", None),
    ("sensitive", "health", "high"),
    ("sensitive", "age, opinions", "medium"),
    ("sensitive", "dont know", "high"),
    ("times", "once", 1),
    ("times", "4 times", 4),
    ("times", "", 1),
]


def test_prompts_take_the_words_they_show() -> None:
    assert [(name, line, PROMPTS[name].read(name, line)) for name, line, _ in TYPED] == TYPED


def test_a_slip_is_answered_in_the_words_of_the_question() -> None:
    def refused(cell: tuple[str, str]) -> None:
        name, line = cell
        with pytest.raises(InputError) as caught:
            PROMPTS[name].read(name, line)
        assert str(caught.value).startswith("Please type ")
        assert f"Got {line!r}" in str(caught.value)
        assert "must be" not in str(caught.value)

    assert failures(product(PROMPTS, ("gibberish", "-4", "0.0")), refused) == {}


def test_what_options_say_is_not_asked(run: Run) -> None:
    code, out, err = typed(
        run, ["high"], "--n", "2000", "--k", "18", "--within", "1", "--times", "1", "--format", "value"
    )
    assert (code, out) == (0, "do_not_collect\n")
    assert "How many people" not in err
    assert "How sensitive" in err


def test_who_ends_the_input_is_not_asked_for_ever(run: Run) -> None:
    assert typed(run, ["2000", "\x04"]) == (130, "", ANY)
