"""Bounds of the privacy loss along budgets, rounds or symbols, with the promise and what so many trials allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.extensions.audit.answer import Audits
from advisor.extensions.audit.document import domain, figure, label, summary
from advisor.show.model import Figure as Picture
from advisor.show.model import Section
from advisor.show.pictures import to_svg
from advisor.show.pictures.style import BAND, DASHES, INK, MARKERS, QUIET, SERIES, empty, headline, settings
from simulator.audit import Audit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {"epsilon": "budget ε", "rounds": "collections of the same value", "symbols": "symbols of the hash"}
ACROSS = 2  # panels side by side
NAME_LENGTH = 28  # of a tick: the end of a longer name, which is that of a client


def audit_sections(audits: Audits) -> tuple[Section, ...]:
    """Return the section of a page with the picture."""
    drawing = Picture("Bounds", "lower bounds of the privacy loss", lambda: to_svg(audit_figure(audits), "audit"))
    return (Section("Bounds", (drawing,)),)


def audit_figure(audits: Audits) -> Figure:
    """Return the bounds along what varies most: a panel for each protocol if each has several settings.

    If nothing varies, audits stand side by side.
    """
    rows = audits.results
    shared = [name for name in AXES if all(getattr(row, name) is not None for row in rows)]
    axis = max(shared, key=lambda name: len({getattr(row, name) for row in rows}))  # the first of them
    lines: dict[tuple[str, str], list[Audit]] = {}
    for row in rows:
        lines.setdefault(_line(row, rows, axis), []).append(row)
    ticks = [" ".join(line).strip()[-NAME_LENGTH:] for line in lines] if len(lines) == len(rows) else []
    if ticks:
        lines = {("", "lower bound"): list(rows)}
    panels = list(dict.fromkeys(subject for subject, _ in lines))
    if len(panels) == len(lines):  # one line each: all in one panel
        lines, panels = {("", " ".join(line).strip()): found for line, found in lines.items()}, [""]
    names = list(dict.fromkeys(name for _, name in lines))
    across = min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    with settings():
        drawn = empty(max(3.6, 2.5 * down + 0.8))
        grid = drawn.subplots(down, across, squeeze=False, sharey=True).ravel().tolist()
        for (panel, name), found in lines.items():
            xs = list(range(len(found))) if ticks else [getattr(row, axis) for row in found]
            _draw(grid[panels.index(panel)], xs, found, name, names.index(name), joined=not ticks)
        for place, axes in enumerate(grid):
            axes.set(visible=place < len(panels), xlabel="" if ticks else AXES[axis])
            axes.set_title(panels[place] if place < len(panels) else "")
            axes.locator_params("x", integer=axis != "epsilon")
            _finish(axes, rows)
        if ticks:
            grid[0].set_xticks(range(len(ticks)), ticks, rotation=90 if max(map(len, ticks)) > 6 else 0)
        handles = {name: mark for axes in grid for mark, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, handlelength=2.4)
        drawn.supylabel("privacy loss")
        headline(drawn, summary(rows), "Marks: lower bounds of the privacy loss that attacks prove")
        drawn.set_label(summary(rows))
    return drawn


def _line(row: Audit, rows: Sequence[Audit], axis: str) -> tuple[str, str]:
    """Return what is audited, and the setting of its line."""
    budget = "∞" if row.epsilon is None else f"{row.epsilon:g}"
    texts = {"k": f"k = {domain(row)}", "epsilon": f"ε = {budget}", "rounds": f"×{row.rounds:,}"}
    differing = [name for name in texts if name != axis and len({getattr(other, name) for other in rows}) > 1]
    subject = label(replace(row, rounds=1, symbols=None if axis == "symbols" else row.symbols)).removesuffix(" ×1")
    return subject, ", ".join(texts[name] for name in differing)


def _draw(axes: Axes, xs: list[float], found: list[Audit], name: str, number: int, *, joined: bool) -> None:
    """Draw a line of bounds, with the standard deviations of several runs, over its promise.

    The promise has the colour of its line where rounds raise it: others of the panel have another.
    """
    promise = [(x, row.epsilon_guaranteed) for x, row in zip(xs, found, strict=True) if row.epsilon_guaranteed]
    if promise:
        colour = SERIES[number % len(SERIES)] if "×" in name else INK
        axes.plot(*zip(*promise, strict=True), "--" if joined else "_", color=colour, linewidth=0.9, label="promise")
    axes.errorbar(
        xs,
        [_bound(row) for row in found],
        yerr=[row.epsilon_lower_bound_sd or 0.0 for row in found] if found[0].runs > 1 else None,
        color=SERIES[number % len(SERIES)],
        marker=MARKERS[number % len(MARKERS)],
        linestyle=DASHES[number % len(DASHES)] if joined else "none",
        markersize=4,
        linewidth=1.2,
        label=name,
    )


def _bound(row: Audit) -> float:
    return row.epsilon_lower_bound if row.epsilon_lower_bound_mean is None else row.epsilon_lower_bound_mean


def _finish(axes: Axes, rows: Sequence[Audit]) -> None:
    """Draw the ceiling of so many trials, and end the axis at it or at the highest promise."""
    ceiling = rows[0].epsilon_ceiling
    highest = max(max(row.epsilon_guaranteed or 0.0, _bound(row)) for row in rows)
    axes.axhline(ceiling, color=QUIET, linestyle=":", label=f"ceiling of {rows[0].trials:,} trials: {figure(ceiling)}")
    axes.set_ylim(0, 1.05 * min(highest, ceiling))
    axes.grid(color=BAND, linewidth=0.8)
