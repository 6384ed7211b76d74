"""What a page is set to: its address, the files behind it, and the command lines that it stands for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qs, urlencode

from advisor.cli.options import COMMANDS
from advisor.errors import printable
from advisor.extensions.app.controls import Control, settings_of, wrong_controls
from advisor.extensions.app.examples import example_file
from advisor.extensions.app.goals import COMPARE, ESTIMATE, ESTIMATES, FILE, PLACES, PLAN, SHAPES, PageGoal, goals
from advisor.extensions.app.wording import worded
from advisor.extensions.choose.question import Wishes
from advisor.extensions.places.question import PlacesQuestion
from advisor.inputs.held import HeldFile
from advisor.question.collected_request import CollectedQuestion
from advisor.question.frequencies import from_shape
from advisor.question.question import Question
from advisor.question.settings import Categories, Columns, Instant, Plurality, Shape, Simulation, Terms

Words = tuple[str, ...]
ASSUMED = "assumed.csv"  # what the file of a shape is called
LABEL, PEOPLE = "answer", "people"  # its columns
NO_FILE = "Drop a file here, or look at the example."
NOT_HELD = "{} is not held in memory any more, as the program was started anew: drop the file again."
# Controls that a file answers, so that they are left open where one is dropped: people to come are not those of a file.
SHOWN_BY_A_FILE: Mapping[str, tuple[str, ...]] = {PLAN: ("k",), COMPARE: ("k", "n")}
MOST_VALUE = 2000  # characters of a value in an address
# What answers at first sight where there is no prediction: a few simulated collections.
FEW: Mapping[str, Simulation] = {
    ESTIMATE: Simulation(repetitions=10), PLACES: Simulation(repetitions=2, max_repetitions=2)
}  # fmt: skip
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

    goal: PageGoal
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

    def groups(self, names: Iterable[str]) -> tuple[Any, ...]:
        """Return the groups of options that some controls make."""
        return settings_of([control for control in self.goal.controls if control.name in names], self.values)

    def control(self, name: str) -> Control:
        """Return a control by its name."""
        return next(control for control in self.goal.controls if control.name == name)


@dataclass(frozen=True, eq=False)
class Asked:
    """A question of a page, and the files that it reads, by the names that it gives them."""

    kind: str  # the command that answers it: "" for the main one
    question: Question
    wishes: Wishes | None = None  # which ε is asked for by
    files: Mapping[str, HeldFile] = field(default_factory=dict, repr=False)

    @property
    def words(self) -> Words:
        """The words of the command line that asks the same."""
        groups = (*(() if self.wishes is None else (self.wishes,)), *self.question.groups)
        typed = (word for group in groups for word in group.typed())
        return (*filter(None, [self.kind]), *typed, *filter(None, [self.question.path]))


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


def starting_values(goal: PageGoal, *, has_file: bool) -> dict[str, str]:
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


def decision(state: State) -> Asked | None:
    """Return the question which ε to use; None where it is settled, or another page is asked."""
    if state.goal.key != PLAN or state.values["eps"]:
        return None
    (wishes,) = state.groups(("within", "sensitive", "times"))
    asked = _on_sample(state, ())
    if state.data.shape == SHAPES[0][0] and not state.simulated:  # what choose assumes itself
        asked = Asked("", Question.with_groups(state.groups(("k", "ordered"))))
    domain = asked.question.domain  # which choose asks for among its own questions
    wishes = replace(wishes, people=state.values["n"], answers=domain.k, ordered=domain.ordered)
    return replace(asked, kind="choose", question=replace(asked.question, domain=Categories()), wishes=wishes)


def ranking(state: State, epsilon: float | None = None) -> Asked:
    """Return the question that ranks; `epsilon` is the budget where none is set."""
    if state.goal.key == ESTIMATE:
        names = ["used", "eps", "n", "k", "metric", "ordered", "column", "method"]
        names += ["estimates"] if state.values["holds"] == ESTIMATES else []
        return _on_file(state, CollectedQuestion.with_groups(state.groups(names)), state.values["holds"])
    if state.goal.key == PLACES:
        names = [control.name for control in state.goal.controls]
        return _on_file(state, PlacesQuestion.with_groups(state.groups(names)), "places")
    asked = _on_sample(state, ("eps", "n", "metric", "method", "protocol", "rounds", "deployable", "bits"))
    if state.goal.key == PLAN:
        terms = replace(asked.question.terms, metric=("mae",))
        terms = terms if state.values["eps"] else replace(terms, epsilon=epsilon)
        times = state.values["times"]
        rounds = Plurality(rounds=times) if times not in ("", "1") else Plurality()  # type: ignore[arg-type]
        asked = replace(asked, question=replace(asked.question, terms=terms, plurality=rounds))
    return replace(asked, kind="rounds") if asked.question.plurality.rounds else asked


def _on_sample(state: State, names: Sequence[str]) -> Asked:
    """Return the question of some controls: about a file, dropped or assumed, or predicted for a shape."""
    instant = Instant(instant=not state.simulated)
    if state.data.digest:
        groups = state.groups((*names, "k", "ordered", "column", "counts"))
        return _on_file(state, Question.with_groups(groups, instant=instant))
    asked = Question.with_groups(state.groups((*names, "k", "ordered")))
    if not state.simulated and names:
        return Asked("", replace(asked, shape=_shape(state.data.shape)))
    n = Terms(n=state.values["n"] or None).n or 100_000  # type: ignore[arg-type]
    held, ordered = assumed_file(state.data.shape, asked.domain.k or 2, n, asked.domain.ordered)
    domain, columns = Categories(ordered=ordered), Columns(counts=PEOPLE)
    question = replace(asked, sample=ASSUMED, domain=domain, columns=columns, instant=instant)
    return Asked("", question, files={ASSUMED: held})


def _on_file(state: State, question: Question, kind: str = "") -> Asked:
    """Return a question about the file; where nothing is predicted, at first sight from few repetitions."""
    held, name = state.held, state.file_name
    if kind and not state.simulated:
        question = replace(question, simulation=FEW[state.goal.key])
    return Asked(kind, replace(question, sample=name), files={} if held is None else {name: held})


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


def changed(state: State, **values: str) -> State:
    """Return a state with other values of some controls."""
    return replace(state, values={**state.values, **values})


__all__ = ["COMPARE", "Asked", "Data", "State", "changed", "decision", "ranking", "state_of"]
