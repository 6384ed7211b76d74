"""What a page is set to: its address, the files behind it, and the command lines that it stands for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePath
from urllib.parse import parse_qs, urlencode

from advisor.cli.arguments import COMMANDS
from advisor.errors import printable
from advisor.extensions.app.controls import Control, settings_of, wrong_controls
from advisor.extensions.app.examples import example_file
from advisor.extensions.app.goals import COMPARE, ESTIMATE, ESTIMATES, FILE, PLACES, PLAN, SHAPES, Goal, goals
from advisor.extensions.app.wording import worded
from advisor.inputs.held import HeldFile
from advisor.question.frequencies import from_shape
from advisor.question.option import Settings
from advisor.question.settings import Categories, Plurality, Question, Shape

Words = tuple[str, ...]
ASSUMED = "assumed.csv"  # what the file of a shape is called
LABEL, PEOPLE = "answer", "people"  # its columns
NO_FILE = "Drop a file here, or look at the example."
NOT_HELD = "{} is not held in memory any more, as the program was started anew: drop the file again."
# Controls that a file answers, so that they are left open where one is dropped: people to come are not those of a file.
SHOWN_BY_A_FILE: Mapping[str, tuple[str, ...]] = {PLAN: ("k",), COMPARE: ("k", "n")}
MOST_VALUE = 2000  # characters of a value in an address
# What answers at first sight where there is no prediction: a few simulated collections.
FEW: Mapping[str, Words] = {ESTIMATE: ("--reps", "10"), PLACES: ("--reps", "2", "--max-reps", "2")}
EXAMPLE = "example"  # stands for the digest of a file where the example of a page is looked at


@dataclass(frozen=True)
class Data:
    """Where frequencies come from: a shape, or a file that is held, by its digest and name."""

    shape: str = FILE
    digest: str = ""
    name: str = ""


@dataclass(frozen=True)
class State:
    """One page with all that is set on it."""

    goal: Goal
    values: Mapping[str, str]  # texts of the controls by name, those left open too
    data: Data
    simulated: bool = False  # whether it is to be answered by the whole simulation, not at first sight
    files: Mapping[str, HeldFile] = field(default_factory=dict, repr=False)  # that are held, by digest

    @property
    def query(self) -> str:
        """The address, behind its question mark: what differs from the start."""
        pairs = [("goal", self.goal.key)]
        pairs += [("shape", self.data.shape)] if self.data.shape and self.data.shape != SHAPES[0][0] else []
        pairs += [("file", self.data.digest), ("name", self.data.name)] if self.data.digest else []
        starts = starting_values(self.goal, has_file=bool(self.data.digest))
        pairs += [(name, text) for name, text in self.values.items() if text != starts[name]]
        pairs += [("simulated", "yes")] if self.simulated else []
        return urlencode(pairs)

    @property
    def question(self) -> str:
        """The address without how far it is to be answered."""
        return replace(self, simulated=False).query

    @property
    def file_name(self) -> str:
        """What the file is called on the command line; "" where there is none."""
        return self.data.name if self.data.digest else ""

    @property
    def held(self) -> HeldFile | None:
        """The file; None where there is none, or it is not held any more."""
        if self.data.digest == EXAMPLE and self.goal.example:
            return example_file(self.goal.example)
        return self.files.get(self.data.digest)

    def wrong(self) -> dict[str, str]:
        """Return what is wrong, by the name of the control."""
        messages = wrong_controls(self.goal.controls, self.values)
        if self.data.digest and self.held is None:
            messages["data"] = NOT_HELD.format(printable(self.data.name))
        elif not self.data.digest and not self.data.shape:
            messages["data"] = NO_FILE
        elif not self.data.digest and not self.values["k"]:
            messages["k"] = "Give the number of categories, or drop a file that shows them."
        if self.goal.key == ESTIMATE and self.values["holds"] == ESTIMATES and not self.values["n"]:
            messages["n"] = "Give the number of users who reported, for example 100000."
        return {name: worded(text, self.goal) for name, text in messages.items()}

    def typed(self, names: Iterable[str]) -> Words:
        """Return the options of some controls as words of a command line."""
        wanted = frozenset(names)
        chosen = [control for control in self.goal.controls if control.name in wanted]
        return _words(settings_of(chosen, self.values))

    def control(self, name: str) -> Control:
        """Return a control by its name."""
        return next(control for control in self.goal.controls if control.name == name)


@dataclass(frozen=True)
class Command:
    """A command line, and the files that it reads, by the names that it gives them."""

    words: Words
    files: Mapping[str, HeldFile] = field(default_factory=dict, repr=False)


def state_of(query: str, files: Mapping[str, HeldFile]) -> State:
    """Return what an address stands for; what it names that no page knows is left out."""
    given = {
        name: texts[-1][:MOST_VALUE] for name, texts in parse_qs(query.lstrip("?"), keep_blank_values=True).items()
    }
    goal = goals().get(given.get("goal", ""), goals()[PLAN])
    digest = given.get("file", "")
    shape = given.get("shape", SHAPES[0][0]) if goal.shapes and not digest else FILE
    if shape not in dict(SHAPES):
        shape = SHAPES[0][0] if goal.shapes and not digest else FILE
    name = goal.example if digest == EXAMPLE else safe_name(given.get("name", "")) if digest else ""
    starts = starting_values(goal, has_file=bool(digest))
    values = {one.name: _in_order(one, given.get(one.name, starts[one.name]).strip()) for one in goal.controls}
    return State(goal, values, Data(shape, digest, name), given.get("simulated") == "yes", files)


def _in_order(control: Control, text: str) -> str:
    """Return several values in the order in which they are offered, as the boxes that are checked will say them."""
    places = {value: place for place, (value, _) in enumerate(control.choices)}
    return ",".join(sorted(text.split(","), key=lambda one: places.get(one, -1))) if control.several else text


def starting_values(goal: Goal, *, has_file: bool) -> dict[str, str]:
    """Return the values of the controls before anybody touches them; a file says itself how many categories it has."""
    shown = SHOWN_BY_A_FILE.get(goal.key, ()) if has_file else ()
    starts = {control.name: "" if control.name in shown else control.start for control in goal.controls}
    return starts | ({"n": "100000", "counts": ""} if goal.key == ESTIMATE else {})


def safe_name(name: str) -> str:
    """Return the name of a file that is no command, no option and no folder.

    >>> safe_name("../a b.csv"), safe_name("plan"), safe_name("-x.csv")
    ('a b.csv', './plan', './-x.csv')
    """
    bare = printable(PurePath(name.replace("\\", "/")).name)[:200] or "file"
    return f"./{bare}" if bare in COMMANDS or bare.startswith("-") else bare


def decision(state: State) -> Command | None:
    """Return the command that says which ε to use; None where it is settled, or another page is asked."""
    if state.goal.key != PLAN or state.values["eps"]:
        return None
    words = state.typed(("n", "within", "sensitive", "times"))
    if state.data.shape == SHAPES[0][0] and not state.simulated:  # what choose assumes itself
        return Command(("choose", *words, *state.typed(("k", "ordered"))))
    return _on_file(state, ("choose", *words, *_instant(state)))


def ranking(state: State, epsilon: float | None = None) -> Command:
    """Return the command that ranks; `epsilon` is the budget where none is set."""
    if state.goal.key == ESTIMATE:
        holds = state.values["holds"]
        names = ("used", "eps", "n", "k", "metric", "ordered", "column", "method")
        words = state.typed((*names, "estimates") if holds == ESTIMATES else names)
        return _with_file(state, (holds, *words, *_few(state)))
    if state.goal.key == PLACES:
        words = state.typed(control.name for control in state.goal.controls)
        return _with_file(state, ("places", *words, *_few(state)))
    words = state.typed(("eps", "n", "metric", "method", "protocol", "rounds", "deployable", "bits"))
    if state.goal.key == PLAN:
        words += () if epsilon is None or state.values["eps"] else Question(epsilon=epsilon).typed()
        words += Question(metric=("mae",)).typed()
        times = state.values["times"]
        words += Plurality(rounds=times).typed() if times not in ("", "1") else ()  # type: ignore[arg-type]
    if state.data.digest or state.simulated:
        return _on_file(state, (*words, *_instant(state)))
    return Command((*words, *state.typed(("k", "ordered")), *_shape(state.data.shape).typed()))


def _instant(state: State) -> Words:
    return () if state.simulated else ("--instant",)


def _few(state: State) -> Words:
    return () if state.simulated else FEW[state.goal.key]


def _on_file(state: State, words: Words) -> Command:
    """Return a command on a sample: the file that was dropped, or one with the frequencies of the shape."""
    if state.data.digest:
        return _with_file(state, (*words, *state.typed(("k", "ordered", "column", "counts"))))
    asked, domain = Question(n=state.values["n"] or None), Categories(k=state.values["k"])  # type: ignore[arg-type]
    order = {"yes": True, "no": False}.get(state.values["ordered"])
    held, ordered = assumed_file(state.data.shape, domain.k or 2, asked.n or 100_000, order)
    flag = "--ordered" if ordered else "--unordered"
    return Command((*words, "--counts", PEOPLE, flag, ASSUMED), {ASSUMED: held})


def _with_file(state: State, words: Words) -> Command:
    held, name = state.held, state.file_name
    return Command((*words, name), {} if held is None else {name: held})


def _shape(name: str) -> Shape:
    return Shape(skew=1) if name == SHAPES[0][0] else Shape(shape=name)


@lru_cache(maxsize=16)
def assumed_file(shape: str, k: int, n: int, ordered: bool | None) -> tuple[HeldFile, bool]:
    """Return a file with `n` people whose answers have the frequencies of a shape, and whether these have an order."""
    frequencies = from_shape(k, _shape(shape), ordered=ordered)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((LABEL, PEOPLE))
    writer.writerows(enumerate(frequencies.counts(n).tolist(), start=1))
    return HeldFile(text.getvalue().encode()), frequencies.ordered


def _words(groups: Iterable[Settings]) -> Words:
    return tuple(word for group in groups for word in group.typed())


def changed(state: State, **values: str) -> State:
    """Return a state with other values of some controls."""
    return replace(state, values={**state.values, **values})


__all__ = ["COMPARE", "Command", "Data", "State", "changed", "decision", "ranking", "state_of"]
