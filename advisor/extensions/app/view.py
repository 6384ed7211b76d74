"""The page as it is first painted: navigation, controls, and the places where answers will stand."""

from __future__ import annotations

from typing import Any

from shiny import ui

from advisor.extensions.app.controls import Control
from advisor.extensions.app.goals import PLAN, SHAPES, PageGoal, goals
from advisor.extensions.app.state import EXAMPLE, SHOWN_BY_A_FILE, State
from advisor.extensions.app.uploads import LARGEST, MEGABYTE

LIMIT = f"CSV, TSV, text or Parquet, or gzip of these; at most {LARGEST // MEGABYTE} MB. It stays in memory."


DEPENDENCIES = '<meta name="shiny-dependency-placeholder" content="">'  # where Shiny puts its own script


def document(state: State) -> Any:
    """Return the page of a state as Shiny takes it."""
    return ui.page_html(f"<!DOCTYPE html>\n{page(state)}")


def page(state: State) -> ui.Tag:
    """Return the page of a state."""
    goal = state.goal
    head = ui.tags.head(
        ui.tags.meta(charset="utf-8"),
        ui.tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
        ui.HTML(DEPENDENCIES),
        ui.tags.link(rel="icon", href="data:,"),
        ui.tags.link(rel="stylesheet", href="page.css"),
        ui.tags.script(src="page.js", defer=""),
        ui.tags.title(f"{goal.title}: ldp-advise"),
    )
    body = ui.tags.body(
        ui.tags.a("Skip to the answer", href="#answer", class_="skip"),
        ui.tags.header(ui.tags.p("ldp-advise", class_="brand"), _navigation(goal)),
        ui.tags.main(
            ui.tags.div(ui.tags.h1(goal.title), ui.tags.p(goal.lead, class_="lead"), class_="intro"),
            _form(state),
            _answer(state),
        ),
        class_="app",
    )
    return ui.tags.html(head, body, lang="en")


def _navigation(current: PageGoal) -> ui.Tag:
    links = (
        ui.tags.li(
            ui.tags.a(goal.title, href=f"?goal={goal.key}", **({"aria-current": "page"} if goal is current else {}))
        )
        for goal in goals().values()
    )
    return ui.tags.nav(ui.tags.ul(*links), **{"aria-label": "Goals"})


def _form(state: State) -> ui.Tag:
    goal = state.goal
    chosen = any(state.values[one.name] for one in goal.more)
    return ui.tags.form(
        _data(state),
        *(_field(control, state) for control in goal.main),
        ui.tags.details(
            ui.tags.summary("More options"),
            *(_field(control, state) for control in goal.more),
            **({"open": ""} if chosen else {}),
        ),
        class_="controls", autocomplete="off", **{"aria-label": "Your question"},
    )  # fmt: skip


def _data(state: State) -> ui.Tag:
    """Return the control of the data: shapes where there are such, and a place to drop a file."""
    goal, data = state.goal, state.data
    has_file = bool(data.digest)
    shapes = [
        ui.tags.option(words, value=key, **({"selected": ""} if key == data.shape else {})) for key, words in SHAPES
    ]
    own = ui.tags.option("As in the file", value="", **({"selected": ""} if has_file else {}))
    choice = (ui.tags.select(*shapes, own, id="shape", **{"aria-label": goal.data, "aria-describedby": "data-error"}),)
    example = f"?goal={goal.key}&file={EXAMPLE}&{goal.example_set}".rstrip("&")
    return ui.tags.fieldset(
        ui.tags.legend(goal.data),
        *(choice if goal.shapes else ()),
        ui.tags.label(
            ui.tags.span(data.name if has_file else "Drop a file here, or choose one", class_="file-name"),
            # Without an id, so that Shiny does not take it: it would write the file to disk.
            ui.tags.input(type="file", class_="upload", **{"aria-describedby": "data-hint data-error"}),
            class_="drop",
            **{"data-digest": data.digest, "data-name": data.name},
        ),
        ui.tags.progress(class_="uploading", max="1", value="0", hidden="", **{"aria-label": "Reading the file"}),
        ui.tags.p(LIMIT, id="data-hint", class_="hint"),
        *(() if goal.shapes else (ui.tags.p(ui.tags.a("Look at an example", href=example), class_="hint"),)),
        ui.tags.p(id="data-error", class_="error", role="alert"),
        class_="data",
    )


def _field(control: Control, state: State) -> ui.Tag:
    """Return a control with its label, its hint, and a place for what is wrong with it."""
    name, value = control.name, state.values[control.name]
    described = {"aria-describedby": f"{name}-hint {name}-error" if control.hint else f"{name}-error"}
    below = (
        *((ui.tags.p(control.hint, id=f"{name}-hint", class_="hint"),) if control.hint else ()),
        ui.tags.p(id=f"{name}-error", class_="error", role="alert"),
    )
    if control.several:
        return _checks(control, value, below)
    if control.choices:
        shown = [
            ui.tags.option(words, value=key, **({"selected": ""} if key == value else {}))
            for key, words in control.choices
        ]
        made = ui.tags.select(*shown, id=name, **described)
    else:
        # The script of the page empties it where a file is dropped, and fills it again where a shape is picked.
        start = {"data-start": control.start} if name in SHOWN_BY_A_FILE.get(state.goal.key, ()) else {}
        made = ui.tags.input(type="text", id=name, value=value, spellcheck="false", **described, **start)
    return ui.tags.div(ui.tags.label(control.label, **{"for": name}), made, *below, class_="field")


def _checks(control: Control, value: str, below: tuple[ui.Tag, ...]) -> ui.Tag:
    """Return a control of which several values can be chosen, as Shiny binds them."""
    chosen = set(value.split(","))
    boxes = (
        ui.tags.label(
            ui.tags.input(
                type="checkbox", name=control.name, value=key, **({"checked": ""} if key in chosen else {})
            ),
            ui.tags.span(words),
        )
        for key, words in control.choices
    )  # fmt: skip
    return ui.tags.fieldset(
        ui.tags.legend(control.label),
        ui.tags.div(*boxes, id=control.name, class_="shiny-input-checkboxgroup checks"),
        *below,
        class_="field",
    )


def _answer(state: State) -> ui.Tag:
    """Return the places of the answer, in the order in which they are read."""
    return ui.tags.div(
        ui.tags.p(id="general-error", class_="error", role="alert"),
        ui.tags.div(
            ui.output_ui("verdict"),
            class_="verdict card", role="status",
        ),
        _work(state),
        ui.output_ui("explorer"),
        ui.output_ui("details", class_="details"),
        ui.tags.section(
            ui.tags.h2("One simulated collection", id="collection-title"),
            ui.tags.div(
                ui.output_ui("frequencies"),
                class_="picture", role="region", tabindex="0", **{"aria-labelledby": "collection-title"},
            ),
            ui.input_action_button("again", "Again: another collection", class_="quiet-button"),
            class_="collection", hidden="",
        ),
        ui.output_ui("attacker"),
        ui.output_ui("further"),
        ui.output_ui("reproduce"),
        id="answer", class_="answer-area", tabindex="-1",
    )  # fmt: skip


def _work(state: State) -> ui.Tag:
    """Return the row that starts, shows and ends a simulation."""
    advise = ui.tags.button("Let the page choose ε", type="button", class_="advise quiet-button", hidden="")
    return ui.tags.div(
        ui.tags.p(class_="work-words", **{"aria-live": "polite"}),
        ui.tags.progress(max="1", value="0", hidden="", **{"aria-label": "Progress of the simulation"}),
        ui.input_action_button("simulate", "Simulate", class_="main-button", hidden=""),
        ui.input_action_button("cancel", "Cancel", class_="quiet-button", hidden=""),
        *((advise,) if state.goal.key == PLAN else ()),
        class_="work",
    )
