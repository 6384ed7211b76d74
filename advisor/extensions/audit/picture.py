"""Bounds of the privacy loss along budgets, rounds or symbols, with the promise and what so many trials allow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from advisor.extensions.audit.answer import Audits
from advisor.extensions.audit.document import domain, figure, label
from advisor.show.model import Figure as Picture
from advisor.show.model import Section
from advisor.show.pictures import to_svg
from advisor.show.pictures.style import BAND, DASHES, INK, MARKERS, QUIET, SERIES, empty, picture, settings
from simulator.audit import Audit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Lines: TypeAlias = dict[tuple[str, str], list[Audit]]  # by subject, and by what else differs

AXES = {"epsilon": "budget ε", "rounds": "collections of the same value", "symbols": "symbols of the hash"}
ACROSS = 3  # panels side by side


def audit_sections(audits: Audits) -> tuple[Section, ...]:
    """Return the section of a page with the picture."""
    drawing = Picture("Bounds", "lower bounds of the privacy loss", lambda: to_svg(audit_figure(audits), "audit"))
    return (Section("Bounds", (drawing,)),)


def audit_figure(audits: Audits) -> Figure:
    """Return the bounds along the budget (or the rounds, the symbols): a panel for each protocol if each has several.

    With a single budget a dot for each audit.
    """
    rows = audits.results
    counts = {name: len({getattr(row, name) for row in rows} - {None}) for name in AXES}
    axis = max(counts, key=lambda name: counts[name])  # the first of them
    rows = tuple(row for row in rows if getattr(row, axis) is not None)
    lines: Lines = {}
    for row in rows:
        settings_of = [
            f"{sign}{text}"
            for name, sign, text in (
                ("k", "k = ", domain(row)),
                ("epsilon", "ε = ", f"{row.epsilon or 0:g}"),
                ("rounds", "×", f"{row.rounds:,}"),
            )
            if name != axis and len({getattr(other, name) for other in rows}) > 1
        ]
        subject = label(replace(row, rounds=1, symbols=None)).removesuffix(" ×1")
        lines.setdefault((subject, ", ".join(settings_of)), []).append(row)
    drawn = _dots(lines) if len(lines) == len(rows) else _curves(lines, axis)
    at = AXES[axis].split()[-1] if axis == "epsilon" else axis
    drawn.set_label(
        "Lower bounds of the privacy loss: "
        + "; ".join(
            f"{' '.join(filter(None, line))}: "
            + ", ".join(f"{figure(_bound(row))} at {at} = {getattr(row, axis):g}" for row in found)
            for line, found in lines.items()
        )
    )
    return drawn


def _bound(row: Audit) -> float:
    """Return the mean bound of several runs, or the bound of one."""
    mean = row.epsilon_lower_bound_mean
    return row.epsilon_lower_bound if mean is None else mean


def _draw(
    axes: Axes, xs: list[float], ys: list[float], found: list[Audit], *, across: bool = False, **how: Any
) -> None:
    """Draw bounds, with the standard deviation of several runs."""
    deviations = [row.epsilon_lower_bound_sd or 0.0 for row in found] if found[0].runs > 1 else None
    deviations_of = (deviations, None) if across else (None, deviations)
    axes.errorbar(xs, ys, xerr=deviations_of[0], yerr=deviations_of[1], markersize=4, linewidth=1.2, **how)


def _dots(lines: Lines) -> Figure:
    """Return a row for each audit, as it is listed."""
    with picture(6.2, 1.1 + 0.28 * len(lines), grid="x") as (drawn, axes):
        for place, (row,) in enumerate(lines.values()):
            _draw(axes, [_bound(row)], [place], [row], across=True, color=SERIES[0], marker="o", label="lower bound")
            if row.epsilon_guaranteed is not None:
                axes.plot(row.epsilon_guaranteed, place, "|", color=INK, markersize=12, label="promise")
        _finish(axes, [row for (row,) in lines.values()], "x")
        axes.set_yticks(range(len(lines)), [" ".join(filter(None, line)) for line in lines])
        axes.invert_yaxis()
        axes.set(xlabel="privacy loss", title="What attacks prove")
        _legend(drawn, [axes])
    return drawn


def _curves(lines: Lines, axis: str) -> Figure:
    """Return the bounds as lines, with the promise of each panel."""
    subjects, kinds = (list(dict.fromkeys(line[part] for line in lines)) for part in (0, 1))
    by_subject = len(subjects) > 1 and len(kinds) > 1
    panels, across = (subjects, min(ACROSS, len(subjects))) if by_subject else ([""], 1)
    down = math.ceil(len(panels) / across)
    every = [row for found in lines.values() for row in found]
    with settings():
        drawn = empty(max(5.2, 2.4 * across + 0.6), 2.3 * down + 1.2 if by_subject else 4.2)
        grid = drawn.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel().tolist()
        for axes, panel in zip(grid, panels, strict=False):
            inside = {line: found for line, found in lines.items() if not by_subject or line[0] == panel}
            promises = {
                tuple((getattr(row, axis), row.epsilon_guaranteed) for row in found) for found in inside.values()
            }
            for promise in sorted(promises, key=str):
                if promise[0][1] is not None:
                    axes.plot(*zip(*promise, strict=True), color=INK, linestyle="--", linewidth=0.9, label="promise")
            for (subject, kind), found in inside.items():
                place = kinds.index(kind) if by_subject else list(lines).index((subject, kind))
                _draw(
                    axes,
                    [getattr(row, axis) for row in found],
                    [_bound(row) for row in found],
                    found,
                    color=SERIES[place % len(SERIES)],
                    marker=MARKERS[place % len(MARKERS)],
                    linestyle=DASHES[place % len(DASHES)],
                    label=kind if by_subject else " ".join(filter(None, (subject, kind))),
                )
            _finish(axes, every, "y")
            axes.grid(color=BAND, linewidth=0.8)
            axes.set_axisbelow(True)
            axes.set_title(panel)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[max(0, len(panels) - across) : len(panels)]:
            axes.set_xlabel(AXES[axis])
            axes.xaxis.set_tick_params(labelbottom=True)
        for axes in grid[: len(panels) : across]:
            axes.set_ylabel("lower bound of loss")
        drawn.suptitle("What attacks prove", x=0.01, ha="left", fontsize=10)
        _legend(drawn, grid)
    return drawn


def _finish(axes: Axes, rows: list[Audit], way: str) -> None:
    """Begin at 0, and draw the ceiling of so many trials; nothing is above it but promises."""
    ceiling = max(row.epsilon_ceiling for row in rows)
    highest = max(max(row.epsilon_guaranteed or 0.0, _bound(row)) for row in rows)
    line = axes.axhline if way == "y" else axes.axvline
    line(ceiling, color=QUIET, linestyle=":", label=f"ceiling of {rows[0].trials:,} trials: {figure(ceiling)}")
    (axes.set_ylim if way == "y" else axes.set_xlim)(0, 1.05 * min(highest, ceiling))


def _legend(drawn: Figure, grid: list[Axes]) -> None:
    handles = {name: handle for axes in grid for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, handlelength=2.4)
